/*
 * transfer: the roofs of copies between host and device, from page-locked and ordinary memory, and from GPU to GPU.
 *
 * Several sizes are tried, since what a copy costs to start shows in a small one and what an
 * ordinary buffer costs to stage in a large one.  Events lie around the copies: the one behind a
 * copy from ordinary memory passes only when its last piece has arrived.  And what it takes to make
 * ordinary memory page-locked, which a copy has to earn back.
 */
#include <chrono>

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

/* Copies in, and beside them in a stream of their own copies out, of other halves of the buffers. */
struct both_ways {
	cudaStream_t out;
	cudaEvent_t begun, ended;
};

static struct both_ways both_ways_open(void)
{
	struct both_ways both;

	CUDA_CHECK(cudaStreamCreateWithFlags(&both.out, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&both.begun, cudaEventDisableTiming));
	CUDA_CHECK(cudaEventCreateWithFlags(&both.ended, cudaEventDisableTiming));
	return both;
}

static void both_ways_close(struct both_ways &both)
{
	CUDA_CHECK(cudaEventDestroy(both.begun));
	CUDA_CHECK(cudaEventDestroy(both.ended));
	CUDA_CHECK(cudaStreamDestroy(both.out));
}

static void copy_both_ways(const struct both_ways &both, cudaStream_t in, const struct ends &ends,
			   size_t bytes, long repeats)
{
	char *device_out = (char *)ends.device + bytes, *pinned_out = (char *)ends.pinned + bytes;

	CUDA_CHECK(cudaEventRecord(both.begun, in));
	CUDA_CHECK(cudaStreamWaitEvent(both.out, both.begun, 0));
	for (long i = 0; i < repeats; i++) {
		CUDA_CHECK(cudaMemcpyAsync(ends.device, ends.pinned, bytes, cudaMemcpyHostToDevice,
					   in));
		CUDA_CHECK(cudaMemcpyAsync(pinned_out, device_out, bytes, cudaMemcpyDeviceToHost,
					   both.out));
	}
	CUDA_CHECK(cudaEventRecord(both.ended, both.out));
	CUDA_CHECK(cudaStreamWaitEvent(in, both.ended, 0));
}

static struct ceiling_measurement both_ways_measurement(struct ceiling_bench &bench,
							const struct both_ways &both,
							const struct ends &ends)
{
	std::vector<struct ceiling_variant> variants;
	cudaStream_t in = bench.stream;

	for (size_t bytes = ends.bytes / 2; bytes >= ends.bytes / 16; bytes /= 2)
		variants.push_back({(double)bytes, [=](long repeats) {
					    copy_both_ways(both, in, ends, bytes, repeats);
				    }});
	return ceiling_throughput(bench, CEILING_pinned_both, 0, variants, false);
}

/* A buffer on the first GPU, and one on another that it may access. */
struct peers {
	void *here, *there;
	size_t bytes;
	int other;
	const char *problem; /* why there is none */
};

static const char *peers_enable(int here, int other)
{
	int can_access = 0;
	cudaError_t result;

	CUDA_CHECK(cudaDeviceCanAccessPeer(&can_access, here, other));
	if (!can_access)
		return "the first two GPUs cannot access each other";
	result = cudaDeviceEnablePeerAccess(other, 0);
	if (result != cudaSuccess && result != cudaErrorPeerAccessAlreadyEnabled) {
		cudaGetLastError();
		return cudaGetErrorString(result);
	}
	return nullptr;
}

static struct peers peers_open(const struct ends &ends)
{
	struct peers peers = {ends.device, nullptr, ends.bytes, 0, "there is one GPU"};
	int here, count;

	CUDA_CHECK(cudaGetDevice(&here));
	CUDA_CHECK(cudaGetDeviceCount(&count));
	if (count < 2)
		return peers;
	peers.other = here ? 0 : 1;
	peers.problem = peers_enable(here, peers.other);
	CUDA_CHECK(cudaSetDevice(peers.other));
	CUDA_CHECK(cudaMalloc(&peers.there, peers.bytes));
	CUDA_CHECK(cudaSetDevice(here));
	return peers;
}

static void peers_close(struct peers &peers)
{
	CUDA_CHECK(cudaFree(peers.there));
}

static struct ceiling_measurement peers_measurement(struct ceiling_bench &bench,
						    const struct peers &peers)
{
	if (peers.problem)
		return ceiling_skip(CEILING_peer_copy, 0, peers.problem);
	return ceiling_throughput(bench, CEILING_peer_copy, 0,
				  copies(bench, peers.there, peers.here, peers.bytes,
					 cudaMemcpyDefault),
				  false);
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

/* ns, of so many bytes that have been written before. */
static double register_ns(void *memory, size_t bytes)
{
	auto begin = std::chrono::steady_clock::now();
	std::chrono::duration<double, std::nano> taken;

	CUDA_CHECK(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
	taken = std::chrono::steady_clock::now() - begin;
	CUDA_CHECK(cudaHostUnregister(memory));
	return taken.count();
}

static struct ceiling_measurement register_measurement(const struct ends &ends, size_t bytes)
{
	struct ceiling_measurement m = {CEILING_host_register, (long)bytes, "", nullptr, nullptr};
	void *memory = ends.pageable;

	m.prepare = [=]() { register_ns(memory, bytes); };
	m.sample = [=]() { return ceiling_reading{register_ns(memory, bytes), 0}; };
	return m;
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("transfer", argc, argv);
	struct ends ends = ends_open();
	struct both_ways both = both_ways_open();
	struct peers peers = peers_open(ends);
	int rc;

	rc = ceiling_run(bench,
			 {copy_measurement(bench, CEILING_h2d_pinned, ends.device, ends.pinned,
					   ends.bytes, cudaMemcpyHostToDevice),
			  copy_measurement(bench, CEILING_d2h_pinned, ends.pinned, ends.device,
					   ends.bytes, cudaMemcpyDeviceToHost),
			  both_ways_measurement(bench, both, ends), peers_measurement(bench, peers),
			  copy_measurement(bench, CEILING_h2d_pageable, ends.device, ends.pageable,
					   ends.bytes, cudaMemcpyHostToDevice),
			  copy_measurement(bench, CEILING_d2h_pageable, ends.pageable, ends.device,
					   ends.bytes, cudaMemcpyDeviceToHost),
			  register_measurement(ends, (size_t)64 << 10),
			  register_measurement(ends, (size_t)1 << 20),
			  register_measurement(ends, (size_t)16 << 20),
			  register_measurement(ends, ends.bytes)});
	peers_close(peers);
	both_ways_close(both);
	ends_close(ends);
	return rc;
}
