/*
 * few_waits [WAY] - kernels in two streams that do not wait for each other, ordered by waits of the host alone; and what a
 * program sees after a wait: where that was left out although the host could tell, something else is printed.
 *
 * WAY: device (the default), event: the waits are for events, or pinned, registered or managed memory, which the host reads
 * without a copy.  few_waits_prints.cu is of kernels that print, as one such kernel is enough for waits not to be left out.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_check.cuh"

constexpr int count = 1 << 12, rounds = 50, clocks = 200000;

/* It takes a while, so that who does not wait for it sees what was there before. */
static __global__ void add_late(int *values, int more)
{
	long long start = clock64();

	while (clock64() - start < clocks)
		;
	for (int i = threadIdx.x; i < count; i += blockDim.x)
		values[i] += more;
}

static __global__ void twice(int *to, const int *from)
{
	for (int i = threadIdx.x; i < count; i += blockDim.x)
		to[i] = 2 * from[i];
}

static int *allocate(const char *way)
{
	size_t bytes = count * sizeof(int);
	int *values;

	if (!strcmp(way, "pinned")) {
		CUDA_CHECK(cudaMallocHost(&values, bytes));
	} else if (!strcmp(way, "managed")) {
		CUDA_CHECK(cudaMallocManaged(&values, bytes));
	} else if (!strcmp(way, "registered")) {
		values = static_cast<int *>(aligned_alloc(4096, bytes));
		CUDA_CHECK(cudaHostRegister(values, bytes, cudaHostRegisterDefault));
	} else {
		CUDA_CHECK(cudaMalloc(&values, bytes));
	}
	CUDA_CHECK(cudaMemset(values, 0, bytes));
	return values;
}

static void wait_for(cudaStream_t stream, cudaEvent_t event, const char *way)
{
	if (!strcmp(way, "event")) {
		CUDA_CHECK(cudaEventRecord(event, stream));
		CUDA_CHECK(cudaEventSynchronize(event));
		return;
	}
	CUDA_CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "device";
	bool is_read = strcmp(way, "device") && strcmp(way, "event");
	cudaStream_t streams[2];
	cudaEvent_t event;
	int *values = allocate(way), *doubled, last[count];
	long long sum = 0;

	for (cudaStream_t &stream : streams)
		CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreate(&event));
	CUDA_CHECK(cudaMalloc(&doubled, sizeof(last)));
	CUDA_CHECK(cudaDeviceSynchronize());
	for (int round = 0; round < rounds; round++) {
		add_late<<<1, 256, 0, streams[0]>>>(values, round);
		CUDA_CHECK(cudaGetLastError());
		wait_for(streams[0], event, way);
		if (is_read)
			sum += *const_cast<volatile int *>(values + count - 1);
		twice<<<1, 256, 0, streams[1]>>>(doubled, values);
		CUDA_CHECK(cudaGetLastError());
		if (round % 5)
			wait_for(streams[1], event, way);
		else
			CUDA_CHECK(cudaDeviceSynchronize());
		printf("done: %d\n", cudaStreamQuery(streams[1]) == cudaSuccess);
		if (round % 10 == 9) {
			CUDA_CHECK(cudaMemcpy(last, doubled, sizeof(last), cudaMemcpyDeviceToHost));
			for (int value : last)
				sum += value;
		}
	}
	printf("sum %lld\n", sum);
	return 0;
}
