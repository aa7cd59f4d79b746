/*
 * signals.cuh - what a kernel tells a kernel on another GPU: by words in memory that both reach.
 *
 * Whoever waits for a signal sees all that was written before it was set.  The thread that sets it vouches for what it
 * wrote itself, and for what other threads wrote before a barrier that it shares with them.
 */
#ifndef ROOFLINE_SIGNALS_CUH
#define ROOFLINE_SIGNALS_CUH

#include <cstdint>

/* Instructions by name: what <cuda/atomic> makes of the same takes 3 s more to compile for each program. */

/* What this thread wrote to other GPUs is there, for whoever sees what it writes next (nvshmem_quiet). */
static __device__ __forceinline__ void quiet()
{
	__threadfence_system();
}

/* Sets a signal, which may be another GPU's (nvshmemx_signal_op). */
static __device__ __forceinline__ void signal_set(uint64_t *signal, uint64_t value)
{
	asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(signal), "l"(value) : "memory");
}

static __device__ __forceinline__ void signal_add(uint64_t *signal, uint64_t value)
{
	asm volatile("red.release.sys.add.u64 [%0], %1;" ::"l"(signal), "l"(value) : "memory");
}

/* Waits until an own signal has reached a value (nvshmem_signal_wait_until). */
static __device__ __forceinline__ void signal_wait(uint64_t *signal, uint64_t value)
{
	uint64_t own;

	do
		asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(own) : "l"(signal) : "memory");
	while (own < value);
}

/* Takes `count` numbers from a counter, which may be another GPU's (nvshmem_atomic_fetch_add). */
static __device__ __forceinline__ uint32_t fetch_add(uint32_t *counter, uint32_t count)
{
	return atomicAdd_system(counter, count);
}

#endif
