/*
 * hopper.cuh - what Hopper adds to tensor_core.cuh, one function an instruction.
 *
 *   barriers   in shared memory, for which threads arrive and bytes that are expected (mbarrier)
 *   tiles      which the copy engine (TMA) loads and stores whole, swizzled, by a map of the array;
 *              their bytes arrive at a barrier
 *   clusters   blocks that see each other's shared memory and barriers, and share what is loaded
 *   registers  which groups of four warps give back and take
 *   wgmma      four warps: 64 x 16 values in registers or shared memory times 16 x N in shared memory,
 *              asynchronously, FP16 with sums in FP32; faster there than mma
 *
 * wgmma and registers are in machine code for Hopper itself alone (sm_90a), which the Makefile's
 * list `hopper` asks for; HAS_WGMMA: compiled for it.  Elsewhere all of this does nothing, and
 * why_no_wgmma is the reason to give.
 */
#ifndef ROOFLINE_HOPPER_CUH
#define ROOFLINE_HOPPER_CUH

#include <cuda.h>

#include "tensor_core.cuh"
#include "workload.cuh"

/* What is for Hopper alone does nothing elsewhere. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HAS_WGMMA 1
#define ON_HOPPER(...) asm volatile(__VA_ARGS__)
#else
#define HAS_WGMMA 0
#define ON_HOPPER(...)
#endif

/* ---- is it there? ---- */

static __global__ void has_wgmma_kernel(int *has)
{
	*has = HAS_WGMMA;
}

/* Of the machine code that this GPU takes.  A reason for why_skipped, nullptr where it has wgmma. */
static inline const char *why_no_wgmma()
{
	int *device = device_array<int>(1), has = 0;

	CUDA_LAUNCH(has_wgmma_kernel<<<1, 1>>>(device));
	CUDA_CHECK(cudaMemcpy(&has, device, sizeof(has), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaFree(device));
	return has ? nullptr : "wgmma needs a GPU of compute capability 9.0";
}

/* ---- fragments back into shared memory ---- */

/* Four matrices of 8 x 8 values: lane i has the address of row i % 8 of matrix i / 8. */
static __device__ void store_fragment(uint32_t shared, const uint32_t (&fragment)[4])
{
	ON_HOPPER("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared),
		  "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
		  : "memory");
}

/* Transposed: lane i has the address of column i % 8 of matrix i / 8. */
static __device__ void store_transposed(uint32_t shared, const uint32_t (&fragment)[4])
{
	ON_HOPPER("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
			  shared),
		  "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
		  : "memory");
}

/* ---- copies of whole tiles, and the barriers that tell of them ---- */

/* A barrier is 8 bytes of shared memory.  A phase of it ends when so many threads have arrived, and
 * all bytes that one of them expected. */
static __device__ void barrier_init(uint32_t barrier, int arrivals)
{
	ON_HOPPER("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
		  : "memory");
}

/* After the last barrier_init, before a barrier of the block. */
static __device__ void barrier_publish()
{
	ON_HOPPER("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void barrier_arrive(uint32_t barrier)
{
	ON_HOPPER("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

static __device__ void barrier_expect(uint32_t barrier, int bytes)
{
	ON_HOPPER("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
		  "r"(bytes)
		  : "memory");
}

/* Until the phase has ended: phases are 0, 1, 0, 1 and so on.  The phase before the first has. */
static __device__ void barrier_wait(uint32_t barrier, int phase)
{
	ON_HOPPER("{.reg .pred done;"
		  "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
		  "@!done bra again;}" ::"r"(barrier),
		  "r"(phase)
		  : "memory");
}

/* A tile of an array from these indices on, the first of them that of the direction in which values
 * stand side by side; swizzled.  Its bytes arrive at the barrier.  What lies outside of the array is 0. */
static __device__ void load_tile(uint32_t shared, const CUtensorMap *map, uint32_t barrier, int i,
				 int j)
{
	ON_HOPPER("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
		  "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared),
		  "l"(map), "r"(barrier), "r"(i), "r"(j)
		  : "memory");
}

static __device__ void load_tile(uint32_t shared, const CUtensorMap *map, uint32_t barrier, int i,
				 int j, int k)
{
	ON_HOPPER("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
		  "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared),
		  "l"(map), "r"(barrier), "r"(i), "r"(j), "r"(k)
		  : "memory");
}

static __device__ void load_tile(uint32_t shared, const CUtensorMap *map, uint32_t barrier, int i,
				 int j, int k, int l)
{
	ON_HOPPER("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
		  "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared),
		  "l"(map), "r"(barrier), "r"(i), "r"(j), "r"(k), "r"(l)
		  : "memory");
}

/* The other way, but for what lies outside of the array. */
static __device__ void store_tile(const CUtensorMap *map, uint32_t shared, int i, int j, int k,
				  int l)
{
	ON_HOPPER("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
		  "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
		  "r"(shared), "r"(i), "r"(j), "r"(k), "r"(l)
		  : "memory");
}

static __device__ void store_tile(const CUtensorMap *map, uint32_t shared, int i, int j)
{
	ON_HOPPER(
		"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
			map),
		"r"(shared), "r"(i), "r"(j)
		: "memory");
}

/* Ends a group of stores of this thread. */
static __device__ void store_tile_commit()
{
	ON_HOPPER("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until all groups of this thread have read shared memory. */
static __device__ void store_tile_wait()
{
	ON_HOPPER("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* For load_tile and store_tile: an array of so many values in each direction, that one first in
 * which they stand side by side, and a tile, which has 64 values in that direction.  To be a
 * parameter of the kernel, __grid_constant__. */
template <size_t rank>
static CUtensorMap tile_map(const __half *array, const cuuint64_t (&sizes)[rank],
			    const cuuint32_t (&tile)[rank])
{
	CUtensorMap map;
	decltype(&cuTensorMapEncodeTiled) encode = nullptr;
	cudaDriverEntryPointQueryResult found;
	cuuint64_t pitches[rank], pitch = sizeof(__half); /* from the second direction on */
	cuuint32_t steps[rank];

	for (size_t i = 0; i < rank; i++) {
		pitches[i] = pitch *= sizes[i];
		steps[i] = 1;
	}
	CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode,
						    12000, cudaEnableDefault, &found));
	if (!encode || encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank, (void *)array, sizes,
			      pitches, tile, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
			      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
			      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
		fprintf(stderr, "cuTensorMapEncodeTiled failed\n");
		exit(1);
	}
	return map;
}

/* ---- clusters: blocks of one or more that see each other's shared memory ---- */

/* All threads of the cluster. */
static __device__ void wait_for_cluster()
{
	ON_HOPPER("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

/* At the same barrier of that block of the cluster. */
static __device__ void barrier_arrive_at(uint32_t barrier, int block)
{
	ON_HOPPER("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
		  "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier),
		  "r"(block)
		  : "memory");
}

/* load_tile into the first `blocks` blocks of the cluster, at the same place and for the same barrier
 * of each. */
template <int blocks>
static __device__ void load_tile_for_all(uint32_t shared, const CUtensorMap *map, uint32_t barrier,
					 int i, int j)
{
	ON_HOPPER("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
		  ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared),
		  "l"(map), "r"(barrier), "r"(i), "r"(j), "h"((uint16_t)((1 << blocks) - 1))
		  : "memory");
}

/* ---- registers, which groups of four warps give back and take ---- */

/* A compiler that does not see the whole program, as with -rdc=true, leaves these two out. */
template <int count> static __device__ void keep_registers()
{
	ON_HOPPER("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

template <int count> static __device__ void take_registers()
{
	ON_HOPPER("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/* ---- wgmma ---- */

/* How wgmma finds rows of a swizzled tile: eight that follow one another, and the next eight so many
 * bytes after them.  The first need not be the tile's own: chunks are found by their address. */
static __device__ uint64_t tile_descriptor(uint32_t shared, int eight_rows = 8 * row_bytes)
{
	return (uint64_t)1 << 62 | (uint64_t)(eight_rows >> 4) << 32 | 1 << 16 |
	       (shared & 0x3ffff) >> 4;
}

/* The same without swizzling, for rows of 16 bytes that follow one another: after `eight` bytes come
 * the next eight rows, after `chunk` bytes the next 16 bytes of a row. */
static __device__ uint64_t pixel_descriptor(uint32_t shared, int eight, int chunk)
{
	return (uint64_t)(eight >> 4) << 32 | (uint64_t)(chunk >> 4) << 16 |
	       (shared & 0x3ffff) >> 4;
}

/* What this thread has written into shared memory before is seen by the wgmma of others after a
 * barrier. */
static __device__ void wgmma_publish()
{
	ON_HOPPER("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Registers written before are seen by the wgmma after it. */
static __device__ void wgmma_begin()
{
	ON_HOPPER("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ void wgmma_commit()
{
	ON_HOPPER("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> static __device__ void wgmma_wait()
{
	ON_HOPPER("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

#define SUMS(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])

/* sums += a b, or sums = a b where they are not to be added to: then they need no value before.
 * a 64 x 16 and b 16 x 128 in shared memory. */
static __device__ void wgmma128(float (&sums)[16][4], uint64_t a, uint64_t b, bool add)
{
	ON_HOPPER("{.reg .pred add; setp.ne.b32 add, %66, 0;"
		  "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
		  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
		  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
		  "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
		  "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
		  "%61, %62, %63}, %64, %65, add, 1, 1, 0, 0;}"
		  : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7), SUMS(8),
		    SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15)
		  : "l"(a), "l"(b), "r"((int)add));
}

/* The same for a 64 x 16 in registers and b 16 x 64 in shared memory. */
static __device__ void wgmma64(float (&sums)[8][4], const uint32_t (&a)[4], uint64_t b, bool add)
{
	ON_HOPPER("{.reg .pred add; setp.ne.b32 add, %37, 0;"
		  "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
		  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
		  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
		  "%31}, {%32, %33, %34, %35}, %36, add, 1, 1, 0;}"
		  : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7)
		  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)add));
}

#undef SUMS

#endif
