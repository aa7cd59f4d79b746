/* arguments: kernels with known addresses among their parameters, in every way that kernels are launched.
 * arguments [--launches N a thread] [--threads N]
 * Prints for each kernel that runs, in their order, what --args has to tell of it: parameter+offset=address, ? where it
 * cannot be known.  Then it times N launches, of two sets of addresses in turn. */
#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

#include "trial.cuh"

struct pair {
	int count, unused; /* together no address: they are below 4 GB */
	const float *in;
	float *out;
};

static __global__ void plain(float *out, int count, const float *in)
{
	if (count > 0)
		*out = *in + 1;
}

static __global__ void in_struct(pair both)
{
	if (both.count > 0)
		*both.out = *both.in + 1;
}

template <typename T> static __global__ void typed(T *out, const T *in)
{
	*out = *in + 1;
}

extern "C" __global__ void untyped(float *out)
{
	*out += 1;
}

static __global__ void no_parameters()
{
}

/* Given a number between 4 GB and 2^49 where no memory is. */
static __global__ void numbered(unsigned long long number, unsigned long long *out)
{
	*out = number;
}

static std::string word(int parameter, size_t offset, const void *address)
{
	char text[64];

	snprintf(text, sizeof(text), " %d+%zu=%llx", parameter, offset,
		 (unsigned long long)(size_t)address);
	return text;
}

static void expect(const char *kernel, const std::string &words)
{
	printf("ran %s%s\n", kernel, words.empty() ? " -" : words.c_str());
}

static void expect_plain(const float *out, const float *in)
{
	expect("plain", word(0, 0, out) + word(2, 0, in));
}

static void launch_usual(cudaStream_t stream, float *a, float *b)
{
	pair both = {7, 0, a, b};
	const size_t number = 0x100000001;

	CUDA_LAUNCH(plain<<<1, 1, 0, stream>>>(a, 1, b));
	expect_plain(a, b);
	CUDA_LAUNCH(plain<<<1, 1, 0, stream>>>(a + 16, 1, b));
	expect_plain(a + 16, b);
	CUDA_LAUNCH(in_struct<<<1, 1, 0, stream>>>(both));
	expect("in_struct", word(0, offsetof(pair, in), a) + word(0, offsetof(pair, out), b));
	CUDA_LAUNCH(typed<<<1, 1, 0, stream>>>(a, (const float *)b));
	expect("typed", word(0, 0, a) + word(1, 0, b));
	CUDA_LAUNCH(untyped<<<1, 1, 0, stream>>>(b));
	expect("untyped", word(0, 0, b));
	CUDA_LAUNCH(no_parameters<<<1, 1, 0, stream>>>());
	expect("no_parameters", "");
	CUDA_LAUNCH(numbered<<<1, 1, 0, stream>>>(number, (unsigned long long *)b));
	expect("numbered", word(0, 0, (const void *)number) + word(1, 0, b));
}

/* Memory that is not the device's alone. */
static void launch_on_other_memory(cudaStream_t stream, float *a)
{
	float *managed, *pinned;

	CUDA_CHECK(cudaMallocManaged(&managed, 4096));
	CUDA_CHECK(cudaHostAlloc(&pinned, 4096, cudaHostAllocDefault));
	CUDA_LAUNCH(plain<<<1, 1, 0, stream>>>(managed, 1, a));
	expect_plain(managed, a);
	CUDA_LAUNCH(plain<<<1, 1, 0, stream>>>(pinned, 1, a));
	expect_plain(pinned, a);
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaFree(managed));
	CUDA_CHECK(cudaFreeHost(pinned));
}

static void launch_by_other_calls(cudaStream_t stream, float *a, const float *b)
{
	int count = 1;
	void *arguments[] = {&a, &count, &b};
	cudaLaunchConfig_t config = {};

	CUDA_CHECK(cudaLaunchCooperativeKernel((const void *)plain, dim3(1), dim3(1), arguments, 0,
					       stream));
	expect_plain(a, b);
	config.gridDim = config.blockDim = dim3(1);
	config.stream = stream;
	CUDA_CHECK(cudaLaunchKernelEx(&config, plain, a, 1, b));
	expect_plain(a, b);
}

/* As a program of the driver's API may: all parameters in one buffer. */
static void launch_packed(cudaStream_t stream, float *a, float *b)
{
	struct {
		float *out;
		int count;
		const float *in;
	} packed = {a, 1, b};
	size_t bytes = sizeof(packed);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};
	decltype(&cuLaunchKernel) launch;
	cudaDriverEntryPointQueryResult found;
	cudaFunction_t function;

	CUDA_CHECK(cudaGetFuncBySymbol(&function, (const void *)plain));
	CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", (void **)&launch, 12000,
						    cudaEnableDefault, &found));
	if (launch((CUfunction)function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra) !=
	    CUDA_SUCCESS) {
		fprintf(stderr, "arguments: cuLaunchKernel failed\n");
		exit(1);
	}
	expect_plain(a, b);
}

static cudaKernelNodeParams node_parameters(void **arguments)
{
	cudaKernelNodeParams kernel = {};

	kernel.func = (void *)plain;
	kernel.gridDim = kernel.blockDim = dim3(1);
	kernel.kernelParams = arguments;
	return kernel;
}

/* Three nodes in a row: captured, added, and added another way; launched twice. */
static void launch_graph(cudaStream_t stream, float *a, float *b)
{
	int count = 1;
	void *forth[] = {&a, &count, &b}, *back[] = {&b, &count, &a};
	cudaGraphNodeParams any = {cudaGraphNodeTypeKernel};
	cudaKernelNodeParams kernel = node_parameters(back);
	cudaGraphNode_t captured, added, last;
	cudaGraphExec_t instance;
	cudaGraph_t graph;
	size_t nodes = 1;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CUDA_LAUNCH(plain<<<1, 1, 0, stream>>>(a, 1, b));
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphGetNodes(graph, &captured, &nodes));
	CUDA_CHECK(cudaGraphAddKernelNode(&added, graph, &captured, 1, &kernel));
	any.kernel.func = (void *)plain;
	any.kernel.gridDim = any.kernel.blockDim = dim3(1);
	any.kernel.kernelParams = forth;
#if CUDART_VERSION >= 13000
	CUDA_CHECK(cudaGraphAddNode(&last, graph, &added, nullptr, 1, &any));
#else
	CUDA_CHECK(cudaGraphAddNode(&last, graph, &added, 1, &any));
#endif
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
	for (int i = 0; i < 2; i++) {
		CUDA_CHECK(cudaGraphLaunch(instance, stream));
		expect_plain(a, b);
		expect_plain(b, a);
		expect_plain(a, b);
	}
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static void launch_changed_graph(cudaStream_t stream, float *a, float *b)
{
	int count = 1;
	void *forth[] = {&a, &count, &b}, *back[] = {&b, &count, &a};
	cudaKernelNodeParams kernel = node_parameters(forth), changed = node_parameters(back);
	cudaGraphExec_t instance;
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
	CUDA_CHECK(cudaGraphExecKernelNodeSetParams(instance, node, &changed));
	CUDA_CHECK(cudaGraphLaunch(instance, stream));
	expect("plain", " ?");
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static void launch_all(long launches, float *a, float *b)
{
	cudaStream_t stream;

	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (long i = 0; i < launches; i++)
		plain<<<1, 1, 0, stream>>>(i % 2 ? a : b, 0, i % 2 ? b : a);
	CUDA_CHECK(cudaGetLastError());
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaStreamDestroy(stream));
}

static void time_launches(long launches, long threads, float *a, float *b)
{
	std::vector<std::thread> workers;
	long start_ns = now_ns();

	for (long i = 0; i < threads; i++)
		workers.emplace_back(launch_all, launches, a, b);
	for (std::thread &worker : workers)
		worker.join();
	if (launches)
		printf("ns_per_launch %.1f\n",
		       (double)(now_ns() - start_ns) / (double)(launches * threads));
}

int main(int argc, char **argv)
{
	long launches = 0, threads = 1;
	cudaStream_t stream;
	float *a, *b;

	trial_parse(argc, argv, {{"launches", &launches}, {"threads", &threads}});
	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaMalloc(&a, 1 << 20));
	CUDA_CHECK(cudaMalloc(&b, 2 << 20));
	CUDA_CHECK(cudaMemset(a, 0, 1 << 20));
	CUDA_CHECK(cudaMemset(b, 0, 2 << 20));
	launch_usual(stream, a, b);
	launch_on_other_memory(stream, a);
	launch_by_other_calls(stream, a, b);
	launch_packed(stream, a, b);
	launch_graph(stream, a, b);
	launch_changed_graph(stream, a, b);
	CUDA_CHECK(cudaStreamSynchronize(stream));
	time_launches(launches, threads, a, b);
	return 0;
}
