/*
 * transfer: the roofs of copies between host and device, from page-locked and ordinary memory.
 *
 * Several sizes are tried, since what a copy costs to start shows in a small one and what an
 * ordinary buffer costs to stage in a large one.  Events lie around the copies: the one behind a
 * copy from ordinary memory passes only when its last piece has arrived.
 */
#include "ceiling.cuh"

struct ends {
	void *device, *pinned, *pageable;
	size_t bytes;
};

static std::vector<struct ceiling_variant> copies(struct ceiling_bench &bench, void *to,
						  const void *from, size_t most_bytes,
						  cudaMemcpyKind kind)
{
	std::vector<struct ceiling_variant> variants;
	cudaStream_t stream = bench.stream;

	for (size_t bytes = most_bytes; bytes >= most_bytes / 8; bytes /= 2)
		variants.push_back(
			{(double)bytes, [=](long repeats) {
				 for (long i = 0; i < repeats; i++)
					 CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
			 }});
	return variants;
}

/* Touched: pages that nobody has written yet are all the same page of zeros. */
static struct ends ends_open(void)
{
	struct ends ends = {};

	ends.bytes = (size_t)256 << 20;
	ends.pageable = malloc(ends.bytes);
	if (!ends.pageable) {
		fprintf(stderr, "transfer: no %zu bytes of memory\n", ends.bytes);
		exit(1);
	}
	CUDA_CHECK(cudaMalloc(&ends.device, ends.bytes));
	CUDA_CHECK(cudaMallocHost(&ends.pinned, ends.bytes));
	memset(ends.pageable, 0x5a, ends.bytes);
	memset(ends.pinned, 0xa5, ends.bytes);
	CUDA_CHECK(cudaMemset(ends.device, 0x3c, ends.bytes));
	CUDA_CHECK(cudaDeviceSynchronize());
	return ends;
}

static void ends_close(struct ends &ends)
{
	CUDA_CHECK(cudaFree(ends.device));
	CUDA_CHECK(cudaFreeHost(ends.pinned));
	free(ends.pageable);
}

static struct ceiling_measurement copy_measurement(struct ceiling_bench &bench, enum ceiling_id id,
						   void *to, const void *from, size_t bytes,
						   cudaMemcpyKind kind)
{
	return ceiling_throughput(bench, id, 0, copies(bench, to, from, bytes, kind), false);
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("transfer", argc, argv);
	struct ends ends = ends_open();
	int rc;

	rc = ceiling_run(bench,
			 {copy_measurement(bench, CEILING_h2d_pinned, ends.device, ends.pinned,
					   ends.bytes, cudaMemcpyHostToDevice),
			  copy_measurement(bench, CEILING_d2h_pinned, ends.pinned, ends.device,
					   ends.bytes, cudaMemcpyDeviceToHost),
			  copy_measurement(bench, CEILING_h2d_pageable, ends.device, ends.pageable,
					   ends.bytes, cudaMemcpyHostToDevice),
			  copy_measurement(bench, CEILING_d2h_pageable, ends.pageable, ends.device,
					   ends.bytes, cudaMemcpyDeviceToHost)});
	ends_close(ends);
	return rc;
}
