/*
 * compute_bound (D4): a control.  Arithmetic as fast as the device allows, in six formats.
 *
 * The FMA variants run eight independent chains a thread, so that the latency of one is hidden by
 * the others, and touch memory only to write a result.  The GEMM variants are cuBLASLt's: tensor
 * cores.  Each belongs under the ceiling of its own format; the launches cost nothing to speak of.
 *
 * One launch of fma_kernel over n groups of 8 chains of 2,048 steps:
 *   FLOPs  16,384 FMA a group: 32,768 n, in FP32, FP64 or FP16
 *   bytes  4 n written
 * The FMA instructions (of threads) are 16,384 n in FP32 and FP64.  In FP16 a thread works on two
 * groups at once: 8,192 n HFMA2, for even n.  ptxas may set a register with one HFMA2 more.
 *
 * One GEMM of m x m matrices, m = 8 sqrt(n) rounded down to a multiple of 16: 2 m^3 FLOPs on tensor
 * cores; at least 2 w m^2 bytes read, w = 4, 2, 1 for TF32, BF16, FP8, and 4 m^2 written.
 */
#include <algorithm>
#include <cmath>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "gemm.cuh"

static const int block_size = 256;
static const int chains = 8;
static const int steps = 2048;
static const int steps_per_loop = 16;
static const int starts = 64; /* chains start at -1024 .. -961, one after the other */

struct problem {
	int groups; /* of chains */
	uint32_t *result;
	std::vector<uint32_t> expected_fp64, expected_fp32, expected_fp16;
	struct difference (*check_current)(const problem &); /* of the variant under way */
	void (*reset_current)(problem &);
#if ROOFLINE_HAS_CUBLASLT
	struct gemm gemm;
#endif
};

/* ---- FMA chains ---- */

/* A chain adds 1 at each step, as x * 1 + 1: whole numbers from -1024 to 1087, exact in FP16 too.
 * The 1 comes as an argument, so that the compiler cannot tell that it is one. */
static __host__ __device__ int chain_start(int group, int chain)
{
	return (group * chains + chain) % starts - 1024;
}

static __device__ double fused(double x, double one)
{
	return fma(x, one, one);
}

static __device__ float fused(float x, float one)
{
	return fmaf(x, one, one);
}

static __device__ __half2 fused(__half2 x, __half2 one)
{
	return __hfma2(x, one, one);
}

static __device__ void start_chain(double *x, int group, int chain)
{
	*x = chain_start(group, chain);
}

static __device__ void start_chain(float *x, int group, int chain)
{
	*x = chain_start(group, chain);
}

/* The lower half belongs to this group, the upper one to the next. */
static __device__ void start_chain(__half2 *x, int group, int chain)
{
	*x = __halves2half2(__int2half_rn(chain_start(group, chain)),
			    __int2half_rn(chain_start(group + 1, chain)));
}

/* Adds the bits of a chain's last value to a sum over the group.  Integers: no FLOP that counts. */
template <class T> static __host__ __device__ uint32_t mixed(uint32_t sum, T last)
{
	uint64_t bits = 0;

	memcpy(&bits, &last, sizeof(last));
	return (sum ^ (uint32_t)bits ^ (uint32_t)(bits >> 32)) * 747796405u + 1;
}

template <class T>
static __device__ void store(uint32_t *result, int group, int, const T (&x)[chains])
{
	uint32_t sum = 0;

	for (int chain = 0; chain < chains; chain++)
		sum = mixed(sum, x[chain]);
	result[group] = sum;
}

static __device__ void store(uint32_t *result, int group, int groups, const __half2 (&x)[chains])
{
	uint32_t low = 0, high = 0;

	for (int chain = 0; chain < chains; chain++) {
		low = mixed(low, __low2half(x[chain]));
		high = mixed(high, __high2half(x[chain]));
	}
	result[group] = low;
	if (group + 1 < groups)
		result[group + 1] = high;
}

/* Groups that one thread works on. */
template <class T> static constexpr int groups_per_thread = 1;
template <> constexpr int groups_per_thread<__half2> = 2;

template <class T> static T value_of(float number)
{
	return T(number);
}

template <> __half2 value_of<__half2>(float number)
{
	return __float2half2_rn(number);
}

template <class T> static __global__ void fma_kernel(uint32_t *result, int groups, T one)
{
	int group = groups_per_thread<T> * (blockIdx.x * blockDim.x + threadIdx.x);
	T x[chains];

	if (group >= groups)
		return;
	for (int chain = 0; chain < chains; chain++)
		start_chain(&x[chain], group, chain);
#pragma unroll 1
	for (int step = 0; step < steps; step += steps_per_loop) {
#pragma unroll
		for (int i = 0; i < steps_per_loop * chains; i++)
			x[i % chains] = fused(x[i % chains], one);
	}
	store(result, group, groups, x);
}

template <class T> static void run_fma(problem &p, int iterations)
{
	const T one = value_of<T>(1);
	int threads = (p.groups + groups_per_thread<T> - 1) / groups_per_thread<T>;
	int blocks = (threads + block_size - 1) / block_size;

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(fma_kernel<T><<<blocks, block_size>>>(p.result, p.groups, one));
}

/* Only starts chains differ, so the reference walks those, and looks up the rest. */
template <class T> static std::vector<uint32_t> expected_results(int groups)
{
	std::vector<uint32_t> expected(groups);
	std::vector<T> last(starts);

	for (int start = 0; start < starts; start++) {
		float x = start - 1024;

		for (int step = 0; step < steps; step++)
			x = x * 1 + 1;
		last[start] = T(x);
	}
	for (int group = 0; group < groups; group++)
		for (int chain = 0; chain < chains; chain++)
			expected[group] =
				mixed(expected[group], last[chain_start(group, chain) + 1024]);
	return expected;
}

static void reset_fma(problem &p)
{
	CUDA_CHECK(cudaMemset(p.result, 0, p.groups * sizeof(*p.result)));
}

template <std::vector<uint32_t> problem::*expected>
static struct difference check_fma(const problem &p)
{
	return compare(p.result, p.*expected);
}

template <std::vector<uint32_t> problem::*expected> static void choose_fma(problem &p)
{
	p.reset_current = reset_fma;
	p.check_current = check_fma<expected>;
}

/* ---- matrix products ---- */

#if ROOFLINE_HAS_CUBLASLT

static long gemm_size(const problem &p)
{
	return std::max(16l, (long)(8 * std::sqrt((double)p.groups)) / 16 * 16);
}

static void reset_gemm(problem &p)
{
	gemm_reset(p.gemm);
}

static struct difference check_gemm(const problem &p)
{
	return gemm_check(p.gemm);
}

template <class T, struct cublaslt_plan (*plan)(long n)> static void setup_gemm(problem &p)
{
	p.gemm = gemm_prepare<T>(gemm_size(p), plan);
	p.reset_current = reset_gemm;
	p.check_current = check_gemm;
}

static void run_gemm(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		cublaslt_matmul(&p.gemm.plan, p.gemm.a, p.gemm.b, p.gemm.d);
}

static void teardown_gemm(problem &p)
{
	gemm_release(p.gemm);
}

static const char *why_no_gemm(problem &)
{
	return cublaslt_why_missing();
}

static const char *why_no_fp8(problem &p)
{
	cudaDeviceProp properties;

	CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
	if (properties.major * 10 + properties.minor < 89)
		return "FP8 needs a GPU of compute capability 8.9 or later";
	return why_no_gemm(p);
}

#endif

static void prepare(problem &p, long size, int)
{
	p.groups = size;
	p.expected_fp64 = expected_results<double>(size);
	p.expected_fp32 = expected_results<float>(size);
	p.expected_fp16 = expected_results<__half>(size);
	p.result = device_array<uint32_t>(size);
}

static void reset(problem &p)
{
	p.reset_current(p);
}

static struct difference check(const problem &p)
{
	return p.check_current(p);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.result));
}

/* A product is other work than a chain: its speedup over one would mean nothing. */
static const std::vector<variant<problem>> variants = {
	{"naive", "FMA chains in FP32", run_fma<float>, choose_fma<&problem::expected_fp32>},
	{"fp64", "the same in FP64", run_fma<double>, choose_fma<&problem::expected_fp64>},
	{"fp16", "the same in FP16, two values an instruction", run_fma<__half2>,
	 choose_fma<&problem::expected_fp16>},
#if ROOFLINE_HAS_CUBLASLT
	{"gemm_tf32", "matrix product, TF32", run_gemm, setup_gemm<float, cublaslt_plan_tf32>,
	 teardown_gemm, why_no_gemm, "gemm_tf32"},
	{"gemm_bf16", "matrix product, BF16", run_gemm,
	 setup_gemm<__nv_bfloat16, cublaslt_plan_bf16>, teardown_gemm, why_no_gemm, "gemm_tf32"},
	{"gemm_fp8", "matrix product, FP8 (e4m3)", run_gemm,
	 setup_gemm<__nv_fp8_e4m3, cublaslt_plan_fp8>, teardown_gemm, why_no_fp8, "gemm_tf32"},
#endif
};

static const struct workload<problem> compute_bound = {
	.name = "compute_bound", .size = 1 << 20, .iterations = 10, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(compute_bound)
