#include "api_choice.h"

#include <string.h>

#include "writer/trace_writer.h"

#define CBID_LIMIT 2048 /* 13.0 has 523 runtime and 807 driver calls */

/* What begins with one of these after "cuda" or "cu" is recorded, unless an exception stands first. */
static const struct {
	const char *prefix;
	bool is_wanted;
} choices[] = {
	/* launch */
	{"LaunchKernel", true},
	{"LaunchCooperative", true},
	{"LaunchHostFunc", true},
	{"Launch", true},
	/* copy and set */
	{"Memcpy", true},
	{"Memset", true},
	{"MemPrefetch", true},
	{"MemBatchDecompress", true},
	/* wait */
	{"DeviceSynchronize", true},
	{"ThreadSynchronize", true},
	{"CtxSynchronize", true},
	{"StreamSynchronize", true},
	{"EventSynchronize", true},
	{"EventRecord", true},
	{"StreamWaitEvent", true},
	{"StreamWaitValue", true},
	{"CtxWaitEvent", true},
	{"CtxRecordEvent", true},
	/* allocate and free */
	{"Malloc", true},
	{"Free", true},
	{"HostAlloc", true},
	{"HostRegister", true},
	{"HostUnregister", true},
	{"MemAlloc", true},
	{"MemFree", true},
	{"MemHostAlloc", true},
	{"MemHostRegister", true},
	{"MemHostUnregister", true},
	{"MemCreate", true},
	{"MemMap", true},
	{"MemUnmap", true},
	{"MemRelease", true},
	{"MemPool", false},
	/* graphs */
	{"StreamBeginCapture", true},
	{"StreamEndCapture", true},
	{"GraphInstantiate", true},
	{"GraphExecUpdate", true},
	{"GraphExecKernelNodeSetParams", true},
	{"GraphExecMemcpyNodeSetParams", true},
	{"GraphExecMemsetNodeSetParams", true},
	{"GraphExecHostNodeSetParams", true},
	{"GraphExecChildGraphNodeSetParams", true},
	{"GraphExecNodeSetParams", true},
	{"GraphUpload", true},
	{"GraphLaunch", true},
	{"GraphExecDestroy", true},
	/* code */
	{"ModuleLoad", true},
	{"ModuleUnload", true},
	{"LibraryLoad", true},
	{"LibraryUnload", true},
	{"LinkComplete", true},
	/* set-up and tear-down that can take long */
	{"DeviceReset", true},
	{"CtxCreate", true},
	{"CtxDestroy", true},
	{"DevicePrimaryCtxRetain", true},
	{"DevicePrimaryCtxReset", true},
	{"ProfilerStart", true},
	{"ProfilerStop", true},
};

const char *api_choice_stem(const char *name)
{
	name += strspn(name, "_");
	if (!strncmp(name, "cuda", 4) || !strncmp(name, "cu64", 4))
		return name + 4;
	return strncmp(name, "cu", 2) ? name : name + 2;
}

bool api_choice_wants(const char *name)
{
	name = api_choice_stem(name);
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++)
		if (!strncmp(name, choices[i].prefix, strlen(choices[i].prefix)))
			return choices[i].is_wanted;
	return false;
}

static const char *callback_name(const struct cupti_api *cupti, CUpti_CallbackDomain domain,
				 uint32_t cbid)
{
	const char *name = NULL;

	if (cupti->cuptiGetCallbackName(domain, cbid, &name) != CUPTI_SUCCESS)
		return NULL;
	return name;
}

/* Names are asked for once: the program may switch recording on and off often. */
static struct choice {
	CUpti_CallbackDomain domain;
	uint32_t cbid;
} chosen[2 * CBID_LIMIT];
static size_t chosen_count;

static void choose(const struct cupti_api *cupti, CUpti_CallbackDomain domain)
{
	for (uint32_t cbid = 1; cbid < CBID_LIMIT; cbid++) {
		const char *name = callback_name(cupti, domain, cbid);

		if (name && api_choice_wants(name))
			chosen[chosen_count++] = (struct choice){domain, cbid};
	}
}

static CUptiResult enable_call(const struct cupti_api *cupti, const struct choice *call, bool is_on)
{
	return call->domain == CUPTI_CB_DOMAIN_RUNTIME_API
		       ? cupti->cuptiActivityEnableRuntimeApi(call->cbid, is_on)
		       : cupti->cuptiActivityEnableDriverApi(call->cbid, is_on);
}

unsigned int api_choice_enable(const struct cupti_api *cupti, bool is_on)
{
	unsigned int count = 0;

	if (!chosen_count) {
		choose(cupti, CUPTI_CB_DOMAIN_RUNTIME_API);
		choose(cupti, CUPTI_CB_DOMAIN_DRIVER_API);
	}
	for (size_t i = 0; i < chosen_count; i++)
		count += enable_call(cupti, &chosen[i], is_on) == CUPTI_SUCCESS;
	return count;
}

uint32_t api_choice_name(const struct cupti_api *cupti, CUpti_CallbackDomain domain, uint32_t cbid)
{
	static uint32_t ids[2][CBID_LIMIT];
	uint32_t *id = &ids[domain == CUPTI_CB_DOMAIN_RUNTIME_API][cbid % CBID_LIMIT];
	uint32_t known = __atomic_load_n(id, __ATOMIC_RELAXED);

	if (known && cbid < CBID_LIMIT)
		return known;
	known = trace_name(callback_name(cupti, domain, cbid));
	__atomic_store_n(id, known, __ATOMIC_RELAXED);
	return known;
}
