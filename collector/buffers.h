/*
 * buffers.h - the memory that CUPTI writes its records into, and who owns it.
 *
 * CUPTI asks for a buffer on an application thread, fills it, and returns it on
 * a thread of its own, where it is only put in line: application threads wait
 * while CUPTI delivers.  Our thread decodes it and puts it back into the pool.
 * A buffer is in one of these three places at a time and is never freed by us: CUPTI
 * may still write to one at exit.  Knows nothing of what is in a buffer.
 */
#ifndef ROOFLINE_BUFFERS_H
#define ROOFLINE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUPTI asks 13.0 for one or two buffers per thread, so they are small: its guide advises 1 to 10 MB.
 * At 216 bytes a kernel record one holds 4,854. */
#define BUFFER_BYTES ((size_t)1 << 20)

/* From now on at most limit_bytes exist, and at least one buffer may. */
void buffers_limit(size_t limit_bytes);

/* A zeroed buffer of BUFFER_BYTES, 8-aligned, or NULL when the limit is reached (counted). */
uint8_t *buffers_get(void);

/* Puts a buffer that CUPTI has filled with valid_bytes in line.  Any thread.  False, and nothing of it is
 * read or written, when it is none of those that buffers_get has given away. */
bool buffers_finish(uint8_t *buffer, size_t valid_bytes);

/* How many buffers_get has given away that have not come back. */
size_t buffers_out(void);

/* How many buffers stand in line. */
size_t buffers_finished(void);

/* The buffer that has waited longest in line, or NULL. */
uint8_t *buffers_next_finished(size_t *valid_bytes);

/* Gives a buffer back.  The used_bytes that were written are cleared here, off the application's
 * path, because CUPTI is configured to rely on zeroed buffers. */
void buffers_put(uint8_t *buffer, size_t used_bytes);

/* How often buffers_get returned NULL since the last call. */
uint64_t buffers_refused(void);

#endif
