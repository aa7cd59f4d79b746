/*
 * transformer_products.cuh - matrix products of FP16 by cuBLASLt, in the forms that a layer needs.
 *
 * A product is planned when it is first wanted, and kept: the ways that the library thinks fastest are
 * timed, as its documentation advises, and the best is taken.  So a graph is captured from the second
 * run on.  Workspace belongs to a stream: products side by side
 * must not share it.
 */
#ifndef ROOFLINE_TRANSFORMER_PRODUCTS_CUH
#define ROOFLINE_TRANSFORMER_PRODUCTS_CUH

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <cuda_fp16.h>

#include "cublaslt.cuh"

/* out(i, j) = sum over k of left(i, k) right(j, k), or of left(i, k) right(k, j).
 * Rows are contiguous; *_row: from one to the next; *_head: from one head's matrix to the next's. */
struct product {
	int rows, columns, inner;
	bool is_transposed; /* right(k, j) */
	long left_row, right_row, out_row;
	int heads;
	long left_head, right_head, out_head;
	bool with_gelu; /* of the sums */
	bool adds;	/* to what out has already */

	auto key() const
	{
		return std::tie(rows, columns, inner, is_transposed, left_row, right_row, out_row,
				heads, left_head, right_head, out_head, with_gelu, adds);
	}
	bool operator<(const product &other) const
	{
		return key() < other.key();
	}
};

#if ROOFLINE_HAS_CUBLASLT

struct product_plan {
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t left, right, out;
	cublasLtMatmulAlgo_t algorithm;
};

struct products {
	cublasLtHandle_t handle;
	std::map<product, product_plan> plans;
	std::map<cudaStream_t, void *> workspaces;
};

/* One line, nullptr when there are products. */
static const char *products_why_missing()
{
	return cublaslt_why_missing();
}

/* Nothing where they are missing. */
static void products_prepare(struct products &all)
{
	if (!products_why_missing())
		CUBLASLT_CHECK(cublaslt.Create(&all.handle));
}

static cublasLtMatrixLayout_t product_layout(long columns, long rows, long row_distance, int heads,
					     long head_distance)
{
	cublasLtMatrixLayout_t layout;

	CUBLASLT_CHECK(
		cublaslt.MatrixLayoutCreate(&layout, CUDA_R_16F, columns, rows, row_distance));
	CUBLASLT_CHECK(cublaslt.MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
							 &heads, sizeof(heads)));
	CUBLASLT_CHECK(
		cublaslt.MatrixLayoutSetAttribute(layout,
						  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
						  &head_distance, sizeof(head_distance)));
	return layout;
}

/* cuBLASLt has columns where we have rows: its first matrix is our right one. */
static struct product_plan product_make_plan(const struct product &p)
{
	struct product_plan plan = {};
	cublasOperation_t first = p.is_transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
	cublasLtEpilogue_t epilogue =
		p.with_gelu ? CUBLASLT_EPILOGUE_GELU : CUBLASLT_EPILOGUE_DEFAULT;
	long right_columns = p.is_transposed ? p.columns : p.inner,
	     right_rows = p.is_transposed ? p.inner : p.columns;

	CUBLASLT_CHECK(cublaslt.MatmulDescCreate(&plan.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CUBLASLT_CHECK(cublaslt.MatmulDescSetAttribute(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA,
						       &first, sizeof(first)));
	CUBLASLT_CHECK(cublaslt.MatmulDescSetAttribute(plan.operation,
						       CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
						       sizeof(epilogue)));
	plan.right = product_layout(right_columns, right_rows, p.right_row, p.heads, p.right_head);
	plan.left = product_layout(p.inner, p.rows, p.left_row, p.heads, p.left_head);
	plan.out = product_layout(p.columns, p.rows, p.out_row, p.heads, p.out_head);
	return plan;
}

static void *product_workspace(struct products &all, cudaStream_t stream)
{
	void *&workspace = all.workspaces[stream];

	if (!workspace)
		CUDA_CHECK(cudaMalloc(&workspace, cublaslt_workspace_bytes));
	return workspace;
}

static void product_run(struct products &all, const struct product_plan &plan, const void *left,
			const void *right, void *out, float kept, cudaStream_t stream)
{
	const float one = 1;

	CUBLASLT_CHECK(cublaslt.Matmul(all.handle, plan.operation, &one, right, plan.right, left,
				       plan.left, &kept, out, plan.out, out, plan.out,
				       &plan.algorithm, product_workspace(all, stream),
				       cublaslt_workspace_bytes, stream));
}

/* Of one, in nanoseconds, by events around several. */
static float product_time(struct products &all, const struct product_plan &plan, const void *left,
			  const void *right, void *out, cudaStream_t stream)
{
	const int runs = 5;
	cudaEvent_t begin, end;
	float ms;

	CUDA_CHECK(cudaEventCreate(&begin));
	CUDA_CHECK(cudaEventCreate(&end));
	product_run(all, plan, left, right, out, 0, stream);
	CUDA_CHECK(cudaEventRecord(begin, stream));
	for (int i = 0; i < runs; i++)
		product_run(all, plan, left, right, out, 0, stream);
	CUDA_CHECK(cudaEventRecord(end, stream));
	CUDA_CHECK(cudaEventSynchronize(end));
	CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
	CUDA_CHECK(cudaEventDestroy(begin));
	CUDA_CHECK(cudaEventDestroy(end));
	return ms * 1e6f / runs;
}

/* The library's guesses, its best first. */
static std::vector<cublasLtMatmulHeuristicResult_t> product_ways(cublasLtHandle_t handle,
								 const struct product_plan &plan)
{
	std::vector<cublasLtMatmulHeuristicResult_t> ways(8);
	cublasLtMatmulPreference_t preference;
	int found = 0;

	CUBLASLT_CHECK(cublaslt.MatmulPreferenceCreate(&preference));
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceSetAttribute(
		preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &cublaslt_workspace_bytes,
		sizeof(cublaslt_workspace_bytes)));
	CUBLASLT_CHECK(cublaslt.MatmulAlgoGetHeuristic(handle, plan.operation, plan.right,
						       plan.left, plan.out, plan.out, preference,
						       ways.size(), ways.data(), &found));
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceDestroy(preference));
	ways.resize(found);
	if (ways.empty()) {
		fprintf(stderr, "%s has no algorithm for one of the products\n", cublaslt_file);
		exit(1);
	}
	return ways;
}

/* Sums go into memory of their own: what is at out may be added to later. */
static void product_choose(struct products &all, const struct product &p, struct product_plan &plan,
			   const void *left, const void *right, cudaStream_t stream)
{
	size_t bytes = (p.rows * p.out_row + p.heads * p.out_head) * sizeof(__half);
	float least = INFINITY;
	void *scratch;
	cublasLtMatmulAlgo_t best;

	CUDA_CHECK(cudaMalloc(&scratch, bytes));
	for (const auto &way : product_ways(all.handle, plan)) {
		float time;

		plan.algorithm = way.algo;
		time = product_time(all, plan, left, right, scratch, stream);
		if (time >= least)
			continue;
		least = time;
		best = way.algo;
	}
	plan.algorithm = best;
	CUDA_CHECK(cudaFree(scratch));
}

static void product_launch(struct products &all, const struct product &p, const __half *left,
			   const __half *right, __half *out, cudaStream_t stream)
{
	auto found = all.plans.find(p);

	if (found == all.plans.end()) {
		found = all.plans.emplace(p, product_make_plan(p)).first;
		product_choose(all, p, found->second, left, right, stream);
	}
	product_run(all, found->second, left, right, out, p.adds, stream);
}

static void products_release(struct products &all)
{
	for (auto &entry : all.plans) {
		CUBLASLT_CHECK(cublaslt.MatrixLayoutDestroy(entry.second.out));
		CUBLASLT_CHECK(cublaslt.MatrixLayoutDestroy(entry.second.left));
		CUBLASLT_CHECK(cublaslt.MatrixLayoutDestroy(entry.second.right));
		CUBLASLT_CHECK(cublaslt.MatmulDescDestroy(entry.second.operation));
	}
	for (auto &entry : all.workspaces)
		CUDA_CHECK(cudaFree(entry.second));
	if (all.handle)
		CUBLASLT_CHECK(cublaslt.Destroy(all.handle));
	all = {};
}

#else

struct products {
};

static const char *products_why_missing()
{
	return "built where the toolkit had no cublasLt.h";
}

static void products_prepare(struct products &)
{
}

static void product_launch(struct products &, const struct product &, const __half *,
			   const __half *, __half *, cudaStream_t)
{
}

static void products_release(struct products &)
{
}

#endif
#endif
