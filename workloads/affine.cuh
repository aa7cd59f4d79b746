/*
 * affine.cuh - x -> x * factor + offset, modulo 2^32: work that takes as long as it is told to, whose result a scalar
 * reference knows at once.
 *
 * Any number of steps one after the other are one step with other constants.  The compiler must not know that, so the
 * step is an argument of a kernel and no constant.
 */
#ifndef ROOFLINE_AFFINE_CUH
#define ROOFLINE_AFFINE_CUH

#include <cstdint>

struct affine {
	uint32_t factor, offset;
};

static const struct affine affine_step = {747796405u, 2891336453u};

static inline __host__ __device__ uint32_t affine_of(struct affine f, uint32_t x)
{
	return x * f.factor + f.offset;
}

/* First f, then g. */
static inline struct affine affine_then(struct affine f, struct affine g)
{
	return {f.factor * g.factor, affine_of(g, f.offset)};
}

/* f so many times. */
static inline struct affine affine_times(struct affine f, long times)
{
	struct affine all = {1, 0};

	for (; times; times /= 2) {
		if (times % 2)
			all = affine_then(all, f);
		f = affine_then(f, f);
	}
	return all;
}

static inline __device__ uint32_t affine_steps(struct affine f, uint32_t x, int steps)
{
#pragma unroll 16
	for (int k = 0; k < steps; k++)
		x = affine_of(f, x);
	return x;
}

#endif
