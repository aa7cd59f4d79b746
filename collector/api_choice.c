#include "api_choice.h"

#include <string.h>

#include "writer/trace_writer.h"

#define CBID_LIMIT 2048 /* 13.0 has 523 runtime and 807 driver calls */

/* What begins with one of these after "cuda" or "cu": the first row decides, and what no row names is left out. */
static const struct {
	const char *prefix;
	enum api_way way;
} choices[] = {
	/* launch */
	{"Launch", API_RECORDED},
	/* copy and set */
	{"Memcpy", API_RECORDED},
	{"Memset", API_RECORDED},
	{"MemPrefetch", API_RECORDED},
	{"MemBatchDecompress", API_RECORDED},
	{"MemDiscard", API_FOLLOWED},
	{"MemAdvise", API_FOLLOWED},
	/* wait */
	{"DeviceSynchronize", API_RECORDED},
	{"ThreadSynchronize", API_RECORDED},
	{"CtxSynchronize", API_RECORDED},
	{"StreamSynchronize", API_RECORDED},
	{"EventSynchronize", API_RECORDED},
	{"EventRecord", API_RECORDED},
	{"StreamWaitEvent", API_RECORDED},
	{"StreamWaitValue", API_RECORDED},
	{"CtxWaitEvent", API_RECORDED},
	{"CtxRecordEvent", API_RECORDED},
	/* streams and events */
	{"StreamCreate", API_FOLLOWED},
	{"StreamDestroy", API_FOLLOWED},
	{"EventCreate", API_FOLLOWED},
	{"EventDestroy", API_FOLLOWED},
	/* allocate and free */
	{"Malloc", API_RECORDED},
	{"Free", API_RECORDED},
	{"HostAlloc", API_RECORDED},
	{"HostRegister", API_RECORDED},
	{"HostUnregister", API_RECORDED},
	{"MemAlloc", API_RECORDED},
	{"MemFree", API_RECORDED},
	{"MemHostAlloc", API_RECORDED},
	{"MemHostRegister", API_RECORDED},
	{"MemHostUnregister", API_RECORDED},
	{"MemCreate", API_RECORDED},
	{"MemMap", API_RECORDED},
	{"MemUnmap", API_RECORDED},
	{"MemRelease", API_RECORDED},
	{"MemPoolGet", API_LEFT_OUT}, /* questions */
	{"MemPoolExport", API_LEFT_OUT},
	{"MemPoolImport", API_LEFT_OUT},
	{"MemPool", API_FOLLOWED},
	{"DeviceSetMemPool", API_FOLLOWED},
	{"DeviceGraphMemTrim", API_FOLLOWED},
	/* graphs */
	{"StreamBeginCapture", API_RECORDED},
	{"StreamEndCapture", API_RECORDED},
	{"GraphInstantiate", API_RECORDED},
	{"GraphExecUpdate", API_RECORDED},
	{"GraphExecKernelNodeSetParams", API_RECORDED},
	{"GraphExecMemcpyNodeSetParams", API_RECORDED},
	{"GraphExecMemsetNodeSetParams", API_RECORDED},
	{"GraphExecHostNodeSetParams", API_RECORDED},
	{"GraphExecChildGraphNodeSetParams", API_RECORDED},
	{"GraphExecNodeSetParams", API_RECORDED},
	{"GraphUpload", API_RECORDED},
	{"GraphLaunch", API_RECORDED},
	{"GraphExecDestroy", API_RECORDED},
	{"GraphCreate", API_FOLLOWED},
	{"GraphAdd", API_FOLLOWED},
	{"GraphClone", API_FOLLOWED},
	{"GraphRemoveDependencies", API_FOLLOWED},
	{"GraphConditionalHandleCreate", API_FOLLOWED},
	{"GraphDestroy", API_FOLLOWED},
	{"GraphNodeSet", API_FOLLOWED},
	{"GraphKernelNodeSet", API_FOLLOWED},
	{"GraphMemcpyNodeSet", API_FOLLOWED},
	{"GraphMemsetNodeSet", API_FOLLOWED},
	{"GraphHostNodeSet", API_FOLLOWED},
	/* code */
	{"ModuleLoad", API_RECORDED},
	{"ModuleUnload", API_RECORDED},
	{"LibraryLoad", API_RECORDED},
	{"LibraryUnload", API_RECORDED},
	{"LinkComplete", API_RECORDED},
	{"FuncSet", API_FOLLOWED}, /* the first call loads the kernel */
	{"KernelSet", API_FOLLOWED},
	/* set-up and tear-down that can take long */
	{"DeviceReset", API_RECORDED},
	{"CtxCreate", API_RECORDED},
	{"CtxDestroy", API_RECORDED},
	{"DevicePrimaryCtxRetain", API_RECORDED},
	{"DevicePrimaryCtxReset", API_RECORDED},
	{"ProfilerStart", API_RECORDED},
	{"ProfilerStop", API_RECORDED},
};
#define CHOICE_COUNT (sizeof(choices) / sizeof(*choices))

static const char *without_prefix(const char *name)
{
	name += strspn(name, "_");
	if (!strncmp(name, "cuda", 4) || !strncmp(name, "cu64", 4))
		return name + 4;
	return strncmp(name, "cu", 2) ? name : name + 2;
}

/* The first row for a call, or CHOICE_COUNT. */
static size_t row_of(const char *name)
{
	size_t row = 0;

	name = without_prefix(name);
	while (row < CHOICE_COUNT &&
	       strncmp(name, choices[row].prefix, strlen(choices[row].prefix)))
		row++;
	return row;
}

enum api_way api_choice_of(const char *name)
{
	size_t row = row_of(name);

	return row < CHOICE_COUNT ? choices[row].way : API_LEFT_OUT;
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

		if (name && api_choice_of(name) == API_RECORDED)
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

bool api_choice_is_chosen(const struct cupti_api *cupti, CUpti_CallbackDomain domain, uint32_t cbid)
{
	enum { UNKNOWN, CHOSEN, LEFT_OUT };
	static unsigned char known[2][CBID_LIMIT];
	unsigned char *way = &known[domain == CUPTI_CB_DOMAIN_RUNTIME_API][cbid % CBID_LIMIT];
	const char *name;

	if (cbid < CBID_LIMIT && __atomic_load_n(way, __ATOMIC_RELAXED) != UNKNOWN)
		return __atomic_load_n(way, __ATOMIC_RELAXED) == CHOSEN;
	name = callback_name(cupti, domain, cbid);
	if (cbid < CBID_LIMIT)
		__atomic_store_n(way,
				 name && api_choice_of(name) == API_RECORDED ? CHOSEN : LEFT_OUT,
				 __ATOMIC_RELAXED);
	return name && api_choice_of(name) == API_RECORDED;
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
