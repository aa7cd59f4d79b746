/*
 * orchestration: what launches, graphs, synchronisation and barriers cost.
 *
 * Host times are taken around many calls.  Device times that add up (one more kernel, node,
 * iteration, barrier) are the difference between many and few of them, queued behind a closed gate
 * so that the host is never what the device waits for.  Times from one kernel to another are the
 * difference of two readings of globaltimer (32 ns apart on Hopper; a GPU on which it steps by
 * more shows it in these rows).  Times between host and device need both clocks: clock_offset_ns().
 */
#include <cooperative_groups.h>
#include <ctime>

#include "ceiling.cuh"

/* Written by the host and read by the device, or the other way; page-locked. */
struct shared_words {
	volatile unsigned gate_open;
	volatile unsigned question;
	volatile unsigned copied;
	volatile unsigned long long answer;
	volatile unsigned long long start_ns;
};

struct orchestra {
	struct ceiling_bench *bench;
	int trials;			   /* whose median is one sample */
	cudaStream_t stream, other_stream; /* the first is the bench's */
	cudaEvent_t reached;		   /* without a time: only to be waited for */
	struct shared_words *shared;
	unsigned long long *stamps; /* two, in device memory */
	int *left;		    /* iterations, in device memory */
};

/* Kernels and loops that wait for the other side give up after so long. */
static const unsigned long long patience_ns = 500000000;

static unsigned long long host_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* ---- kernels ---- */

static __global__ void empty_kernel(int)
{
}

static __global__ void gate_kernel(const struct shared_words *shared)
{
	unsigned long long begin_ns = ceiling_now_ns();

	while (!shared->gate_open && ceiling_now_ns() - begin_ns < patience_ns)
		;
}

/* Answers question 1, 2, ... with the time, in the lowest bit whether the question was odd: so an
 * answer differs from the one before it, however coarse the clock. */
static __global__ void answer_kernel(struct shared_words *shared, unsigned questions)
{
	unsigned long long begin_ns = ceiling_now_ns();

	for (unsigned question = 1; question <= questions; question++) {
		while (shared->question != question)
			if (ceiling_now_ns() - begin_ns > patience_ns)
				return;
		shared->answer = ceiling_now_ns() * 2 + question % 2;
	}
}

static __global__ void start_kernel(struct shared_words *shared)
{
	shared->start_ns = ceiling_now_ns();
}

static __global__ void stamp_kernel(volatile unsigned long long *stamp)
{
	*stamp = ceiling_now_ns();
}

/* Runs long enough for the host to be waiting, and ends with the stamp. */
static __global__ void busy_kernel(volatile unsigned long long *stamp, unsigned long long span_ns)
{
	unsigned long long begin_ns = ceiling_now_ns(), now_ns = begin_ns;

	while (now_ns - begin_ns < span_ns)
		now_ns = ceiling_now_ns();
	*stamp = now_ns;
}

enum device_launch { FIRE_AND_FORGET, TAIL, SIBLING };

/* The launch is the last thing that happens here: a tail graph waits for the end of this one. */
static __global__ void graph_launching_kernel(cudaGraphExec_t graph, enum device_launch how,
					      volatile unsigned long long *stamp)
{
	*stamp = ceiling_now_ns();
	if (how == TAIL)
		cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
	else if (how == FIRE_AND_FORGET)
		cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
	else if (how == SIBLING)
		cudaGraphLaunch(graph, cudaStreamGraphFireAndForgetAsSibling);
}

static __global__ void parent_kernel(volatile unsigned long long *stamps)
{
	stamps[0] = ceiling_now_ns();
	stamp_kernel<<<1, 1, 0, cudaStreamFireAndForget>>>(stamps + 1);
}

static __global__ void set_kernel(int *left, int iterations)
{
	*left = iterations;
}

static __global__ void barrier_kernel(int barriers)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();

	for (int i = 0; i < barriers; i++)
		grid.sync();
}

/* ---- clocks and gates ---- */

/* Asks the device for the time; false when no answer comes. */
static bool ask(struct shared_words *shared, unsigned question, unsigned long long *sent_ns,
		unsigned long long *seen_ns)
{
	unsigned long long before = shared->answer;

	*sent_ns = host_now_ns();
	shared->question = question;
	do
		*seen_ns = host_now_ns();
	while (shared->answer == before && *seen_ns - *sent_ns < patience_ns);
	return shared->answer != before;
}

/*
 * What to add to the host's clock to get the device's.  A resident kernel polls a word of host
 * memory and answers with its clock.  In the quickest of many rounds its read had already reached
 * the host when the question was written, so that one way across the bus lies before its reading
 * and one behind it: the reading belongs to the middle of the round.
 */
static long long clock_offset_ns(struct orchestra &o)
{
	const unsigned questions = 400;
	unsigned long long best_ns = patience_ns, sent_ns, seen_ns;
	long long offset_ns = 0;

	o.shared->question = 0;
	o.shared->answer = 0;
	CUDA_LAUNCH(answer_kernel<<<1, 1, 0, o.stream>>>(o.shared, questions));
	for (unsigned question = 1; question <= questions; question++) {
		if (!ask(o.shared, question, &sent_ns, &seen_ns)) {
			fprintf(stderr, "orchestration: the device does not see host memory\n");
			exit(1);
		}
		/* The first round waits for the kernel to start. */
		if (seen_ns - sent_ns >= best_ns)
			continue;
		best_ns = seen_ns - sent_ns;
		offset_ns = (long long)(o.shared->answer / 2) - (long long)(sent_ns + best_ns / 2);
	}
	CUDA_CHECK(cudaStreamSynchronize(o.stream));
	return offset_ns;
}

/* Device time of what enqueue puts into the stream, all of which is queued before any starts. */
static double gated_ns(struct orchestra &o, const std::function<void()> &enqueue)
{
	float ms;

	o.shared->gate_open = 0;
	CUDA_LAUNCH(gate_kernel<<<1, 1, 0, o.stream>>>(o.shared));
	CUDA_CHECK(cudaEventRecord(o.bench->begin, o.stream));
	enqueue();
	CUDA_CHECK(cudaEventRecord(o.bench->end, o.stream));
	o.shared->gate_open = 1;
	CUDA_CHECK(cudaStreamSynchronize(o.stream));
	CUDA_CHECK(cudaEventElapsedTime(&ms, o.bench->begin, o.bench->end));
	return ms * 1e6;
}

static double median_of(int trials, const std::function<double()> &trial)
{
	std::vector<double> values;

	for (int i = 0; i < trials; i++)
		values.push_back(trial());
	return ceiling_median(values);
}

/* Device time of one step, where enqueue(n) queues n of them. */
static double step_ns(struct orchestra &o, int few, int many,
		      const std::function<void(int)> &enqueue)
{
	return median_of(o.trials / 2, [&]() {
		double few_ns = gated_ns(o, [&]() { enqueue(few); });

		return (gated_ns(o, [&]() { enqueue(many); }) - few_ns) / (many - few);
	});
}

/* Host time of one call, which may be queued: so few at once that the queue never fills. */
static double call_ns(struct orchestra &o, const std::function<void()> &call)
{
	const int calls = 64;

	return median_of(o.trials, [&]() {
		unsigned long long begin_ns = host_now_ns(), end_ns;

		for (int i = 0; i < calls; i++)
			call();
		end_ns = host_now_ns();
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		return (double)(end_ns - begin_ns) / calls;
	});
}

/* The mean of the middle half: globaltimer steps, and a median would be one of its steps. */
static double middle_of(int trials, const std::function<double()> &trial)
{
	std::vector<double> values;
	double sum = 0;

	for (int i = 0; i < trials; i++)
		values.push_back(trial());
	std::sort(values.begin(), values.end());
	for (int i = trials / 4; i < trials - trials / 4; i++)
		sum += values[i];
	return sum / (trials - 2 * (trials / 4));
}

/* From the first stamp to the second, both of which run sets before the device is idle again. */
static double between_stamps_ns(struct orchestra &o, const std::function<void()> &run)
{
	return middle_of(o.trials, [&]() {
		unsigned long long stamps[2];

		CUDA_CHECK(cudaMemset(o.stamps, 0, sizeof(stamps)));
		CUDA_CHECK(cudaDeviceSynchronize());
		run();
		CUDA_CHECK(cudaDeviceSynchronize());
		CUDA_CHECK(cudaMemcpy(stamps, o.stamps, sizeof(stamps), cudaMemcpyDeviceToHost));
		if (!stamps[0] || !stamps[1]) {
			fprintf(stderr, "orchestration: a launch from the device did not run\n");
			exit(1);
		}
		return (double)stamps[1] - (double)stamps[0];
	});
}

static void idle(unsigned long long span_ns)
{
	unsigned long long begin_ns = host_now_ns();

	while (host_now_ns() - begin_ns < span_ns)
		;
}

/* ---- launches and synchronisation ---- */

static double launch_call_ns(struct orchestra &o)
{
	double ns = call_ns(o, [&]() { empty_kernel<<<1, 32, 0, o.stream>>>(0); });

	CUDA_CHECK(cudaGetLastError());
	return ns;
}

static double launch_period_ns(struct orchestra &o)
{
	return step_ns(o, 50, 500, [&](int launches) {
		for (int i = 0; i < launches; i++)
			CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(0));
	});
}

/* From the call that launches start_kernel, entered while the device is idle, to the kernel's start. */
static double to_start_ns(struct orchestra &o, const std::function<void()> &launch)
{
	long long offset_ns = clock_offset_ns(o);

	return median_of(o.trials, [&]() {
		unsigned long long called_ns;

		idle(20000);
		called_ns = host_now_ns();
		launch();
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		return (double)((long long)o.shared->start_ns - offset_ns - (long long)called_ns);
	});
}

static double launch_to_start_ns(struct orchestra &o)
{
	return to_start_ns(o,
			   [&]() { CUDA_LAUNCH(start_kernel<<<1, 1, 0, o.stream>>>(o.shared)); });
}

/* Two kernels in one stream, the second of which is queued while the first one runs. */
static void launch_neighbours(struct orchestra &o)
{
	CUDA_LAUNCH(busy_kernel<<<1, 1, 0, o.stream>>>(o.stamps, 50000));
	CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, o.stream>>>(o.stamps + 1));
}

static double kernel_gap_ns(struct orchestra &o)
{
	return between_stamps_ns(o, [&]() { launch_neighbours(o); });
}

static double synchronize_ns(struct orchestra &o)
{
	long long offset_ns = clock_offset_ns(o);

	return median_of(o.trials, [&]() {
		unsigned long long stamp, returned_ns;

		CUDA_LAUNCH(busy_kernel<<<1, 1, 0, o.stream>>>(o.stamps, 50000));
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		returned_ns = host_now_ns();
		CUDA_CHECK(cudaMemcpy(&stamp, o.stamps, sizeof(stamp), cudaMemcpyDeviceToHost));
		return (double)((long long)returned_ns - ((long long)stamp - offset_ns));
	});
}

static double event_wait_ns(struct orchestra &o)
{
	return between_stamps_ns(o, [&]() {
		CUDA_LAUNCH(busy_kernel<<<1, 1, 0, o.stream>>>(o.stamps, 50000));
		CUDA_CHECK(cudaEventRecord(o.reached, o.stream));
		CUDA_CHECK(cudaStreamWaitEvent(o.other_stream, o.reached, 0));
		CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, o.other_stream>>>(o.stamps + 1));
	});
}

static double small_copy_ns(struct orchestra &o)
{
	return median_of(o.trials * 4, [&]() {
		unsigned long long begin_ns = host_now_ns();
		unsigned value;

		CUDA_CHECK(cudaMemcpy(&value, o.stamps, 4, cudaMemcpyDeviceToHost));
		return (double)(host_now_ns() - begin_ns);
	});
}

/* ---- graphs ---- */

/* A chain of empty kernels; argument tells one chain from another of the same shape. */
static cudaGraph_t chain(struct orchestra &o, int nodes, int argument)
{
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamBeginCapture(o.stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < nodes; i++)
		CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(argument));
	CUDA_CHECK(cudaStreamEndCapture(o.stream, &graph));
	return graph;
}

static cudaGraphExec_t instantiate(struct orchestra &o, cudaGraph_t graph,
				   unsigned long long flags = 0)
{
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, flags));
	CUDA_CHECK(cudaGraphUpload(instance, o.stream));
	CUDA_CHECK(cudaStreamSynchronize(o.stream));
	return instance;
}

static double graph_launch_ns(struct orchestra &o)
{
	cudaGraph_t graph = chain(o, 1, 0);
	cudaGraphExec_t instance = instantiate(o, graph);
	double ns = call_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(instance, o.stream)); });

	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return ns;
}

static double graph_node_ns(struct orchestra &o)
{
	const int few = 10, many = 1000;
	cudaGraph_t short_graph = chain(o, few, 0), long_graph = chain(o, many, 0);
	cudaGraphExec_t short_chain = instantiate(o, short_graph);
	cudaGraphExec_t long_chain = instantiate(o, long_graph);
	double ns = step_ns(o, few, many, [&](int nodes) {
		CUDA_CHECK(cudaGraphLaunch(nodes == few ? short_chain : long_chain, o.stream));
	});

	CUDA_CHECK(cudaGraphExecDestroy(short_chain));
	CUDA_CHECK(cudaGraphExecDestroy(long_chain));
	CUDA_CHECK(cudaGraphDestroy(short_graph));
	CUDA_CHECK(cudaGraphDestroy(long_graph));
	return ns;
}

static cudaGraphExec_t captured(struct orchestra &o, const std::function<void()> &launch)
{
	cudaGraph_t graph;
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaStreamBeginCapture(o.stream, cudaStreamCaptureModeThreadLocal));
	launch();
	CUDA_CHECK(cudaStreamEndCapture(o.stream, &graph));
	instance = instantiate(o, graph);
	CUDA_CHECK(cudaGraphDestroy(graph));
	return instance;
}

static double graph_node_gap_ns(struct orchestra &o)
{
	cudaGraphExec_t both = captured(o, [&]() { launch_neighbours(o); });
	double ns = between_stamps_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(both, o.stream)); });

	CUDA_CHECK(cudaGraphExecDestroy(both));
	return ns;
}

static double graph_gap_ns(struct orchestra &o)
{
	cudaGraphExec_t first = captured(o, [&]() {
		CUDA_LAUNCH(busy_kernel<<<1, 1, 0, o.stream>>>(o.stamps, 50000));
	});
	cudaGraphExec_t second = captured(o, [&]() {
		CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, o.stream>>>(o.stamps + 1));
	});
	double ns = between_stamps_ns(o, [&]() {
		CUDA_CHECK(cudaGraphLaunch(first, o.stream));
		CUDA_CHECK(cudaGraphLaunch(second, o.stream));
	});

	CUDA_CHECK(cudaGraphExecDestroy(first));
	CUDA_CHECK(cudaGraphExecDestroy(second));
	return ns;
}

static double graph_to_start_ns(struct orchestra &o)
{
	cudaGraphExec_t graph =
		captured(o, [&]() { CUDA_LAUNCH(start_kernel<<<1, 1, 0, o.stream>>>(o.shared)); });
	double ns = to_start_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(graph, o.stream)); });

	CUDA_CHECK(cudaGraphExecDestroy(graph));
	return ns;
}

/* A copy of 4 bytes to where the host sees them. */
static void copy_back(struct orchestra &o)
{
	CUDA_CHECK(cudaMemcpyAsync((void *)&o.shared->copied, o.stamps, 4, cudaMemcpyDeviceToHost,
				   o.stream));
}

/* Empty kernels, with a copy before each but the first. */
static cudaGraphExec_t copy_chain(struct orchestra &o, int copies)
{
	return captured(o, [&]() {
		CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(0));
		for (int i = 0; i < copies; i++) {
			copy_back(o);
			CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(0));
		}
	});
}

static double graph_copy_ns(struct orchestra &o)
{
	const int few = 2, many = 50;
	cudaGraphExec_t short_chain = copy_chain(o, few), long_chain = copy_chain(o, many);
	double ns = step_ns(o, few, many, [&](int copies) {
		CUDA_CHECK(cudaGraphLaunch(copies == few ? short_chain : long_chain, o.stream));
	});

	CUDA_CHECK(cudaGraphExecDestroy(short_chain));
	CUDA_CHECK(cudaGraphExecDestroy(long_chain));
	return ns - graph_node_ns(o);
}

static double graph_copy_to_start_ns(struct orchestra &o)
{
	cudaGraphExec_t graph = captured(o, [&]() {
		copy_back(o);
		CUDA_LAUNCH(start_kernel<<<1, 1, 0, o.stream>>>(o.shared));
	});
	double ns = to_start_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(graph, o.stream)); });

	CUDA_CHECK(cudaGraphExecDestroy(graph));
	return ns;
}

/* Host's time to give each kernel of a graph another grid and to launch it, over that to launch it as it is; for
 * each kernel. */
static double graph_set_params_ns(struct orchestra &o)
{
	const int nodes = 10, grids = 64;
	cudaGraph_t graph = chain(o, nodes, 0);
	cudaGraphExec_t instance = instantiate(o, graph);
	std::vector<cudaGraphNode_t> kernels(nodes);
	size_t count = nodes;
	int argument = 0;
	void *arguments[] = {&argument};
	cudaKernelNodeParams params = {};
	double as_it_is_ns, ns;

	CUDA_CHECK(cudaGraphGetNodes(graph, kernels.data(), &count));
	params.func = (void *)empty_kernel;
	params.blockDim = dim3(32);
	params.kernelParams = arguments;
	as_it_is_ns = call_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(instance, o.stream)); });
	ns = call_ns(o, [&]() {
		params.gridDim = dim3(1 + argument++ % grids);
		for (cudaGraphNode_t kernel : kernels)
			CUDA_CHECK(cudaGraphExecKernelNodeSetParams(instance, kernel, &params));
		CUDA_CHECK(cudaGraphLaunch(instance, o.stream));
	});
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return (ns - as_it_is_ns) / nodes;
}

/* Each update changes the argument of every kernel, so that none has nothing to do. */
static double graph_update_ns(struct orchestra &o, int nodes)
{
	cudaGraph_t graphs[2] = {chain(o, nodes, 1), chain(o, nodes, 2)};
	cudaGraphExec_t instance = instantiate(o, graphs[0]);
	int next = 1;
	double ns = median_of(o.trials, [&]() {
		cudaGraphExecUpdateResultInfo result;
		unsigned long long begin_ns = host_now_ns();

		CUDA_CHECK(cudaGraphExecUpdate(instance, graphs[next], &result));
		next = 1 - next;
		return (double)(host_now_ns() - begin_ns);
	});

	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graphs[0]));
	CUDA_CHECK(cudaGraphDestroy(graphs[1]));
	return ns;
}

static double graph_instantiate_ns(struct orchestra &o, int nodes)
{
	cudaGraph_t graph = chain(o, nodes, 0);
	double ns = median_of(o.trials / 2, [&]() {
		unsigned long long begin_ns = host_now_ns(), end_ns;
		cudaGraphExec_t instance;

		CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
		end_ns = host_now_ns();
		CUDA_CHECK(cudaGraphExecDestroy(instance));
		return (double)(end_ns - begin_ns);
	});

	CUDA_CHECK(cudaGraphDestroy(graph));
	return ns;
}

/* ---- launches from the device ---- */

/* Captures one kernel launch as a graph that the device can launch. */
static cudaGraphExec_t device_graph(struct orchestra &o, const std::function<void()> &launch)
{
	cudaGraphExec_t instance;
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamBeginCapture(o.stream, cudaStreamCaptureModeThreadLocal));
	launch();
	CUDA_CHECK(cudaStreamEndCapture(o.stream, &graph));
	instance = instantiate(o, graph, cudaGraphInstantiateFlagDeviceLaunch);
	CUDA_CHECK(cudaGraphDestroy(graph));
	return instance;
}

static double device_graph_ns(struct orchestra &o, enum device_launch how)
{
	cudaGraphExec_t launched = device_graph(o, [&]() {
		CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, o.stream>>>(o.stamps + 1));
	});
	cudaGraphExec_t launching = device_graph(o, [&]() {
		CUDA_LAUNCH(graph_launching_kernel<<<1, 1, 0, o.stream>>>(launched, how, o.stamps));
	});
	double ns =
		between_stamps_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(launching, o.stream)); });

	CUDA_CHECK(cudaGraphExecDestroy(launching));
	CUDA_CHECK(cudaGraphExecDestroy(launched));
	return ns;
}

static double child_launch_ns(struct orchestra &o)
{
	return between_stamps_ns(o, [&]() {
		CUDA_LAUNCH(parent_kernel<<<1, 1, 0, o.stream>>>(o.stamps));
	});
}

static double grid_barrier_ns(struct orchestra &o)
{
	/* The fewest blocks that fill the device: the barrier gathers blocks. */
	const int block_size = 1024;
	int blocks = ceiling_resident_blocks(*o.bench, barrier_kernel, block_size);

	return step_ns(o, 10, 1000, [&](int barriers) {
		void *arguments[] = {&barriers};

		CUDA_CHECK(cudaLaunchCooperativeKernel(barrier_kernel, blocks, block_size,
						       arguments, 0, o.stream));
	});
}

/* ---- conditional nodes: CUDA 12.4 ---- */

#if CUDART_VERSION >= 12040

static __global__ void iteration_kernel(int *left, cudaGraphConditionalHandle handle)
{
	if (--*left == 0)
		cudaGraphSetConditional(handle, 0);
}

/* The body of a WHILE node that it adds to a graph with nothing else in it. */
static cudaGraph_t add_while(cudaGraph_t graph, cudaGraphConditionalHandle handle)
{
	cudaGraphNodeParams params = {};
	cudaGraphNode_t node;

	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = handle;
	params.conditional.type = cudaGraphCondTypeWhile;
	params.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CUDA_CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
	CUDA_CHECK(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
	return params.conditional.phGraph_out[0];
}

static void add_iteration(cudaGraph_t body, int *left, cudaGraphConditionalHandle handle)
{
	cudaKernelNodeParams params = {};
	void *arguments[] = {&left, &handle};
	cudaGraphNode_t node;

	params.func = (void *)iteration_kernel;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CUDA_CHECK(cudaGraphAddKernelNode(&node, body, nullptr, 0, &params));
}

static double conditional_iteration_ns(struct orchestra &o)
{
	cudaGraphConditionalHandle handle;
	cudaGraphExec_t instance;
	cudaGraph_t graph;
	double ns;

	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	CUDA_CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	add_iteration(add_while(graph, handle), o.left, handle);
	instance = instantiate(o, graph);
	ns = step_ns(o, 10, 500, [&](int iterations) {
		CUDA_LAUNCH(set_kernel<<<1, 1, 0, o.stream>>>(o.left, iterations));
		CUDA_CHECK(cudaGraphLaunch(instance, o.stream));
	});
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return ns;
}

static std::string conditional_problem(void)
{
	int version = 0;

	CUDA_CHECK(cudaDriverGetVersion(&version));
	return version < 12040 ? "needs a driver for CUDA 12.4 or newer" : "";
}

#else

static double conditional_iteration_ns(struct orchestra &)
{
	return 0;
}

static std::string conditional_problem(void)
{
	return "this program was built with a CUDA older than 12.4";
}

#endif

/* ---- the rows ---- */

enum place { ON_HOST, ON_SMS };

/* The first reading is thrown away: it loads kernels. */
static struct ceiling_measurement figure(struct orchestra &o, enum ceiling_id id, long parameter,
					 enum place place, std::function<double()> ns)
{
	struct ceiling_measurement m = {id, parameter, "", nullptr, nullptr};

	m.prepare = [ns]() { ns(); };
	m.sample = [&o, ns, place ]() -> struct ceiling_reading {
		struct ceiling_reading reading = {ns(), 0};

		if (place == ON_HOST)
			return reading;
		ceiling_probe_clock(*o.bench);
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		reading.sm_mhz = *o.bench->probed_mhz;
		return reading;
	};
	return m;
}

static void add_host_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(
		figure(o, CEILING_launch_call, 0, ON_SMS, [&]() { return launch_call_ns(o); }));
	all.push_back(
		figure(o, CEILING_launch_period, 0, ON_SMS, [&]() { return launch_period_ns(o); }));
	all.push_back(figure(o, CEILING_launch_to_start, 0, ON_SMS,
			     [&]() { return launch_to_start_ns(o); }));
	all.push_back(
		figure(o, CEILING_synchronize, 0, ON_SMS, [&]() { return synchronize_ns(o); }));
	all.push_back(figure(o, CEILING_kernel_gap, 0, ON_SMS, [&]() { return kernel_gap_ns(o); }));
	all.push_back(figure(o, CEILING_event_wait, 0, ON_SMS, [&]() { return event_wait_ns(o); }));
	all.push_back(
		figure(o, CEILING_small_copy, 0, ON_HOST, [&]() { return small_copy_ns(o); }));
}

static void add_graph_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(
		figure(o, CEILING_graph_launch, 0, ON_SMS, [&]() { return graph_launch_ns(o); }));
	all.push_back(figure(o, CEILING_graph_node, 0, ON_SMS, [&]() { return graph_node_ns(o); }));
	all.push_back(figure(o, CEILING_graph_node_gap, 0, ON_SMS,
			     [&]() { return graph_node_gap_ns(o); }));
	all.push_back(figure(o, CEILING_graph_gap, 0, ON_SMS, [&]() { return graph_gap_ns(o); }));
	all.push_back(figure(o, CEILING_graph_to_start, 0, ON_SMS,
			     [&]() { return graph_to_start_ns(o); }));
	all.push_back(figure(o, CEILING_graph_copy, 0, ON_SMS, [&]() { return graph_copy_ns(o); }));
	all.push_back(figure(o, CEILING_graph_copy_to_start, 0, ON_SMS,
			     [&]() { return graph_copy_to_start_ns(o); }));
	all.push_back(figure(o, CEILING_graph_set_params, 0, ON_HOST,
			     [&]() { return graph_set_params_ns(o); }));
	for (int nodes : {10, 100, 1000})
		all.push_back(figure(o, CEILING_graph_update, nodes, ON_HOST,
				     [&o, nodes]() { return graph_update_ns(o, nodes); }));
	for (int nodes : {10, 100, 1000})
		all.push_back(figure(o, CEILING_graph_instantiate, nodes, ON_HOST,
				     [&o, nodes]() { return graph_instantiate_ns(o, nodes); }));
}

static void add_device_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(figure(o, CEILING_device_graph_fire_and_forget, 0, ON_SMS,
			     [&]() { return device_graph_ns(o, FIRE_AND_FORGET); }));
	all.push_back(figure(o, CEILING_device_graph_tail, 0, ON_SMS,
			     [&]() { return device_graph_ns(o, TAIL); }));
	all.push_back(figure(o, CEILING_device_graph_sibling, 0, ON_SMS,
			     [&]() { return device_graph_ns(o, SIBLING); }));
	all.push_back(
		figure(o, CEILING_child_launch, 0, ON_SMS, [&]() { return child_launch_ns(o); }));
	all.push_back(figure(o, CEILING_conditional_iteration, 0, ON_SMS,
			     [&]() { return conditional_iteration_ns(o); }));
	all.back().skip = conditional_problem();
	all.push_back(
		figure(o, CEILING_grid_barrier, 0, ON_SMS, [&]() { return grid_barrier_ns(o); }));
	if (!o.bench->gpu.cooperativeLaunch)
		all.back().skip = "this GPU has no cooperative launch";
}

static struct orchestra orchestra_open(struct ceiling_bench &bench)
{
	struct orchestra o = {};

	o.bench = &bench;
	o.trials = bench.quick ? 11 : 41;
	o.stream = bench.stream;
	CUDA_CHECK(cudaStreamCreateWithFlags(&o.other_stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&o.reached, cudaEventDisableTiming));
	CUDA_CHECK(cudaMallocHost(&o.shared, sizeof(*o.shared)));
	CUDA_CHECK(cudaMalloc(&o.stamps, 2 * sizeof(*o.stamps)));
	CUDA_CHECK(cudaMalloc(&o.left, sizeof(*o.left)));
	return o;
}

static void orchestra_close(struct orchestra &o)
{
	CUDA_CHECK(cudaStreamDestroy(o.other_stream));
	CUDA_CHECK(cudaEventDestroy(o.reached));
	CUDA_CHECK(cudaFreeHost(o.shared));
	CUDA_CHECK(cudaFree(o.stamps));
	CUDA_CHECK(cudaFree(o.left));
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("orchestration", argc, argv);
	struct orchestra o = orchestra_open(bench);
	std::vector<struct ceiling_measurement> all;
	int rc;

	add_host_figures(all, o);
	add_graph_figures(all, o);
	add_device_figures(all, o);
	rc = ceiling_run(bench, all);
	orchestra_close(o);
	return rc;
}
