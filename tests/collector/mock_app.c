/*
 * mock_app.c - a program that plays both an application and libcuda, for the collector's tests.
 *
 * mock_app STEP...   does one step after the other; a step is NAME or NAME:ARGUMENT.
 *
 * `cuda` and `nvtx` load the libraries named by CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH as
 * libcuda and NVTX do.  Steps that make records do nothing when there is no collector, so that what
 * the program prints and how it ends can be compared with a run without one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <generated_nvtx_meta.h>

#include "mock_cupti.h"

static struct {
#define MOCK_MEMBER(result, name, parameters) result(*name) parameters;
	MOCK_FUNCTIONS(MOCK_MEMBER)
} mock; /* all NULL without a collector */

#define KERNEL_NS 1000
#define FIRST_OWN_DESCRIPTOR 3

static const char *kernel_name = "_Z4stepPfi";

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static long number(const char *argument)
{
	return argument ? strtol(argument, NULL, 10) : 1;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "mock_app: %s: %s\n", what, why);
	exit(99);
}

/* ---- being libcuda and NVTX ---- */

static void find_mock(void)
{
	const char *path = getenv("ROOFLINE_CUPTI");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

	if (!library)
		return;
#define MOCK_FIND(result, name, parameters) *(void **)&mock.name = dlsym(library, #name);
	MOCK_FUNCTIONS(MOCK_FIND)
}

static void *injection(const char *variable, const char *function)
{
	const char *path = getenv(variable);
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	void *address = library ? dlsym(library, function) : NULL;

	if (path && !address)
		fail(path, dlerror());
	return address;
}

static void step_cuda(const char *argument)
{
	int (*initialize)(void);

	(void)argument;
	*(void **)&initialize = injection("CUDA_INJECTION64_PATH", "InitializeInjection");
	if (initialize)
		initialize();
	find_mock();
}

static void step_nvtx(const char *argument)
{
	int (*initialize)(void *);

	(void)argument;
	*(void **)&initialize = injection("NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2");
	if (initialize)
		initialize(NULL);
	find_mock();
}

/* ---- records ---- */

static CUpti_ActivityKernel10 a_kernel(void)
{
	static uint32_t correlation;
	uint64_t start_ns = now_ns();

	return (CUpti_ActivityKernel10){
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = start_ns,
		.end = start_ns + KERNEL_NS,
		.contextId = 1,
		.streamId = 7,
		.gridX = 8,
		.gridY = 2,
		.gridZ = 1,
		.blockX = 256,
		.blockY = 1,
		.blockZ = 1,
		.registersPerThread = 16,
		.correlationId = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED),
		.name = kernel_name,
	};
}

static void step_kernels(const char *argument)
{
	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		mock.mock_emit(&kernel);
	}
}

static void step_name(const char *argument)
{
	kernel_name = argument;
}

/* different_grids:N - so many kernels, each with a grid of its own */
static void step_different_grids(const char *argument)
{
	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		kernel.gridX = (int32_t)i;
		mock.mock_emit(&kernel);
	}
}

/* A name of length bytes that begins with i; CUPTI keeps its names, this one keeps 8,192. */
static const char *long_name(long i, size_t length)
{
	static char *names[8192];
	char **name = &names[i % 8192];

	free(*name);
	*name = malloc(length + 1);
	if (!*name)
		abort();
	memset(*name, 'x', length);
	(*name)[snprintf(*name, length, "%ld", i)] = '_';
	(*name)[length] = '\0';
	return *name;
}

/* different_names:COUNTxBYTES - so many kernels, each with a name of its own and of that length */
static void step_different_names(const char *argument)
{
	const char *bytes = strchr(argument, 'x');

	for (long i = 0; mock.mock_emit && i < number(argument); i++) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		kernel.name = long_name(i, (size_t)number(bytes + 1));
		mock.mock_emit(&kernel);
		if (i % 4096 == 4095) {
			mock.mock_deliver_all();
			usleep(300000); /* decoded before its name is replaced */
		}
	}
}

/* Emits kernels until somebody kills the program, and says once that it has begun. */
static void step_forever(const char *argument)
{
	(void)argument;
	puts("running");
	for (;;) {
		step_kernels("50");
		usleep(1000);
	}
}

static void step_unfinished(const char *argument)
{
	for (long i = number(argument); mock.mock_begin && i > 0; i--) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		mock.mock_begin(&kernel);
	}
}

static void step_finish(const char *argument)
{
	(void)argument;
	if (mock.mock_finish_all)
		mock.mock_finish_all();
}

static void step_zero_times(const char *argument)
{
	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		kernel.start = kernel.end = 0;
		mock.mock_emit(&kernel);
	}
}

static void step_reversed_times(const char *argument)
{
	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		kernel.end = kernel.start - 1;
		mock.mock_emit(&kernel);
	}
}

/* Kernels in the reverse of the order in which they ran. */
static void step_disordered(const char *argument)
{
	uint64_t first_ns = now_ns();

	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		kernel.start = first_ns + (uint64_t)i * KERNEL_NS;
		kernel.end = kernel.start + KERNEL_NS / 2;
		mock.mock_emit(&kernel);
	}
}

static void step_unknown(const char *argument)
{
	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		uint64_t record[8] = {60000};

		mock.mock_emit(record);
	}
}

/* A record that CUPTI itself cannot decode: the rest of the buffer is lost. */
static void step_undecodable(const char *argument)
{
	uint64_t record[8] = {0};

	(void)argument;
	if (mock.mock_emit)
		mock.mock_emit(record);
}

static void step_marker(const char *argument)
{
	static uint32_t id = 1;
	CUpti_ActivityMarker2 marker = {
		.kind = CUPTI_ACTIVITY_KIND_MARKER,
		.flags = CUPTI_ACTIVITY_FLAG_MARKER_START,
		.timestamp = now_ns(),
		.id = id,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
		.objectId.pt.threadId = thread_id(),
		.name = argument,
		.domain = "tests",
	};

	id++;
	if (!mock.mock_emit)
		return;
	mock.mock_emit(&marker);
	marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
	marker.timestamp++;
	marker.name = NULL;
	mock.mock_emit(&marker);
}

static void step_markers(const char *argument)
{
	for (long i = number(argument); i > 0; i--)
		step_marker("repeated");
}

static void emit_memory_records(uint64_t t)
{
	CUpti_ActivityMemcpy6 copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
				      .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
				      .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
				      .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
				      .flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC,
				      .bytes = 4096,
				      .start = t,
				      .end = t + 10,
				      .streamId = 7};
	CUpti_ActivityMemcpyPtoP4 peer = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
					  .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
					  .bytes = 8192,
					  .start = t,
					  .end = t + 10,
					  .srcDeviceId = 2,
					  .dstDeviceId = 3};
	CUpti_ActivityMemset4 set = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
				     .bytes = 16384,
				     .value = 255,
				     .start = t,
				     .end = t + 10};

	mock.mock_emit(&copy);
	mock.mock_emit(&peer);
	mock.mock_emit(&set);
}

static void emit_host_records(uint64_t t)
{
	CUpti_ActivityAPI call = {.kind = CUPTI_ACTIVITY_KIND_RUNTIME,
				  .cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
				  .start = t,
				  .end = t + 10,
				  .threadId = thread_id(),
				  .correlationId = 77};
	CUpti_ActivitySynchronization2 sync = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
		.start = t,
		.end = t + 10};
	CUpti_ActivityOverhead3 overhead = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
					    .overheadKind =
						    CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING,
					    .start = t,
					    .end = t + 10,
					    .overheadData = malloc(16)}; /* the client frees it */
	CUpti_ActivityJit2 jit = {.kind = CUPTI_ACTIVITY_KIND_JIT,
				  .start = t,
				  .end = t + 10,
				  .cachePath = "/cache/with,comma \"and quotes\""};
	CUpti_ActivityName thread_name = {.kind = CUPTI_ACTIVITY_KIND_NAME,
					  .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
					  .objectId.pt.threadId = thread_id(),
					  .name = "main thread"};

	mock.mock_emit(&call);
	call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
	call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
	mock.mock_emit(&call);
	mock.mock_emit(&sync);
	mock.mock_emit(&overhead);
	mock.mock_emit(&jit);
	mock.mock_emit(&thread_name);
}

static void emit_object_records(uint64_t t)
{
	CUpti_ActivityDevice5 device = {.kind = CUPTI_ACTIVITY_KIND_DEVICE,
					.name = "Imaginary GPU",
					.numMultiprocessors = 132};
	CUpti_ActivityContext3 context = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT, .contextId = 1};
	CUpti_ActivityStream stream = {.kind = CUPTI_ACTIVITY_KIND_STREAM, .streamId = 7};
	CUpti_ActivityGraphTrace2 graph = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
					   .start = t,
					   .end = t + 10,
					   .graphId = 5};
	CUpti_ActivityDeviceGraphTrace device_graph = {
		.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE,
		.start = t,
		.end = t + 10,
		.deviceLaunchMode = 2,
		.launcherGraphId = 5};

	mock.mock_emit(&device);
	mock.mock_emit(&context);
	mock.mock_emit(&stream);
	mock.mock_emit(&graph);
	mock.mock_emit(&device_graph);
}

static void step_every_kind(const char *argument)
{
	uint64_t t = now_ns();

	if (!mock.mock_emit)
		return;
	step_kernels(argument);
	step_marker("phase \"one\", two");
	emit_memory_records(t);
	emit_host_records(t);
	emit_object_records(t);
}

/* ---- what else happens in a program ---- */

static void *thread_main(void *argument)
{
	step_kernels(argument);
	return NULL;
}

/* threads:N - each emits a thousand kernels */
static void step_threads(const char *argument)
{
	pthread_t threads[256];
	long count = number(argument);

	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, thread_main, "1000"))
			fail("threads", "cannot start one");
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* ---- launches, for counters ---- */

/* libmock_cuda.so, where the test has put it as libcuda.so.1 */
static void (*be_busy)(CUcontext context, unsigned int ms);
static void (*tell_capture)(bool is_begin);

static void step_driver(const char *argument)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	(void)argument;
	if (!library)
		fail("libcuda.so.1", dlerror());
	*(void **)&be_busy = dlsym(library, "mock_be_busy");
	*(void **)&tell_capture = dlsym(library, "mock_tell_capture");
	if (!be_busy || !tell_capture)
		fail("libcuda.so.1", "is not the mock");
}

struct launches {
	struct mock_launch launch;
	long count, threads, different, pause_us, mixed;
};

enum {
	LAUNCH_NAME,
	LAUNCH_BLOCKS,
	LAUNCH_COUNT,
	LAUNCH_CALL,
	LAUNCH_CONTEXT,
	LAUNCH_THREADS,
	LAUNCH_DIFFERENT,
	LAUNCH_PAUSE_US,
	LAUNCH_MIXED,
	LAUNCH_SLOW_US,
	LAUNCH_BUSY_MS,
	LAUNCH_RUN_US,
	LAUNCH_EXIT
};

static void during_launch(const struct mock_launch *launch)
{
	if (launch->slow_us) /* the call itself, before anything runs */
		usleep((useconds_t)launch->slow_us);
	if (launch->busy_ms)
		be_busy(launch->context, launch->busy_ms);
	if (launch->status)
		exit((int)launch->status);
}

static enum mock_call call_of(const char *word)
{
	static const char *const calls[] = {[MOCK_PLAIN] = "plain",
					    [MOCK_PER_THREAD] = "ptsz",
					    [MOCK_EXTENDED] = "ex",
					    [MOCK_EXTENDED_COOPERATIVE] = "ex_cooperative",
					    [MOCK_COOPERATIVE] = "cooperative",
					    [MOCK_GRAPH] = "graph"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(word, calls[i]))
			return (enum mock_call)i;
	fail(word, "is no way to launch");
	return MOCK_PLAIN;
}

static void set_launch_option(struct launches *launches, int option, const char *value)
{
	static const size_t numbers[] = {
		[LAUNCH_COUNT] = offsetof(struct launches, count),
		[LAUNCH_THREADS] = offsetof(struct launches, threads),
		[LAUNCH_DIFFERENT] = offsetof(struct launches, different),
		[LAUNCH_PAUSE_US] = offsetof(struct launches, pause_us),
		[LAUNCH_MIXED] = offsetof(struct launches, mixed),
	};
	struct mock_launch *launch = &launches->launch;

	if (option == LAUNCH_NAME)
		launch->name = value;
	else if (option == LAUNCH_BLOCKS)
		launch->blocks = (unsigned int)number(value);
	else if (option == LAUNCH_CALL)
		launch->call = call_of(value);
	else if (option == LAUNCH_CONTEXT)
		launch->context_id = (uint32_t)number(value);
	else if (option == LAUNCH_BUSY_MS)
		launch->busy_ms = (unsigned int)number(value);
	else if (option == LAUNCH_RUN_US)
		launch->run_ns = (uint64_t)number(value) * 1000;
	else if (option == LAUNCH_SLOW_US)
		launch->slow_us = (unsigned int)number(value);
	else if (option == LAUNCH_EXIT)
		launch->status = (unsigned int)number(value);
	else
		*(long *)((char *)launches + numbers[option]) = number(value);
}

static unsigned long hash(const char *text)
{
	unsigned long value = 5381;

	while (*text)
		value = value * 33 + (unsigned char)*text++;
	return value;
}

static void *launch_main(void *data)
{
	struct launches *launches = data;

	for (long i = 0; i < launches->count; i++) {
		struct mock_launch launch = launches->launch;

		launch.blocks += (unsigned int)(i % launches->different);
		if (launches->mixed && i % launches->mixed == 0)
			launch.name = "ncclMixed";
		mock.mock_launch(&launch);
		if (launches->pause_us)
			usleep((useconds_t)launches->pause_us);
	}
	return NULL;
}

static void run_launches(struct launches *launches)
{
	struct launches each[64];
	pthread_t threads[64];

	if (launches->threads == 1) {
		launch_main(launches);
		return;
	}
	for (long i = 0; i < launches->threads; i++) {
		each[i] = *launches;
		each[i].launch.blocks += (unsigned int)(i * launches->different);
		if (pthread_create(&threads[i], NULL, launch_main, &each[i]))
			fail("launch", "cannot start a thread");
	}
	for (long i = 0; i < launches->threads; i++)
		pthread_join(threads[i], NULL);
}

/* launch:OPTION=VALUE,... - count launches of a kernel; different: so many grids in turn, from blocks
 * on; threads: so many at once, each with grids of its own; mixed: every so-manieth is of NCCL; run_us:
 * how long each runs on the GPU */
static void step_launch(const char *argument)
{
	char *const options[] = {[LAUNCH_NAME] = "name",	   [LAUNCH_BLOCKS] = "blocks",
				 [LAUNCH_COUNT] = "count",	   [LAUNCH_CALL] = "call",
				 [LAUNCH_CONTEXT] = "context",	   [LAUNCH_THREADS] = "threads",
				 [LAUNCH_DIFFERENT] = "different", [LAUNCH_PAUSE_US] = "pause_us",
				 [LAUNCH_MIXED] = "mixed",	   [LAUNCH_SLOW_US] = "slow_us",
				 [LAUNCH_BUSY_MS] = "busy_ms",	   [LAUNCH_RUN_US] = "run_us",
				 [LAUNCH_EXIT] = "exit",	   NULL};
	struct launches launches = {
		{.name = "_Z4stepPfi", .blocks = 8, .context_id = 1, .run_ns = KERNEL_NS},
		1,
		1,
		1,
		0,
		0};
	char *text = strdup(argument ? argument : ""), *rest = text, *value; /* names live on */

	while (rest && *rest) {
		int option = getsubopt(&rest, options, &value);

		if (option < 0 || !value)
			fail(value ? value : argument, "is no option of launch");
		set_launch_option(&launches, option, value);
	}
	launches.launch.context = (CUcontext)(uintptr_t)launches.launch.context_id;
	launches.launch.function = hash(launches.launch.name);
	launches.launch.during = during_launch;
	if (mock.mock_launch)
		run_launches(&launches);
	else if (launches.launch.status)
		exit((int)launches.launch.status);
}

/* Members in the order of the options of device_launch. */
struct device_launches {
	long busy_us, blocks, count, pause_us, device;
	const char *name;
};

static void set_device_launch_option(struct device_launches *launches, int option,
				     const char *value)
{
	long *const numbers[] = {&launches->busy_us, &launches->blocks, &launches->count,
				 &launches->pause_us, &launches->device};

	if ((size_t)option < sizeof(numbers) / sizeof(*numbers))
		*numbers[option] = number(value);
	else
		launches->name = value;
}

/* device_launch:OPTION=VALUE,... - count kernels that the device launches, one after the other, each
 * busy so long and then pause_us idle; they have no record */
static void step_device_launch(const char *argument)
{
	char *const options[] = {"busy_us", "blocks", "count", "pause_us", "device", "name", NULL};
	struct device_launches launches = {20, 64, 1, 0, 0, "device_launched"};
	char *text = strdup(argument ? argument : ""), *rest = text, *value; /* names live on */

	while (rest && *rest) {
		int option = getsubopt(&rest, options, &value);

		if (option < 0 || !value)
			fail(value ? value : argument, "is no option of device_launch");
		set_device_launch_option(&launches, option, value);
	}
	for (long i = 0; mock.mock_device_launch && i < launches.count; i++) {
		mock.mock_device_launch((uint32_t)launches.device, launches.name,
					(unsigned int)launches.blocks,
					(uint64_t)launches.busy_us * 1000);
		usleep((useconds_t)(launches.busy_us + launches.pause_us));
	}
}

/* capture:begin, capture:end, capture:refused */
static void step_capture(const char *argument)
{
	bool is_begin = strcmp(argument, "end") != 0;
	bool is_refused = !strcmp(argument, "refused");

	if (!mock.mock_capture)
		return;
	if (!is_refused && tell_capture)
		tell_capture(is_begin);
	mock.mock_capture(is_begin, is_refused ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS);
}

/* idle:CONTEXT - what it was busy with is over */
static void step_idle(const char *argument)
{
	if (be_busy)
		be_busy((CUcontext)(uintptr_t)number(argument), 0);
}

/* context:N - a context is made; those of even number are on device 1 */
static void step_context(const char *argument)
{
	if (mock.mock_begin_context)
		mock.mock_begin_context((CUcontext)(uintptr_t)number(argument));
}

static void step_end_context(const char *argument)
{
	if (mock.mock_end_context)
		mock.mock_end_context((CUcontext)(uintptr_t)number(argument));
}

/* launch_forever:OPTION,... - says once that it has begun, so that a test can kill the program */
static void step_launch_forever(const char *argument)
{
	puts("running");
	for (;;) {
		step_launch(argument);
		usleep(1000);
	}
}

static void *background_launch_main(void *unused)
{
	for (;;)
		step_launch("count=1000,different=4");
	return unused;
}

/* background_launch:N - so many threads launch until the program ends */
static void step_background_launch(const char *argument)
{
	pthread_t thread;

	for (long i = number(argument); mock.mock_launch && i > 0; i--)
		if (pthread_create(&thread, NULL, background_launch_main, NULL))
			fail("background_launch", "cannot start a thread");
}

static void *forever_main(void *argument)
{
	for (;;)
		step_kernels(argument);
	return NULL;
}

/* background:N - so many threads emit kernels as fast as they can until the program ends */
static void step_background(const char *argument)
{
	pthread_t thread;

	for (long i = number(argument); mock.mock_emit && i > 0; i--)
		if (pthread_create(&thread, NULL, forever_main, "1000"))
			fail("background", "cannot start a thread");
}

static void expect_callbacks(const char *step, CUpti_CallbackId id, const char *argument)
{
	bool is_wanted = !strcmp(argument, "yes");

	if (mock.mock_calls_back &&
	    mock.mock_calls_back(CUPTI_CB_DOMAIN_DRIVER_API, id) != is_wanted)
		fail(step, is_wanted ? "there are none" : "they are still there");
}

/* launch_callbacks:yes or :no - whether the collector hears of launches now; fails when it is not so */
static void step_launch_callbacks(const char *argument)
{
	expect_callbacks("launch_callbacks", CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, argument);
}

/* copy_callbacks:yes or :no - likewise of copies */
static void step_copy_callbacks(const char *argument)
{
	expect_callbacks("copy_callbacks", CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, argument);
}

/* ---- NVTX ---- */

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

static void step_sleep_ms(const char *argument)
{
	usleep((useconds_t)number(argument) * 1000);
}

static void step_say(const char *argument)
{
	puts(argument);
}

static void step_locale(const char *argument)
{
	if (!setlocale(LC_ALL, argument))
		fail(argument, "no such locale");
}

static void step_dlopen(const char *argument)
{
	if (!dlopen(argument, RTLD_NOW))
		fail(argument, dlerror());
}

/* timed_threads:N - as threads, and says whether none of them had to wait for a disk */
static void step_timed_threads(const char *argument)
{
	uint64_t start_ns = now_ns();

	step_threads(argument);
	puts(now_ns() - start_ns < 1000000000 ? "that was quick" : "that took long");
}

/* memory:none - from now on there is no more; memory:again - there is */
static void step_memory(const char *argument)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = strcmp(argument, "none") ? RLIM_INFINITY : 1;
	setrlimit(RLIMIT_AS, &limit);
}

/* What the C library knows of time zones is read once: at the first call, which must be this one. */
static void step_time_zone(const char *argument)
{
	time_t epoch = 0;
	struct tm local;

	setenv("TZ", argument, 1);
	localtime_r(&epoch, &local);
	printf("the epoch began at %d:%02d\n", local.tm_hour, local.tm_min);
}

static int errno_at_start;

static void step_errno(const char *argument)
{
	(void)argument;
	printf("errno was %d\n", errno_at_start);
}

static void step_chdir(const char *argument)
{
	if (chdir(argument))
		fail(argument, "is no folder");
}

static void step_shell(const char *argument)
{
	printf("shell ended with %d\n", WEXITSTATUS(system(argument)));
}

static void step_profiler(const char *argument)
{
	bool is_start = !strcmp(argument, "start");

	if (mock.mock_call)
		mock.mock_call(CUPTI_CB_DOMAIN_RUNTIME_API,
			       is_start ? CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
					: CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
}

static void step_fatal(const char *argument)
{
	for (long i = number(argument); mock.mock_call && i > 0; i--)
		mock.mock_call(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
}

static void emit_late(void)
{
	step_kernels("10");
	if (mock.mock_deliver_all)
		mock.mock_deliver_all();
}

/* Given before `cuda`: exit handlers run in reverse, so this one comes after the collector's. */
static void step_late_kernels(const char *argument)
{
	(void)argument;
	atexit(emit_late);
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0)
		fail("fork", "failed");
	waitpid(child, &status, 0);
	printf("child ended with %d\n",
	       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* fork:N - so many children, each ends by exit() with its handlers, while another thread emits */
static void step_fork(const char *argument)
{
	pthread_t thread;
	bool has_thread = mock.mock_emit && !pthread_create(&thread, NULL, thread_main, "40000");

	for (long i = number(argument); i > 0; i--) {
		pid_t child = fork();

		if (child == 0)
			exit(5);
		wait_for(child);
	}
	if (has_thread)
		pthread_join(thread, NULL);
}

static void step_vfork(const char *argument)
{
	pid_t child = vfork();

	if (child == 0)
		_exit((int)number(argument));
	wait_for(child);
}

/* fork_run:STEP - the child does one more step and exits */
static void run_step(const char *text);
static void step_fork_run(const char *argument)
{
	pid_t child = fork();

	if (child == 0) {
		run_step(argument);
		exit(0);
	}
	wait_for(child);
}

static void step_fork_at(const char *argument)
{
	static const char *const places[] = {[MOCK_REQUEST] = "request",
					     [MOCK_COMPLETION] = "completion",
					     [MOCK_CALLBACK] = "callback"};

	for (enum mock_place place = MOCK_REQUEST; place <= MOCK_CALLBACK; place++)
		if (mock.mock_fork_at && !strcmp(argument, places[place]))
			mock.mock_fork_at(place);
}

static void close_descriptors(void)
{
	for (int descriptor = FIRST_OWN_DESCRIPTOR; descriptor < 4096; descriptor++)
		close(descriptor);
}

static void step_close_descriptors(const char *argument)
{
	(void)argument;
	close_descriptors();
}

/* Puts an own file on every number that a library could have had, and writes to each at the end. */
static void step_take_descriptors(const char *argument)
{
	int own;

	close_descriptors();
	own = open(argument, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	if (own < 0)
		fail(argument, "cannot be opened");
	for (int descriptor = FIRST_OWN_DESCRIPTOR; descriptor < 1000; descriptor++)
		if (descriptor != own)
			dup2(own, descriptor);
}

/* All the numbers that take_descriptors took must still be the program's own. */
static void step_use_descriptors(const char *argument)
{
	(void)argument;
	for (int descriptor = FIRST_OWN_DESCRIPTOR; descriptor < 1000; descriptor++)
		if (write(descriptor, ".", 1) != 1)
			printf("descriptor %d is gone\n", descriptor);
}

/* The classic way into the background; the child goes on with the steps. */
static void step_daemon(const char *argument)
{
	pid_t child = fork();

	(void)argument;
	if (child > 0) {
		wait_for(child); /* so that the test knows when it is over */
		_exit(0);
	}
	setsid();
	for (int descriptor = 0; descriptor < 4096; descriptor++)
		close(descriptor);
	if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
		_exit(98);
}

/* ---- ends ---- */

static void step_exit(const char *argument)
{
	exit((int)number(argument));
}

/* Fails when the program has ever had more memory than that, as known after the exit handlers. */
static long most_mib;

static void check_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (usage.ru_maxrss / 1024 >= most_mib) {
		dprintf(STDERR_FILENO, "mock_app: took %ld MiB\n", usage.ru_maxrss / 1024);
		_exit(97);
	}
}

static void step_memory_limit_mib(const char *argument)
{
	most_mib = number(argument);
	atexit(check_memory);
}

static void step_underscore_exit(const char *argument)
{
	_exit((int)number(argument));
}

static void step_quick_exit(const char *argument)
{
	quick_exit((int)number(argument));
}

static void step_abort(const char *argument)
{
	(void)argument;
	abort();
}

static void step_signal(const char *argument)
{
	raise((int)number(argument));
}

static void exit_from_handler(int signal_number)
{
	exit(signal_number);
}

/* exit() in a signal handler: not allowed, and often done */
static void step_exit_in_handler(const char *argument)
{
	signal(SIGTERM, exit_from_handler);
	step_signal(argument);
}

static void *exit_main(void *argument)
{
	step_exit(argument);
	return NULL;
}

static void step_exit_in_thread(const char *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_main, (void *)argument);
	for (;;)
		pause();
}

static void *cancelled_exit_main(void *argument)
{
	pthread_cancel(pthread_self());
	step_exit(argument);
	return NULL;
}

/* cancelled_exit:STATUS - exit() on a thread whose cancellation is pending; exit() ignores that */
static void step_cancelled_exit(const char *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, cancelled_exit_main, (void *)argument);
	pthread_join(thread, NULL);
}

static void *cancelled_cuda_main(void *unused)
{
	pthread_cancel(pthread_self());
	step_cuda(unused);
	puts("still there"); /* and only now cancelled */
	return NULL;
}

/* CUDA starts on a thread whose cancellation is pending. */
static void step_cancelled_cuda(const char *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, cancelled_cuda_main, (void *)argument);
	pthread_join(thread, NULL);
}

/* A program keeps the SIGPIPE that it has blocked and raised itself. */
static void check_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	printf("SIGPIPE is pending: %d\n", sigismember(&pending, SIGPIPE));
}

static void step_pending_sigpipe(const char *argument)
{
	sigset_t set;

	(void)argument;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	atexit(check_pending);
}

static void *underscore_exit_main(void *argument)
{
	step_underscore_exit(argument);
	return NULL;
}

/* _exit_in_threads:STATUS - four at once */
static void step_underscore_exit_in_threads(const char *argument)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, underscore_exit_main, (void *)argument);
	for (;;)
		pause();
}

static void step_exec(const char *argument)
{
	execlp(argument, argument, "after exec", NULL);
	fail(argument, "cannot be executed");
}

static const struct {
	const char *name;
	void (*run)(const char *argument);
} steps[] = {
	{"cuda", step_cuda},
	{"nvtx", step_nvtx},
	{"kernels", step_kernels},
	{"name", step_name},
	{"different_grids", step_different_grids},
	{"different_names", step_different_names},
	{"forever", step_forever},
	{"unfinished", step_unfinished},
	{"finish", step_finish},
	{"zero_times", step_zero_times},
	{"reversed_times", step_reversed_times},
	{"disordered", step_disordered},
	{"unknown", step_unknown},
	{"undecodable", step_undecodable},
	{"marker", step_marker},
	{"markers", step_markers},
	{"every_kind", step_every_kind},
	{"threads", step_threads},
	{"background", step_background},
	{"driver", step_driver},
	{"launch", step_launch},
	{"device_launch", step_device_launch},
	{"capture", step_capture},
	{"idle", step_idle},
	{"context", step_context},
	{"launch_callbacks", step_launch_callbacks},
	{"copy_callbacks", step_copy_callbacks},
	{"push", step_push},
	{"push_domain", step_push_domain},
	{"pop", step_pop},
	{"range_start", step_range_start},
	{"range_end", step_range_end},
	{"range_in_thread", step_range_in_thread},
	{"end_context", step_end_context},
	{"launch_forever", step_launch_forever},
	{"background_launch", step_background_launch},
	{"sleep_ms", step_sleep_ms},
	{"say", step_say},
	{"locale", step_locale},
	{"dlopen", step_dlopen},
	{"timed_threads", step_timed_threads},
	{"memory", step_memory},
	{"time_zone", step_time_zone},
	{"errno", step_errno},
	{"chdir", step_chdir},
	{"shell", step_shell},
	{"profiler", step_profiler},
	{"fatal", step_fatal},
	{"late_kernels", step_late_kernels},
	{"fork", step_fork},
	{"vfork", step_vfork},
	{"fork_run", step_fork_run},
	{"fork_at", step_fork_at},
	{"close_descriptors", step_close_descriptors},
	{"take_descriptors", step_take_descriptors},
	{"use_descriptors", step_use_descriptors},
	{"daemon", step_daemon},
	{"exit", step_exit},
	{"memory_limit_mib", step_memory_limit_mib},
	{"_exit", step_underscore_exit},
	{"quick_exit", step_quick_exit},
	{"abort", step_abort},
	{"signal", step_signal},
	{"exit_in_handler", step_exit_in_handler},
	{"exit_in_thread", step_exit_in_thread},
	{"cancelled_exit", step_cancelled_exit},
	{"cancelled_cuda", step_cancelled_cuda},
	{"pending_sigpipe", step_pending_sigpipe},
	{"_exit_in_threads", step_underscore_exit_in_threads},
	{"exec", step_exec},
};

static void run_step(const char *text)
{
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (strlen(steps[i].name) == length && !strncmp(text, steps[i].name, length)) {
			steps[i].run(colon ? colon + 1 : NULL);
			return;
		}
	fail(text, "no such step");
}

int main(int argc, char **argv)
{
	errno_at_start = errno;
	setvbuf(stdout, NULL, _IONBF, 0); /* a fork must not print twice */
	for (int i = 1; i < argc; i++) {
		printf("step %s\n", argv[i]);
		run_step(argv[i]);
	}
	fputs("mock_app is done\n", stderr);
	return 0;
}
