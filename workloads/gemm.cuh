/*
 * gemm.cuh - a square matrix product of known values, and the check of its result.
 *
 * The matrices hold -1, 0 and 1 at random: every format holds these exactly, and their sums of
 * products are whole numbers that FP32 holds exactly, so the scalar reference must be met to the
 * last bit.  A few hundred entries are looked at: the reference of all would take minutes.
 */
#ifndef ROOFLINE_GEMM_CUH
#define ROOFLINE_GEMM_CUH

#include "cublaslt.cuh"
#include "hash.cuh"
#include "workload.cuh"

#if ROOFLINE_HAS_CUBLASLT

struct gemm {
	long n;
	void *a, *b; /* in the format of the product */
	float *d;
	struct cublaslt_plan plan;
};

static const int checked_columns = 8, checked_rows = 32;

/* An entry of A (seed 1) or B (seed 2). */
static __host__ __device__ int gemm_value(uint64_t index, uint64_t seed)
{
	return (int)(hash_of(index, seed) % 3) - 1;
}

template <class T> static __global__ void gemm_fill_kernel(T *matrix, long count, int seed)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		matrix[i] = T((float)gemm_value(i, seed));
}

template <class T> static void *gemm_matrix(long n, int seed)
{
	T *matrix = device_array<T>(n * n);
	unsigned blocks = (n * n + 255) / 256;

	CUDA_LAUNCH(gemm_fill_kernel<T><<<blocks, 256>>>(matrix, n * n, seed));
	return matrix;
}

template <class T> static struct gemm gemm_prepare(long n, struct cublaslt_plan (*plan)(long n))
{
	struct gemm g = {n, gemm_matrix<T>(n, 1), gemm_matrix<T>(n, 2)};

	g.d = device_array<float>(n * n);
	g.plan = plan(n);
	return g;
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void gemm_reset(struct gemm &g)
{
	CUDA_CHECK(cudaMemset(g.d, 0xff, g.n * g.n * sizeof(*g.d)));
}

/* Entry (row, column) of A^T B. */
static int gemm_reference(long n, long row, long column)
{
	int sum = 0;

	for (long k = 0; k < n; k++)
		sum += gemm_value(row * n + k, 1) * gemm_value(column * n + k, 2);
	return sum;
}

static struct difference gemm_check(const struct gemm &g)
{
	std::vector<float> found(g.n);

	for (int c = 0; c < checked_columns; c++) {
		long column = hash_of(c, 3) % g.n;

		CUDA_CHECK(cudaMemcpy(found.data(), g.d + column * g.n, g.n * sizeof(float),
				      cudaMemcpyDeviceToHost));
		for (int r = 0; r < checked_rows; r++) {
			long row = hash_of(r, 4 + c) % g.n;
			int expected = gemm_reference(g.n, row, column);

			if (found[row] != (float)expected)
				return {column * g.n + row, (unsigned long long)(long)found[row],
					(unsigned long long)expected};
		}
	}
	return {-1, 0, 0};
}

static void gemm_release(struct gemm &g)
{
	cublaslt_release(&g.plan);
	CUDA_CHECK(cudaFree(g.a));
	CUDA_CHECK(cudaFree(g.b));
	CUDA_CHECK(cudaFree(g.d));
	g = {};
}

#endif
#endif
