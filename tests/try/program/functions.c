/* functions.c - how a program finds the functions of the driver, and what it does with what they return. */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_OF(name) #name
#define EXPORTED_NAME(name) NAME_OF(name)

#define POINTER(name) __typeof__(name) *p_##name;
FAKE_DRIVER_FUNCTIONS(POINTER, POINTER)
#define COPY_POINTER(name, exported, suffix) __typeof__(name) *p_##name;
FAKE_DRIVER_COPIES(COPY_POINTER)
__typeof__(cuCtxCreate_v4) *p_cuCtxCreate;
__typeof__(cuStreamBeginCapture) *p_cuStreamBeginCapture;
__typeof__(cuMemcpyDtoDAsync) *p_cuMemcpyDtoDAsync;
uint64_t (*p_fake_digest)(void);
unsigned long (*p_fake_unfinished)(void), (*p_fake_event_waits)(void);
void (*p_fake_name)(CUdeviceptr, long);
void (*p_fake_unmaps)(const void *, size_t);
CUresult (*p_get_texture)(CUtexref *, CUmodule, const char *);

__thread unsigned long chance;
static bool is_per_thread;

unsigned below(unsigned limit)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(chance >> 33) % limit;
}

void must(CUresult result, const char *what)
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
#define FIND_COPY(name, exported, suffix)               \
	p_##name = (__typeof__(p_##name))dlsym(library, \
					       is_per_thread ? #exported #suffix : #exported);
	FAKE_DRIVER_COPIES(FIND_COPY)
	p_cuMemcpyDtoDAsync =
		(__typeof__(p_cuMemcpyDtoDAsync))dlsym(library,
						       is_per_thread ? "cuMemcpyDtoDAsync_v2_ptsz"
								     : "cuMemcpyDtoDAsync_v2");
	p_cuStreamBeginCapture = (__typeof__(p_cuStreamBeginCapture))
		dlsym(library,
		      is_per_thread ? "cuStreamBeginCapture_v2_ptsz" : "cuStreamBeginCapture_v2");
}

static void find_by_driver(void *library)
{
	__typeof__(cuGetProcAddress) *ask = (__typeof__(ask))dlsym(library, "cuGetProcAddress_v2");
	cuuint64_t flags = is_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

#define ASK(name) must(ask(#name, (void **)&p_##name, VERSION_KNOWN, flags, NULL), #name);
	FAKE_DRIVER_FUNCTIONS(ASK, ASK)
#define ASK_COPY(name, exported, suffix) \
	must(ask(#name, (void **)&p_##name, VERSION_KNOWN, flags, NULL), #name);
	FAKE_DRIVER_COPIES(ASK_COPY)
	must(ask("cuMemcpyDtoDAsync", (void **)&p_cuMemcpyDtoDAsync, VERSION_KNOWN, flags, NULL),
	     "copy");
	must(ask("cuCtxCreate", (void **)&p_cuCtxCreate, VERSION_KNOWN, flags, NULL),
	     "cuCtxCreate");
	must(ask("cuStreamBeginCapture", (void **)&p_cuStreamBeginCapture, VERSION_KNOWN, flags,
		 NULL),
	     "capture");
}

void find_functions(unsigned way, bool is_of_threads)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | (way == 2 ? RTLD_GLOBAL : RTLD_LOCAL));

	is_per_thread = is_of_threads;
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	if (way == 0)
		find_by_driver(library);
	else
		find_by_dlsym(way == 1 ? library : RTLD_DEFAULT);
	p_get_texture = (__typeof__(p_get_texture))dlsym(library, "cuModuleGetTexRef");
	p_fake_digest = (__typeof__(p_fake_digest))dlsym(library, "fake_digest");
	p_fake_unfinished = (__typeof__(p_fake_unfinished))dlsym(library, "fake_unfinished");
	p_fake_event_waits = (__typeof__(p_fake_event_waits))dlsym(library, "fake_event_waits");
	p_fake_name = (__typeof__(p_fake_name))dlsym(library, "fake_name");
	p_fake_unmaps = (__typeof__(p_fake_unmaps))dlsym(library, "fake_unmaps");
}

void report(const char *what, CUresult result)
{
	printf("%s %d %016llx\n", what, (int)result, (unsigned long long)p_fake_digest());
}

void report_wait(const char *what, CUresult result)
{
	const char *waits = getenv("RANDOM_PROGRAM_WAITS");

	if (waits && !strcmp(waits, "later"))
		printf("%s %d\n", what, (int)result);
	else
		report(what, result);
}

/* When such a wait returns, its context has done everything. */
static void wait_for_contexts(__typeof__(cuGetProcAddress) *ask)
{
	CUcontext waited_for[] = {NULL, context, other_context};
	CUresult (*wait)(CUcontext);

	must(ask("cuCtxSynchronize", (void **)&wait, 13000, 0, NULL), "cuCtxSynchronize");
	for (size_t i = 0; i < sizeof(waited_for) / sizeof(waited_for[0]); i++) {
		launch_phrase();
		report("waited", wait(waited_for[i]));
		printf("unfinished %lu\n", p_fake_unfinished());
	}
}

/* Memory that it frees is another allocation's afterwards, of another size. */
static void free_by_newer(void *library)
{
	CUresult (*newer_free)(CUdeviceptr, long) =
		(__typeof__(newer_free))dlsym(library, "cuMemFree_v9");
	CUdeviceptr memory[3] = {0};

	for (int i = 0; i < 3; i++) {
		launch_phrase();
		must(p_cuMemAlloc(&memory[0], 8192), "cuMemAlloc");
		must(p_cuMemAlloc(&memory[1], 8192), "cuMemAlloc");
		report("free", p_cuMemFree(memory[1]));
		launch_phrase();
		report("newer free", newer_free(memory[0], 77));
		report("free again", p_cuMemFree(memory[0]));
	}
}

void call_newer_functions(void)
{
	static const char *const names[] = {
#define NAME(name) #name,
#define NAME_OF_COPY(name, exported, suffix) #name,
		FAKE_DRIVER_FUNCTIONS(NAME, NAME) FAKE_DRIVER_COPIES(NAME_OF_COPY) "cuCtxCreate",
		"cuMemcpyDtoDAsync", "cuStreamBeginCapture", "cuGetProcAddress"};
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(cuGetProcAddress) *ask = (__typeof__(ask))dlsym(library, "cuGetProcAddress_v2");
	cuuint64_t flags = is_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
	CUresult (*function)(long, long, long, long, long, long, long);

	new_phrase();
	wait_for_contexts(ask);
	free_by_newer(library);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		launch_phrase();
		must(ask(names[i], (void **)&function, VERSION_NEWER, flags, NULL), names[i]);
		report(names[i], function(1, 2, 3, 4, 5, 6, (long)i));
	}
}
