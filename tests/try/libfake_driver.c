/*
 * libfake_driver.c - a stand-in for libcuda.so.1 that does what it is told at once, on memory of the host.
 *
 * So whatever is put off for too long shows: fake_digest() is a hash of all that was done, in order, with every byte of
 * the parameters.  Addresses and numbers of streams are the same in each run.
 *
 * FAKE_DRIVER_REFUSES=instantiate, set or graph: that call fails for graphs that were not captured, the third time and
 * from then on.
 */
#define _GNU_SOURCE
#include "fake_driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_ADDRESS ((void *)0x200000000000)
enum {
	ARENA_BYTES = 1 << 28,
	PARAMETERS_MAX = 64,
	NODES_MAX = 4096,
	BLOCK_MAX = 1024,
	SHARED_MAX = 48 << 10
};

enum magic { IS_FUNCTION = 0x46554e43, IS_KERNEL = 0x4b45524e };

struct kind {
	const char *name;
	unsigned count;
	size_t bytes[PARAMETERS_MAX];
};

#define FOUR_INTS 4, 4, 4, 4
static const struct kind kinds[] = {
	{"empty", 0, {0}},
	{"fill", 3, {8, 4, 4}},
	{"mix", 5, {8, 8, 1, 8, 2}},
	{"many",
	 41,
	 {8, FOUR_INTS, FOUR_INTS, FOUR_INTS, FOUR_INTS, FOUR_INTS, FOUR_INTS, FOUR_INTS, FOUR_INTS,
	  FOUR_INTS, FOUR_INTS}},
	{"large", 2, {8, 4000}},
	{"cluster", 1, {8}},
	{"signal", 2, {8, 4}},
	{"fault", 0, {0}},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct handle {
	enum magic magic;
	const struct kind *kind;
	int shared_max;
};
static struct handle functions[KINDS], kernels[KINDS];

struct work {
	const struct kind *kind;
	unsigned grid[3], block[3], shared;
	unsigned char parameters[4096 + 64];
};

struct CUgraphNode_st {
	struct work work;
	struct CUgraph_st *graph;
	unsigned index;
};

struct CUgraph_st {
	struct CUgraphNode_st *nodes[NODES_MAX];
	unsigned count;
	bool is_captured;
};

struct CUgraphExec_st {
	bool is_captured;
	struct work *work;
	unsigned count;
};

struct CUctx_st {
	int id;
	CUresult error;
};

struct CUstream_st {
	int id, priority;
	CUcontext context;
	CUgraph captured; /* NULL: it captures nothing */
};

static struct CUctx_st contexts[4] = {{0, CUDA_SUCCESS}};
static int context_count = 1;
static __thread CUcontext stack[16];
static __thread int depth;
static int stream_count = 3;
static struct CUstream_st per_thread = {.id = 2};
static struct CUstream_st legacy = {.id = 1};
static unsigned char *arena;
static size_t arena_used;
static uint64_t digest = 1469598103934665603u;
static unsigned refused_calls;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void mix(const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		digest = (digest ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
}

static void log_op(const char *name, long a, long b)
{
	const char *path = getenv("FAKE_DRIVER_LOG");
	FILE *file = path ? fopen(path, "ae") : NULL;

	mix(name, strlen(name));
	mix(&a, sizeof(a));
	mix(&b, sizeof(b));
	if (file) {
		fprintf(file, "%s %ld %ld\n", name, a, b);
		fclose(file);
	}
}

uint64_t fake_digest(void)
{
	return __atomic_load_n(&digest, __ATOMIC_ACQUIRE);
}

static bool refuses(const char *what, bool is_captured)
{
	const char *refused = getenv("FAKE_DRIVER_REFUSES");

	return refused && !is_captured && !strcmp(refused, what) && ++refused_calls >= 3;
}

static CUcontext current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

static struct CUstream_st *stream_of(CUstream stream)
{
	if (!stream || stream == CU_STREAM_LEGACY)
		return &legacy;
	return stream == CU_STREAM_PER_THREAD ? &per_thread : stream;
}

static size_t offset_of(const struct kind *kind, unsigned index)
{
	size_t offset = 0;

	for (unsigned i = 0;; i++) {
		size_t aligned = kind->bytes[i] < 8 ? kind->bytes[i] : 8;

		offset = (offset + aligned - 1) / aligned * aligned;
		if (i == index)
			return offset;
		offset += kind->bytes[i];
	}
}

/* ---- kernels ---- */

static void run_kind(const struct work *work)
{
	unsigned char *target;
	uint64_t hash = 1469598103934665603u;

	if (!work->kind->count)
		return;
	memcpy(&target, work->parameters, sizeof(target));
	if (!strcmp(work->kind->name, "signal")) {
		int value;

		memcpy(&value, work->parameters + 8, sizeof(value));
		__atomic_store_n((int *)target, value, __ATOMIC_RELEASE);
		return;
	}
	for (unsigned i = 0; i < work->kind->count; i++)
		for (size_t j = 0; j < work->kind->bytes[i]; j++)
			hash = (hash ^ work->parameters[offset_of(work->kind, i) + j]) *
			       1099511628211u;
	for (unsigned i = 0; i < 64; i++)
		target[i] = (unsigned char)(target[i] * 31 + (hash >> (i % 8 * 8)) + work->grid[0] +
					    work->block[0]);
}

static CUresult run(const struct work *work, CUstream stream)
{
	log_op(work->kind->name, stream_of(stream)->id, work->grid[0]);
	mix(work->grid, sizeof(work->grid));
	mix(work->block, sizeof(work->block));
	mix(&work->shared, sizeof(work->shared));
	for (unsigned i = 0; i < work->kind->count; i++)
		mix(work->parameters + offset_of(work->kind, i), work->kind->bytes[i]);
	if (!strcmp(work->kind->name, "fault"))
		current()->error = CUDA_ERROR_ILLEGAL_ADDRESS;
	else
		run_kind(work);
	return CUDA_SUCCESS;
}

static const struct handle *handle_of(const void *handle)
{
	const struct handle *found = handle;

	return found && (found->magic == IS_FUNCTION || found->magic == IS_KERNEL) ? found : NULL;
}

static CUresult fill_work(struct work *work, const struct handle *handle, const unsigned grid[3],
			  const unsigned block[3], unsigned shared, void **parameters, void **extra)
{
	if (!handle)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2] ||
	    grid[1] > 65535 || block[0] * block[1] * block[2] > BLOCK_MAX ||
	    shared > (unsigned)handle->shared_max)
		return CUDA_ERROR_INVALID_VALUE;
	memset(work, 0, sizeof(*work));
	work->kind = handle->kind;
	memcpy(work->grid, grid, sizeof(work->grid));
	memcpy(work->block, block, sizeof(work->block));
	work->shared = shared;
	for (unsigned i = 0; parameters && i < handle->kind->count; i++)
		memcpy(work->parameters + offset_of(handle->kind, i), parameters[i],
		       handle->kind->bytes[i]);
	if (!parameters && extra)
		memcpy(work->parameters, extra[1], *(size_t *)extra[3]);
	return CUDA_SUCCESS;
}

static CUgraphNode add_node(CUgraph graph, const struct work *work)
{
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));

	if (!node || graph->count == NODES_MAX)
		abort();
	node->work = *work;
	node->graph = graph;
	node->index = graph->count;
	graph->nodes[graph->count++] = node;
	return node;
}

static CUresult launch(CUfunction function, const unsigned grid[3], const unsigned block[3],
		       unsigned shared, CUstream stream, void **parameters, void **extra,
		       bool has_cluster)
{
	const struct handle *handle = handle_of(function);
	struct work work;
	CUresult result;

	if (!current())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	result = current()->error
			 ? current()->error
			 : fill_work(&work, handle, grid, block, shared, parameters, extra);
	if (result == CUDA_SUCCESS && !strcmp(handle->kind->name, "cluster") && !has_cluster)
		result = CUDA_ERROR_INVALID_CLUSTER_SIZE;
	if (result == CUDA_SUCCESS && stream_of(stream)->captured)
		add_node(stream_of(stream)->captured, &work);
	else if (result == CUDA_SUCCESS)
		result = run(&work, stream);
	pthread_mutex_unlock(&lock);
	return result;
}

#define SHAPE(grid_x, grid_y, grid_z) ((const unsigned[3]){grid_x, grid_y, grid_z})

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			unsigned by, unsigned bz, unsigned shared, CUstream stream,
			void **parameters, void **extra)
{
	return launch(f, SHAPE(gx, gy, gz), SHAPE(bx, by, bz), shared, stream, parameters, extra,
		      false);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			     unsigned by, unsigned bz, unsigned shared, CUstream stream,
			     void **parameters, void **extra)
{
	return launch(f, SHAPE(gx, gy, gz), SHAPE(bx, by, bz), shared,
		      stream ? stream : CU_STREAM_PER_THREAD, parameters, extra, false);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **parameters,
			  void **extra)
{
	return launch(f, SHAPE(config->gridDimX, config->gridDimY, config->gridDimZ),
		      SHAPE(config->blockDimX, config->blockDimY, config->blockDimZ),
		      config->sharedMemBytes, config->hStream, parameters, extra, config->numAttrs);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **parameters,
			       void **extra)
{
	CUlaunchConfig changed = *config;

	if (!changed.hStream)
		changed.hStream = CU_STREAM_PER_THREAD;
	return cuLaunchKernelEx(&changed, f, parameters, extra);
}

static CUresult parameter_info(const void *given, enum magic magic, size_t i, size_t *offset,
			       size_t *bytes)
{
	const struct handle *handle = handle_of(given);

	if (!handle || handle->magic != magic)
		return CUDA_ERROR_INVALID_HANDLE;
	if (i >= handle->kind->count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = offset_of(handle->kind, (unsigned)i);
	*bytes = handle->kind->bytes[i];
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t i, size_t *offset, size_t *bytes)
{
	return parameter_info(kernel, IS_KERNEL, i, offset, bytes);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t i, size_t *offset, size_t *bytes)
{
	return parameter_info(function, IS_FUNCTION, i, offset, bytes);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	const struct handle *handle = handle_of(kernel);

	if (!handle || handle->magic != IS_KERNEL)
		return CUDA_ERROR_INVALID_HANDLE;
	*function = (CUfunction)&functions[handle->kind - kinds];
	return CUDA_SUCCESS;
}

static struct handle *both(const void *given, int i)
{
	const struct handle *handle = handle_of(given);

	return i ? &kernels[handle->kind - kinds] : &functions[handle->kind - kinds];
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	*value = 0;
	if (attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
		*value = !strcmp(handle_of(function)->kind->name, "cluster");
	if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		*value = handle_of(function)->shared_max;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		return CUDA_SUCCESS;
	if (handle_of(function)->shared_max != value)
		log_op("attribute", attribute, value);
	both(function, 0)->shared_max = both(function, 1)->shared_max = value;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
			      CUdevice device)
{
	(void)device;
	return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
			      CUdevice device)
{
	(void)device;
	return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

static CUresult find(struct handle *handles, const char *name, void *found)
{
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name)) {
			*(void **)found = &handles[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	(void)module;
	return find(functions, name, function);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	(void)library;
	return find(kernels, name, kernel);
}

/* ---- graphs and captures ---- */

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
	if (node->kern && node->ctx != current())
		return CUDA_ERROR_INVALID_CONTEXT;
	return fill_work(work,
			 handle_of(node->func ? (const void *)node->func
					      : (const void *)node->kern),
			 SHAPE(node->gridDimX, node->gridDimY, node->gridDimZ),
			 SHAPE(node->blockDimX, node->blockDimY, node->blockDimZ),
			 node->sharedMemBytes, node->kernelParams, node->extra);
}

/* Each node must follow the one before it: what is tested makes no other graphs. */
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			      size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct work work;
	CUresult result = work_of_node(&work, parameters);

	if (count != (graph->count ? 1 : 0) ||
	    (count && after[0] != graph->nodes[graph->count - 1]))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (result == CUDA_SUCCESS)
		*node = add_node(graph, &work);
	return result;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct work work;
	CUresult result = work_of_node(&work, parameters);

	if (refuses("set", exec->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (result == CUDA_SUCCESS)
		exec->work[node->index] = work;
	return result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	if (refuses("instantiate", graph->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	*exec = calloc(1, sizeof(**exec));
	(*exec)->count = graph->count;
	(*exec)->is_captured = graph->is_captured;
	(*exec)->work = calloc(graph->count + 1, sizeof(struct work));
	for (unsigned i = 0; i < graph->count; i++)
		(*exec)->work[i] = graph->nodes[i]->work;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	free(exec->work);
	free(exec);
	return CUDA_SUCCESS;
}

static CUresult graph_launch(CUgraphExec exec, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;

	if (refuses("graph", exec->is_captured))
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; result == CUDA_SUCCESS && i < exec->count; i++)
		result = current()->error ? current()->error : run(&exec->work[i], stream);
	pthread_mutex_unlock(&lock);
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
	if (stream_of(stream) == &legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	log_op("begin_capture", stream_of(stream)->id, 0);
	cuGraphCreate(&stream_of(stream)->captured, 0);
	stream_of(stream)->captured->is_captured = true;
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

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	if (!stream_of(stream)->captured)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = stream_of(stream)->captured;
	stream_of(stream)->captured = NULL;
	log_op("end_capture", stream_of(stream)->id, (*graph)->count);
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

/* ---- contexts, streams, events ---- */

CUresult cuInit(unsigned flags)
{
	(void)flags;
	for (int i = 0; i < KINDS; i++) {
		functions[i] = (struct handle){IS_FUNCTION, &kinds[i], SHARED_MAX};
		kernels[i] = (struct handle){IS_KERNEL, &kinds[i], SHARED_MAX};
	}
	arena = mmap(ARENA_ADDRESS, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
	return arena == ARENA_ADDRESS ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	(void)device;
	*context = &contexts[0];
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
			CUdevice device)
{
	(void)parameters, (void)flags, (void)device;
	*context = &contexts[context_count];
	(*context)->id = context_count++;
	stack[depth++] = *context;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	depth = depth ? depth : 1;
	stack[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = current();
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
	*context = stack[--depth];
	return CUDA_SUCCESS;
}

static CUresult observe(const char *what, long which)
{
	pthread_mutex_lock(&lock);
	log_op(what, which, current() ? current()->id : -1);
	pthread_mutex_unlock(&lock);
	return current() ? current()->error : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxSynchronize(void)
{
	return observe("context_synchronize", 0);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
	(void)flags;
	*stream = calloc(1, sizeof(**stream));
	**stream = (struct CUstream_st){.id = ++stream_count,
					.priority = priority,
					.context = current()};
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream)
{
	log_op("stream_destroy", stream->id, 0);
	free(stream);
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	*context = stream_of(stream)->context;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
	*priority = stream_of(stream)->priority;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	return observe("stream_synchronize", stream_of(stream)->id);
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	return cuStreamSynchronize(stream);
}

CUresult cuStreamQuery(CUstream stream)
{
	return observe("stream_query", stream_of(stream)->id);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	static long count;

	(void)flags;
	*event = (CUevent)++count;
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	mix(&event, sizeof(event));
	return observe("event_record", stream_of(stream)->id);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	mix(&event, sizeof(event));
	return observe("stream_wait_event", stream_of(stream)->id);
}

CUresult cuEventSynchronize(CUevent event)
{
	mix(&event, sizeof(event));
	return observe("event_synchronize", 0);
}

CUresult cuEventQuery(CUevent event)
{
	mix(&event, sizeof(event));
	return observe("event_query", 0);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	CUresult result = observe("host_function", stream_of(stream)->id);

	function(data);
	return result;
}

/* ---- memory ---- */

static CUresult allocate(void *address, size_t bytes)
{
	pthread_mutex_lock(&lock);
	*(unsigned char **)address = arena + arena_used;
	arena_used += (bytes + 255) / 256 * 256;
	pthread_mutex_unlock(&lock);
	return arena_used <= ARENA_BYTES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
	return allocate(address, bytes);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	return allocate(address, bytes);
}

CUresult cuMemFree(CUdeviceptr address)
{
	return observe("free", (long)address);
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
	memset((void *)address, value, count);
	return observe("memset", stream_of(stream)->id);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	memcpy(to, (const void *)from, bytes);
	return observe("copy_to_host", (long)from);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	memmove((void *)to, (const void *)from, bytes);
	return observe("copy", stream_of(stream)->id);
}

/* As the newest version, that of one stream for each thread where flags ask for it. */
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
			  CUdriverProcAddressQueryResult *status)
{
	static const struct {
		const char *name;
		void *function, *per_thread;
	} all[] = {
#define EXPORTED(name) {#name, (void *)(name), (void *)(name)},
#define EXPORTED_TWICE(name) {#name, (void *)(name), (void *)(name##_ptsz)},
		FAKE_DRIVER_FUNCTIONS(EXPORTED,
				      EXPORTED_TWICE){"cuStreamBeginCapture",
						      (void *)cuStreamBeginCapture,
						      (void *)cuStreamBeginCapture_v2_ptsz},
		{"cuGetProcAddress", (void *)cuGetProcAddress, (void *)cuGetProcAddress},
		{"cuCtxCreate", (void *)cuCtxCreate_v4, (void *)cuCtxCreate_v4}};

	(void)version;
	*function = NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			*function = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					    ? all[i].per_thread
					    : all[i].function;
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
