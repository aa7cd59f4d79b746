/*
 * mock_app_ranges.c - the steps of mock_app that call NVTX.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

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
	{"range_start", step_range_start},
	{"range_end", step_range_end},
	{"range_in_thread", step_range_in_thread},
	{0},
};
