#include "counters/launch_call.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "guard.h"
#include "launch_attributes.h"

#define DRIVER(name) CUPTI_DRIVER_TRACE_CBID_##name

/* How a call's parameters tell what it launches. */
enum shape { NOTHING, PLAIN, EXTENDED, GRAPH };

#define CBID_LIMIT 2048 /* 13.0 has 807 driver calls */
static const struct {
	enum launch_kind kind;
	enum shape shape;
} calls[CBID_LIMIT] = {
	[DRIVER(cuLaunchKernel)] = {LAUNCH_KERNEL, PLAIN},
	[DRIVER(cuLaunchKernel_ptsz)] = {LAUNCH_KERNEL, PLAIN},
	[DRIVER(cuLaunchKernelEx)] = {LAUNCH_KERNEL, EXTENDED},
	[DRIVER(cuLaunchKernelEx_ptsz)] = {LAUNCH_KERNEL, EXTENDED},
	[DRIVER(cuLaunchCooperativeKernel)] = {LAUNCH_COOPERATIVE, NOTHING},
	[DRIVER(cuLaunchCooperativeKernel_ptsz)] = {LAUNCH_COOPERATIVE, NOTHING},
	[DRIVER(cuLaunchCooperativeKernelMultiDevice)] = {LAUNCH_COOPERATIVE, NOTHING},
	[DRIVER(cuGraphLaunch)] = {LAUNCH_GRAPH, GRAPH},
	[DRIVER(cuGraphLaunch_ptsz)] = {LAUNCH_GRAPH, GRAPH},
	[DRIVER(cuStreamBeginCapture)] = {CAPTURE_BEGIN, NOTHING},
	[DRIVER(cuStreamBeginCapture_ptsz)] = {CAPTURE_BEGIN, NOTHING},
	[DRIVER(cuStreamBeginCapture_v2)] = {CAPTURE_BEGIN, NOTHING},
	[DRIVER(cuStreamBeginCapture_v2_ptsz)] = {CAPTURE_BEGIN, NOTHING},
	[DRIVER(cuStreamBeginCaptureToGraph)] = {CAPTURE_BEGIN, NOTHING},
	[DRIVER(cuStreamBeginCaptureToGraph_ptsz)] = {CAPTURE_BEGIN, NOTHING},
	[DRIVER(cuStreamEndCapture)] = {CAPTURE_END, NOTHING},
	[DRIVER(cuStreamEndCapture_ptsz)] = {CAPTURE_END, NOTHING},
};

static bool is_memset[CBID_LIMIT];

/* There is one for each width, shape, direction and kind of stream. */
static void enable_named(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			 const char *prefix, bool is_enabled)
{
	for (uint32_t id = 1; id < CBID_LIMIT; id++) {
		const char *name = NULL;

		if (cupti->cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) !=
			    CUPTI_SUCCESS ||
		    !name || strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		is_memset[id] = !strncmp(name, "cuMemset", 8);
		cupti->cuptiEnableCallback(is_enabled, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
	}
}

static bool is_kept;

void launch_call_keep(void)
{
	is_kept = true;
}

static bool is_needed(uint32_t id)
{
	return launch_attributes_follows(id) || (is_kept && (calls[id].kind == LAUNCH_KERNEL ||
							     calls[id].kind == LAUNCH_COOPERATIVE));
}

void launch_call_enable(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			enum launch_calls which, bool is_enabled)
{
	for (uint32_t id = 0; id < CBID_LIMIT; id++)
		if (calls[id].kind != LAUNCH_NONE && (is_enabled || !is_needed(id)))
			cupti->cuptiEnableCallback(is_enabled, subscriber,
						   CUPTI_CB_DOMAIN_DRIVER_API, id);
	if (which >= LAUNCHES_AND_MEMSETS)
		enable_named(cupti, subscriber, "cuMemset", is_enabled);
	if (which >= LAUNCHES_AND_COPIES)
		enable_named(cupti, subscriber, "cuMemcpy", is_enabled);
}

static uint64_t mix_sizes(uint64_t hash, const unsigned int sizes[3])
{
	for (int i = 0; i < 3; i++)
		hash = launch_call_mix(hash, sizes[i]);
	return hash;
}

/* Tells names apart, but for a few that are equally long: much less to read than all of a mangled name. */
static uint64_t mark_name(const char *name)
{
	size_t length = strlen(name);
	uint64_t middle, last;

	if (length < sizeof(last))
		return launch_call_mix(length, length ? (unsigned char)name[length / 2] : 0);
	memcpy(&middle, name + (length - sizeof(middle)) / 2, sizeof(middle));
	memcpy(&last, name + length - sizeof(last), sizeof(last));
	return launch_call_mix(launch_call_mix(length, middle), last);
}

static void set_function(struct launch_call *call, CUfunction function)
{
	uint64_t hash;
	uint64_t threads = (uint64_t)call->block[0] * call->block[1] * call->block[2];

	call->function = function;
	call->kernel = launch_call_mix(mark_name(call->name), (uintptr_t)function);
	hash = mix_sizes(mix_sizes(call->kernel, call->grid), call->block);
	call->signature = launch_call_mix(hash, call->dynamic_shared_bytes);
	call->warps =
		(uint64_t)call->grid[0] * call->grid[1] * call->grid[2] * ((threads + 31) / 32);
}

/* Both of CUDA's structures name these members alike. */
#define SET_SHAPE(call, from)                                          \
	do {                                                           \
		(call)->grid[0] = (from)->gridDimX;                    \
		(call)->grid[1] = (from)->gridDimY;                    \
		(call)->grid[2] = (from)->gridDimZ;                    \
		(call)->block[0] = (from)->blockDimX;                  \
		(call)->block[1] = (from)->blockDimY;                  \
		(call)->block[2] = (from)->blockDimZ;                  \
		(call)->dynamic_shared_bytes = (from)->sharedMemBytes; \
	} while (0)

static void read_plain(struct launch_call *launch, const cuLaunchKernel_params *call)
{
	SET_SHAPE(launch, call);
	set_function(launch, call->f);
}

static void read_config(struct launch_call *launch, const CUlaunchConfig *config,
			CUfunction function)
{
	SET_SHAPE(launch, config);
	set_function(launch, function);
}

static bool is_cooperative(const CUlaunchConfig *config)
{
	for (unsigned int i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
		    config->attrs[i].value.cooperative)
			return true;
	return false;
}

static void read_extended(struct launch_call *call, const cuLaunchKernelEx_params *parameters)
{
	if (!parameters->config)
		call->kind = LAUNCH_NONE; /* the call is about to fail */
	else if (is_cooperative(parameters->config))
		call->kind = LAUNCH_COOPERATIVE;
	else
		read_config(call, parameters->config, parameters->f);
}

static void read_parameters(struct launch_call *call, enum shape shape, const void *parameters)
{
	if (shape == PLAIN)
		read_plain(call, parameters);
	else if (shape == EXTENDED)
		read_extended(call, parameters);
	else if (shape == GRAPH) /* the member's name differs between headers */
		call->signature = launch_call_mix(1, (uintptr_t) * (const CUgraphExec *)parameters);
}

bool launch_call_is_capture(CUpti_CallbackId id)
{
	return id < CBID_LIMIT && calls[id].kind >= CAPTURE_BEGIN;
}

struct launch_call launch_call_read(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	struct launch_call call = {.name = data->symbolName ? data->symbolName : ""};

	if (id >= CBID_LIMIT)
		return call;
	call.kind = is_memset[id] ? LAUNCH_MEMSET : calls[id].kind;
	if (call.kind != LAUNCH_NONE && data->functionParams)
		read_parameters(&call, calls[id].shape, data->functionParams);
	return call;
}

static struct {
	CUresult (*of_function)(int *, CUfunction_attribute, CUfunction);
	CUresult (*of_kernel)(int *, CUfunction_attribute, CUkernel, CUdevice);
} driver;

static void resolve_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		return;
	*(void **)&driver.of_kernel = dlsym(library, "cuKernelGetAttribute");
	*(void **)&driver.of_function = dlsym(library, "cuFuncGetAttribute");
}

/* A launch is under way: the driver is there.  A handler that left by siglongjmp would have all others wait for ever. */
static void resolve_driver_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static bool is_resolved;
	struct guard guard;

	if (__atomic_load_n(&is_resolved, __ATOMIC_ACQUIRE))
		return;
	guard_enter_long(&guard);
	pthread_once(&once, resolve_driver);
	guard_leave(&guard);
	__atomic_store_n(&is_resolved, true, __ATOMIC_RELEASE);
}

/* 0 when the driver does not say.  What the runtime launches is a CUkernel. */
static uint32_t attribute(CUfunction function, CUfunction_attribute which)
{
	int value = 0;

	resolve_driver_once();
	if (!driver.of_function || driver.of_function(&value, which, function) == CUDA_SUCCESS)
		return value > 0 ? (uint32_t)value : 0;
	if (!driver.of_kernel ||
	    driver.of_kernel(&value, which, (CUkernel)function, 0) != CUDA_SUCCESS)
		return 0;
	return value > 0 ? (uint32_t)value : 0;
}

uint32_t launch_call_local_bytes(const struct launch_call *call)
{
	return attribute(call->function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
}

struct trace_signatures_row launch_call_signature(const struct launch_call *call)
{
	return (struct trace_signatures_row){
		.grid_x = call->grid[0],
		.grid_y = call->grid[1],
		.grid_z = call->grid[2],
		.block_x = call->block[0],
		.block_y = call->block[1],
		.block_z = call->block[2],
		.registers_per_thread = attribute(call->function, CU_FUNC_ATTRIBUTE_NUM_REGS),
		.static_shared_bytes =
			attribute(call->function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
		.dynamic_shared_bytes = call->dynamic_shared_bytes,
		.local_bytes_per_thread = launch_call_local_bytes(call),
	};
}
