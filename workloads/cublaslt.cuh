/*
 * cublaslt.cuh - matrix products by cuBLASLt, for programs that run without it too.
 *
 * The library is half a gigabyte and not everywhere, so it is opened when first wanted
 * (dynamic_library.cuh).  cublaslt_why_missing says in one line why it cannot be used, nullptr when it can.
 *
 * All products are D = A^T B of matrices in column order, with the reduction dimension contiguous
 * in both: the one form that exists for FP8 too.
 *
 * ROOFLINE_HAS_CUBLASLT is 0 where the toolkit lacks cublasLt.h; then there is nothing here.
 */
#ifndef ROOFLINE_CUBLASLT_CUH
#define ROOFLINE_CUBLASLT_CUH

#if defined(__has_include) && __has_include(<cublasLt.h>)
#define ROOFLINE_HAS_CUBLASLT 1
#else
#define ROOFLINE_HAS_CUBLASLT 0
#endif

#if ROOFLINE_HAS_CUBLASLT

#include <string>

#include <cublasLt.h>

#include "cuda_check.cuh"
#include "dynamic_library.cuh"

/* The functions in use, with the types of their declarations: one list, one place. */
#define CUBLASLT_FUNCTIONS(FUNCTION)           \
	FUNCTION(Create)                       \
	FUNCTION(Destroy)                      \
	FUNCTION(GetStatusString)              \
	FUNCTION(MatmulDescCreate)             \
	FUNCTION(MatmulDescDestroy)            \
	FUNCTION(MatmulDescSetAttribute)       \
	FUNCTION(MatrixLayoutCreate)           \
	FUNCTION(MatrixLayoutDestroy)          \
	FUNCTION(MatrixLayoutSetAttribute)     \
	FUNCTION(MatmulPreferenceCreate)       \
	FUNCTION(MatmulPreferenceDestroy)      \
	FUNCTION(MatmulPreferenceSetAttribute) \
	FUNCTION(MatmulAlgoGetHeuristic)       \
	FUNCTION(Matmul)

#define CUBLASLT_MEMBER(name) decltype(&cublasLt##name) name;
static struct cublaslt_functions {
	CUBLASLT_FUNCTIONS(CUBLASLT_MEMBER)
} cublaslt;
#undef CUBLASLT_MEMBER

#define CUBLASLT_TEXT(number) #number
#define CUBLASLT_FILE(major) "libcublasLt.so." CUBLASLT_TEXT(major)
static const char cublaslt_file[] = CUBLASLT_FILE(CUBLAS_VER_MAJOR);

static inline bool cublaslt_bind(void *library)
{
#define CUBLASLT_BIND(name)                                                        \
	cublaslt.name = (decltype(cublaslt.name))dlsym(library, "cublasLt" #name); \
	if (!cublaslt.name)                                                        \
		return false;
	CUBLASLT_FUNCTIONS(CUBLASLT_BIND)
#undef CUBLASLT_BIND
	return true;
}

static inline const char *cublaslt_why_missing()
{
	static std::string reason;
	void *library;

	if (cublaslt.Matmul)
		return nullptr;
	library = dynamic_library_open(cublaslt_file);
	if (library && cublaslt_bind(library))
		return nullptr;
	cublaslt = {};
	reason = dynamic_library_problem(library, cublaslt_file, "cuBLAS");
	return reason.c_str();
}

static inline void cublaslt_check(cublasStatus_t status, const char *call, const char *file,
				  int line)
{
	host_call_count++;
	if (status == CUBLAS_STATUS_SUCCESS)
		return;
	fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, call,
		cublaslt.GetStatusString(status));
	exit(1);
}

#define CUBLASLT_CHECK(...) cublaslt_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

/* Bytes that a product may use beside its matrices: what cuBLAS itself takes on Hopper. */
static const size_t cublaslt_workspace_bytes = 32 << 20;

/* One product, planned: the heuristic is asked once, not before each launch. */
struct cublaslt_plan {
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t a, b, d;
	cublasLtMatmulAlgo_t algorithm;
	void *workspace;
};

/* Asks for the fastest way that the library knows for this plan. */
static inline void cublaslt_choose(struct cublaslt_plan *plan)
{
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulHeuristicResult_t best;
	int found = 0;

	CUBLASLT_CHECK(cublaslt.MatmulPreferenceCreate(&preference));
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceSetAttribute(
		preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &cublaslt_workspace_bytes,
		sizeof(cublaslt_workspace_bytes)));
	CUBLASLT_CHECK(cublaslt.MatmulAlgoGetHeuristic(plan->handle, plan->operation, plan->a,
						       plan->b, plan->d, plan->d, preference, 1,
						       &best, &found));
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceDestroy(preference));
	if (!found) {
		fprintf(stderr, "%s has no algorithm for this product on this GPU\n",
			cublaslt_file);
		exit(1);
	}
	plan->algorithm = best.algo;
}

/* What a product is: D of m x n, sums over k. */
struct cublaslt_product {
	long m, n, k;
	cudaDataType_t input, output; /* types of A and B, of D */
	cublasComputeType_t compute;
	cublasLtEpilogue_t epilogue; /* what becomes of a sum before it is stored */
	const void *bias;	     /* for the epilogue: m values in the type of D, or nullptr */
};

static inline struct cublaslt_plan cublaslt_plan_product(const struct cublaslt_product &product)
{
	struct cublaslt_plan plan = {};
	cublasOperation_t transposed = CUBLAS_OP_T;
	long m = product.m, n = product.n, k = product.k;

	CUBLASLT_CHECK(cublaslt.Create(&plan.handle));
	CUBLASLT_CHECK(cublaslt.MatmulDescCreate(&plan.operation, product.compute, CUDA_R_32F));
	CUBLASLT_CHECK(cublaslt.MatmulDescSetAttribute(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA,
						       &transposed, sizeof(transposed)));
	CUBLASLT_CHECK(
		cublaslt.MatmulDescSetAttribute(plan.operation, CUBLASLT_MATMUL_DESC_EPILOGUE,
						&product.epilogue, sizeof(product.epilogue)));
	if (product.bias)
		CUBLASLT_CHECK(cublaslt.MatmulDescSetAttribute(plan.operation,
							       CUBLASLT_MATMUL_DESC_BIAS_POINTER,
							       &product.bias,
							       sizeof(product.bias)));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutCreate(&plan.a, product.input, k, m, k));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutCreate(&plan.b, product.input, k, n, k));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutCreate(&plan.d, product.output, m, n, m));
	CUDA_CHECK(cudaMalloc(&plan.workspace, cublaslt_workspace_bytes));
	cublaslt_choose(&plan);
	return plan;
}

/* Of n x n matrices, with D in FP32.  n is a multiple of 16, which FP8 demands. */
static inline struct cublaslt_plan cublaslt_plan_matmul(long n, cudaDataType_t type,
							cublasComputeType_t compute)
{
	return cublaslt_plan_product(
		{n, n, n, type, CUDA_R_32F, compute, CUBLASLT_EPILOGUE_DEFAULT, nullptr});
}

static inline struct cublaslt_plan cublaslt_plan_tf32(long n)
{
	return cublaslt_plan_matmul(n, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
}

static inline struct cublaslt_plan cublaslt_plan_bf16(long n)
{
	return cublaslt_plan_matmul(n, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
}

static inline struct cublaslt_plan cublaslt_plan_fp8(long n)
{
	return cublaslt_plan_matmul(n, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F);
}

/* d = a^T b, in the default stream. */
static inline void cublaslt_matmul(const struct cublaslt_plan *plan, const void *a, const void *b,
				   void *d)
{
	const float one = 1, zero = 0;

	CUBLASLT_CHECK(cublaslt.Matmul(plan->handle, plan->operation, &one, a, plan->a, b, plan->b,
				       &zero, d, plan->d, d, plan->d, &plan->algorithm,
				       plan->workspace, cublaslt_workspace_bytes, nullptr));
}

static inline void cublaslt_release(struct cublaslt_plan *plan)
{
	CUDA_CHECK(cudaFree(plan->workspace));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutDestroy(plan->d));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutDestroy(plan->b));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutDestroy(plan->a));
	CUBLASLT_CHECK(cublaslt.MatmulDescDestroy(plan->operation));
	CUBLASLT_CHECK(cublaslt.Destroy(plan->handle));
	*plan = {};
}

#endif
#endif
