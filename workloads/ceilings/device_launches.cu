/*
 * device_launches: what it costs that the device launches graphs and kernels, repeats the body of a
 * conditional node, and synchronises a grid.
 */
#include <cooperative_groups.h>

#include "orchestra.cuh"

/* ---- kernels ---- */

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

/* Its child waits for the end of this grid. */
static __global__ void tail_parent_kernel(volatile unsigned long long *stamps)
{
	stamps[0] = ceiling_now_ns();
	stamp_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(stamps + 1);
}

/* Children one after the other. */
static __global__ void series_kernel(int children)
{
	for (int i = 0; i < children; i++)
		empty_kernel<<<1, 32, 0, cudaStreamTailLaunch>>>(0);
}

/* A child of each block, and none waits for another. */
static __global__ void family_kernel()
{
	empty_kernel<<<1, 32, 0, cudaStreamFireAndForget>>>(0);
}

/* Its child is the last of it to end. */
static __global__ void busy_parent_kernel(volatile unsigned long long *stamp)
{
	busy_kernel<<<1, 1, 0, cudaStreamFireAndForget>>>(stamp, 50000);
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

static __global__ void barrier_step_kernel(unsigned *from, unsigned *to, int steps)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();

	for (int i = 0; i < steps; i++) {
		unsigned *written = to;

		step(from, to);
		grid.sync();
		to = from;
		from = written;
	}
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

static double child_tail_ns(struct orchestra &o)
{
	return between_stamps_ns(o, [&]() {
		CUDA_LAUNCH(tail_parent_kernel<<<1, 1, 0, o.stream>>>(o.stamps));
	});
}

static double child_next_ns(struct orchestra &o)
{
	return step_ns(o, 4, 104, [&](int children) {
		CUDA_LAUNCH(series_kernel<<<1, 1, 0, o.stream>>>(children));
	});
}

static double child_beside_ns(struct orchestra &o)
{
	return step_ns(o, 1, 5, [&](int blocks) {
		CUDA_LAUNCH(family_kernel<<<blocks, 1, 0, o.stream>>>());
	});
}

static double child_return_ns(struct orchestra &o)
{
	return between_stamps_ns(o, [&]() {
		CUDA_LAUNCH(busy_parent_kernel<<<1, 1, 0, o.stream>>>(o.stamps));
		CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, o.stream>>>(o.stamps + 1));
	});
}

/* ---- grids ---- */

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

static double barrier_step_ns(struct orchestra &o)
{
	return step_ns(o, 10, 1000, [&](int steps) {
		void *arguments[] = {&o.values[0], &o.values[1], &steps};

		CUDA_CHECK(cudaLaunchCooperativeKernel(barrier_step_kernel,
						       o.bench->gpu.multiProcessorCount,
						       step_block_size, arguments, 0, o.stream));
	});
}

/* ---- conditional nodes: CUDA 12.4 ---- */

#if CUDART_VERSION >= 12040

static __global__ void iteration_kernel(int *left, cudaGraphConditionalHandle handle)
{
	cudaGraphSetConditional(handle, --*left != 0);
}

static __global__ void decision_kernel(cudaGraphConditionalHandle handle, unsigned int value)
{
	cudaGraphSetConditional(handle, value);
}

/* A condition that is true whenever the graph is launched. */
static cudaGraphConditionalHandle true_at_launch(cudaGraph_t graph)
{
	cudaGraphConditionalHandle handle;

	CUDA_CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	return handle;
}

/* Adds a conditional node behind *last, which it becomes; nullptr: behind nothing.  Returns its body. */
static cudaGraph_t add_conditional(cudaGraph_t graph, cudaGraphNode_t *last,
				   cudaGraphConditionalHandle handle,
				   enum cudaGraphConditionalNodeType type)
{
	cudaGraphNodeParams params = {};
	size_t count = *last ? 1 : 0;
	cudaGraphNode_t node;

	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = handle;
	params.conditional.type = type;
	params.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CUDA_CHECK(cudaGraphAddNode(&node, graph, last, nullptr, count, &params));
#else
	CUDA_CHECK(cudaGraphAddNode(&node, graph, last, count, &params));
#endif
	*last = node;
	return params.conditional.phGraph_out[0];
}

/* Adds a kernel behind *last, which it becomes; nullptr: behind nothing. */
static void add_kernel(cudaGraph_t graph, cudaGraphNode_t *last, const void *kernel,
		       void **arguments)
{
	cudaKernelNodeParams params = {};
	size_t count = *last ? 1 : 0;
	cudaGraphNode_t node;

	params.func = (void *)kernel;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, last, count, &params));
	*last = node;
}

static double conditional_iteration_ns(struct orchestra &o)
{
	cudaGraphConditionalHandle handle;
	void *arguments[] = {&o.left, &handle};
	cudaGraphNode_t last = nullptr, none = nullptr;
	cudaGraphExec_t instance;
	cudaGraph_t graph, body;
	double ns;

	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	handle = true_at_launch(graph);
	body = add_conditional(graph, &last, handle, cudaGraphCondTypeWhile);
	add_kernel(body, &none, (const void *)iteration_kernel, arguments);
	instance = instantiate(o, graph);
	ns = step_ns(o, 10, 500, [&](int iterations) {
		CUDA_LAUNCH(set_kernel<<<1, 1, 0, o.stream>>>(o.left, iterations));
		CUDA_CHECK(cudaGraphLaunch(instance, o.stream));
	});
	CUDA_CHECK(cudaGraphExecDestroy(instance));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return ns;
}

/* A kernel that decides, and an IF node behind it, so many times. */
static cudaGraphExec_t chain_of_ifs(struct orchestra &o, int count, unsigned int value)
{
	cudaGraphNode_t last = nullptr;
	cudaGraphExec_t instance;
	cudaGraph_t graph;
	int nothing = 0;

	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < count; i++) {
		cudaGraphConditionalHandle handle = true_at_launch(graph);
		void *decision[] = {&handle, &value}, *empty[] = {&nothing};
		cudaGraphNode_t none = nullptr;
		cudaGraph_t body;

		add_kernel(graph, &last, (const void *)decision_kernel, decision);
		body = add_conditional(graph, &last, handle, cudaGraphCondTypeIf);
		add_kernel(body, &none, (const void *)empty_kernel, empty);
	}
	instance = instantiate(o, graph);
	CUDA_CHECK(cudaGraphDestroy(graph));
	return instance;
}

static double conditional_if_ns(struct orchestra &o, unsigned int value)
{
	const int few = 5, many = 25;
	cudaGraphExec_t shorter = chain_of_ifs(o, few, value),
			longer = chain_of_ifs(o, many, value);
	double ns = step_ns(o, few, many, [&](int count) {
		CUDA_CHECK(cudaGraphLaunch(count == few ? shorter : longer, o.stream));
	});

	CUDA_CHECK(cudaGraphExecDestroy(shorter));
	CUDA_CHECK(cudaGraphExecDestroy(longer));
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

static double conditional_if_ns(struct orchestra &, unsigned int)
{
	return 0;
}

static std::string conditional_problem(void)
{
	return "this program was built with a CUDA older than 12.4";
}

#endif

/* ---- the rows ---- */

static void add_graph_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(figure(o, CEILING_device_graph_fire_and_forget, 0, ON_SMS,
			     [&]() { return device_graph_ns(o, FIRE_AND_FORGET); }));
	all.push_back(figure(o, CEILING_device_graph_tail, 0, ON_SMS,
			     [&]() { return device_graph_ns(o, TAIL); }));
	all.push_back(figure(o, CEILING_device_graph_sibling, 0, ON_SMS,
			     [&]() { return device_graph_ns(o, SIBLING); }));
}

static void add_child_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(
		figure(o, CEILING_child_launch, 0, ON_SMS, [&]() { return child_launch_ns(o); }));
	all.push_back(figure(o, CEILING_child_tail, 0, ON_SMS, [&]() { return child_tail_ns(o); }));
	all.push_back(figure(o, CEILING_child_next, 0, ON_SMS, [&]() { return child_next_ns(o); }));
	all.push_back(
		figure(o, CEILING_child_beside, 0, ON_SMS, [&]() { return child_beside_ns(o); }));
	all.push_back(
		figure(o, CEILING_child_return, 0, ON_SMS, [&]() { return child_return_ns(o); }));
}

static void add_step_figures(std::vector<struct ceiling_measurement> &all, struct orchestra &o)
{
	all.push_back(figure(o, CEILING_conditional_iteration, 0, ON_SMS,
			     [&]() { return conditional_iteration_ns(o); }));
	all.back().skip = conditional_problem();
	all.push_back(figure(o, CEILING_conditional_if, 0, ON_SMS,
			     [&]() { return conditional_if_ns(o, 1); }));
	all.back().skip = conditional_problem();
	all.push_back(figure(o, CEILING_conditional_skip, 0, ON_SMS,
			     [&]() { return conditional_if_ns(o, 0); }));
	all.back().skip = conditional_problem();
	all.push_back(
		figure(o, CEILING_grid_barrier, 0, ON_SMS, [&]() { return grid_barrier_ns(o); }));
	all.push_back(
		figure(o, CEILING_barrier_step, 0, ON_SMS, [&]() { return barrier_step_ns(o); }));
	if (!o.bench->gpu.cooperativeLaunch)
		for (size_t i = all.size() - 2; i < all.size(); i++)
			all[i].skip = "this GPU has no cooperative launch";
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("device_launches", argc, argv);
	struct orchestra o = orchestra_open(bench);
	std::vector<struct ceiling_measurement> all;
	int rc;

	add_graph_figures(all, o);
	add_child_figures(all, o);
	add_step_figures(all, o);
	rc = ceiling_run(bench, all);
	orchestra_close(o);
	return rc;
}
