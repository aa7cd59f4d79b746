/*
 * dynamic_parallelism (C6): a parent kernel, then the two kernels that follow from it.
 *
 * The host waits for the parent only to launch its two children.  It need not wait, because a
 * stream keeps the order; or the parent launches them itself, and the host speaks once instead of
 * three times.  Compare `device` with `no_sync`, not with `naive`, to see what the launch from the
 * device itself is worth.
 */
#include "workload.cuh"

struct problem {
	int size;
	uint32_t *values;   /* of size; the parent reads and writes them */
	uint32_t *children; /* of size; one child writes each half, from all over values */
	std::vector<uint32_t> initial, expected;
	cudaStream_t stream;
};

static const int block_size = 256;

static __host__ __device__ uint32_t parent_step(uint32_t value, uint32_t child)
{
	return (value + child) * 747796405u + 2891336453u;
}

static __host__ __device__ uint32_t child_step(uint32_t near, uint32_t far)
{
	return near ^ (far >> 7);
}

static __device__ int thread_index()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* What stamps call the kernels. */
enum { STAMP_PARENT, STAMP_CHILD };
static const char *const stamp_names[] = {"parent", "child"};

static __global__ void child_kernel(const uint32_t *values, uint32_t *children, int begin, int end,
				    int size, enum stamp_what launcher)
{
	int i = begin + thread_index();
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (i < end)
		children[i] = child_step(values[i], values[size - 1 - i]);
	stamp_end(&start_ns, launcher, STAMP_CHILD);
}

static __host__ __device__ int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static __device__ void parent_work(uint32_t *values, const uint32_t *children, int size)
{
	int i = thread_index();

	if (i < size)
		values[i] = parent_step(values[i], children[i]);
}

static __global__ void parent_kernel(uint32_t *values, const uint32_t *children, int size)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	parent_work(values, children, size);
	stamp_end(&start_ns, STAMP_HOST, STAMP_PARENT);
}

/* A child reads what all blocks of its parent wrote.  A launch into the tail stream starts when the
 * whole parent has finished, so one thread launches and no block has to wait for the others. */
static __global__ void launching_parent_kernel(uint32_t *values, uint32_t *children, int size)
{
	int half = size / 2;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	parent_work(values, children, size);
	stamp_end(&start_ns, STAMP_HOST, STAMP_PARENT);
	if (thread_index() != 0)
		return;
	if (half > 0)
		child_kernel<<<blocks(half), block_size, 0, cudaStreamTailLaunch>>>(values,
										    children, 0,
										    half, size,
										    STAMP_DEVICE);
	child_kernel<<<blocks(size - half), block_size, 0, cudaStreamTailLaunch>>>(values, children,
										   half, size, size,
										   STAMP_DEVICE);
}

static void launch_parent(problem &p)
{
	CUDA_LAUNCH(parent_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.values, p.children,
									       p.size));
}

static void launch_children(problem &p)
{
	int half = p.size / 2;

	if (half > 0)
		CUDA_LAUNCH(child_kernel<<<blocks(half), block_size, 0, p.stream>>>(
			p.values, p.children, 0, half, p.size, STAMP_HOST));
	CUDA_LAUNCH(child_kernel<<<blocks(p.size - half), block_size, 0, p.stream>>>(
		p.values, p.children, half, p.size, p.size, STAMP_HOST));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_parent(p);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		launch_children(p);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
	}
}

static void run_no_sync(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_parent(p);
		launch_children(p);
	}
}

static void run_device(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(launching_parent_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(
			p.values, p.children, p.size));
}

/* The scalar reference: one iteration after the other, the parent before its children. */
static std::vector<uint32_t> reference(std::vector<uint32_t> values, int iterations)
{
	std::vector<uint32_t> children(values.size(), 0);

	for (int iteration = 0; iteration < iterations; iteration++) {
		for (size_t i = 0; i < values.size(); i++)
			values[i] = parent_step(values[i], children[i]);
		for (size_t i = 0; i < values.size(); i++)
			children[i] = child_step(values[i], values[values.size() - 1 - i]);
	}
	return children;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i;
	p.expected = reference(p.initial, iterations);
	p.values = device_array<uint32_t>(size);
	p.children = device_array<uint32_t>(size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.size * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.children, 0, p.size * sizeof(*p.children)));
}

static struct difference check(const problem &p)
{
	return compare(p.children, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaFree(p.children));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host waits for the parent, launches two children and waits", run_naive},
	{"no_sync", "the host launches all three, the stream keeps the order", run_no_sync},
	{"device", "the parent launches its children from the device", run_device},
};

static const struct workload<problem> dynamic_parallelism = {
	.name = "dynamic_parallelism", .size = 1 << 18, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = stamp_names,
};
RUN_WORKLOAD(dynamic_parallelism)
