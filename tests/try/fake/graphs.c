/* graphs.c - graphs of kernels, memsets, copies and events, and captures of one stream. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOW_US = 150 };

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
	(void)flags;
	*graph = calloc(1, sizeof(**graph));
	return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	for (unsigned i = 0; i < graph->count; i++)
		free(graph->nodes[i]);
	free(graph);
	return CUDA_SUCCESS;
}

static CUresult work_of_node(struct work *work, const CUDA_KERNEL_NODE_PARAMS *node)
{
	if (node->kern && node->ctx != fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	return fake_fill_work(work,
			      fake_handle_of(node->func ? (const void *)node->func
							: (const void *)node->kern),
			      SHAPE(node->gridDimX, node->gridDimY, node->gridDimZ),
			      SHAPE(node->blockDimX, node->blockDimY, node->blockDimZ),
			      node->sharedMemBytes, node->kernelParams, node->extra);
}

static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			 const struct work *work, CUresult result)
{
	if (count > AFTER_MAX)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (result != CUDA_SUCCESS)
		return result;
	*node = fake_add_node(graph, work);
	(*node)->after_count = (unsigned)count;
	for (size_t i = 0; i < count; i++) {
		if (after[i]->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
		(*node)->after[i] = (unsigned short)after[i]->index;
	}
	return CUDA_SUCCESS;
}

static CUresult add_event(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			  CUevent event, bool is_record)
{
	struct work none = {0};
	CUresult result = add_node(node, graph, after, count, &none, CUDA_SUCCESS);

	if (result != CUDA_SUCCESS)
		return result;
	fake_use_event(event);
	(*node)->event = event;
	(*node)->event_number = fake_event_number(event);
	(*node)->is_record = is_record;
	return CUDA_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				   size_t count, CUevent event)
{
	return add_event(node, graph, after, count, event, true);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				 size_t count, CUevent event)
{
	return add_event(node, graph, after, count, event, false);
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			      size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct work work;
	CUresult result = work_of_node(&work, parameters);

	return add_node(node, graph, after, count, &work, result);
}

static CUresult work_of_set(struct work *work, const CUDA_MEMSET_NODE_PARAMS *node,
			    CUcontext context)
{
	if (context != fake_current() || node->height != 1)
		return CUDA_ERROR_INVALID_VALUE;
	return fake_fill_set(work, node->dst, node->value, node->elementSize, node->width);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			      size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters,
			      CUcontext context)
{
	struct work work;
	CUresult result = work_of_set(&work, parameters, context);

	return add_node(node, graph, after, count, &work, result);
}

static CUresult work_of_copy(struct work *work, const CUDA_MEMCPY3D *node, CUcontext context)
{
	if (context != fake_current() || node->Height != 1 || node->Depth != 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (node->srcMemoryType == CU_MEMORYTYPE_HOST)
		return fake_fill_host_copy(work, node->dstDevice,
					   (CUdeviceptr)(uintptr_t)node->srcHost,
					   node->WidthInBytes, false);
	if (node->dstMemoryType == CU_MEMORYTYPE_HOST)
		return fake_fill_host_copy(work, (CUdeviceptr)(uintptr_t)node->dstHost,
					   node->srcDevice, node->WidthInBytes, true);
	if (node->srcMemoryType != CU_MEMORYTYPE_DEVICE ||
	    node->dstMemoryType != CU_MEMORYTYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	return fake_fill_copy(work, node->dstDevice, node->srcDevice, node->WidthInBytes);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			      size_t count, const CUDA_MEMCPY3D *parameters, CUcontext context)
{
	struct work work;
	CUresult result = work_of_copy(&work, parameters, context);

	return add_node(node, graph, after, count, &work, result);
}

/* Another size is refused, which the driver may do. */
static CUresult change(CUgraphExec exec, CUgraphNode node, const struct work *work, size_t size_at,
		       CUresult result)
{
	struct work *kept = &exec->work[node->index];

	if (fake_refuses("set", exec->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (memcmp(kept->parameters + size_at, work->parameters + size_at, 8) != 0 ||
	    kept->kind != work->kind)
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	if (result == CUDA_SUCCESS)
		*kept = *work;
	return result;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMSET_NODE_PARAMS *parameters,
					CUcontext context)
{
	struct work work;
	CUresult result = work_of_set(&work, parameters, context);

	return change(exec, node, &work, 8, result);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMCPY3D *parameters, CUcontext context)
{
	struct work work;
	CUresult result = work_of_copy(&work, parameters, context);

	return change(exec, node, &work, 16, result);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct work work;
	CUresult result = work_of_node(&work, parameters);

	if (fake_refuses("set", exec->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (result == CUDA_SUCCESS)
		exec->work[node->index] = work;
	return result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	if (fake_refuses("instantiate", graph->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	*exec = calloc(1, sizeof(**exec));
	(*exec)->count = graph->count;
	(*exec)->is_captured = graph->is_captured;
	(*exec)->work = calloc(graph->count + 1, sizeof(struct work));
	(*exec)->nodes = calloc(graph->count + 1, sizeof(struct CUgraphNode_st));
	for (unsigned i = 0; i < graph->count; i++) {
		(*exec)->work[i] = graph->nodes[i]->work;
		(*exec)->nodes[i] = *graph->nodes[i];
	}
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	/* of those that the library makes, which the program knows nothing of */
	if (!exec->is_captured && __atomic_load_n(&fake_captures, __ATOMIC_SEQ_CST))
		fake_log_op("destroyed_in_capture", 0, 0);
	free(exec->nodes);
	free(exec->work);
	free(exec);
	return CUDA_SUCCESS;
}

/* What was captured is one after the other. */
static CUresult run_captured(CUgraphExec exec, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;

	for (unsigned i = 0; result == CUDA_SUCCESS && i < exec->count; i++)
		result = fake_current()->error ? fake_current()->error
					       : fake_run(&exec->work[i], stream);
	return result;
}

/* A driver may write to what was freed, or end the program. */
static bool is_of_other_memory(const struct work *work)
{
	uint64_t addresses[2];

	memcpy(addresses, work->parameters, sizeof(addresses));
	for (unsigned i = 0; i < 2; i++)
		if (work->memory[i] && work->memory[i] != fake_memory_number(addresses[i]))
			return true;
	return false;
}

static CUresult run_node(CUgraphExec exec, unsigned i, CUstream stream)
{
	const struct CUgraphNode_st *node = &exec->nodes[i];
	int id = fake_stream_of(stream)->id;
	CUresult result = CUDA_SUCCESS;

	fake_begin_node(id, node);
	if (!node->event)
		result = fake_current()->error ? fake_current()->error
					       : fake_run(&exec->work[i], stream);
	else if (node->is_record)
		fake_record(node->event, id);
	else
		fake_stream_waits(id, node->event);
	if (node->event && node->event_number != fake_event_number(node->event))
		fake_log_op("event_of_other", 0, 0);
	if (is_of_other_memory(&exec->work[i]))
		fake_log_op("memory_of_other", 0, 0);
	fake_end_node(id, node);
	return result;
}

static CUresult run_nodes(CUgraphExec exec, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;
	unsigned i = 0;

	fake_begin_graph(fake_stream_of(stream)->id);
	for (; result == CUDA_SUCCESS && i < exec->count; i++)
		result = run_node(exec, i, stream);
	fake_end_graph(fake_stream_of(stream)->id, i);
	return result;
}

static CUresult graph_launch(CUgraphExec exec, CUstream stream)
{
	CUresult result;

	if ((getenv("FAKE_DRIVER_SLOW") || fake_takes_turns()) && !exec->is_captured)
		usleep(SLOW_US);
	if (fake_refuses("graph", exec->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&fake_lock);
	result = exec->is_captured ? run_captured(exec, stream) : run_nodes(exec, stream);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	return graph_launch(exec, stream);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	return graph_launch(exec, stream);
}

static CUresult begin_capture(CUstream stream)
{
	if (fake_stream_of(stream) == &fake_legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	fake_log_op("begin_capture", fake_stream_of(stream)->id, 0);
	__atomic_fetch_add(&fake_captures, 1, __ATOMIC_SEQ_CST);
	cuGraphCreate(&fake_stream_of(stream)->captured, 0);
	fake_stream_of(stream)->captured->is_captured = true;
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	(void)mode;
	return begin_capture(stream);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
	(void)mode;
	return begin_capture(stream);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = fake_stream_of(stream)->captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
						   : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	if (!fake_stream_of(stream)->captured)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = fake_stream_of(stream)->captured;
	fake_stream_of(stream)->captured = NULL;
	__atomic_fetch_sub(&fake_captures, 1, __ATOMIC_SEQ_CST);
	fake_log_op("end_capture", fake_stream_of(stream)->id, (*graph)->count);
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
	return cuStreamEndCapture(stream, graph);
}

static CUresult not_supported(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *after,
				     const CUgraphEdgeData *edges, size_t count,
				     CUstreamCaptureMode mode)
{
	(void)stream, (void)graph, (void)after, (void)edges, (void)count, (void)mode;
	return not_supported();
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *after,
					  const CUgraphEdgeData *edges, size_t count,
					  CUstreamCaptureMode mode)
{
	return cuStreamBeginCaptureToGraph(stream, graph, after, edges, count, mode);
}
