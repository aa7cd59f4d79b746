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

#include "clock.h"
#include "counter_context.h"
#include "idle_wait.h"
#include "kernel_filter.h"
#include "launch_call.h"
#include "local_memory.h"
#include "log.h"
#include "trace_writer.h"
#include "window.h"

/* Work before a counted launch that takes longer may be waiting for the program. */
#define IDLE_TIMEOUT_NS INT64_C(200000000)
/* A counted kernel that runs longer may be waiting for what the program does next: the program goes on,
 * and no more kernels like it are counted. */
#define KERNEL_TIMEOUT_NS INT64_C(2000000000)
/* Calls of other threads that launch and are not counted take microseconds, unless a queue is full. */
#define UNCOUNTED_TIMEOUT_NS INT64_C(1000000)
/* A launch of another thread waits so long for a counted one; then both run, and the count is void. */
#define LOCK_TIMEOUT_NS INT64_C(2000000000)

static const struct cupti_api *_Atomic cupti; /* NULL until started, and after the end */
static const struct options *options;
static regex_t skipped; /* kernels that need others beside them */
static bool has_skipped;
static unsigned int captures;	     /* under way: nothing may synchronize */
static bool is_disturbed;	     /* a launch went on beside the one that is being counted */
static unsigned int uncounted_count; /* launches that are not counted, between enter and exit */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The launch that this thread is in, between callbacks; it holds the lock. */
static __thread struct counter_context *inside;
static __thread bool is_in_uncounted;
static __thread struct launch_call inside_call;
static __thread int64_t inside_since_ns, inside_realtime_ns;

/* False when it took too long, or when counting has ended meanwhile. */
static bool lock_for(int64_t timeout_ns)
{
	struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + timeout_ns);

	if (pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until))
		return false;
	if (cupti)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
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

static void begin_uncounted(void)
{
	is_in_uncounted = true;
	__atomic_add_fetch(&uncounted_count, 1, __ATOMIC_SEQ_CST);
}

static void end_uncounted(void)
{
	if (is_in_uncounted)
		__atomic_sub_fetch(&uncounted_count, 1, __ATOMIC_SEQ_CST);
	is_in_uncounted = false;
}

/* Launches of other threads that are not counted must not run in the range that is about to open: waits
 * until they have returned.  New ones wait for the lock.  False when it took too long. */
static bool wait_for_uncounted(void)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + UNCOUNTED_TIMEOUT_NS;

	while (__atomic_load_n(&uncounted_count, __ATOMIC_SEQ_CST)) {
		if (clock_ns(CLOCK_MONOTONIC) > until_ns)
			return false;
		sched_yield();
	}
	return true;
}

/* A replay repeats every launch between start and stop, wanted or not. */
static void pause_replay(struct counter_context *context)
{
	if (!context->is_paused && counter_context_read_pass(context, true))
		context->is_paused = true;
}

static bool resume_replay(struct counter_context *context)
{
	CUptiResult result;

	if (!context->is_paused)
		return true;
	result = counter_session_resume(context->session);
	context->is_paused = false;
	if (result != CUPTI_SUCCESS)
		counter_context_fail(context, "the counters cannot be started again", result);
	return result == CUPTI_SUCCESS;
}

/* True when the launch is to be counted in the pass that is then open. */
static bool decide(struct counter_context *context, const struct launch_call *call)
{
	enum policy_decision decision;

	if (options->is_replay && !wait_for_uncounted()) {
		/* This one goes uncounted, so it must not be repeated either. */
		pause_replay(context);
		return false;
	}
	if (options->is_replay)
		return resume_replay(context);
	if (!counter_context_is_free(context))
		return false;
	decision = policy_launch(context->policy, call->signature, inside_since_ns);
	while (decision == POLICY_ADVANCE) {
		if (!idle_wait(context->context, IDLE_TIMEOUT_NS) ||
		    !counter_context_advance(context))
			return false;
		decision =
			policy_again(context->policy, call->signature, clock_ns(CLOCK_MONOTONIC));
	}
	return decision == POLICY_COUNT && wait_for_uncounted() &&
	       idle_wait(context->context, IDLE_TIMEOUT_NS);
}

/* Kernels that CUPTI traces run its instrumented code instead of that which counts, and all counts
 * would be 0 (CUPTI 13.0); off and on again takes 4 us.  Launches of pass 0, which counts without
 * instrumented code, keep their record; so do graphs, which never run instrumented code. */
static void record_kernels(const struct counter_context *context, bool is_on)
{
	if (options->is_replay || !policy_pass(context->policy) ||
	    context->rows.launches[context->rows.launch_count - 1].is_graph)
		return;
	if (is_on)
		cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	else
		cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static bool begin(struct counter_context *context, const struct launch_call *call,
		  const CUpti_CallbackData *data)
{
	CUptiResult result = counter_session_begin_range(context->session);

	if (result != CUPTI_SUCCESS) {
		counter_context_fail(context, "a launch cannot be counted", result);
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
	struct counter_context *context = counter_context_find(data, &inside_since_ns);
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
static bool skip_launch(const CUpti_CallbackData *data)
{
	struct counter_context *context = counter_context_of(data->context);

	if (options->is_replay && !captures && context && context->session)
		pause_replay(context);
	return false;
}

static void enter(const struct launch_call *call, const CUpti_CallbackData *data)
{
	inside_since_ns = clock_ns(CLOCK_MONOTONIC);
	inside_realtime_ns = clock_ns(CLOCK_REALTIME);
	if (!lock_for(LOCK_TIMEOUT_NS)) {
		__atomic_store_n(&is_disturbed, true, __ATOMIC_RELAXED);
		begin_uncounted();
		return;
	}
	if (!(may_count(call) ? enter_locked(call, data) : skip_launch(data))) {
		int64_t end_ns = clock_ns(CLOCK_REALTIME);

		if (end_ns - inside_realtime_ns > 50000) /* the clock alone takes less */
			counter_rows_write_overhead(data->correlationId, inside_realtime_ns,
						    end_ns);
		begin_uncounted();
		pthread_mutex_unlock(&lock);
	}
}

/* The launch has returned, its work may not have. */
static void finish_launch(struct counter_context *context)
{
	bool is_disturbed_now = __atomic_load_n(&is_disturbed, __ATOMIC_RELAXED);
	struct counted_launch *launch = &context->rows.launches[context->rows.launch_count - 1];

	if (!options->is_replay && !idle_wait(context->context, KERNEL_TIMEOUT_NS)) {
		log_warn_once(
			"a counted kernel did not end within %d s: it may wait for the program "
			"or for other kernels; kernels like it are no longer counted",
			(int)(KERNEL_TIMEOUT_NS / 1000000000));
		launch->is_void = true;
		context->is_range_open = true;
		policy_ban(context->policy, inside_call.signature);
		return;
	}
	launch->is_void = is_disturbed_now;
	if (counter_context_end_range(context) && options->is_replay &&
	    context->rows.launch_count == SESSION_RANGES)
		counter_context_advance(context);
}

static void leave(const CUpti_CallbackData *data)
{
	struct counter_context *context = inside;

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
		end_uncounted();
}

void counters_on_context_end(CUcontext context)
{
	struct counter_context *entry;

	if (!cupti || inside || !lock_for(LOCK_TIMEOUT_NS))
		return;
	entry = counter_context_of(context);
	if (entry)
		counter_context_close(entry);
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
	rows = trace_rows_get();
	trace_property(rows, "counters", asked->counters);
	trace_property(rows, "counters_mode", asked->is_replay ? "replay" : "rotation");
	if (!cupti_has_counters(api) || !has_driver()) {
		log_warn("no hardware counters: this CUPTI lacks the range profiler; the trace is "
			 "still recorded");
		trace_property(rows, "counters_problem", "CUPTI lacks the range profiler");
		trace_rows_put(rows);
		return;
	}
	trace_rows_put(rows);
	has_skipped = asked->counters_skip &&
		      regcomp(&skipped, asked->counters_skip, REG_EXTENDED | REG_NOSUB) == 0;
	cupti_open_host_library(api);
	counter_contexts_init(api, asked);
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
	if (!cupti || inside || !lock_for(LOCK_TIMEOUT_NS))
		return;
	counter_contexts_finish();
	cupti = NULL;
	pthread_mutex_unlock(&lock);
}

bool counters_are_replaying(void)
{
	return counter_contexts_are_replaying();
}

bool counters_is_own_kernel(const char *name)
{
	return options && name && !strcmp(name, "WaitNs");
}
