/*
 * program.h - what the parts of random_program share.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "../fake_driver.h"

#include <stdbool.h>

enum {
	THREADS = 3,
	KINDS = 6,
	STREAMS = 6,
	BUFFERS = 8,
	PHRASE_MAX = 90,
	SHAPES = 6,
	WAIT_S = 30,
	COMPUTE_NS = 60000,
	CHECK_US = 300000,
	LARGE_BYTES = 3 << 20
};

/* The driver's functions, found as programs find them: by cuGetProcAddress, by dlsym in the library, or anywhere. */
#define PROGRAM_POINTER(name) extern __typeof__(name) *p_##name;
FAKE_DRIVER_FUNCTIONS(PROGRAM_POINTER, PROGRAM_POINTER)
#define PROGRAM_COPY_POINTER(name, exported, suffix) extern __typeof__(name) *p_##name;
FAKE_DRIVER_COPIES(PROGRAM_COPY_POINTER)
extern __typeof__(cuCtxCreate_v4) *p_cuCtxCreate;
extern __typeof__(cuStreamBeginCapture) *p_cuStreamBeginCapture;
extern __typeof__(cuMemcpyDtoDAsync) *p_cuMemcpyDtoDAsync;
extern uint64_t (*p_fake_digest)(void);
extern unsigned long (*p_fake_unfinished)(void), (*p_fake_event_waits)(void);
extern void (*p_fake_name)(CUdeviceptr, long);
extern void (*p_fake_unmaps)(const void *, size_t);
extern CUresult (*p_get_texture)(CUtexref *, CUmodule, const char *); /* cuModuleGetTexRef */

/* way: 0 to 2.  is_per_thread: the default stream is one for each thread. */
void find_functions(unsigned way, bool is_per_thread);

/* Waits by the version of cuCtxSynchronize that takes a context, and calls versions of all functions that are newer than any
 * known one, which take numbers, between launches. */
void call_newer_functions(void);

/* Ends the program where something failed that never should. */
void must(CUresult result, const char *what);

/* Prints what a call returned, and the hash of all that the driver had done by then. */
void report(const char *what, CUresult result);

/* The same of a wait.  With RANDOM_PROGRAM_WAITS=later without the hash: what nobody can tell may be done later. */
void report_wait(const char *what, CUresult result);

/* A number by chance, of the thread; the same for the same seed. */
extern __thread unsigned long chance;
unsigned below(unsigned limit);

/* ---- what all threads share ---- */

extern CUcontext context, other_context;
extern CUstream streams[STREAMS];
extern CUdeviceptr buffers[BUFFERS];
extern void *kernels[KINDS][2]; /* as functions, and as handles of kernels */
extern unsigned seed, steps_left;

/* ---- launches ---- */

struct launch {
	unsigned kind, is_handle, stream, shape, is_ex, target, source;
	unsigned
		memory; /* 0: a kernel; 1, 2, 4: a memset by so many bytes; 3: a copy; behind that, ones that fail */
};

/* What the thread launches again and again. */
extern __thread struct launch phrase[PHRASE_MAX];
extern __thread unsigned phrase_length;
void new_phrase(void);
void launch_phrase(void);
void do_launch(const struct launch *launch); /* a memset or a copy as well */
void packed_launch(void);

/* ---- memory ---- */

void allocate(unsigned buffer, size_t bytes, CUstream stream);
void renew_memory(void);
void allocate_alone(void);
void allocate_after_fault(void);

/* ---- a program that shows the host nothing, until it does ---- */

extern bool is_private;
void load_code(bool is_printing);
void expose(void); /* once, now or at a later call */
void tell_host(void);
void look_at_told(void);
void copy_in(void);

/* ---- streams that fork and join ---- */

extern bool takes_turns; /* most launches go to streams by turns, without events */
void set_up_forks(void);
void step_forks(void);
void *run_shared(
	void *number); /* of the thread: the first one forks into a stream that the others launch into at once */

/* ---- copies of page-locked memory between launches ---- */

void step_pipeline(void);

/* ---- large copies between the host and the GPU ---- */

extern bool has_copies, has_turns; /* has_turns: the threads take turns */
void allocate_for_copies(void);
void copy_much(unsigned place); /* each thread in a place of its own, but for turns */

unsigned copy_in_child(void);	/* what its memory contained, in short */
void copy_alike(bool is_async); /* STEPS times the same */
void copy_behind(void);		/* callbacks, which write what is copied */

/* What the memory of a place contained so far. */
unsigned long sum_of_copies(unsigned place);

/* ---- threads at once ---- */

/* number: of the thread.  What its memory contained, in the end. */
void *run_at_once(void *number);
unsigned long sum_of_thread(unsigned number);
void *run_beside_captures(void *number);

/* ---- ends ---- */

/* Ends the program, or makes it another one, in that way; returns where how is none, or the way fails. */
void end_as(const char *how);

/* While a thread looks up functions of the driver. */
void make_children_that_look_up(void);

/* Right after launches, then while another thread is in the driver. */
void make_children_between_launches(void);

#endif
