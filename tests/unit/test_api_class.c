/* What a CUDA call is for, told by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/api_class.h"

static void test_plain_names(void **state)
{
	static const char *const cases[][2] = {
		{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
		{"__cudaLaunchKernel_v13000", "cudaLaunchKernel"},
		{"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
		{"cuMemcpyHtoD_v2", "cuMemcpyHtoD"},
		{"cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync"},
		{"cuMemcpy_ptds", "cuMemcpy"},
		{"cudaGraphInstantiate_v12000", "cudaGraphInstantiate"},
		{"cuMemsetD32", "cuMemsetD32"},
		{"cudaMemcpy2D_v3020", "cudaMemcpy2D"},
		{"_v2", "v2"},
		{"a_v", "a_v"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char plain[64];

		api_plain_name(plain, sizeof(plain), cases[i][0]);
		assert_string_equal(plain, cases[i][1]);
	}
}

static void test_long_name(void **state)
{
	char plain[5];

	(void)state;
	api_plain_name(plain, sizeof(plain), "cudaMalloc_v3020");
	assert_string_equal(plain, "cuda");
}

static void test_classes(void **state)
{
	static const struct {
		const char *name;
		enum profile_call_class call_class;
	} cases[] = {
		{"cudaLaunchKernel", CALL_LAUNCH},
		{"cudaLaunchKernelExC", CALL_LAUNCH},
		{"cudaLaunchCooperativeKernel", CALL_LAUNCH},
		{"cudaLaunchHostFunc", CALL_LAUNCH},
		{"cuLaunchKernelEx", CALL_LAUNCH},
		{"hipLaunchKernel", CALL_LAUNCH},
		{"hipExtModuleLaunchKernel", CALL_LAUNCH},
		{"hipMemcpyWithStream", CALL_COPY},
		{"cuLaunch", CALL_LAUNCH},
		{"cudaStreamAddCallback", CALL_LAUNCH},
		{"cudaGraphLaunch", CALL_GRAPH_LAUNCH},
		{"cuGraphLaunch", CALL_GRAPH_LAUNCH},
		{"cudaGraphInstantiate", CALL_GRAPH_MANAGE},
		{"cudaGraphExecKernelNodeSetParams", CALL_GRAPH_MANAGE},
		{"cudaGraphUpload", CALL_GRAPH_MANAGE},
		{"cudaGraphExecDestroy", CALL_GRAPH_MANAGE},
		{"cudaGraphAddMemcpyNode", CALL_GRAPH_MANAGE},
		{"cudaStreamBeginCapture", CALL_GRAPH_MANAGE},
		{"cuStreamEndCapture", CALL_GRAPH_MANAGE},
		{"cudaMemcpy", CALL_COPY},
		{"cudaMemcpyAsync", CALL_COPY},
		{"cuMemcpyHtoDAsync", CALL_COPY},
		{"cudaMemsetAsync", CALL_COPY},
		{"cuMemsetD32Async", CALL_COPY},
		{"cudaMemPrefetchAsync", CALL_COPY},
		{"cudaDeviceSynchronize", CALL_SYNC},
		{"cudaStreamSynchronize", CALL_SYNC},
		{"cudaEventSynchronize", CALL_SYNC},
		{"cuCtxSynchronize", CALL_SYNC},
		{"cudaEventRecord", CALL_EVENT},
		{"cudaStreamWaitEvent", CALL_EVENT},
		{"cuStreamWaitValue32", CALL_EVENT},
		{"cudaMalloc", CALL_MEMORY},
		{"cudaMallocAsync", CALL_MEMORY},
		{"cudaFree", CALL_MEMORY},
		{"cudaHostAlloc", CALL_MEMORY},
		{"cudaHostRegister", CALL_MEMORY},
		{"cuMemAlloc", CALL_MEMORY},
		{"cuMemMap", CALL_MEMORY},
		{"cudaGraphicsMapResources", CALL_MEMORY},
		{"cuModuleLoadData", CALL_MODULE},
		{"cuLibraryLoadData", CALL_MODULE},
		{"cuLinkComplete", CALL_MODULE},
		{"cudaRegisterFatBinary", CALL_MODULE},
		{"cudaFuncSetAttribute", CALL_MODULE},
		{"cuKernelSetAttribute", CALL_MODULE},
		{"cudaMemAdvise", CALL_MEMORY},
		{"cudaMemPoolTrimTo", CALL_MEMORY},
		{"cudaDeviceSetMemPool", CALL_MEMORY},
		{"cudaGraphAddKernelNode", CALL_GRAPH_MANAGE},
		{"cudaGraphCreate", CALL_GRAPH_MANAGE},
		{"cudaGraphDestroy", CALL_GRAPH_MANAGE},
		{"cudaEventCreateWithFlags", CALL_CREATE},
		{"cuEventDestroy", CALL_CREATE},
		{"cudaStreamCreateWithPriority", CALL_CREATE},
		{"cuStreamDestroy", CALL_CREATE},
		{"cudaGetDevice", CALL_OTHER},
		{"cuInit", CALL_OTHER},
		{"cudaSetDevice", CALL_OTHER},
		{"cublasSgemm", CALL_OTHER},
		{"cudnnLaunch", CALL_OTHER},
		{"Memcpy", CALL_OTHER},
		{"cuda", CALL_OTHER},
		{"", CALL_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (api_class(cases[i].name) != cases[i].call_class)
			fail_msg("%s is of class %d", cases[i].name, (int)api_class(cases[i].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"versions and per-thread suffixes are removed", test_plain_names, NULL, NULL,
		 NULL},
		{"a name longer than the buffer is cut", test_long_name, NULL, NULL, NULL},
		{"every call has the class of its purpose", test_classes, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
