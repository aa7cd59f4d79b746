/*
 * size_limit.h - how large a recording may become, and what it has to leave of the disk.
 */
#ifndef ROOFLINE_SIZE_LIMIT_H
#define ROOFLINE_SIZE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_MIN_FREE_AUTO (-1) /* 1 GiB or 5% of the disk, whichever is less */

enum size_limit { SIZE_LIMIT_NONE, SIZE_LIMIT_RECORDING, SIZE_LIMIT_DISK };

/* max_bytes of all tables together, 0 for no limit; min_free_bytes of the disk, 0 for none. */
void size_limit_set(int64_t max_bytes, int64_t min_free_bytes);

/* So many bytes have been written. */
void size_limit_add(size_t bytes);

/* Space was given back: the disk is asked again before the next check. */
void size_limit_ask_again(void);

int64_t size_limit_written(void); /* bytes until now */

/* Which limit so many more bytes in folder would pass.  The last ones, which make a recording whole, may take what is
 * kept back of either limit. */
enum size_limit size_limit_check(const char *folder, size_t bytes, bool is_last);

/* The free space that is to stay on the disk of folder, which need not exist yet; *free_bytes is what there is.
 * 0 when the disk does not tell. */
int64_t size_limit_min_free(const char *folder, int64_t *free_bytes);

/* Whether so many files more can be made there with a twentieth of all, or 1,024, still to be had; a disk may know no
 * limit. */
bool size_limit_has_files(const char *folder, int count);

#endif
