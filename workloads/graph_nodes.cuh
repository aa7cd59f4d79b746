/*
 * graph_nodes.cuh - nodes added to a graph one by one, each behind those that it needs.
 *
 * add_* returns the new node.  after: what has to be done before it starts; nothing else orders it.
 * Arguments of kernels are copied when the node is added; buffers, events and a callback's data
 * belong to the caller and outlive the graph.
 */
#ifndef ROOFLINE_GRAPH_NODES_CUH
#define ROOFLINE_GRAPH_NODES_CUH

#include <vector>

#include "cuda_check.cuh"

typedef std::vector<cudaGraphNode_t> graph_after;

/* Keeps a parameter out of the deduction of T: arguments convert to what the kernel takes. */
template <class T> struct graph_argument {
	typedef T type;
};

template <class... T>
cudaGraphNode_t add_kernel(cudaGraph_t graph, const graph_after &after, void (*kernel)(T...),
			   int blocks, int block_size,
			   typename graph_argument<T>::type... arguments)
{
	void *pointers[] = {&arguments...};
	struct cudaKernelNodeParams params = {};
	cudaGraphNode_t node;

	params.func = (void *)kernel;
	params.gridDim = dim3(blocks);
	params.blockDim = dim3(block_size);
	params.kernelParams = pointers;
	CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
	return node;
}

static inline cudaGraphNode_t add_copy(cudaGraph_t graph, const graph_after &after, void *to,
				       const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	cudaGraphNode_t node;

	CUDA_CHECK(cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, from,
					    bytes, kind));
	return node;
}

static inline cudaGraphNode_t add_clear(cudaGraph_t graph, const graph_after &after, void *at,
					size_t bytes)
{
	struct cudaMemsetParams params = {};
	cudaGraphNode_t node;

	params.dst = at;
	params.elementSize = 1;
	params.width = bytes;
	params.height = 1;
	CUDA_CHECK(cudaGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params));
	return node;
}

/* The child is copied: the caller may go on and destroy it. */
static inline cudaGraphNode_t add_child(cudaGraph_t graph, const graph_after &after,
					cudaGraph_t child)
{
	cudaGraphNode_t node;

	CUDA_CHECK(cudaGraphAddChildGraphNode(&node, graph, after.data(), after.size(), child));
	return node;
}

static inline cudaGraphNode_t add_record(cudaGraph_t graph, const graph_after &after,
					 cudaEvent_t event)
{
	cudaGraphNode_t node;

	CUDA_CHECK(cudaGraphAddEventRecordNode(&node, graph, after.data(), after.size(), event));
	return node;
}

static inline cudaGraphNode_t add_callback(cudaGraph_t graph, const graph_after &after,
					   cudaHostFn_t callback, void *data)
{
	struct cudaHostNodeParams params = {callback, data};
	cudaGraphNode_t node;

	CUDA_CHECK(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
	return node;
}

#endif
