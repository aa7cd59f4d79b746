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
 * (number: the index into the names given to stamps_write); all threads of the block must come there,
 * because the last one counts.
 * The buffer belongs to the runner (workload.cuh), which makes it once --stamps is given.
 */
#ifndef ROOFLINE_STAMPS_CUH
#define ROOFLINE_STAMPS_CUH

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda_check.cuh"

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

/* NULL: nobody asked. */
static __device__ struct stamp_buffer *stamp_buffer_device;

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

/* Room for so many blocks, until the program ends. */
static inline void stamps_enable(unsigned long long capacity)
{
	struct stamp_buffer *buffer;
	struct stamp_record *records;

	CUDA_CHECK(cudaMallocManaged(&buffer, sizeof(*buffer)));
	CUDA_CHECK(cudaMalloc(&records, capacity * sizeof(*records)));
	*buffer = {records, capacity, 0};
	CUDA_CHECK(cudaMemcpyToSymbol(stamp_buffer_device, &buffer, sizeof(buffer)));
}

static inline bool stamp_is_before(const struct stamp_record &a, const struct stamp_record &b)
{
	if (a.grid != b.grid)
		return a.grid < b.grid;
	if (a.name != b.name)
		return a.name < b.name;
	return a.start_ns < b.start_ns;
}

static inline bool stamp_starts_launch(const std::pair<struct stamp_record, int> &launch,
				       const struct stamp_record &block)
{
	return launch.first.grid != block.grid || launch.first.name != block.name ||
	       launch.second == (int)launch.first.blocks;
}

/* Blocks of one launch become one row, rows in order of their start.  A node of a graph may have the
 * same %gridid every time: those runs never overlap, so a launch is complete with its last block. */
static inline std::vector<std::pair<struct stamp_record, int>>
stamps_by_launch(std::vector<struct stamp_record> blocks)
{
	std::vector<std::pair<struct stamp_record, int>> launches;

	std::sort(blocks.begin(), blocks.end(), stamp_is_before);
	for (const struct stamp_record &block : blocks) {
		if (launches.empty() || stamp_starts_launch(launches.back(), block)) {
			launches.push_back({block, 1});
			continue;
		}
		launches.back().first.end_ns = std::max(launches.back().first.end_ns, block.end_ns);
		launches.back().second++;
	}
	std::sort(launches.begin(), launches.end(),
		  [](const auto &a, const auto &b) { return a.first.start_ns < b.first.start_ns; });
	return launches;
}

/* Writes what was stamped since stamps_enable.  names: of the kernels, by number. */
static inline void stamps_write(const char *path, const char *const *names)
{
	struct stamp_buffer *buffer;
	FILE *file = fopen(path, "w");

	if (!file) {
		fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
		exit(1);
	}
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaMemcpyFromSymbol(&buffer, stamp_buffer_device, sizeof(buffer)));
	std::vector<struct stamp_record> blocks(std::min(buffer->count, buffer->capacity));
	CUDA_CHECK(cudaMemcpy(blocks.data(), buffer->records, blocks.size() * sizeof(blocks[0]),
			      cudaMemcpyDeviceToHost));
	fprintf(file, "what,name,start_ns,end_ns,blocks\n");
	for (const auto &[launch, block_count] : stamps_by_launch(blocks))
		fprintf(file, "%s,%s,%llu,%llu,%d\n", launch.what == STAMP_HOST ? "host" : "device",
			names[launch.name], launch.start_ns, launch.end_ns, block_count);
	fclose(file);
	if (buffer->count > buffer->capacity)
		fprintf(stderr, "%llu blocks were not stamped: fewer iterations, please\n",
			buffer->count - buffer->capacity);
}

#endif
