#define _GNU_SOURCE
#include "counters/counters.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "clock.h"
#include "counters/counter_context.h"
#include "counters/counter_gate.h"
#include "counters/counter_launches.h"
#include "counters/counter_queue.h"
#include "counters/counter_verdicts.h"
#include "flush_thread.h"
#include "guard.h"
#include "idle_wait.h"
#include "inject.h"
#include "counters/launch_call.h"
#include "log.h"
#include "wait.h"
#include "writer/trace_writer.h"
#include "window.h"

/* Work before a counted launch that takes longer may be waiting for the program. */
#define IDLE_TIMEOUT_NS INT64_C(200000000)
/* A counted kernel that runs longer may be waiting for what the program does next: the program goes on,
 * and no more kernels like it are counted. */
#define KERNEL_TIMEOUT_NS INT64_C(2000000000)
/* Who comes when the gate has been opened finds the lock taken no longer than that. */
#define TURN_TIMEOUT_NS INT64_C(100000)
/* The end of a context or of the program, and in a replay every launch, waits so long for a counted launch. */
#define LOCK_TIMEOUT_NS INT64_C(2000000000)
/* The same before a capture, which synchronizing for a counted launch would spoil. */
#define CAPTURE_TIMEOUT_NS INT64_C(5000000000)
/* Shorter delays are not worth a row: the clock alone takes a part of it. */
#define LEAST_OVERHEAD_NS INT64_C(50000)

static const struct cupti_api *cupti;
static const struct options *options;
static bool is_counting;      /* started, and not stopped */
static bool is_left;	      /* a thread has begun to exit within a launch that it counts */
static bool has_window;	      /* not all of the run is recorded */
static unsigned int captures; /* under way: nothing may synchronize */
static bool graphs_may_wait;  /* one has captured a kernel that waits for others */

/* Who holds it counts a launch, opens a session or changes the pass.  In a rotation launches that are not
 * counted do without it (counter_gate.h). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The launch that this thread is in, between callbacks. */
static __thread struct {
	struct counter_context *context; /* it is counted, and the thread holds the lock */
	struct counter_launches *launches;
	bool is_uncounted;
	struct launch_call call;
	int64_t since_ns, realtime_ns;
} inside;

/* Counting may have ended before this thread had the lock. */
static bool keep_lock(void)
{
	if (__atomic_load_n(&is_counting, __ATOMIC_RELAXED))
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

/* False when it took too long, or when counting has ended meanwhile. */
static bool lock_for(int64_t timeout_ns)
{
	struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + timeout_ns);

	return wait_lock(&lock, &until) == 0 && keep_lock();
}

/* For a launch that could be counted: it waits for another that is no longer than one that could not. */
static bool lock_in_turn(void)
{
	if (pthread_mutex_trylock(&lock) == 0)
		return keep_lock();
	return counter_gate_wait() && lock_for(TURN_TIMEOUT_NS);
}

static bool is_capturing(void)
{
	return __atomic_load_n(&captures, __ATOMIC_SEQ_CST) != 0;
}

/* ---- counting a launch, under the lock ---- */

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
	inside.context = context;
	inside.call = *call;
	return true;
}

/* The launch has returned, its work may not have. */
static void finish_launch(struct counter_context *context)
{
	struct counted_launch *launch = &context->rows.launches[context->rows.launch_count - 1];

	if (!options->is_replay && !idle_wait(context->context, KERNEL_TIMEOUT_NS)) {
		log_warn_once(
			"a counted kernel did not end within %d s: it may wait for the program "
			"or for other kernels; kernels like it are no longer counted",
			(int)(KERNEL_TIMEOUT_NS / 1000000000));
		launch->is_void = true;
		context->is_range_open = true;
		policy_ban(context->policy, inside.call.signature);
		return;
	}
	launch->is_void = counter_gate_was_passed();
	if (launch->is_void)
		policy_void(context->policy, inside.call.signature);
	if (counter_context_end_range(context) && options->is_replay &&
	    context->rows.launch_count == SESSION_RANGES)
		counter_context_advance(context);
}

/* ---- a rotation ---- */

static bool has_kind_to_count(const struct launch_call *call)
{
	if (call->kind == LAUNCH_GRAPH)
		return !options->is_replay && !options->kernels &&
		       !__atomic_load_n(&graphs_may_wait, __ATOMIC_RELAXED);
	return call->kind == LAUNCH_KERNEL && counter_verdict(call);
}

static bool may_count(const struct launch_call *call)
{
	return !is_capturing() && has_kind_to_count(call) &&
	       (!has_window || window_contains(clock_ns(CLOCK_REALTIME)));
}

/* Which graph it is in is not followed: copies of it, and graphs with it inside, wait as well. */
static void note_captured(const struct launch_call *call)
{
	bool is_kernel = call->kind == LAUNCH_KERNEL || call->kind == LAUNCH_COOPERATIVE;

	if (is_capturing() && is_kernel && !has_kind_to_count(call))
		__atomic_store_n(&graphs_may_wait, true, __ATOMIC_RELAXED);
}

/* NULL when the launch is not to be counted for sure: most of them, and they take no lock. */
static struct counter_launches *find_due(const struct launch_call *call,
					 const CUpti_CallbackData *data)
{
	struct counter_launches *launches;

	if (!may_count(call))
		return NULL;
	launches = counter_launches_add(data->context, call->signature, data->correlationId);
	return launches && counter_launches_are_due(launches) ? launches : NULL;
}

/* Others wait from here on, and a capture with them: one that began after this thread had looked is seen. */
static bool close_gate(enum counter_gate_phase phase)
{
	counter_gate_set(phase);
	return !is_capturing();
}

/* Opening a session takes half a second, once. */
static struct counter_context *find_context(const CUpti_CallbackData *data)
{
	struct counter_context *context = counter_context_of(data->context);

	if (context)
		return context->session && context->policy ? context : NULL;
	return close_gate(GATE_PROFILER) ? counter_context_find(data, &inside.since_ns) : NULL;
}

static bool change_pass(struct counter_context *context)
{
	if (!close_gate(GATE_DEVICE) || !idle_wait(context->context, IDLE_TIMEOUT_NS))
		return false;
	counter_gate_set(GATE_PROFILER);
	return counter_context_advance(context);
}

/* What a counted launch left that did not end in time. */
static bool is_free(struct counter_context *context)
{
	return !context->is_range_open ||
	       (close_gate(GATE_DEVICE) && counter_context_is_free(context));
}

/* Nobody else's work is or gets into the range that is about to open. */
static bool has_device_alone(const struct counter_context *context)
{
	return close_gate(GATE_DEVICE) && counter_gate_wait_for_others() && !is_capturing() &&
	       idle_wait(context->context, IDLE_TIMEOUT_NS) && !counter_gate_was_passed();
}

/* True when the launch is to be counted in the pass that is then open. */
static bool decide(struct counter_context *context, const struct launch_call *call)
{
	enum policy_decision decision;
	double time_share;
	uint64_t news;

	if (!is_free(context))
		return false;
	news = counter_launches_take_news(inside.launches, &time_share);
	policy_tell(context->policy, call->signature, news, time_share);
	decision = policy_launch(context->policy, call->signature, inside.since_ns);
	while (decision == POLICY_ADVANCE) {
		if (!change_pass(context))
			return false;
		decision =
			policy_again(context->policy, call->signature, clock_ns(CLOCK_MONOTONIC));
	}
	return decision == POLICY_COUNT && has_device_alone(context);
}

/* When a launch like this one is to come here again: never after a failure. */
static void put_off(CUcontext cuda_context, uint64_t signature, bool is_refused)
{
	const struct counter_context *context = counter_context_of(cuda_context);
	uint64_t next = 0;

	if (context)
		next = context->session && context->policy
			       ? policy_next_launch(context->policy, signature)
			       : UINT64_MAX;
	counter_launches_put_off(inside.launches, next, is_refused);
}

static void charge(struct counter_context *context)
{
	if (context && context->policy)
		policy_charge(context->policy, clock_ns(CLOCK_MONOTONIC) - inside.since_ns);
}

/* Holds the lock until the call returns when it returns true. */
static bool begin_due(const struct launch_call *call, const CUpti_CallbackData *data)
{
	struct counter_context *context;
	struct guard guard;

	inside.since_ns = clock_ns(CLOCK_MONOTONIC);
	inside.realtime_ns = clock_ns(CLOCK_REALTIME);
	/* The process: a child that was made without a fork handler has all of this memory. */
	if (!inject_is_recording())
		return false;
	guard_enter_long(&guard);
	if (lock_in_turn()) {
		context = find_context(data);
		if (context && decide(context, call) && context->session &&
		    begin(context, call, data)) {
			counter_gate_set(GATE_CALL);
		} else {
			counter_gate_set(GATE_OPEN);
			charge(context);
			put_off(data->context, call->signature, true);
			pthread_mutex_unlock(&lock);
		}
	}
	guard_leave(&guard);
	return inside.context != NULL;
}

static void note_delay(uint32_t correlation, int64_t since_ns)
{
	int64_t now_ns = since_ns ? clock_ns(CLOCK_REALTIME) : 0;

	if (now_ns - since_ns > LEAST_OVERHEAD_NS)
		counter_rows_write_overhead(correlation, since_ns, now_ns);
}

static void enter_rotation(const struct launch_call *call, const CUpti_CallbackData *data)
{
	int64_t delayed_ns = 0, waited_ns;

	note_captured(call);
	inside.launches = find_due(call, data);
	if (inside.launches) {
		if (begin_due(call, data))
			return;
		delayed_ns = inside.realtime_ns;
	}
	waited_ns = counter_gate_enter(0);
	inside.is_uncounted = true;
	note_delay(data->correlationId, delayed_ns ? delayed_ns : waited_ns);
}

static void leave_rotation(const CUpti_CallbackData *data)
{
	struct counter_context *context = inside.context;
	struct guard guard;

	guard_enter_long(&guard);
	inside.context = NULL;
	counter_gate_set(GATE_DEVICE);
	record_kernels(context, true);
	finish_launch(context);
	counter_gate_set(GATE_OPEN);
	charge(context);
	put_off(data->context, inside.call.signature, false);
	counter_rows_write_overhead(data->correlationId, inside.realtime_ns,
				    clock_ns(CLOCK_REALTIME));
	pthread_mutex_unlock(&lock);
	guard_leave(&guard);
}

/* ---- a replay ---- */

/* It repeats every launch between start and stop, wanted or not: so each takes the lock, and those that are
 * counted hold it across the driver's call. */

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

static bool begin_replay(const struct launch_call *call, const CUpti_CallbackData *data)
{
	struct counter_context *context = counter_context_find(data, &inside.since_ns);

	if (!context)
		return false;
	if (!counter_gate_wait_for_others()) {
		pause_replay(
			context); /* this one goes uncounted, so it must not be repeated either */
		return false;
	}
	counter_gate_set(GATE_OPEN); /* forgets who went on before */
	return resume_replay(context) && begin(context, call, data);
}

static void skip_in_replay(const CUpti_CallbackData *data)
{
	struct counter_context *context = counter_context_of(data->context);

	if (!is_capturing() && context && context->session)
		pause_replay(context);
}

/* Returns with the lock held when the launch is counted. */
static void enter_replay_guarded(const struct launch_call *call, const CUpti_CallbackData *data)
{
	inside.since_ns = clock_ns(CLOCK_MONOTONIC);
	inside.realtime_ns = clock_ns(CLOCK_REALTIME);
	inside.is_uncounted = true;
	if (!lock_for(LOCK_TIMEOUT_NS)) {
		counter_gate_force();
		return;
	}
	if (!may_count(call)) {
		skip_in_replay(data);
	} else if (begin_replay(call, data)) {
		inside.is_uncounted = false;
		return;
	}
	counter_gate_enter(0);
	pthread_mutex_unlock(&lock);
	note_delay(data->correlationId, inside.realtime_ns);
}

static void enter_replay(const struct launch_call *call, const CUpti_CallbackData *data)
{
	struct guard guard;

	guard_enter_long(&guard);
	enter_replay_guarded(call, data);
	guard_leave(&guard);
}

static void leave_replay(const CUpti_CallbackData *data)
{
	struct counter_context *context = inside.context;
	struct guard guard;

	guard_enter_long(&guard);
	inside.context = NULL;
	finish_launch(context);
	charge(context);
	counter_rows_write_replayed(&context->rows, &inside.call, data->correlationId,
				    inside.realtime_ns, clock_ns(CLOCK_REALTIME));
	pthread_mutex_unlock(&lock);
	guard_leave(&guard);
}

/* ---- captures ---- */

/* What is being counted comes to its end first; what comes then sees the capture. */
static void begin_capture(void)
{
	struct guard guard;
	bool has_lock;

	guard_enter_long(&guard);
	has_lock = options->is_replay && lock_for(CAPTURE_TIMEOUT_NS);
	__atomic_add_fetch(&captures, 1, __ATOMIC_SEQ_CST);
	if (has_lock)
		pthread_mutex_unlock(&lock);
	guard_leave(&guard);
	if (options->is_replay)
		return;
	counter_gate_enter(CAPTURE_TIMEOUT_NS);
	inside.is_uncounted = true;
}

static void end_capture(void)
{
	unsigned int count = __atomic_load_n(&captures, __ATOMIC_SEQ_CST);

	while (count && !__atomic_compare_exchange_n(&captures, &count, count - 1, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* Callbacks of a call that fails come in pairs too. */
static void on_capture(enum launch_kind kind, const CUpti_CallbackData *data)
{
	bool is_entering = data->callbackSite == CUPTI_API_ENTER;
	const CUresult *result = is_entering ? NULL : data->functionReturnValue;
	bool has_failed = result && *result != CUDA_SUCCESS;

	if (kind == CAPTURE_BEGIN && is_entering)
		begin_capture();
	else if (!is_entering && (kind == CAPTURE_END || has_failed))
		end_capture();
}

/* ---- what CUPTI calls ---- */

static void leave(const CUpti_CallbackData *data)
{
	if (inside.context && options->is_replay)
		leave_replay(data);
	else if (inside.context)
		leave_rotation(data);
	else if (inside.is_uncounted)
		counter_gate_leave();
	inside.is_uncounted = false;
}

/* A signal handler has left the launch before by siglongjmp, and its end was not seen: it is no longer under way. */
static void forget_left_launch(void)
{
	if (inside.is_uncounted)
		counter_gate_leave();
	inside.is_uncounted = false;
}

void counters_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	bool is_entering = data->callbackSite == CUPTI_API_ENTER;
	struct launch_call call;

	if (!__atomic_load_n(&is_counting, __ATOMIC_ACQUIRE))
		return;
	if (!is_entering && (inside.context || inside.is_uncounted))
		leave(data);
	if (inside.context || (!is_entering && !launch_call_is_capture(id)))
		return;
	call = launch_call_read(id, data);
	if (is_entering && call.kind != LAUNCH_NONE)
		forget_left_launch();
	if (call.kind == CAPTURE_BEGIN || call.kind == CAPTURE_END)
		on_capture(call.kind, data);
	else if (call.kind != LAUNCH_NONE && options->is_replay)
		enter_replay(&call, data);
	else if (call.kind != LAUNCH_NONE)
		enter_rotation(&call, data);
}

void counters_on_context_end(CUcontext context)
{
	struct counter_context *entry;
	struct guard guard;

	if (!__atomic_load_n(&is_counting, __ATOMIC_ACQUIRE) || inside.context)
		return;
	guard_enter_long(&guard);
	if (lock_for(LOCK_TIMEOUT_NS)) {
		entry = counter_context_of(context);
		if (entry)
			counter_context_close(entry);
		pthread_mutex_unlock(&lock);
	}
	guard_leave(&guard);
}

void counters_on_module_unload(void)
{
	counter_verdicts_forget();
}

/* ---- our thread ---- */

void counters_note_kernel_time(uint32_t correlation, int64_t ns)
{
	if (__atomic_load_n(&is_counting, __ATOMIC_RELAXED))
		counter_launches_note_time(correlation, ns);
}

void counters_write_rows(void)
{
	counter_queue_write();
}

void counters_write_last_rows(void)
{
	counter_queue_write_last();
}

/* ---- arriving and leaving ---- */

static bool has_driver(void)
{
	return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static bool write_facts(const struct cupti_api *api, const struct options *asked)
{
	struct trace_rows *rows = trace_rows_get();
	bool is_possible = cupti_has_counters(api) && has_driver();

	trace_property(rows, "counters", asked->counters);
	trace_property(rows, "counters_mode", asked->is_replay ? "replay" : "rotation");
	if (!is_possible) {
		trace_loss_add(LOSS_missing_features, !cupti_has_counters(api));
		log_warn(
			"no hardware counters: this CUPTI lacks the range profiler, which 12.6 and "
			"newer have; the trace is still recorded");
		trace_property(rows, "counters_problem", "CUPTI lacks the range profiler");
	}
	trace_rows_put(rows);
	return is_possible;
}

static void enable_callbacks(CUpti_SubscriberHandle subscriber)
{
	/* A replay would repeat memsets too, so it hears of them. */
	launch_call_enable(cupti, subscriber, options->is_replay ? LAUNCHES_AND_MEMSETS : LAUNCHES,
			   true);
	cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				   CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				   CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
}

void counters_start(const struct cupti_api *api, CUpti_SubscriberHandle subscriber,
		    const struct options *asked)
{
	if (!asked->counters || !write_facts(api, asked))
		return;
	cupti = api;
	options = asked;
	has_window = asked->delay_ns || asked->duration_ns || asked->profiler_api;
	cupti_open_host_library(api);
	counter_queue_init(flush_thread_wake);
	counter_verdicts_init(asked);
	counter_contexts_init(api, asked);
	__atomic_store_n(&is_counting, true, __ATOMIC_RELEASE);
	enable_callbacks(subscriber);
}

/* It will not return to that launch, so no thread waits for its lock: what the open pass has counted is lost. */
void counters_on_exit(void)
{
	if (!inside.context)
		return;
	trace_loss_add(LOSS_unusable_counts, inside.context->rows.launch_count);
	__atomic_store_n(&is_left, true, __ATOMIC_RELEASE);
}

void counters_stop(void)
{
	if (!__atomic_load_n(&is_counting, __ATOMIC_ACQUIRE) || inside.context ||
	    __atomic_load_n(&is_left, __ATOMIC_ACQUIRE) || !lock_for(LOCK_TIMEOUT_NS))
		return;
	counter_contexts_finish();
	__atomic_store_n(&is_counting, false, __ATOMIC_RELEASE);
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
