/* Which kernels are a library's, by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/statistics/library_kernel.h"

static void test_libraries(void **state)
{
	static const struct {
		const char *name, *library;
	} rows[] = {
		{"ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymDevArgs)", "NCCL"},
		{"ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)", "NCCL"},
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		 "NCCL"},
		{"void barrier_on_stream_kernel_threadgroup<2>(int, int)", "NVSHMEM"},
		{"nvjet_sm90_tss_320x128_64x3_1x2_h_bz_coopB_TNT", "cuBLAS"},
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(Params)",
		 "CUTLASS"},
		{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8__5x_cublas", "cuBLAS"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
		 "float>, std::array<char*, 3ul> >(int)",
		 "PyTorch"},
		{"void (anonymous namespace)::softmax_warp_forward<float, float>(float*)",
		 "PyTorch"},
		{"void cub::DeviceReduceKernel<int>(int*)", "CUB"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_non_null(library_kernel_of(rows[i].name));
		assert_string_equal(library_kernel_of(rows[i].name), rows[i].library);
	}
}

static void test_own(void **state)
{
	static const char *const names[] = {
		"step_kernel(float*, int)",
		"triton_poi_fused_add_addmm_frac_relu_0",
		"void (anonymous namespace)::scale<float>(float*)",
		"mine(cutlass::half_t*, cublasLtHandle*)", /* an argument's type is not the kernel */
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(library_kernel_of(names[i]));
}

static void test_communication(void **state)
{
	static const char reduce[] =
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

	(void)state;
	assert_true(library_kernel_communicates(reduce) && library_kernel_is_collective(reduce));
	assert_true(
		library_kernel_is_collective("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWork)"));
	assert_true(
		library_kernel_is_collective("void barrier_on_stream_kernel_threadgroup<2>(int)"));
	assert_true(
		library_kernel_communicates("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)"));
	assert_false(
		library_kernel_is_collective("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)"));
	assert_true(library_kernel_communicates("nvshmemi_proxy_kernel(int**, int)"));
	assert_false(library_kernel_is_collective("nvshmemi_proxy_kernel(int**, int)"));
	assert_false(library_kernel_communicates("mine(ncclDevKernelArgsStorage<4096ul>)"));
	assert_false(library_kernel_communicates("void cub::DeviceReduceKernel<int>(int*)"));
}

/* They fill arrays of their own GPU. */
static void test_start_up_of_nvshmem(void **state)
{
	static const char fill[] = "void nvshmemi_init_array_kernel<long>(long*, int, long)";

	(void)state;
	assert_string_equal(library_kernel_of(fill), "NVSHMEM");
	assert_true(library_kernel_is_between_gpus(fill));
	assert_false(library_kernel_communicates(fill) || library_kernel_is_collective(fill));
	assert_false(library_kernel_communicates(
		"nvshmemi_init_array_kernel<nvshmemi_team_v3*>(nvshmemi_team_v3**, int, nvshmemi_team_v3*)"));
}

static void test_elements(void **state)
{
	(void)state;
	assert_true(library_kernel_is_elementwise(
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)"));
	assert_true(
		library_kernel_is_elementwise("void at::native::elementwise_kernel<128, 2>(int)"));
	assert_false(library_kernel_is_elementwise("void at::native::reduce_kernel<512, 1>(int)"));
	assert_true(library_kernel_is_reduction("void at::native::reduce_kernel<512, 1>(int)"));
	assert_false(
		library_kernel_is_elementwise("void mine<at::native::elementwise_kernel>(int)"));
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("kernels of libraries are known by their names", test_libraries),
		SENTENCE("a program's own kernel is no library's, whatever its arguments are",
			 test_own),
		SENTENCE(
			"what moves data between GPUs is known, and what all ranks have to come to",
			test_communication),
		SENTENCE("what NVSHMEM fills its arrays with at start-up is no communication",
			 test_start_up_of_nvshmem),
		SENTENCE("of PyTorch's kernels it is known which are of elements", test_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
