/*
 * engines.h - the engines of a GPU, where a replay puts work side by side that the recording did not: one for copies in
 * each direction, and the SMs, which kernels share as far as they fit together.
 *
 * Kernels start in the order in which they are asked for, so that what has ended when one starts need not be kept; or, where
 * it is known which depend on which, as soon as there is room (starts_early).
 * Two that do not fit together overlap as long as they did in the recording and no longer: the last blocks of one beside the
 * first of the next, or blocks so small that an SM holds some of both.
 */
#ifndef ROOFLINE_ENGINES_H
#define ROOFLINE_ENGINES_H

#include <stdbool.h>

#include "replay/taken_time.h"
#include "trace/profile.h"

enum copy_engine { ENGINE_TO_DEVICE, ENGINE_TO_HOST, COPY_ENGINE_COUNT };

/* Kernels that a GPU runs at once (CUDA C++ Programming Guide, 'Maximum number of resident grids per device'). */
#define KERNELS_AT_ONCE 128

struct running_kernel {
	uint32_t op;	   /* ops[] */
	unsigned int fill; /* percent of the GPU */
	int64_t free_ns;   /* its end, and the gap after it */
};

struct engines {
	int64_t copy_free_ns[COPY_ENGINE_COUNT];
	int64_t last_start_ns; /* of the kernel that was asked for last */
	struct running_kernel kernels[KERNELS_AT_ONCE];
	size_t kernel_count;
	bool starts_early; /* then taken stands for kernels[] and last_start_ns */
	struct taken_time taken;
};

void engines_open(struct engines *engines);

/* When an operation that could start then, and takes that much of the GPU, gets its engine. */
int64_t engines_start_ns(const struct engines *engines, const struct profile *profile, uint32_t op,
			 unsigned int fill, int64_t start_ns);

/* All that was asked for has ended by then: nothing starts before. */
void engines_forget(struct engines *engines, int64_t moment_ns);

/* It starts then, and its engine is free at free_ns. */
void engines_add(struct engines *engines, const struct profile *profile, uint32_t op,
		 unsigned int fill, int64_t start_ns, int64_t free_ns);

#endif
