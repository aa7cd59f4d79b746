/* test_kernel_labels.c - short names of kernels: what people know them by, and never one for two kernels. */
#define _GNU_SOURCE /* vasprintf */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "trace/profile.h"

static const size_t widths[LABEL_COUNT] = {
	[LABEL_NARROW] = 26, [LABEL_MEDIUM] = 34, [LABEL_WIDE] = 60};

/* ---- one name ---- */

#define ATEN_KERNEL(functor)                                         \
	"void at::native::vectorized_elementwise_kernel<4, " functor \
	", std::array<char*, 2ul> >(int, " functor ", std::array<char*, 2ul>)"
#define LAMBDA_OF(function)                                                 \
	"at::native::" function "(at::TensorIteratorBase&)::{lambda()#1}::" \
	"operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}"

/* Names of real kernels, and what they are called in a table, in a sentence and in a chart. */
static const struct {
	const char *name, *wide, *medium, *narrow;
} known[] = {
	{"saxpy(int, float, float*)", "saxpy", "saxpy", "saxpy"},
	{"extern_c_name", "extern_c_name", "extern_c_name", "extern_c_name"},
	{"void reduce<float, 256>(float*, int)", "reduce<float, 256>", "reduce<float, 256>",
	 "reduce<float, 256>"},
	{ATEN_KERNEL("at::native::CUDAFunctor_add<float>"),
	 "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
	 "vectorized_ele...<CUDAFunctor_add>", "vector...<CUDAFunctor_add>"},
	{ATEN_KERNEL("at::native::FillFunctor<int>"),
	 "vectorized_elementwise_kernel<4, FillFunctor<int>>", "vectorized_element...<FillFunctor>",
	 "vectorized...<FillFunctor>"},
	{ATEN_KERNEL("at::native::AUnaryFunctor<float, float, float, "
		     "at::native::binary_internal::MulFunctor<float> >"),
	 "vectorized_elementwise_kernel<4, MulFunctor<float>>",
	 "vectorized_elementw...<MulFunctor>", "vectorized_...<MulFunctor>"},
	{ATEN_KERNEL(LAMBDA_OF("frac_kernel_cuda")),
	 "vectorized_elementwise_kernel<4, frac_kernel_cuda<float>>",
	 "vectorized_el...<frac_kernel_cuda>", "vecto...<frac_kernel_cuda>"},
	{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
	 "at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, "
	 "at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int, int)",
	 "elementwise_kernel<128, 2, CUDAFunctor_add<float>>", "elementwise_ke...<CUDAFunctor_add>",
	 "elemen...<CUDAFunctor_add>"},
	{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
	 "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::"
	 "operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4> >"
	 "(int)",
	 "reduce_kernel<512, 1, sum_functor<float>>", "reduce_kernel<sum_functor<float>>",
	 "reduce_kernel<sum_functor>"},
	{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
	 "(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
	 "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)",
	 "multi_tensor_apply_kernel<BinaryOpListAlphaFunctor, plus>",
	 "multi...<BinaryOpListAlphaFunctor>", "mult...<BinaryOpLi...ctor>"},
	{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::"
	 "(anonymous namespace)::OpaqueType<4u>, unsigned int, 3, 64, 64>(int)",
	 "CatArrayBatchedCopy<OpaqueType<4>, unsigned int, 3, 64, 64>",
	 "CatArrayBatchedCopy<OpaqueType...>", "CatArrayBatchedCopy<Op...>"},
	{"void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::"
	 "DeviceRadixSortPolicy<float, unsigned int, int>::Policy800, false, float, unsigned int, "
	 "int, int, int>(int*)",
	 "DeviceRadixSortOnesweepKernel<false, float, ...>", "DeviceRadixSortOnesweepKernel<...>",
	 "DeviceRadixSortO...pKernel"},
	{"void cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, int*, int*, "
	 "cub::ScanTileState<int, true>, cub::Sum, cub::NullType, int>(int*)",
	 "DeviceScanKernel<Sum>", "DeviceScanKernel<Sum>", "DeviceScanKernel<Sum>"},
	{"void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::"
	 "ParallelForAgent<thrust::cuda_cub::__uninitialized_fill::functor<"
	 "thrust::device_ptr<float>, float>, unsigned long>, unsigned long>(int)",
	 "_kernel_agent<__uninitialized_fill<device_ptr<float>>>",
	 "_kernel_a...<__uninitialized_fill>", "_ker...<__uninitia...fill>"},
	{"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"
	 "(cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)",
	 "cutlass_80_simt_sgemm_64x64_8x5_tn_align1", "cutlass_80_simt_sgemm..._tn_align1",
	 "cutlass_80_simt_..._align1"},
	{"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, "
	 "int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
	 "MainloopSm90TmaGmmaWarpSpecialized<5, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, "
	 "cutlass::gemm::KernelTmaWarpSpecializedPingpong>, cute::tuple<cute::C<128>, "
	 "cute::C<128>, cute::C<64> >, cutlass::bfloat16_t, cute::tuple<long, cute::C<1>, long> > "
	 "> >(int)",
	 "GemmUniversal<128x128x64, bfloat16_t>", "GemmUniversal<128x128x64>",
	 "GemmUniversal<128x128x64>"},
	{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	 "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_AllRedu...16_RING_LL",
	 "ncclDevKernel_Al...RING_LL"},
	{"triton_poi_fused_add_addmm_copy__frac_relu_3",
	 "triton_poi_fused_add_addmm_copy__frac_relu_3", "triton_poi_fused_add_...rac_relu_3",
	 "triton_poi_fused..._relu_3"},
	{"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
	 "cutlass::bfloat16_t>, true, false>(Flash_fwd_params)",
	 "flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, ...>",
	 "flash_fwd_kernel<Flash_fwd_ker...>", "flash_fwd_kernel<Flash...>"},
	{"void step_kernel<&(anonymous namespace)::scale>(unsigned int*)", "step_kernel<&scale>",
	 "step_kernel<&scale>", "step_kernel<&scale>"},
	{"void scan<1024, (cub::BlockScanAlgorithm)2>(int*)", "scan<1024, 2>", "scan<1024, 2>",
	 "scan<1024, 2>"},
	/* what is no name of C++ stays readable, and harmless */
	{"", "", "", ""},
	{"((((", "((((", "((((", "(((("},
	{"a>>>>b(", "a>>>>b(", "a>>>>b(", "a>>>>b("},
	{"operator<<(int)", "operator<<", "operator<<", "operator<<"},
	{"Match<int>::operator()(int)", "Match<int>::operator()", "Match<int>::operator()",
	 "Match<int>::operator()"},
	{"clear\x1b[2J", "clear?[2J", "clear?[2J", "clear?[2J"},
};

static void test_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct kernel_labels *labels = kernel_labels_create(&known[i].name, 1);

		assert_non_null(labels);
		assert_string_equal(kernel_label(labels, known[i].name, LABEL_WIDE), known[i].wide);
		assert_string_equal(kernel_label(labels, known[i].name, LABEL_MEDIUM),
				    known[i].medium);
		assert_string_equal(kernel_label(labels, known[i].name, LABEL_NARROW),
				    known[i].narrow);
		kernel_labels_free(labels);
	}
}
/* ---- many names ---- */

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Labels fit, are safe for a terminal, and no two kernels have the same. */
static void expect_different(const struct kernel_labels *labels, const char *const *names,
			     size_t count)
{
	const char **shown = calloc(count + 1, sizeof(*shown));
	char safe[512];

	assert_non_null(shown);
	for (int width = 0; width < LABEL_COUNT; width++) {
		for (size_t i = 0; i < count; i++) {
			shown[i] = kernel_label(labels, names[i], (enum kernel_label)width);
			assert_true(format_text(safe, sizeof(safe), shown[i], sizeof(safe)) <=
				    widths[width]);
			assert_string_equal(safe, shown[i]);
		}
		qsort(shown, count, sizeof(*shown), compare_texts);
		for (size_t i = 1; i < count; i++)
			if (!strcmp(shown[i - 1], shown[i]))
				fail_msg("two kernels are called %s", shown[i]);
	}
	free(shown);
}

static void test_recordings(void **state)
{
	DIR *folder = opendir("tests/recordings");
	struct dirent *entry;
	size_t kernel_count = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct profile *profile;
		struct err err;
		char path[512];

		if (!strstr(entry->d_name, ".roofline"))
			continue;
		snprintf(path, sizeof(path), "tests/recordings/%s", entry->d_name);
		assert_int_equal(profile_load_tables(&profile, path, 0, &err), 0);
		expect_different(profile->kernel_labels, (const char *const *)profile->kernel_names,
				 profile->kernel_name_count);
		kernel_count += profile->kernel_name_count;
		profile_free(profile);
	}
	closedir(folder);
	assert_true(kernel_count > 500);
}

struct made {
	char *names[2048];
	size_t count;
};

__attribute__((format(printf, 2, 3))) static void make(struct made *made, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	assert_true(vasprintf(&made->names[made->count++], format, values) >= 0);
	va_end(values);
}

/* Names that differ in one place each, and in such that no label of theirs has. */
static void make_names(struct made *made)
{
	static const char *const types[] = {"int", "float", "double", "c10::Half", "long"};

	for (int i = 0; i < 100; i++) {
		const char *type = types[i % 5];

		make(made, "void k<%d>(int)", i);
		make(made, "void ns%d::same_name(int)", i);
		make(made, "overloaded(a%d*, int)", i);
		make(made, "void deep<a<b<c<d<e<f<g<h<%d> > > > > > > > >(int)", i);
		make(made, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize%dx32x8_stage3_cublas",
		     i);
		make(made,
		     "void at::native::vectorized_elementwise_kernel<%d, "
		     "at::native::FillFunctor<%s>, std::array<char*, 1ul> >(int)",
		     i, type);
		make(made,
		     "void at::native::elementwise_kernel<128, 2, at::native::f(int)::{lambda()#%d}"
		     "::operator()() const::{lambda(%s)#1}>(int)",
		     i, type);
		make(made, "kernel #%06x", i);
		if (i < 31)
			make(made, "kernel%c", 1 + i); /* shown as "kernel?" */
		make(made, "a%*d<b>", 1 + i, i);
		make(made,
		     "\xc3\xa9\xc3\xa9\xc3\xa9%d\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		     "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
		     i);
	}
	make(made, "\n");
	make(made, "\t"); /* both are shown as "?" */
	make(made, "?");
	make(made, "void f<int>(int)");
	make(made, "void f<int >(int)");
	make(made, "%0*d<%0*d>(", 70000, 0, 70000, 0);
	make(made, "%0*d<%0*d>((", 70000, 0, 70000, 0);
}

static void test_near(void **state)
{
	struct made made = {.count = 0};
	struct kernel_labels *labels;

	(void)state;
	make_names(&made);
	labels = kernel_labels_create((const char *const *)made.names, made.count);
	assert_non_null(labels);
	expect_different(labels, (const char *const *)made.names, made.count);
	kernel_labels_free(labels);
	for (size_t i = 0; i < made.count; i++)
		free(made.names[i]);
}

static void test_order(void **state)
{
	struct made made = {.count = 0};
	const char *reversed[2048];
	struct kernel_labels *labels, *others;

	(void)state;
	make_names(&made);
	for (size_t i = 0; i < made.count; i++)
		reversed[i] = made.names[made.count - 1 - i];
	labels = kernel_labels_create((const char *const *)made.names, made.count);
	others = kernel_labels_create(reversed, made.count);
	for (size_t i = 0; i < made.count; i++)
		for (int width = 0; width < LABEL_COUNT; width++)
			assert_string_equal(kernel_label(labels, made.names[i],
							 (enum kernel_label)width),
					    kernel_label(others, made.names[i],
							 (enum kernel_label)width));
	kernel_labels_free(labels);
	kernel_labels_free(others);
	for (size_t i = 0; i < made.count; i++)
		free(made.names[i]);
}

static void expect_pair(const char *a, const char *b, enum kernel_label width, const char *wanted_a,
			const char *wanted_b)
{
	const char *names[] = {a, b};
	struct kernel_labels *labels = kernel_labels_create(names, 2);

	assert_non_null(labels);
	assert_string_equal(kernel_label(labels, a, width), wanted_a);
	assert_string_equal(kernel_label(labels, b, width), wanted_b);
	kernel_labels_free(labels);
}

static void test_told_apart(void **state)
{
	(void)state;
	expect_pair(ATEN_KERNEL("at::native::FillFunctor<int>"),
		    ATEN_KERNEL("at::native::FillFunctor<long>"), LABEL_MEDIUM,
		    "vectorized_el...<FillFunctor<int>>", "vectorized_e...<FillFunctor<long>>");
	expect_pair("void k<A<1>, Policy800>(int)", "void k<A<1>, Policy900>(int)", LABEL_WIDE,
		    "k<A<1>, Policy800>", "k<A<1>, Policy900>");
	expect_pair("void a::k(int)", "void b::k(int)", LABEL_WIDE, "a::k", "b::k");
	expect_pair("k(int, float*)", "k(int, ns::half*)", LABEL_WIDE, "k(int, float*)",
		    "k(int, half*)");
	expect_pair("nvjet_sm90_hsh_112x128_64x7_1x2_h_bz_TNN",
		    "nvjet_sm90_hsh_112x128_64x7_4x2_h_bz_TNN", LABEL_MEDIUM,
		    "nvjet_...112x128_64x7_1x2_h_bz_TNN", "nvjet_...112x128_64x7_4x2_h_bz_TNN");
}

/* Kernels of one recording of PyTorch: their functors and vector widths differ. */
static void test_functor_stays(void **state)
{
	static const char *const names[] = {
		ATEN_KERNEL("at::native::FillFunctor<int>"),
		ATEN_KERNEL("at::native::FillFunctor<float>"),
		"void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>, "
		"std::array<char*, 1ul> >(int, at::native::FillFunctor<long>, std::array<char*, 1ul>)",
	};
	static const char *const wanted[] = {"vecto...<FillFunctor<int>>",
					     "vec...<FillFunctor<float>>",
					     "vect...<FillFunctor<long>>"};
	struct kernel_labels *labels = kernel_labels_create(names, 3);

	(void)state;
	assert_non_null(labels);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(kernel_label(labels, names[i], LABEL_NARROW), wanted[i]);
	kernel_labels_free(labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"names of real kernels are folded to what people know them by", test_known, NULL,
		 NULL, NULL},
		{"no two kernels of a recording have one label", test_recordings, NULL, NULL, NULL},
		{"names that are nearly the same have different labels", test_near, NULL, NULL,
		 NULL},
		{"the order of names does not change their labels", test_order, NULL, NULL, NULL},
		{"what tells names apart is what is added to them", test_told_apart, NULL, NULL,
		 NULL},
		{"a functor and its type stay where kernels differ in more than that",
		 test_functor_stays, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
