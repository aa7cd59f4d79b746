/*
 * stamps_output.cuh - the buffer of stamps.cuh and the file that it becomes; of the runner alone.
 */
#ifndef ROOFLINE_STAMPS_OUTPUT_CUH
#define ROOFLINE_STAMPS_OUTPUT_CUH

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda_check.cuh"
#include "stamps.cuh"

__device__ struct stamp_buffer *stamp_buffer_device;

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
