/* registering.c - memory of the program that is copied again and again is registered, so that the GPU copies it itself. */
#define _GNU_SOURCE
#include "registering.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "counts.h"
#include "driver.h"
#include "host_memory.h"
#include "latest.h"
#include "process.h"
#include "ranges.h"
#include "registered.h"
#include "watch.h"

enum {
	RANGES_MOST = 64,
	CALLS_MOST = 64,
	LEAST_BYTES = 1 << 20,
	/* host_register of ceilings/ for the H200: 101 us of 1 MiB, 7.96 ms of 256 MiB. */
	REGISTER_NS = 70000,
	REGISTER_MEGABYTE_NS = 31000,
	GAIN_LEAST_PERCENT = 10,
	LOSSES_MOST = 6,  /* each time that it was released for nothing it must pay twice as much */
	MEMORY_PART = 4,  /* of the machine's memory one so many is registered at most */
	STALLED_MS = 100, /* the same as in staging.c */
	COMPARED_MOST =
		9, /* copies of other memory, in each direction: each waits for what is before it */
	SAMPLES_LEAST = 3
};

enum state { NONE, SEEN, BUSY, HELD, RELEASING };

/* Whole pages. */
static struct range {
	uintptr_t start, end;
	enum state state;
	bool is_gone;	 /* unmapped, moved or emptied since it is BUSY, or the program forked */
	bool is_forked;	 /* gone for that alone: what is known of it still holds */
	unsigned users;	 /* copies of it that are under way */
	unsigned losses; /* times that it was released */
	uint64_t copied_bytes, used_ns;
	CUcontext context;
	struct mapping mapping; /* that is watched for it */
} ranges[RANGES_MOST];

/* Calls that use memory as the program left it. */
static struct call {
	uintptr_t start, end; /* 0: none */
} calls[CALLS_MOST];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned busy_count; /* ranges that are neither NONE nor SEEN */
static unsigned gone_count; /* times that one of these was gone */
static unsigned calls_beyond, forks;
static bool is_over;			      /* nothing is registered any more */
static struct latest other_ns[2], held_ns[2]; /* of a byte, to the GPU and to the host */
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static uintptr_t start_of(const void *host)
{
	return (uintptr_t)host & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t end_of(const void *host, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	return ((uintptr_t)host + bytes + page - 1) & ~(page - 1);
}

static bool is_between(uintptr_t start, uintptr_t end, uintptr_t first, uintptr_t last)
{
	return start < last && first < end;
}

static enum state state_of(const struct range *range)
{
	return __atomic_load_n(&range->state, __ATOMIC_SEQ_CST);
}

static bool is_busy(const struct range *range)
{
	return state_of(range) >= BUSY;
}

/* Under the lock. */
static void set_state(struct range *range, enum state state)
{
	bool was_busy = is_busy(range), will_be = state >= BUSY;

	__atomic_store_n(&range->state, state, __ATOMIC_SEQ_CST);
	if (was_busy != will_be)
		__atomic_fetch_add(&busy_count, will_be ? 1 : -1, __ATOMIC_SEQ_CST);
	pthread_cond_broadcast(&changed);
}

/* In the thread that watches, or in one that forks. */
static void note_gone(uintptr_t start, uintptr_t end)
{
	for (struct range *range = ranges; range < ranges + RANGES_MOST; range++)
		if (is_busy(range) && is_between(range->start, range->end, start, end)) {
			__atomic_store_n(&range->is_gone, true, __ATOMIC_SEQ_CST);
			__atomic_fetch_add(&gone_count, 1, __ATOMIC_SEQ_CST);
		}
}

static bool is_gone(const struct range *range)
{
	return __atomic_load_n(&range->is_gone, __ATOMIC_SEQ_CST);
}

/* ---- releasing ---- */

/* In the context in which it was registered.  A driver that refuses has lost the context, and it with that. */
static void unregister(uintptr_t start, CUcontext context)
{
	const struct driver *driver = driver_open();
	CUcontext before;

	is_inside = true;
	if (driver->push_current(context) == CUDA_SUCCESS) {
		driver->host_unregister((void *)start);
		driver->pop_current(&before);
	}
	is_inside = false;
}

/* Where nothing else is watched there. */
static void end_watch(struct range *range)
{
	for (const struct range *other = ranges; other < ranges + RANGES_MOST; other++)
		if (is_busy(other) &&
		    is_between(other->start, other->end, range->mapping.start, range->mapping.end))
			return;
	watch_remove(&range->mapping);
	range->mapping = (struct mapping){0};
}

/* Under the lock, which it gives up meanwhile. */
static void release(struct range *range)
{
	uintptr_t start = range->start;
	CUcontext context = range->context;

	set_state(range, RELEASING);
	while (range->users)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	unregister(start, context);
	counts_add(TRY_RANGES_RELEASED, 1);
	pthread_mutex_lock(&lock);
	range->losses++;
	range->copied_bytes = 0;
	set_state(range, is_gone(range) && !range->is_forked ? NONE : SEEN);
	range->is_forked = false;
	end_watch(range);
}

typedef bool choice_fn(const struct range *range, uintptr_t start, uintptr_t end);

static bool is_one_of(const struct range *range, uintptr_t start, uintptr_t end)
{
	return is_between(range->start, range->end, start, end);
}

static bool is_one_gone(const struct range *range, uintptr_t start, uintptr_t end)
{
	(void)start;
	(void)end;
	return is_gone(range);
}

/* Under the lock: until no range of that choice is registered, or becomes so. */
static void release_all(choice_fn *is_chosen, uintptr_t start, uintptr_t end)
{
	for (unsigned i = 0; i < RANGES_MOST; i++) {
		struct range *range = &ranges[i];

		while (is_busy(range) && is_chosen(range, start, end))
			if (state_of(range) == HELD)
				release(range);
			else
				pthread_cond_wait(&changed, &lock);
	}
}

static void release_between(uintptr_t start, uintptr_t end)
{
	if (is_inside || !__atomic_load_n(&busy_count, __ATOMIC_SEQ_CST))
		return;
	pthread_mutex_lock(&lock);
	release_all(is_one_of, start, end);
	pthread_mutex_unlock(&lock);
}

/* What was unmapped may be something else now, which the driver does not know. */
static void release_gone(void)
{
	unsigned count = __atomic_load_n(&gone_count, __ATOMIC_SEQ_CST);

	if (is_inside)
		return;
	pthread_mutex_lock(&lock);
	release_all(is_one_gone, 0, 0);
	pthread_mutex_unlock(&lock);
	__atomic_fetch_sub(&gone_count, count, __ATOMIC_SEQ_CST);
}

void registering_before_launch(void)
{
	if (__atomic_load_n(&gone_count, __ATOMIC_SEQ_CST))
		release_gone();
}

void registering_release_at(CUdeviceptr address)
{
	release_between((uintptr_t)address, (uintptr_t)address + 1);
}

void registering_before(enum function_host host)
{
	if (host == TAKES)
		__atomic_store_n(&is_over, true, __ATOMIC_SEQ_CST);
	if (host != UNAWARE)
		release_between(0, UINTPTR_MAX);
}

/* ---- calls that use memory as it is ---- */

int registering_begin(const void *host, size_t bytes)
{
	uintptr_t start = (uintptr_t)host, end = start + bytes;
	int number = 0;

	pthread_mutex_lock(&lock);
	while (number < CALLS_MOST && calls[number].end)
		number++;
	if (number < CALLS_MOST)
		calls[number] = (struct call){start_of(host), end_of(host, bytes)};
	else
		calls_beyond++;
	if (busy_count && !is_inside)
		release_all(is_one_of, start, end);
	pthread_mutex_unlock(&lock);
	return number;
}

void registering_end(int number)
{
	pthread_mutex_lock(&lock);
	if (number < CALLS_MOST)
		calls[number] = (struct call){0};
	else
		calls_beyond--;
	pthread_mutex_unlock(&lock);
}

static bool is_in_use(const struct range *range)
{
	for (int i = 0; i < CALLS_MOST; i++)
		if (is_between(range->start, range->end, calls[i].start, calls[i].end))
			return true;
	return calls_beyond;
}

/* ---- what comes again ---- */

static void join(struct range *range, const struct range *other)
{
	range->start = other->start < range->start ? other->start : range->start;
	range->end = other->end > range->end ? other->end : range->end;
	range->copied_bytes += other->copied_bytes;
	range->losses = other->losses > range->losses ? other->losses : range->losses;
}

static struct range *find_room(void)
{
	struct range *oldest = NULL;

	for (struct range *range = ranges; range < ranges + RANGES_MOST; range++)
		if (state_of(range) == NONE)
			return range;
		else if (state_of(range) == SEEN && (!oldest || range->used_ns < oldest->used_ns))
			oldest = range;
	return oldest;
}

/* What it touches of what was seen is one with it: a program may copy a buffer part by part.  NULL: some of it is in use. */
static struct range *note_seen(struct range seen)
{
	struct range *room;

	for (struct range *range = ranges; range < ranges + RANGES_MOST; range++) {
		if (state_of(range) == NONE ||
		    !is_between(range->start, range->end, seen.start - 1, seen.end + 1))
			continue;
		if (is_busy(range)) {
			if (is_between(range->start, range->end, seen.start, seen.end))
				return NULL;
			continue;
		}
		join(&seen, range);
		set_state(range, NONE);
	}
	room = find_room();
	if (room) {
		*room = seen;
		set_state(room, SEEN);
	}
	return room;
}

static bool gains(double other, double held)
{
	return (other - held) * 100 > other * GAIN_LEAST_PERCENT;
}

static bool pays(const struct range *range, bool is_to_host, size_t bytes)
{
	double size = (double)(range->end - range->start), other, saved, cost;

	if (process_is_stubborn())
		return range->copied_bytes > bytes;
	if (range->copied_bytes < (range->end - range->start) / 2 + bytes)
		return false;
	if (range->losses >= LOSSES_MOST || !other_ns[is_to_host].count)
		return false;
	other = latest_median(&other_ns[is_to_host]);
	saved = held_ns[is_to_host].count ? other - latest_median(&held_ns[is_to_host]) : other / 2;
	cost = (REGISTER_NS + size / (1 << 20) * REGISTER_MEGABYTE_NS) * (1 << range->losses);
	return gains(other, other - saved) && saved * (double)range->copied_bytes > cost;
}

static bool has_room(const struct range *range)
{
	size_t most = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / MEMORY_PART;
	size_t bytes = range->end - range->start;

	for (const struct range *other = ranges; other < ranges + RANGES_MOST; other++)
		if (is_busy(other))
			bytes += other->end - other->start;
	return bytes <= most;
}

static struct range *find_oldest(void)
{
	struct range *oldest = NULL;

	for (struct range *range = ranges; range < ranges + RANGES_MOST; range++)
		if (state_of(range) == HELD && !range->users &&
		    (!oldest || range->used_ns < oldest->used_ns))
			oldest = range;
	return oldest;
}

/* What was not used for longest goes first. */
static bool make_room(const struct range *range)
{
	struct range *oldest;

	while (!has_room(range)) {
		oldest = find_oldest();
		if (!oldest)
			return false;
		release(oldest);
	}
	return true;
}

static bool register_pages(uintptr_t start, uintptr_t end, struct mapping *mapping)
{
	CUresult result;

	if (process_is_unwatched() || !host_memory_can_check() || !watch_open(note_gone)) {
		counts_set(TRY_UNWATCHED, 1);
		__atomic_store_n(&is_over, true, __ATOMIC_SEQ_CST);
		return false;
	}
	if (!watch_add(start, end, mapping) || registered_has_any((void *)start, end - start))
		return false;
	is_inside = true;
	result = driver_open()->host_register((void *)start, end - start,
					      CU_MEMHOSTREGISTER_PORTABLE);
	is_inside = false;
	return result == CUDA_SUCCESS;
}

/* Under the lock, which it gives up meanwhile. */
static bool hold(struct range *range)
{
	uintptr_t start = range->start, end = range->end;
	struct mapping mapping = {0};
	bool is_registered;

	if (driver_open()->get_current(&range->context) != CUDA_SUCCESS)
		return false;
	__atomic_store_n(&range->is_gone, false, __ATOMIC_SEQ_CST);
	set_state(range, BUSY);
	pthread_mutex_unlock(&lock);
	is_registered = register_pages(start, end, &mapping);
	pthread_mutex_lock(&lock);
	range->used_ns = clock_ns();
	range->mapping = mapping;
	if (!is_registered) {
		range->losses++;
		set_state(range, SEEN);
		end_watch(range);
		return false;
	}
	counts_add(TRY_RANGES_REGISTERED, 1);
	set_state(range, HELD);
	if (!is_gone(range) && !__atomic_load_n(&is_over, __ATOMIC_SEQ_CST))
		return true;
	release(range);
	return false;
}

static struct range *find_holding(uintptr_t start, uintptr_t end)
{
	for (struct range *range = ranges; range < ranges + RANGES_MOST; range++)
		if (state_of(range) == HELD && range->start <= start && end <= range->end)
			return range;
	return NULL;
}

static bool may_register(void)
{
	return !__atomic_load_n(&is_over, __ATOMIC_SEQ_CST) && !forks;
}

/* Under the lock: one that holds all of it from now on. */
static struct range *hold_if_it_pays(const struct copy *copy)
{
	uintptr_t start = start_of(copy->host), end = end_of(copy->host, copy->bytes);
	struct range *range;

	if (!may_register())
		return NULL;
	range = note_seen((struct range){
		.start = start, .end = end, .copied_bytes = copy->bytes, .used_ns = clock_ns()});
	if (!range || !pays(range, copy->is_to_host, copy->bytes) || is_in_use(range))
		return NULL;
	if (!make_room(range) || state_of(range) != SEEN || is_in_use(range))
		return NULL;
	return hold(range) ? range : NULL;
}

/* ---- one copy ---- */

/* Waits until the GPU has done what is in the stream before; not without end where the program may go on without. */
static bool wait_until_done(CUevent event, bool is_patient)
{
	const struct driver *driver = driver_open();
	uint64_t start_ns = clock_ns();
	CUresult result;

	if (is_patient)
		return driver->event_synchronize(event) == CUDA_SUCCESS;
	while ((result = driver->event_query(event)) == CUDA_ERROR_NOT_READY)
		if (clock_ns() - start_ns > STALLED_MS * 1000000ull) {
			counts_add_passed(TRY_STALLED);
			return false;
		} else {
			sched_yield();
		}
	return result == CUDA_SUCCESS;
}

static bool wait_before(const struct copy *copy, CUevent event)
{
	return driver_open()->event_record(event, copy->stream) == CUDA_SUCCESS &&
	       wait_until_done(event, copy->is_to_host);
}

static struct range *take(const struct copy *copy)
{
	struct range *range;

	pthread_mutex_lock(&lock);
	range = find_holding((uintptr_t)copy->host, (uintptr_t)copy->host + copy->bytes);
	if (range && is_gone(range))
		range = NULL;
	if (range) {
		range->users++;
		range->used_ns = clock_ns();
	}
	pthread_mutex_unlock(&lock);
	return range;
}

/* True: it was still there while it was copied. */
static bool give_back(struct range *range)
{
	bool was_there = !is_gone(range);

	pthread_mutex_lock(&lock);
	range->users--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return was_there;
}

/* While the GPU copies it is seen whether that may be: that neither a page is missing, nor one is that was there before. */
static bool copy_pages(const struct copy *copy, CUevent event)
{
	const struct driver *driver = driver_open();
	CUresult result = copy->is_to_host
				  ? driver->copy_to_host_async(copy->host, copy->device,
							       copy->bytes, copy->stream)
				  : driver->copy_from_host_async(copy->device, copy->host,
								 copy->bytes, copy->stream);
	bool is_there;

	if (result != CUDA_SUCCESS)
		return false;
	is_there = host_memory_is_there(copy->host, copy->bytes, copy->is_to_host) &&
		   watch_is_current();
	return driver->event_record(event, copy->stream) == CUDA_SUCCESS &&
	       driver->event_synchronize(event) == CUDA_SUCCESS && is_there;
}

/* The GPU has copied as fast as that: where it is no faster in any direction it ends. */
static void note_held(const struct copy *copy, uint64_t took_ns)
{
	unsigned tried = 0, gained = 0;

	pthread_mutex_lock(&lock);
	latest_add(&held_ns[copy->is_to_host], (double)took_ns / (double)copy->bytes);
	for (int i = 0; i < 2; i++)
		if (held_ns[i].count >= SAMPLES_LEAST && other_ns[i].count) {
			tried++;
			gained += gains(latest_median(&other_ns[i]), latest_median(&held_ns[i]));
		}
	pthread_mutex_unlock(&lock);
	if (!tried || gained || __atomic_exchange_n(&is_over, true, __ATOMIC_SEQ_CST))
		return;
	counts_add(TRY_STEPPED_ASIDE, 1);
	release_between(0, UINTPTR_MAX);
}

static bool copy_with(const struct copy *copy, CUevent event)
{
	struct range *range;
	uint64_t start_ns;
	bool is_copied;

	if (!wait_before(copy, event))
		return false;
	range = take(copy);
	if (!range)
		return false;
	start_ns = clock_ns();
	is_copied = copy_pages(copy, event);
	is_copied = give_back(range) && is_copied;
	if (!is_copied)
		return false;
	if (copy->bytes >= LEAST_BYTES)
		note_held(copy, clock_ns() - start_ns);
	counts_add(TRY_COPIES_REGISTERED, 1);
	counts_add(TRY_REGISTERED_BYTES, copy->bytes);
	return true;
}

/* One that is small returns before the GPU has done what is in the stream before. */
static bool copy_small(const struct copy *copy)
{
	struct staged staged = staging_copy(copy, copy->bytes, false);

	if (staged.is_error || staged.bytes != copy->bytes)
		return false;
	counts_add(TRY_COPIES_STAGED, 1);
	counts_add(TRY_STAGED_BYTES, staged.bytes);
	return true;
}

static bool copy_held(const struct copy *copy)
{
	const struct driver *driver = driver_open();
	CUevent event;
	bool is_copied;

	if (!copy->is_to_host && copy->bytes < LEAST_BYTES)
		return copy_small(copy);
	if (driver->event_create(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return false;
	is_copied = copy_with(copy, event);
	driver->event_destroy(event);
	return is_copied;
}

bool registering_may_have(size_t bytes)
{
	return bytes >= LEAST_BYTES || __atomic_load_n(&busy_count, __ATOMIC_SEQ_CST);
}

bool registering_copy(const struct copy *copy)
{
	struct range *range;

	registering_before_launch();
	pthread_mutex_lock(&lock);
	range = find_holding((uintptr_t)copy->host, (uintptr_t)copy->host + copy->bytes);
	pthread_mutex_unlock(&lock);
	if (!range) {
		if (copy->bytes < LEAST_BYTES || !ranges_is_pageable(copy->host, copy->bytes))
			return false;
		pthread_mutex_lock(&lock);
		range = hold_if_it_pays(copy);
		pthread_mutex_unlock(&lock);
	}
	return range && copy_held(copy);
}

/* ---- what it takes otherwise ---- */

bool registering_compares(const struct copy *copy)
{
	const struct driver *driver = driver_open();
	CUevent event;
	bool is_done;

	if (copy->bytes < LEAST_BYTES || process_is_stubborn() || !may_register() ||
	    __atomic_load_n(&other_ns[copy->is_to_host].count, __ATOMIC_RELAXED) >= COMPARED_MOST ||
	    driver->event_create(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return false;
	is_done = wait_before(copy, event);
	driver->event_destroy(event);
	return is_done;
}

void registering_note(const struct copy *copy, uint64_t took_ns)
{
	pthread_mutex_lock(&lock);
	latest_add(&other_ns[copy->is_to_host], (double)took_ns / (double)copy->bytes);
	pthread_mutex_unlock(&lock);
}

/* ---- forks ---- */

/* The child gets the pages that are there then, and where the parent writes it may get others, which the GPU does not have.  So
 * all counts as unmapped: it is released before the driver is called next, and a copy that is under way is made again.
 * Nothing is waited for: the GPU may be busy with what is in front of that copy for as long as the program likes. */
void registering_before_fork(void)
{
	if (is_inside)
		return;
	pthread_mutex_lock(&lock);
	forks++;
	for (struct range *range = ranges; range < ranges + RANGES_MOST; range++)
		range->is_forked = is_busy(range) && (range->is_forked || !is_gone(range));
	note_gone(0, UINTPTR_MAX);
	pthread_mutex_unlock(&lock);
}

void registering_after_fork(void)
{
	if (is_inside)
		return;
	pthread_mutex_lock(&lock);
	forks--;
	pthread_mutex_unlock(&lock);
}

void registering_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&changed, NULL);
	memset(ranges, 0, sizeof(ranges));
	memset(calls, 0, sizeof(calls));
	busy_count = gone_count = calls_beyond = forks = 0;
	is_over = true;
	watch_forked();
}
