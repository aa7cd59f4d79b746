/*
 * real_cupti.c - asks the real CUPTI what the collector and the mock take for granted.
 *
 * real_cupti LIBRARY names     every call that launches, runs a graph, copies, or makes and destroys what these need is
 *                              one that we record, and those that only ask are not
 * real_cupti LIBRARY lengths   its records are as long as the collector and the mock believe
 *
 * Needs no GPU and no driver.  Prints what is wrong; exits 1 when something is, 2 when it cannot ask.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_choice.c"

static struct cupti_api cupti;

/* What api_choice.c needs of the trace writer, for the one function that is not called here. */
uint32_t trace_name(const char *text)
{
	return text != NULL;
}

/* Whether a name begins with one of these, of which the last is NULL. */
static bool begins(const char *name, const char *const *prefixes)
{
	while (*prefixes && strncmp(name, *prefixes, strlen(*prefixes)) != 0)
		prefixes++;
	return *prefixes != NULL;
}

static bool is_needed(const char *name)
{
	static const char *const prefixes[] = {"cudaLaunch",	     "__cudaLaunch",
					       "cuLaunch",	     "cudaGraphLaunch",
					       "cuGraphLaunch",	     "cudaMemcpy",
					       "cuMemcpy",	     "cudaMemset",
					       "cuMemset",	     "cudaGraphInstantiate",
					       "cuGraphInstantiate", "cudaFuncSetAttribute",
					       "cuFuncSetAttribute", "cuKernelSetAttribute",
					       "cudaStreamCreate",   "cuStreamCreate",
					       "cudaStreamDestroy",  "cuStreamDestroy",
					       "cudaEventCreate",    "cuEventCreate",
					       "cudaEventDestroy",   "cuEventDestroy",
					       "cudaGraphAdd",	     "cuGraphAdd",
					       "cudaGraphCreate",    "cuGraphCreate",
					       "cudaGraphDestroy",   "cuGraphDestroy",
					       "cudaGraphClone",     "cudaMemPoolCreate",
					       "cuMemPoolCreate",    "cudaMemPoolDestroy",
					       "cudaMemPoolTrimTo",  "cuMemPoolTrimTo",
					       "cudaHostRegister",   "cuMemHostRegister",
					       "cudaHostUnregister", "cuMemHostUnregister",
					       "cudaMemPrefetch",    "cuMemPrefetch",
					       "cudaMemAdvise",	     "cuMemAdvise",
					       "cudaMemDiscard",     NULL};

	return begins(name, prefixes);
}

/* PyTorch makes thousands of these in a second, and they explain nothing. */
static bool is_question(const char *name)
{
	static const char *const prefixes[] = {"cudaGetDevice",
					       "cuCtxGetCurrent",
					       "cudaStreamQuery",
					       "cuStreamQuery",
					       "cudaEventQuery",
					       "cuEventQuery",
					       "cudaGraphGet",
					       "cuGraphGet",
					       "cudaMemPoolGet",
					       "cuMemPoolGet",
					       "cudaStreamIsCapturing",
					       "cudaPeekAtLastError",
					       "cudaFuncGetAttributes",
					       "cudaStreamGet",
					       NULL};

	return begins(name, prefixes);
}

/* Returns how many calls of a domain are needed; prints those that would not be recorded, and questions that would. */
static unsigned int check_domain(CUpti_CallbackDomain domain, unsigned int *wrong_count)
{
	unsigned int count = 0;

	for (uint32_t id = 1; id < CBID_LIMIT; id++) {
		const char *name = callback_name(&cupti, domain, id);

		if (!name || !(is_needed(name) || is_question(name)))
			continue;
		count += is_needed(name);
		if (api_choice_wants(name) != is_needed(name)) {
			printf("%s (%u) is %srecorded\n", name, id, is_needed(name) ? "not " : "");
			++*wrong_count;
		}
	}
	return count;
}

static int check_names(void)
{
	unsigned int wrong_count = 0;
	unsigned int runtime = check_domain(CUPTI_CB_DOMAIN_RUNTIME_API, &wrong_count);
	unsigned int driver = check_domain(CUPTI_CB_DOMAIN_DRIVER_API, &wrong_count);

	printf("%u runtime and %u driver calls are needed\n", runtime, driver);
	return wrong_count || runtime < 90 || driver < 90;
}

static const struct {
	CUpti_ActivityKind kind;
	size_t bytes;
	const char *name;
} records[] = {
#define RECORD(kind, type)                                      \
	{                                                       \
		CUPTI_ACTIVITY_KIND_##kind, sizeof(type), #type \
	}
	RECORD(CONCURRENT_KERNEL, CUpti_ActivityKernel10),
	RECORD(MEMCPY, CUpti_ActivityMemcpy6),
	RECORD(MEMCPY2, CUpti_ActivityMemcpyPtoP4),
	RECORD(MEMSET, CUpti_ActivityMemset4),
	RECORD(GRAPH_TRACE, CUpti_ActivityGraphTrace2),
	RECORD(DEVICE_GRAPH_TRACE, CUpti_ActivityDeviceGraphTrace),
	RECORD(RUNTIME, CUpti_ActivityAPI),
	RECORD(DRIVER, CUpti_ActivityAPI),
	RECORD(SYNCHRONIZATION, CUpti_ActivitySynchronization2),
	RECORD(OVERHEAD, CUpti_ActivityOverhead3),
	RECORD(JIT, CUpti_ActivityJit2),
	RECORD(MARKER, CUpti_ActivityMarker2),
	RECORD(NAME, CUpti_ActivityName),
	RECORD(DEVICE, CUpti_ActivityDevice5),
	RECORD(CONTEXT, CUpti_ActivityContext3),
	RECORD(STREAM, CUpti_ActivityStream),
};

/* Two records of a kind in a row: the second is found where the first ends.  A newer CUPTI's may be
 * longer, never shorter. */
static bool is_length_right(CUpti_ActivityKind kind, size_t bytes, const char *name)
{
	static _Alignas(8) uint8_t buffer[4096];
	CUpti_Activity *record = NULL;
	uint8_t *second;

	for (size_t at = 0; at + sizeof(kind) <= sizeof(buffer); at += 8)
		memcpy(buffer + at, &kind, sizeof(kind));
	if (cupti.cuptiActivityGetNextRecord(buffer, sizeof(buffer), &record) != CUPTI_SUCCESS ||
	    cupti.cuptiActivityGetNextRecord(buffer, sizeof(buffer), &record) != CUPTI_SUCCESS) {
		printf("%s cannot be decoded\n", name);
		return false;
	}
	second = (uint8_t *)record;
	if (second < buffer + bytes) {
		printf("%s is %zu bytes, not %zu\n", name, (size_t)(second - buffer), bytes);
		return false;
	}
	return true;
}

static int check_lengths(void)
{
	int wrong_count = 0;

	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
		wrong_count += !is_length_right(records[i].kind, records[i].bytes, records[i].name);
	return wrong_count > 0;
}

static bool load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle) {
		puts(dlerror());
		return false;
	}
	*(void **)&cupti.cuptiGetCallbackName = dlsym(handle, "cuptiGetCallbackName");
	*(void **)&cupti.cuptiActivityGetNextRecord = dlsym(handle, "cuptiActivityGetNextRecord");
	return cupti.cuptiGetCallbackName && cupti.cuptiActivityGetNextRecord;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !load(argv[1]))
		return 2;
	if (!strcmp(argv[2], "names"))
		return check_names();
	if (!strcmp(argv[2], "lengths"))
		return check_lengths();
	return 2;
}
