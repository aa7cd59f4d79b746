/* work_memory.c - memsets and copies within memory of the GPU, by themselves and as nodes. */
#include <stdint.h>
#include <string.h>

#include "driver.h"
#include "work.h"

/* ---- memsets ---- */

static struct memory_set set_of(const struct item *item)
{
	struct memory_set set;

	memcpy(&set, item->parameters, sizeof(set));
	return set;
}

static CUresult run_set(const struct item *item)
{
	const struct driver *driver = driver_open();
	struct memory_set set = set_of(item);

	if (set.element_bytes == 1)
		return driver->set_8(set.address, (unsigned char)set.value, set.count,
				     item->stream);
	if (set.element_bytes == 2)
		return driver->set_16(set.address, (unsigned short)set.value, set.count,
				      item->stream);
	return driver->set_32(set.address, set.value, set.count, item->stream);
}

static CUDA_MEMSET_NODE_PARAMS set_node(const struct item *item)
{
	struct memory_set set = set_of(item);

	return (CUDA_MEMSET_NODE_PARAMS){.dst = set.address,
					 .value = set.value,
					 .elementSize = set.element_bytes,
					 .width = set.count,
					 .height = 1};
}

static CUresult add_set(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			const struct item *item, CUcontext context)
{
	CUDA_MEMSET_NODE_PARAMS parameters = set_node(item);

	return driver_open()->add_memset(node, graph, after, count, &parameters, context);
}

static CUresult change_set(CUgraphExec exec, CUgraphNode node, const struct item *item,
			   CUcontext context)
{
	CUDA_MEMSET_NODE_PARAMS parameters = set_node(item);

	return driver_open()->set_memset(exec, node, &parameters, context);
}

/* ---- copies ---- */

static struct memory_copy copy_of(const struct item *item)
{
	struct memory_copy copy;

	memcpy(&copy, item->parameters, sizeof(copy));
	return copy;
}

static CUresult run_copy(const struct item *item)
{
	struct memory_copy copy = copy_of(item);

	return driver_open()->copy(copy.to, copy.from, copy.bytes, item->stream);
}

static CUresult run_copy_from_host(const struct item *item)
{
	struct memory_copy copy = copy_of(item);

	return driver_open()->copy_from_host_async(copy.to, (const void *)(uintptr_t)copy.from,
						   copy.bytes, item->stream);
}

static CUresult run_copy_to_host(const struct item *item)
{
	struct memory_copy copy = copy_of(item);

	return driver_open()->copy_to_host_async((void *)(uintptr_t)copy.to, copy.from, copy.bytes,
						 item->stream);
}

static CUDA_MEMCPY3D copy_node(const struct item *item)
{
	struct memory_copy copy = copy_of(item);
	CUDA_MEMCPY3D node = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcDevice = copy.from,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstDevice = copy.to,
			      .WidthInBytes = copy.bytes,
			      .Height = 1,
			      .Depth = 1};

	if (item->kernel == work_copy_from_host()) {
		node.srcMemoryType = CU_MEMORYTYPE_HOST;
		node.srcHost = (const void *)(uintptr_t)copy.from;
		node.srcDevice = 0;
	}
	if (item->kernel == work_copy_to_host()) {
		node.dstMemoryType = CU_MEMORYTYPE_HOST;
		node.dstHost = (void *)(uintptr_t)copy.to;
		node.dstDevice = 0;
	}
	return node;
}

static CUresult add_copy(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			 const struct item *item, CUcontext context)
{
	CUDA_MEMCPY3D parameters = copy_node(item);

	return driver_open()->add_memcpy(node, graph, after, count, &parameters, context);
}

static CUresult change_copy(CUgraphExec exec, CUgraphNode node, const struct item *item,
			    CUcontext context)
{
	CUDA_MEMCPY3D parameters = copy_node(item);

	return driver_open()->set_memcpy(exec, node, &parameters, context);
}

/* ---- what stands for them in the queue ---- */

static const struct work set_work = {run_set, add_set, change_set};
static const struct work copy_work = {run_copy, add_copy, change_copy};
static const struct work copy_from_host_work = {run_copy_from_host, add_copy, change_copy};
static const struct work copy_to_host_work = {run_copy_to_host, add_copy, change_copy};
static struct parameter set_parameter = {0, sizeof(struct memory_set)};
static struct parameter copy_parameter = {0, sizeof(struct memory_copy)};

#define OF_SET                                                                         \
	{                                                                              \
		.work = &set_work, .parameters = &set_parameter, .parameter_count = 1, \
		.parameter_bytes = sizeof(struct memory_set)                           \
	}

struct kernel *work_set(unsigned element_bytes)
{
	static struct kernel sets[] = {OF_SET, OF_SET, OF_SET};

	return &sets[element_bytes / 2];
}

#define OF_COPY(how)                                                                \
	{                                                                           \
		.work = (how), .parameters = &copy_parameter, .parameter_count = 1, \
		.parameter_bytes = sizeof(struct memory_copy)                       \
	}

struct kernel *work_copy(void)
{
	static struct kernel copy = OF_COPY(&copy_work);

	return &copy;
}

struct kernel *work_copy_from_host(void)
{
	static struct kernel copy = OF_COPY(&copy_from_host_work);

	return &copy;
}

struct kernel *work_copy_to_host(void)
{
	static struct kernel copy = OF_COPY(&copy_to_host_work);

	return &copy;
}
