/*
 * conditional.cuh - decisions of kernels, and the nodes of a graph that follow them.
 *
 * A conditional node holds graphs, its bodies.  A condition that kernels set says which of them
 * runs (IF, IF/ELSE, SWITCH) or whether the one there is runs again (WHILE).  While stream is being
 * captured (graph_capture.cuh), this is
 *
 *	if (value) BODY;
 *
 *	struct decision decision = decision_for_node(value, stream);
 *	kernel<<<..., stream>>>(..., decision);                  one of its threads calls decide()
 *	graph_if(stream, decision, [&](cudaStream_t body) { ... BODY, given to the stream body });
 *
 * and the others likewise.  A body may hold nodes of its own, and its kernels may set the
 * conditions around it.  Besides, CUDA allows kernels, copies, memsets and child graphs in a body,
 * all of one context, and nothing else: no allocation, no event, no callback of the host.
 */
#ifndef ROOFLINE_CONDITIONAL_CUH
#define ROOFLINE_CONDITIONAL_CUH

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda_check.cuh"
#include "graph_capture.cuh"

/* ---- what kernels decide ---- */

struct decision {
	uint32_t *value; /* on the device: for the host and for other kernels */
	cudaGraphConditionalHandle condition; /* of a node, if it has one */
	bool has_node;
};

static inline struct decision decision_in_memory(uint32_t *value)
{
	return {value, 0, false};
}

/* For one thread of the grid: the last word counts, and there must not be two at a time. */
static inline __device__ void decide(const struct decision &decision, uint32_t value)
{
	*decision.value = value;
	if (decision.has_node)
		cudaGraphSetConditional(decision.condition, value);
}

/* How the host learns of a decision: it waits for all that the stream has been given.  pinned: host
 * memory that the GPU can write. */
template <class T> const T &read_back(T *pinned, const T *device, cudaStream_t stream)
{
	CUDA_CHECK(cudaMemcpyAsync(pinned, device, sizeof(T), cudaMemcpyDeviceToHost, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	return *pinned;
}

/* Predication, the way without a node: the kernel is launched in any case, and returns at once
 * unless the decision is for it. */
struct guard {
	const uint32_t *value; /* of the decision; nullptr: nobody launches the kernel in vain */
	uint32_t wanted;
};

static const struct guard unguarded = {nullptr, 0};

static inline __device__ bool is_wanted(const struct guard &guard)
{
	return !guard.value || *guard.value == guard.wanted;
}

/* ---- nodes, while stream is being captured ---- */

typedef std::function<void(cudaStream_t)> graph_body;

static inline struct decision decision_with_condition(uint32_t *value, cudaStream_t stream,
						      unsigned int at_launch, unsigned int flags)
{
	struct decision decision = {value, 0, true};
	cudaStreamCaptureStatus status;
	cudaGraph_t graph = nullptr;

	CUDA_CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph));
	CUDA_CHECK(cudaGraphConditionalHandleCreate(&decision.condition, graph, at_launch, flags));
	return decision;
}

/* Has no value until a kernel before the node decides, in every launch of the graph anew. */
static inline struct decision decision_for_node(uint32_t *value, cudaStream_t stream)
{
	return decision_with_condition(value, stream, 0, 0);
}

/* True whenever the whole graph is launched: for a WHILE, not in a body, that goes round at least
 * once and decides there. */
static inline struct decision decision_true_at_launch(uint32_t *value, cudaStream_t stream)
{
	return decision_with_condition(value, stream, 1, cudaGraphCondAssignDefault);
}

/* A conditional node behind all that stream has been given.  Returns its bodies, still empty. */
static inline cudaGraph_t *graph_add_conditional(cudaStream_t stream,
						 const struct decision &decision,
						 enum cudaGraphConditionalNodeType type,
						 unsigned int body_count)
{
	struct cudaGraphNodeParams params = {};
	const cudaGraphNode_t *before = nullptr;
	const cudaGraphEdgeData *edges = nullptr;
	cudaStreamCaptureStatus status;
	cudaGraph_t graph = nullptr;
	cudaGraphNode_t node;
	size_t before_count = 0;

	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = decision.condition;
	params.conditional.type = type;
	params.conditional.size = body_count;
	CUDA_CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, &edges,
					    &before_count));
	CUDA_CHECK(cudaGraphAddNode(&node, graph, before, edges, before_count, &params));
	CUDA_CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
						       cudaStreamSetCaptureDependencies));
	return params.conditional.phGraph_out;
}

/* What body gives to its stream becomes the graph.  The stream around it is still being captured,
 * so it has one of its own. */
static inline void graph_capture_body(cudaGraph_t graph, const graph_body &body)
{
	cudaStream_t stream;

	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
						 cudaStreamCaptureModeThreadLocal));
	body(stream);
	CUDA_CHECK(cudaStreamEndCapture(stream, nullptr));
	CUDA_CHECK(cudaStreamDestroy(stream));
}

static inline void graph_conditional(cudaStream_t stream, const struct decision &decision,
				     enum cudaGraphConditionalNodeType type,
				     const std::vector<graph_body> &bodies)
{
	cudaGraph_t *graphs =
		graph_add_conditional(stream, decision, type, (unsigned int)bodies.size());

	for (size_t i = 0; i < bodies.size(); i++)
		graph_capture_body(graphs[i], bodies[i]);
}

/* Once, when the decision is not 0. */
static inline void graph_if(cudaStream_t stream, const struct decision &decision,
			    const graph_body &body)
{
	graph_conditional(stream, decision, cudaGraphCondTypeIf, {body});
}

static inline void graph_if_else(cudaStream_t stream, const struct decision &decision,
				 const graph_body &body, const graph_body &otherwise)
{
	graph_conditional(stream, decision, cudaGraphCondTypeIf, {body, otherwise});
}

/* The body of the decision's number, from 0; none when there are not so many. */
static inline void graph_switch(cudaStream_t stream, const struct decision &decision,
				const std::vector<graph_body> &bodies)
{
	graph_conditional(stream, decision, cudaGraphCondTypeSwitch, bodies);
}

/* Again and again while the decision is not 0, which is looked at before every time. */
static inline void graph_while(cudaStream_t stream, const struct decision &decision,
			       const graph_body &body)
{
	graph_conditional(stream, decision, cudaGraphCondTypeWhile, {body});
}

/* ---- can this machine? ---- */

static inline int driver_version()
{
	int version = 0;

	CUDA_CHECK(cudaDriverGetVersion(&version));
	return version;
}

/* A why_skipped of variants with IF and WHILE nodes. */
template <class problem> const char *why_no_conditional(problem &)
{
	return driver_version() < 12040 ? "conditional nodes need a driver of CUDA 12.4 or newer"
					: nullptr;
}

/* The same for IF nodes with an ELSE, and for SWITCH. */
template <class problem> const char *why_no_choice(problem &)
{
	return driver_version() < 12080
		       ? "IF/ELSE and SWITCH nodes need a driver of CUDA 12.8 or newer"
		       : nullptr;
}

/* ---- what the workloads with conditional nodes share ----
 *
 * A problem has members
 *	stream	for all of its work
 *	graph	of the variant at hand: one iteration
 *	seen	what the host has read of decisions, for read_back
 */

template <class problem> void prepare_stream(problem &p)
{
	CUDA_CHECK(cudaMallocHost(&p.seen, sizeof(*p.seen)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

template <class problem> void release_stream(problem &p)
{
	CUDA_CHECK(cudaFreeHost(p.seen));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

/* Nobody waits for a decision: the host can launch all iterations ahead. */
template <class problem> void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

template <class problem> void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* ---- data ---- */

/* Any two different numbers look unlike each other, whatever they had in common. */
static inline __host__ __device__ uint32_t scramble(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

#endif
