/*
 * eight.cuh - eight values of FP16, which are 16 bytes: one load, one store.
 *
 * Where a struct of them is assigned the compiler goes member by member, and makes four accesses of one.
 */
#ifndef ROOFLINE_EIGHT_CUH
#define ROOFLINE_EIGHT_CUH

#include <cstdint>

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

/* Without a branch, beyond which the compiler would move nothing. */
static __device__ void store_eight_if(bool is_there, void *to, const uint32_t (&pairs)[4])
{
	asm volatile("{.reg .pred there; setp.ne.b32 there, %5, 0;"
		     "@there st.global.v4.b32 [%0], {%1, %2, %3, %4};}" ::"l"(to),
		     "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3]), "r"((int)is_there)
		     : "memory");
}

#endif
