/* registered.c - memory of the host that the program has registered. */
#include "registered.h"

#include <pthread.h>
#include <stdint.h>

#include "before.h"
#include "driver.h"
#include "graphs.h"
#include "registering.h"
#include "waits.h"

enum { RANGES_MOST = 1024 };

static struct range {
	uintptr_t start, end; /* 0: there is none here */
} ranges[RANGES_MOST];
static unsigned used; /* there is none behind these */
static bool is_full;  /* one had no room: anything may be registered */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct range *find(uintptr_t start)
{
	for (unsigned i = 0; i < used; i++)
		if (ranges[i].start == start)
			return &ranges[i];
	return NULL;
}

static void note(const void *address, size_t bytes)
{
	struct range *range;

	pthread_mutex_lock(&lock);
	range = find(0);
	if (!range && used < RANGES_MOST)
		range = &ranges[used++];
	if (range)
		*range = (struct range){(uintptr_t)address, (uintptr_t)address + bytes};
	else
		is_full = true;
	pthread_mutex_unlock(&lock);
}

static void forget(const void *address)
{
	struct range *range;

	pthread_mutex_lock(&lock);
	range = address ? find((uintptr_t)address) : NULL;
	if (range)
		*range = (struct range){0};
	pthread_mutex_unlock(&lock);
}

bool registered_has_any(const void *address, size_t bytes)
{
	uintptr_t start = (uintptr_t)address, end = start + bytes;
	bool has_any;

	pthread_mutex_lock(&lock);
	has_any = is_full;
	for (unsigned i = 0; i < used && !has_any; i++)
		has_any = ranges[i].start < end && start < ranges[i].end;
	pthread_mutex_unlock(&lock);
	return has_any;
}

CUresult try_host_register(void *address, size_t bytes, unsigned flags)
{
	const struct driver *driver = driver_open();
	CUresult result;
	int number;

	if (!driver->host_register)
		return CUDA_ERROR_NOT_FOUND;
	FLUSH_BEFORE("cuMemHostRegister_v2");
	waits_before(EXPOSES);
	number = registering_begin(address, bytes);
	result = driver->host_register(address, bytes, flags);
	if (result == CUDA_SUCCESS)
		note(address, bytes);
	registering_end(number);
	return result;
}

/* It is forgotten first: meanwhile another thread may register it again. */
CUresult try_host_unregister(void *address)
{
	const struct driver *driver = driver_open();
	CUresult result;
	int number;

	if (!driver->host_unregister)
		return CUDA_ERROR_NOT_FOUND;
	FLUSH_BEFORE("cuMemHostUnregister");
	waits_before(SHOWS);
	forget(address);
	number = registering_begin(address, 1);
	graphs_note_free();
	result = driver->host_unregister(address);
	registering_end(number);
	return result;
}

void registered_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}
