/* graph_nodes: a chain of empty kernel nodes as one graph, launched over and over.
 * graph_nodes [--nodes N] [--launches N | --total-nodes N]
 * --total-nodes 30000000 goes past the 25 million records at which CUPTI has lost its way. */
#include "trial.cuh"

static cudaGraphExec_t make_chain(cudaStream_t stream, long nodes)
{
	cudaGraph_t graph;
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (long i = 0; i < nodes; i++)
		CUDA_LAUNCH(empty_kernel<<<1, 1, 0, stream>>>());
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(instance, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	return instance;
}

int main(int argc, char **argv)
{
	long nodes = 20, launches = 10000, total_nodes = 0, start_ns, total_ns;
	cudaStream_t stream;
	cudaGraphExec_t graph;

	trial_parse(argc, argv,
		    {{"nodes", &nodes}, {"launches", &launches}, {"total-nodes", &total_nodes}});
	if (nodes < 1) {
		fprintf(stderr, "graph_nodes: --nodes must be at least 1\n");
		return 2;
	}
	if (total_nodes)
		launches = (total_nodes + nodes - 1) / nodes;
	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	graph = make_chain(stream, nodes);
	start_ns = now_ns();
	for (long i = 0; i < launches; i++)
		CUDA_CHECK(cudaGraphLaunch(graph, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	total_ns = now_ns() - start_ns;
	printf("kernels %ld\nlaunches %ld\ntotal_ns %ld\nns_per_node %.1f\n", launches * nodes,
	       launches, total_ns, (double)total_ns / (launches * nodes));
	return 0;
}
