/*
 * host_memory.h - copies memory of the program, and says so where that cannot be read or written.
 *
 * The driver decides what a copy from a bad address returns: so this must neither end the program nor pass it by.
 */
#ifndef ROOFLINE_TRY_HOST_MEMORY_H
#define ROOFLINE_TRY_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* False: not all of it is there, or this kernel offers no way to know. */
bool host_memory_read(void *to, const void *from, size_t bytes);
bool host_memory_write(void *to, const void *from, size_t bytes);

/* Whether the kernel offers a way to know without copying, and what it says of all of it.  Nothing is changed. */
bool host_memory_can_check(void);
bool host_memory_is_there(const void *address, size_t bytes, bool is_written);

/* Whether its first and its last byte can be read or, is_written, written.  Nothing is changed. */
bool host_memory_has_ends(const void *address, size_t bytes, bool is_written);

#endif
