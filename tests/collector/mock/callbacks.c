/*
 * callbacks.c - the stand-in for CUPTI's subscriber: version, callbacks, NVTX.
 *
 * Nothing works before a subscription.
 */
#define _GNU_SOURCE
#include "callbacks.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buffers.h"
#include "cupti_api.h"
#include "environment.h"

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
	const char *name;
} callback_names[] = {
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	 "cudaLaunchKernel_v7000"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
	 "cudaMemcpyAsync_v3020"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
	 "cudaGetDevice_v3020"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
	 "cudaProfilerStart_v4000"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamCreate_v3020,
	 "cudaStreamCreate_v3020"},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
	 "cuMemcpyHtoDAsync_v2"},
};

static _Atomic CUpti_CallbackFunc subscriber;
static atomic_bool enabled_callbacks[CUPTI_CB_DOMAIN_SIZE][2048];

/* ---- the test program's side ---- */

uint32_t mock_device_of(uint64_t context)
{
	return context % 2 == 0;
}

bool mock_calls_back(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return subscriber && enabled_callbacks[domain][id];
}

void mock_call_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			  CUpti_CallbackData *data, CUpti_ApiCallbackSite site)
{
	CUpti_CallbackFunc call = subscriber; /* a call through an atomic is none */

	data->callbackSite = site;
	if (mock_calls_back(domain, id))
		call(NULL, domain, id, data);
}

void mock_call(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	CUpti_CallbackData data = {0};
	bool is_child = mock_calls_back(domain, id) && mock_fork_if_asked(MOCK_CALLBACK);

	mock_call_subscriber(domain, id, &data, CUPTI_API_ENTER);
	mock_call_subscriber(domain, id, &data, CUPTI_API_EXIT);
	if (is_child)
		exit(0);
}

void mock_copy(CUcontext context)
{
	CUpti_CallbackId id = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2;
	CUpti_CallbackData data = {.context = context};

	mock_call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_ENTER);
	mock_call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_EXIT);
}

/* Callbacks that have no entry and exit. */
static void notify_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	CUpti_CallbackFunc call = subscriber; /* a call through an atomic is none */

	if (mock_calls_back(domain, id))
		call(NULL, domain, id, data);
}

void mock_begin_context(CUcontext context)
{
	CUpti_ResourceData data = {.context = context};

	notify_subscriber(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

void mock_end_context(CUcontext context)
{
	CUpti_ResourceData data = {.context = context};

	notify_subscriber(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
			  &data);
}

void mock_unload_module(CUcontext context)
{
	CUpti_ResourceData data = {.context = context};

	notify_subscriber(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
			  &data);
}

void mock_load_module(const void *cubin, size_t size)
{
	CUpti_ModuleResourceData module = {.moduleId = 1, .cubinSize = size, .pCubin = cubin};
	CUpti_ResourceData data = {.context = (CUcontext)1, .resourceDescriptor = &module};

	notify_subscriber(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
}

void mock_resource(CUpti_CallbackId id, const void *descriptor)
{
	CUpti_ResourceData data = {.resourceDescriptor = (void *)(uintptr_t)descriptor};

	notify_subscriber(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

/* CUPTI tells of a call of NVTX when it has returned. */
void mock_nvtx(CUpti_CallbackId id, const void *parameters, const void *returned)
{
	CUpti_NvtxData data = {.functionParams = parameters, .functionReturnValue = returned};

	notify_subscriber(CUPTI_CB_DOMAIN_NVTX, id, &data);
}

/* ---- CUPTI: the library ---- */

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	MOCK_NOTE_CALL();
	if (getenv("MOCK_VERSION_UNTOLD") && !subscriber)
		return CUPTI_ERROR_UNKNOWN;
	*version = mock_version();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct {
		CUptiResult result;
		const char *text;
	} texts[] = {
		{CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
		{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
		{CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
		{CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
		{CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
		{CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
		{CUPTI_ERROR_OUT_OF_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY"},
		{CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
	};

	MOCK_NOTE_CALL();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].result == result) {
			*text = texts[i].text;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
	MOCK_NOTE_CALL();
	*timestamp = mock_now_ns();
	return CUPTI_SUCCESS;
}

static bool is_shared;

/* After this call CUPTI 13.5 refuses the buffers of a subscriber that agreed to others. */
CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	MOCK_NOTE_CALL();
	is_shared = false;
	return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS
							    : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- CUPTI: callbacks ---- */

bool mock_is_shared(CUpti_SubscriberHandle handle)
{
	return is_shared && handle == (CUpti_SubscriberHandle)&subscriber;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			     bool agrees_to_others)
{
	CUptiResult result = (CUptiResult)mock_number("MOCK_SUBSCRIBE", 0);

	usleep((useconds_t)mock_number("MOCK_SUBSCRIBE_MS", 0) * 1000);
	if (mock_number("MOCK_SUBSCRIBE_RAISES", 0))
		raise((int)mock_number("MOCK_SUBSCRIBE_RAISES", 0));
	if (getenv("MOCK_SUBSCRIBE_LOADS"))
		dlopen(getenv("MOCK_SUBSCRIBE_LOADS"), RTLD_NOW);
	if (subscriber || (!agrees_to_others && getenv("MOCK_OTHER_SUBSCRIBER")))
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (result == CUPTI_SUCCESS) {
		subscriber = callback;
		is_shared = agrees_to_others;
		*handle = (CUpti_SubscriberHandle)&subscriber;
	}
	return result;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
				    void *user)
{
	(void)user;
	MOCK_NOTE_CALL();
	return subscribe(handle, callback, false);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
				       void *user, CUpti_SubscriberParams *parameters)
{
	const char *other = getenv("MOCK_OTHER_SUBSCRIBER");
	bool agrees_to_others =
		mock_version() >= CUPTI_WITH_SHARING &&
		parameters->structSize >
			offsetof(struct cupti_shared_params, allow_multiple_subscribers) &&
		((struct cupti_shared_params *)parameters)->allow_multiple_subscribers;
	CUptiResult result;

	(void)user;
	MOCK_NOTE_CALL();
	result = subscribe(handle, callback, agrees_to_others);
	if (other || result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "%s",
			 other ? other : "Another Tool");
	return result;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
					 CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	MOCK_NOTE_CALL();
	if (handle != (CUpti_SubscriberHandle)&subscriber || id >= 2048)
		return CUPTI_ERROR_INVALID_PARAMETER;
	enabled_callbacks[domain][id] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
				       CUpti_CallbackDomain domain)
{
	MOCK_NOTE_CALL();
	if (handle != (CUpti_SubscriberHandle)&subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (CUpti_CallbackId id = 0; id < 2048; id++)
		enabled_callbacks[domain][id] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
					  const char **name)
{
	MOCK_NOTE_CALL();
	for (size_t i = 0; i < sizeof(callback_names) / sizeof(*callback_names); i++)
		if (callback_names[i].domain == domain && callback_names[i].id == id) {
			*name = callback_names[i].name;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *device)
{
	MOCK_NOTE_CALL();
	*device = mock_device_of((uintptr_t)context);
	return CUPTI_SUCCESS;
}

/* ---- CUPTI: NVTX ---- */

/* CUPTI 13.0 U1 crashes here when nobody has subscribed before. */
static CUptiResult initialize_nvtx(void)
{
	mock_write_line("MOCK_NVTX_FILE", "a module\n");
	usleep((useconds_t)mock_number("MOCK_NVTX_MS", 0) * 1000);
	if (!subscriber)
		abort();
	return CUPTI_SUCCESS;
}

static void mark(const char *text)
{
	mock_write_line("MOCK_NVTX_CALLS", "mark %s\n", text);
}

static int domain_push(void *domain, const void *attributes)
{
	(void)domain;
	(void)attributes;
	mock_write_line("MOCK_NVTX_CALLS", "push\n");
	return 0;
}

static int domain_pop(void *domain)
{
	(void)domain;
	mock_write_line("MOCK_NVTX_CALLS", "pop\n");
	return 0;
}

/* As NVTX's own header numbers its modules of functions, and the functions of each. */
static void put(const void *table, int module, unsigned int number, uintptr_t function)
{
	const struct {
		size_t size;
		int (*get_functions)(int module, uintptr_t ***places, unsigned int *count);
	} * callbacks;
	uintptr_t **places;
	unsigned int count;

	callbacks = ((const void *(*)(uint32_t))table)(1);
	if (callbacks->get_functions(module, &places, &count))
		__atomic_store_n(places[number], function, __ATOMIC_RELEASE);
}

CUptiResult cuptiNvtxInitialize(void *table)
{
	(void)table;
	MOCK_NOTE_CALL();
	return initialize_nvtx();
}

CUptiResult cuptiNvtxInitialize2(void *table)
{
	MOCK_NOTE_CALL();
	put(table, 1, 2, (uintptr_t)mark);
	put(table, 5, 4, (uintptr_t)domain_push);
	put(table, 5, 5, (uintptr_t)domain_pop);
	return initialize_nvtx();
}

CUptiResult cuptiNvtxExtensionInitialize(void *table)
{
	(void)table;
	MOCK_NOTE_CALL();
	return initialize_nvtx();
}
