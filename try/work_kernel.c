/* work_kernel.c - launches of kernels, by themselves and as nodes. */
#include <stdlib.h>

#include "driver.h"
#include "work.h"

/* Where each parameter lies, as launches and nodes of graphs take them; valid until the next call. */
static void **item_parameters(const struct item *item)
{
	static void **pointers; /* under the lock of the queue */
	static unsigned room;
	const struct kernel *kernel = item->kernel;

	if (kernel->parameter_count >= room) {
		void **more = realloc(pointers, 2 * (kernel->parameter_count + 1) * sizeof(*more));

		if (!more)
			return NULL;
		pointers = more;
		room = 2 * (kernel->parameter_count + 1);
	}
	for (unsigned i = 0; i < kernel->parameter_count; i++)
		pointers[i] = (void *)(item->parameters + kernel->parameters[i].offset);
	return pointers;
}

/* The parameters lie in the item. */
static CUresult launch(const struct item *item)
{
	const struct shape *shape = &item->shape;
	void **parameters = item_parameters(item);

	if (!parameters)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return driver_open()->launch(item->kernel->function, shape->grid[0], shape->grid[1],
				     shape->grid[2], shape->block[0], shape->block[1],
				     shape->block[2], shape->shared_bytes, item->stream, parameters,
				     NULL);
}

static CUDA_KERNEL_NODE_PARAMS node_of(const struct item *item, CUcontext context)
{
	const struct shape *shape = &item->shape;
	bool is_handle = item->kernel->is_handle_of_kernel;

	return (CUDA_KERNEL_NODE_PARAMS){.func = is_handle ? NULL : item->kernel->function,
					 .kern = is_handle ? (CUkernel)item->kernel->function
							   : NULL,
					 .ctx = is_handle ? context : NULL,
					 .gridDimX = shape->grid[0],
					 .gridDimY = shape->grid[1],
					 .gridDimZ = shape->grid[2],
					 .blockDimX = shape->block[0],
					 .blockDimY = shape->block[1],
					 .blockDimZ = shape->block[2],
					 .sharedMemBytes = shape->shared_bytes,
					 .kernelParams = item_parameters(item)};
}

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
		    const struct item *item, CUcontext context)
{
	CUDA_KERNEL_NODE_PARAMS parameters = node_of(item, context);

	if (!parameters.kernelParams)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return driver_open()->add_kernel(node, graph, after, count, &parameters);
}

static CUresult set(CUgraphExec exec, CUgraphNode node, const struct item *item, CUcontext context)
{
	CUDA_KERNEL_NODE_PARAMS parameters = node_of(item, context);

	if (!parameters.kernelParams)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return driver_open()->set_kernel(exec, node, &parameters);
}

const struct work work_kernel = {launch, add, set};
