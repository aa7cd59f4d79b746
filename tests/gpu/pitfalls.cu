/* pitfalls: one mistake over and over, for the advice to name.
 * pitfalls NAME [--iterations N]
 * Each kernel's work is right; what is wrong is how the host goes about it, or what the compiler made
 * of the kernel. */
#include <cstdint>
#include <cstring>
#include <string>

#include "trial.cuh"

static const int vector_size = 1 << 18;

struct world {
	cudaStream_t stream;
	uint32_t *vector, *pinned;
	long iterations;
};

static __global__ void step_kernel(uint32_t *vector)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < 64; k++)
		vector[i] = vector[i] * 747796405u + 1;
}

static void step(const struct world &w)
{
	CUDA_LAUNCH(step_kernel<<<vector_size / 256, 256, 0, w.stream>>>(w.vector));
}

/* ---- graphs ---- */

static void begin(const struct world &w)
{
	CUDA_CHECK(cudaStreamBeginCapture(w.stream, cudaStreamCaptureModeThreadLocal));
}

static cudaGraph_t capture(const struct world &w, int kernels)
{
	cudaGraph_t graph;

	begin(w);
	for (int i = 0; i < kernels; i++)
		step(w);
	CUDA_CHECK(cudaStreamEndCapture(w.stream, &graph));
	return graph;
}

/* Every second graph has a kernel more; nobody looks whether the update was refused. */
static void refused_update(const struct world &w)
{
	cudaGraph_t graph = capture(w, 1);
	cudaGraphExec_t exec;

	CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (long i = 0; i < w.iterations; i++) {
		cudaGraphExecUpdateResultInfo info;

		CUDA_CHECK(cudaGraphDestroy(graph));
		graph = capture(w, 1 + i % 2);
		CUDA_TRY(cudaGraphExecUpdate(exec, graph, &info));
		CUDA_CHECK(cudaGraphLaunch(exec, w.stream));
	}
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphExecDestroy(exec));
}

/* Each executable graph is forgotten when the next one is made. */
static void leaked_graphs(const struct world &w)
{
	for (long i = 0; i < w.iterations; i++) {
		cudaGraph_t graph = capture(w, 2);
		cudaGraphExec_t exec;

		CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
		CUDA_CHECK(cudaGraphDestroy(graph));
		for (int k = 0; k < 5; k++)
			CUDA_CHECK(cudaGraphLaunch(exec, w.stream));
		CUDA_CHECK(cudaStreamSynchronize(w.stream));
	}
}

/* What was captured since begin, for the device to launch. */
static cudaGraphExec_t finish_for_device(const struct world &w)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CUDA_CHECK(cudaStreamEndCapture(w.stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(exec, w.stream));
	return exec;
}

/* Nobody looks whether a launch was refused. */
static __global__ void launch_all_kernel(const cudaGraphExec_t *graphs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cudaGraphLaunch(graphs[i], cudaStreamGraphFireAndForget);
}

/* One launch of a graph launches more others by fire and forget than the 120 that it may. */
static void pending_launches(const struct world &w)
{
	unsigned long long *counter = (unsigned long long *)w.vector, counted;
	std::vector<cudaGraphExec_t> parts;
	cudaGraphExec_t *on_device, launcher;

	for (long i = 0; i < w.iterations; i++) {
		begin(w);
		CUDA_LAUNCH(count_kernel<<<1, 1, 0, w.stream>>>(counter));
		parts.push_back(finish_for_device(w));
	}
	CUDA_CHECK(cudaMalloc(&on_device, parts.size() * sizeof(parts[0])));
	CUDA_CHECK(cudaMemcpy(on_device, parts.data(), parts.size() * sizeof(parts[0]),
			      cudaMemcpyHostToDevice));
	begin(w);
	CUDA_LAUNCH(launch_all_kernel<<<1, 1, 0, w.stream>>>(on_device, parts.size()));
	launcher = finish_for_device(w);
	CUDA_CHECK(cudaMemset(counter, 0, sizeof(*counter)));
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaGraphLaunch(launcher, w.stream));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
	CUDA_CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	printf("launched %llu\n", counted);
	for (cudaGraphExec_t part : parts)
		CUDA_CHECK(cudaGraphExecDestroy(part));
	CUDA_CHECK(cudaGraphExecDestroy(launcher));
	CUDA_CHECK(cudaFree(on_device));
}

/* ---- copies and code ---- */

/* The host waits for a copy of 16 KiB of pinned memory before it launches the next kernel. */
static void blocking_copy(const struct world &w)
{
	for (long i = 0; i < w.iterations; i++) {
		CUDA_LAUNCH(step_kernel<<<vector_size / 256, 256>>>(w.vector));
		CUDA_CHECK(cudaMemcpy(w.vector, w.pinned, 16 << 10, cudaMemcpyHostToDevice));
	}
	CUDA_CHECK(cudaDeviceSynchronize());
}

/* A kernel that has never been compiled before: its number is another each time. */
static std::string assembly(long number)
{
	std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n"
			   ".visible .entry late(.param .u64 to) {\n"
			   ".reg .u32 %r<1>;\n.reg .u64 %d<1>;\nmov.u32 %r0, " +
			   std::to_string(number) + ";\n";

	for (int i = 0; i < 500; i++)
		text += "mad.lo.u32 %r0, %r0, %r0, " + std::to_string(i) + ";\n";
	return text + "ld.param.u64 %d0, [to];\nst.global.u32 [%d0], %r0;\nret;\n}\n";
}

/* Every twentieth step loads code of its own, from the middle of the run on. */
static void late_module_load(const struct world &w)
{
	long first = now_ns() % 1000000000;
	void *arguments[] = {(void *)&w.vector};

	for (long i = 0; i < w.iterations; i++) {
		step(w);
		if (i >= w.iterations / 2 && i % 20 == 0) {
			std::string text = assembly(first + i);
			cudaLibrary_t library;
			cudaKernel_t kernel;

			CUDA_CHECK(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0,
						       nullptr, nullptr, 0));
			CUDA_CHECK(cudaLibraryGetKernel(&kernel, library, "late"));
			CUDA_CHECK(cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0,
						    w.stream));
			CUDA_CHECK(cudaStreamSynchronize(w.stream));
			CUDA_CHECK(cudaLibraryUnload(library));
		}
	}
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
}

/* Code that runs once and is thrown away, as a program does that compiles for each shape. */
static void run_once(const struct world &w, const std::string &text)
{
	void *arguments[] = {(void *)&w.vector};
	cudaLibrary_t library;
	cudaKernel_t kernel;

	CUDA_CHECK(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr,
				       nullptr, 0));
	CUDA_CHECK(cudaLibraryGetKernel(&kernel, library, "late"));
	CUDA_CHECK(cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0, w.stream));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
	CUDA_CHECK(cudaLibraryUnload(library));
}

/* Every fifth step compiles the same two kernels again, from the start on. */
static void repeated_module_load(const struct world &w)
{
	long first = now_ns() % 1000000000;

	for (long i = 0; i < w.iterations; i++) {
		step(w);
		if (i % 5 == 0)
			run_once(w, assembly(first + i / 5 % 2));
	}
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
}

/* ---- the host in between ---- */

static void take(void *sum)
{
	*(volatile uint32_t *)sum += 1;
}

/* A step, its first value to the host, and a function there that looks at it. */
static cudaGraphExec_t step_graph(const struct world &w, bool has_function)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	begin(w);
	step(w);
	CUDA_CHECK(cudaMemcpyAsync(w.pinned, w.vector, sizeof(*w.pinned), cudaMemcpyDeviceToHost,
				   w.stream));
	if (has_function)
		CUDA_CHECK(cudaLaunchHostFunc(w.stream, take, w.pinned + 1));
	CUDA_CHECK(cudaStreamEndCapture(w.stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return exec;
}

static void host_node(const struct world &w)
{
	cudaGraphExec_t exec = step_graph(w, true);

	for (long i = 0; i < w.iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(exec, w.stream));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
	CUDA_CHECK(cudaGraphExecDestroy(exec));
}

/* The same by the host itself, after a wait. */
static void no_host_node(const struct world &w)
{
	cudaGraphExec_t exec = step_graph(w, false);

	for (long i = 0; i < w.iterations; i++) {
		CUDA_CHECK(cudaGraphLaunch(exec, w.stream));
		CUDA_CHECK(cudaStreamSynchronize(w.stream));
		take(w.pinned + 1);
	}
	CUDA_CHECK(cudaGraphExecDestroy(exec));
}

/* ---- two GPUs ---- */

/* Memory of the second GPU and a stream there; ends with 3 where there is none. */
static uint32_t *second_vector(cudaStream_t *stream)
{
	uint32_t *vector;
	int count = 0;

	CUDA_CHECK(cudaGetDeviceCount(&count));
	if (count < 2) {
		fprintf(stderr, "pitfalls: this one needs two GPUs\n");
		exit(3);
	}
	CUDA_CHECK(cudaSetDevice(1));
	CUDA_CHECK(cudaMalloc(&vector, vector_size * sizeof(*vector)));
	CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
	return vector;
}

/* A step on one GPU, its values through the host, and a step on the other. */
static void staged_peer_copy(const struct world &w)
{
	struct world second = w;

	second.vector = second_vector(&second.stream);
	for (long i = 0; i < w.iterations; i++) {
		CUDA_CHECK(cudaSetDevice(0));
		step(w);
		CUDA_CHECK(cudaMemcpyAsync(w.pinned, w.vector, vector_size * sizeof(*w.vector),
					   cudaMemcpyDeviceToHost, w.stream));
		CUDA_CHECK(cudaStreamSynchronize(w.stream));
		CUDA_CHECK(cudaSetDevice(1));
		CUDA_CHECK(cudaMemcpyAsync(second.vector, w.pinned, vector_size * sizeof(*w.vector),
					   cudaMemcpyHostToDevice, second.stream));
		step(second);
		CUDA_CHECK(cudaStreamSynchronize(second.stream));
	}
}

static void no_staged_peer_copy(const struct world &w)
{
	struct world second = w;
	cudaEvent_t copied;

	second.vector = second_vector(&second.stream);
	CUDA_CHECK(cudaSetDevice(0));
	cudaDeviceEnablePeerAccess(1, 0); /* else the driver stages it */
	CUDA_CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
	for (long i = 0; i < w.iterations; i++) {
		CUDA_CHECK(cudaSetDevice(0));
		step(w);
		CUDA_CHECK(cudaMemcpyPeerAsync(second.vector, 1, w.vector, 0,
					       vector_size * sizeof(*w.vector), w.stream));
		CUDA_CHECK(cudaEventRecord(copied, w.stream));
		CUDA_CHECK(cudaSetDevice(1));
		CUDA_CHECK(cudaStreamWaitEvent(second.stream, copied, 0));
		step(second);
		CUDA_CHECK(cudaStreamSynchronize(second.stream));
	}
}

/* ---- kernels ---- */

/* 96 values of a thread are alive at once, and 64 registers are all that 1024 threads leave it. */
static __global__ void __launch_bounds__(1024) spilling_kernel(uint32_t *vector, int rounds)
{
	uint32_t *mine = vector + threadIdx.x, value[96];

	for (int k = 0; k < 96; k++)
		value[k] = mine[1024 * k];
	for (int round = 0; round < rounds; round++)
#pragma unroll
		for (int k = 0; k < 96; k++)
			value[k] = value[k] * 747796405u + value[(k + 48) % 96];
	for (int k = 0; k < 96; k++)
		mine[1024 * k] = value[k];
}

static void register_spills(const struct world &w)
{
	for (long i = 0; i < w.iterations; i++)
		CUDA_LAUNCH(spilling_kernel<<<1, 1024, 0, w.stream>>>(w.vector, 100));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
}

/* With row words in a row a warp reads a column: of 32 from one bank, of 33 from all. */
template <int row> static __global__ void column_kernel(uint32_t *vector, int rounds)
{
	__shared__ volatile uint32_t tile[32 * row];
	uint32_t sum = 0;

	for (int i = threadIdx.x; i < 32 * row; i += blockDim.x)
		tile[i] = vector[i % vector_size];
	__syncthreads();
	for (int round = 0; round < rounds; round++)
		sum += tile[threadIdx.x % 32 * row + (threadIdx.x / 32 + round) % 32];
	vector[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int row> static void columns(const struct world &w)
{
	for (long i = 0; i < w.iterations; i++)
		CUDA_LAUNCH(column_kernel<row>
			    <<<vector_size / 256, 256, 0, w.stream>>>(w.vector, 20000));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
}

/* Each address follows from what was read before, so a warp has one load under way. */
static __global__ void chain_kernel(const uint32_t *vector, uint32_t *out)
{
	extern __shared__ uint32_t reserved[]; /* only keeps other blocks off the SM */
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, at = i;

	for (int k = 0; k < 2000; k++)
		at = (vector[at] + at * 747796405u) % vector_size;
	out[i % vector_size] = at;
}

/* Blocks of two warps, as many as SMs could hold without shared_bytes of each. */
static void chains(const struct world &w, int shared_bytes)
{
	uint32_t *out;

	CUDA_CHECK(cudaMalloc(&out, vector_size * sizeof(*out)));
	CUDA_CHECK(cudaFuncSetAttribute(chain_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
					shared_bytes));
	for (long i = 0; i < w.iterations; i++)
		CUDA_LAUNCH(chain_kernel<<<132 * 32, 64, shared_bytes, w.stream>>>(w.vector, out));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
	CUDA_CHECK(cudaFree(out));
}

static void low_occupancy(const struct world &w)
{
	chains(w, 100 << 10);
}

static void no_low_occupancy(const struct world &w)
{
	chains(w, 0);
}

/* The first block has long_rounds, all others rounds. */
static __global__ void rounds_kernel(uint32_t *vector, int rounds, int long_rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, count = blockIdx.x ? rounds : long_rounds;
	uint32_t value = vector[i];

	for (int k = 0; k < count; k++)
		value = value * 747796405u + k;
	vector[i] = value;
}

static void rounds(const struct world &w, int rounds, int long_rounds)
{
	for (long i = 0; i < w.iterations; i++)
		CUDA_LAUNCH(
			rounds_kernel<<<132, 256, 0, w.stream>>>(w.vector, rounds, long_rounds));
	CUDA_CHECK(cudaStreamSynchronize(w.stream));
}

static void long_block(const struct world &w)
{
	rounds(w, 2000, 40000);
}

/* As many rounds in all, in equal blocks. */
static void no_long_block(const struct world &w)
{
	rounds(w, 2000 + 38000 / 132, 2000 + 38000 / 132);
}

static const struct {
	const char *name;
	void (*run)(const struct world &w);
	long iterations;
} pitfalls[] = {
	{"refused_update", refused_update, 100},
	{"leaked_graphs", leaked_graphs, 50},
	{"blocking_copy", blocking_copy, 200},
	{"late_module_load", late_module_load, 200},
	{"register_spills", register_spills, 200},
	{"bank_conflicts", columns<32>, 20},
	{"no_bank_conflicts", columns<33>, 20}, /* padded: nothing to name */
	{"pending_launches", pending_launches, 150},
	{"repeated_module_load", repeated_module_load, 200},
	{"host_node", host_node, 200},
	{"no_host_node", no_host_node, 200},
	{"long_block", long_block, 100},
	{"no_long_block", no_long_block, 100},
	{"low_occupancy", low_occupancy, 20},
	{"no_low_occupancy", no_low_occupancy, 20},
	{"staged_peer_copy", staged_peer_copy, 200},
	{"no_staged_peer_copy", no_staged_peer_copy, 200},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	struct world w = {};

	trial_parse(argc - (argc > 1), argv + (argc > 1), {{"iterations", &w.iterations}});
	for (const auto &pitfall : pitfalls) {
		if (strcmp(pitfall.name, name))
			continue;
		w.iterations = w.iterations ? w.iterations : pitfall.iterations;
		CUDA_CHECK(cudaStreamCreateWithFlags(&w.stream, cudaStreamNonBlocking));
		CUDA_CHECK(cudaMalloc(&w.vector, vector_size * sizeof(*w.vector)));
		CUDA_CHECK(cudaMallocHost(&w.pinned, vector_size * sizeof(*w.pinned)));
		CUDA_CHECK(cudaMemset(w.vector, 1, vector_size * sizeof(*w.vector)));
		pitfall.run(w);
		printf("iterations %ld\n", w.iterations);
		return 0;
	}
	fprintf(stderr, "pitfalls: no pitfall '%s'; there are", name);
	for (const auto &pitfall : pitfalls)
		fprintf(stderr, " %s", pitfall.name);
	fprintf(stderr, "\n");
	return 2;
}
