#define _GNU_SOURCE
#include "waits.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "counts.h"
#include "deferred.h"
#include "driver.h"
#include "onlookers.h"
#include "process.h"
#include "run_time.h"

enum {
	STREAMS_MOST = 32, /* that the program gives work to */
	EVENTS_MOST = 16,  /* of the program, whose waits were left out and not yet made */
	END_MS = 2000,
	/* So many times in turn the program gave the GPU nothing between a wait that was left out and a function before which it
	 * had to be made: waits are made without looking, PASSED_ON of them.  Then AGAIN are looked at. */
	FRUITLESS = 32,
	FRUITLESS_AGAIN = 4,
	PASSED_ON = 1000,
	CAPTURE_WAIT_MS = 200 /* the same as in pinned.c */
};

/* Something that may still have to be waited for. */
struct owed {
	CUevent event;
	bool is_owed;
	unsigned long ticket; /* of the last time that it was recorded or left out */
};

struct stream {
	CUstream stream; /* NULL: there is none here */
	struct owed owed;
	unsigned long ordered; /* behind all that was left out up to this one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream streams[STREAMS_MOST];
static struct owed events[EVENTS_MOST];
static unsigned long last_ticket;
static CUcontext only_context; /* the only one that has work */
static int stopped = TRY_REASON_COUNT;
static bool is_idle;			   /* stopped, and all was made */
static bool is_any_owed;		   /* or may be */
static unsigned long works, works_at_last; /* given to the GPU; when a wait was left out last */
static unsigned fruitless, passed_on;
static unsigned making; /* threads that make what was left out */

/* Threads that gave the GPU work since they last waited for everything: what the host can see, or in streams that are not in
 * the list above.  Only the thread itself knows that it was given before it waits. */
static unsigned shown, elsewhere;
static __thread bool is_shown __attribute__((tls_model("initial-exec")));
static __thread bool is_elsewhere __attribute__((tls_model("initial-exec")));

static bool is_wanted(void)
{
	return process_wants(TRY_FEWER_WAITS) && driver_open()->is_complete;
}

static void stop(enum try_reason reason)
{
	int none = TRY_REASON_COUNT;

	__atomic_compare_exchange_n(&stopped, &none, (int)reason, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

static bool is_stopped(void)
{
	return __atomic_load_n(&stopped, __ATOMIC_SEQ_CST) != TRY_REASON_COUNT;
}

/* Whether there may be anything to do but to count. */
static bool is_at_work(void)
{
	return is_wanted() && !__atomic_load_n(&is_idle, __ATOMIC_ACQUIRE);
}

static void note_thread(bool *is_noted, unsigned *threads, bool is_now)
{
	*threads += (unsigned)is_now - (unsigned)*is_noted;
	*is_noted = is_now;
}

/* ---- what others may read without the driver ---- */

/* Not under the lock: the loader has its own. */
static void look_at_onlookers(void)
{
	enum try_reason reason = is_stopped() ? TRY_REASON_COUNT : onlookers_find();

	if (reason != TRY_REASON_COUNT)
		stop(reason);
}

/* Where the GPU reads and writes all memory of the host nothing is certain. */
static bool is_memory_shared(void)
{
	const struct driver *driver = driver_open();
	CUdevice device;
	int is_shared = 1;

	return driver->context_device(&device) != CUDA_SUCCESS ||
	       driver->device_attribute(&is_shared, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
					device) != CUDA_SUCCESS ||
	       is_shared;
}

/* One context alone: it is the one whose waits are for everything. */
static void look_at_context(void)
{
	CUcontext current = NULL;

	if (is_stopped() || driver_open()->get_current(&current) != CUDA_SUCCESS || !current)
		return;
	if (!only_context) {
		only_context = current;
		if (is_memory_shared())
			stop(TRY_HOST_MEMORY);
	}
	if (current != only_context)
		stop(TRY_CONTEXT);
}

/* ---- making what was left out ---- */

static void note_error(CUresult result)
{
	if (result == CUDA_SUCCESS)
		return;
	if (!is_stopped())
		counts_add(TRY_LATE_ERRORS, 1);
	stop(TRY_ASIDE);
}

/* Not under the lock, which others need to go on: what this waits for may wait for them. */
static void make(struct owed *owed)
{
	unsigned long ticket = owed->ticket;
	CUevent event = owed->event;
	uint64_t start_ns = clock_ns();
	CUresult result;

	__atomic_fetch_add(&making, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&lock);
	deferred_flush(); /* it may be recorded behind what was put off */
	result = driver_open()->event_synchronize(event);
	__atomic_fetch_sub(&making, 1, __ATOMIC_SEQ_CST);
	run_time_wait_later(clock_ns() - start_ns);
	pthread_mutex_lock(&lock);
	note_error(result);
	if (owed->ticket == ticket && owed->is_owed) {
		owed->is_owed = false;
		counts_add(TRY_WAITS_MADE, 1);
	}
}

static void note_fruit(void)
{
	fruitless = works == works_at_last ? fruitless + 1 : 0;
}

/* Under the lock. */
static void settle(void)
{
	bool is_any = false;

	for (unsigned i = 0; i < STREAMS_MOST; i++)
		if (streams[i].owed.is_owed) {
			is_any = true;
			make(&streams[i].owed);
		}
	for (unsigned i = 0; i < EVENTS_MOST; i++)
		if (events[i].is_owed) {
			is_any = true;
			make(&events[i]);
		}
	if (is_any)
		note_fruit();
	else
		__atomic_store_n(&is_any_owed, false, __ATOMIC_RELEASE);
	if (!is_any && is_stopped())
		__atomic_store_n(&is_idle, true, __ATOMIC_RELEASE);
}

void waits_before(enum function_wait wait)
{
	if (wait == QUIET || !is_at_work())
		return;
	if (wait == LEGACY) {
		waits_note_work(NULL, false);
		return;
	}
	pthread_mutex_lock(&lock);
	look_at_context();
	if (wait == EXPOSES)
		stop(TRY_HOST_MEMORY);
	if (wait >= GIVES)
		note_thread(&is_elsewhere, &elsewhere, true);
	if (wait >= SHOWS)
		note_thread(&is_shown, &shown, true);
	settle();
	pthread_mutex_unlock(&lock);
}

/* Another thread may be on its way to wait for what is made here, where it must not during a capture. */
void waits_begin_capture(void)
{
	uint64_t start_ns;

	waits_before(SHOWS);
	if (!is_wanted())
		return;
	start_ns = clock_ns();
	while (__atomic_load_n(&making, __ATOMIC_SEQ_CST) &&
	       clock_ns() - start_ns < CAPTURE_WAIT_MS * 1000000ull)
		sched_yield();
}

/* Libraries that the driver loads for itself, such as a compiler, read nothing of the program's, and may be loaded under a lock. */
static void settle_if_owed(void)
{
	if (!__atomic_load_n(&is_any_owed, __ATOMIC_ACQUIRE) || deferred_is_inside())
		return;
	pthread_mutex_lock(&lock);
	settle();
	pthread_mutex_unlock(&lock);
}

/* The driver itself is loaded by dlopen: nothing may be asked of it here unless something is owed. */
void try_before_dlopen(void)
{
	driver_find_dlsym();
	settle_if_owed();
}

void waits_end_for(enum try_reason reason)
{
	stop(reason);
	settle_if_owed();
}

bool waits_may_be_left_out(void)
{
	return is_wanted() && !is_stopped();
}

void waits_stop(enum try_reason reason)
{
	if (!is_at_work())
		return;
	pthread_mutex_lock(&lock);
	stop(reason);
	settle();
	pthread_mutex_unlock(&lock);
}

/* ---- work ---- */

static struct stream *find(CUstream stream)
{
	struct stream *room = NULL;

	for (unsigned i = 0; i < STREAMS_MOST; i++) {
		if (streams[i].stream == stream)
			return &streams[i];
		if (!streams[i].stream && !streams[i].owed.is_owed && !room)
			room = &streams[i];
	}
	if (room) {
		room->stream = stream;
		room->ordered = 0;
	}
	return room;
}

/* What is put off was launched before this. */
static CUresult put_behind(CUstream stream, const struct owed *owed)
{
	deferred_flush();
	return driver_open()->wait_event(stream, owed->event, 0);
}

/* On the GPU it comes after what the program had waited for, as it did. */
static bool order(struct stream *stream)
{
	CUresult result = CUDA_SUCCESS;

	for (unsigned i = 0; i < STREAMS_MOST && result == CUDA_SUCCESS; i++)
		if (streams[i].owed.is_owed && streams[i].owed.ticket > stream->ordered &&
		    &streams[i] != stream)
			result = put_behind(stream->stream, &streams[i].owed);
	for (unsigned i = 0; i < EVENTS_MOST && result == CUDA_SUCCESS; i++)
		if (events[i].is_owed && events[i].ticket > stream->ordered)
			result = put_behind(stream->stream, &events[i]);
	stream->ordered = last_ticket;
	return result == CUDA_SUCCESS;
}

static CUstream named(CUstream stream)
{
	return stream ? stream : CU_STREAM_LEGACY;
}

static bool is_own(CUstream stream, bool is_of_thread)
{
	return stream == CU_STREAM_PER_THREAD || (is_of_thread && !stream);
}

void waits_note_work(CUstream stream, bool is_of_thread)
{
	struct stream *found = NULL;

	if (!is_at_work())
		return;
	pthread_mutex_lock(&lock);
	look_at_context();
	if (!is_own(stream, is_of_thread))
		found = find(named(stream));
	if (!found)
		note_thread(&is_elsewhere, &elsewhere, true);
	/* Work in streams of one thread alone, or in more of them than there is room for, waits on the host. */
	if (!found || is_stopped() || (found->ordered != last_ticket && !order(found)))
		settle();
	works++;
	pthread_mutex_unlock(&lock);
}

void waits_note_record(CUevent event)
{
	if (!is_at_work())
		return;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < EVENTS_MOST; i++)
		if (events[i].is_owed && events[i].event == event)
			make(&events[i]);
	pthread_mutex_unlock(&lock);
}

void waits_forget_stream(CUstream stream)
{
	if (!is_at_work())
		return;
	pthread_mutex_lock(&lock);
	note_thread(&is_elsewhere, &elsewhere, true);
	for (unsigned i = 0; i < STREAMS_MOST; i++)
		if (streams[i].stream == stream)
			streams[i].stream = NULL; /* its event is used again */
	pthread_mutex_unlock(&lock);
}

/* ---- leaving out ---- */

static bool is_passed_on(void)
{
	if (process_is_stubborn() || fruitless < FRUITLESS)
		return false;
	if (++passed_on < PASSED_ON)
		return true;
	passed_on = 0;
	fruitless = FRUITLESS - FRUITLESS_AGAIN;
	return false;
}

static enum try_reason why_not(void)
{
	look_at_context();
	if (is_stopped())
		return (enum try_reason)__atomic_load_n(&stopped, __ATOMIC_SEQ_CST);
	if (!only_context)
		return TRY_CONTEXT;
	if (deferred_count_captures())
		return TRY_CAPTURE;
	if (shown)
		return TRY_SHOWN;
	return is_passed_on() ? TRY_NOTHING_BETWEEN : TRY_REASON_COUNT;
}

static void leave_out(struct owed *owed)
{
	__atomic_store_n(&is_any_owed, true, __ATOMIC_RELEASE);
	owed->is_owed = true;
	owed->ticket = ++last_ticket;
	works_at_last = works;
}

static bool make_event(CUevent *event)
{
	if (*event)
		return true;
	if (driver_open()->event_create(event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS) {
		deferred_add_event(*event, CU_EVENT_DISABLE_TIMING);
		return true;
	}
	*event = NULL;
	return false;
}

/* Behind what was put off it is put off as well. */
static bool record(CUevent event, CUstream stream)
{
	if (deferred_put_event(event, stream, false))
		return true;
	deferred_flush();
	return driver_open()->event_record(event, stream) == CUDA_SUCCESS;
}

/* An event of ours, right behind what the program would have waited for. */
static bool owe_stream(struct stream *stream)
{
	if (!make_event(&stream->owed.event) || !record(stream->owed.event, stream->stream))
		return false;
	leave_out(&stream->owed);
	return true;
}

/* Whether the stream has done all; what was put off is not done.  That is asked first: the timer may give it to the driver
 * right after the driver was asked. */
static CUresult ask(CUstream stream)
{
	return deferred_has_work_of(stream) ? CUDA_ERROR_NOT_READY
					    : driver_open()->stream_query(stream);
}

/* What the driver says of the work decides: it is done, it is not, or the wait tells an error. */
static enum try_reason leave_out_stream(CUstream stream, bool is_of_thread, bool *is_over)
{
	enum try_reason reason = why_not();
	struct stream *found;
	CUresult state;

	if (reason != TRY_REASON_COUNT)
		return reason;
	found = is_own(stream, is_of_thread) ? NULL : find(named(stream));
	if (!found)
		return TRY_ELSEWHERE;
	state = ask(found->stream);
	*is_over = state == CUDA_SUCCESS;
	if (*is_over)
		return TRY_REASON_COUNT;
	if (state != CUDA_ERROR_NOT_READY)
		return TRY_ERROR;
	return owe_stream(found) ? TRY_REASON_COUNT : TRY_ERROR;
}

static enum try_reason leave_out_event(CUevent event, bool *is_over)
{
	enum try_reason reason = why_not();
	struct owed *owed = NULL;
	CUresult state;

	if (reason != TRY_REASON_COUNT)
		return reason;
	state = driver_open()->event_query(event);
	*is_over = state == CUDA_SUCCESS;
	if (*is_over)
		return TRY_REASON_COUNT;
	if (state != CUDA_ERROR_NOT_READY)
		return TRY_ERROR;
	for (unsigned i = 0; i < EVENTS_MOST && !owed; i++)
		if (!events[i].is_owed || events[i].event == event)
			owed = &events[i];
	if (!owed)
		return TRY_NO_MEMORY;
	owed->event = event;
	leave_out(owed);
	return TRY_REASON_COUNT;
}

static enum try_reason leave_out_context(bool *is_over)
{
	enum try_reason reason = why_not();

	if (reason != TRY_REASON_COUNT)
		return reason;
	if (elsewhere)
		return TRY_ELSEWHERE;
	*is_over = true;
	for (unsigned i = 0; i < STREAMS_MOST; i++) {
		CUresult state = streams[i].stream ? ask(streams[i].stream) : CUDA_SUCCESS;

		if (state == CUDA_SUCCESS)
			continue;
		*is_over = false;
		if (state != CUDA_ERROR_NOT_READY || !owe_stream(&streams[i]))
			return TRY_ERROR;
	}
	return TRY_REASON_COUNT;
}

static void begin_choice(void)
{
	look_at_onlookers();
	pthread_mutex_lock(&lock);
}

/* Under the lock, which is given up.  Whether the wait is left out; else what was left out before is made first. */
static bool end_choice(enum try_reason reason, bool is_over)
{
	counts_add(TRY_WAITS_SEEN, 1);
	if (reason != TRY_REASON_COUNT) {
		counts_add_passed(reason);
		settle();
	} else {
		counts_add(is_over ? TRY_WAITS_OVER : TRY_WAITS_LEFT_OUT, 1);
	}
	pthread_mutex_unlock(&lock);
	return reason == TRY_REASON_COUNT;
}

bool waits_leave_out_stream(CUstream stream, bool is_of_thread)
{
	bool is_over = false;
	enum try_reason reason;

	if (!is_wanted())
		return false;
	begin_choice();
	reason = leave_out_stream(stream, is_of_thread, &is_over);
	return end_choice(reason, is_over);
}

bool waits_leave_out_event(CUevent event)
{
	bool is_over = false;
	enum try_reason reason;

	if (!is_wanted())
		return false;
	begin_choice();
	reason = leave_out_event(event, &is_over);
	return end_choice(reason, is_over);
}

bool waits_leave_out_context(void)
{
	bool is_over = false;
	enum try_reason reason;

	if (!is_wanted())
		return false;
	begin_choice();
	reason = leave_out_context(&is_over);
	return end_choice(reason, is_over);
}

void waits_have_waited_for_context(void)
{
	if (!is_wanted())
		return;
	pthread_mutex_lock(&lock);
	note_thread(&is_shown, &shown, false);
	note_thread(&is_elsewhere, &elsewhere, false);
	pthread_mutex_unlock(&lock);
}

/* ---- the process ---- */

void waits_end(void)
{
	if (!is_wanted() || !clock_lock(&lock, END_MS))
		return;
	settle();
	pthread_mutex_unlock(&lock);
}

void waits_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(streams, 0, sizeof(streams));
	memset(events, 0, sizeof(events));
	shown = elsewhere = making = 0;
	is_any_owed = false;
	is_shown = is_elsewhere = false;
	if (only_context) /* the driver does not work in the child of a process that used it */
		stop(TRY_FORKED);
}
