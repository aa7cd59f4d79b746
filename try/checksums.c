/* checksums.c - a hash of what each allocation of the GPU's memory contained. */
#define _GNU_SOURCE
#include "checksums.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "deferred.h"
#include "driver.h"

enum {
	PLACES = 1 << 16,
	MOST = 1 << 20, /* allocations that are hashed; of further ones nothing is told */
	PART_BYTES = 4 << 20,
	END_MS = 2000 /* so long the end of the process waits for the GPU */
};

enum state { LIVE, HASHED, UNKNOWN };

struct allocation {
	CUdeviceptr address;
	size_t bytes;
	CUcontext context;
	enum state state;
	bool is_seen;	  /* while it is live: hashed before a context went */
	bool is_doubtful; /* that may have been its own, so that nobody else may name it */
	uint64_t hash;
	const char *when, *why_not;
	unsigned next; /* one more than the index of another one with the same place */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char output[PATH_MAX];
static struct allocation *allocations;
static unsigned count, room;
static unsigned places[PLACES]; /* one more than the index of the newest one */
static unsigned char part[PART_BYTES];
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

void checksums_open(const char *path)
{
	char folder[PATH_MAX];

	if (!path || !*path)
		return;
	if (path[0] == '/' || !getcwd(folder, sizeof(folder)))
		folder[0] = '\0';
	snprintf(output, sizeof(output), "%s%s%s", folder, folder[0] ? "/" : "", path);
}

bool checksums_are_wanted(void)
{
	return output[0] && driver_open()->is_complete;
}

/* ---- the list ---- */

static unsigned *place_of(CUdeviceptr address)
{
	return &places[(uint64_t)address * 0x9e3779b97f4a7c15u >> 48];
}

static struct allocation *find(CUdeviceptr address)
{
	for (unsigned i = *place_of(address); i; i = allocations[i - 1].next)
		if (allocations[i - 1].address == address && allocations[i - 1].state == LIVE)
			return &allocations[i - 1];
	return NULL;
}

static struct allocation *add(CUdeviceptr address, size_t bytes)
{
	if (count == room && count < MOST) {
		unsigned more = room ? 2 * room : 1024;
		struct allocation *larger = realloc(allocations, more * sizeof(*larger));

		if (!larger)
			return NULL;
		allocations = larger;
		room = more;
	}
	if (count == room)
		return NULL;
	allocations[count] =
		(struct allocation){.address = address, .bytes = bytes, .next = *place_of(address)};
	*place_of(address) = count + 1;
	return &allocations[count++];
}

static void end_as_unknown(struct allocation *allocation, const char *why_not)
{
	allocation->state = allocation->is_seen ? HASHED : UNKNOWN;
	allocation->why_not = why_not;
}

/* ---- hashing ---- */

static uint64_t hash_more(uint64_t hash, size_t bytes)
{
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof(word) <= bytes; i += sizeof(word)) {
		memcpy(&word, part + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	for (; i < bytes; i++)
		hash = (hash ^ part[i]) * 1099511628211u;
	return hash;
}

static CUresult hash_parts(const struct allocation *allocation, uint64_t *hash)
{
	CUresult result = CUDA_SUCCESS;

	*hash = allocation->bytes;
	for (size_t at = 0; at < allocation->bytes && result == CUDA_SUCCESS; at += PART_BYTES) {
		size_t left = allocation->bytes - at;
		size_t bytes = left < PART_BYTES ? left : PART_BYTES;

		result = driver_open()->copy_to_host(part, allocation->address + at, bytes);
		if (result == CUDA_SUCCESS)
			*hash = hash_more(*hash, bytes);
	}
	return result;
}

/* Makes its context the current one, until leave_context().  The caller has seen to it that nothing is captured. */
static bool enter_context(const struct allocation *allocation)
{
	const struct driver *driver = driver_open();
	CUcontext current = NULL;

	if (allocation->is_doubtful &&
	    (driver->get_current(&current) != CUDA_SUCCESS || current != allocation->context))
		return false;
	return driver->push_current(allocation->context) == CUDA_SUCCESS;
}

static void leave_context(void)
{
	CUcontext popped;

	driver_open()->pop_current(&popped);
}

/* In its context. */
static bool hash(struct allocation *allocation, const char *when)
{
	uint64_t found = 0;

	if (hash_parts(allocation, &found) != CUDA_SUCCESS)
		return false;
	allocation->hash = found;
	allocation->when = when;
	allocation->is_seen = true;
	return true;
}

static void hash_for_good(struct allocation *allocation, const char *when)
{
	bool is_hashed;

	if (deferred_count_captures()) {
		end_as_unknown(allocation, "a stream was captured");
		return;
	}
	if (!enter_context(allocation)) {
		end_as_unknown(allocation, "its context is another one");
		return;
	}
	is_hashed = hash(allocation, when);
	leave_context();
	if (is_hashed)
		allocation->state = HASHED;
	else
		end_as_unknown(allocation, "it could not be read");
}

static void enter(void)
{
	pthread_mutex_lock(&lock);
	is_inside = true;
}

static void leave(void)
{
	is_inside = false;
	pthread_mutex_unlock(&lock);
}

/* ---- what the program does ---- */

static void fill_with_zeros(CUdeviceptr address, size_t bytes)
{
	const struct driver *driver = driver_open();

	if (!deferred_count_captures() &&
	    driver->set_8(address, 0, bytes, CU_STREAM_LEGACY) == CUDA_SUCCESS)
		(void)driver->stream_synchronize(CU_STREAM_LEGACY);
}

void checksums_note(CUdeviceptr address, size_t bytes)
{
	struct allocation *allocation;
	CUcontext context = NULL;

	if (!checksums_are_wanted() || is_inside ||
	    driver_open()->get_current(&context) != CUDA_SUCCESS)
		return;
	deferred_flush();
	fill_with_zeros(address, bytes);
	enter();
	allocation = find(address);
	if (allocation) /* it went with its context */
		end_as_unknown(allocation, "its context went");
	allocation = add(address, bytes);
	if (allocation)
		allocation->context = context;
	leave();
}

void checksums_before_free(CUdeviceptr address)
{
	struct allocation *allocation;

	if (!checksums_are_wanted() || is_inside || !address)
		return;
	if (!deferred_count_captures())
		(void)driver_open()->synchronize();
	enter();
	allocation = find(address);
	if (allocation)
		hash_for_good(allocation, "when it was freed");
	leave();
}

void checksums_before_free_in_stream(CUdeviceptr address)
{
	struct allocation *allocation;

	if (!checksums_are_wanted() || is_inside)
		return;
	enter();
	allocation = find(address);
	if (allocation)
		end_as_unknown(allocation, "it was freed in the order of a stream");
	leave();
}

/* A kernel that does not end: nothing is waited for without end. */
static bool is_gpu_done(void)
{
	uint64_t start_ns = clock_ns();
	CUresult state;

	do
		state = driver_open()->stream_query(CU_STREAM_LEGACY);
	while (state == CUDA_ERROR_NOT_READY && clock_ns() - start_ns < END_MS * 1000000ull &&
	       sched_yield() == 0);
	return state == CUDA_SUCCESS;
}

/* All that are live. */
static void hash_live(const char *when)
{
	for (unsigned i = 0; i < count; i++) {
		struct allocation *allocation = &allocations[i];

		if (allocation->state != LIVE || deferred_count_captures() ||
		    !enter_context(allocation))
			continue;
		if (is_gpu_done())
			(void)hash(allocation, when);
		leave_context();
	}
}

void checksums_before(enum function_memory memory)
{
	if (memory != LOSES || !checksums_are_wanted() || is_inside)
		return;
	enter();
	hash_live("before a context went");
	for (unsigned i = 0; i < count; i++)
		allocations[i].is_doubtful = true; /* which context goes is not known here */
	leave();
}

/* ---- the end ---- */

static void write_list(int file)
{
	for (unsigned i = 0; i < count; i++) {
		const struct allocation *allocation = &allocations[i];

		dprintf(file, "allocation %u, %zu bytes, ", i + 1, allocation->bytes);
		if (allocation->state == HASHED || allocation->is_seen)
			dprintf(file, "%s: %016llx\n", allocation->when,
				(unsigned long long)allocation->hash);
		else
			dprintf(file, "not known: %s\n",
				allocation->why_not ? allocation->why_not : "it could not be read");
	}
}

static void write_file(void)
{
	char path[PATH_MAX + 32];
	int file;

	snprintf(path, sizeof(path), "%s.%d", output, (int)getpid());
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	write_list(file);
	close(file);
}

/* A thread that waits in the driver may hold the lock for good: the process ends all the same. */
void checksums_end(void)
{
	if (!output[0] || !count || is_inside || !clock_lock(&lock, END_MS))
		return;
	is_inside = true;
	hash_live("at the end");
	write_file();
	leave();
}

void checksums_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	count = 0;
	memset(places, 0, sizeof(places));
	is_inside = false;
}
