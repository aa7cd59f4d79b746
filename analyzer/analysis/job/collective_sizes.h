/*
 * collective_sizes.h - what NCCL was asked for, by operation, bytes and ranks of the communicator, and how fast it was.
 *
 * The bus bandwidth is NCCL's: bytes that each rank has to send or receive at least, per time of the kernel less its
 * wait for the last rank (collectives.h).  Kernels that did several calls at once have no time of their own here.  Of
 * one rank too: nothing is a job.  Pure.
 */
#ifndef ROOFLINE_COLLECTIVE_SIZES_H
#define ROOFLINE_COLLECTIVE_SIZES_H

#include "analysis/counters/ceilings.h"
#include "analysis/time/collectives.h"
#include "base/format.h"
#include "roofline/ceilings.h"

struct collective_size {
	const char *operation; /* "AllReduce" */
	uint64_t bytes;	       /* of a message, as the call counts them */
	uint32_t rank_count;   /* of the communicator; 0: not known */
	uint64_t count;	       /* calls, on all ranks */
	uint64_t timed_count;  /* of these, whose kernel did nothing else */
	int64_t time_ns;       /* of the latter, waits included */
	int64_t median_ns;     /* without waits, of one; 0: none is timed */
};

struct collective_sizes {
	struct collective_size *items; /* longest first, then by name, bytes and ranks */
	size_t count;
	uint64_t call_count; /* of NCCL, on all ranks */
	uint64_t
		unmatched_count; /* of these, whose kernel is not known: in graphs, or not launched by their thread */
};

/* Fails with -ENOMEM only.  n log n in the number of calls. */
int collective_sizes_build(struct collective_sizes **out, const struct profile *profile,
			   const struct collectives *collectives, struct err *err);
void collective_sizes_free(struct collective_sizes *sizes);

/* Bytes a second; 0: not known. */
double collective_size_bandwidth(const struct collective_size *size);

/* The ceiling of such collectives, and the bytes that it counts: false where none is measured. */
bool collective_size_ceiling(const struct collective_size *size, enum ceiling_id *id,
			     uint64_t *bytes);

/* What such a collective takes by the ceilings, which were measured of that many GPUs (0: not known): of another number of
 * them at the same bandwidth of the bus.  0: none is measured. */
double collective_size_ceiling_ns(const struct collective_size *size,
				  const struct ceilings *ceilings, uint32_t measured_gpus);

/* "36.0 MiB"; where another size of the same operation would read the same, "37,785,600", which is bytes.  Linear in the number of
 * sizes. */
struct figure collective_size_bytes(const struct collective_sizes *sizes,
				    const struct collective_size *size);

#endif
