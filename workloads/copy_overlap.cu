/*
 * copy_overlap (D1): values in host memory, brought to the GPU in chunks, updated and taken back.
 *
 * Copies in, kernels and copies out need different parts of the GPU: two copy engines and the SMs.
 * All three can be busy at once, each with another chunk.  That takes two things: streams, so that
 * no chunk waits for another one, and pinned memory, which a copy engine can reach by itself.
 */
#include <algorithm>

#include "workload.cuh"

static const int block_size = 256;
static const long chunk_values = 1 << 20; /* 4 MiB */
static const int lane_count = 3; /* chunks under way: one comes in, one is updated, one goes out */
static const int steps = 1024;	 /* so that the kernel takes about as long as a copy, on an H200 */

/* A chunk goes through one lane.  Two chunks in the same lane are in order, others are not. */
struct lane {
	cudaStream_t stream;
	uint32_t *device; /* of one chunk */
};

/* x -> x * factor + offset, modulo 2^32.  It is an argument of the kernel and no constant: many
 * such steps are one with other constants, and the compiler may know. */
struct step {
	uint32_t factor, offset;
};

static const struct step one_step = {747796405u, 2891336453u};

struct problem {
	long size;
	std::vector<uint32_t> pageable;
	uint32_t *pinned;
	uint32_t *values; /* one of the two: of the variant under way */
	struct lane lanes[lane_count];
	uint32_t from_zero, from_one; /* what all steps together make of 0 and of 1 */
};

static uint32_t initial_value(long i)
{
	return (uint32_t)i * 2654435769u;
}

static __host__ __device__ uint32_t next_value(uint32_t x, struct step step)
{
	return x * step.factor + step.offset;
}

static __global__ void update_kernel(uint32_t *values, int count, struct step step)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t x;

	if (i >= count)
		return;
	x = values[i];
#pragma unroll 16
	for (int k = 0; k < steps; k++)
		x = next_value(x, step);
	values[i] = x;
}

/* A chunk there and back.  A stream keeps this order, and the buffer of the lane is free for the
 * next chunk when this one has left it. */
static void update_chunk(problem &p, long chunk, const struct lane &lane)
{
	uint32_t *host = p.values + chunk * chunk_values;
	int count = std::min(chunk_values, p.size - chunk * chunk_values);
	int blocks = (count + block_size - 1) / block_size;
	size_t bytes = count * sizeof(*host);

	CUDA_CHECK(cudaMemcpyAsync(lane.device, host, bytes, cudaMemcpyHostToDevice, lane.stream));
	CUDA_LAUNCH(update_kernel<<<blocks, block_size, 0, lane.stream>>>(lane.device, count,
									  one_step));
	CUDA_CHECK(cudaMemcpyAsync(host, lane.device, bytes, cudaMemcpyDeviceToHost, lane.stream));
}

static long chunk_count(const problem &p)
{
	return (p.size + chunk_values - 1) / chunk_values;
}

/* One thing at a time, wherever the host memory comes from. */
static void run_one_stream(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (long chunk = 0; chunk < chunk_count(p); chunk++)
			update_chunk(p, chunk, p.lanes[0]);
}

/* A chunk always takes the same lane: its next update comes behind this one. */
static void run_three_streams(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (long chunk = 0; chunk < chunk_count(p); chunk++)
			update_chunk(p, chunk, p.lanes[chunk % lane_count]);
}

static void choose_pageable(problem &p)
{
	p.values = p.pageable.data();
}

static void choose_pinned(problem &p)
{
	p.values = p.pinned;
}

static uint32_t after_all_steps(uint32_t x, int iterations)
{
	for (long k = 0; k < (long)iterations * steps; k++)
		x = next_value(x, one_step);
	return x;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.from_zero = after_all_steps(0, iterations);
	p.from_one = after_all_steps(1, iterations);
	p.pageable.resize(size);
	CUDA_CHECK(cudaMallocHost(&p.pinned, size * sizeof(*p.pinned)));
	for (struct lane &lane : p.lanes) {
		lane.device = device_array<uint32_t>(std::min(size, chunk_values));
		CUDA_CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
	}
}

static void reset(problem &p)
{
	for (long i = 0; i < p.size; i++)
		p.values[i] = initial_value(i);
}

/* However many steps: x -> a x + b.  What becomes of 0 and of 1 says what a and b are, so the
 * scalar reference takes all steps for these two only. */
static struct difference check(const problem &p)
{
	for (long i = 0; i < p.size; i++) {
		uint32_t expected = initial_value(i) * (p.from_one - p.from_zero) + p.from_zero;

		if (p.values[i] != expected)
			return {i, p.values[i], expected};
	}
	return {-1, 0, 0};
}

static void release(problem &p)
{
	for (struct lane &lane : p.lanes) {
		CUDA_CHECK(cudaStreamDestroy(lane.stream));
		CUDA_CHECK(cudaFree(lane.device));
	}
	CUDA_CHECK(cudaFreeHost(p.pinned));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "pageable memory, one stream", run_one_stream, choose_pageable},
	{"pinned", "pinned memory, one stream", run_one_stream, choose_pinned},
	{"streamed", "pinned memory, three streams", run_three_streams, choose_pinned},
	{"streamed_pageable", "pageable memory, three streams", run_three_streams, choose_pageable},
};

static const struct workload<problem> copy_overlap = {
	.name = "copy_overlap", .size = 1 << 23, .iterations = 4, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(copy_overlap)
