/*
 * mock_app_ranges.c - the steps of mock_app that call NVTX.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#define HAS_PAYLOADS
#endif

#include <generated_nvtx_meta.h>

#include "mock_app.h"

static void nvtx(CUpti_CallbackId id, const void *parameters, const void *returned)
{
	if (mock.mock_nvtx)
		mock.mock_nvtx(id, parameters, returned);
}

static void step_push(const char *argument)
{
	nvtxRangePushA_params call = {.message = argument};

	nvtx(CUPTI_CBID_NVTX_nvtxRangePushA, &call, NULL);
}

/* push_domain:NAME - with the attributes that a domain's range has */
static void step_push_domain(const char *argument)
{
	nvtxEventAttributes_t attributes = {.messageType = NVTX_MESSAGE_TYPE_ASCII,
					    .message.ascii = argument};
	nvtxDomainRangePushEx_params call = {.core.eventAttrib = &attributes};

	nvtx(CUPTI_CBID_NVTX_nvtxDomainRangePushEx, &call, NULL);
}

static char registered; /* the one string, known by its address */

/* register:NAME - a string that ranges may have instead of a name */
static void step_register(const char *argument)
{
	nvtxDomainRegisterStringA_params call = {.string = argument};
	nvtxStringHandle_t handle = (nvtxStringHandle_t)&registered;

	nvtx(CUPTI_CBID_NVTX_nvtxDomainRegisterStringA, &call, &handle);
}

static void step_push_registered(const char *argument)
{
	nvtxEventAttributes_t attributes = {.messageType = NVTX_MESSAGE_TYPE_REGISTERED,
					    .message.registered = (nvtxStringHandle_t)&registered};
	nvtxDomainRangePushEx_params call = {.core.eventAttrib = &attributes};

	(void)argument;
	nvtx(CUPTI_CBID_NVTX_nvtxDomainRangePushEx, &call, NULL);
}

/* ---- NCCL, whose ranges have payloads ---- */

static char nccls_domain; /* known by its address */

/* What NVTX's extension for payloads declares. */
struct payload {
	uint64_t schema;
	size_t size;
	const void *bytes;
};

/* SCHEMA,q1,d2 - the number of a schema of NCCL, then numbers of 8 bytes (q) and of 4 (d); padded as a struct is. */
static struct payload payload_of(const char *argument, uint64_t *bytes)
{
	size_t size = 0;
	char *end;
	uint64_t schema = strtoull(argument, &end, 10);

	while (*end == ',') {
		size_t width = end[1] == 'q' ? 8 : 4;
		uint64_t value = strtoull(end + 2, &end, 10);

		memcpy((char *)bytes + size, &value, width);
		size += width;
	}
	return (struct payload){(UINT64_C(1) << 24) + schema, (size + 7) / 8 * 8, bytes};
}

static void step_nccl_domain(const char *argument)
{
	nvtxDomainCreateA_params call = {.name = argument ? argument : "NCCL"};
	nvtxDomainHandle_t handle = (nvtxDomainHandle_t)&nccls_domain;

	nvtx(CUPTI_CBID_NVTX_nvtxDomainCreateA, &call, &handle);
}

/* nccl:SCHEMA,... - a range in the domain that nccl_domain made, by NVTX's own function */
static void step_nccl(const char *argument)
{
	uint64_t bytes[8] = {0};
	struct payload payload = payload_of(argument, bytes);
	nvtxEventAttributes_t attributes = {.payloadType = (int32_t)0xDFBD0009,
					    .reserved0 = 1,
					    .payload.ullValue = (uint64_t)(uintptr_t)&payload};

	nvtxDomainRangePushEx((nvtxDomainHandle_t)&nccls_domain, &attributes);
}

/* nccl_pop:SCHEMA,... - the end of such a range, by NVTX's own function */
static void step_nccl_pop(const char *argument)
{
#ifdef HAS_PAYLOADS
	uint64_t bytes[8] = {0};
	struct payload payload = payload_of(argument, bytes);

	nvtxRangePopPayload((nvtxDomainHandle_t)&nccls_domain,
			    (const nvtxPayloadData_t *)(const void *)&payload, 1);
#else
	fail("nccl_pop", "built without NVTX's header for payloads");
	(void)argument;
#endif
}

static void step_pop(const char *argument)
{
	(void)argument;
	nvtx(CUPTI_CBID_NVTX_nvtxRangePop, NULL, NULL);
}

static nvtxRangeId_t last_range;

static void step_range_start(const char *argument)
{
	nvtxRangeStartA_params call = {.message = argument};

	last_range++;
	nvtx(CUPTI_CBID_NVTX_nvtxRangeStartA, &call, &last_range);
}

/* range_end:ID - ranges are numbered from 1 in the order of their start */
static void step_range_end(const char *argument)
{
	nvtxRangeEnd_params call = {.id = (nvtxRangeId_t)number(argument)};

	nvtx(CUPTI_CBID_NVTX_nvtxRangeEnd, &call, NULL);
}

static void *range_main(void *argument)
{
	step_push(argument);
	usleep(30000);
	step_pop(NULL);
	return NULL;
}

/* range_in_thread:NAME - another thread is in such a range for 30 ms; waits for it */
static void step_range_in_thread(const char *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, range_main, (void *)argument))
		fail("range_in_thread", "cannot start a thread");
	pthread_join(thread, NULL);
}

const struct step range_steps[] = {
	{"push", step_push},
	{"push_domain", step_push_domain},
	{"register", step_register},
	{"push_registered", step_push_registered},
	{"pop", step_pop},
	{"nccl_domain", step_nccl_domain},
	{"nccl", step_nccl},
	{"nccl_pop", step_nccl_pop},
	{"range_start", step_range_start},
	{"range_end", step_range_end},
	{"range_in_thread", step_range_in_thread},
	{0},
};
