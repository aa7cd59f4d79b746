/*
 * hot_address.cuh - atomics that meet at one address, as they are written.
 *
 * nvcc sees when all lanes of a warp add to one address, whatever the operands are, and makes one
 * atomic of the 32: vote, count and broadcast, or a REDUX.  A workload about contention wants the
 * atomics that its source shows, so it hides that the address is the same.
 *
 * With -rdc=true nvcc also turns every atomicAdd into the kind that returns a value (ATOM), used or
 * not.  reduce_add is the kind that does not (RED), as a program built without -rdc would have it.
 */
#ifndef ROOFLINE_HOT_ADDRESS_CUH
#define ROOFLINE_HOT_ADDRESS_CUH

#include <cstdint>

/* Passed to a kernel as an argument, so that the compiler of the kernel does not know it. */
static const int hidden_shift = 31;

/* address, for every thread: the index of a thread has no bit 31. */
template <class T> static __device__ T *hot_address(T *address, int shift)
{
	return address + (threadIdx.x >> shift);
}

/* *address += value, in global memory. */
static __device__ __forceinline__ void reduce_add(uint32_t *address, uint32_t value)
{
	asm volatile("red.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

#endif
