/*
 * staging.h - a copy between pageable memory and the GPU, piece by piece through pinned memory of the library's own.
 *
 * While the GPU copies one piece, threads copy the next ones (copiers.h).  The pinned memory is registered for all contexts, and is
 * mapped by us: so it stays there when a context goes, and a child of fork does not have it.
 */
#ifndef ROOFLINE_TRY_STAGING_H
#define ROOFLINE_TRY_STAGING_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roofline/try.h"

#define STAGING_PIECE_BYTES ((size_t)512 << 10)

/* Between pageable memory of the host and one allocation of the current context. */
struct copy {
	bool is_to_host;
	bool is_async; /* may return as soon as it has read the memory of the host */
	void *host;
	CUdeviceptr device;
	size_t bytes;
	CUstream stream; /* by its name: CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */
	CUstream given;	 /* as the program gave it */
	CUresult (*pass)(const struct copy *copy, size_t from,
			 size_t bytes); /* the driver's own, of a part */
};

struct staged {
	size_t bytes;  /* copied, from the start; the driver is to copy the rest */
	bool is_error; /* the driver told one: it is to copy all of it, and tells it again */
	enum try_reason reason; /* why not all of it */
	bool is_over;		/* the GPU has done it */
	uint64_t took_ns;	/* without the wait for what was in the stream before */
};

/* Copies up to so many bytes.  is_compared: what it takes is, so that the GPU is waited for in any case. */
struct staged staging_copy(const struct copy *copy, size_t bytes, bool is_compared);

/* Before contexts go: nothing of ours is under way in them. */
void staging_forget(void);

/* In the child of a fork. */
void staging_forked(void);

#endif
