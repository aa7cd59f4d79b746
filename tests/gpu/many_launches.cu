/* many_launches: empty kernels from many threads, as fast as the host can.
 * many_launches [--launches N a thread] [--threads N] */
#include <thread>

#include "trial.cuh"

static void launch_all(long launches)
{
	cudaStream_t stream;
	cudaError_t error = cudaSuccess;

	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (long i = 0; i < launches && error == cudaSuccess; i++) {
		empty_kernel<<<1, 1, 0, stream>>>();
		error = cudaGetLastError();
	}
	CUDA_CHECK(error);
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	long launches = 200000, threads = 1, start_ns, total_ns;
	std::vector<std::thread> workers;

	trial_parse(argc, argv, {{"launches", &launches}, {"threads", &threads}});
	CUDA_LAUNCH(
		empty_kernel<<<1, 1>>>()); /* loads the module: part of kernels, not of the time */
	CUDA_CHECK(cudaDeviceSynchronize());
	start_ns = now_ns();
	for (long i = 0; i < threads; i++)
		workers.emplace_back(launch_all, launches);
	for (std::thread &worker : workers)
		worker.join();
	total_ns = now_ns() - start_ns;
	printf("kernels %ld\nthreads %ld\ntotal_ns %ld\nns_per_launch %.1f\n",
	       launches * threads + 1, threads, total_ns, (double)total_ns / (launches * threads));
	return 0;
}
