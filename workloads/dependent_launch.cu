/*
 * dependent_launch (D6): layer after layer, and each first loads weights of its own.
 *
 * A layer needs the values of the one before, but its weights are there from the start.  In a
 * stream a kernel begins when the last one has ended, and only then asks the memory for its weights.
 * With programmatic dependent launch it begins while the last one still runs, loads its weights, and
 * waits inside for the values.
 */
#include "graph_capture.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int layer_count = 8; /* even: the result is where the input was */
static const int inputs = 32;	  /* of one value, each with a weight of its own */

struct problem {
	int size;
	uint32_t *values[2]; /* of size; a layer reads one and writes the other */
	uint32_t *weights;   /* [layer_count][inputs][size] */
	std::vector<uint32_t> initial, expected;
	cudaStream_t stream;
	cudaGraphExec_t graph; /* of the variant under way */
};

/* ---- what all variants and the scalar reference share ---- */

static __host__ __device__ size_t weight_index(int layer, int input, int i, int size)
{
	return ((size_t)layer * inputs + input) * size + i;
}

static __host__ __device__ uint32_t weight_at(uint32_t index)
{
	return (index ^ index >> 15) * 747796405u + 1;
}

/* Inputs lie all over the layer before: itself, and from there on in equal steps, round the end. */
static __host__ __device__ int input_index(int input, int i, int size)
{
	int index = i + input * (size / inputs);

	return index < size ? index : index - size;
}

static __host__ __device__ uint32_t activation(uint32_t sum)
{
	return sum ^ sum >> 15;
}

static __global__ void fill_kernel(uint32_t *weights, size_t count)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		weights[i] = weight_at(i);
}

/* ---- the two calls that make a kernel ready for programmatic dependent launch ---- */

/* The next kernel may begin as soon as every block of this one has come here.  That says nothing of
 * what is in memory. */
static __device__ void let_next_kernel_begin()
{
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Until the kernel before has ended and what it wrote can be read. */
static __device__ void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
}

/* Both calls do nothing in a kernel that is launched in the ordinary way, so all variants have this
 * one.  Above the wait it may read only what no kernel of the stream writes, and must not write. */
static __global__ void layer_kernel(const uint32_t *weights, const uint32_t *from, uint32_t *to,
				    int layer, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t weight[inputs], sum = 0;

	let_next_kernel_begin();
	if (i >= size)
		return;
#pragma unroll
	for (int input = 0; input < inputs; input++)
		weight[input] = weights[weight_index(layer, input, i, size)];
	wait_for_previous_kernel();
#pragma unroll
	for (int input = 0; input < inputs; input++)
		sum += weight[input] * from[input_index(input, i, size)];
	to[i] = activation(sum);
}

static unsigned blocks(size_t threads)
{
	return (threads + block_size - 1) / block_size;
}

/* ---- the variants ---- */

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (int layer = 0; layer < layer_count; layer++)
			CUDA_LAUNCH(layer_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(
				p.weights, p.values[layer % 2], p.values[1 - layer % 2], layer,
				p.size));
}

/* The same launches with one attribute more: the kernel sees to the order itself. */
static void run_dependent(problem &p, int iterations)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = blocks(p.size);
	config.blockDim = block_size;
	config.stream = p.stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	for (int i = 0; i < iterations; i++)
		for (int layer = 0; layer < layer_count; layer++)
			CUDA_CHECK(cudaLaunchKernelEx(&config, layer_kernel, p.weights,
						      p.values[layer % 2], p.values[1 - layer % 2],
						      layer, p.size));
}

/* A capture keeps the attribute: as edges that begin at the trigger, not at the end of a kernel. */
template <void (*run)(problem &, int)> static void setup_graph(problem &p)
{
	graph_begin(p.stream);
	run(p, 1);
	p.graph = graph_finish_host(p.stream);
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

static const char *why_not_dependent(problem &)
{
	int device, major;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
	return major >= 9 ? nullptr : "programmatic dependent launch needs compute capability 9.0";
}

/* ---- the problem ---- */

/* Input after input for all values, not the other way round: so a host adds up several at once. */
static std::vector<uint32_t> layer_scalar(const std::vector<uint32_t> &from, int layer)
{
	int size = from.size();
	std::vector<uint32_t> to(size);

	for (int input = 0; input < inputs; input++) {
		uint32_t first_weight = weight_index(layer, input, 0, size);
		int ahead = input_index(input, 0, size);

		for (int i = 0; i < size - ahead; i++)
			to[i] += weight_at(first_weight + i) * from[i + ahead];
		for (int i = size - ahead; i < size; i++)
			to[i] += weight_at(first_weight + i) * from[i + ahead - size];
	}
	for (uint32_t &value : to)
		value = activation(value);
	return to;
}

static std::vector<uint32_t> reference(std::vector<uint32_t> values, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (int layer = 0; layer < layer_count; layer++)
			values = layer_scalar(values, layer);
	return values;
}

static void prepare(problem &p, long size, int iterations)
{
	size_t weight_count = weight_index(layer_count, 0, 0, size);

	p.size = size;
	p.weights = device_array<uint32_t>(weight_count);
	for (uint32_t *&values : p.values)
		values = device_array<uint32_t>(size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
	CUDA_LAUNCH(fill_kernel<<<blocks(weight_count), block_size>>>(p.weights, weight_count));
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = (i + 1) * 2891336453u;
	p.expected = reference(p.initial, iterations);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values[0], p.initial.data(), p.size * sizeof(*p.values[0]),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.values[1], 0, p.size * sizeof(*p.values[1])));
}

static struct difference check(const problem &p)
{
	return compare(p.values[0], p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values[0]));
	CUDA_CHECK(cudaFree(p.values[1]));
	CUDA_CHECK(cudaFree(p.weights));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "a kernel begins when the one before has ended", run_naive},
	{"dependent", "a kernel begins early, loads its weights and waits inside", run_dependent,
	 nullptr, nullptr, why_not_dependent},
	{"graph", "naive as a graph, one launch an iteration", run_graph, setup_graph<run_naive>,
	 teardown_graph},
	{"dependent_graph", "dependent as a graph, one launch an iteration", run_graph,
	 setup_graph<run_dependent>, teardown_graph, why_not_dependent, "graph"},
};

static const struct workload<problem> dependent_launch = {
	.name = "dependent_launch", .size = 1 << 16, .iterations = 10, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(dependent_launch)
