/*
 * child_kernels.h - kernels that another kernel launches (dynamic parallelism): when each of them starts.
 *
 * Child kernels are what one kernel launches, their parent.  They wait for its end.  Beside each other they
 * start as the device launches them and as far as the GPU has SMs for their blocks; otherwise one after
 * the other.  The stream goes on when all have ended.
 */
#ifndef ROOFLINE_CHILD_KERNELS_H
#define ROOFLINE_CHILD_KERNELS_H

#include "replay/costs.h"

/* Of one thread, all 0 at first; the one after another in it. */
struct child_kernels {
	int64_t parent_end_ns;
	int64_t end_ns;	       /* of the children until now; of the parent without any */
	int64_t last_start_ns; /* of the child launched last */
	unsigned int fill;     /* percent of the GPU that children since the last pause take */
	uint64_t child_count;
	uint32_t stream; /* streams[] */
};

/* Of a parent that ends then, or after the child kernels before, of which it may be the last one. */
void child_kernels_begin(struct child_kernels *children, int64_t parent_end_ns, uint32_t stream);

/* When the next child starts, which takes length_ns and fill percent of the GPU. */
int64_t child_kernels_add(struct child_kernels *children, const struct costs *costs,
			  bool are_beside, int64_t length_ns, unsigned int fill);

/* When the next operation of a stream can start; INT64_MIN where no child kernels are in it. */
static inline int64_t child_kernels_over_ns(const struct child_kernels *children,
					    const struct costs *costs, uint32_t stream)
{
	return children->child_count && children->stream == stream
		       ? children->end_ns + costs->child_return_ns
		       : INT64_MIN;
}

#endif
