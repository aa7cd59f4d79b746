/* attributes: launches with every attribute that a recording tells, so many of each.
 * attributes [--launches N of each] [--calls N timed]
 * Two streams have the lowest and the highest priority.  Each kernel's name says how it was launched. */
#include "trial.cuh"

static __global__ void plain_kernel()
{
}
static __global__ void extended_kernel()
{
}
static __global__ void dependent_kernel()
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
}
static __global__ void event_kernel()
{
}
static __global__ void priority_kernel()
{
}
static __global__ void cooperative_kernel()
{
}
static __global__ void cooperative_call_kernel()
{
}
static __global__ void cluster_kernel()
{
}
static __global__ void captured_kernel()
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
}
/* An array whose places are known at run time only, on both sides: local memory. */
static __global__ void local_kernel(int *out, int step)
{
	int values[64];

	for (int i = 0; i < 64; i++)
		values[(i * step) & 63] = out[0] + i;
	out[0] = values[(step + 5) & 63] + values[(step * 3) & 63];
}

static void launch(void (*kernel)(), cudaStream_t stream, const cudaLaunchAttribute *attribute)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute copy;

	config.gridDim = dim3(2);
	config.blockDim = dim3(32);
	config.stream = stream;
	if (attribute) {
		copy = *attribute;
		config.attrs = &copy;
		config.numAttrs = 1;
	}
	CUDA_CHECK(cudaLaunchKernelEx(&config, kernel));
}

static void launch_many(long count, void (*kernel)(), cudaStream_t stream,
			const cudaLaunchAttribute *attribute)
{
	for (long i = 0; i < count; i++)
		launch(kernel, stream, attribute);
	CUDA_CHECK(cudaStreamSynchronize(stream));
}

static cudaLaunchAttribute attribute_of(cudaLaunchAttributeID id)
{
	cudaLaunchAttribute attribute = {};

	attribute.id = id;
	return attribute;
}

static cudaLaunchAttribute dependent()
{
	cudaLaunchAttribute attribute =
		attribute_of(cudaLaunchAttributeProgrammaticStreamSerialization);

	attribute.val.programmaticStreamSerializationAllowed = 1;
	return attribute;
}

static void launch_each(long launches, cudaStream_t low, cudaStream_t high, int highest)
{
	cudaLaunchAttribute depends = dependent();
	cudaLaunchAttribute event = attribute_of(cudaLaunchAttributeProgrammaticEvent);
	cudaLaunchAttribute priority = attribute_of(cudaLaunchAttributePriority);
	cudaLaunchAttribute cooperative = attribute_of(cudaLaunchAttributeCooperative);
	cudaLaunchAttribute cluster = attribute_of(cudaLaunchAttributeClusterDimension);
	void (*by_call)() = cooperative_call_kernel;

	CUDA_CHECK(cudaEventCreateWithFlags(&event.val.programmaticEvent.event,
					    cudaEventDisableTiming));
	priority.val.priority = highest;
	cooperative.val.cooperative = 1;
	cluster.val.clusterDim.x = 2;
	cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(plain_kernel<<<2, 32, 0, high>>>());
	launch_many(launches, extended_kernel, low, nullptr);
	launch_many(launches, dependent_kernel, low, &depends);
	launch_many(launches, event_kernel, low, &event);
	launch_many(launches, priority_kernel, low, &priority);
	launch_many(launches, cooperative_kernel, low, &cooperative);
	launch_many(launches, cluster_kernel, low, &cluster);
	for (long i = 0; i < launches; i++)
		CUDA_CHECK(cudaLaunchCooperativeKernel((const void *)by_call, dim3(2), dim3(32),
						       nullptr, 0, low));
	CUDA_CHECK(cudaStreamSynchronize(low));
	CUDA_CHECK(cudaEventDestroy(event.val.programmaticEvent.event));
}

static void launch_captured(long launches, cudaStream_t stream)
{
	cudaLaunchAttribute depends = dependent();
	cudaGraph_t graph;
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (long i = 0; i < launches; i++)
		launch(captured_kernel, stream, &depends);
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
	CUDA_CHECK(cudaGraphLaunch(instance, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static void launch_local(cudaStream_t stream)
{
	int *out;

	CUDA_CHECK(cudaMalloc(&out, sizeof(*out)));
	CUDA_LAUNCH(local_kernel<<<1, 1, 0, stream>>>(out, 5));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaFree(out));
}

/* In bursts that the stream's queue has room for, so that no launch waits for the GPU. */
static double call_ns(long calls, void (*kernel)(), cudaStream_t stream,
		      const cudaLaunchAttribute *attribute, bool is_plain)
{
	const long burst = 500;
	long total_ns = 0;

	for (long done = 0; done < calls; done += burst) {
		long start_ns = now_ns();

		for (long i = 0; i < burst; i++) {
			if (is_plain)
				plain_kernel<<<2, 32, 0, stream>>>();
			else
				launch(kernel, stream, attribute);
		}
		total_ns += now_ns() - start_ns;
		CUDA_CHECK(cudaStreamSynchronize(stream));
	}
	return calls ? (double)total_ns / calls : 0;
}

static void time_calls(long calls, cudaStream_t stream)
{
	cudaLaunchAttribute depends = dependent();

	printf("plain_ns %.0f\n", call_ns(calls, nullptr, stream, nullptr, true));
	printf("extended_ns %.0f\n", call_ns(calls, extended_kernel, stream, nullptr, false));
	printf("dependent_ns %.0f\n", call_ns(calls, dependent_kernel, stream, &depends, false));
}

int main(int argc, char **argv)
{
	long launches = 10, calls = 0;
	cudaStream_t low, high;
	int lowest, highest;

	trial_parse(argc, argv, {{"launches", &launches}, {"calls", &calls}});
	CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
	CUDA_CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, lowest));
	CUDA_CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, highest));
	launch_each(launches, low, high, highest);
	launch_captured(launches, low);
	launch_local(low);
	time_calls(calls, low);
	CUDA_CHECK(cudaStreamDestroy(low));
	CUDA_CHECK(cudaStreamDestroy(high));
	printf("lowest %d\nhighest %d\n", lowest, highest);
	return 0;
}
