/*
 * libone_kind.c - a client of CUPTI that asks for the kinds of records in ONE_KIND and throws them away.
 *
 *   CUDA_INJECTION64_PATH=.../libone_kind.so ONE_KIND=10,3 PROGRAM
 *
 * ONE_KIND: numbers of CUpti_ActivityKind, with commas.  "launch_call" records the calls that launch kernels, "callback"
 * enables an empty callback for them.  At the end it prints the number of records on stderr.
 */
#define _GNU_SOURCE
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

static CUpti_SubscriberHandle subscriber;
static atomic_ulong record_count;

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
	while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
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
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	fprintf(stderr, "records %lu\n", atomic_load(&record_count));
}

static void enable(const char *kind)
{
	CUptiResult result;

	if (!strcmp(kind, "launch_call"))
		result = cuptiActivityEnableRuntimeApi(
			CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1);
	else if (!strcmp(kind, "callback"))
		result = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
					     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	else
		result = cuptiActivityEnable((CUpti_ActivityKind)atoi(kind));
	if (result != CUPTI_SUCCESS)
		fprintf(stderr, "one_kind: %s: error %d\n", kind, (int)result);
}

/* The driver calls it while it starts. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *kinds = getenv("ONE_KIND");
	char *copy = strdup(kinds ? kinds : ""), *rest = NULL;

	if (!copy || cuptiSubscribe(&subscriber, ignore, NULL) != CUPTI_SUCCESS)
		return 0;
	cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
	for (char *kind = strtok_r(copy, ",", &rest); kind; kind = strtok_r(NULL, ",", &rest))
		enable(kind);
	free(copy);
	atexit(finish);
	return 1;
}

/* NVTX calls it, with NVTX_INJECTION64_PATH. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void *table)
{
	return cuptiNvtxInitialize2(table) == CUPTI_SUCCESS;
}
