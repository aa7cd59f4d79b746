/*
 * state.c - what the stand-in for libcuda.so.1 has done.
 *
 * It does what it is told at once, on memory of the host: whatever is put off for too long shows.  fake_digest() is a hash
 * of all that was done, in order, with every byte of the parameters.  Addresses and numbers of streams are the same in each
 * run.
 *
 * FAKE_DRIVER_REFUSES=instantiate, set or graph: that call fails for graphs that were not captured, the third time and from
 * then on.  FAKE_DRIVER_ORDER=1: see order.c.  FAKE_DRIVER_JIT=1: a library is looked for when a kernel's code is.  FAKE_DRIVER_IDLE=1: streams that are asked have done everything, though nobody knows it by that.
 * FAKE_DRIVER_SLOW=1: launching such a graph takes long.  FAKE_DRIVER_LOG=FILE: what was done, a line each.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct CUstream_st per_thread = {.id = THREAD_STREAM};
struct CUstream_st fake_legacy = {.id = LEGACY_STREAM};
static uint64_t digest = 1469598103934665603u;
static unsigned refused_calls;
pthread_mutex_t fake_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void fake_mix(const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		digest = (digest ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
}

void fake_log_op(const char *name, long a, long b)
{
	const char *path = getenv("FAKE_DRIVER_LOG");
	FILE *file = path ? fopen(path, "ae") : NULL;

	fake_mix(name, strlen(name));
	fake_mix(&a, sizeof(a));
	fake_mix(&b, sizeof(b));
	if (file) {
		fprintf(file, "%s %ld %ld\n", name, a, b);
		fclose(file);
	}
}

uint64_t fake_digest(void)
{
	return __atomic_load_n(&digest, __ATOMIC_ACQUIRE) + fake_numbered();
}

bool fake_refuses(const char *what, bool is_captured)
{
	const char *refused = getenv("FAKE_DRIVER_REFUSES");

	return refused && !is_captured && !strcmp(refused, what) && ++refused_calls >= 3;
}

struct CUstream_st *fake_stream_of(CUstream stream)
{
	if (!stream || stream == CU_STREAM_LEGACY)
		return &fake_legacy;
	if (stream != CU_STREAM_PER_THREAD && !fake_is_live(stream))
		abort();
	return stream == CU_STREAM_PER_THREAD ? &per_thread : stream;
}

CUresult fake_answer(void)
{
	return fake_current() ? fake_current()->error : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult fake_observe(const char *what, long which)
{
	pthread_mutex_lock(&fake_lock);
	fake_log_op(what, which, fake_current() ? fake_current()->id : -1);
	if (fake_current())
		fake_current()->unfinished++;
	pthread_mutex_unlock(&fake_lock);
	return fake_answer();
}

int fake_captures;

bool fake_tells_disturbed(void)
{
	return getenv("FAKE_DRIVER_DISTURBED") != NULL;
}

void fake_disturb(void)
{
	int captures = __atomic_load_n(&fake_captures, __ATOMIC_SEQ_CST);

	if (!captures)
		return;
	fake_log_op("capture_disturbed", captures, 0);
	if (fake_tells_disturbed())
		fprintf(stderr, "a capture is disturbed\n");
}

CUresult fake_wait(void)
{
	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&fake_lock);
	fake_current()->unfinished = 0;
	fake_wait_for_all();
	pthread_mutex_unlock(&fake_lock);
	return fake_answer();
}

unsigned long fake_unfinished(void)
{
	return fake_current() ? fake_current()->unfinished : 0;
}
