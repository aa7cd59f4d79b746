/*
 * mock_app_launches.c - the steps of mock_app that call CUDA: launches, captures, contexts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mock_app.h"

/* libmock_cuda.so, where the test has put it as libcuda.so.1 */
static void (*be_busy)(CUcontext context, unsigned int ms);
static void (*set_capture)(bool is_begin);

static void step_driver(const char *argument)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	(void)argument;
	if (!library)
		fail("libcuda.so.1", dlerror());
	*(void **)&be_busy = dlsym(library, "mock_be_busy");
	*(void **)&set_capture = dlsym(library, "mock_set_capture");
	if (!be_busy || !set_capture)
		fail("libcuda.so.1", "is not the mock");
}

/* Of kernels that get the handle and the memory of others, which were unloaded. */
static char reused_name[64];

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
	LAUNCH_EXIT,
	LAUNCH_REUSED
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
					    [MOCK_EXTENDED_PER_THREAD] = "ex_ptsz",
					    [MOCK_EXTENDED_COOPERATIVE] = "ex_cooperative",
					    [MOCK_COOPERATIVE] = "cooperative",
					    [MOCK_COOPERATIVE_PER_THREAD] = "cooperative_ptsz",
					    [MOCK_GRAPH] = "graph",
					    [MOCK_GRAPH_PER_THREAD] = "graph_ptsz"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(word, calls[i]))
			return (enum mock_call)i;
	fail(word, "is no way to launch");
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
	else if (option == LAUNCH_REUSED)
		launch->name = strcpy(reused_name, launch->name);
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
 * how long each runs on the GPU; reused: the kernel, named before, has the handle and the memory of the last
 * one that had this option */
static void step_launch(const char *argument)
{
	char *const options[] = {[LAUNCH_NAME] = "name",
				 [LAUNCH_BLOCKS] = "blocks",
				 [LAUNCH_COUNT] = "count",
				 [LAUNCH_CALL] = "call",
				 [LAUNCH_CONTEXT] = "context",
				 [LAUNCH_THREADS] = "threads",
				 [LAUNCH_DIFFERENT] = "different",
				 [LAUNCH_PAUSE_US] = "pause_us",
				 [LAUNCH_MIXED] = "mixed",
				 [LAUNCH_SLOW_US] = "slow_us",
				 [LAUNCH_BUSY_MS] = "busy_ms",
				 [LAUNCH_RUN_US] = "run_us",
				 [LAUNCH_EXIT] = "exit",
				 [LAUNCH_REUSED] = "reused",
				 NULL};
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
	launches.launch.function =
		launches.launch.name == reused_name ? 1 : hash(launches.launch.name);
	launches.launch.during = during_launch;
	if (mock.mock_launch)
		run_launches(&launches);
	else if (launches.launch.status)
		exit((int)launches.launch.status);
}

/* timed_launch:OPTIONS - as launch, and says whether none of it had to wait for a disk that takes 20 s a write */
static void step_timed_launch(const char *argument)
{
	struct timespec start, end;
	double s;

	clock_gettime(CLOCK_MONOTONIC, &start);
	step_launch(argument);
	clock_gettime(CLOCK_MONOTONIC, &end);
	s = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	puts(s < 10 ? "that was quick" : "that took long");
}

static pthread_t beside;

static void *launch_beside_main(void *options)
{
	step_launch(options);
	return NULL;
}

/* launch_beside:OPTIONS - as launch, on a thread of its own; it has 0.2 s to begin */
static void step_launch_beside(const char *argument)
{
	if (pthread_create(&beside, NULL, launch_beside_main, (void *)argument))
		fail("launch_beside", "cannot start a thread");
	usleep(200000);
}

/* join_beside - waits for that thread */
static void step_join_beside(const char *argument)
{
	(void)argument;
	pthread_join(beside, NULL);
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
	if (!is_refused && set_capture)
		set_capture(is_begin);
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

/* unload_module - before handles are reused */
static void step_unload_module(const char *argument)
{
	if (mock.mock_unload_module)
		mock.mock_unload_module((CUcontext)(uintptr_t)number(argument));
}

/* module:FILE - the driver loads a cubin, and forgets it */
static void step_module(const char *argument)
{
	FILE *file = fopen(argument, "rb");
	static unsigned char bytes[1 << 20];
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	void *cubin = malloc(size); /* of its size, so that ASan sees who reads beyond it */

	if (!file || !cubin)
		fail(argument, "cannot be read");
	fclose(file);
	memcpy(cubin, bytes, size);
	if (mock.mock_load_module)
		mock.mock_load_module(cubin, size);
	free(cubin);
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
	for (;;) {
		step_launch("count=1000,different=4");
		usleep(1000); /* others run as well, also where there is one core */
	}
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

/* driver_copy:N - so many calls of cuMemcpyHtoDAsync in context 1 */
static void step_driver_copy(const char *argument)
{
	for (long i = number(argument); mock.mock_copy && i > 0; i--)
		mock.mock_copy((CUcontext)(uintptr_t)1);
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

const struct step launch_steps[] = {
	{"driver", step_driver},
	{"launch", step_launch},
	{"timed_launch", step_timed_launch},
	{"launch_beside", step_launch_beside},
	{"join_beside", step_join_beside},
	{"unload_module", step_unload_module},
	{"driver_copy", step_driver_copy},
	{"device_launch", step_device_launch},
	{"capture", step_capture},
	{"idle", step_idle},
	{"context", step_context},
	{"launch_callbacks", step_launch_callbacks},
	{"copy_callbacks", step_copy_callbacks},
	{"end_context", step_end_context},
	{"module", step_module},
	{"launch_forever", step_launch_forever},
	{"background_launch", step_background_launch},
	{"profiler", step_profiler},
	{"fatal", step_fatal},
	{0},
};
