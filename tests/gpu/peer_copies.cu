/* peer_copies: bytes from GPU 0 to GPU 1 over what links them, for so many milliseconds, then as long the other way.
 * peer_copies [--ms N]
 * Prints what went each way.  Ends with 3 where there are no two GPUs that reach each other. */
#include "trial.cuh"

static const size_t chunk_bytes = 64 << 20;

static void copy_for(long ms, void *to, int to_device, const void *from, int from_device,
		     const char *name)
{
	long begin_ns = now_ns(), copies = 0;

	CUDA_CHECK(cudaSetDevice(from_device));
	for (; now_ns() - begin_ns < ms * 1000000; copies++) {
		CUDA_CHECK(cudaMemcpyPeerAsync(to, to_device, from, from_device, chunk_bytes, 0));
		CUDA_CHECK(cudaStreamSynchronize(0));
	}
	printf("%s %ld\n", name, copies * (long)chunk_bytes);
}

int main(int argc, char **argv)
{
	long ms = 500;
	int count = 0, reaches[2] = {};
	void *memory[2];

	trial_parse(argc, argv, {{"ms", &ms}});
	CUDA_CHECK(cudaGetDeviceCount(&count));
	if (count > 1) {
		CUDA_CHECK(cudaDeviceCanAccessPeer(&reaches[0], 0, 1));
		CUDA_CHECK(cudaDeviceCanAccessPeer(&reaches[1], 1, 0));
	}
	if (!reaches[0] || !reaches[1]) {
		fprintf(stderr, "peer_copies: needs two GPUs that reach each other\n");
		return 3;
	}
	for (int device = 0; device < 2; device++) {
		CUDA_CHECK(cudaSetDevice(device));
		CUDA_CHECK(cudaDeviceEnablePeerAccess(1 - device, 0));
		CUDA_CHECK(cudaMalloc(&memory[device], chunk_bytes));
		CUDA_CHECK(cudaMemset(memory[device], device, chunk_bytes));
		CUDA_CHECK(cudaDeviceSynchronize());
	}
	copy_for(ms, memory[1], 1, memory[0], 0, "forth");
	copy_for(ms, memory[0], 0, memory[1], 1, "back");
	return 0;
}
