/*
 * dp_tiny (C9): a control.  Every item needs a little more once it is done: a digest of 32 values.
 *
 * The block that made the values can take the digest itself, in about no time.  A child kernel for
 * each digest keeps the code tidy and costs a launch for 32 loads.
 */
#include "device_launch.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int item_values = 1024;
static const int digest_values = 32; /* one a lane of a warp */
static const int steps = 512;

struct problem {
	int size, items;
	uint64_t *values; /* of size; item i owns item_values of them from i * item_values on */
	uint64_t *digest; /* of items */
	std::vector<uint64_t> initial, expected;
	cudaStream_t stream;
};

/* What stamps call the kernels. */
enum { STAMP_ITEMS, STAMP_DIGEST };
static const char *const stamp_names[] = {"items", "digest"};

/* Steps that depend on each other and that no compiler can shorten. */
static __host__ __device__ uint64_t work_on(uint64_t x)
{
	for (int step = 0; step < steps; step++)
		x = (x ^ (x >> 31)) * 6364136223846793005u + 1;
	return x;
}

/* Value number lane of those that the digest of an item reads: from all over the item, and 0
 * beyond the end of the last one. */
static __host__ __device__ uint64_t digest_value(const uint64_t *values, int item, int lane,
						 int size)
{
	int i = item * item_values + lane * (item_values / digest_values);

	return i < size ? values[i] ^ lane : 0;
}

static __host__ __device__ int item_end(int item, int size)
{
	int end = (item + 1) * item_values;

	return end < size ? end : size;
}

/* One warp: the sum over its lanes, added to what the iterations before have left. */
static __device__ void take_digest(const uint64_t *values, uint64_t *digest, int item, int size)
{
	unsigned long long sum = digest_value(values, item, threadIdx.x % warpSize, size);

	for (int distance = warpSize / 2; distance > 0; distance /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, distance);
	if (threadIdx.x % warpSize == 0)
		digest[item] += sum;
}

static __device__ void work_on_item(uint64_t *values, int size)
{
	int end = item_end(blockIdx.x, size);

	for (int i = blockIdx.x * item_values + threadIdx.x; i < end; i += blockDim.x)
		values[i] = work_on(values[i]);
	__syncthreads();
}

static __global__ void inline_kernel(uint64_t *values, uint64_t *digest, int size)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	work_on_item(values, size);
	if (threadIdx.x < warpSize)
		take_digest(values, digest, blockIdx.x, size);
	stamp_end(&start_ns, STAMP_HOST, STAMP_ITEMS);
}

static __global__ void items_kernel(uint64_t *values, int size)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	work_on_item(values, size);
	stamp_end(&start_ns, STAMP_HOST, STAMP_ITEMS);
}

/* A block of one warp takes the digest of item first + its number. */
static __global__ void digest_kernel(const uint64_t *values, uint64_t *digest, int first, int size,
				     enum stamp_what launcher)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	take_digest(values, digest, first + blockIdx.x, size);
	stamp_end(&start_ns, launcher, STAMP_DIGEST);
}

/* The child reads only what the block of its parent wrote, so it may start at once: the barrier in
 * work_on_item and the fence show it all of the item. */
static __global__ void launching_kernel(uint64_t *values, uint64_t *digest, int size)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	work_on_item(values, size);
	stamp_end(&start_ns, STAMP_HOST, STAMP_ITEMS);
	if (threadIdx.x != 0)
		return;
	__threadfence();
	DEVICE_LAUNCH(digest_kernel<<<1, digest_values, 0, cudaStreamFireAndForget>>>(
		values, digest, blockIdx.x, size, STAMP_DEVICE));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(inline_kernel<<<p.items, block_size, 0, p.stream>>>(p.values, p.digest,
										p.size));
}

static void run_one_kernel(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(items_kernel<<<p.items, block_size, 0, p.stream>>>(p.values, p.size));
		CUDA_LAUNCH(digest_kernel<<<p.items, digest_values, 0, p.stream>>>(
			p.values, p.digest, 0, p.size, STAMP_HOST));
	}
}

static void run_device(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(launching_kernel<<<p.items, block_size, 0, p.stream>>>(p.values,
										   p.digest,
										   p.size));
}

/* All children of one parent may be pending at once. */
static void setup_device(problem &p)
{
	device_launches_make_room(p.items);
}

static std::vector<uint64_t> reference(std::vector<uint64_t> values, int items, int iterations)
{
	std::vector<uint64_t> digest(items, 0);
	int size = values.size();

	for (int iteration = 0; iteration < iterations; iteration++) {
		for (uint64_t &value : values)
			value = work_on(value);
		for (int item = 0; item < items; item++)
			for (int lane = 0; lane < digest_values; lane++)
				digest[item] += digest_value(values.data(), item, lane, size);
	}
	return digest;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.items = (size + item_values - 1) / item_values;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i + 1;
	p.expected = reference(p.initial, p.items, iterations);
	p.values = device_array<uint64_t>(size);
	p.digest = device_array<uint64_t>(p.items);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.size * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.digest, 0, p.items * sizeof(*p.digest)));
}

static struct difference check(const problem &p)
{
	device_launches_require("dp_tiny");
	return compare(p.digest, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaFree(p.digest));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the block that made an item takes its digest", run_naive},
	{"one_kernel", "a second kernel, launched by the host, takes all digests", run_one_kernel},
	{"device", "every block launches a child kernel for its digest", run_device, setup_device},
};

static const struct workload<problem> dp_tiny = {
	.name = "dp_tiny", .size = 1 << 17, .iterations = 8, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = stamp_names,
};
RUN_WORKLOAD(dp_tiny)
