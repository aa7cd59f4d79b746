/*
 * tensor: the roofs of the tensor cores, by cuBLASLt matrix products.
 *
 * The matrices hold normally distributed numbers: zeros switch so few transistors that a product
 * runs faster than real data ever will.  Several sizes and, for each, several of the library's own
 * candidates are tried.  cuBLASLt is opened at run time, so that the program starts without it.
 */
#include "ceiling.cuh"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <dlfcn.h>

#define CUBLASLT_FUNCTIONS(FUNCTION)              \
	FUNCTION(cublasLtCreate)                  \
	FUNCTION(cublasLtDestroy)                 \
	FUNCTION(cublasLtMatmul)                  \
	FUNCTION(cublasLtMatmulAlgoGetHeuristic)  \
	FUNCTION(cublasLtMatmulDescCreate)        \
	FUNCTION(cublasLtMatmulDescSetAttribute)  \
	FUNCTION(cublasLtMatrixLayoutCreate)      \
	FUNCTION(cublasLtMatmulPreferenceCreate)  \
	FUNCTION(cublasLtMatmulPreferenceDestroy) \
	FUNCTION(cublasLtMatmulPreferenceSetAttribute)

struct library {
	void *handle;
#define FUNCTION(name) decltype(&::name) name;
	CUBLASLT_FUNCTIONS(FUNCTION)
#undef FUNCTION
	cublasLtHandle_t lt;
	std::string problem; /* why there is no library; empty when there is */
};

/* One row: what goes into the multiplication, what comes out and how it is added up. */
struct precision {
	enum ceiling_id id;
	int compute_capability; /* the first that has it, as major * 10 + minor */
	cudaDataType_t in, out, scale;
	cublasComputeType_t compute;
	size_t in_bytes;
	int sizes; /* of the list of problems: a slow unit needs no large ones */
};

static const struct precision precisions[] = {
	{CEILING_tensor_fp64, 80, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 8, 2},
	{CEILING_tensor_tf32, 80, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
	 4, 4},
	{CEILING_tensor_bf16, 80, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 4},
	{CEILING_tensor_fp16, 70, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 4},
	{CEILING_tensor_fp8, 89, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1, 4},
};

struct problem {
	long m, n, k;
};

static const size_t workspace_bytes = (size_t)64 << 20;

/* Shared by all products, large enough for the largest. */
struct matrices {
	void *a, *b, *c, *workspace;
	float *one;	/* on the device: the scale of FP8 */
	double *errors; /* of the elements that are checked */
};

/* ---- the library ---- */

static void *open_library(void)
{
	std::string major = std::to_string(CUBLAS_VER_MAJOR);
	void *handle = nullptr;

	for (const char *folder : {"", "/usr/local/cuda/lib64/"})
		for (const std::string &suffix : {"." + major, std::string()})
			if (!handle)
				handle = dlopen((folder + ("libcublasLt.so" + suffix)).c_str(),
						RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static void library_open(struct library &library)
{
	bool complete = true;

	library.handle = open_library();
	if (!library.handle) {
		library.problem =
			"libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR) +
			" not found: install cuBLAS or name its folder in LD_LIBRARY_PATH";
		return;
	}
#define FUNCTION(name)                                                  \
	library.name = (decltype(&::name))dlsym(library.handle, #name); \
	complete = complete && library.name;
	CUBLASLT_FUNCTIONS(FUNCTION)
#undef FUNCTION
	if (!complete)
		library.problem = "libcublasLt lacks a function of version " +
				  std::to_string(CUBLAS_VER_MAJOR);
	else if (library.cublasLtCreate(&library.lt) != CUBLAS_STATUS_SUCCESS)
		library.problem = "cublasLtCreate failed";
}

static void library_close(struct library &library)
{
	if (library.lt)
		library.cublasLtDestroy(library.lt);
	if (library.handle)
		dlclose(library.handle);
}

/* ---- the matrices ---- */

static __device__ __forceinline__ uint32_t scramble(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x7feb352du;
	x = (x ^ (x >> 15)) * 0x846ca68bu;
	return x ^ (x >> 16);
}

/* Normally distributed around 0 with deviation 1 (Box and Muller). */
static __device__ float normal(uint32_t i)
{
	float u = (scramble(2 * i + 1) + 0.5f) * 2.3283064e-10f;
	float v = scramble(2 * i + 2) * 2.3283064e-10f;

	return sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
}

template <typename T> static __global__ void fill_kernel(T *values, size_t count)
{
	size_t step = (size_t)gridDim.x * blockDim.x;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		values[i] = T(normal((uint32_t)i));
}

template <typename T> static void fill_as(struct ceiling_bench &bench, void *values, size_t bytes)
{
	CUDA_LAUNCH(fill_kernel<<<bench.gpu.multiProcessorCount * 8, 256, 0, bench.stream>>>(
		(T *)values, bytes / sizeof(T)));
}

static void fill(struct ceiling_bench &bench, cudaDataType_t type, void *values, size_t bytes)
{
	if (type == CUDA_R_64F)
		fill_as<double>(bench, values, bytes);
	else if (type == CUDA_R_32F)
		fill_as<float>(bench, values, bytes);
	else if (type == CUDA_R_16BF)
		fill_as<__nv_bfloat16>(bench, values, bytes);
	else if (type == CUDA_R_16F)
		fill_as<__half>(bench, values, bytes);
	else
		fill_as<__nv_fp8_e4m3>(bench, values, bytes);
}

/* ---- is the product right? ---- */

static __device__ __forceinline__ double as_double(double x)
{
	return x;
}

template <typename T> static __device__ __forceinline__ double as_double(T x)
{
	return (double)(float)x;
}

static const int checked_elements = 64, check_block_size = 128;

/* Each block computes one element of C, somewhere in it, and keeps how far off the library is. */
template <typename IN, typename OUT>
static __global__ void check_kernel(const IN *a, const IN *b, const OUT *c, struct problem p,
				    double *errors)
{
	__shared__ double sums[check_block_size];
	long row = scramble(blockIdx.x) % p.m, column = scramble(blockIdx.x + 1000) % p.n;
	double sum = 0;

	for (long i = threadIdx.x; i < p.k; i += blockDim.x)
		sum += as_double(a[row * p.k + i]) * as_double(b[column * p.k + i]);
	sums[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	for (int i = 1; i < check_block_size; i++)
		sum += sums[i];
	errors[blockIdx.x] = fabs(sum - as_double(c[column * p.m + row]));
}

template <typename IN, typename OUT>
static void check_as(struct ceiling_bench &bench, const struct matrices &m, const struct problem &p)
{
	CUDA_LAUNCH(check_kernel<<<checked_elements, check_block_size, 0, bench.stream>>>(
		(const IN *)m.a, (const IN *)m.b, (const OUT *)m.c, p, m.errors));
}

/* An element is a sum of k products of numbers around 1, so about sqrt(k) large.  One element of
 * a wrong row is off by that much, one with 10 bits of mantissa by a hundredth of it. */
static void check(struct ceiling_bench &bench, const struct matrices &matrices,
		  const struct precision &precision, const struct problem &p)
{
	double limit = (precision.in == CUDA_R_64F ? 1e-9 : 0.05) * sqrt((double)p.k);
	double errors[checked_elements];

	if (precision.in == CUDA_R_64F)
		check_as<double, double>(bench, matrices, p);
	else if (precision.in == CUDA_R_32F)
		check_as<float, float>(bench, matrices, p);
	else if (precision.in == CUDA_R_16BF)
		check_as<__nv_bfloat16, __nv_bfloat16>(bench, matrices, p);
	else if (precision.in == CUDA_R_16F)
		check_as<__half, __half>(bench, matrices, p);
	else
		check_as<__nv_fp8_e4m3, __nv_bfloat16>(bench, matrices, p);
	CUDA_CHECK(cudaStreamSynchronize(bench.stream));
	CUDA_CHECK(cudaMemcpy(errors, matrices.errors, sizeof(errors), cudaMemcpyDeviceToHost));
	for (double error : errors)
		if (!(error <= limit)) {
			fprintf(stderr,
				"tensor: a product of %s is off by %g; at most %g is rounding\n",
				ceiling_rows[precision.id].name, error, limit);
			exit(1);
		}
}

/* The third divides evenly among the SMs: half of them times the largest tile of 128 rows. */
static std::vector<struct problem> problems(const struct ceiling_bench &bench)
{
	long even = 64L * bench.gpu.multiProcessorCount;

	return {{4096, 4096, 4096}, {8192, 8192, 4096}, {even, 8192, 8192}, {8192, 8192, 16384}};
}

static struct matrices matrices_open(const struct ceiling_bench &bench)
{
	struct matrices matrices = {};
	const float one = 1;
	size_t a = 0, b = 0, c = 0;

	for (const struct precision &precision : precisions)
		for (int i = 0; i < precision.sizes; i++) {
			struct problem p = problems(bench)[i];

			a = std::max(a, p.m * p.k * precision.in_bytes);
			b = std::max(b, p.n * p.k * precision.in_bytes);
			c = std::max(c, p.m * p.n * std::max(precision.in_bytes, (size_t)2));
		}
	CUDA_CHECK(cudaMalloc(&matrices.a, a));
	CUDA_CHECK(cudaMalloc(&matrices.b, b));
	CUDA_CHECK(cudaMalloc(&matrices.c, c));
	CUDA_CHECK(cudaMalloc(&matrices.workspace, workspace_bytes));
	CUDA_CHECK(cudaMalloc(&matrices.errors, checked_elements * sizeof(*matrices.errors)));
	CUDA_CHECK(cudaMalloc(&matrices.one, sizeof(one)));
	CUDA_CHECK(cudaMemcpy(matrices.one, &one, sizeof(one), cudaMemcpyHostToDevice));
	return matrices;
}

static void matrices_close(struct matrices &matrices)
{
	CUDA_CHECK(cudaFree(matrices.a));
	CUDA_CHECK(cudaFree(matrices.b));
	CUDA_CHECK(cudaFree(matrices.c));
	CUDA_CHECK(cudaFree(matrices.workspace));
	CUDA_CHECK(cudaFree(matrices.errors));
	CUDA_CHECK(cudaFree(matrices.one));
}

/* ---- the products ---- */

/* C = A^T B, column by column: the only layout that FP8 has, and the fastest for the others.  The
 * descriptors live as long as the program. */
struct product {
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t a, b, c;
};

/* Sets an attribute; false when the library does not know it. */
template <typename T>
static bool set(struct library &library, cublasLtMatmulDesc_t operation,
		cublasLtMatmulDescAttributes_t attribute, T value)
{
	return library.cublasLtMatmulDescSetAttribute(operation, attribute, &value,
						      sizeof(value)) == CUBLAS_STATUS_SUCCESS;
}

/* cuBLASLt wants FP8 scales on the device.  Fast accumulation leaves sums in the tensor core. */
static bool set_fp8(struct library &library, const struct matrices &matrices,
		    cublasLtMatmulDesc_t operation, bool fast)
{
	const void *one = matrices.one;

	return set(library, operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, one) &&
	       set(library, operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, one) &&
	       set(library, operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, (int8_t)fast);
}

static bool product_open(struct library &library, const struct matrices &matrices,
			 const struct precision &precision, const struct problem &p, bool fast,
			 struct product &product)
{
	const int transpose = CUBLAS_OP_T, keep = CUBLAS_OP_N;

	return library.cublasLtMatmulDescCreate(&product.operation, precision.compute,
						precision.scale) == CUBLAS_STATUS_SUCCESS &&
	       set(library, product.operation, CUBLASLT_MATMUL_DESC_TRANSA, transpose) &&
	       set(library, product.operation, CUBLASLT_MATMUL_DESC_TRANSB, keep) &&
	       (precision.in != CUDA_R_8F_E4M3 ||
		set_fp8(library, matrices, product.operation, fast)) &&
	       library.cublasLtMatrixLayoutCreate(&product.a, precision.in, p.k, p.m, p.k) ==
		       CUBLAS_STATUS_SUCCESS &&
	       library.cublasLtMatrixLayoutCreate(&product.b, precision.in, p.k, p.n, p.k) ==
		       CUBLAS_STATUS_SUCCESS &&
	       library.cublasLtMatrixLayoutCreate(&product.c, precision.out, p.m, p.n, p.m) ==
		       CUBLAS_STATUS_SUCCESS;
}

/* The library's candidates for a product, its favourite first; none when it cannot do it. */
static std::vector<cublasLtMatmulHeuristicResult_t>
candidates(struct library &library, const struct product &product, int wanted)
{
	std::vector<cublasLtMatmulHeuristicResult_t> results(wanted);
	cublasLtMatmulPreference_t preference;
	int found = 0;

	if (library.cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS)
		return {};
	if (library.cublasLtMatmulPreferenceSetAttribute(
		    preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
		    sizeof(workspace_bytes)) != CUBLAS_STATUS_SUCCESS ||
	    library.cublasLtMatmulAlgoGetHeuristic(library.lt, product.operation, product.a,
						   product.b, product.c, product.c, preference,
						   wanted, results.data(),
						   &found) != CUBLAS_STATUS_SUCCESS)
		found = 0;
	library.cublasLtMatmulPreferenceDestroy(preference);
	results.resize(found);
	return results;
}

static cublasStatus_t multiply(struct library &library, const struct matrices &m,
			       const struct precision &precision, const struct product &product,
			       const cublasLtMatmulAlgo_t &algorithm, cudaStream_t stream)
{
	static const double one = 1, zero = 0;
	static const float one_f = 1, zero_f = 0;
	bool wide = precision.scale == CUDA_R_64F;

	return library.cublasLtMatmul(library.lt, product.operation,
				      wide ? (const void *)&one : &one_f, m.a, product.a, m.b,
				      product.b, wide ? (const void *)&zero : &zero_f, m.c,
				      product.c, m.c, product.c, &algorithm, m.workspace,
				      workspace_bytes, stream);
}

/* What went well once and then fails would look infinitely fast. */
static void must_multiply(struct library &library, const struct matrices &m,
			  const struct precision &precision, const struct product &product,
			  const cublasLtMatmulAlgo_t &algorithm, cudaStream_t stream)
{
	cublasStatus_t status = multiply(library, m, precision, product, algorithm, stream);

	if (status == CUBLAS_STATUS_SUCCESS)
		return;
	fprintf(stderr, "tensor: cublasLtMatmul for %s failed with status %d\n",
		ceiling_rows[precision.id].name, (int)status);
	exit(1);
}

/* A candidate that the library proposes and then refuses is left out. */
static void add_candidates(std::vector<struct ceiling_variant> &variants,
			   struct ceiling_bench &bench, struct library &library,
			   const struct matrices &matrices, const struct precision &precision,
			   const struct problem &p, bool fast)
{
	double flop = 2.0 * p.m * p.n * p.k;
	cudaStream_t stream = bench.stream;
	struct product product = {};

	if (!product_open(library, matrices, precision, p, fast, product))
		return;
	for (const auto &candidate : candidates(library, product, bench.quick ? 2 : 6)) {
		cublasLtMatmulAlgo_t algorithm = candidate.algo;

		if (candidate.state != CUBLAS_STATUS_SUCCESS ||
		    multiply(library, matrices, precision, product, algorithm, stream) !=
			    CUBLAS_STATUS_SUCCESS)
			continue;
		check(bench, matrices, precision, p);
		variants.push_back({flop, [=, &library](long repeats) {
					    for (long i = 0; i < repeats; i++)
						    must_multiply(library, matrices, precision,
								  product, algorithm, stream);
				    }});
	}
}

/* All types share the memory: filled anew for the check of a type, and before its first sample. */
static void fill_matrices(struct ceiling_bench &bench, const struct matrices &matrices,
			  const struct precision &precision)
{
	size_t a = 0, b = 0;

	for (int i = 0; i < precision.sizes; i++) {
		struct problem p = problems(bench)[i];

		a = std::max(a, p.m * p.k * precision.in_bytes);
		b = std::max(b, p.n * p.k * precision.in_bytes);
	}
	fill(bench, precision.in, matrices.a, a);
	fill(bench, precision.in, matrices.b, b);
	CUDA_CHECK(cudaStreamSynchronize(bench.stream));
}

static std::vector<struct ceiling_variant> products(struct ceiling_bench &bench,
						    struct library &library,
						    const struct matrices &matrices,
						    const struct precision &precision)
{
	std::vector<struct ceiling_variant> variants;

	fill_matrices(bench, matrices, precision);
	for (int i = 0; i < precision.sizes; i++)
		for (bool fast : {true, false})
			if (fast || precision.in == CUDA_R_8F_E4M3)
				add_candidates(variants, bench, library, matrices, precision,
					       problems(bench)[i], fast);
	return variants;
}

static struct ceiling_measurement product_measurement(struct ceiling_bench &bench,
						      struct library &library,
						      const struct matrices &matrices,
						      const struct precision &precision)
{
	std::vector<struct ceiling_variant> variants;
	struct ceiling_measurement m;
	std::function<void()> choose;

	if (!library.problem.empty())
		return ceiling_skip(precision.id, 0, library.problem);
	if (bench.gpu.major * 10 + bench.gpu.minor < precision.compute_capability)
		return ceiling_skip(precision.id, 0,
				    "needs compute capability " +
					    std::to_string(precision.compute_capability / 10) +
					    "." +
					    std::to_string(precision.compute_capability % 10));
	variants = products(bench, library, matrices, precision);
	if (variants.empty())
		return ceiling_skip(precision.id, 0, "cuBLASLt has no algorithm for it");
	m = ceiling_throughput(bench, precision.id, 0, variants);
	choose = m.prepare;
	m.prepare = [&bench, matrices, &precision, choose]() {
		fill_matrices(bench, matrices, precision);
		choose();
	};
	return m;
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("tensor", argc, argv);
	struct matrices matrices = matrices_open(bench);
	std::vector<struct ceiling_measurement> all;
	struct library library = {};

	bench.rest_s = 0.2;
	bench.sample_s = 0.01;
	int rc;

	library_open(library);
	for (const struct precision &precision : precisions)
		all.push_back(product_measurement(bench, library, matrices, precision));
	rc = ceiling_run(bench, all);
	matrices_close(matrices);
	library_close(library);
	return rc;
}

#else

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("tensor", argc, argv);
	std::vector<struct ceiling_measurement> all;

	for (enum ceiling_id id : {CEILING_tensor_fp64, CEILING_tensor_tf32, CEILING_tensor_bf16,
				   CEILING_tensor_fp16, CEILING_tensor_fp8})
		all.push_back(ceiling_skip(id, 0, "this program was built without cublasLt.h"));
	return ceiling_run(bench, all);
}

#endif
