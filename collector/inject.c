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
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "allocation_calls.h"
#include "attach.h"
#include "arguments/arguments.h"
#include "buffers.h"
#include "clock.h"
#include "control.h"
#include "counters/counters.h"
#include "cupti_api.h"
#include "flush_thread.h"
#include "graph_structure.h"
#include "guard.h"
#include "inject.h"
#include "last_call.h"
#include "launch_attributes.h"
#include "counters/kernel_filter.h"
#include "loaded_images.h"
#include "log.h"
#include "machine_code.h"
#include "managed_memory.h"
#include "nccl_calls.h"
#include "nvtx_late.h"
#include "nvtx_stubs.h"
#include "options.h"
#include "power.h"
#include "process_facts.h"
#include "program_calls.h"
#include "program_rows.h"
#include "roofline/collector_env.h"
#include "sampling/sampling.h"
#include "size_limit.h"
#include "writer/trace_writer.h"
#include "window.h"

#define EXPORT __attribute__((visibility("default")))

/* NVTX ranges may begin long before CUDA does, and a program that never uses CUDA must leave no file:
 * until the recording is opened, finished buffers stay in line and no more than these exist. */
#define EARLY_BUFFERS 32

static const struct cupti_api *cupti; /* NULL until we are attached to CUPTI */
static struct options options;
static CUpti_SubscriberHandle subscriber;
static _Atomic pid_t owner; /* the process that records; 0 when none does */

static bool is_yielded;	       /* CUPTI is left to somebody else, on request */
static atomic_bool must_start; /* CUDA has started */
static atomic_bool has_started;
static char
	attach_problem[512]; /* printed when CUDA starts: programs without CUDA are left alone */

bool inject_is_recording(void)
{
	pid_t recorded = atomic_load_explicit(&owner, memory_order_acquire);

	return recorded != 0 && attach_is_process() && recorded == getpid() && !attach_was_left();
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
		window_open(clock_ns(CLOCK_REALTIME), data->correlationId);
	else if (is_stop && data->callbackSite == CUPTI_API_ENTER)
		window_close(clock_ns(CLOCK_REALTIME), data->correlationId);
}

static void on_context(CUpti_CallbackId id, CUcontext context)
{
	if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
		activity_on_context(cupti, context);
		managed_memory_on_context();
		sampling_on_context(context);
		return;
	}
	if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
		counters_on_module_unload();
	else
		counters_on_context_end(context);
	arguments_on_unload();
}

static void on_resource(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
	if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
		machine_code_on_module(data->context, data->resourceDescriptor);
	else if (!graph_structure_on_resource(id, data->resourceDescriptor))
		on_context(id, data->context);
}

static void on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData *data)
{
	nccl_calls_on_nvtx(id, data);
	sampling_on_nvtx(id, data);
}

static void serve(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		arguments_on_driver_call(id, data);
		allocation_calls_on_call(id, data);
	}
	if ((domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) &&
	    program_calls_on_call(domain, id, data))
		return;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && loaded_images_on_call(id, data))
		return;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		launch_attributes_on_call(id, data);
		counters_on_driver_call(id, data);
		sampling_on_driver_call(id, data);
	}
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
		on_api(id, domain == CUPTI_CB_DOMAIN_RUNTIME_API, data);
	else if (domain == CUPTI_CB_DOMAIN_NVTX)
		on_nvtx(id, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		on_resource(id, data);
	else if (domain == CUPTI_CB_DOMAIN_STATE)
		log_warn_once("CUPTI reports a fatal error and has stopped; what was recorded "
			      "until now is kept");
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			      const void *data)
{
	(void)user;
	/* Launches come here too often for a system call: a fork has made owner 0. */
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API ? owner == 0 : !inject_is_recording())
		return;
	last_call_enter(domain, data);
	serve(domain, id, data);
	last_call_leave(domain, data);
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
	last_call_end();
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
	attach_set_forked();
	trace_writer_abandon();
}

/* ---- starting ---- */

static bool subscribe(const struct cupti_api *api)
{
	char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUptiResult result = cupti_api_subscribe(&subscriber, callback, other, sizeof(other));

	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && options.yield)
		is_yielded = true;
	else if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		snprintf(attach_problem, sizeof(attach_problem),
			 "another profiler (%s) is attached to this process, and CUPTI allows one; "
			 "nothing is recorded. Run without it",
			 *other ? other : "unknown");
	else if (result != CUPTI_SUCCESS)
		snprintf(
			attach_problem, sizeof(attach_problem),
			"CUPTI cannot be used: %s (%d); nothing is recorded. Run rooflinectl doctor",
			cupti_error_text(api, result), (int)result);
	else if (*other)
		log_warn(
			"another profiler (%s) shares CUPTI with this one; each gets records of its own",
			other);
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
		{CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
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

static int find_cupti(struct dl_phdr_info *object, size_t size, void *unused)
{
	const char *name = object->dlpi_name ? strrchr(object->dlpi_name, '/') : NULL;

	(void)size;
	(void)unused;
	return name && !strncmp(name, "/libcupti", strlen("/libcupti"));
}

/* Before we load it ourselves: whether the program has. */
static bool has_program_cupti(void)
{
	return dl_iterate_phdr(find_cupti, NULL) != 0;
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
	trace_writer_keep_last(options.last_ns, options.last_bytes);
	if (trace_writer_open(options.output, has_filter ? kernel_filter_wants : NULL) < 0)
		return false;
	control_start(&options);
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
static void attach_to_cupti(void)
{
	const struct cupti_api *api;

	is_yielded = options.yield && has_program_cupti();
	if (is_yielded)
		return;
	api = cupti_api_load(options.cupti);
	if (!api || !subscribe(api))
		return;
	cupti = api;
	/* No child has been the owner; where there is no memory for this, most of what it would do is refused there by pid. */
	pthread_atfork(NULL, NULL, on_fork_child);
	attach_note_process();
	owner = getpid();
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
	nccl_calls_start(cupti, subscriber, &options);
	sampling_prepare(cupti, subscriber, &options);
}

/* A recording that says why there is nothing in it. */
static void record_yielding(void)
{
	static const struct cupti_api none = {.path = NULL};
	int64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct trace_rows *rows;

	if (trace_writer_open(options.output, NULL) < 0)
		return;
	rows = trace_rows_get();
	process_facts_write(rows, &none, &options, now_ns);
	trace_rows_put(rows);
	trace_loss_add(LOSS_yielded, 1);
	trace_writer_seal(now_ns);
}

/* CUDA is there: open the recording and enable the rest. */
static void start_once(void)
{
	if (!inject_is_recording()) {
		if (is_yielded)
			record_yielding();
		else if (attach_is_forked())
			log_warn(
				"this process was forked after its parent had used NVTX, and CUPTI does "
				"not survive a fork; nothing is recorded of it. Set ROOFLINE_NVTX=0");
		else if (attach_was_left())
			log_warn(
				"a signal handler of the program has left while CUPTI was starting (siglongjmp), and "
				"nobody knows what of it has; nothing is recorded");
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
	last_call_start(&options);
	enable_callbacks();
	machine_code_start(cupti, subscriber);
	program_rows_init(cupti, flush_thread_wake);
	program_calls_start(cupti, subscriber, &options);
	allocation_calls_start(cupti, subscriber, &options);
	loaded_images_start(cupti, subscriber);
	launch_attributes_start(cupti, subscriber, &options);
	managed_memory_start(cupti, &options);
	graph_structure_start(cupti, subscriber);
	arguments_start(cupti, subscriber, &options);
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

/* Whoever comes second goes on at once. */
static void start(void)
{
	if (!atomic_exchange(&has_started, true))
		start_once();
}

/* ---- attaching ---- */

static bool initialize_nvtx(enum nvtx_entry entry, void *table)
{
	CUptiResult (*const initialize[])(void *) = {
		[NVTX_FIRST_VERSION] = cupti->cuptiNvtxInitialize,
		[NVTX_SECOND_VERSION] = cupti->cuptiNvtxInitialize2,
		[NVTX_EXTENSIONS] = cupti->cuptiNvtxExtensionInitialize,
	};

	bool is_taken = cupti->version != CUPTI_VERSION_NVTX_UNSAFE && initialize[entry] &&
			initialize[entry](table) == CUPTI_SUCCESS;

	if (is_taken && entry == NVTX_SECOND_VERSION)
		nccl_calls_wrap(table);
	if (entry == NVTX_EXTENSIONS && cupti->version != CUPTI_VERSION_NVTX_UNSAFE)
		is_taken |= nccl_calls_put(table);
	return is_taken;
}

static void initialize_late(enum nvtx_entry entry, void *table)
{
	if (inject_is_recording())
		(void)initialize_nvtx(entry, table);
	if (entry == NVTX_SECOND_VERSION)
		nvtx_stubs_end(table);
}

/* The module whose call attaches is among those that wait: what that call marks is recorded. */
static void attach_with_nvtx(void)
{
	attach_to_cupti();
	nvtx_late_take(initialize_late);
}

/* What other threads asked for meanwhile. */
static void do_what_was_asked(void)
{
	nvtx_late_take(initialize_late);
	if (atomic_load(&must_start))
		start();
}

static bool attach(void)
{
	return attach_once(attach_with_nvtx, do_what_was_asked);
}

/* Each thread once.  What CUPTI itself calls while it is attached to is none of the program's. */
static void count_late(void)
{
	static __thread bool is_counted;

	if (attach_is_own() || is_counted)
		return;
	is_counted = true;
	trace_loss_add(LOSS_late_attachments, 1);
}

/* libcuda calls this during cuInit; 0 makes it unload the library again.  It is linked to stay loaded whatever
 * the outcome: handlers and threads point into this code. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
	struct guard guard;

	guard_enter_long(&guard);
	attach_watch_forks();
	read_options();
	atomic_store(&must_start, true);
	if (attach())
		start();
	else
		count_late();
	guard_leave(&guard);
	return 1;
}

/* ---- NVTX: loads the library named by NVTX_INJECTION64_PATH at a module's first call, and hands over a table that CUPTI
 * fills with its own functions ---- */

/* A call of a stub.  The first one attaches, unless another thread is at it; none waits for that.  Afterwards a thread that has
 * another one's module handed over waits for what takes microseconds. */
static void serve_nvtx(void)
{
	struct guard guard;

	read_options();
	if (!options.nvtx)
		return;
	if (options.yield && !atomic_load(&must_start)) {
		count_late();
		return;
	}
	guard_enter_long(&guard);
	attach_enter_nvtx();
	if (attach())
		nvtx_late_take(initialize_late);
	else
		count_late();
	attach_leave_nvtx();
	if (attach_is_done())
		attach_wait_for_nvtx();
	guard_leave(&guard);
}

/* An extension is told of by what is on its caller's stack: it cannot wait. */
static bool leave_for_later(enum nvtx_entry entry, void *table)
{
	if (entry == NVTX_EXTENSIONS)
		count_late();
	if (entry == NVTX_EXTENSIONS || !nvtx_late_add(entry, table))
		return false;
	count_late();
	if (attach_is_done()) /* only now: nobody else may look there again */
		do_what_was_asked();
	return true;
}

/* CUPTI 13.0 U1 crashes at the first NVTX call when nobody has subscribed to it before, so CUPTI has
 * a subscriber first; without a driver it cannot have one, and NVTX is left alone. */
static bool take_at_once(enum nvtx_entry entry, void *table)
{
	if ((!options.yield || atomic_load(&must_start)) && attach())
		return inject_is_recording() && initialize_nvtx(entry, table);
	return leave_for_later(entry, table);
}

static bool take_nvtx(enum nvtx_entry entry, void *table, bool has_stubs)
{
	struct guard guard;
	bool is_taken = false;

	guard_enter_long(&guard);
	read_options();
	if (options.nvtx)
		is_taken = has_stubs ? nvtx_late_add(entry, table) : take_at_once(entry, table);
	if (has_stubs && !is_taken)
		nvtx_stubs_end(table);
	guard_leave(&guard);
	return is_taken;
}

/* A fork waits from the first line on, and one that had begun before does no harm from the second on.  Stubs also go in before
 * anybody can find the module, who would have CUPTI's functions put there. */
static int on_first_nvtx_call(enum nvtx_entry entry, void *table)
{
	bool has_stubs, is_taken;

	attach_enter_nvtx();
	has_stubs = entry == NVTX_SECOND_VERSION && nvtx_stubs_put(table, serve_nvtx);
	is_taken = take_nvtx(entry, table, has_stubs);
	attach_leave_nvtx();
	return is_taken;
}

EXPORT int InitializeInjectionNvtx(void *table);
EXPORT int InitializeInjectionNvtx(void *table)
{
	return on_first_nvtx_call(NVTX_FIRST_VERSION, table);
}

EXPORT int InitializeInjectionNvtx2(void *table);
EXPORT int InitializeInjectionNvtx2(void *table)
{
	return on_first_nvtx_call(NVTX_SECOND_VERSION, table);
}

EXPORT int InitializeInjectionNvtxExtension(void *table);
EXPORT int InitializeInjectionNvtxExtension(void *table)
{
	return on_first_nvtx_call(NVTX_EXTENSIONS, table);
}

/* LD_PRELOAD: has CUDA and NVTX load the collector when they start, and let the processes that this one
 * starts share its recording folder.  Forks are watched from here on, for a first NVTX call may be under way before it
 * comes to us.  Nothing else: every shell and script runs this.  What a program can see of it must stay as it was:
 * errno, and the time zone that it has yet to choose. */
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
	(void)dlopen(self_path, RTLD_LAZY | RTLD_NOLOAD);
	attach_watch_forks();
	errno = saved_errno;
}
