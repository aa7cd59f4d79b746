/* program_calls: events between two streams, allocations, and a graph whose edges are known.
 * program_calls [--rounds N] [--graph-nodes N] [--allocations N]
 * A round launches a kernel in the first stream, records an event there, has the second wait for it, and launches a
 * kernel there.  The graph is a fork of all nodes from the first, which the last joins.  Of each allocation of 1 MiB
 * the last one is not freed. */
#include "trial.cuh"

static double per_call_ns(long calls, long start_ns)
{
	return calls ? (double)(now_ns() - start_ns) / calls : 0;
}

static void run_rounds(long rounds, cudaStream_t first, cudaStream_t second, cudaEvent_t event)
{
	for (long i = 0; i < rounds; i++) {
		CUDA_LAUNCH(empty_kernel<<<1, 1, 0, first>>>());
		CUDA_CHECK(cudaEventRecord(event, first));
		CUDA_CHECK(cudaStreamWaitEvent(second, event, 0));
		CUDA_LAUNCH(empty_kernel<<<1, 1, 0, second>>>());
	}
	CUDA_CHECK(cudaEventSynchronize(event));
	CUDA_CHECK(cudaStreamSynchronize(second));
}

static void time_event_calls(long calls, cudaStream_t first, cudaStream_t second, cudaEvent_t event)
{
	long start_ns = now_ns();

	for (long i = 0; i < calls; i++)
		CUDA_CHECK(cudaEventRecord(event, first));
	printf("record_ns %.0f\n", per_call_ns(calls, start_ns));
	start_ns = now_ns();
	for (long i = 0; i < calls; i++)
		CUDA_CHECK(cudaStreamWaitEvent(second, event, 0));
	printf("wait_ns %.0f\n", per_call_ns(calls, start_ns));
	start_ns = now_ns();
	for (long i = 0; i < calls; i++)
		CUDA_CHECK(cudaStreamSynchronize(first));
	printf("synchronize_ns %.0f\n", per_call_ns(calls, start_ns));
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const std::vector<cudaGraphNode_t> &behind)
{
	cudaKernelNodeParams kernel = {};
	cudaGraphNode_t node;

	kernel.func = (void *)empty_kernel;
	kernel.gridDim = kernel.blockDim = dim3(1);
	CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, behind.data(), behind.size(), &kernel));
	return node;
}

static void run_graph(long nodes, cudaStream_t stream)
{
	std::vector<cudaGraphNode_t> first, middle;
	cudaGraphExec_t instance;
	cudaGraph_t graph;
	long start_ns = now_ns();

	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	first.push_back(add_kernel(graph, {}));
	for (long i = 2; i < nodes; i++)
		middle.push_back(add_kernel(graph, first));
	add_kernel(graph, middle);
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
	printf("graph_ns_per_node %.0f\n", per_call_ns(nodes, start_ns));
	CUDA_CHECK(cudaGraphLaunch(instance, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static void allocate(long allocations, cudaStream_t stream)
{
	long start_ns = now_ns();
	void *memory = nullptr;

	for (long i = 0; i < allocations; i++) {
		CUDA_CHECK(cudaFree(memory));
		CUDA_CHECK(cudaMalloc(&memory, 1 << 20));
	}
	printf("allocation_ns %.0f\n", per_call_ns(allocations, start_ns));
	CUDA_CHECK(cudaMallocAsync(&memory, 1 << 20, stream));
	CUDA_CHECK(cudaFreeAsync(memory, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	long rounds = 10, calls = 20000, nodes = 10, allocations = 10;
	cudaStream_t first, second;
	cudaEvent_t event;

	trial_parse(argc, argv,
		    {{"rounds", &rounds},
		     {"calls", &calls},
		     {"graph-nodes", &nodes},
		     {"allocations", &allocations}});
	CUDA_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CUDA_CHECK(cudaFuncSetAttribute(empty_kernel,
					cudaFuncAttributePreferredSharedMemoryCarveout, 0));
	run_rounds(rounds, first, second, event);
	time_event_calls(calls, first, second, event);
	run_graph(nodes, first);
	allocate(allocations, first);
	CUDA_CHECK(cudaEventDestroy(event));
	CUDA_CHECK(cudaStreamDestroy(first));
	CUDA_CHECK(cudaStreamDestroy(second));
	return 0;
}
