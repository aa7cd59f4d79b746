/* kernels.c - the kernels that there are, and their launches. */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	{"tell", 2, {8, 4}},
	{"print", 1, {4}},
	{"numbered", 4, {8, 4, 4, 4}},
	{"set", 4, {8, 8, 4, 4}},
	{"copy", 3, {8, 8, 8}},
	{"copy_from_host", 3, {8, 8, 8}},
	{"copy_to_host", 3, {8, 8, 8}},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

enum { BLOCK_MAX = 1024, SHARED_MAX = 48 << 10, SLOW_US = 250, BLOCK_S = 3 };

static struct handle functions[KINDS], kernels[KINDS];

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

/* An address by the name of its memory. */
static void parameter_as_named(unsigned char *bytes, const struct work *work, unsigned i)
{
	uint64_t address;

	memcpy(bytes, work->parameters + offset_of(work->kind, i), work->kind->bytes[i]);
	if (work->kind->bytes[i] != sizeof(address))
		return;
	if (!strcmp(work->kind->name, "tell")) /* the host's, which the fake does not know */
		memset(bytes, 0, sizeof(address));
	memcpy(&address, bytes, sizeof(address));
	address = fake_address(address);
	memcpy(bytes, &address, sizeof(address));
}

static void run_set(const struct work *work)
{
	unsigned char *target;
	uint64_t count;
	unsigned value, element;

	memcpy(&target, work->parameters, 8);
	memcpy(&count, work->parameters + 8, 8);
	memcpy(&value, work->parameters + 16, 4);
	memcpy(&element, work->parameters + 20, 4);
	for (size_t i = 0; i < count; i++)
		memcpy(target + i * element, &value, element);
}

static void run_copy(const struct work *work)
{
	unsigned char *pointers[2];
	uint64_t bytes;

	memcpy(pointers, work->parameters, 16);
	memcpy(&bytes, work->parameters + 16, 8);
	memmove(pointers[0], pointers[1], bytes);
}

static const struct kind *kind_named(const char *name)
{
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

CUresult fake_fill_set(struct work *work, CUdeviceptr address, unsigned value, unsigned element,
		       size_t count)
{
	memset(work, 0, sizeof(*work));
	work->kind = kind_named("set");
	memcpy(work->parameters, &address, 8);
	memcpy(work->parameters + 8, &count, 8);
	memcpy(work->parameters + 16, &value, 4);
	memcpy(work->parameters + 20, &element, 4);
	work->memory[0] = fake_memory_number(address);
	return address % element || !fake_is_allocated(address, count * element)
		       ? CUDA_ERROR_INVALID_VALUE
		       : CUDA_SUCCESS;
}

static void fill_copy(struct work *work, const char *kind, CUdeviceptr to, CUdeviceptr from,
		      size_t bytes)
{
	memset(work, 0, sizeof(*work));
	work->kind = kind_named(kind);
	memcpy(work->parameters, &to, 8);
	memcpy(work->parameters + 8, &from, 8);
	memcpy(work->parameters + 16, &bytes, 8);
	work->memory[0] = fake_memory_number(to);
	work->memory[1] = fake_memory_number(from);
}

CUresult fake_fill_copy(struct work *work, CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	fill_copy(work, "copy", to, from, bytes);
	return fake_is_allocated(to, bytes) && fake_is_allocated(from, bytes)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_fill_host_copy(struct work *work, CUdeviceptr to, CUdeviceptr from, size_t bytes,
			     bool is_to_host)
{
	fill_copy(work, is_to_host ? "copy_to_host" : "copy_from_host", to, from, bytes);
	return fake_is_allocated(is_to_host ? from : to, bytes) &&
			       fake_is_pinned(is_to_host ? to : from, bytes)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

/* The host learns it by waiting. */
static bool tell(const struct work *work, int stream)
{
	int *target = NULL, value;

	if (!strcmp(work->kind->name, "print")) {
		memcpy(&value, work->parameters, sizeof(value));
	} else if (!strcmp(work->kind->name, "tell")) {
		memcpy(&target, work->parameters, sizeof(target));
		memcpy(&value, work->parameters + 8, sizeof(value));
	} else {
		return false;
	}
	fake_tell(stream, target, value);
	return true;
}

static void run_kind(const struct work *work)
{
	unsigned char *target;
	uint64_t hash = 1469598103934665603u;

	if (!work->kind->count)
		return;
	memcpy(&target, work->parameters, sizeof(target));
	if (!strcmp(work->kind->name, "set")) {
		run_set(work);
		return;
	}
	if (!strcmp(work->kind->name, "copy")) {
		run_copy(work);
		return;
	}
	if (!strcmp(work->kind->name, "signal")) {
		int value;

		memcpy(&value, work->parameters + 8, sizeof(value));
		__atomic_store_n((int *)target, value, __ATOMIC_RELEASE);
		return;
	}
	for (unsigned i = 0; i < work->kind->count; i++) {
		unsigned char bytes[4096];

		parameter_as_named(bytes, work, i);
		for (size_t j = 0; j < work->kind->bytes[i]; j++)
			hash = (hash ^ bytes[j]) * 1099511628211u;
	}
	for (unsigned i = 0; i < 64; i++)
		target[i] = (unsigned char)(target[i] * 31 + (hash >> (i % 8 * 8)) + work->grid[0] +
					    work->block[0]);
}

/* Its parameters: memory, what it belongs to, its number there, and a value. */
static void run_numbered(const struct work *work, int stream)
{
	uint64_t target, hash = 1469598103934665603u;
	unsigned lane, number, value;

	memcpy(&target, work->parameters, 8);
	memcpy(&lane, work->parameters + 8, 4);
	memcpy(&number, work->parameters + 12, 4);
	memcpy(&value, work->parameters + 16, 4);
	hash = (hash ^ fake_address(target)) * 1099511628211u;
	hash = (hash ^ value) * 1099511628211u;
	hash = (hash ^ work->grid[0]) * 1099511628211u;
	fake_order_numbered(stream, lane, number, hash);
	run_kind(work);
}

/* The driver does not work in another process than that which began to use it. */
static void look_at_process(void)
{
	static const char message[] = "the driver is used in a child\n";
	static pid_t process;

	if (!process)
		process = getpid();
	if (process != getpid() && write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		abort();
}

CUresult fake_run(const struct work *work, CUstream stream)
{
	look_at_process();
	fake_settle_pieces();
	fake_end_operation();
	if (!strncmp(work->kind->name, "copy_", 5))
		return fake_run_host_copy(work, stream);
	if (!strcmp(work->kind->name, "numbered")) {
		fake_current()->unfinished++;
		run_numbered(work, fake_stream_of(stream)->id);
		return CUDA_SUCCESS;
	}
	fake_log_op(work->kind->name, fake_stream_of(stream)->id, work->grid[0]);
	fake_order(fake_stream_of(stream)->id);
	fake_mix(work->grid, sizeof(work->grid));
	fake_mix(work->block, sizeof(work->block));
	fake_mix(&work->shared, sizeof(work->shared));
	for (unsigned i = 0; i < work->kind->count; i++) {
		unsigned char bytes[4096];

		parameter_as_named(bytes, work, i);
		fake_mix(bytes, work->kind->bytes[i]);
	}
	if (fake_current())
		fake_current()->unfinished++;
	if (!strcmp(work->kind->name, "fault"))
		fake_current()->error = CUDA_ERROR_ILLEGAL_ADDRESS;
	else if (!tell(work, fake_stream_of(stream)->id))
		run_kind(work);
	return CUDA_SUCCESS;
}

const struct handle *fake_handle_of(const void *handle)
{
	const struct handle *found = handle;

	return found && (found->magic == IS_FUNCTION || found->magic == IS_KERNEL) ? found : NULL;
}

CUresult fake_fill_work(struct work *work, const struct handle *handle, const unsigned grid[3],
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

CUgraphNode fake_add_node(CUgraph graph, const struct work *work)
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

CUresult fake_give(const struct work *work, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;

	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&fake_lock);
	if (fake_current()->error)
		result = fake_current()->error;
	else if (fake_stream_of(stream)->captured)
		fake_add_node(fake_stream_of(stream)->captured, work);
	else
		result = fake_run(work, stream);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

/* FAKE_DRIVER_BLOCKS=KIND: the third launch of a kernel of that kind returns after three seconds, as where the GPU has no room
 * for more. */
static void wait_for_room(const struct handle *handle)
{
	static unsigned times;
	const char *kind = getenv("FAKE_DRIVER_BLOCKS");

	if (kind && handle && !strcmp(handle->kind->name, kind) &&
	    __atomic_add_fetch(&times, 1, __ATOMIC_SEQ_CST) == 3)
		sleep(BLOCK_S);
}

static CUresult launch(CUfunction function, const unsigned grid[3], const unsigned block[3],
		       unsigned shared, CUstream stream, void **parameters, void **extra,
		       bool has_cluster)
{
	const struct handle *handle = fake_handle_of(function);
	struct work work;
	CUresult result;

	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!parameters && fake_takes_turns())
		usleep(SLOW_US);
	wait_for_room(handle);
	pthread_mutex_lock(&fake_lock);
	result = fake_current()->error
			 ? fake_current()->error
			 : fake_fill_work(&work, handle, grid, block, shared, parameters, extra);
	if (result == CUDA_SUCCESS && !strcmp(handle->kind->name, "cluster") && !has_cluster)
		result = CUDA_ERROR_INVALID_CLUSTER_SIZE;
	if (result == CUDA_SUCCESS && fake_stream_of(stream)->captured)
		fake_add_node(fake_stream_of(stream)->captured, &work);
	else if (result == CUDA_SUCCESS)
		result = fake_run(&work, stream);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

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

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				   unsigned by, unsigned bz, unsigned shared, CUstream stream,
				   void **parameters)
{
	return launch(f, SHAPE(gx, gy, gz), SHAPE(bx, by, bz), shared, stream, parameters, NULL,
		      false);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
					unsigned bx, unsigned by, unsigned bz, unsigned shared,
					CUstream stream, void **parameters)
{
	return launch(f, SHAPE(gx, gy, gz), SHAPE(bx, by, bz), shared,
		      stream ? stream : CU_STREAM_PER_THREAD, parameters, NULL, false);
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
	const struct handle *handle = fake_handle_of(given);

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
	const struct handle *handle = fake_handle_of(kernel);

	if (!handle || handle->magic != IS_KERNEL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (getenv("FAKE_DRIVER_JIT")) /* code that is compiled at its first launch, for which a driver loads its compiler */
		dlopen("there is no such compiler", RTLD_NOW);
	*function = (CUfunction)&functions[handle->kind - kinds];
	return CUDA_SUCCESS;
}

static struct handle *both(const void *given, int i)
{
	const struct handle *handle = fake_handle_of(given);

	return i ? &kernels[handle->kind - kinds] : &functions[handle->kind - kinds];
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	*value = 0;
	if (attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
		*value = !strcmp(fake_handle_of(function)->kind->name, "cluster");
	if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		*value = fake_handle_of(function)->shared_max;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
	(void)function, (void)config;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		return CUDA_SUCCESS;
	if (fake_handle_of(function)->shared_max != value)
		fake_log_op("attribute", attribute, value);
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

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	*module = (CUmodule)image;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
	return cuModuleLoadData(module, path);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
			    CUjit_option *options, void **values)
{
	(void)count, (void)options, (void)values;
	return cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	return cuModuleLoadData(module, image);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options,
			   void **values, unsigned count, CUlibraryOption *library_options,
			   void **library_values, unsigned library_count)
{
	(void)options, (void)values, (void)count;
	(void)library_options, (void)library_values, (void)library_count;
	*library = (CUlibrary)image;
	return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options,
			       void **values, unsigned count, CUlibraryOption *library_options,
			       void **library_values, unsigned library_count)
{
	return cuLibraryLoadData(library, path, options, values, count, library_options,
				 library_values, library_count);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	(void)module;
	return find(functions, name, function);
}

/* Declared as deprecated: programs of CUDA 11 still call it. */
CUresult cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name)
{
	(void)module, (void)name;
	*texture = NULL;
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	(void)library;
	return find(kernels, name, kernel);
}

void fake_make_kernels(void)
{
	for (int i = 0; i < KINDS; i++) {
		functions[i] = (struct handle){IS_FUNCTION, &kinds[i], SHARED_MAX};
		kernels[i] = (struct handle){IS_KERNEL, &kinds[i], SHARED_MAX};
	}
}
