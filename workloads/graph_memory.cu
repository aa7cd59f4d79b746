/*
 * graph_memory (B6): kernels that hand each other temporary arrays, and where those come from.
 *
 * A temporary can be made and freed in every iteration, at once or in the order of the stream.
 * Captured, the latter become nodes of the graph: it owns its memory, at addresses that never
 * change.  Buffers made beforehand are at fixed addresses too, and leave nothing to do at launch.
 */
#include "graph_capture.cuh"
#include "workload.cuh"

static const int block_size = 256;

/* From the first kernel to the second, and from the second to the third. */
struct temporaries {
	uint32_t *first, *second;
};

/* What the kernels note about their iterations, on the device. */
struct notes {
	int iterations;		  /* that are over */
	struct temporaries *seen; /* [iterations], where the kernels found them */
};

struct problem {
	int size, iterations;
	uint32_t *values;
	std::vector<uint32_t> initial, expected;
	struct notes *notes;
	struct temporaries *seen; /* the array in notes */
	cudaStream_t stream;
	cudaGraphExec_t graph;
	struct temporaries temporaries; /* of the graph */
	struct temporaries promised; /* where all of a run should find them; nullptr: nobody says */
};

/* ---- what all variants and the scalar reference share ---- */

static __host__ __device__ uint32_t spread(uint32_t x)
{
	return x * 747796405u + 2891336453u;
}

static __host__ __device__ uint32_t mix(uint32_t x)
{
	return x ^ (x >> 15);
}

static __global__ void spread_kernel(const uint32_t *values, uint32_t *first, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		first[i] = spread(values[i]);
}

static __global__ void mix_kernel(struct temporaries to, int size, struct notes *notes)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		to.second[i] = mix(to.first[i]);
	if (i == 0)
		notes->seen[notes->iterations] = to;
}

static __global__ void add_kernel(uint32_t *values, const uint32_t *second, int size,
				  struct notes *notes)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		values[i] += second[i];
	if (i == 0)
		notes->iterations++;
}

static int blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

static size_t temporary_bytes(const problem &p)
{
	return p.size * sizeof(*p.values);
}

static void launch_spread(problem &p, struct temporaries t)
{
	CUDA_LAUNCH(
		spread_kernel<<<blocks(p), block_size, 0, p.stream>>>(p.values, t.first, p.size));
}

static void launch_mix(problem &p, struct temporaries t)
{
	CUDA_LAUNCH(mix_kernel<<<blocks(p), block_size, 0, p.stream>>>(t, p.size, p.notes));
}

static void launch_add(problem &p, struct temporaries t)
{
	CUDA_LAUNCH(add_kernel<<<blocks(p), block_size, 0, p.stream>>>(p.values, t.second, p.size,
								       p.notes));
}

static void run_graph(problem &p, int iterations)
{
	p.promised = p.temporaries;
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

/* ---- memory in the order of the stream: in a graph, and without one ---- */

/* Each temporary is there from the kernel that writes it to the one that reads it. */
static struct temporaries launch_stream_ordered(problem &p)
{
	struct temporaries t = {};

	CUDA_CHECK(cudaMallocAsync(&t.first, temporary_bytes(p), p.stream));
	launch_spread(p, t);
	CUDA_CHECK(cudaMallocAsync(&t.second, temporary_bytes(p), p.stream));
	launch_mix(p, t);
	CUDA_CHECK(cudaFreeAsync(t.first, p.stream));
	launch_add(p, t);
	CUDA_CHECK(cudaFreeAsync(t.second, p.stream));
	return t;
}

/* While the stream captures, allocations and frees become nodes.  The addresses are known from now
 * on; memory lies behind them when the graph runs. */
static void setup_naive(problem &p)
{
	graph_begin(p.stream);
	p.temporaries = launch_stream_ordered(p);
	p.graph = graph_finish_host(p.stream);
}

/* What the graph has used stays with the device for other graphs, until it is asked back. */
static void teardown_naive(problem &p)
{
	int device;

	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGraphMemTrim(device));
}

static void run_stream_ordered(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		launch_stream_ordered(p);
}

static const char *why_no_pools(problem &)
{
	int device, supported;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
	return supported ? nullptr : "this GPU or its driver has no memory pools";
}

/* ---- memory from before, and memory of the moment ---- */

static struct temporaries allocate(problem &p)
{
	struct temporaries t = {};

	t.first = device_array<uint32_t>(p.size);
	t.second = device_array<uint32_t>(p.size);
	return t;
}

static void launch_kernels(problem &p, struct temporaries t)
{
	launch_spread(p, t);
	launch_mix(p, t);
	launch_add(p, t);
}

static void setup_preallocated(problem &p)
{
	p.temporaries = allocate(p);
	graph_begin(p.stream);
	launch_kernels(p, p.temporaries);
	p.graph = graph_finish_host(p.stream);
}

static void teardown_preallocated(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
	CUDA_CHECK(cudaFree(p.temporaries.first));
	CUDA_CHECK(cudaFree(p.temporaries.second));
}

/* cudaFree takes memory away at once, so the kernels have to be done with it. */
static void run_malloc(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		struct temporaries t = allocate(p);

		launch_kernels(p, t);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		CUDA_CHECK(cudaFree(t.first));
		CUDA_CHECK(cudaFree(t.second));
	}
}

/* ---- the problem ---- */

static std::vector<uint32_t> reference(std::vector<uint32_t> values, int iterations)
{
	for (int iteration = 0; iteration < iterations; iteration++)
		for (uint32_t &value : values)
			value += mix(spread(value));
	return values;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.iterations = iterations;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i * 2654435769u;
	p.expected = reference(p.initial, iterations);
	p.values = device_array<uint32_t>(size);
	p.notes = device_array<struct notes>(1);
	p.seen = device_array<struct temporaries>(iterations);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	struct notes notes = {0, p.seen};

	p.promised = {};
	CUDA_CHECK(cudaMemset(p.seen, 0, p.iterations * sizeof(*p.seen)));
	CUDA_CHECK(cudaMemcpy(p.notes, &notes, sizeof(notes), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.size * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
}

/* Every iteration noted where it found its temporaries, and that is where they should be. */
static void require_addresses(const problem &p)
{
	std::vector<struct temporaries> seen(p.iterations);

	CUDA_CHECK(cudaMemcpy(seen.data(), p.seen, seen.size() * sizeof(seen[0]),
			      cudaMemcpyDeviceToHost));
	for (int i = 0; i < p.iterations; i++) {
		struct temporaries right = p.promised.first ? p.promised : seen[i];

		if (seen[i].first && seen[i].second && seen[i].first == right.first &&
		    seen[i].second == right.second)
			continue;
		fprintf(stderr,
			"graph_memory: iteration %d found its temporaries at %p and %p, not at %p "
			"and %p\n",
			i, (void *)seen[i].first, (void *)seen[i].second, (void *)right.first,
			(void *)right.second);
		exit(1);
	}
}

static struct difference check(const problem &p)
{
	require_addresses(p);
	return compare(p.values, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaFree(p.notes));
	CUDA_CHECK(cudaFree(p.seen));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "a graph with nodes that allocate and free", run_graph, setup_naive,
	 teardown_naive, why_no_pools},
	{"preallocated", "a graph over buffers from before", run_graph, setup_preallocated,
	 teardown_preallocated},
	{"stream_ordered", "no graph, cudaMallocAsync and cudaFreeAsync", run_stream_ordered,
	 nullptr, nullptr, why_no_pools},
	{"malloc", "no graph, cudaMalloc, a wait and cudaFree", run_malloc},
};

static const struct workload<problem> graph_memory = {
	.name = "graph_memory", .size = 1 << 18, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_memory)
