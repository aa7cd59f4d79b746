/*
 * program.c - the program's other calls as the stand-in for CUPTI sees them, and the graphs that it makes.
 */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "callbacks.h"
#include "cupti_api.h"

void mock_program_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *parameters,
		       int status, void (*during)(void))
{
	static atomic_uint last_correlation = 500000;
	uint64_t kept = 0;
	CUpti_CallbackData data = {
		.functionName = id == CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync  ? "cuMemFreeAsync"
				: id == CUPTI_DRIVER_TRACE_CBID_cuEventRecord ? "cuEventRecord"
									      : NULL,
		.functionParams = parameters,
		.functionReturnValue = &status,
		.context = (CUcontext)1,
		.contextUid = 1,
		.correlationData = &kept,
		.correlationId = ++last_correlation,
	};

	mock_call_subscriber(domain, id, &data, CUPTI_API_ENTER);
	if (during)
		during();
	mock_call_subscriber(domain, id, &data, CUPTI_API_EXIT);
}

/* The handles of the stand-in's streams and nodes are their ids. */
CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t is_per_thread,
					uint32_t *id)
{
	(void)context;
	*id = (uint32_t)(uintptr_t)stream + (is_per_thread ? 1000 : 0);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	*id = (uintptr_t)node;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)graph;
	return CUPTI_SUCCESS;
}
