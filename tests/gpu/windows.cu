/* windows: three phases of kernels with pauses between them, for what limits a recording.
 * windows [--launches N] [--pause-ms N]
 * Phase two lies between cudaProfilerStart and cudaProfilerStop.  Prints how many kernels of which name
 * each phase ran. */
#include <cuda_profiler_api.h>
#include <unistd.h>

#include "trial.cuh"

__global__ void before_kernel()
{
}

__global__ void marked_kernel()
{
}

__global__ void after_kernel()
{
}

static void phase(const char *name, void (*kernel)(), long launches, long pause_ms)
{
	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(kernel<<<1, 1>>>());
	CUDA_CHECK(cudaDeviceSynchronize());
	printf("%s %ld\n", name, launches);
	fflush(stdout);
	usleep(pause_ms * 1000);
}

int main(int argc, char **argv)
{
	long launches = 100, pause_ms = 0;

	trial_parse(argc, argv, {{"launches", &launches}, {"pause-ms", &pause_ms}});
	phase("before_kernel", before_kernel, launches, pause_ms);
	CUDA_CHECK(cudaProfilerStart());
	phase("marked_kernel", marked_kernel, launches, pause_ms);
	CUDA_CHECK(cudaProfilerStop());
	phase("after_kernel", after_kernel, launches, pause_ms);
	return 0;
}
