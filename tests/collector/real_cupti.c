/*
 * real_cupti.c - asks the real CUPTI what the collector and the mock take for granted.
 *
 * real_cupti LIBRARY names     every call that launches, runs a graph or copies is one that we record
 * real_cupti LIBRARY rows      every row of the table of calls is the one that decides about a call
 * real_cupti LIBRARY lengths   its records are as long as the collector and the mock believe; 2: it does not tell
 *                              without a driver
 *
 * Needs no GPU and no driver.  Prints what is wrong; exits 1 when something is, 2 when it cannot ask.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_choice.c"
#include "record_lengths.h"

static struct cupti_api cupti;

/* What api_choice.c needs of the trace writer, for the one function that is not called here. */
uint32_t trace_name(const char *text)
{
	return text != NULL;
}

static bool starts_work(const char *name)
{
	static const char *const prefixes[] = {"cudaLaunch",	    "__cudaLaunch",
					       "cuLaunch",	    "cudaGraphLaunch",
					       "cuGraphLaunch",	    "cudaMemcpy",
					       "cuMemcpy",	    "cudaMemset",
					       "cuMemset",	    "cudaGraphInstantiate",
					       "cuGraphInstantiate"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Returns how many calls of a domain start work; prints those that would not be recorded. */
static unsigned int check_domain(CUpti_CallbackDomain domain, unsigned int *missing_count)
{
	unsigned int count = 0;

	for (uint32_t id = 1; id < CBID_LIMIT; id++) {
		const char *name = callback_name(&cupti, domain, id);

		if (!name || !starts_work(name))
			continue;
		count++;
		if (api_choice_of(name) != API_RECORDED) {
			printf("%s (%u) is not recorded\n", name, id);
			++*missing_count;
		}
	}
	return count;
}

static int check_names(void)
{
	unsigned int missing_count = 0;
	unsigned int runtime = check_domain(CUPTI_CB_DOMAIN_RUNTIME_API, &missing_count);
	unsigned int driver = check_domain(CUPTI_CB_DOMAIN_DRIVER_API, &missing_count);

	printf("%u runtime and %u driver calls start work\n", runtime, driver);
	return missing_count || runtime < 50 || driver < 50;
}

static void mark_rows(bool *is_used, CUpti_CallbackDomain domain)
{
	for (uint32_t id = 1; id < CBID_LIMIT; id++) {
		const char *name = callback_name(&cupti, domain, id);

		if (name)
			is_used[row_of(name)] = true;
	}
}

static int check_rows(void)
{
	bool is_used[CHOICE_COUNT + 1] = {false};
	int unused_count = 0;

	mark_rows(is_used, CUPTI_CB_DOMAIN_RUNTIME_API);
	mark_rows(is_used, CUPTI_CB_DOMAIN_DRIVER_API);
	for (size_t i = 0; i < CHOICE_COUNT; i++)
		if (!is_used[i]) {
			printf("%s decides about no call\n", choices[i].prefix);
			unused_count++;
		}
	return unused_count > 0;
}

/* Two records of a kind in a row: the second is found where the first ends.  A newer CUPTI's may be
 * longer, never shorter. */
static bool is_length_right(const struct record_length *length, uint32_t version)
{
	static _Alignas(8) uint8_t buffer[4096];
	size_t wanted = record_length_in(length, version), bytes;
	CUpti_Activity *record = NULL;

	memset(buffer, 0, sizeof(buffer));
	for (size_t at = 0; at + sizeof(length->kind) <= sizeof(buffer); at += 8)
		memcpy(buffer + at, &length->kind, sizeof(length->kind));
	if (cupti.cuptiActivityGetNextRecord(buffer, sizeof(buffer), &record) != CUPTI_SUCCESS ||
	    cupti.cuptiActivityGetNextRecord(buffer, sizeof(buffer), &record) != CUPTI_SUCCESS) {
		printf("%s cannot be decoded\n", length->name);
		return false;
	}
	bytes = (size_t)((uint8_t *)record - buffer);
	if (bytes < wanted || (bytes > wanted && version <= CUPTI_API_VERSION)) {
		printf("%s is %zu bytes, not %zu\n", length->name, bytes, wanted);
		return false;
	}
	return true;
}

static bool is_known(CUpti_ActivityKind kind, uint32_t version)
{
	return kind != CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE || version >= CUPTI_WITH_COPY_COUNT;
}

static int check_lengths(void)
{
	int wrong_count = 0;
	uint32_t version;

	if (cupti.cuptiGetVersion(&version) != CUPTI_SUCCESS)
		return 2;
	for (size_t i = 0; i < RECORD_LENGTH_COUNT; i++)
		if (is_known(record_lengths[i].kind, version))
			wrong_count += !is_length_right(&record_lengths[i], version);
	printf("CUPTI %s\n", cupti_release(version).text);
	return wrong_count > 0;
}

static bool load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle) {
		puts(dlerror());
		return false;
	}
	*(void **)&cupti.cuptiGetVersion = dlsym(handle, "cuptiGetVersion");
	*(void **)&cupti.cuptiGetCallbackName = dlsym(handle, "cuptiGetCallbackName");
	*(void **)&cupti.cuptiActivityGetNextRecord = dlsym(handle, "cuptiActivityGetNextRecord");
	return cupti.cuptiGetVersion && cupti.cuptiGetCallbackName &&
	       cupti.cuptiActivityGetNextRecord;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !load(argv[1]))
		return 2;
	if (!strcmp(argv[2], "names"))
		return check_names();
	if (!strcmp(argv[2], "rows"))
		return check_rows();
	if (!strcmp(argv[2], "lengths"))
		return check_lengths();
	return 2;
}
