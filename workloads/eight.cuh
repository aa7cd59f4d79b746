/*
 * eight.cuh - eight values of FP16, which are 16 bytes: one load, one store.
 *
 * Where a struct of them is assigned the compiler goes member by member, and makes four accesses of one.
 */
#ifndef ROOFLINE_EIGHT_CUH
#define ROOFLINE_EIGHT_CUH

#include <cuda_fp16.h>

struct alignas(16) eight {
	__half2 pair[4];
};

/* What no thread of this kernel writes. */
static __device__ eight load_eight(const void *from)
{
	eight values;

	*(uint4 *)&values = __ldg((const uint4 *)from);
	return values;
}

static __device__ void store_eight(void *to, const eight &values)
{
	const uint4 bits = *(const uint4 *)&values;

	*(uint4 *)to = bits;
}

#endif
