/*
 * orchestration: what launches, graphs and synchronization cost.
 *
 * Host times are taken around many calls; device times as in orchestra.cuh.  Times between host and
 * device need both clocks: clock_offset_ns().
 */
#include "orchestra.cuh"

/* ---- kernels ---- */

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

/* Lets its successor begin at once, which waits for it: both only with programmatic dependent launch. */
static __global__ void preceding_kernel(volatile unsigned long long *stamp,
					unsigned long long span_ns)
{
	unsigned long long begin_ns = ceiling_now_ns(), now_ns = begin_ns;

#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
	while (now_ns - begin_ns < span_ns)
		now_ns = ceiling_now_ns();
	*stamp = now_ns;
}

static __global__ void dependent_kernel(volatile unsigned long long *stamp)
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
	*stamp = ceiling_now_ns();
}

static __global__ void step_kernel(const unsigned *from, unsigned *to)
{
	step(from, to);
}

/* ---- clocks ---- */

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

/* Host time of one call, which may be queued: so few at once that the queue never fills. */
static double queued_call_ns(struct orchestra &o, const std::function<void()> &call)
{
	const int calls = 64;
	unsigned long long begin_ns = host_now_ns(), end_ns;

	for (int i = 0; i < calls; i++)
		call();
	end_ns = host_now_ns();
	CUDA_CHECK(cudaStreamSynchronize(o.stream));
	return (double)(end_ns - begin_ns) / calls;
}

static double call_ns(struct orchestra &o, const std::function<void()> &call)
{
	return median_of(o.trials, [&]() { return queued_call_ns(o, call); });
}

static void idle(unsigned long long span_ns)
{
	unsigned long long begin_ns = host_now_ns();

	while (host_now_ns() - begin_ns < span_ns)
		;
}

/* ---- launches and synchronization ---- */

static double launch_call_ns(struct orchestra &o)
{
	double ns = call_ns(o, [&]() { empty_kernel<<<1, 32, 0, o.stream>>>(0); });

	CUDA_CHECK(cudaGetLastError());
	return ns;
}

static void launch_empty(struct orchestra &o, int launches, int argument)
{
	for (int i = 0; i < launches; i++)
		CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(argument));
}

static double launch_period_ns(struct orchestra &o)
{
	return step_ns(o, 50, 500, [&](int launches) { launch_empty(o, launches, 0); });
}

static void launch_steps(struct orchestra &o, int steps)
{
	for (int i = 0; i < steps; i++)
		CUDA_LAUNCH(step_kernel<<<o.bench->gpu.multiProcessorCount, step_block_size, 0,
					  o.stream>>>(o.values[i % 2], o.values[1 - i % 2]));
}

static double kernel_step_ns(struct orchestra &o)
{
	return step_ns(o, 50, 500, [&](int steps) { launch_steps(o, steps); });
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
static void launch_neighbors(struct orchestra &o)
{
	CUDA_LAUNCH(busy_kernel<<<1, 1, 0, o.stream>>>(o.stamps, 50000));
	CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, o.stream>>>(o.stamps + 1));
}

static double kernel_gap_ns(struct orchestra &o)
{
	return between_stamps_ns(o, [&]() { launch_neighbors(o); });
}

static double dependent_gap_ns(struct orchestra &o)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = config.blockDim = dim3(1);
	config.stream = o.stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	return between_stamps_ns(o, [&]() {
		CUDA_LAUNCH(preceding_kernel<<<1, 1, 0, o.stream>>>(o.stamps, 50000));
		CUDA_CHECK(cudaLaunchKernelEx(&config, dependent_kernel,
					      (volatile unsigned long long *)(o.stamps + 1)));
	});
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

/* A wave of blocks is as many as fit on the device at once. */
static double block_wave_ns(struct orchestra &o, int block_size)
{
	int per_sm = 0;

	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, empty_kernel, block_size,
								 0));
	return step_ns(o, 4, 64, [&](int waves) {
		int blocks = waves * per_sm * o.bench->gpu.multiProcessorCount;

		CUDA_LAUNCH(empty_kernel<<<blocks, block_size, 0, o.stream>>>(0));
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

/* By turns each stream goes on when the other one is there. */
/* Both in turn: from second to second a launch takes longer or shorter than a wait does. */
static double stream_wait_ns(struct orchestra &o)
{
	cudaStream_t from = o.stream, to = o.other_stream;
	double ns = median_of(o.trials, [&]() {
		double waiting_ns = queued_call_ns(o, [&]() {
			CUDA_CHECK(cudaEventRecord(o.reached, from));
			CUDA_CHECK(cudaStreamWaitEvent(to, o.reached, 0));
			CUDA_LAUNCH(empty_kernel<<<1, 32, 0, to>>>(0));
			std::swap(from, to);
		});

		CUDA_CHECK(cudaStreamSynchronize(o.other_stream));
		return waiting_ns - queued_call_ns(o, [&]() { launch_empty(o, 1, 0); });
	});

	return std::max(ns, 0.0);
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
	launch_empty(o, nodes, argument);
	CUDA_CHECK(cudaStreamEndCapture(o.stream, &graph));
	return graph;
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

/* Kernels that need nothing from each other; the driver hands each branch over by itself. */
static double graph_branches_ns(struct orchestra &o, int nodes)
{
	int argument = 0;
	void *arguments[] = {&argument};
	cudaKernelNodeParams params = {};
	cudaGraph_t graph;
	cudaGraphExec_t instance;
	cudaGraphNode_t node;
	double ns;

	params.func = (void *)empty_kernel;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	params.kernelParams = arguments;
	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < nodes; i++)
		CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
	instance = instantiate(o, graph);
	ns = call_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(instance, o.stream)); });
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
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

/* Device time of one more node, where enqueue(n) launches n of them. */
static double node_ns(struct orchestra &o, const std::function<void(int)> &enqueue)
{
	const int few = 10, many = 1000;
	cudaGraphExec_t short_chain = captured(o, [&]() { enqueue(few); });
	cudaGraphExec_t long_chain = captured(o, [&]() { enqueue(many); });
	double ns = step_ns(o, few, many, [&](int nodes) {
		CUDA_CHECK(cudaGraphLaunch(nodes == few ? short_chain : long_chain, o.stream));
	});

	CUDA_CHECK(cudaGraphExecDestroy(short_chain));
	CUDA_CHECK(cudaGraphExecDestroy(long_chain));
	return ns;
}

static double graph_node_ns(struct orchestra &o)
{
	return node_ns(o, [&](int nodes) { launch_empty(o, nodes, 0); });
}

static double graph_step_ns(struct orchestra &o)
{
	return node_ns(o, [&](int steps) { launch_steps(o, steps); });
}

static double graph_node_gap_ns(struct orchestra &o)
{
	cudaGraphExec_t both = captured(o, [&]() { launch_neighbors(o); });
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

/* A copy of 4 bytes to pinned host memory, or from there. */
static void copy_word(struct orchestra &o, cudaMemcpyKind kind)
{
	void *host = (void *)&o.shared->copied;

	if (kind == cudaMemcpyDeviceToHost)
		CUDA_CHECK(cudaMemcpyAsync(host, o.stamps, 4, kind, o.stream));
	else
		CUDA_CHECK(cudaMemcpyAsync(o.stamps, host, 4, kind, o.stream));
}

/* Empty kernels, with a copy before each but the first. */
static cudaGraphExec_t copy_chain(struct orchestra &o, int copies, cudaMemcpyKind kind)
{
	return captured(o, [&]() {
		CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(0));
		for (int i = 0; i < copies; i++) {
			copy_word(o, kind);
			CUDA_LAUNCH(empty_kernel<<<1, 32, 0, o.stream>>>(0));
		}
	});
}

static double graph_copy_ns(struct orchestra &o, cudaMemcpyKind kind)
{
	const int few = 2, many = 50;
	cudaGraphExec_t short_chain = copy_chain(o, few, kind),
			long_chain = copy_chain(o, many, kind);
	double ns = step_ns(o, few, many, [&](int copies) {
		CUDA_CHECK(cudaGraphLaunch(copies == few ? short_chain : long_chain, o.stream));
	});

	CUDA_CHECK(cudaGraphExecDestroy(short_chain));
	CUDA_CHECK(cudaGraphExecDestroy(long_chain));
	return ns - graph_node_ns(o);
}

static double graph_copy_to_start_ns(struct orchestra &o, cudaMemcpyKind kind)
{
	cudaGraphExec_t graph = captured(o, [&]() {
		copy_word(o, kind);
		CUDA_LAUNCH(start_kernel<<<1, 1, 0, o.stream>>>(o.shared));
	});
	double ns = to_start_ns(o, [&]() { CUDA_CHECK(cudaGraphLaunch(graph, o.stream)); });

	CUDA_CHECK(cudaGraphExecDestroy(graph));
	return ns;
}

/* A graph whose kernels get another grid before each launch; the figures are for each kernel of it. */
struct regridded {
	cudaGraph_t graph;
	cudaGraphExec_t instance;
	std::vector<cudaGraphNode_t> kernels;
	int grid;
};

static struct regridded regridded_open(struct orchestra &o)
{
	size_t count = 10;
	struct regridded r = {chain(o, count, 0)};

	r.instance = instantiate(o, r.graph);
	r.kernels.resize(count);
	CUDA_CHECK(cudaGraphGetNodes(r.graph, r.kernels.data(), &count));
	return r;
}

static void regridded_close(struct regridded &r)
{
	CUDA_CHECK(cudaGraphExecDestroy(r.instance));
	CUDA_CHECK(cudaGraphDestroy(r.graph));
}

static void change_grids(struct regridded &r)
{
	const int grids = 64;
	int argument = 0;
	void *arguments[] = {&argument};
	cudaKernelNodeParams params = {};

	params.func = (void *)empty_kernel;
	params.gridDim = dim3(1 + r.grid++ % grids);
	params.blockDim = dim3(32);
	params.kernelParams = arguments;
	for (cudaGraphNode_t kernel : r.kernels)
		CUDA_CHECK(cudaGraphExecKernelNodeSetParams(r.instance, kernel, &params));
}

static unsigned long long launch_ns(struct orchestra &o, struct regridded &r)
{
	unsigned long long begin_ns = host_now_ns();

	CUDA_CHECK(cudaGraphLaunch(r.instance, o.stream));
	return host_now_ns() - begin_ns;
}

/* The host's time of change, if it is timed, and a launch, over that of launching the graph as it is, which is done right
 * after it: whatever slows the host down slows both. */
static double regridded_ns(struct orchestra &o, bool is_change_timed)
{
	const int pairs = 32;
	struct regridded r = regridded_open(o);
	double ns = median_of(o.trials, [&]() {
		long long sum_ns = 0;

		for (int i = 0; i < pairs; i++) {
			unsigned long long begin_ns = host_now_ns();

			change_grids(r);
			if (is_change_timed)
				sum_ns += (long long)(host_now_ns() - begin_ns);
			sum_ns += (long long)launch_ns(o, r);
			sum_ns -= (long long)launch_ns(o, r);
		}
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		return (double)sum_ns / pairs;
	});

	ns /= (double)r.kernels.size();
	regridded_close(r);
	return ns;
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

static double graph_destroy_ns(struct orchestra &o, int nodes)
{
	cudaGraph_t graph = chain(o, nodes, 0);
	double ns = median_of(o.trials / 2, [&]() {
		unsigned long long begin_ns, end_ns;
		cudaGraphExec_t instance;

		CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
		CUDA_CHECK(cudaGraphLaunch(instance, o.stream));
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		begin_ns = host_now_ns();
		CUDA_CHECK(cudaGraphExecDestroy(instance));
		end_ns = host_now_ns();
		return (double)(end_ns - begin_ns);
	});

	CUDA_CHECK(cudaGraphDestroy(graph));
	return ns;
}

/* With what it takes to bring the graph to the device. */
static double graph_first_launch_ns(struct orchestra &o, int nodes)
{
	cudaGraph_t graph = chain(o, nodes, 0);
	double ns = median_of(o.trials / 2, [&]() {
		unsigned long long begin_ns, end_ns;
		cudaGraphExec_t instance;

		CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
		begin_ns = host_now_ns();
		CUDA_CHECK(cudaGraphLaunch(instance, o.stream));
		end_ns = host_now_ns();
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		CUDA_CHECK(cudaGraphExecDestroy(instance));
		return (double)(end_ns - begin_ns);
	});

	CUDA_CHECK(cudaGraphDestroy(graph));
	return ns;
}

/* ---- the rows ---- */

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
	for (int threads : {32, 64, 128, 256, 512, 1024})
		all.push_back(figure(o, CEILING_block_wave, threads, ON_SMS,
				     [&o, threads]() { return block_wave_ns(o, threads); }));
	all.push_back(figure(o, CEILING_kernel_gap, 0, ON_SMS, [&]() { return kernel_gap_ns(o); }));
	all.push_back(
		figure(o, CEILING_dependent_gap, 0, ON_SMS, [&]() { return dependent_gap_ns(o); }));
	if (o.bench->gpu.major < 9)
		all.back().skip = "programmatic dependent launch needs compute capability 9.0";
	all.push_back(
		figure(o, CEILING_kernel_step, 0, ON_SMS, [&]() { return kernel_step_ns(o); }));
	all.push_back(figure(o, CEILING_event_wait, 0, ON_SMS, [&]() { return event_wait_ns(o); }));
	all.push_back(
		figure(o, CEILING_stream_wait, 0, ON_HOST, [&]() { return stream_wait_ns(o); }));
	all.push_back(
		figure(o, CEILING_small_copy, 0, ON_HOST, [&]() { return small_copy_ns(o); }));
}

static void add_graph_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(
		figure(o, CEILING_graph_launch, 0, ON_SMS, [&]() { return graph_launch_ns(o); }));
	for (int nodes : {2, 8, 32, 128})
		all.push_back(figure(o, CEILING_graph_branches, nodes, ON_HOST,
				     [&o, nodes]() { return graph_branches_ns(o, nodes); }));
	all.push_back(figure(o, CEILING_graph_node, 0, ON_SMS, [&]() { return graph_node_ns(o); }));
	all.push_back(figure(o, CEILING_graph_node_gap, 0, ON_SMS,
			     [&]() { return graph_node_gap_ns(o); }));
	all.push_back(figure(o, CEILING_graph_step, 0, ON_SMS, [&]() { return graph_step_ns(o); }));
	all.push_back(figure(o, CEILING_graph_gap, 0, ON_SMS, [&]() { return graph_gap_ns(o); }));
	all.push_back(figure(o, CEILING_graph_to_start, 0, ON_SMS,
			     [&]() { return graph_to_start_ns(o); }));
	all.push_back(figure(o, CEILING_graph_copy, 0, ON_SMS,
			     [&]() { return graph_copy_ns(o, cudaMemcpyDeviceToHost); }));
	all.push_back(figure(o, CEILING_graph_copy_in, 0, ON_SMS,
			     [&]() { return graph_copy_ns(o, cudaMemcpyHostToDevice); }));
	all.push_back(figure(o, CEILING_graph_copy_to_start, 0, ON_SMS,
			     [&]() { return graph_copy_to_start_ns(o, cudaMemcpyDeviceToHost); }));
	all.push_back(figure(o, CEILING_graph_copy_in_to_start, 0, ON_SMS,
			     [&]() { return graph_copy_to_start_ns(o, cudaMemcpyHostToDevice); }));
	all.push_back(figure(o, CEILING_graph_set_params, 0, ON_HOST,
			     [&]() { return regridded_ns(o, true); }));
	all.push_back(figure(o, CEILING_graph_updated_launch, 0, ON_HOST,
			     [&]() { return regridded_ns(o, false); }));
	for (int nodes : {1, 10, 100, 1000})
		all.push_back(figure(o, CEILING_graph_update, nodes, ON_HOST,
				     [&o, nodes]() { return graph_update_ns(o, nodes); }));
	for (int nodes : {1, 10, 100, 1000})
		all.push_back(figure(o, CEILING_graph_instantiate, nodes, ON_HOST,
				     [&o, nodes]() { return graph_instantiate_ns(o, nodes); }));
	for (int nodes : {1, 10, 100, 1000})
		all.push_back(figure(o, CEILING_graph_first_launch, nodes, ON_HOST,
				     [&o, nodes]() { return graph_first_launch_ns(o, nodes); }));
	for (int nodes : {1, 10, 100, 1000})
		all.push_back(figure(o, CEILING_graph_destroy, nodes, ON_HOST,
				     [&o, nodes]() { return graph_destroy_ns(o, nodes); }));
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("orchestration", argc, argv);
	struct orchestra o = orchestra_open(bench);
	std::vector<struct ceiling_measurement> all;
	int rc;

	add_host_figures(all, o);
	add_graph_figures(all, o);
	rc = ceiling_run(bench, all);
	orchestra_close(o);
	return rc;
}
