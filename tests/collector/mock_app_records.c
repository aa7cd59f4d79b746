/*
 * mock_app_records.c - the steps of mock_app that make records as CUPTI does, and threads that do.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mock_app.h"

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

void step_kernels(const char *argument)
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

/* reuse_name:TEXT - the memory of that name, an argument as long as TEXT, has another one from now on */
static void step_reuse_name(const char *argument)
{
	if (strlen(kernel_name) != strlen(argument))
		fail("reuse_name", argument);
	memcpy((char *)(uintptr_t)kernel_name, argument, strlen(argument));
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

/* A name of length bytes that begins with i.  It stays, as CUPTI's names do. */
static const char *long_name(long i, size_t length)
{
	char *name = malloc(length + 1);

	if (!name)
		abort();
	memset(name, 'x', length);
	name[snprintf(name, length, "%ld", i)] = '_';
	name[length] = '\0';
	return name;
}

/* different_names:COUNTxBYTES - so many kernels, each with a name of its own and of that length */
static void step_different_names(const char *argument)
{
	const char *bytes = strchr(argument, 'x');

	for (long i = 0; mock.mock_emit && i < number(argument); i++) {
		CUpti_ActivityKernel10 kernel = a_kernel();

		kernel.name = long_name(i, (size_t)number(bytes + 1));
		mock.mock_emit(&kernel);
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

/* until:FILE - emits kernels until there is such a file */
static void step_until(const char *argument)
{
	while (access(argument, F_OK)) {
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

/* A range of this thread that ends now. */
static void emit_range(const char *name, const char *domain, uint64_t length_ns)
{
	static uint32_t id = 1;
	CUpti_ActivityMarker2 marker = {
		.kind = CUPTI_ACTIVITY_KIND_MARKER,
		.flags = CUPTI_ACTIVITY_FLAG_MARKER_START,
		.timestamp = now_ns() - length_ns,
		.id = id,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
		.objectId.pt.threadId = thread_id(),
		.name = name,
		.domain = domain,
	};

	id++;
	if (!mock.mock_emit)
		return;
	mock.mock_emit(&marker);
	marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
	marker.timestamp += length_ns;
	marker.name = NULL;
	mock.mock_emit(&marker);
}

static void step_marker(const char *argument)
{
	emit_range(argument, "tests", 1);
}

/* slow_marker:MS - a range called step that took so long */
static void step_slow_marker(const char *argument)
{
	emit_range("step", NULL, (uint64_t)number(argument) * 1000000);
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

/* questions:N - records of so many calls of cudaGetDevice, which nobody chooses */
static void step_questions(const char *argument)
{
	for (long i = number(argument); mock.mock_emit && i > 0; i--) {
		uint64_t t = now_ns();
		CUpti_ActivityAPI call = {.kind = CUPTI_ACTIVITY_KIND_RUNTIME,
					  .cbid = CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
					  .start = t,
					  .end = t + 10,
					  .threadId = thread_id()};

		mock.mock_emit(&call);
	}
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

void *kernels_main(void *count)
{
	step_kernels(count);
	return NULL;
}

/* threads:N - each emits a thousand kernels */
static void step_threads(const char *argument)
{
	pthread_t threads[256];
	long count = number(argument);

	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, kernels_main, "1000"))
			fail("threads", "cannot start one");
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
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

/* timed_threads:N - as threads, and says whether none of them had to wait for a disk that takes 20 s a write */
static void step_timed_threads(const char *argument)
{
	uint64_t start_ns = now_ns();

	step_threads(argument);
	puts(now_ns() - start_ns < 10000000000 ? "that was quick" : "that took long");
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

/* take_records - the program registers for CUPTI's records after the collector, and frees what it gets */
static void step_take_records(const char *argument)
{
	(void)argument;
	if (mock.mock_take_records)
		mock.mock_take_records();
}

static void step_give_back(const char *argument)
{
	(void)argument;
	if (mock.mock_give_back)
		mock.mock_give_back();
}

static void step_deliver(const char *argument)
{
	(void)argument;
	if (mock.mock_deliver_all)
		mock.mock_deliver_all();
}

/* enabled:N - fails unless so many kinds of activity are enabled now */
static void step_enabled(const char *argument)
{
	if (mock.mock_enabled_count && mock.mock_enabled_count() != number(argument)) {
		fprintf(stderr, "mock_app: %d kinds are enabled\n", mock.mock_enabled_count());
		fail("enabled", argument);
	}
}

const struct step record_steps[] = {
	{"take_records", step_take_records},
	{"give_back", step_give_back},
	{"deliver", step_deliver},
	{"enabled", step_enabled},
	{"kernels", step_kernels},
	{"name", step_name},
	{"reuse_name", step_reuse_name},
	{"different_grids", step_different_grids},
	{"different_names", step_different_names},
	{"forever", step_forever},
	{"until", step_until},
	{"unfinished", step_unfinished},
	{"finish", step_finish},
	{"zero_times", step_zero_times},
	{"reversed_times", step_reversed_times},
	{"disordered", step_disordered},
	{"unknown", step_unknown},
	{"undecodable", step_undecodable},
	{"marker", step_marker},
	{"markers", step_markers},
	{"slow_marker", step_slow_marker},
	{"questions", step_questions},
	{"every_kind", step_every_kind},
	{"threads", step_threads},
	{"background", step_background},
	{"timed_threads", step_timed_threads},
	{"late_kernels", step_late_kernels},
	{0},
};
