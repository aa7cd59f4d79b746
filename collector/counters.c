#define _GNU_SOURCE
#include "counters.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counter_policy.h"
#include "counter_rows.h"
#include "counter_session.h"
#include "idle_wait.h"
#include "kernel_filter.h"
#include "launch_call.h"
#include "local_memory.h"
#include "log.h"
#include "trace_writer.h"
#include "window.h"

#define MAX_CONTEXTS 16

/* Work before a counted launch that takes longer may be waiting for the program. */
#define IDLE_PATIENCE_NS INT64_C(200000000)
/* A counted kernel that runs longer may be waiting for what the program does next: the program goes on,
 * and kernels like it are left alone. */
#define KERNEL_PATIENCE_NS INT64_C(2000000000)
/* Calls of other threads that launch and are not counted take microseconds, unless a queue is full. */
#define LANDING_PATIENCE_NS INT64_C(1000000)
/* A kernel that was let go is looked at so long, at each later launch, for whether it has ended. */
#define LEFTOVER_PATIENCE_NS INT64_C(1000000)
/* A launch of another thread waits so long for a counted one; then both run, and the count is void. */
#define LOCK_PATIENCE_NS INT64_C(2000000000)

struct counted_context {
	CUcontext context; /* NULL: unused */
	char chip[64];
	uint8_t *availability;
	struct counter_session *session; /* NULL after a failure */
	struct policy *policy;
	enum metric_scope scope;
	struct counter_rows rows;
	bool is_paused;	    /* replay: a launch that must not be repeated is under way */
	bool is_range_open; /* of a launch that did not end in time */
};

static const struct cupti_api *cupti; /* NULL until started, and after the end */
static const struct options *options;
static struct counted_context contexts[MAX_CONTEXTS];
static regex_t skipped; /* kernels that need others beside them */
static bool has_skipped;
static bool is_replaying;     /* a session repeats launches */
static unsigned int captures; /* under way: nothing may synchronise */
static bool is_disturbed;     /* a launch went on beside the one that is being counted */
static unsigned int flying;   /* launches that are not counted, between enter and exit */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The launch that this thread is in, between callbacks; it holds the lock. */
static __thread struct counted_context *inside;
static __thread bool is_flying;
static __thread struct launch_call inside_call;
static __thread int64_t inside_since_ns, inside_realtime_ns;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* False when it took too long, or when counting has ended meanwhile. */
static bool lock_for(int64_t patience_ns)
{
	struct timespec until;
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;

	until.tv_sec = until_ns / 1000000000;
	until.tv_nsec = until_ns % 1000000000;
	if (pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until))
		return false;
	if (cupti)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

/* ---- what goes wrong ---- */

/* Says once why there are no counters, and records it.  The trace goes on. */
static void give_up(struct counted_context *context, const char *what, CUptiResult result)
{
	struct trace_rows *rows = trace_rows_take();

	log_warn_once("no hardware counters: %s: %s (%d): %s; the trace is still recorded", what,
		      cupti_error_text(cupti, result), (int)result, cupti_error_remedy(result));
	trace_property_format(rows, "counters_problem", "%s: %s (%d)", what,
			      cupti_error_text(cupti, result), (int)result);
	trace_rows_give(rows);
	counter_rows_lose_pass(&context->rows);
	context->is_range_open = false;
	counter_session_close(context->session, true);
	context->session = NULL;
	is_replaying = false;
}

/* ---- sessions ---- */

static CUptiResult find_chip(struct counted_context *context)
{
	CUpti_Profiler_Initialize_Params initializing = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
	CUpti_Device_GetChipName_Params naming = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = context->rows.device};
	CUpti_Profiler_GetCounterAvailability_Params asking = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = context->context};
	CUptiResult result = cupti->cuptiProfilerInitialize(&initializing);

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
static void open_session(struct counted_context *context)
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
		give_up(context, "the counters cannot be configured", result);
		return;
	}
	if (options->is_replay)
		log_warn_once("--replay: every kernel runs %zu times, once for each pass",
			      config.pass_count);
	result = counter_session_open(&context->session, cupti, context->context,
				      options->is_replay ? SESSION_REPLAY : SESSION_ROTATION,
				      &config);
	if (result != CUPTI_SUCCESS) {
		give_up(context, "the counters cannot be started", result);
		return;
	}
	is_replaying = options->is_replay;
	counter_rows_write_metrics(&context->rows, counter_session_config(context->session));
}

static unsigned int pass_count(const struct counted_context *context)
{
	size_t passes =
		options->is_replay ? 1 : counter_session_config(context->session)->pass_count;

	return passes < POLICY_MAX_PASSES ? (unsigned int)passes : POLICY_MAX_PASSES;
}

static void open_context(struct counted_context *context, const CUpti_CallbackData *data)
{
	CUptiResult result;

	context->context = data->context;
	context->rows.context = data->contextUid;
	context->scope = options->is_replay ? SCOPE_ALL : SCOPE_WITHOUT_TENSOR_TYPES;
	if (cupti->cuptiGetDeviceId)
		cupti->cuptiGetDeviceId(data->context, &context->rows.device);
	result = find_chip(context);
	if (result != CUPTI_SUCCESS) {
		give_up(context, "the counters of this GPU cannot be asked for", result);
		return;
	}
	open_session(context);
	/* Opening took half a second, once: the credit does not pay for it. */
	inside_since_ns = clock_ns(CLOCK_MONOTONIC);
	if (context->session)
		context->policy = policy_new(pass_count(context), SESSION_RANGES,
					     options->is_replay ? 1 : options->counters_share,
					     inside_since_ns);
}

/* The context's entry; NULL when it has no session. */
static struct counted_context *find_context(const CUpti_CallbackData *data)
{
	struct counted_context *free_entry = NULL;

	for (size_t i = 0; i < MAX_CONTEXTS; i++) {
		if (contexts[i].context == data->context)
			return contexts[i].session ? &contexts[i] : NULL;
		if (!contexts[i].context && !free_entry)
			free_entry = &contexts[i];
	}
	if (!free_entry || !data->context)
		return NULL;
	open_context(free_entry, data);
	return free_entry->session && free_entry->policy ? free_entry : NULL;
}

/* Reads the open pass; opens the next unless is_last. */
static bool read_pass(struct counted_context *context, bool is_last)
{
	unsigned int pass = options->is_replay ? 0 : policy_pass(context->policy);
	CUptiResult result =
		counter_rows_read_pass(&context->rows, context->session, pass, is_last);

	if (result != CUPTI_SUCCESS)
		give_up(context, "the counters cannot be read", result);
	return result == CUPTI_SUCCESS;
}

/* Some kernel uses the tensor cores: from now on their operations are counted by type. */
static void widen(struct counted_context *context)
{
	counter_session_close(context->session, true);
	context->session = NULL;
	context->scope = SCOPE_ALL;
	open_session(context);
	if (context->session)
		policy_restart(context->policy, pass_count(context));
}

static bool must_widen(const struct counted_context *context)
{
	return context->rows.has_tensor_kernels && context->scope != SCOPE_ALL;
}

static bool advance(struct counted_context *context)
{
	bool is_open = read_pass(context, must_widen(context));

	if (!is_open)
		return false;
	if (must_widen(context)) {
		widen(context);
		return context->session != NULL;
	}
	policy_advanced(context->policy);
	return true;
}

/* Ends the counted launch's range.  Returns false when CUPTI would not. */
static bool end_range(struct counted_context *context)
{
	CUptiResult result = counter_session_end_range(context->session);

	context->is_range_open = false;
	if (result != CUPTI_SUCCESS)
		give_up(context, "a launch cannot be counted", result);
	return result == CUPTI_SUCCESS;
}

/* True when nothing of an earlier counted launch is left. */
static bool is_free(struct counted_context *context)
{
	return !context->is_range_open ||
	       (idle_wait(context->context, LEFTOVER_PATIENCE_NS) && end_range(context));
}

static void close_context(struct counted_context *context, bool has_device)
{
	if (context->session && !context->is_paused && is_free(context) &&
	    read_pass(context, true) && has_device)
		counter_session_close(context->session, true);
	policy_free(context->policy);
	free(context->availability);
	memset(context, 0, sizeof(*context));
}

/* ---- launches ---- */

static bool is_countable(const struct launch_call *call)
{
	if (captures || (call->kind != LAUNCH_KERNEL && call->kind != LAUNCH_GRAPH))
		return false;
	if (call->kind == LAUNCH_GRAPH)
		return !options->is_replay && !options->kernels;
	if (has_skipped && regexec(&skipped, call->name, 0, NULL, 0) == 0)
		return false;
	return !options->kernels || kernel_filter_wants(call->name);
}

static void take_off(void)
{
	is_flying = true;
	__atomic_add_fetch(&flying, 1, __ATOMIC_SEQ_CST);
}

static void land(void)
{
	if (is_flying)
		__atomic_sub_fetch(&flying, 1, __ATOMIC_SEQ_CST);
	is_flying = false;
}

/* Launches of other threads that were let go must not run in the range that is about to open.  New ones
 * wait for the lock. */
static bool have_all_landed(void)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + LANDING_PATIENCE_NS;

	while (__atomic_load_n(&flying, __ATOMIC_SEQ_CST)) {
		if (clock_ns(CLOCK_MONOTONIC) > until_ns)
			return false;
		sched_yield();
	}
	return true;
}

/* A replay repeats every launch between start and stop, wanted or not. */
static void pause_replay(struct counted_context *context)
{
	if (!context->is_paused && read_pass(context, true))
		context->is_paused = true;
}

static bool resume_replay(struct counted_context *context)
{
	CUptiResult result;

	if (!context->is_paused)
		return true;
	result = counter_session_resume(context->session);
	context->is_paused = false;
	if (result != CUPTI_SUCCESS)
		give_up(context, "the counters cannot be started again", result);
	return result == CUPTI_SUCCESS;
}

/* True when the launch is to be counted in the pass that is then open. */
static bool decide(struct counted_context *context, const struct launch_call *call)
{
	enum policy_decision decision;

	if (options->is_replay && !have_all_landed()) {
		/* This one goes uncounted, so it must not be repeated either. */
		pause_replay(context);
		return false;
	}
	if (options->is_replay)
		return resume_replay(context);
	if (!is_free(context))
		return false;
	decision = policy_launch(context->policy, call->signature, inside_since_ns);
	while (decision == POLICY_ADVANCE) {
		if (!idle_wait(context->context, IDLE_PATIENCE_NS) || !advance(context))
			return false;
		decision =
			policy_again(context->policy, call->signature, clock_ns(CLOCK_MONOTONIC));
	}
	return decision == POLICY_COUNT && have_all_landed() &&
	       idle_wait(context->context, IDLE_PATIENCE_NS);
}

/* Kernels that CUPTI traces run its instrumented code instead of that which counts, and all counts
 * would be 0 (CUPTI 13.0); off and on again takes 4 us.  Launches of pass 0, which counts without
 * instrumented code, keep their record; so do graphs, which never run instrumented code. */
static void record_kernels(const struct counted_context *context, bool is_on)
{
	if (options->is_replay || !policy_pass(context->policy) ||
	    context->rows.launches[context->rows.launch_count - 1].is_graph)
		return;
	if (is_on)
		cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	else
		cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static bool begin(struct counted_context *context, const struct launch_call *call,
		  const CUpti_CallbackData *data)
{
	CUptiResult result = counter_session_begin_range(context->session);

	if (result != CUPTI_SUCCESS) {
		give_up(context, "a launch cannot be counted", result);
		return false;
	}
	context->rows.launches[context->rows.launch_count++] = (struct counted_launch){
		.correlation = data->correlationId,
		.like = policy_counted(context->policy, call->signature, data->correlationId),
		.warps = call->warps,
		.is_graph = call->kind == LAUNCH_GRAPH,
	};
	record_kernels(context, false);
	__atomic_store_n(&is_disturbed, false, __ATOMIC_RELAXED);
	return true;
}

/* Holds the lock until the call returns when it returns true. */
static bool enter_locked(const struct launch_call *call, const CUpti_CallbackData *data)
{
	struct counted_context *context = find_context(data);
	int64_t now_ns;

	if (context && context->session && decide(context, call) && context->session &&
	    begin(context, call, data)) {
		inside = context;
		inside_call = *call;
		return true;
	}
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (context && context->policy)
		policy_charge(context->policy, now_ns - inside_since_ns);
	return false;
}

static bool may_count(const struct launch_call *call)
{
	return is_countable(call) && window_contains(inside_realtime_ns);
}

/* A launch that is not to be counted.  Returns false. */
static bool let_go(const CUpti_CallbackData *data)
{
	for (size_t i = 0; options->is_replay && !captures && i < MAX_CONTEXTS; i++)
		if (contexts[i].session && contexts[i].context == data->context)
			pause_replay(&contexts[i]);
	return false;
}

static void enter(const struct launch_call *call, const CUpti_CallbackData *data)
{
	inside_since_ns = clock_ns(CLOCK_MONOTONIC);
	inside_realtime_ns = clock_ns(CLOCK_REALTIME);
	if (!lock_for(LOCK_PATIENCE_NS)) {
		__atomic_store_n(&is_disturbed, true, __ATOMIC_RELAXED);
		take_off();
		return;
	}
	if (!(may_count(call) ? enter_locked(call, data) : let_go(data))) {
		int64_t end_ns = clock_ns(CLOCK_REALTIME);

		if (end_ns - inside_realtime_ns > 50000) /* the clock alone takes less */
			counter_rows_write_overhead(data->correlationId, inside_realtime_ns,
						    end_ns);
		take_off();
		pthread_mutex_unlock(&lock);
	}
}

/* The launch has returned, its work may not have. */
static void finish_launch(struct counted_context *context)
{
	bool is_disturbed_now = __atomic_load_n(&is_disturbed, __ATOMIC_RELAXED);
	struct counted_launch *launch = &context->rows.launches[context->rows.launch_count - 1];

	if (!options->is_replay && !idle_wait(context->context, KERNEL_PATIENCE_NS)) {
		log_warn_once("a kernel did not end within %d s of being counted: it may wait for "
			      "the program or for other kernels, and is no longer counted",
			      (int)(KERNEL_PATIENCE_NS / 1000000000));
		launch->is_void = true;
		context->is_range_open = true;
		policy_ban(context->policy, inside_call.signature);
		return;
	}
	launch->is_void = is_disturbed_now;
	if (end_range(context) && options->is_replay &&
	    context->rows.launch_count == SESSION_RANGES)
		advance(context);
}

static void leave(const CUpti_CallbackData *data)
{
	struct counted_context *context = inside;

	inside = NULL;
	record_kernels(context, true);
	finish_launch(context);
	policy_charge(context->policy, clock_ns(CLOCK_MONOTONIC) - inside_since_ns);
	if (options->is_replay)
		counter_rows_write_replayed(&context->rows, &inside_call, data->correlationId,
					    inside_realtime_ns, clock_ns(CLOCK_REALTIME));
	else
		counter_rows_write_overhead(data->correlationId, inside_realtime_ns,
					    clock_ns(CLOCK_REALTIME));
	pthread_mutex_unlock(&lock);
}

/* Callbacks of a call that fails come in pairs too. */
static void count_captures(enum launch_kind kind, const CUpti_CallbackData *data)
{
	bool is_entering = data->callbackSite == CUPTI_API_ENTER;
	const CUresult *result = is_entering ? NULL : data->functionReturnValue;
	bool has_failed = result && *result != CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (kind == CAPTURE_BEGIN && is_entering)
		captures++;
	else if (captures && !is_entering && (kind == CAPTURE_END || has_failed))
		captures--;
	pthread_mutex_unlock(&lock);
}

void counters_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	bool is_entering = data->callbackSite == CUPTI_API_ENTER;
	struct launch_call call;

	if (!cupti)
		return;
	if (inside) {
		if (!is_entering)
			leave(data);
		return;
	}
	call = launch_call_read(id, data);
	if (call.kind == CAPTURE_BEGIN || call.kind == CAPTURE_END)
		count_captures(call.kind, data);
	else if (call.kind != LAUNCH_NONE && is_entering) {
		local_memory_note(&call);
		enter(&call, data);
	} else if (call.kind != LAUNCH_NONE)
		land();
}

void counters_on_context_end(CUcontext context)
{
	if (!cupti || inside || !lock_for(LOCK_PATIENCE_NS))
		return;
	for (size_t i = 0; i < MAX_CONTEXTS; i++)
		if (context && contexts[i].context == context)
			close_context(&contexts[i], true);
	pthread_mutex_unlock(&lock);
}

/* ---- arriving and leaving ---- */

static bool has_driver(void)
{
	return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL;
}

void counters_start(const struct cupti_api *api, CUpti_SubscriberHandle subscriber,
		    const struct options *asked)
{
	struct trace_rows *rows;

	if (!asked->counters)
		return;
	rows = trace_rows_take();
	trace_property(rows, "counters", asked->counters);
	trace_property(rows, "counters_mode", asked->is_replay ? "replay" : "rotation");
	if (!cupti_has_counters(api) || !has_driver()) {
		log_warn("no hardware counters: this CUPTI lacks the range profiler; the trace is "
			 "still recorded");
		trace_property(rows, "counters_problem", "CUPTI lacks the range profiler");
		trace_rows_give(rows);
		return;
	}
	trace_rows_give(rows);
	has_skipped = asked->counters_skip &&
		      regcomp(&skipped, asked->counters_skip, REG_EXTENDED | REG_NOSUB) == 0;
	cupti_open_host_library(api);
	options = asked;
	cupti = api;
	/* A replay would repeat memsets too, so it hears of them. */
	launch_call_enable(api, subscriber, asked->is_replay ? LAUNCHES_AND_MEMSETS : LAUNCHES,
			   true);
	api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				 CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

void counters_stop(void)
{
	if (!cupti || inside || !lock_for(LOCK_PATIENCE_NS))
		return;
	for (size_t i = 0; i < MAX_CONTEXTS; i++)
		if (contexts[i].session && !contexts[i].is_paused && is_free(&contexts[i]))
			read_pass(&contexts[i], true);
	cupti = NULL;
	pthread_mutex_unlock(&lock);
}

bool counters_are_replaying(void)
{
	return __atomic_load_n(&is_replaying, __ATOMIC_RELAXED);
}

bool counters_is_own_kernel(const char *name)
{
	return options && name && !strcmp(name, "WaitNs");
}
