/*
 * graph_modes (B7): a graph is captured while another thread allocates and copies.
 *
 * A call such as cudaMalloc does its work at once and leaves no trace in a capture, so CUDA refuses
 * it while somebody captures.  The mode of the capture says who is meant: all threads, the one that
 * captures, or nobody.  A refused call also ends the capture, and so does the legacy stream, which
 * waits for every stream that is not told otherwise.  None of that is the end of the program.
 */
#include <thread>

#include "workload.cuh"

static const int block_size = 256;
static const int batch_steps = 20; /* on every batch, all by the graph that was made for it */

struct problem {
	int size, device;
	uint32_t *values;
	uint32_t *scratch;	/* made when a step first needs it */
	uint32_t *batch, *next; /* which the steps take in; which the loader brings */
	int batch_number;
	std::vector<uint32_t> initial, expected;
	std::vector<uint32_t> source; /* batch n is what begins at n */
	cudaStream_t stream, load_stream;
	cudaStream_t blocking;		      /* waits for the legacy stream, and that for it */
	long refused_loads, refused_captures; /* of this run */
	long demanded_loads, demanded_captures;
};

/* ---- what all variants and the scalar reference share ---- */

static __host__ __device__ uint32_t scale(uint32_t x)
{
	return x * 747796405u;
}

static __host__ __device__ uint32_t mix(uint32_t x)
{
	return x ^ (x >> 15);
}

static __global__ void add_kernel(const uint32_t *values, const uint32_t *batch, uint32_t *scratch,
				  int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		scratch[i] = values[i] + batch[i];
}

static __global__ void scale_kernel(uint32_t *scratch, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		scratch[i] = scale(scratch[i]);
}

static __global__ void mix_kernel(const uint32_t *scratch, uint32_t *values, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		values[i] = mix(scratch[i]);
}

static int blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

static size_t batch_bytes(const problem &p)
{
	return p.size * sizeof(*p.values);
}

/* What no capture explains is as fatal as anywhere. */
static void require(cudaError_t step_or_load)
{
	if (step_or_load != cudaSuccess)
		CUDA_CHECK(step_or_load);
}

static bool is_refusal(cudaError_t error)
{
	if (error == cudaErrorStreamCaptureUnsupported ||
	    error == cudaErrorStreamCaptureInvalidated || error == cudaErrorStreamCaptureImplicit)
		return true;
	require(error);
	return false;
}

/* How a variant goes about its captures. */
struct recording {
	cudaStream_t stream;
	cudaStream_t middle_stream; /* of the second kernel; another one when somebody slipped */
	cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
	cudaStreamCaptureMode loader_mode = cudaStreamCaptureModeGlobal; /* of the other thread */
};

/* ---- a step, and the loader beside it ---- */

static cudaError_t make_scratch(problem &p)
{
	return p.scratch ? cudaSuccess : CUDA_TRY(cudaMalloc(&p.scratch, batch_bytes(p)));
}

/* Ends with the first call that CUDA refuses. */
static cudaError_t step(problem &p, const struct recording &how)
{
	cudaError_t error = make_scratch(p);

	if (error != cudaSuccess)
		return error;
	add_kernel<<<blocks(p), block_size, 0, how.stream>>>(p.values, p.batch, p.scratch, p.size);
	error = CUDA_TRY(cudaGetLastError());
	if (error != cudaSuccess)
		return error;
	scale_kernel<<<blocks(p), block_size, 0, how.middle_stream>>>(p.scratch, p.size);
	error = CUDA_TRY(cudaGetLastError());
	if (error != cudaSuccess)
		return error;
	mix_kernel<<<blocks(p), block_size, 0, how.stream>>>(p.scratch, p.values, p.size);
	return CUDA_TRY(cudaGetLastError());
}

/* The next batch, with memory of its own.  Ends with the first call that CUDA refuses. */
static cudaError_t load_next(problem &p, cudaStreamCaptureMode mode)
{
	const uint32_t *source = &p.source[p.batch_number + 1];
	cudaError_t error = CUDA_TRY(cudaSetDevice(p.device));

	if (error == cudaSuccess)
		error = CUDA_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
	if (error == cudaSuccess && !p.next)
		error = CUDA_TRY(cudaMalloc(&p.next, batch_bytes(p)));
	if (error == cudaSuccess)
		error = CUDA_TRY(cudaMemcpyAsync(p.next, source, batch_bytes(p),
						 cudaMemcpyHostToDevice, p.load_stream));
	if (error == cudaSuccess)
		error = CUDA_TRY(cudaStreamSynchronize(p.load_stream));
	return error;
}

/* A thread of its own, which begins and ends here: so it is certain that it meets a capture. */
static cudaError_t load_beside(problem &p, const struct recording &how)
{
	cudaError_t error = cudaSuccess;
	std::thread loader([&] { error = load_next(p, how.loader_mode); });

	loader.join();
	return error;
}

/* ---- the capture ---- */

struct attempt {
	cudaError_t load, step, end; /* end: of the capture */
	cudaGraph_t graph;	     /* nullptr when there is none */
};

/* A capture that went wrong has to be ended like any other: until then its stream is of no use. */
static struct attempt capture(problem &p, const struct recording &how, bool with_loader)
{
	struct attempt attempt = {};

	CUDA_CHECK(cudaStreamBeginCapture(how.stream, how.mode));
	if (with_loader)
		attempt.load = load_beside(p, how);
	attempt.step = step(p, how);
	attempt.end = CUDA_TRY(cudaStreamEndCapture(how.stream, &attempt.graph));
	if (attempt.step != cudaSuccess && attempt.graph) {
		CUDA_CHECK(cudaGraphDestroy(attempt.graph));
		attempt.graph = nullptr;
	}
	return attempt;
}

enum refusal { LOAD_REFUSED, STEP_REFUSED };

/* In one line, and once for all iterations of all runs. */
static void explain(enum refusal refusal, cudaError_t refused, cudaError_t end)
{
	static const char *const words[] = {
		"another thread allocated while a stream captured in global mode: CUDA refused "
		"that and ended the capture, and both are done again; capture in thread-local mode",
		"a kernel was launched into the legacy stream, which waits for the stream that "
		"captured: CUDA ended the capture, and the kernels are launched without a graph; "
		"give every launch its stream",
	};
	static bool is_told[2];

	if (!is_told[refusal])
		fprintf(stderr, "graph_modes: %s (%s, then %s)\n", words[refusal],
			cudaGetErrorName(refused), cudaGetErrorName(end));
	is_told[refusal] = true;
}

/* The step as a graph, nullptr where it cannot be captured, and the next batch in any case. */
static cudaGraph_t record(problem &p, const struct recording &how)
{
	struct attempt attempt = capture(p, how, true);

	if (is_refusal(attempt.load)) {
		explain(LOAD_REFUSED, attempt.load, attempt.end);
		p.refused_loads++;
		require(load_beside(p, how));
		if (!attempt.graph)
			attempt = capture(p, how, false);
	}
	if (is_refusal(attempt.step) || is_refusal(attempt.end)) {
		explain(STEP_REFUSED, attempt.step, attempt.end);
		p.refused_captures++;
	}
	return attempt.graph;
}

/* ---- batch after batch ---- */

static void launch_graph(const struct recording &how, cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < batch_steps; i++)
		CUDA_CHECK(cudaGraphLaunch(exec, how.stream));
	CUDA_CHECK(cudaGraphExecDestroy(exec));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static void launch_steps(problem &p, const struct recording &how)
{
	for (int i = 0; i < batch_steps; i++)
		require(step(p, how));
}

/* cudaFree is not for captures either: the old batch goes when all is done with it. */
static void turn_to_next(problem &p, const struct recording &how)
{
	CUDA_CHECK(cudaStreamSynchronize(how.stream));
	CUDA_CHECK(cudaFree(p.batch));
	p.batch = p.next;
	p.next = nullptr;
	p.batch_number++;
}

static void run_launches(problem &p, int batches, const struct recording &how)
{
	for (int i = 0; i < batches; i++) {
		require(load_beside(p, how));
		launch_steps(p, how);
		turn_to_next(p, how);
	}
}

/* A graph for each batch; without one the rest of the way is made by launches. */
static void run_captures(problem &p, int batches, const struct recording &how)
{
	for (int i = 0; i < batches; i++) {
		cudaGraph_t graph = record(p, how);

		if (graph)
			launch_graph(how, graph);
		else
			launch_steps(p, how);
		turn_to_next(p, how);
		if (!graph)
			return run_launches(p, batches - i - 1, how);
	}
}

/* ---- the variants ---- */

static void run_naive(problem &p, int batches)
{
	run_launches(p, batches, {p.stream, p.stream});
}

/* No thread may allocate: each load is refused once. */
static void run_global(problem &p, int batches)
{
	p.demanded_loads = batches;
	require(make_scratch(p));
	run_captures(p, batches, {p.stream, p.stream, cudaStreamCaptureModeGlobal});
}

/* The loader says that captures of other threads are not its business. */
static void run_guarded(problem &p, int batches)
{
	require(make_scratch(p));
	run_captures(p, batches,
		     {p.stream, p.stream, cudaStreamCaptureModeGlobal,
		      cudaStreamCaptureModeThreadLocal});
}

/* The thread that captures may not allocate, others may. */
static void run_thread_local(problem &p, int batches)
{
	require(make_scratch(p));
	run_captures(p, batches, {p.stream, p.stream, cudaStreamCaptureModeThreadLocal});
}

/* All may: the first step makes the scratch memory while it is captured. */
static void run_relaxed(problem &p, int batches)
{
	run_captures(p, batches, {p.stream, p.stream, cudaStreamCaptureModeRelaxed});
}

/* One launch was given no stream.  The blocking stream waits for it all the same, so that nobody
 * sees the slip until it is captured. */
static void run_legacy_stream(problem &p, int batches)
{
	p.demanded_captures = 1;
	require(make_scratch(p));
	run_captures(p, batches, {p.blocking, cudaStreamLegacy, cudaStreamCaptureModeThreadLocal});
}

/* ---- the problem ---- */

/* The scalar reference: batch after batch, step after step. */
static std::vector<uint32_t> reference(const problem &p, int batches)
{
	std::vector<uint32_t> values = p.initial;

	for (int batch = 0; batch < batches; batch++)
		for (int i = 0; i < batch_steps; i++)
			for (size_t k = 0; k < values.size(); k++)
				values[k] = mix(scale(values[k] + p.source[batch + k]));
	return values;
}

static void prepare(problem &p, long size, int batches)
{
	p.size = size;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i;
	p.source.resize(size + batches);
	for (size_t i = 0; i < p.source.size(); i++)
		p.source[i] = i * 2654435769u;
	p.expected = reference(p, batches);
	p.values = device_array<uint32_t>(size);
	CUDA_CHECK(cudaGetDevice(&p.device));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.load_stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreate(&p.blocking));
}

static void free_all(problem &p)
{
	CUDA_CHECK(cudaFree(p.scratch));
	CUDA_CHECK(cudaFree(p.batch));
	CUDA_CHECK(cudaFree(p.next));
	p.scratch = p.batch = p.next = nullptr;
}

static void reset(problem &p)
{
	p.refused_loads = p.refused_captures = p.demanded_loads = p.demanded_captures = 0;
	p.batch_number = 0;
	free_all(p);
	p.batch = device_array<uint32_t>(p.size);
	CUDA_CHECK(cudaMemcpy(p.batch, p.source.data(), batch_bytes(p), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), batch_bytes(p), cudaMemcpyHostToDevice));
}

/* A mode that refuses more or less than it should is an error, and so is one that leaves an error
 * behind. */
static void require_refusals(const problem &p)
{
	CUDA_CHECK(cudaPeekAtLastError());
	if (p.refused_loads == p.demanded_loads && p.refused_captures == p.demanded_captures)
		return;
	fprintf(stderr,
		"graph_modes: CUDA refused %ld loads and %ld captures in a run, where it should "
		"refuse %ld and %ld\n",
		p.refused_loads, p.refused_captures, p.demanded_loads, p.demanded_captures);
	exit(1);
}

static struct difference check(const problem &p)
{
	require_refusals(p);
	return compare(p.values, p.expected);
}

static void release(problem &p)
{
	free_all(p);
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
	CUDA_CHECK(cudaStreamDestroy(p.load_stream));
	CUDA_CHECK(cudaStreamDestroy(p.blocking));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "no graph, a launch for each kernel", run_naive},
	{"global", "captured in global mode, which refuses the other thread's calls", run_global},
	{"guarded", "in global mode, and the other thread says that it may", run_guarded},
	{"thread_local", "captured in thread-local mode", run_thread_local},
	{"relaxed", "in relaxed mode, and the captured step allocates too", run_relaxed},
	{"legacy_stream", "a mistake: a launch without a stream, which no capture takes",
	 run_legacy_stream},
};

static const struct workload<problem> graph_modes = {
	.name = "graph_modes", .size = 1 << 16, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_modes)
