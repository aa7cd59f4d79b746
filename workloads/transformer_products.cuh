/*
 * transformer_products.cuh - matrix products of FP16 by cuBLASLt, in the forms that a layer needs.
 *
 * A product is planned when it is first wanted, which asks the library for its fastest way, and kept:
 * a graph is captured from the second run on.  Workspace belongs to a stream: products side by side
 * must not share it.
 */
#ifndef ROOFLINE_TRANSFORMER_PRODUCTS_CUH
#define ROOFLINE_TRANSFORMER_PRODUCTS_CUH

#include <cuda_fp16.h>
#include <map>
#include <tuple>
#include <vector>

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
static struct product_plan product_make_plan(cublasLtHandle_t handle, const struct product &p)
{
	struct product_plan plan = {};
	cublasOperation_t first = p.is_transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
	cublasLtEpilogue_t epilogue =
		p.with_gelu ? CUBLASLT_EPILOGUE_GELU : CUBLASLT_EPILOGUE_DEFAULT;
	long right_columns = p.is_transposed ? p.columns : p.inner,
	     right_rows = p.is_transposed ? p.inner : p.columns;
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulHeuristicResult_t best;
	int found = 0;

	CUBLASLT_CHECK(cublaslt.MatmulDescCreate(&plan.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CUBLASLT_CHECK(cublaslt.MatmulDescSetAttribute(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA,
						       &first, sizeof(first)));
	CUBLASLT_CHECK(cublaslt.MatmulDescSetAttribute(plan.operation,
						       CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
						       sizeof(epilogue)));
	plan.right = product_layout(right_columns, right_rows, p.right_row, p.heads, p.right_head);
	plan.left = product_layout(p.inner, p.rows, p.left_row, p.heads, p.left_head);
	plan.out = product_layout(p.columns, p.rows, p.out_row, p.heads, p.out_head);
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceCreate(&preference));
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceSetAttribute(
		preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &cublaslt_workspace_bytes,
		sizeof(cublaslt_workspace_bytes)));
	CUBLASLT_CHECK(cublaslt.MatmulAlgoGetHeuristic(handle, plan.operation, plan.right,
						       plan.left, plan.out, plan.out, preference, 1,
						       &best, &found));
	CUBLASLT_CHECK(cublaslt.MatmulPreferenceDestroy(preference));
	if (!found) {
		fprintf(stderr, "%s has no algorithm for %d x %d sums over %d\n", cublaslt_file,
			p.rows, p.columns, p.inner);
		exit(1);
	}
	plan.algorithm = best.algo;
	return plan;
}

static const struct product_plan &product_plan_of(struct products &all, const struct product &p)
{
	auto found = all.plans.find(p);

	if (found == all.plans.end())
		found = all.plans.emplace(p, product_make_plan(all.handle, p)).first;
	return found->second;
}

static void *product_workspace(struct products &all, cudaStream_t stream)
{
	void *&workspace = all.workspaces[stream];

	if (!workspace)
		CUDA_CHECK(cudaMalloc(&workspace, cublaslt_workspace_bytes));
	return workspace;
}

static void product_launch(struct products &all, const struct product &p, const __half *left,
			   const __half *right, __half *out, cudaStream_t stream)
{
	const struct product_plan &plan = product_plan_of(all, p);
	const float one = 1, kept = p.adds;

	CUBLASLT_CHECK(cublaslt.Matmul(all.handle, plan.operation, &one, right, plan.right, left,
				       plan.left, &kept, out, plan.out, out, plan.out,
				       &plan.algorithm, product_workspace(all, stream),
				       cublaslt_workspace_bytes, stream));
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
