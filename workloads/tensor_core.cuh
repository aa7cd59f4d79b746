/*
 * tensor_core.cuh - what a matrix product on tensor cores is made of, one function an instruction.
 *
 * A block copies tiles of its operands into shared memory, asynchronously (copy_async), while it
 * works on those that are there.  A tile has rows of 64 values of FP16, 128 bytes, along the
 * dimension that is summed over.  The 16-byte chunks of a row are permuted by its number
 * (swizzled): eight rows of one chunk lie in different banks.
 *
 * mma multiplies, a warp 16 x 16 values times 16 x 8, both in registers (load_fragment), FP16 with
 * sums in FP32; Ampere and later.  hopper.cuh has what Hopper added: wgmma, and the copy engine.
 *
 * Of a product's 16 x 8 sums in FP32 a lane has those of two columns, 2 * (lane % 4), in two rows,
 * lane / 4 and that + 8.
 */
#ifndef ROOFLINE_TENSOR_CORE_CUH
#define ROOFLINE_TENSOR_CORE_CUH

#include <cstdint>

#include <cuda_fp16.h>

#include "cuda_check.cuh"

static const int row_values = 64; /* of a tile in shared memory */
static const int row_bytes = 128;

/* ---- shared memory ---- */

/* Addresses of the instructions below are in the window of shared memory, of 32 bits. */
static __device__ uint32_t shared_address(const void *shared)
{
	return __cvta_generic_to_shared(shared);
}

/* Where a chunk of 16 bytes of a row lies in a tile, which begins at a multiple of 1,024 bytes. */
static __host__ __device__ int swizzled(int row, int chunk)
{
	return row * row_bytes + ((chunk ^ (row & 7)) << 4);
}

/* 16 bytes from global memory, past the L1 cache; zeros when they are not there. */
static __device__ void copy_async(uint32_t shared, const void *global, bool there)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
		     "r"(there ? 16 : 0)
		     : "memory");
}

/* Ends a group of copies of this thread. */
static __device__ void copy_async_commit()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until all groups of this thread but the last `pending` are done. */
template <int pending> static __device__ void copy_async_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

static __device__ void store_shared(uint32_t shared, uint4 value)
{
	asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(value.x),
		     "r"(value.y), "r"(value.z), "r"(value.w)
		     : "memory");
}

static __device__ uint4 load_shared(uint32_t shared)
{
	uint4 value;

	asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
		     : "r"(shared)
		     : "memory");
	return value;
}

static __device__ void store_pair(uint32_t shared, float2 value)
{
	asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared), "f"(value.x), "f"(value.y)
		     : "memory");
}

static __device__ float2 load_pair(uint32_t shared)
{
	float2 value;

	asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
		     : "=f"(value.x), "=f"(value.y)
		     : "r"(shared)
		     : "memory");
	return value;
}

/* A barrier of so many threads of the block, the one with that number: 1 to 15. */
static __device__ void wait_for_threads(int number, int count)
{
	asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(count) : "memory");
}

/* More than 48 KiB of shared memory a block have to be asked for, once a kernel. */
template <class kernel_type>
static inline void ask_for_shared_memory(kernel_type *kernel, int bytes)
{
	CUDA_CHECK(
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/* ---- mma ---- */

/* Four matrices of 8 x 8 values: lane i has the address of row i % 8 of matrix i / 8. */
static __device__ void load_fragment(uint32_t (&fragment)[4], uint32_t shared)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
		     : "r"(shared)
		     : "memory");
}

/* sums += a b */
static __device__ void mma(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
		     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* ---- sums on their way out ---- */

/* Of four lanes each has four pairs of columns: 8 j + 2 lane for j = 0 .. 3.  After it each has four
 * pairs that stand side by side, from column 8 lane on. */
static __device__ void gather_columns(uint32_t (&pairs)[4])
{
#pragma unroll
	for (int bit = 1; bit < 4; bit *= 2) {
		bool is_upper = threadIdx.x & bit;

#pragma unroll
		for (int j = 0; j < 4; j++) {
			if (j & bit)
				continue;
			uint32_t sent = is_upper ? pairs[j] : pairs[j | bit];
			uint32_t received = __shfl_xor_sync(~0u, sent, bit);

			if (is_upper)
				pairs[j] = received;
			else
				pairs[j | bit] = received;
		}
	}
}

#endif
