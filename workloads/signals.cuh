/*
 * signals.cuh - what a kernel tells a kernel on another GPU: by words in memory that both reach.
 *
 * Whoever waits for a signal sees all that was written before it was set.  The thread that sets it vouches for what it
 * wrote itself, and for what other threads wrote before a barrier that it shares with them.
 */
#ifndef ROOFLINE_SIGNALS_CUH
#define ROOFLINE_SIGNALS_CUH

#include <cstdint>

#include <cuda/atomic>

/* What this thread wrote to other GPUs is there, for whoever sees what it writes next (nvshmem_quiet). */
static __device__ __forceinline__ void quiet()
{
	__threadfence_system();
}

/* Sets a signal, which may be another GPU's (nvshmemx_signal_op). */
static __device__ __forceinline__ void signal_set(uint64_t *signal, uint64_t value)
{
	cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*signal).store(
		value, cuda::memory_order_release);
}

static __device__ __forceinline__ void signal_add(uint64_t *signal, uint64_t value)
{
	cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*signal).fetch_add(
		value, cuda::memory_order_release);
}

/* Waits until an own signal has reached a value (nvshmem_signal_wait_until). */
static __device__ __forceinline__ void signal_wait(uint64_t *signal, uint64_t value)
{
	cuda::atomic_ref<uint64_t, cuda::thread_scope_system> own(*signal);

	while (own.load(cuda::memory_order_acquire) < value)
		;
}

/* Takes `count` numbers from a counter, which may be another GPU's (nvshmem_atomic_fetch_add). */
static __device__ __forceinline__ uint32_t fetch_add(uint32_t *counter, uint32_t count)
{
	return cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*counter).fetch_add(
		count, cuda::memory_order_relaxed);
}

#endif
