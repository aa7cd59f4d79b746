/*
 * random_program SEED [STEPS [at-once|loop|waits]] - a program that calls the driver as chance has it, the same for the same seed.
 *
 * It prints what each call that waits, copies or asks returned, and the hash of all that the driver had done by then
 * (fake/).  Run bare and tried, it must print the same.  Its threads take turns; with at-once they do not, each
 * has a stream and buffers of its own, and what is printed is what these contain.  loop: STEPS times the same launches and a wait, in one thread; waits: a single launch.
 */
#define _GNU_SOURCE
#include "fake_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, KINDS = 6, STREAMS = 6, BUFFERS = 8, PHRASE_MAX = 90, SHAPES = 6, WAIT_S = 30 };

#define NAME_OF(name) #name
#define EXPORTED_NAME(name) NAME_OF(name)

/* The driver's functions, found as programs find them. */
#define POINTER(name) static __typeof__(name) *p_##name;
FAKE_DRIVER_FUNCTIONS(POINTER, POINTER)
static __typeof__(cuCtxCreate_v4) *p_cuCtxCreate;
static __typeof__(cuStreamBeginCapture) *p_cuStreamBeginCapture;
static uint64_t (*p_fake_digest)(void);

static __thread unsigned long chance;
static unsigned seed;
static bool is_per_thread; /* the default stream is one for each thread */

static unsigned below(unsigned limit)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(chance >> 33) % limit;
}

static void must(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", what, (int)result);
	exit(1);
}

static void find_by_dlsym(void *library)
{
#define FIND(name) p_##name = (__typeof__(p_##name))dlsym(library, EXPORTED_NAME(name));
#define FIND_OF_THREADS(name) \
	p_##name = (__typeof__(p_##name))dlsym(library, is_per_thread ? #name "_ptsz" : #name);
	FAKE_DRIVER_FUNCTIONS(FIND, FIND_OF_THREADS)
	p_cuCtxCreate = (__typeof__(p_cuCtxCreate))dlsym(library, "cuCtxCreate_v4");
	p_cuStreamBeginCapture = (__typeof__(p_cuStreamBeginCapture))
		dlsym(library,
		      is_per_thread ? "cuStreamBeginCapture_v2_ptsz" : "cuStreamBeginCapture_v2");
}

static void find_by_driver(void *library)
{
	__typeof__(cuGetProcAddress) *ask = (__typeof__(ask))dlsym(library, "cuGetProcAddress_v2");
	cuuint64_t flags = is_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

#define ASK(name) must(ask(#name, (void **)&p_##name, CUDA_VERSION, flags, NULL), #name);
	FAKE_DRIVER_FUNCTIONS(ASK, ASK)
	must(ask("cuCtxCreate", (void **)&p_cuCtxCreate, CUDA_VERSION, flags, NULL), "cuCtxCreate");
	must(ask("cuStreamBeginCapture", (void **)&p_cuStreamBeginCapture, CUDA_VERSION, flags,
		 NULL),
	     "capture");
}

static void find_functions(unsigned way)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | (way == 2 ? RTLD_GLOBAL : RTLD_LOCAL));

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	if (way == 0)
		find_by_driver(library);
	else
		find_by_dlsym(way == 1 ? library : RTLD_DEFAULT);
	p_fake_digest = (__typeof__(p_fake_digest))dlsym(library, "fake_digest");
}

/* ---- what all threads share ---- */

static CUcontext context, other_context;
static CUstream streams[STREAMS];
static CUdeviceptr buffers[BUFFERS];
static void *kernels[KINDS][2]; /* as functions, and as handles of kernels */
static CUevent events[3];
static int *signal_value;

struct launch {
	unsigned kind, is_handle, stream, shape, is_ex, target, source;
};

static __thread struct launch phrase[PHRASE_MAX];
static __thread unsigned phrase_length;

static void report(const char *what, CUresult result)
{
	printf("%s %d %016llx\n", what, (int)result, (unsigned long long)p_fake_digest());
}

static void set_up(void)
{
	static const char *const names[KINDS] = {"empty", "fill",  "mix",
						 "many",  "large", "cluster"};

	must(p_cuInit(0), "cuInit");
	must(p_cuDevicePrimaryCtxRetain(&context, 0), "context");
	must(p_cuCtxCreate(&other_context, NULL, 0, 0), "cuCtxCreate");
	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	for (int i = 0; i < KINDS; i++) {
		must(p_cuModuleGetFunction((CUfunction *)&kernels[i][0], NULL, names[i]), names[i]);
		must(p_cuLibraryGetKernel((CUkernel *)&kernels[i][1], NULL, names[i]), names[i]);
	}
	for (int i = 0; i < BUFFERS; i++)
		must(p_cuMemAlloc(&buffers[i], 4096), "cuMemAlloc");
	for (int i = 0; i < 3; i++)
		must(p_cuEventCreate(&events[i], 0), "cuEventCreate");
	streams[1] = CU_STREAM_LEGACY;
	streams[2] = CU_STREAM_PER_THREAD;
	must(p_cuStreamCreate(&streams[3], 0), "cuStreamCreate");
	must(p_cuStreamCreate(&streams[4], CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	must(p_cuStreamCreateWithPriority(&streams[5], 0, -1), "cuStreamCreateWithPriority");
	must(p_cuMemHostAlloc((void **)&signal_value, sizeof(*signal_value), 0), "cuMemHostAlloc");
}

/* ---- launches ---- */

static CUresult launch_with(const struct launch *launch, void **parameters)
{
	static const unsigned shapes[SHAPES][3] = {{1, 32, 0},	  {7, 128, 0}, {64, 256, 1024},
						   {7, 128, 512}, {0, 32, 0},  {1, 2048, 0}};
	const unsigned *shape = shapes[launch->shape];
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
	CUlaunchConfig config = {shape[0],   1,
				 1,	     shape[1],
				 1,	     1,
				 shape[2],   streams[launch->stream],
				 &attribute, launch->is_ex == 2};
	CUfunction function = kernels[launch->kind][launch->is_handle];

	if (launch->is_ex)
		return p_cuLaunchKernelEx(&config, function, parameters, NULL);
	return p_cuLaunchKernel(function, shape[0], 1, 1, shape[1], 1, 1, shape[2],
				streams[launch->stream], parameters, NULL);
}

/* The parameters are overwritten as soon as the call has returned. */
static void do_launch(const struct launch *launch)
{
	static __thread char large[4000];
	CUdeviceptr target = buffers[launch->target], source = buffers[launch->source];
	int ints[40];
	char tag = (char)below(3);
	double factor = below(2);
	short last = (short)below(2);
	void *parameters[41] = {&target};
	CUresult result;

	for (int i = 0; i < 40; i++) {
		ints[i] = i + (int)below(40) / 39;
		parameters[i + 1] = &ints[i];
	}
	if (launch->kind == 2)
		memcpy(parameters, (void *[]){&target, &source, &tag, &factor, &last},
		       5 * sizeof(void *));
	if (launch->kind == 4) {
		memset(large, (int)below(2), sizeof(large));
		parameters[1] = large;
	}
	result = launch_with(launch, parameters);
	memset(ints, 0x55, sizeof(ints));
	memset(large, 0x55, sizeof(large));
	target = source = 0;
	if (result != CUDA_SUCCESS)
		printf("launch %d\n", (int)result);
}

static void packed_launch(void)
{
	struct {
		CUdeviceptr target;
		int count, value;
	} packed = {buffers[below(BUFFERS)], 3, 4};
	size_t bytes = sizeof(packed);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};

	must(p_cuLaunchKernel(kernels[1][0], 1, 1, 1, 32, 1, 1, 0, streams[below(STREAMS)], NULL,
			      extra),
	     "packed");
}

static void new_phrase(void)
{
	unsigned stream = below(STREAMS);
	bool is_mixed = below(3) == 0, is_bad = below(8) == 0;

	phrase_length = 1 + below(below(2) ? 8 : PHRASE_MAX);
	for (unsigned i = 0; i < phrase_length; i++)
		phrase[i] = (struct launch){.kind = below(is_bad ? KINDS : KINDS - 1),
					    .is_handle = below(2),
					    .stream = is_mixed ? below(STREAMS) : stream,
					    .shape = below(is_bad ? SHAPES : SHAPES - 2),
					    .is_ex = below(6) == 0 ? 1 + below(2) : 0,
					    .target = below(BUFFERS),
					    .source = below(BUFFERS)};
}

static void launch_phrase(void)
{
	for (unsigned i = 0; i < phrase_length; i++)
		do_launch(&phrase[i]);
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
		report("context", p_cuCtxSynchronize());
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
		_exit(3);
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void observe(void)
{
	CUstream stream = streams[below(STREAMS)];
	CUevent event = events[below(3)];

	switch (below(9)) {
	case 0:
		report("synchronize", p_cuCtxSynchronize());
		break;
	case 1:
		report("stream", p_cuStreamSynchronize(stream));
		break;
	case 2:
		report("query", p_cuStreamQuery(stream));
		break;
	case 3:
		report("record", p_cuEventRecord(event, stream));
		break;
	case 4:
		report("wait", p_cuStreamWaitEvent(stream, event, 0));
		break;
	case 5:
		report("event", below(2) ? p_cuEventSynchronize(event) : p_cuEventQuery(event));
		break;
	case 6:
		report("memset", p_cuMemsetD8Async(buffers[0], 3, 64, stream));
		break;
	case 7:
		report("device copy", p_cuMemcpyDtoDAsync(buffers[1], buffers[2], 64, stream));
		break;
	default:
		copy_back();
	}
}

static void other(void)
{
	switch (below(10)) {
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
		must(p_cuMemFree(buffers[7]), "cuMemFree"),
			must(p_cuMemAlloc(&buffers[7], 4096), "cuMemAlloc");
		break;
	default:
		new_phrase();
	}
}

static void step(void)
{
	unsigned times = 1 + below(12);

	if (below(4) == 0)
		new_phrase();
	for (unsigned i = 0; i < times; i++) {
		launch_phrase();
		if (below(3))
			observe();
	}
	if (below(2))
		other();
}

/* ---- threads take turns ---- */

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_ends = PTHREAD_COND_INITIALIZER;
static unsigned turn, steps_left;

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
		step();
		steps_left--;
		turn = below(THREADS);
		pthread_cond_broadcast(&turn_ends);
	}
	pthread_mutex_unlock(&turn_lock);
	return NULL;
}

/* ---- threads at once ---- */

static unsigned long sums[THREADS];

static void launch_own(unsigned number)
{
	for (unsigned i = 0; i < phrase_length; i++) {
		struct launch launch = phrase[i];

		launch.stream = 3 + number;
		launch.shape %= SHAPES - 2;
		launch.kind %= KINDS - 1;
		launch.target = launch.source = 2 * number + launch.target % 2;
		do_launch(&launch);
	}
}

static void observe_own(unsigned number)
{
	unsigned char bytes[64];

	if (below(2)) {
		must(p_cuStreamSynchronize(streams[3 + number]), "cuStreamSynchronize");
		return;
	}
	must(p_cuMemcpyDtoH(bytes, buffers[2 * number + below(2)], sizeof(bytes)), "cuMemcpyDtoH");
	for (size_t i = 0; i < sizeof(bytes); i++)
		sums[number] = sums[number] * 31 + bytes[i];
}

static void capture_own(unsigned number)
{
	CUgraph graph;
	CUgraphExec exec;

	must(p_cuStreamBeginCapture(streams[3 + number], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	     "cuStreamBeginCapture");
	launch_own(number);
	must(p_cuStreamEndCapture(streams[3 + number], &graph), "cuStreamEndCapture");
	must(p_cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
	must(p_cuGraphLaunch(exec, streams[3 + number]), "cuGraphLaunch");
	must(p_cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	must(p_cuGraphDestroy(graph), "cuGraphDestroy");
}

static void *run_at_once(void *given)
{
	unsigned number = (unsigned)(uintptr_t)given, steps = steps_left;

	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	chance = seed * 7919u + number;
	new_phrase();
	for (unsigned i = 0; i < steps; i++) {
		launch_own(number);
		if (below(3))
			observe_own(number);
		if (below(8) == 0)
			new_phrase();
		if (below(16) == 0)
			capture_own(number);
	}
	observe_own(number);
	return NULL;
}

/* As a shell does, or Python's subprocess, when there is no such program: it shares this one's memory. */
static void fail_to_start_a_program(void)
{
	if (vfork() == 0)
		_exit(127);
	wait(NULL);
}

/* What a graph is best for. */
static void loop(int launches, bool has_children)
{
	for (unsigned i = 0; i < steps_left; i++) {
		for (int j = 0; j < launches; j++)
			do_launch(&(struct launch){.kind = 1, .stream = 3});
		if (has_children)
			fail_to_start_a_program();
		must(p_cuStreamSynchronize(streams[3]), "cuStreamSynchronize");
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	bool is_at_once = argc > 3 && !strcmp(argv[3], "at-once");

	seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;

	chance = seed * 7919u + 1;
	steps_left = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 60;
	is_per_thread = seed % 4 == 3;
	find_functions(seed % 3);
	set_up();
	if (argc > 3 && !is_at_once) {
		loop(!strcmp(argv[3], "waits") ? 1 : 20, !strcmp(argv[3], "vfork"));
		steps_left = 0;
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, is_at_once ? run_at_once : run_thread, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; is_at_once && i < THREADS; i++)
		printf("thread %zu %lx\n", i, sums[i]);
	if (!is_at_once)
		report("end", p_cuCtxSynchronize());
	if (seed % 5 == 0) {
		fflush(stdout);
		_exit(seed % 7);
	}
	return (int)(seed % 7);
}
