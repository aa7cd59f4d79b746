/*
 * packed.h - a packed recording, file by file.
 *
 * It is a tar of PROCESS/TABLE.csv, compressed with zstd, with a checksum over all.  Reading ends with a failure at
 * what is damaged and at what no recording has: links, devices, names that are absolute, lead upwards or into further
 * folders, and more of anything than base/unpack_limit.h allows.
 */
#ifndef ROOFLINE_PACKED_H
#define ROOFLINE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/err.h"

/* Writes the name of the packed recording that path stands for where nothing is called path.  Whether there is one. */
bool packed_find(char *buffer, size_t size, const char *path);

/* Returns whether a recording may have a file of that name: NAME or PROCESS/NAME. */
bool packed_allows_name(const char *name);

struct packed;

/* path: a file or a pipe; "-" is stdin.  Nothing is read yet.  The caller frees with packed_close, also after a
 * failure. */
int packed_open(struct packed **out, const char *path, struct err *err);

/* Goes to the next file.  1, and its name until the call after; 0 at the end of an undamaged recording; or negative. */
int packed_next(struct packed *packed, const char **name, struct err *err);

/* Writes what the file holds to fd, where that stands.  target names it in err, and remedy ends that sentence.  Returns how many bytes, or negative. */
long long packed_copy(struct packed *packed, int fd, const char *target, const char *remedy,
		      struct err *err);

/* When the recording was made: the time of its file.  Returns false for a pipe. */
bool packed_time(const struct packed *packed, struct timespec *time);

void packed_close(struct packed *packed);

#endif
