/* driver_api: the driver API alone, with PTX that the driver compiles; no runtime API call.
 * driver_api [--launches N] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

static const char ptx[] = ".version 7.0\n"
			  ".target sm_80\n"
			  ".address_size 64\n"
			  ".visible .entry add_one(.param .u64 pointer)\n"
			  "{\n"
			  "	.reg .u64 %address;\n"
			  "	.reg .u32 %ignored;\n"
			  "	ld.param.u64 %address, [pointer];\n"
			  "	cvta.to.global.u64 %address, %address;\n"
			  "	atom.global.add.u32 %ignored, [%address], 1;\n"
			  "	ret;\n"
			  "}\n";

static void cu_check(CUresult result, const char *call, int line)
{
	const char *name = "unknown error";

	if (result == CUDA_SUCCESS)
		return;
	cuGetErrorName(result, &name);
	fprintf(stderr, "driver_api.c:%d: %s failed: %s\n", line, call, name);
	exit(1);
}

#define CU_CHECK(call) cu_check(call, #call, __LINE__)

static unsigned run(CUfunction add_one, long launches)
{
	CUdeviceptr counter;
	unsigned counted;
	void *arguments[] = {&counter};

	CU_CHECK(cuMemAlloc(&counter, sizeof(counted)));
	CU_CHECK(cuMemsetD32(counter, 0, 1));
	for (long i = 0; i < launches; i++)
		CU_CHECK(cuLaunchKernel(add_one, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
	CU_CHECK(cuCtxSynchronize());
	CU_CHECK(cuMemcpyDtoH(&counted, counter, sizeof(counted)));
	CU_CHECK(cuMemFree(counter));
	return counted;
}

int main(int argc, char **argv)
{
	long launches = 1000;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction add_one;
	unsigned counted;

	if (argc == 3 && !strcmp(argv[1], "--launches")) {
		launches = atol(argv[2]);
	} else if (argc != 1) {
		fprintf(stderr, "driver_api: takes only --launches N\n");
		return 2;
	}
	CU_CHECK(cuInit(0));
	CU_CHECK(cuDeviceGet(&device, 0));
	CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CU_CHECK(cuCtxSetCurrent(context));
	CU_CHECK(cuModuleLoadData(&module, ptx));
	CU_CHECK(cuModuleGetFunction(&add_one, module, "add_one"));
	counted = run(add_one, launches);
	CU_CHECK(cuModuleUnload(module));
	CU_CHECK(cuDevicePrimaryCtxRelease(device));
	printf("kernels %ld\n%s\n", launches, counted == launches ? "ok" : "counted wrongly");
	return counted == launches ? 0 : 1;
}
