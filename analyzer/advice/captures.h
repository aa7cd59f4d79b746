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

struct facts;

/* Of the processes that are at home on one device. */
struct captures {
	uint64_t begun_count;
	uint64_t legacy_count; /* calls that would have made the legacy stream wait for a capture */
	uint64_t refused_count; /* other calls that no capture, or not this one, allows */
	uint64_t lost_to_legacy_count, lost_count; /* captures that ended without a graph */
	uint64_t allocation_count; /* of memory in stream order, by a thread while it captured */
	const char *legacy_name, *refused_name; /* the first such call; borrowed, NULL: none */
};

void captures_count(struct captures *out, const struct facts *facts, size_t device);

#endif
