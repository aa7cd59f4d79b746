#define _GNU_SOURCE
#include "counters/counter_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counters/counter_launches.h"
#include "counters/counter_queue.h"
#include "idle_wait.h"
#include "log.h"

#define MAX_CONTEXTS 16

/* Each later launch waits so long for a counted kernel that did not end in time. */
#define LEFTOVER_TIMEOUT_NS INT64_C(1000000)

static const struct cupti_api *cupti;
static const struct options *options;
static struct counter_context contexts[MAX_CONTEXTS];
static bool is_replaying; /* a session repeats launches */

void counter_contexts_init(const struct cupti_api *api, const struct options *asked)
{
	cupti = api;
	options = asked;
}

void counter_context_fail(struct counter_context *context, const char *what, CUptiResult result)
{
	char problem[256];

	log_warn_once("no hardware counters: %s: %s (%d): %s; the trace is still recorded", what,
		      cupti_error_text(cupti, result), (int)result, cupti_error_remedy(result));
	snprintf(problem, sizeof(problem), "%s: %s (%d)", what, cupti_error_text(cupti, result),
		 (int)result);
	counter_queue_put_property("counters_problem", problem);
	counter_rows_lose_pass(&context->rows);
	context->is_range_open = false;
	counter_session_close(context->session, true);
	context->session = NULL;
	__atomic_store_n(&is_replaying, false, __ATOMIC_RELAXED);
}

static CUptiResult find_chip(struct counter_context *context)
{
	CUpti_Device_GetChipName_Params naming = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = context->rows.device};
	CUpti_Profiler_GetCounterAvailability_Params asking = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = context->context};
	CUptiResult result = cupti_start_profiler(cupti);

	if (result == CUPTI_SUCCESS)
		result = cupti->cuptiDeviceGetChipName(&naming);
	if (result == CUPTI_SUCCESS) {
		snprintf(context->chip, sizeof(context->chip), "%s", naming.pChipName);
		result = cupti->cuptiProfilerGetCounterAvailability(&asking);
	}
	if (result != CUPTI_SUCCESS)
		return result;
	context->availability = calloc(1, asking.counterAvailabilityImageSize + 1);
	if (!context->availability)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	asking.pCounterAvailabilityImage = context->availability;
	return cupti->cuptiProfilerGetCounterAvailability(&asking);
}

/* Opens a session for context->scope. */
static void open_session(struct counter_context *context)
{
	struct counter_config config;
	char refused[256];
	CUptiResult result =
		counter_config_build(&config, cupti, context->chip, context->availability,
				     options->counters, context->scope,
				     options->is_replay ? UINT32_MAX : 1, refused, sizeof(refused));

	if (*refused)
		log_warn_once("--counters: %s (%s); it is left out", refused, context->chip);
	if (result != CUPTI_SUCCESS) {
		counter_config_free(&config, cupti);
		counter_context_fail(context, "the counters cannot be configured", result);
		return;
	}
	if (options->is_replay)
		log_warn_once("--replay: every kernel runs %zu times, once for each pass",
			      config.pass_count);
	result = counter_session_open(&context->session, cupti, context->context,
				      options->is_replay ? SESSION_REPLAY : SESSION_ROTATION,
				      &config);
	if (result != CUPTI_SUCCESS) {
		counter_context_fail(context, "the counters cannot be started", result);
		return;
	}
	__atomic_store_n(&is_replaying, options->is_replay, __ATOMIC_RELAXED);
	counter_rows_write_metrics(&context->rows, counter_session_config(context->session));
}

static unsigned int pass_count(const struct counter_context *context)
{
	size_t passes =
		options->is_replay ? 1 : counter_session_config(context->session)->pass_count;

	return passes < POLICY_MAX_PASSES ? (unsigned int)passes : POLICY_MAX_PASSES;
}

static void open_context(struct counter_context *context, const CUpti_CallbackData *data,
			 int64_t *since_ns)
{
	CUptiResult result;

	context->context = data->context;
	context->rows.context = data->contextUid;
	context->scope = options->is_replay ? SCOPE_ALL : SCOPE_WITHOUT_TENSOR_TYPES;
	if (cupti->cuptiGetDeviceId)
		cupti->cuptiGetDeviceId(data->context, &context->rows.device);
	result = find_chip(context);
	if (result != CUPTI_SUCCESS) {
		counter_context_fail(context, "the counters of this GPU cannot be asked for",
				     result);
		return;
	}
	open_session(context);
	/* Opening took half a second, once: the credit does not pay for it. */
	*since_ns = clock_ns(CLOCK_MONOTONIC);
	if (context->session)
		context->policy =
			policy_new(pass_count(context), SESSION_RANGES,
				   options->is_replay ? 1 : options->counters_share, *since_ns);
}

struct counter_context *counter_context_find(const CUpti_CallbackData *data, int64_t *since_ns)
{
	struct counter_context *free_entry = NULL;

	for (size_t i = 0; i < MAX_CONTEXTS; i++) {
		if (contexts[i].context == data->context)
			return contexts[i].session ? &contexts[i] : NULL;
		if (!contexts[i].context && !free_entry)
			free_entry = &contexts[i];
	}
	if (!free_entry || !data->context)
		return NULL;
	open_context(free_entry, data, since_ns);
	return free_entry->session && free_entry->policy ? free_entry : NULL;
}

bool counter_context_read_pass(struct counter_context *context, bool is_last)
{
	unsigned int pass = options->is_replay ? 0 : policy_pass(context->policy);
	CUptiResult result =
		counter_rows_read_pass(&context->rows, context->session, pass, is_last);

	if (result != CUPTI_SUCCESS)
		counter_context_fail(context, "the counters cannot be read", result);
	return result == CUPTI_SUCCESS;
}

/* Some kernel uses the tensor cores: from now on their operations are counted by type. */
static void widen(struct counter_context *context)
{
	counter_session_close(context->session, true);
	context->session = NULL;
	context->scope = SCOPE_ALL;
	open_session(context);
	if (!context->session)
		return;
	policy_restart(context->policy, pass_count(context));
	counter_launches_renew();
}

static bool must_widen(const struct counter_context *context)
{
	return context->rows.has_tensor_kernels && context->scope != SCOPE_ALL;
}

bool counter_context_advance(struct counter_context *context)
{
	bool is_open = counter_context_read_pass(context, must_widen(context));

	if (!is_open)
		return false;
	if (must_widen(context)) {
		widen(context);
		return context->session != NULL;
	}
	policy_advanced(context->policy);
	return true;
}

bool counter_context_end_range(struct counter_context *context)
{
	CUptiResult result = counter_session_end_range(context->session);

	context->is_range_open = false;
	if (result != CUPTI_SUCCESS)
		counter_context_fail(context, "a launch cannot be counted", result);
	return result == CUPTI_SUCCESS;
}

bool counter_context_is_free(struct counter_context *context)
{
	return !context->is_range_open || (idle_wait(context->context, LEFTOVER_TIMEOUT_NS) &&
					   counter_context_end_range(context));
}

void counter_context_close(struct counter_context *context)
{
	if (context->session && !context->is_paused && counter_context_is_free(context) &&
	    counter_context_read_pass(context, true))
		counter_session_close(context->session, true);
	policy_free(context->policy);
	free(context->availability);
	counter_launches_forget(context->context);
	memset(context, 0, sizeof(*context));
}

struct counter_context *counter_context_of(CUcontext context)
{
	for (size_t i = 0; context && i < MAX_CONTEXTS; i++)
		if (contexts[i].context == context)
			return &contexts[i];
	return NULL;
}

void counter_contexts_finish(void)
{
	for (size_t i = 0; i < MAX_CONTEXTS; i++)
		if (contexts[i].session && !contexts[i].is_paused &&
		    counter_context_is_free(&contexts[i]))
			counter_context_read_pass(&contexts[i], true);
}

bool counter_contexts_are_replaying(void)
{
	return __atomic_load_n(&is_replaying, __ATOMIC_RELAXED);
}
