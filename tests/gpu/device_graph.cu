/* device_graph: graphs that the device launches: fire and forget, tail, sibling, and a graph that
 * launches itself again in its own tail.
 * device_graph [--rounds N]
 * Prints how many device launches of each mode a recording with ROOFLINE_GRAPHS=graph must hold. */
#include "trial.cuh"

enum mode { FIRE_AND_FORGET, TAIL, SIBLING, MODE_COUNT };

static __global__ void launch_kernel(cudaGraphExec_t graph, enum mode mode)
{
	if (mode == FIRE_AND_FORGET)
		cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
	else if (mode == TAIL)
		cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
	else
		cudaGraphLaunch(graph, cudaStreamGraphFireAndForgetAsSibling);
}

static __global__ void relaunch_kernel(unsigned long long *counter, unsigned long long rounds)
{
	if (++*counter < rounds)
		cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

/* Instantiates what was captured on stream since cudaStreamBeginCapture. */
static cudaGraphExec_t finish(cudaStream_t stream, unsigned long long flags)
{
	cudaGraph_t graph;
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, flags));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(instance, stream));
	return instance;
}

static void begin(cudaStream_t stream)
{
	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

int main(int argc, char **argv)
{
	long rounds = 20;
	unsigned long long *counter, counted[2] = {};
	cudaStream_t stream;
	cudaGraphExec_t body, launchers[MODE_COUNT], chain;
	bool ok;

	trial_parse(argc, argv, {{"rounds", &rounds}});
	CUDA_CHECK(cudaMalloc(&counter, sizeof(counted)));
	CUDA_CHECK(cudaMemset(counter, 0, sizeof(counted)));
	CUDA_CHECK(cudaStreamCreate(&stream));
	begin(stream);
	CUDA_LAUNCH(count_kernel<<<1, 1, 0, stream>>>(counter));
	body = finish(stream, cudaGraphInstantiateFlagDeviceLaunch);
	for (int mode = 0; mode < MODE_COUNT; mode++) {
		begin(stream);
		CUDA_LAUNCH(launch_kernel<<<1, 1, 0, stream>>>(body, (enum mode)mode));
		launchers[mode] = finish(stream, cudaGraphInstantiateFlagDeviceLaunch);
	}
	begin(stream);
	CUDA_LAUNCH(relaunch_kernel<<<1, 1, 0, stream>>>(counter + 1, rounds));
	chain = finish(stream, cudaGraphInstantiateFlagDeviceLaunch);
	for (long round = 0; round < rounds; round++)
		for (int mode = 0; mode < MODE_COUNT; mode++) {
			CUDA_CHECK(cudaGraphLaunch(launchers[mode], stream));
			CUDA_CHECK(cudaStreamSynchronize(stream));
		}
	if (rounds > 0)
		CUDA_CHECK(cudaGraphLaunch(chain, stream));
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaMemcpy(counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	ok = counted[0] == (unsigned long long)(MODE_COUNT * rounds) &&
	     counted[1] == (unsigned long long)rounds;
	printf("fire_and_forget %ld\ntail %ld\nsibling %ld\nself_tail %ld\n%s\n", rounds, rounds,
	       rounds, rounds > 0 ? rounds - 1 : 0, ok ? "ok" : "counted wrongly");
	return ok ? 0 : 1;
}
