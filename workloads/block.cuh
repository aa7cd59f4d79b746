/*
 * block.cuh - one value of each thread of a block: their sum, and the sums of those before.
 *
 * For blocks of `threads` threads, a multiple of 32, all of which call.  CUB has the same, and takes 5 s more to
 * compile for each program.  A function may be called again in the same kernel with the same types after a barrier.
 */
#ifndef ROOFLINE_BLOCK_CUH
#define ROOFLINE_BLOCK_CUH

/* To thread 0: all values combined by a function for which order does not matter.  To others: something else. */
template <int threads, class T, class function>
static __device__ T block_reduce(T value, function combine)
{
	static_assert(threads % 32 == 0 && threads <= 1024, "whole warps, and one block");
	__shared__ T of_warps[threads / 32];

	for (int distance = 16; distance; distance /= 2)
		value = combine(value, __shfl_down_sync(~0u, value, distance));
	if (threadIdx.x % 32 == 0)
		of_warps[threadIdx.x / 32] = value;
	__syncthreads();
	if (threadIdx.x == 0)
		for (int warp = 1; warp < threads / 32; warp++)
			value = combine(value, of_warps[warp]);
	return value;
}

/* To thread 0: the sum. */
template <int threads, class T> static __device__ T block_sum(T value)
{
	return block_reduce<threads>(value, [](T a, T b) { return a + b; });
}

/* To each thread: the sum of the values of the threads before it, and that of all. */
template <int threads, class T>
static __device__ void block_sum_before(T value, T &before, T &total)
{
	static_assert(threads % 32 == 0 && threads <= 1024, "whole warps, and one block");
	__shared__ T of_warps[threads / 32];
	T sum = value; /* in this warp, with this thread's */

	for (int distance = 1; distance < 32; distance *= 2) {
		T other = __shfl_up_sync(~0u, sum, distance);

		if (threadIdx.x % 32 >= distance)
			sum += other;
	}
	if (threadIdx.x % 32 == 31)
		of_warps[threadIdx.x / 32] = sum;
	__syncthreads();
	before = sum - value;
	total = 0;
	for (int warp = 0; warp < threads / 32; warp++) {
		if (warp < threadIdx.x / 32)
			before += of_warps[warp];
		total += of_warps[warp];
	}
}

#endif
