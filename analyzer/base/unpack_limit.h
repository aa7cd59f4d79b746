/*
 * unpack_limit.h - how much may become of compressed bytes: a few thousand of them may stand for more than any disk has.
 *
 * No honest recording of ours becomes more than 11 times as large, nor a trace of another tool 40 times.
 */
#ifndef ROOFLINE_UNPACK_LIMIT_H
#define ROOFLINE_UNPACK_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define UNPACK_MOST_TIMES 200
#define UNPACK_ANYWAY_BYTES ((uint64_t)64 << 20)
#define UNPACK_LEAST_FREE_BYTES ((uint64_t)1 << 30) /* or a twentieth of a smaller disk */

/* Jobs of 20,000 processes stay below both. */
#define UNPACK_MOST_FILES ((uint64_t)1000000)
#define UNPACK_MOST_NAME_BYTES ((uint64_t)64 << 20)
#define UNPACK_FILE_BYTES 4096 /* what an empty file or a folder takes on a disk */

/* Counts for one file while it is unpacked; all 0 to begin with. */
struct unpack_limit {
	uint64_t bytes, looked_at_bytes; /* unpacked; of them, when the disk was looked at last */
	uint64_t files, name_bytes;	 /* in an archive */
};

/* So many more bytes were unpacked, of packed_bytes since the beginning.  Fails with -EFBIG where these are more than they can
 * honestly be; path names the file. */
int unpack_limit_add(struct unpack_limit *limit, uint64_t count, uint64_t packed_bytes,
		     const char *path, struct err *err);

/* Counts a file in an archive, whose name has so many bytes, and new_folders that it makes: both are bytes unpacked, too.
 * Fails with -EFBIG also where there are more files, or bytes of names, than any recording has. */
int unpack_limit_add_file(struct unpack_limit *limit, size_t name_bytes, unsigned new_folders,
			  uint64_t packed_bytes, const char *path, struct err *err);

/* Returns whether so many bytes may become of packed_bytes. */
bool unpack_limit_allows(uint64_t bytes, uint64_t packed_bytes);

/* Describes in err that the file called path becomes too large.  Returns -EFBIG. */
int unpack_limit_refuse(const char *path, struct err *err);

/* What was added is about to be written to fd.  Fails with -ENOSPC where that would leave others too little room on the disk;
 * target names it, and remedy ends the sentence. */
int unpack_limit_look(struct unpack_limit *limit, int fd, const char *target, const char *remedy,
		      struct err *err);

#endif
