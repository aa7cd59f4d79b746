/*
 * hash.cuh - numbers that look random, and are the same on host and device and on every machine.
 *
 * So a kernel fills an array and the scalar reference knows each value of it, without a copy.
 */
#ifndef ROOFLINE_HASH_CUH
#define ROOFLINE_HASH_CUH

#include <cstdint>

/* Of 31 bits.  Other seeds are other sequences; indices below 2^40. */
static inline __host__ __device__ uint32_t hash_of(uint64_t index, uint64_t seed)
{
	uint64_t x = (index + (seed << 40)) * 11400714819323198485u;

	x = (x ^ (x >> 31)) * 6364136223846793005u;
	return x >> 33;
}

#endif
