/*
 * inject.c - how the collector starts in a program, and what it does at exit and fork.
 *
 * libcuda loads the library named by CUDA_INJECTION64_PATH during cuInit and
 * calls InitializeInjection; the constructor only sets that variable, so that
 * LD_PRELOAD costs nothing in programs that never touch CUDA.  From then on:
 *
 *   application threads   get buffers from the pool (flush_buffer_requested)
 *   CUPTI's own thread    puts full ones in line (flush_buffer_completed)
 *   our thread            decodes them, asks CUPTI four times a second to deliver what is
 *                         finished, and does the last flush when the program exits (flush_thread.c)
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
#include "clock.h"
#include "counters.h"
#include "cupti_api.h"
#include "flush_thread.h"
#include "guard.h"
#include "inject.h"
#include "kernel_filter.h"
#include "log.h"
#include "machine_code.h"
#include "options.h"
#include "power.h"
#include "process_facts.h"
#include "roofline/collector_env.h"
#include "sampling.h"
#include "size_limit.h"
#include "trace_writer.h"
#include "window.h"

#define EXPORT __attribute__((visibility("default")))

/* NVTX ranges may begin long before CUDA does, and a program that never uses CUDA must leave no file:
 * until the recording is opened, finished buffers stay in line and no more than these exist. */
#define EARLY_BUFFERS 32

static const struct cupti_api *cupti; /* NULL until we are attached to CUPTI */
static struct options options;
static CUpti_SubscriberHandle subscriber;
static pid_t owner; /* the process that records; 0 when none does */

static bool is_forked; /* from a process that had attached to CUPTI */

static __thread bool is_attaching; /* this thread is attaching to CUPTI */
static bool must_start;		   /* CUDA started meanwhile */
static char
	attach_problem[512]; /* printed when CUDA starts: programs without CUDA are left alone */

bool inject_is_recording(void)
{
	return owner != 0 && owner == getpid();
}

/* ---- what CUPTI calls ---- */

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

static void on_resource(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
	if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
		machine_code_on_module(data->resourceDescriptor);
	else
		on_context(id, data->context);
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			      const void *data)
{
	(void)user;
	if (!inject_is_recording())
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
		on_resource(id, data);
	else if (domain == CUPTI_CB_DOMAIN_STATE)
		log_warn_once("CUPTI reports a fatal error and has stopped; what was recorded "
			      "until now is kept");
}

/* ---- exit and fork ---- */

/* Runs before CUDA's own exit handlers, which were registered earlier.  The flush happens on our
 * thread and is waited for with a timeout: an exit from inside a signal handler must not hang.
 * Cancellation waits, because a thread that is canceled here would never end the process; signals do
 * not, so that an impatient user can still kill it. */
void inject_flush_at_exit(void)
{
	int cancel_state;

	if (!inject_is_recording())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	flush_thread_stop();
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

/* ---- starting ---- */

static bool subscribe(const struct cupti_api *api)
{
	char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					     .subscriberName = "rooflinectl",
					     .oldSubscriberName = other,
					     .oldSubscriberSize = sizeof(other)};
	CUptiResult result = api->cuptiSubscribe_v2(&subscriber, callback, NULL, &parameters);

	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		snprintf(attach_problem, sizeof(attach_problem),
			 "another profiler (%s) is attached to this process, and CUPTI allows one; "
			 "nothing is recorded. Run without it",
			 *other ? other : "unknown");
	else if (result != CUPTI_SUCCESS)
		snprintf(
			attach_problem, sizeof(attach_problem),
			"CUPTI cannot be used: %s (%d); nothing is recorded. Run rooflinectl doctor",
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

	/* Has to come before CUDA is initialized. */
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
	size_limit_set(options.max_bytes, options.min_free_bytes);
	if (trace_writer_open(options.output, has_filter ? kernel_filter_wants : NULL) < 0)
		return false;
	rows = trace_rows_get();
	process_facts_write(rows, cupti, &options, start_ns);
	flush_write_clocks(rows);
	trace_rows_put(rows);
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

/* Subscribes to CUPTI and lets it record NVTX, which may begin long before CUDA does.  The subscription comes
 * first: when it fails, CUPTI belongs to somebody else and must not be called again. */
static void attach_once(void)
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
	flush_init(cupti, &options);
	if (cupti->cuptiActivityRegisterCallbacks(flush_buffer_requested, flush_buffer_completed) !=
	    CUPTI_SUCCESS) {
		snprintf(attach_problem, sizeof(attach_problem),
			 "CUPTI takes no buffers from us; nothing is recorded");
		owner = 0;
		return;
	}
	if (options.nvtx)
		activity_enable_nvtx(cupti);
}

/* Returns true when we are attached to CUPTI.  CUPTI may initialize CUDA, and CUDA then calls us back on the same
 * thread: that call finds is_attaching set and leaves the rest to the one that is under way. */
static bool attach(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	is_attaching = true;
	pthread_once(&once, attach_once);
	is_attaching = false;
	return inject_is_recording();
}

/* CUDA is there: open the recording and enable the rest. */
static void start_once(void)
{
	if (!attach()) {
		if (is_forked)
			log_warn(
				"this process was forked after its parent had used NVTX, and CUPTI does "
				"not survive a fork; nothing is recorded of it. Set ROOFLINE_NVTX=0");
		else if (*attach_problem)
			log_warn("%s", attach_problem);
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
	machine_code_start(cupti, subscriber);
	counters_start(cupti, subscriber, &options);
	sampling_start(cupti, subscriber, &options);
	power_start(&options);
	if (flush_thread_start()) {
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
	if (is_attaching)
		must_start = true;
	else
		start();
	guard_leave(&guard);
	return 1;
}

/* NVTX loads the library named by NVTX_INJECTION64_PATH at its first call and hands over a table
 * that CUPTI fills with its own functions. */

/* CUPTI 13.0 U1 crashes at the first NVTX call when nobody has subscribed to it before, so CUPTI has
 * a subscriber first; without a driver it cannot have one, and NVTX is left alone. */
static bool is_nvtx_wanted(void)
{
	struct guard guard;
	bool is_ours;

	guard_enter(&guard);
	read_options();
	is_ours = options.nvtx && attach();
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

/* LD_PRELOAD: has CUDA and NVTX load the collector when they start, and let the processes that this one
 * starts share its recording folder.  Nothing else: every shell and script runs this.  What a program
 * can see of it must stay as it was: errno, and the time zone that it has yet to choose. */
__attribute__((constructor)) static void set_injection_variables(void)
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
