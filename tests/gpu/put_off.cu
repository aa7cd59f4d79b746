/* put_off: what launching the same sequence of kernels again and again takes on the thread that launches, launch by launch
 * and as a graph of the program's own.
 * put_off [--kernels N a sequence] [--sequences N] [--change 1: another parameter each time]
 * Prints medians over the sequences: of one launch, of what gives a whole sequence to the GPU without waiting for it, and of
 * cudaGraphLaunch of the same kernels.  Under librooflinetry.so a launch is put off, and the event behind the sequence is what
 * gives it to the GPU. */
#include <algorithm>

#include "trial.cuh"

static __global__ void store_kernel(long *place, long value)
{
	*place = value;
}

static double median(std::vector<double> &values)
{
	std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
	return values[values.size() / 2];
}

static long steady_ns()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
		       std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

int main(int argc, char **argv)
{
	long kernels = 20, sequences = 3000, change = 0, *place;
	std::vector<double> launch_us, sequence_us, graph_us;
	cudaGraphExec_t graph_exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaEvent_t end;

	trial_parse(argc, argv,
		    {{"kernels", &kernels}, {"sequences", &sequences}, {"change", &change}});
	if (!kernels || !sequences)
		return 2;
	CUDA_CHECK(cudaMalloc(&place, sizeof(*place)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreate(&end)); /* with times: never put off */
	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (long i = 0; i < kernels; i++)
		CUDA_LAUNCH(store_kernel<<<1, 1, 0, stream>>>(place, i));
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&graph_exec, graph, 0));
	for (long s = 0; s < sequences; s++) {
		long begin_ns = steady_ns(), launched_ns, given_ns;

		for (long i = 0; i < kernels; i++)
			CUDA_LAUNCH(store_kernel<<<1, 1, 0, stream>>>(place, change ? s + i : i));
		launched_ns = steady_ns();
		CUDA_CHECK(cudaEventRecord(end, stream));
		given_ns = steady_ns();
		CUDA_CHECK(cudaStreamSynchronize(stream));
		launch_us.push_back((launched_ns - begin_ns) / 1e3 / kernels);
		sequence_us.push_back((given_ns - begin_ns) / 1e3);
	}
	for (long s = 0; s < sequences; s++) {
		long begin_ns = steady_ns();

		CUDA_CHECK(cudaGraphLaunch(graph_exec, stream));
		CUDA_CHECK(cudaEventRecord(end, stream));
		graph_us.push_back((steady_ns() - begin_ns) / 1e3);
		CUDA_CHECK(cudaStreamSynchronize(stream));
	}
	printf("launch_us %.3f\nsequence_us %.2f\ngraph_us %.2f\n", median(launch_us),
	       median(sequence_us), median(graph_us));
	return 0;
}
