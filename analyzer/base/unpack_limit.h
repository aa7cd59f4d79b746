/*
 * unpack_limit.h - how much may become of compressed bytes: a few thousand of them may stand for more than any disk has.
 *
 * No honest recording of ours becomes more than 11 times as large, nor a trace of another tool 40 times.
 */
#ifndef ROOFLINE_UNPACK_LIMIT_H
#define ROOFLINE_UNPACK_LIMIT_H

#include <stdint.h>

#include "base/err.h"

#define UNPACK_MOST_TIMES 200
#define UNPACK_ANYWAY_BYTES ((uint64_t)64 << 20)
#define UNPACK_LEAST_FREE_BYTES ((uint64_t)1 << 30) /* or a twentieth of a smaller disk */

/* Of one file while it is unpacked; all 0 to begin with. */
struct unpack_limit {
	uint64_t bytes, looked_at_bytes; /* unpacked; of them, when the disk was looked at last */
};

/* So many more bytes were unpacked, of packed_bytes since the beginning.  Fails with -EFBIG where these are more than they can
 * honestly be; path names the file. */
int unpack_limit_add(struct unpack_limit *limit, uint64_t count, uint64_t packed_bytes,
		     const char *path, struct err *err);

/* What was added is about to be written to fd.  Fails with -ENOSPC where that would leave others too little room on the disk;
 * target names it, and remedy ends the sentence. */
int unpack_limit_look(struct unpack_limit *limit, int fd, const char *target, const char *remedy,
		      struct err *err);

#endif
