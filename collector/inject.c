/*
 * inject.c - how the collector gets into a program, and how it leaves it.
 *
 * libcuda loads the library named by CUDA_INJECTION64_PATH during cuInit and
 * calls InitializeInjection; the constructor only sets that variable, so that
 * LD_PRELOAD costs nothing in programs that never touch CUDA.  From then on:
 *
 *   application threads   take buffers from the pool (buffer_requested)
 *   CUPTI's own thread    puts full ones in line (buffer_completed)
 *   our thread            decodes them, asks CUPTI four times a second to deliver what is
 *                         finished, and does the last flush when the program exits
 *
 * A fork has neither CUDA nor these threads: the child forgets all of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "buffers.h"
#include "counters.h"
#include "cupti_api.h"
#include "guard.h"
#include "inject.h"
#include "kernel_filter.h"
#include "log.h"
#include "options.h"
#include "process_facts.h"
#include "roofline/collector_env.h"
#include "sampling.h"
#include "trace_writer.h"
#include "window.h"

#define EXPORT __attribute__((visibility("default")))

/* How long a program's exit waits for the last records before it goes on without them. */
#define EXIT_PATIENCE_S 10

/* NVTX ranges may begin long before CUDA does, and a program that never uses CUDA must leave no file:
 * until the recording is opened, finished buffers stay in line and no more than these exist. */
#define EARLY_BUFFERS 32

static const struct cupti_api *cupti; /* NULL until CUPTI is ours */
static struct options options;
static CUpti_SubscriberHandle subscriber;
static pid_t owner; /* the process that records; 0 when none does */

static bool is_forked; /* from a process that had taken CUPTI */

static __thread bool is_arming; /* this thread is taking CUPTI */
static bool must_start;		/* CUDA arrived meanwhile */
static char arm_problem[512];	/* said when CUDA arrives: a program without CUDA is not bothered */

static pthread_t flush_thread;
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flush_wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t flush_done = PTHREAD_COND_INITIALIZER;
static bool has_thread;	  /* there is one to wait for at exit */
static bool has_finished; /* a buffer waits to be decoded */
static bool is_stopping, is_done;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_recording(void)
{
	return owner != 0 && owner == getpid();
}

/* ---- what CUPTI calls ---- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = is_recording() ? buffers_take() : NULL;
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

/* Decodes what stands in line now.  Threads that launch faster than we decode make more meanwhile;
 * waiting for an empty line would keep back flushes, losses and the program's exit. */
static void decode_finished(void)
{
	uint8_t *buffer;
	size_t valid_bytes;

	for (size_t count = buffers_finished();
	     count > 0 && (buffer = buffers_next_finished(&valid_bytes)); count--) {
		if (valid_bytes && !options.discard)
			activity_decode(cupti, buffer, valid_bytes);
		buffers_give(buffer, valid_bytes);
	}
}

/* Our thread has gone, so that whichever thread brings these counts them as lost. */
static void decode_late(void)
{
	struct guard guard;

	guard_enter(&guard);
	decode_finished();
	guard_leave(&guard);
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				      size_t size, size_t valid_bytes)
{
	bool is_late;

	(void)context;
	(void)stream;
	(void)size;
	if (!buffer || !is_recording())
		return;
	buffers_finish(buffer, valid_bytes);
	pthread_mutex_lock(&flush_lock);
	has_finished = true;
	is_late = is_done;
	pthread_cond_signal(&flush_wake);
	pthread_mutex_unlock(&flush_lock);
	if (is_late)
		decode_late();
}

/* cudaProfilerStart and cudaProfilerStop, of either API. */
static void on_api(CUpti_CallbackId id, bool is_runtime, const CUpti_CallbackData *data)
{
	bool is_start = is_runtime ? id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
				   : id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
	bool is_stop = is_runtime ? id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000
				  : id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;

	if (is_start && data->callbackSite == CUPTI_API_EXIT)
		window_open(clock_ns(CLOCK_REALTIME));
	else if (is_stop && data->callbackSite == CUPTI_API_ENTER)
		window_close(clock_ns(CLOCK_REALTIME));
}

static void on_context(CUpti_CallbackId id, CUcontext context)
{
	if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		sampling_on_context(context);
	else
		counters_on_context_end(context);
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			      const void *data)
{
	(void)user;
	if (!is_recording())
		return;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		counters_on_driver_call(id, data);
		sampling_on_driver_call(id, data);
	}
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
		on_api(id, domain == CUPTI_CB_DOMAIN_RUNTIME_API, data);
	else if (domain == CUPTI_CB_DOMAIN_NVTX)
		sampling_on_nvtx(id, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		on_context(id, ((const CUpti_ResourceData *)data)->context);
	else if (domain == CUPTI_CB_DOMAIN_STATE)
		log_warn_once("CUPTI reports a fatal error and has stopped; what was recorded "
			      "until now is kept");
}

/* ---- our thread ---- */

/* Both clocks and CUPTI's at one moment, so that other logs can be joined. */
static void write_clocks(struct trace_rows *rows)
{
	struct trace_clocks_row row = {.realtime_ns = clock_ns(CLOCK_REALTIME),
				       .monotonic_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW)};
	uint64_t now;

	if (cupti->cuptiGetTimestamp(&now) == CUPTI_SUCCESS)
		row.cupti_ns = (int64_t)now;
	trace_write_clocks(rows, &row);
}

static void count_losses(void)
{
	size_t dropped = 0;

	if (cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS)
		trace_loss_add(LOSS_dropped_records, dropped);
	trace_loss_add(LOSS_refused_buffers, buffers_refused());
}

static void flush_once(bool is_last)
{
	struct trace_rows *rows;
	bool is_forced = is_last && !counters_are_replaying();

	cupti->cuptiActivityFlushAll(is_forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
	decode_finished();
	count_losses();
	rows = trace_rows_take();
	write_clocks(rows);
	trace_rows_give(rows);
	trace_losses_write(clock_ns(CLOCK_REALTIME));
}

/* Waits for a finished buffer, the time of the next flush, or the program's exit.  Returns true when
 * the program exits. */
static bool wait_for_work(int64_t until_ns)
{
	struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
	bool stopping;

	pthread_mutex_lock(&flush_lock);
	while (!is_stopping && !has_finished &&
	       pthread_cond_clockwait(&flush_wake, &flush_lock, CLOCK_MONOTONIC, &until) !=
		       ETIMEDOUT)
		;
	has_finished = false;
	stopping = is_stopping;
	pthread_mutex_unlock(&flush_lock);
	return stopping;
}

/* Decodes what arrives during one flush period.  Returns true when the program exits. */
static bool decode_for_a_period(void)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + options.flush_period_ms * INT64_C(1000000);
	bool is_stopped = false;

	while (!is_stopped && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		is_stopped = wait_for_work(until_ns);
		decode_finished();
	}
	return is_stopped;
}

/* CUDA is not ready while it loads the collector, but a flush period later it is. */
static void write_cuda_facts(void)
{
	struct trace_rows *rows = trace_rows_take();

	process_facts_write_cuda(rows);
	trace_rows_give(rows);
}

static void *flush_main(void *unused)
{
	bool is_stopped = decode_for_a_period();

	write_cuda_facts();
	while (!is_stopped) {
		flush_once(false);
		is_stopped = decode_for_a_period();
	}
	counters_stop();
	sampling_stop();
	flush_once(true);
	trace_writer_seal(clock_ns(CLOCK_REALTIME));
	pthread_mutex_lock(&flush_lock);
	is_done = true;
	pthread_cond_broadcast(&flush_done);
	pthread_mutex_unlock(&flush_lock);
	decode_finished(); /* what came during the seal is late */
	return unused;
}

/* Application threads handle their signals themselves: ours takes none. */
static int start_flush_thread(void)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&flush_lock);
	rc = pthread_create(&flush_thread, NULL, flush_main, NULL);
	has_thread = rc == 0;
	pthread_mutex_unlock(&flush_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* ---- leaving ---- */

/* Waits until our thread has written everything, or for EXIT_PATIENCE_S.  There is none in a program
 * that has used NVTX alone. */
static void stop_and_wait(void)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += EXIT_PATIENCE_S;
	if (pthread_mutex_clocklock(&flush_lock, CLOCK_MONOTONIC, &until))
		return; /* a signal handler exits while the exit that it interrupted holds it */
	is_stopping = true;
	pthread_cond_signal(&flush_wake);
	while (has_thread && !is_done && rc != ETIMEDOUT)
		rc = pthread_cond_clockwait(&flush_done, &flush_lock, CLOCK_MONOTONIC, &until);
	if (has_thread && !is_done) {
		has_thread = false; /* this may be called again: patience is not */
		log_warn("CUPTI did not deliver its last records within %d s; they are lost",
			 EXIT_PATIENCE_S);
	}
	pthread_mutex_unlock(&flush_lock);
}

/* Runs before CUDA's own exit handlers, which were registered earlier.  The flush happens on our
 * thread and is waited for with patience: an exit from inside a signal handler must not hang.
 * Cancellation waits, because a thread that is cancelled here would never end the process; signals do
 * not, so that an impatient user can still kill it. */
void inject_flush_at_exit(void)
{
	int cancel_state;

	if (!is_recording())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	stop_and_wait();
	pthread_setcancelstate(cancel_state, NULL);
}

/* Returns false when there is no memory for a handler. */
static bool add_exit_handlers(void)
{
	return atexit(inject_flush_at_exit) == 0 && at_quick_exit(inject_flush_at_exit) == 0;
}

/* The handlers that are there already do as much, only later. */
void inject_exit_first(void)
{
	(void)add_exit_handlers();
}

static void on_fork_child(void)
{
	if (!owner)
		return;
	owner = 0;
	is_forked = true;
	trace_writer_abandon();
}

/* ---- arriving ---- */

static bool subscribe(const struct cupti_api *api)
{
	char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					     .subscriberName = "rooflinectl",
					     .oldSubscriberName = other,
					     .oldSubscriberSize = sizeof(other)};
	CUptiResult result = api->cuptiSubscribe_v2(&subscriber, callback, NULL, &parameters);

	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		snprintf(arm_problem, sizeof(arm_problem),
			 "another profiler (%s) is attached to this process, and CUPTI allows one; "
			 "nothing is recorded. Run without it",
			 *other ? other : "unknown");
	else if (result != CUPTI_SUCCESS)
		snprintf(arm_problem, sizeof(arm_problem),
			 "CUPTI cannot be used: %s (%d); nothing is recorded. rooflinectl doctor "
			 "tells more",
			 cupti_error_text(api, result), (int)result);
	return result == CUPTI_SUCCESS;
}

static void enable_callbacks(void)
{
	static const struct {
		CUpti_CallbackDomain domain;
		CUpti_CallbackId id;
	} wanted[] = {
		{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000},
		{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000},
		{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart},
		{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop},
		{CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		cupti->cuptiEnableCallback(1, subscriber, wanted[i].domain, wanted[i].id);
}

static void set_attributes(void)
{
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);

	/* Has to come before CUDA is initialised. */
	if (options.is_graph_level && cupti->cuptiActivityEnableDeviceGraph)
		cupti->cuptiActivityEnableDeviceGraph(1);
	cupti->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	cupti->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size,
					 &zeroed);
}

static bool open_recording(void)
{
	int64_t start_ns = clock_ns(CLOCK_REALTIME);
	bool has_filter = options.kernels && kernel_filter_init(options.kernels);
	struct trace_rows *rows;

	if (!has_filter)
		options.kernels = NULL;
	window_init(start_ns, options.delay_ns, options.duration_ns, options.profiler_api);
	if (trace_writer_open(options.output, has_filter ? kernel_filter_wants : NULL) < 0)
		return false;
	rows = trace_rows_take();
	process_facts_write(rows, cupti, &options, start_ns);
	write_clocks(rows);
	trace_rows_give(rows);
	return true;
}

static void read_options_once(void)
{
	options_read(&options);
}

/* CUDA and NVTX may come first, on different threads. */
static void read_options(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_options_once);
}

/* Takes CUPTI and lets it record NVTX, which may begin long before CUDA does.  The subscription comes
 * first: when it fails, CUPTI belongs to somebody else and must not be called again. */
static void arm_once(void)
{
	const struct cupti_api *api;

	read_options();
	api = cupti_api_load(options.cupti);
	if (!api || !subscribe(api))
		return;
	cupti = api;
	owner = getpid();
	pthread_atfork(NULL, NULL, on_fork_child);
	buffers_limit(options.buffer_limit_bytes < EARLY_BUFFERS * BUFFER_BYTES
			      ? options.buffer_limit_bytes
			      : EARLY_BUFFERS * BUFFER_BYTES);
	set_attributes();
	if (cupti->cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) !=
	    CUPTI_SUCCESS) {
		snprintf(arm_problem, sizeof(arm_problem),
			 "CUPTI takes no buffers from us; nothing is recorded");
		owner = 0;
		return;
	}
	if (options.nvtx)
		activity_enable_nvtx(cupti);
}

/* Returns true when CUPTI is ours.  CUPTI may initialise CUDA, and CUDA then calls us back on the same
 * thread: that call finds is_arming set and leaves the rest to the one that is under way. */
static bool arm(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	is_arming = true;
	pthread_once(&once, arm_once);
	is_arming = false;
	return is_recording();
}

/* CUDA is there: open the recording and enable the rest. */
static void start_once(void)
{
	if (!arm()) {
		if (is_forked)
			log_warn(
				"this process was forked after its parent had used NVTX, and CUPTI does "
				"not survive a fork; nothing is recorded of it. Set ROOFLINE_NVTX=0");
		else if (*arm_problem)
			log_warn("%s", arm_problem);
		return;
	}
	if (!open_recording()) {
		owner = 0;
		return;
	}
	process_facts_find_driver();
	buffers_limit(options.buffer_limit_bytes);
	activity_enable(cupti, &options);
	enable_callbacks();
	counters_start(cupti, subscriber, &options);
	sampling_start(cupti, subscriber, &options);
	if (start_flush_thread()) {
		log_warn("cannot start a thread to write records; nothing is recorded");
		owner = 0;
	} else if (!add_exit_handlers()) {
		log_warn("cannot add an exit handler; the end of the recording may be missing");
	}
}

static void start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_once);
}

/* libcuda calls this during cuInit; 0 makes it unload the library again. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
	struct guard guard;
	Dl_info self;

	guard_enter(&guard);
	/* Stay loaded whatever the outcome: handlers and threads point into this code. */
	if (dladdr((void *)InitializeInjection, &self))
		dlopen(self.dli_fname, RTLD_NOW | RTLD_NODELETE);
	if (is_arming)
		must_start = true;
	else
		start();
	guard_leave(&guard);
	return 1;
}

/* NVTX loads the library named by NVTX_INJECTION64_PATH at its first call and hands over a table
 * that CUPTI fills with its own functions. */

/* CUPTI 13.0 U1 crashes at the first NVTX call when nobody has subscribed to it before, so CUPTI is
 * armed first; without a driver it cannot be, and NVTX is left alone. */
static bool is_nvtx_wanted(void)
{
	struct guard guard;
	bool is_ours;

	guard_enter(&guard);
	read_options();
	is_ours = options.nvtx && arm();
	if (must_start)
		start();
	guard_leave(&guard);
	return is_ours && cupti->version >= CUPTI_VERSION_NVTX_SAFE;
}

static int initialize_nvtx(CUptiResult (*initialize)(void *), void *table)
{
	return initialize && initialize(table) == CUPTI_SUCCESS;
}

EXPORT int InitializeInjectionNvtx(void *table);
EXPORT int InitializeInjectionNvtx(void *table)
{
	return is_nvtx_wanted() && initialize_nvtx(cupti->cuptiNvtxInitialize, table);
}

EXPORT int InitializeInjectionNvtx2(void *table);
EXPORT int InitializeInjectionNvtx2(void *table)
{
	return is_nvtx_wanted() && initialize_nvtx(cupti->cuptiNvtxInitialize2, table);
}

EXPORT int InitializeInjectionNvtxExtension(void *table);
EXPORT int InitializeInjectionNvtxExtension(void *table)
{
	return is_nvtx_wanted() && initialize_nvtx(cupti->cuptiNvtxExtensionInitialize, table);
}

/* LD_PRELOAD: tell CUDA and NVTX to load us when they start, and let the processes that this one
 * starts share its recording folder.  Nothing else: every shell and script runs this.  What a program
 * can see of it must stay as it was: errno, and the time zone that it has yet to choose. */
__attribute__((constructor)) static void announce(void)
{
	char self_path[PATH_MAX], output[PATH_MAX];
	int saved_errno = errno;
	Dl_info self;

	/* Absolute: the program may go to another folder before it uses CUDA. */
	if (!dladdr((void *)InitializeInjection, &self) || !strchr(self.dli_fname, '/') ||
	    !realpath(self.dli_fname, self_path)) {
		errno = saved_errno;
		return;
	}
	setenv("CUDA_INJECTION64_PATH", self_path, 0);
	setenv("NVTX_INJECTION64_PATH", self_path, 0);
	if (!getenv("ROOFLINE_OUTPUT")) {
		options_default_output(output, sizeof(output));
		setenv("ROOFLINE_OUTPUT", output, 0);
	}
	errno = saved_errno;
}
