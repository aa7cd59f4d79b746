/*
 * random_program SEED [STEPS [at-once|loop|waits|slow|reads|loads|opens|dlmopens|checks|events|alternate|memory|memory-after-fault|copies|copies-at-once|copies-alike|copies-alike-async|copies-behind|textures|polls|newer|private|private-copies|forks|turns|shared|captures|pipeline|children|children-between|END]] - a program that calls the driver as chance has it, the same for the same seed.
 *
 * It prints what each call that waits, copies or asks returned, and the hash of all that the driver had done by then
 * (fake/).  Run bare and tried, it must print the same.  Its threads take turns; with at-once they do not, each
 * has a stream and buffers of its own, and what is printed is what these contain.
 * loop: STEPS times the same launches and a wait, in one thread; waits: a single launch; reads: and a copy to the host; loads: and an attempt to load a library; opens: and, after half of the steps, RANDOM_PROGRAM_OPENS; dlmopens: and a library in another namespace; checks: and it computes for a while at the end; events: and an event that is recorded twice; slow: it computes between them;
 * alternate: each goes to another stream than the one before it.
 * private: its kernels and the host have no memory in common until a random step, at which they get some, or the kernels print; private-copies: with large copies.
 * copies, and copies-at-once: there are large copies between the host and the GPU as well; copies-alike: STEPS times the same, and
 * nothing else.
 * pipeline: copies from page-locked memory to the GPU, kernels, and copies back.
 * forks: kernels in streams that fork and join by events; turns: mostly in streams by turns, which nothing orders.  shared: the same ones again and again, in a stream into which other threads launch at the same time.
 * captures: one thread captures, and the others wait at the same time.
 * END, one of program/ends.c: as loop, and it ends so right after the last launches.  children: of which each looks up a function; children-between: launches, also while another thread is in the driver.
 * memory: it allocates and frees STEPS times, and launches nothing; memory-after-fault: also after a kernel that fails.
 * newer: it calls newer versions of all functions (FAKE_DRIVER_NEWER=1).
 * polls: STEPS times a kernel writes memory that the host polls, and nothing else is called.
 */
#define _GNU_SOURCE
#include "program/program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

unsigned seed, steps_left;
static bool has_forks, is_pipeline;

/* ---- what all threads share ---- */

CUcontext context, other_context;
CUstream streams[STREAMS];
CUdeviceptr buffers[BUFFERS];
void *kernels[KINDS][2]; /* as functions, and as handles of kernels */
static CUevent events[3];
static unsigned rare_from; /* so many steps before the end */
static int *signal_value;

static void set_up(void)
{
	static const char *const names[KINDS] = {"empty", "fill",  "mix",
						 "many",  "large", "cluster"};

	must(p_cuInit(0), "cuInit");
	must(p_cuDevicePrimaryCtxRetain(&context, 0), "context");
	if (!is_private)
		must(p_cuCtxCreate(&other_context, NULL, 0, 0), "cuCtxCreate");
	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	load_code(false);
	for (int i = 0; i < KINDS; i++) {
		must(p_cuModuleGetFunction((CUfunction *)&kernels[i][0], NULL, names[i]), names[i]);
		must(p_cuLibraryGetKernel((CUkernel *)&kernels[i][1], NULL, names[i]), names[i]);
	}
	for (unsigned i = 0; i < BUFFERS; i++)
		allocate(i, 4096, 0);
	for (int i = 0; i < 3; i++)
		must(p_cuEventCreate(&events[i], 0), "cuEventCreate");
	streams[1] = CU_STREAM_LEGACY;
	streams[2] = CU_STREAM_PER_THREAD;
	must(p_cuStreamCreate(&streams[3], 0), "cuStreamCreate");
	must(p_cuStreamCreate(&streams[4], CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	must(p_cuStreamCreateWithPriority(&streams[5], is_private ? CU_STREAM_NON_BLOCKING : 0, -1),
	     "cuStreamCreateWithPriority");
	if (is_private)
		return;
	must(p_cuMemHostAlloc((void **)&signal_value, sizeof(*signal_value), 0), "cuMemHostAlloc");
}

/* ---- what a program does between launches ---- */

static void copy_back(void)
{
	unsigned char bytes[64];
	unsigned long sum = 0;
	CUresult result = p_cuMemcpyDtoH(bytes, buffers[below(BUFFERS)], sizeof(bytes));

	for (size_t i = 0; i < sizeof(bytes); i++)
		sum = sum * 31 + bytes[i];
	printf("copied %lx\n", sum);
	report("copy", result);
}

static void CUDA_CB host_function(void *data)
{
	printf("host function %s\n", (const char *)data);
	report("in it", CUDA_SUCCESS);
}

static void capture(void)
{
	CUstream stream = streams[3 + below(2)];
	struct launch launch = {.kind = 1 + below(3), .shape = 1, .target = below(BUFFERS)};
	CUgraph graph;
	CUgraphExec exec;

	launch.stream = stream == streams[3] ? 3 : 4;
	must(p_cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
	for (unsigned i = below(20); i > 0; i--)
		do_launch(&launch);
	must(p_cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
	must(p_cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
	for (unsigned i = below(3); i > 0; i--)
		must(p_cuGraphLaunch(exec, streams[below(STREAMS)]), "cuGraphLaunch");
	must(p_cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	must(p_cuGraphDestroy(graph), "cuGraphDestroy");
	report("captured", CUDA_SUCCESS);
}

static void renew_stream(void)
{
	must(p_cuStreamDestroy(streams[3]), "cuStreamDestroy");
	must(p_cuStreamCreateWithPriority(&streams[3], 0, below(3) ? 0 : -1), "cuStreamCreate");
	report("stream", CUDA_SUCCESS);
}

static void set_attribute(void)
{
	int shared = below(2) ? 48 << 10 : 64 << 10;
	unsigned kind = below(KINDS);

	if (below(2))
		must(p_cuFuncSetAttribute(kernels[kind][0],
					  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
		     "set");
	else
		must(p_cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared,
					    kernels[kind][1], 0),
		     "set");
}

static void in_other_context(void)
{
	struct launch launch = {.kind = 1, .shape = 0, .target = 1};

	must(p_cuCtxPushCurrent(other_context), "cuCtxPushCurrent");
	for (unsigned i = below(9); i > 0; i--)
		do_launch(&launch);
	if (below(2))
		report_wait("context", p_cuCtxSynchronize());
	must(p_cuCtxPopCurrent(&(CUcontext){NULL}), "cuCtxPopCurrent");
}

/* A kernel tells the host, which calls nothing meanwhile. */
static void poll_memory(void)
{
	int value = *signal_value + 1;
	void *parameters[] = {&signal_value, &value};
	CUfunction function;
	time_t end = time(NULL) + WAIT_S;

	must(p_cuModuleGetFunction(&function, NULL, "signal"), "signal");
	must(p_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, streams[4], parameters, NULL),
	     "signal");
	while (__atomic_load_n(signal_value, __ATOMIC_ACQUIRE) != value && time(NULL) < end)
		;
	printf("polled %d\n", __atomic_load_n(signal_value, __ATOMIC_ACQUIRE) == value);
	report("poll", CUDA_SUCCESS);
}

static void make_child(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(has_copies ? (int)copy_in_child() : 3);
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

/* Where it is not certain what is done. */
static CUresult asked(CUresult result)
{
	const char *order = getenv("FAKE_DRIVER_ORDER");

	return order && !strcmp(order, "loose") && result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS
										  : result;
}

static void observe_event(CUevent event)
{
	switch (below(4)) {
	case 0:
		must(p_cuEventDestroy(event), "cuEventDestroy");
		must(p_cuEventCreate(&events[0], 0), "cuEventCreate");
		events[1] = events[2] = events[0];
		break;
	case 1:
		report("event", asked(p_cuEventQuery(event)));
		break;
	default:
		report("event", p_cuEventSynchronize(event));
	}
}

static void observe(void)
{
	CUstream stream = streams[below(STREAMS)];
	CUevent event = events[below(3)];

	switch (below(10)) {
	case 8:
		copy_in();
		break;
	case 0:
		report_wait("synchronize", p_cuCtxSynchronize());
		break;
	case 1:
		report_wait("stream", p_cuStreamSynchronize(stream));
		break;
	case 2:
		report("query", asked(p_cuStreamQuery(stream)));
		break;
	case 3:
		report("record", p_cuEventRecord(event, stream));
		break;
	case 4:
		report("wait", p_cuStreamWaitEvent(stream, event, 0));
		break;
	case 5:
		observe_event(event);
		break;
	case 6:
		printf("memset %d\n", (int)p_cuMemsetD8Async(buffers[0], 3, 64, stream));
		break;
	case 7:
		printf("copy %d\n", (int)p_cuMemcpyDtoDAsync(buffers[1], buffers[2], 64, stream));
		break;
	default:
		copy_back();
	}
}

static void other(void)
{
	static const unsigned private_cases[] = {1, 2, 5, 6, 8, 9, 9};

	if (below(3) == 0)
		renew_memory();
	switch (is_private ? private_cases[below(7)] : below(10)) {
	case 0:
		capture();
		break;
	case 1:
		renew_stream();
		break;
	case 2:
		set_attribute();
		break;
	case 3:
		in_other_context();
		break;
	case 4:
		poll_memory();
		break;
	case 5:
		make_child();
		break;
	case 6:
		packed_launch();
		break;
	case 7:
		report("host", p_cuLaunchHostFunc(streams[below(STREAMS)], host_function, "a"));
		break;
	case 8:
		renew_memory();
		break;
	default:
		new_phrase();
	}
}

/* After these waits are seldom left out: late in most programs. */
static void rare(void)
{
	if (below(6) == 0)
		capture();
	if (below(3) == 0) {
		CUstream stream = streams[below(STREAMS)];

		report("host", p_cuLaunchHostFunc(stream, host_function, "a"));
		if (below(2))
			report_wait("waited", p_cuStreamSynchronize(stream));
	}
	expose();
}

static void step(void)
{
	unsigned times = 1 + below(12);

	if (below(4) == 0)
		new_phrase();
	for (unsigned i = 0; i < times; i++) {
		launch_phrase();
		if (is_private && below(4) == 0)
			tell_host();
		if (below(3))
			observe();
		look_at_told();
	}
	if (is_private && steps_left < rare_from)
		rare();
	if (has_copies)
		copy_much(0);
	if (below(2))
		other();
}

/* ---- threads take turns ---- */

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_ends = PTHREAD_COND_INITIALIZER;
static unsigned turn;

static void *run_thread(void *number)
{
	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	chance = seed * 7919u + (uintptr_t)number;
	new_phrase();
	pthread_mutex_lock(&turn_lock);
	while (steps_left) {
		if (turn != (unsigned)(uintptr_t)number) {
			pthread_cond_wait(&turn_ends, &turn_lock);
			continue;
		}
		if (is_pipeline)
			step_pipeline();
		else if (has_forks)
			step_forks();
		else
			step();
		steps_left--;
		turn = below(THREADS);
		pthread_cond_broadcast(&turn_ends);
	}
	pthread_mutex_unlock(&turn_lock);
	return NULL;
}

/* As a shell does, or Python's subprocess, when there is no such program: it shares this one's memory. */
static void fail_to_start_a_program(bool is_tried)
{
	if (vfork() == 0) {
		if (is_tried)
			execl("/there is no such program", "none", (char *)NULL);
		_exit(127);
	}
	wait(NULL);
}

/* Far longer than a launch. */
static void compute(bool is_slow)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (is_slow && (now.tv_sec - start.tv_sec) * 1000000000l + now.tv_nsec - start.tv_nsec <
				  COMPUTE_NS);
}

/* The event that was waited for stands for something else when the host asks. */
static void record_twice(void)
{
	must(p_cuEventRecord(events[0], streams[3]), "cuEventRecord");
	must(p_cuEventSynchronize(events[0]), "cuEventSynchronize");
	must(p_cuEventRecord(events[0], streams[4]), "cuEventRecord");
	report("query", p_cuStreamQuery(streams[3]));
}

/* Others may see the GPU's memory from then on. */
static void let_others_look(const char *how)
{
	const char *path = getenv("RANDOM_PROGRAM_OPENS");

	if (!strcmp(how, "dlmopens"))
		printf("loaded %d\n", dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW) != NULL);
	else if (!strcmp(how, "opens"))
		printf("opened %d\n", open(path, O_RDWR) >= 0);
	else
		return;
	printf("event waits %lu\n", p_fake_event_waits());
}

/* What a graph is best for. */
static void loop(int launches, const char *how)
{
	CUtexref texture;

	if (!strcmp(how, "textures"))
		must(p_get_texture(&texture, NULL, "texture"), "cuModuleGetTexRef");
	for (unsigned i = 0; i < steps_left; i++) {
		for (int j = 0; j < launches; j++) {
			do_launch(&(struct launch){.kind = 1,
						   .stream = strcmp(how, "alternate") ? 3
										      : 2 + j % 2});
			compute(!strcmp(how, "slow"));
		}
		if (!strncmp(how, "vfork", 5))
			fail_to_start_a_program(!strcmp(how, "vfork-exec"));
		if (!strcmp(how, "events"))
			record_twice();
		if (i + 1 == steps_left)
			end_as(how);
		must(p_cuStreamSynchronize(streams[3]), "cuStreamSynchronize");
		if (!strcmp(how, "reads"))
			copy_back();
		if (!strcmp(how, "loads"))
			dlopen("there is no such library", RTLD_NOW);
		if (i == steps_left / 2)
			let_others_look(how);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	const char *how = argc > 3 ? argv[3] : "";
	bool is_shared = !strcmp(how, "shared"), is_loop;
	bool is_beside = !strcmp(how, "captures");
	bool is_at_once =
		!strcmp(how, "at-once") || !strcmp(how, "copies-at-once") || is_shared || is_beside;
	void *(*run)(void *) = is_shared    ? run_shared
			       : is_beside  ? run_beside_captures
			       : is_at_once ? run_at_once
					    : run_thread;

	seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;

	chance = seed * 7919u + 1;
	steps_left = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 60;
	has_turns = !is_at_once;
	is_private = *how && strncmp(how, "memory", 6) != 0 && strcmp(how, "polls") != 0 &&
		     strcmp(how, "newer") != 0 && strncmp(how, "copies", 6) != 0;
	takes_turns = !strcmp(how, "turns");
	has_forks = takes_turns || !strcmp(how, "forks");
	is_pipeline = !strcmp(how, "pipeline");
	has_copies = strstr(how, "copies") != NULL;
	is_loop = is_private && !is_at_once && !has_forks && !is_pipeline &&
		  strncmp(how, "private", 7) != 0;
	rare_from = steps_left * (1 + seed % 4) / 5;
	find_functions(seed % 3, seed % 4 == 3);
	set_up();
	if (has_forks || is_shared)
		set_up_forks();
	if (has_copies)
		allocate_for_copies();
	if (!strncmp(how, "copies-alike", strlen("copies-alike"))) {
		copy_alike(!strcmp(how, "copies-alike-async"));
		return 0;
	}
	if (!strcmp(how, "copies-behind")) {
		copy_behind();
		return 0;
	}
	if (!strcmp(how, "newer")) {
		call_newer_functions();
		return 0;
	}
	if (!strcmp(how, "children")) {
		make_children_that_look_up();
		return 0;
	}
	if (!strcmp(how, "children-between")) {
		make_children_between_launches();
		return 0;
	}
	if (!strcmp(how, "memory")) {
		allocate_alone();
		return 0;
	}
	if (!strcmp(how, "memory-after-fault")) {
		allocate_after_fault();
		return 0;
	}
	if (!strcmp(how, "polls")) {
		while (steps_left--)
			poll_memory();
		return 0;
	}
	if (is_loop) {
		loop(!strcmp(how, "waits") || !strcmp(how, "reads") ? 1 : 20, how);
	}
	for (size_t i = 0; !is_loop && i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (size_t i = 0; !is_loop && i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; is_at_once && i < THREADS; i++)
		printf("thread %zu %lx\n", i, sum_of_thread((unsigned)i));
	for (unsigned i = 0; is_at_once && has_copies && i < THREADS; i++)
		printf("copies of thread %u %lx\n", i, sum_of_copies(i));
	if (!is_at_once) {
		report_wait("end", p_cuCtxSynchronize());
		if (!strcmp(how, "checks")) /* before it asks the driver anything */
			usleep(CHECK_US);
		report("asked", asked(p_cuStreamQuery(NULL)));
	}
	if (seed % 5 == 0) {
		fflush(stdout);
		_exit(seed % 7);
	}
	return (int)(seed % 7);
}
