/* graph_latency: how long a graph takes from the call that launches it to its first kernel and to its end,
 * by its size: launched by the host, and by the device in each of its three ways.
 * graph_latency [--repeats N]
 *
 * Prints a table: shape (a chain of kernels one after another, or branches beside each other), kernels,
 * who launches, and the medians in ns of: the call itself, the call to the start of the first kernel, the
 * call to the end of the last.  The kernels do nothing but take the time.
 *
 * All times are %globaltimer's.  What the host's clock shows is converted by a handshake: a kernel that
 * waits for a value in the host's memory and notes when it came, the least of many differences.  The value
 * takes a while to arrive, so that host latencies are too short by up to a microsecond, never too long. */
#include "trial.cuh"

#include <algorithm>
#include <cstdint>

enum mode { HOST, FIRE_AND_FORGET, TAIL, SIBLING, MODE_COUNT };

static const char *const mode_names[] = {"host", "fire_and_forget", "tail", "sibling"};

struct times {
	unsigned long long call_ns, returned_ns, first_ns, last_ns;
};

static __device__ unsigned long long device_ns()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
}

static __global__ void stamp_kernel(struct times *times)
{
	unsigned long long ns = device_ns();

	atomicMin(&times->first_ns, ns);
	atomicMax(&times->last_ns, ns);
}

static __global__ void launch_kernel(cudaGraphExec_t graph, enum mode mode, struct times *times)
{
	times->call_ns = device_ns();
	if (mode == FIRE_AND_FORGET)
		cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
	else if (mode == TAIL)
		cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
	else
		cudaGraphLaunch(graph, cudaStreamGraphFireAndForgetAsSibling);
	times->returned_ns = device_ns();
}

static __global__ void echo_kernel(volatile unsigned int *flag, unsigned long long *seen_ns)
{
	while (!*flag)
		;
	*seen_ns = device_ns();
}

/* %globaltimer minus now_ns, and what the flag takes to arrive. */
static long long clock_offset_ns()
{
	volatile unsigned int *flag;
	unsigned long long *seen_ns;
	long long least = INT64_MAX;

	CUDA_CHECK(cudaMallocHost((void **)&flag, sizeof(*flag)));
	CUDA_CHECK(cudaMallocHost(&seen_ns, sizeof(*seen_ns)));
	for (int i = 0; i < 200; i++) {
		long sent_ns;

		*flag = 0;
		CUDA_LAUNCH(echo_kernel<<<1, 1>>>(flag, seen_ns));
		for (sent_ns = now_ns() + 50000; now_ns() < sent_ns;)
			;
		sent_ns = now_ns();
		*flag = 1;
		CUDA_CHECK(cudaDeviceSynchronize());
		least = std::min(least, (long long)(*seen_ns - sent_ns));
	}
	CUDA_CHECK(cudaFreeHost((void *)flag));
	CUDA_CHECK(cudaFreeHost(seen_ns));
	return least;
}

/* kernels one after another, or each a branch of its own. */
static cudaGraphExec_t make_body(bool is_chain, int kernels, struct times *times)
{
	cudaGraph_t graph;
	cudaGraphExec_t instance;
	std::vector<cudaGraphNode_t> nodes(kernels);
	void *arguments[] = {&times};
	cudaKernelNodeParams kernel = {};

	kernel.func = (void *)stamp_kernel;
	kernel.gridDim = kernel.blockDim = dim3(1);
	kernel.kernelParams = arguments;
	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < kernels; i++) {
		bool follows = is_chain && i;

		CUDA_CHECK(cudaGraphAddKernelNode(&nodes[i], graph,
						  follows ? &nodes[i - 1] : nullptr, follows,
						  &kernel));
	}
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, cudaGraphInstantiateFlagDeviceLaunch));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return instance;
}

static cudaGraphExec_t make_launcher(cudaGraphExec_t body, enum mode mode, struct times *times,
				     cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	CUDA_LAUNCH(launch_kernel<<<1, 1, 0, stream>>>(body, mode, times));
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, cudaGraphInstantiateFlagDeviceLaunch));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(instance, stream));
	return instance;
}

/* times is in the host's memory that the device writes to; offset_ns as from clock_offset_ns. */
static struct times launch(cudaGraphExec_t graph, bool is_host, struct times *device_times,
			   long long offset_ns, cudaStream_t stream)
{
	struct times times = {0, 0, ~0ULL, 0};
	long call_ns, returned_ns;

	CUDA_CHECK(cudaMemcpy(device_times, &times, sizeof(times), cudaMemcpyHostToDevice));
	call_ns = now_ns();
	CUDA_CHECK(cudaGraphLaunch(graph, stream));
	returned_ns = now_ns();
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaMemcpy(&times, device_times, sizeof(times), cudaMemcpyDeviceToHost));
	if (is_host) {
		times.call_ns = call_ns + offset_ns;
		times.returned_ns = returned_ns + offset_ns;
	}
	return times;
}

static long long median(std::vector<long long> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

static void measure(bool is_chain, int kernels, enum mode mode, long repeats, long long offset_ns,
		    struct times *device_times, cudaStream_t stream)
{
	cudaGraphExec_t body = make_body(is_chain, kernels, device_times), launcher = nullptr;
	std::vector<long long> call, first, last;

	CUDA_CHECK(cudaGraphUpload(body, stream));
	if (mode != HOST)
		launcher = make_launcher(body, mode, device_times, stream);
	for (long repeat = -3; repeat < repeats; repeat++) {
		struct times times = launch(launcher ? launcher : body, mode == HOST, device_times,
					    offset_ns, stream);

		if (repeat < 0)
			continue;
		call.push_back(times.returned_ns - times.call_ns);
		first.push_back(times.first_ns - times.call_ns);
		last.push_back(times.last_ns - times.call_ns);
	}
	printf("%-8s %7d %-16s %8lld %8lld %9lld\n", is_chain ? "chain" : "branches", kernels,
	       mode_names[mode], median(call), median(first), median(last));
	if (launcher)
		CUDA_CHECK(cudaGraphExecDestroy(launcher));
	CUDA_CHECK(cudaGraphExecDestroy(body));
}

int main(int argc, char **argv)
{
	static const int lengths[] = {1, 3, 10, 30, 100, 300, 1000},
			 widths[] = {1, 2, 4, 8, 16, 32, 64};
	long repeats = 50;
	struct times *times;
	cudaStream_t stream;
	long long offset_ns;

	trial_parse(argc, argv, {{"repeats", &repeats}});
	repeats = std::max(repeats, 1L);
	CUDA_CHECK(cudaStreamCreate(&stream));
	CUDA_CHECK(cudaMalloc(&times, sizeof(*times)));
	offset_ns = clock_offset_ns();
	printf("%-8s %7s %-16s %8s %8s %9s\n", "shape", "kernels", "launched_by", "call_ns",
	       "first_ns", "last_ns");
	for (int mode = HOST; mode < MODE_COUNT; mode++) {
		for (int length : lengths)
			measure(true, length, (enum mode)mode, repeats, offset_ns, times, stream);
		for (int width : widths)
			measure(false, width, (enum mode)mode, repeats, offset_ns, times, stream);
	}
	CUDA_CHECK(cudaFree(times));
	CUDA_CHECK(cudaStreamDestroy(stream));
	return 0;
}
