/*
 * stamps.cuh - the truth about work that the GPU launches itself: kernels note when they ran.
 *
 * No profiler sees a kernel that a kernel launches.  Here every block of a kernel that takes part
 * notes its first and last moment on the GPU's global timer (%globaltimer, nanoseconds, in steps of
 * 32 ns on an H200), and `--stamps FILE` writes one row a launch:
 *
 *   what,name,start_ns,end_ns,blocks      what is host or device: who launched it
 *
 * start is the earliest block's, end the latest block's, blocks how many there were.  Blocks of one
 * launch share %gridid.  Without --stamps a kernel pays one load and a branch; with it, thread 0 of
 * every block adds one record to a buffer, and records that do not fit are counted and said.
 *
 * How to: `stamp_begin(&stamp)` first and `stamp_end(&stamp, STAMP_DEVICE, number)` last in the kernel
 * (number: the index into stamp_names of the workload); all threads of the block must come there,
 * because the last one counts.
 * The buffer belongs to the runner (workload.cu), which makes it once --stamps is given.
 */
#ifndef ROOFLINE_STAMPS_CUH
#define ROOFLINE_STAMPS_CUH

#include <cstdint>

#include <cuda_runtime.h>

enum stamp_what { STAMP_HOST, STAMP_DEVICE };

/* One block of one launch. */
struct stamp_record {
	unsigned long long grid, start_ns, end_ns;
	uint32_t what, name, blocks; /* blocks: of the whole launch */
};

struct stamp_buffer {
	struct stamp_record *records; /* on the device */
	unsigned long long capacity, count;
};

/* NULL: nobody asked.  It is the runner's (stamps_output.cuh). */
extern __device__ struct stamp_buffer *stamp_buffer_device;

static __device__ __forceinline__ unsigned long long stamp_now()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
}

static __device__ __forceinline__ void stamp_begin(unsigned long long *start_ns)
{
	*start_ns = stamp_buffer_device ? stamp_now() : 0;
}

static __device__ __forceinline__ void stamp_end(const unsigned long long *start_ns,
						 enum stamp_what what, uint32_t name)
{
	struct stamp_buffer *buffer = stamp_buffer_device;
	unsigned long long grid, slot;

	if (!buffer)
		return;
	__syncthreads();
	if (threadIdx.x || threadIdx.y || threadIdx.z)
		return;
	slot = atomicAdd(&buffer->count, 1ULL);
	if (slot >= buffer->capacity)
		return;
	asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
	buffer->records[slot] = {grid,		 *start_ns, stamp_now(),
				 (uint32_t)what, name,	    gridDim.x * gridDim.y * gridDim.z};
}

#endif
