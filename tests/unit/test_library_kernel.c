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

/* Most names are what an H200 ran. */
static void test_fp32_products(void **state)
{
	static const struct {
		const char *name;
		bool is_one;
	} rows[] = {
		{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_"
		 "ffma_aligna4_alignc4_execute_kernel__5x_cublas",
		 true},
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(Params)",
		 true},
		{"void sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>(float*, float const*)",
		 true},
		{"ampere_sgemm_32x32_sliced1x4_tn", true},
		{"sm80_xmma_fprop_implicit_gemm_indexed_f32f32_f32f32_f32_nchwkcrs_nchw_"
		 "tilesize32x32x8_stage3_warpsize1x2x1_g1_ffma_aligna4__5x_cudnn",
		 true},
		{"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize256x128x32__5x_cublas", false},
		{"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align4>(P)",
		 false},
		{"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", false},
		{"cublas::volta_fp16_sgemm_fp16_128x64_nn", false},
		{"ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", false},
		{"void gemv2T_kernel_val<int, int, float, float, float, float>(cublas)", false},
		{"void sgemm_naive(int, float const*)", false}, /* no library's */
		{"void at::native::fill<float>(sgemm)", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(library_kernel_is_fp32_product(rows[i].name), rows[i].is_one);
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
	assert_true(library_kernel_is_elementwise("cupy_exp__float32_float32"));
	assert_true(library_kernel_is_elementwise("cupyx_scipy_special_ndtr__float32_float32"));
	assert_false(library_kernel_is_elementwise("cupy_sum"));
	assert_false(library_kernel_is_elementwise("mine__float32"));
}

static void expect_elements(const char *name, uint32_t least, uint32_t most)
{
	uint32_t found_least, found_most;

	assert_true(library_kernel_elements(name, &found_least, &found_most));
	assert_int_equal(found_least, least);
	assert_int_equal(found_most, most);
}

static void test_elements_of_threads(void **state)
{
	(void)state;
	expect_elements("cupy_exp__float32_float32", 1, 1);
	expect_elements("void at::native::elementwise_kernel<128, 2, at::native::mul>(int)", 2, 2);
	expect_elements("void at::native::vectorized_elementwise_kernel<4, at::native::mul>(int)",
			4, 16);
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
		SENTENCE("a library's matrix products in FP32 without tensor cores are known",
			 test_fp32_products),
		SENTENCE("of PyTorch's kernels it is known which are of elements", test_elements),
		SENTENCE("names show how many elements a thread takes", test_elements_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
