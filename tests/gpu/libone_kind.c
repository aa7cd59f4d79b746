/*
 * libone_kind.c - a client of CUPTI that asks for the kinds of records in ONE_KIND and throws them away.
 *
 *   CUDA_INJECTION64_PATH=.../libone_kind.so ONE_KIND=10,3 PROGRAM
 *
 * ONE_KIND: numbers of CUpti_ActivityKind, with commas.  "launch_call" records the calls that launch kernels, "callback"
 * enables an empty callback for them.  ONE_KIND_FIELDS: numbers of fields of a kernel's record (CUPTI 13.3 and newer), of
 * which its records then consist.  ONE_KIND_CUPTI: the path of CUPTI, libcupti.so.13 when not set.  At the end it
 * prints the number of records and of their bytes on stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti.h>

#define BUFFER_BYTES (4 << 20)

int InitializeInjection(void);
int InitializeInjectionNvtx2(void *table);
CUptiResult cuptiNvtxInitialize2(void *table);

#define FUNCTIONS(NAME)                      \
	NAME(cuptiSubscribe)                 \
	NAME(cuptiEnableCallback)            \
	NAME(cuptiActivityRegisterCallbacks) \
	NAME(cuptiActivityEnable)            \
	NAME(cuptiActivityEnableRuntimeApi)  \
	NAME(cuptiActivityGetNextRecord)     \
	NAME(cuptiActivityFlushAll)          \
	NAME(cuptiNvtxInitialize2)

static struct {
#define MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} cupti;

static void *library;

static int load(void)
{
	const char *path = getenv("ONE_KIND_CUPTI");
	int is_whole = 1;

	library = dlopen(path ? path : "libcupti.so.13", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "one_kind: %s\n", dlerror());
		return 0;
	}
#define RESOLVE(name)                                  \
	*(void **)&cupti.name = dlsym(library, #name); \
	is_whole &= cupti.name != NULL;
	FUNCTIONS(RESOLVE)
#undef RESOLVE
	return is_whole;
}

static CUpti_SubscriberHandle subscriber;
static atomic_ulong record_count, record_bytes;

static void give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*size = BUFFER_BYTES;
	*buffer = calloc(1, BUFFER_BYTES);
	*most_records = 0;
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			size_t valid_bytes)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	atomic_fetch_add(&record_bytes, valid_bytes);
	while (cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
		atomic_fetch_add(&record_count, 1);
	free(buffer);
}

static void ignore(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user;
	(void)domain;
	(void)id;
	(void)data;
}

static void finish(void)
{
	cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	fprintf(stderr, "records %lu\nbytes %lu\n", atomic_load(&record_count),
		atomic_load(&record_bytes));
}

static void enable(const char *kind)
{
	CUptiResult result;

	if (!strcmp(kind, "launch_call"))
		result = cupti.cuptiActivityEnableRuntimeApi(
			CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1);
	else if (!strcmp(kind, "callback"))
		result = cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
						   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	else
		result = cupti.cuptiActivityEnable((CUpti_ActivityKind)atoi(kind));
	if (result != CUPTI_SUCCESS)
		fprintf(stderr, "one_kind: %s: error %d\n", kind, (int)result);
}

/* ---- records of chosen fields: CUPTI 13.3 and newer, cupti_activity.h of CUDA 13.5 ---- */

struct shared_params {
	size_t size;
	const char *name;
	char *other;
	size_t other_size;
	uint8_t allows_others, unused[7];
};
struct field_selection {
	size_t size, count;
	int *fields;
};
struct activity_config {
	size_t size;
	struct field_selection selection;
	void *options;
};

#define USER_DEFINED_RECORDS 11 /* CUPTI_ACTIVITY_ATTR_USER_DEFINED_RECORDS */

static void take_fields(uint8_t *buffer, size_t size, size_t valid_bytes, void *info)
{
	(void)size;
	(void)info;
	atomic_fetch_add(&record_bytes, valid_bytes);
	free(buffer);
}

static void give_for_fields(uint8_t **buffer, size_t *size, size_t *most_records, void *info)
{
	(void)info;
	give_buffer(buffer, size, most_records);
}

static int ask_for_fields(char *list)
{
	int (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *, void *);
	int (*set)(CUpti_SubscriberHandle, int, size_t *, void *);
	int (*take)(CUpti_SubscriberHandle, void *, void *);
	int (*enable_kind)(CUpti_SubscriberHandle, int, void *);
	static int fields[64];
	struct shared_params params = {.size = sizeof(params),
				       .name = "one_kind",
				       .allows_others = 1};
	struct activity_config config = {sizeof(config),
					 {sizeof(config.selection), 0, fields},
					 NULL};
	uint8_t is_on = 1;
	size_t size = sizeof(is_on);
	char *rest = NULL;

	*(void **)&subscribe = dlsym(library, "cuptiSubscribe_v2");
	*(void **)&set = dlsym(library, "cuptiActivitySetAttribute_v2");
	*(void **)&take = dlsym(library, "cuptiActivityRegisterCallbacks_v2");
	*(void **)&enable_kind = dlsym(library, "cuptiActivityEnable_v2");
	for (char *field = strtok_r(list, ",", &rest); field && config.selection.count < 64;
	     field = strtok_r(NULL, ",", &rest))
		fields[config.selection.count++] = atoi(field);
	return subscribe && set && take && enable_kind &&
	       !subscribe(&subscriber, ignore, NULL, &params) &&
	       !set(subscriber, USER_DEFINED_RECORDS, &size, &is_on) &&
	       !take(subscriber, (void *)give_for_fields, (void *)take_fields) &&
	       !enable_kind(subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, &config);
}

/* The driver calls it while it starts. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *kinds = getenv("ONE_KIND"), *fields = getenv("ONE_KIND_FIELDS");
	char *copy = strdup(fields ? fields : kinds ? kinds : ""), *rest = NULL;

	if (!copy || !load())
		return 0;
	if (fields) {
		int is_asked = ask_for_fields(copy);

		free(copy);
		atexit(finish);
		return is_asked;
	}
	if (cupti.cuptiSubscribe(&subscriber, ignore, NULL) != CUPTI_SUCCESS)
		return 0;
	cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
	for (char *kind = strtok_r(copy, ",", &rest); kind; kind = strtok_r(NULL, ",", &rest))
		enable(kind);
	free(copy);
	atexit(finish);
	return 1;
}

/* NVTX calls it, with NVTX_INJECTION64_PATH. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void *table)
{
	return load() && cupti.cuptiNvtxInitialize2(table) == CUPTI_SUCCESS;
}
