/*
 * jit_return.h - whether compiling at run time pays: what it takes against what its kernels save.
 */
#ifndef ROOFLINE_JIT_RETURN_H
#define ROOFLINE_JIT_RETURN_H

#include "analysis/statistics/jit.h"

struct jit_return {
	uint64_t
		launch_count; /* after, of kernels that were compiled or loaded at run time; 0: nothing was */
	double cost_ns;	       /* of compiling and loading, beyond what was compiled before */
	double saved_ns;       /* a launch: kernel time of the whole run, before less after */
	double ratio;	       /* (saved_ns x launch_count - cost_ns) / cost_ns */
	double least_launches; /* with which it pays; 0: with none */
};

/* Of two runs of the same work; launch_count 0 where the second one compiles no more than the first. */
struct jit_return jit_return_of(const struct profile *before, const struct jit *before_jit,
				const struct profile *after, const struct jit *after_jit);

#endif
