/* allocations: memory that is allocated and freed again and again, and what the driver tells about it.
 * allocations [--repeats N]
 *
 * It prints what must be the same whether the driver frees memory or something in front of it keeps it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

static const size_t sizes[] = {256, 4096, 1 << 20, 3 << 20, 64 << 20};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), STREAMS = 2, SAMPLES = 16 };

static CUstream streams[STREAMS];

static void cu_check(CUresult result, const char *call, int line)
{
	const char *name = "unknown error";

	if (result == CUDA_SUCCESS)
		return;
	cuGetErrorName(result, &name);
	fprintf(stderr, "allocations.c:%d: %s failed: %s\n", line, call, name);
	exit(1);
}

#define CU_CHECK(call) cu_check(call, #call, __LINE__)

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Memory of each size is written in one stream and read in it, while another stream still writes what was freed before. */
static unsigned long fill_and_sum(unsigned repeat)
{
	CUdeviceptr memory[SIZES];
	unsigned values[SAMPLES];
	unsigned long sum = 0;

	for (unsigned i = 0; i < SIZES; i++) {
		CU_CHECK(cuMemAlloc(&memory[i], sizes[i]));
		CU_CHECK(cuMemsetD32Async(memory[i], repeat * SIZES + i, sizes[i] / 4,
					  streams[(repeat + i) % STREAMS]));
	}
	for (unsigned i = 0; i < SIZES; i++) {
		CU_CHECK(cuStreamSynchronize(streams[(repeat + i) % STREAMS]));
		CU_CHECK(cuMemcpyDtoH(values, memory[i] + sizes[i] - sizeof(values),
				      sizeof(values)));
		for (unsigned j = 0; j < SAMPLES; j++)
			sum = sum * 31 + values[j];
		CU_CHECK(cuMemsetD8Async(memory[i], 0xff, sizes[i],
					 streams[(repeat + i + 1) % STREAMS]));
	}
	for (unsigned i = 0; i < SIZES; i++) {
		CU_CHECK(cuMemFree(memory[(i + repeat) % SIZES]));
		for (unsigned j = 0; j < STREAMS; j++)
			if (cuStreamQuery(streams[j]) != CUDA_SUCCESS)
				printf("freeing did not wait\n");
	}
	return sum;
}

static void ask(const char *when, CUdeviceptr address)
{
	CUdeviceptr base = 0;
	size_t bytes = 0;
	unsigned type = 0;
	int range = (int)cuMemGetAddressRange(&base, &bytes, address);
	int attribute =
		(int)cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);

	printf("%s: range %d, %zu bytes, offset %zu; type %d, %u\n", when, range, bytes,
	       base ? (size_t)(address - base) : 0, attribute, type);
}

/* The largest size alone, so that no small one shares its pages. */
static void ask_about_freed(void)
{
	size_t before = 0, after = 0, total = 0;
	CUdeviceptr memory;

	for (int i = 0; i < 3; i++) {
		CU_CHECK(cuMemGetInfo(&before, &total));
		CU_CHECK(cuMemAlloc(&memory, sizes[SIZES - 1]));
		ask("allocated", memory + 100);
		CU_CHECK(cuMemFree(memory));
		CU_CHECK(cuMemGetInfo(&after, &total));
		printf("all of it is free again: %d\n", before == after);
		CU_CHECK(cuMemAlloc(&memory, sizes[SIZES - 1]));
		CU_CHECK(cuMemFree(memory));
		ask("freed", memory + 100);
		printf("freed twice: %d\n", (int)cuMemFree(memory));
	}
}

/* Nearly all memory, after some was freed. */
static void allocate_nearly_all(void)
{
	size_t free_bytes = 0, total = 0;
	CUdeviceptr memory;
	CUresult result;

	CU_CHECK(cuMemGetInfo(&free_bytes, &total));
	(void)fill_and_sum(0);
	(void)fill_and_sum(1);
	result = cuMemAlloc(&memory, free_bytes - ((size_t)256 << 20));
	printf("nearly all: %d\n", (int)result);
	if (result == CUDA_SUCCESS)
		CU_CHECK(cuMemFree(memory));
}

int main(int argc, char **argv)
{
	unsigned repeats = argc == 3 && !strcmp(argv[1], "--repeats")
				   ? (unsigned)strtoul(argv[2], NULL, 10)
				   : 200;
	CUdevice device;
	CUcontext context;
	unsigned long sum = 0;
	double start_ns;

	CU_CHECK(cuInit(0));
	CU_CHECK(cuDeviceGet(&device, 0));
	CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CU_CHECK(cuCtxSetCurrent(context));
	for (unsigned i = 0; i < STREAMS; i++)
		CU_CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	start_ns = now_ns();
	for (unsigned i = 0; i < repeats; i++)
		sum = sum * 31 + fill_and_sum(i);
	printf("ns_per_repeat %.0f\n", (now_ns() - start_ns) / (repeats ? repeats : 1));
	printf("sum %lx\n", sum);
	ask_about_freed();
	allocate_nearly_all();
	return 0;
}
