/*
 * captures.h - what happened to the captures of streams, by what CUDA answered.
 *
 * A call that a capture does not allow fails, and so does everything up to the end of the capture,
 * which yields no graph.  The numbers are those of cudaError_t; CUresult has the same.
 */
#ifndef ROOFLINE_CAPTURES_H
#define ROOFLINE_CAPTURES_H

#include <stddef.h>
#include <stdint.h>

struct profile;
struct recommendation;

/* Calls that failed for one reason while a stream was captured. */
struct capture_failures {
	uint64_t count;
	const char *first_name; /* of the first such call; borrowed, NULL: none */
	uint64_t lost_count;	/* captures that ended without a graph for it */
};

/* Of the processes that are at home on one device. */
struct captures {
	uint64_t begun_count;
	struct capture_failures legacy;	 /* would have made the legacy stream wait for a capture */
	struct capture_failures refused; /* others that no capture, or not this one, allows */
	uint64_t allocation_count;    /* of memory in stream order, by a thread while it captured */
	uint64_t host_function_count; /* functions of the host, likewise, or added as a node */
};

/* homes: by process, the device that it is at home on. */
struct captures captures_of(const struct profile *profile, const uint32_t *homes, size_t device);

/* The evidence of one sort: how many such calls, the first with what CUDA answered (or ""), and how many captures
 * yielded no graph.  Returns 0 or -ENOMEM. */
int captures_add_evidence(struct recommendation *item, const struct captures *captures,
			  const struct capture_failures *failures, const char *calls,
			  const char *answer);

#endif
