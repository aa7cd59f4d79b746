/*
 * clusters (D7): running sums along rows of 65,536 values, more than one SM has memory for.
 *
 * Eight blocks share a row, and each needs the totals of those before it.  Blocks cannot wait for
 * each other, so the usual answer is a second kernel, and the values go through global memory once
 * more.  The blocks of a cluster can wait, and can read each other's shared memory: one kernel is
 * enough, and the values stay in registers until they are done.
 *
 * One iteration over n values, n rounded up to whole rows; totals are 4 bytes for 8,192 values:
 *   naive         4 n bytes read, 4 n written; then 4 n read again, 4 n written
 *   totals_first  4 n bytes read, only totals written; then 4 n read again, 4 n written
 *   cluster       4 n bytes read, 4 n written
 */
#include <cooperative_groups.h>
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "workload.cuh"

static const int block_size = 512;
static const int thread_values = 16;
static const int tile_values = block_size * thread_values; /* a block's: 8,192, or 32 KiB */
static const int row_tiles = 8; /* blocks of a cluster; more than 8 are not portable */
static const int row_values = row_tiles * tile_values;

struct problem {
	long size;	  /* values that are compared */
	unsigned tiles;	  /* of whole rows: no kernel has to ask where the values end */
	uint32_t *values; /* [tiles][tile_values] */
	uint32_t *sums;	  /* likewise: along the row, up to and with each value */
	uint32_t *totals; /* of tiles */
	std::vector<uint32_t> expected;
	cudaStream_t stream;
};

static __host__ __device__ uint32_t value_at(long i)
{
	return ((uint32_t)i ^ (uint32_t)i >> 15) * 747796405u;
}

static __global__ void fill_kernel(uint32_t *values)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	values[i] = value_at(i);
}

/* ---- one block and its tile, of which a thread has so many values in a row ---- */

typedef uint32_t slice[thread_values];
using loader = cub::BlockLoad<uint32_t, block_size, thread_values, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
using storer =
	cub::BlockStore<uint32_t, block_size, thread_values, cub::BLOCK_STORE_WARP_TRANSPOSE>;
using scanner = cub::BlockScan<uint32_t, block_size, cub::BLOCK_SCAN_WARP_SCANS>;

/* One after the other, with a barrier between. */
union tile_memory {
	loader::TempStorage load;
	scanner::TempStorage scan;
	storer::TempStorage store;
};

static __device__ size_t tile_start()
{
	return (size_t)blockIdx.x * tile_values;
}

/* Running sums along the tile.  Returns the tile's total, to all threads. */
static __device__ uint32_t scan_tile(const uint32_t *values, slice &sums, union tile_memory &memory)
{
	uint32_t total;

	loader(memory.load).Load(values + tile_start(), sums);
	__syncthreads();
	scanner(memory.scan).InclusiveSum(sums, sums, total);
	__syncthreads();
	return total;
}

static __device__ void add(slice &sums, uint32_t before)
{
	for (uint32_t &sum : sums)
		sum += before;
}

/* ---- two kernels: what one block tells another goes through global memory ---- */

static __global__ void scan_kernel(const uint32_t *values, uint32_t *sums, uint32_t *totals)
{
	__shared__ union tile_memory memory;
	slice own;
	uint32_t total = scan_tile(values, own, memory);

	storer(memory.store).Store(sums + tile_start(), own);
	if (threadIdx.x == 0)
		totals[blockIdx.x] = total;
}

/* Of the tiles before this one in its row. */
static __device__ uint32_t total_before(const uint32_t *totals)
{
	uint32_t sum = 0;

	for (unsigned tile = blockIdx.x / row_tiles * row_tiles; tile < blockIdx.x; tile++)
		sum += totals[tile];
	return sum;
}

/* What a thread has here need not be in a row. */
static __global__ void add_kernel(uint32_t *sums, const uint32_t *totals)
{
	slice own;

	cub::LoadDirectStriped<block_size>(threadIdx.x, sums + tile_start(), own);
	add(own, total_before(totals));
	cub::StoreDirectStriped<block_size>(threadIdx.x, sums + tile_start(), own);
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(scan_kernel<<<p.tiles, block_size, 0, p.stream>>>(p.values, p.sums,
									      p.totals));
		CUDA_LAUNCH(add_kernel<<<p.tiles, block_size, 0, p.stream>>>(p.sums, p.totals));
	}
}

/* ---- two kernels, the first of which writes no sums ---- */

static __global__ void total_kernel(const uint32_t *values, uint32_t *totals)
{
	__shared__ union tile_memory memory;
	slice own;
	uint32_t total = scan_tile(values, own, memory);

	if (threadIdx.x == 0)
		totals[blockIdx.x] = total;
}

static __global__ void scan_row_kernel(const uint32_t *values, uint32_t *sums,
				       const uint32_t *totals)
{
	__shared__ union tile_memory memory;
	slice own;

	scan_tile(values, own, memory);
	add(own, total_before(totals));
	storer(memory.store).Store(sums + tile_start(), own);
}

static void run_totals_first(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(total_kernel<<<p.tiles, block_size, 0, p.stream>>>(p.values, p.totals));
		CUDA_LAUNCH(scan_row_kernel<<<p.tiles, block_size, 0, p.stream>>>(p.values, p.sums,
										  p.totals));
	}
}

/* ---- one kernel: a row is a cluster ---- */

static __global__ void cluster_kernel(const uint32_t *values, uint32_t *sums)
{
#if __CUDA_ARCH__ >= 900
	cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
	__shared__ union tile_memory memory;
	__shared__ uint32_t total;
	uint32_t own_total, before = 0;
	slice own;

	own_total = scan_tile(values, own, memory);
	if (threadIdx.x == 0)
		total = own_total;
	cluster.sync(); /* every block of the cluster has its total */
	for (unsigned rank = 0; rank < cluster.block_rank(); rank++)
		before += *cluster.map_shared_rank(&total, rank);
	cluster.sync(); /* nobody reads this block's any more: it may end, and its memory with it */
	add(own, before);
	storer(memory.store).Store(sums + tile_start(), own);
#endif
}

static cudaLaunchConfig_t cluster_launch(const problem &p, cudaLaunchAttribute *attribute)
{
	cudaLaunchConfig_t config = {};

	attribute->id = cudaLaunchAttributeClusterDimension;
	attribute->val.clusterDim.x = row_tiles;
	attribute->val.clusterDim.y = 1;
	attribute->val.clusterDim.z = 1;
	config.gridDim = p.tiles;
	config.blockDim = block_size;
	config.stream = p.stream;
	config.attrs = attribute;
	config.numAttrs = 1;
	return config;
}

static void run_cluster(problem &p, int iterations)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = cluster_launch(p, &attribute);

	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaLaunchKernelEx(&config, cluster_kernel, p.values, p.sums));
}

/* A part of a GPU (MIG) may have clusters and no room for eight blocks side by side. */
static const char *why_no_cluster(problem &p)
{
	int device, supported, clusters;
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = cluster_launch(p, &attribute);

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrClusterLaunch, device));
	if (!supported)
		return "thread block clusters need compute capability 9.0";
	CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, cluster_kernel, &config));
	return clusters ? nullptr : "this GPU has no room for a cluster of eight blocks";
}

/* ---- the problem ---- */

static std::vector<uint32_t> reference(long size)
{
	std::vector<uint32_t> sums(size);
	uint32_t sum = 0;

	for (long i = 0; i < size; i++) {
		sum = i % row_values ? sum + value_at(i) : value_at(i);
		sums[i] = sum;
	}
	return sums;
}

static void prepare(problem &p, long size, int)
{
	long padded = (size + row_values - 1) / row_values * row_values;

	p.size = size;
	p.tiles = padded / tile_values;
	p.values = device_array<uint32_t>(padded);
	p.sums = device_array<uint32_t>(padded);
	p.totals = device_array<uint32_t>(p.tiles);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
	CUDA_LAUNCH(fill_kernel<<<padded / block_size, block_size>>>(p.values));
	p.expected = reference(size);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.sums, 0, p.tiles * tile_values * sizeof(*p.sums)));
	CUDA_CHECK(cudaMemset(p.totals, 0, p.tiles * sizeof(*p.totals)));
}

static struct difference check(const problem &p)
{
	return compare_each(p.sums, p.size, [&p](long i) { return p.expected[i]; });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaFree(p.sums));
	CUDA_CHECK(cudaFree(p.totals));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "two kernels: sums along tiles, then what lies before is added", run_naive},
	{"totals_first", "two kernels: totals of tiles, then sums along rows", run_totals_first},
	{"cluster", "one kernel, a cluster a row: totals by distributed shared memory", run_cluster,
	 nullptr, nullptr, why_no_cluster},
};

static const struct workload<problem> clusters = {
	.name = "clusters", .size = 1 << 25, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(clusters)
