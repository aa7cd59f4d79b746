/*
 * memory_bound (D3): a control.  The triad a = b + s c moves data as fast as the DRAM allows.
 *
 * One kernel of a few hundred microseconds: its launch is nothing against that, and a graph does not
 * make the DRAM faster.  It loads 16 bytes at a time: with one value a thread it would not reach the roof.
 *
 * One launch over n values, of either kernel:
 *   FLOPs  one FP32 FMA a value: 2 n
 *   bytes  8 n read, 4 n written, each once
 * The FMA instructions (of threads) are n.  Three arrays of 4 n bytes, more than any cache.
 */
#include "workload.cuh"

static const int block_size = 256;
static const int pattern = 1024; /* b and c run through 0 .. pattern - 1, c the slower one */
static const float factor = 3;

struct problem {
	long size;
	float *a, *b, *c;
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static __host__ __device__ int b_at(long i)
{
	return i % pattern;
}

static __host__ __device__ int c_at(long i)
{
	return i / pattern % pattern;
}

static __global__ void fill_kernel(float *b, float *c, long size)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= size)
		return;
	b[i] = b_at(i);
	c[i] = c_at(i);
}

static __global__ void triad_kernel(float *a, const float *b, const float *c, float s, long size)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		a[i] = b[i] + s * c[i];
}

/* Four values a thread, 16 bytes a load. */
static __global__ void triad4_kernel(float *a, const float *b, const float *c, float s, long size)
{
	long i = 4 * ((long)blockIdx.x * blockDim.x + threadIdx.x);

	if (i + 4 <= size) {
		float4 x = *(const float4 *)(b + i), y = *(const float4 *)(c + i);

		*(float4 *)(a + i) = {x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w};
		return;
	}
#pragma unroll 1 /* at most one thread comes here */
	for (; i < size; i++)
		a[i] = b[i] + s * c[i];
}

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

static void run_scalar(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(triad_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.a, p.b, p.c,
										      factor,
										      p.size));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(triad4_kernel<<<blocks((p.size + 3) / 4), block_size, 0, p.stream>>>(
			p.a, p.b, p.c, factor, p.size));
}

static void setup_graph(problem &p)
{
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeThreadLocal));
	run_naive(p, 1);
	CUDA_CHECK(cudaStreamEndCapture(p.stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&p.graph, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(p.graph, p.stream));
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

static void prepare(problem &p, long size, int)
{
	p.size = size;
	p.a = device_array<float>(size);
	p.b = device_array<float>(size);
	p.c = device_array<float>(size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
	CUDA_LAUNCH(fill_kernel<<<blocks(size), block_size>>>(p.b, p.c, size));
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.a, 0xff, p.size * sizeof(*p.a)));
}

/* Whole numbers under 2^12, so host and device agree to the last bit. */
static struct difference check(const problem &p)
{
	return compare_each(p.a, p.size, [](long i) { return b_at(i) + (int)factor * c_at(i); });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.a));
	CUDA_CHECK(cudaFree(p.b));
	CUDA_CHECK(cudaFree(p.c));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "four values a thread, loads of 16 bytes", run_naive},
	{"scalar", "one value a thread", run_scalar},
	{"graph", "naive as a graph, one launch an iteration", run_graph, setup_graph,
	 teardown_graph},
};

static const struct workload<problem> memory_bound = {
	.name = "memory_bound", .size = 1 << 26, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(memory_bound)
