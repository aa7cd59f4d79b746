/* own_activity: a program that uses CUPTI's Activity API itself, with buffers of malloc that it frees.
 * own_activity [--launches N] [--first N]
 * Registers before CUDA starts with --first 1, else after some kernels.  Prints what it launched, and whether it
 * was given records. */
#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include "trial.cuh"

static long long buffers;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*size = 65536;
	*buffer = (uint8_t *)malloc(*size);
	*most_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid_bytes)
{
	buffers += valid_bytes > 0;
	free(buffer);
}

int main(int argc, char **argv)
{
	long launches = 1000, first = 0;
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
	decltype(&cuptiActivityRegisterCallbacks) registrar;
	decltype(&cuptiActivityEnable) enable;
	decltype(&cuptiActivityFlushAll) flush;

	trial_parse(argc, argv, {{"launches", &launches}, {"first", &first}});
	if (!cupti)
		cupti = dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW);
	if (!cupti)
		return 3;
	registrar = (decltype(registrar))dlsym(cupti, "cuptiActivityRegisterCallbacks");
	enable = (decltype(enable))dlsym(cupti, "cuptiActivityEnable");
	flush = (decltype(flush))dlsym(cupti, "cuptiActivityFlushAll");
	if (first) {
		registrar(give_buffer, take_buffer);
		enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	}
	printf("counted %d\n", trial_count(launches));
	if (!first) {
		registrar(give_buffer, take_buffer);
		enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	}
	printf("counted %d\n", trial_count(launches));
	CUDA_CHECK(cudaDeviceSynchronize());
	flush(1);
	usleep(1000000);
	fprintf(stderr, "own buffers %lld\n", buffers);
	return 0;
}
