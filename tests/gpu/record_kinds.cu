/* record_kinds: one operation again and again, and what it costs the host.
 * record_kinds [--launches N] [--copies N] [--memsets N] [--nodes N] [--allocations N] [--waits N] [--ranges N]
 *              [--streams N] [--freed N]
 * --nodes: of graphs of 10.  --allocations: pairs of cudaMallocAsync and cudaFreeAsync.  --freed: memory of cudaMalloc
 * that cudaFreeAsync frees, which CUPTI 13.0's records of memory do not survive. */
#include "trial.cuh"

#include <nvtx3/nvToolsExt.h>

#define NODES 10

static cudaStream_t stream;
static void *device_memory, *pinned_memory;
static cudaGraphExec_t graph;

static void make_graph()
{
	cudaGraph_t made;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < NODES; i++)
		CUDA_LAUNCH(empty_kernel<<<1, 1, 0, stream>>>());
	CUDA_CHECK(cudaStreamEndCapture(stream, &made));
	CUDA_CHECK(cudaGraphInstantiate(&graph, made, 0));
}

static void launch()
{
	CUDA_LAUNCH(empty_kernel<<<1, 1, 0, stream>>>());
}

static void copy()
{
	CUDA_CHECK(
		cudaMemcpyAsync(device_memory, pinned_memory, 4, cudaMemcpyHostToDevice, stream));
}

static void set()
{
	CUDA_CHECK(cudaMemsetAsync(device_memory, 0, 4, stream));
}

static void launch_graph()
{
	CUDA_CHECK(cudaGraphLaunch(graph, stream));
}

static void allocate()
{
	void *memory;

	CUDA_CHECK(cudaMallocAsync(&memory, 4096, stream));
	CUDA_CHECK(cudaFreeAsync(memory, stream));
}

static void wait()
{
	CUDA_CHECK(cudaStreamSynchronize(stream));
}

static void mark()
{
	nvtxRangePushA("range");
	nvtxRangePop();
}

static void make_stream()
{
	cudaStream_t made;

	CUDA_CHECK(cudaStreamCreate(&made));
	CUDA_CHECK(cudaStreamDestroy(made));
}

static void free_late()
{
	void *memory;

	CUDA_CHECK(cudaMalloc(&memory, 4096));
	CUDA_CHECK(cudaFreeAsync(memory, stream));
}

/* Waits now and then, so that the GPU's queue does not hold up the host: that would hide what a record costs. */
static void time_calls(const char *metric, long count, long records, void (*call)())
{
	long busy_ns = 0, left = count;

	if (!count)
		return;
	call();
	CUDA_CHECK(cudaDeviceSynchronize());
	while (left > 0) {
		long part = left < 200 ? left : 200, start_ns = now_ns();

		for (long i = 0; i < part; i++)
			call();
		busy_ns += now_ns() - start_ns;
		CUDA_CHECK(cudaDeviceSynchronize());
		left -= part;
	}
	printf("%s %.1f\n", metric, (double)busy_ns / ((double)count * (double)records));
}

int main(int argc, char **argv)
{
	long launches = 0, copies = 0, memsets = 0, nodes = 0, allocations = 0, waits = 0,
	     ranges = 0, streams = 0, freed = 0;

	trial_parse(argc, argv,
		    {{"launches", &launches},
		     {"copies", &copies},
		     {"memsets", &memsets},
		     {"nodes", &nodes},
		     {"allocations", &allocations},
		     {"waits", &waits},
		     {"ranges", &ranges},
		     {"streams", &streams},
		     {"freed", &freed}});
	CUDA_CHECK(cudaStreamCreate(&stream));
	CUDA_CHECK(cudaMalloc(&device_memory, 4096));
	CUDA_CHECK(cudaMallocHost(&pinned_memory, 4096));
	make_graph();
	time_calls("ns_per_launch", launches, 1, launch);
	time_calls("ns_per_copy", copies, 1, copy);
	time_calls("ns_per_memset", memsets, 1, set);
	time_calls("ns_per_node", nodes / NODES, NODES, launch_graph);
	time_calls("ns_per_allocation", allocations, 2, allocate);
	time_calls("ns_per_wait", waits, 1, wait);
	time_calls("ns_per_range", ranges, 1, mark);
	time_calls("ns_per_stream", streams, 1, make_stream);
	time_calls("ns_per_free", freed, 1, free_late);
	return 0;
}
