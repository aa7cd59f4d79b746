/*
 * mirror.cuh - a step in which every value depends on one from the other end of the array.
 *
 * So a step must be complete before the next one starts, which is what kernels are launched one
 * after the other for, and an order that somebody forgot shows in the result.  A step reads one
 * array and writes another; salt makes steps differ.  Device and reference agree to the last bit.
 */
#ifndef ROOFLINE_MIRROR_CUH
#define ROOFLINE_MIRROR_CUH

#include <cstdint>
#include <vector>

#include "churn.cuh"

static inline __host__ __device__ uint32_t mirror_mix(const uint32_t *from, int i, int size,
						      uint32_t salt)
{
	return (from[i] ^ from[size - 1 - i] >> 7) + salt;
}

/* For a kernel of at least size threads in one dimension. */
static inline __device__ void mirror_step(const uint32_t *from, uint32_t *to, int size,
					  int churn_steps, uint32_t salt)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		to[i] = churn(mirror_mix(from, i, size, salt), churn_steps);
}

static inline std::vector<uint32_t> mirror_reference(const std::vector<uint32_t> &from,
						     int churn_steps, uint32_t salt)
{
	struct churn_steps all = churn_at_once(churn_steps);
	std::vector<uint32_t> to(from.size());

	for (size_t i = 0; i < to.size(); i++)
		to[i] = churn_apply(all, mirror_mix(from.data(), i, from.size(), salt));
	return to;
}

#endif
