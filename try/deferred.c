#define _GNU_SOURCE
#include "deferred.h"

#include <pthread.h>
#include <string.h>

#include "clock.h"
#include "counts.h"
#include "driver.h"
#include "events.h"
#include "graphs.h"
#include "process.h"
#include "queue.h"
#include "streams.h"
#include "stubs.h"
#include "timer.h"
#include "worth.h"

enum { END_MS = 2000, FORK_MS = 100, TURNS_LEAST = 2 * QUEUE_NODES };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* This thread holds the lock: what the driver calls back for goes straight on. */
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

/* The thread forks, and holds the lock meanwhile. */
static __thread bool is_forking __attribute__((tls_model("initial-exec")));

/* How much was deferred so far, when this thread did so last: its own are those up to this one. */
static unsigned long appended;
static __thread unsigned long own_appended __attribute__((tls_model("initial-exec")));

static struct item items[QUEUE_ITEMS];
static unsigned count;	    /* what try_pending tells others */
static unsigned nodes;	    /* of them, those that are no events */
static bool is_putting_off; /* the last launch was put off */
static unsigned turns;	    /* so many in a row went each to another stream than the one before */
static _Alignas(64) unsigned char bytes[QUEUE_BYTES];
static size_t bytes_used;
static CUcontext context; /* of all items */
static unsigned long changes, changes_seen;
static CUresult late_error;
static int captures;
static bool must_forget;	       /* as soon as no stream is captured */
static int stopped = TRY_REASON_COUNT; /* why nothing is put off any more */

/* Threads in calls that are passed on.  Such a call counts before it is seen whether anything is put off, and what is put off
 * is seen before these are counted. */
static unsigned passing;
static __thread bool is_passing __attribute__((tls_model("initial-exec")));

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

static void note_stop(enum try_reason reason)
{
	int none = TRY_REASON_COUNT;

	__atomic_compare_exchange_n(&stopped, &none, (int)reason, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* What the stubs look at. */
static void tell_pending(void)
{
	__atomic_store_n(&try_pending, (int)count + worth_is_comparing(), __ATOMIC_RELEASE);
}

static void note_error(CUresult result)
{
	if (result == CUDA_SUCCESS || late_error != CUDA_SUCCESS)
		return;
	late_error = result;
	counts_add(TRY_LATE_ERRORS, 1);
}

/* Once so many have gone to streams by turns it is worth to put what each of these is given together. */
static bool is_grouped(unsigned until)
{
	return turns >= TURNS_LEAST && forks_are_unordered(items, until);
}

/* While it is looked at, and from then on, they are no single launches: each stream has several. */
static void note_turns(unsigned until, unsigned parts, bool was_idle)
{
	if (turns >= TURNS_LEAST || until < 2)
		return;
	turns = was_idle && parts == until ? turns + until : 0;
	if (turns)
		worth_of_run(turns);
}

/* Whether the stream has done all that it was given: then the GPU waits for launches.  It is asked only while it can matter. */
static bool is_idle(unsigned until)
{
	return turns < TURNS_LEAST && until >= 2 && !captures && !process_has_one_connection() &&
	       forks_are_unordered(items, until) &&
	       driver_open()->stream_query(items[0].stream) == CUDA_SUCCESS;
}

void deferred_begin_passing(void)
{
	if (is_passing || !process_wants(TRY_GRAPH))
		return;
	is_passing = true;
	__atomic_fetch_add(&passing, 1, __ATOMIC_SEQ_CST);
}

void deferred_end_passing(void)
{
	if (!is_passing)
		return;
	is_passing = false;
	__atomic_fetch_sub(&passing, 1, __ATOMIC_SEQ_CST);
}

/* Who begins to later finds the lock taken. */
static bool is_any_other_passing(void)
{
	return __atomic_load_n(&passing, __ATOMIC_SEQ_CST) > (unsigned)is_passing;
}

static void run_by_parts(unsigned until)
{
	static struct forks forks;
	bool was_idle = is_idle(until);
	unsigned parts = 0;

	if (is_grouped(until))
		forks_group(items, until);
	for (unsigned from = 0; from < until; from += forks.items, parts++) {
		forks_find(&forks, items + from, until - from);
		if (forks.nodes)
			worth_of_run(forks.nodes);
		note_error(forks.stream_count > 1 && is_any_other_passing()
				   ? graphs_run_each(items + from, forks.items)
				   : graphs_run(items + from, &forks, context));
	}
	note_turns(until, parts, was_idle);
}

static void count_nodes(void)
{
	nodes = 0;
	for (unsigned i = 0; i < count; i++)
		nodes += forks_is_node(&items[i]);
}

static void keep_rest(unsigned until)
{
	const unsigned char *first = until < count ? items[until].parameters : bytes + bytes_used;
	size_t gone = (size_t)(first - bytes);

	memmove(bytes, first, bytes_used - gone);
	memmove(items, items + until, (count - until) * sizeof(items[0]));
	count -= until;
	bytes_used -= gone;
	for (unsigned i = 0; i < count; i++)
		items[i].parameters -= gone;
	count_nodes();
}

/* Gives the first ones to the driver, in the context in which they were launched. */
static void flush_until(unsigned until)
{
	const struct driver *driver = driver_open();
	CUcontext current = NULL;
	CUresult result = CUDA_SUCCESS;

	if (!count)
		return;
	changes++;
	driver->get_current(&current);
	if (current != context)
		result = driver->push_current(context);
	if (result == CUDA_SUCCESS)
		run_by_parts(until);
	if (current != context && result == CUDA_SUCCESS)
		driver->pop_current(&current);
	note_error(result);
	keep_rest(until);
	tell_pending();
}

static bool is_same_launch(const struct item *a, const struct item *b)
{
	return a->kernel == b->kernel && a->stream == b->stream;
}

/* With the same parameters, too: no node of the graph has to be set. */
static bool is_equal_launch(const struct item *a, const struct item *b)
{
	return is_same_launch(a, b) && !memcmp(&a->shape, &b->shape, sizeof(a->shape)) &&
	       !memcmp(a->parameters, b->parameters, a->kernel->parameter_bytes);
}

/* Where the queue begins again, as late as possible; 0: nowhere. */
static unsigned find_begin(bool (*is_same)(const struct item *, const struct item *))
{
	for (unsigned i = count - 2; i > count / 2; i--)
		if (is_same(&items[i], &items[0]) && is_same(&items[i + 1], &items[1]))
			return i;
	return 0;
}

/* What repeats is then cut at the same place each time. */
static unsigned find_repetition(void)
{
	unsigned begin = find_begin(is_equal_launch);

	begin = begin ? begin : find_begin(is_same_launch);
	return begin ? begin : count;
}

static bool is_possible(const struct shape *shape)
{
	return shape->grid[0] && shape->grid[1] && shape->grid[2] && shape->grid[0] <= 0x7fffffff &&
	       shape->grid[1] <= 0xffff && shape->grid[2] <= 0xffff;
}

static enum try_reason why_not_now(const struct launch *launch, struct kernel **kernel,
				   CUcontext *current)
{
	enum worth worth;

	if (captures)
		return TRY_CAPTURE;
	worth = worth_of_launch();
	if (worth != WORTH_IT)
		return worth == WORTH_COMPARING ? TRY_COMPARING : TRY_NOT_LAUNCH_BOUND;
	if (driver_open()->get_current(current) != CUDA_SUCCESS || !*current)
		return TRY_CONTEXT;
	if (!streams_is_plain(launch->stream, *current))
		return TRY_STREAM;
	*kernel = launch->kernel;
	if (*kernel)
		return TRY_REASON_COUNT;
	*kernel = kernels_find(launch->function, *current);
	if (!*kernel)
		return TRY_NO_MEMORY;
	if ((*kernel)->refused != TRY_REASON_COUNT)
		return (*kernel)->refused;
	if ((*kernel)->parameter_count && !launch->parameters)
		return TRY_PACKED;
	if ((*kernel)->parameter_bytes > QUEUE_BYTES / 4)
		return TRY_LARGE_PARAMETERS;
	if (!is_possible(&launch->shape))
		return TRY_LIMITS;
	return kernel_accepts(*kernel, &launch->shape) ? TRY_REASON_COUNT : TRY_FIRST_TIME;
}

static CUstream stream_of(const struct launch *launch)
{
	return launch->stream == CU_STREAM_LEGACY ? NULL : launch->stream;
}

/* Whether the launch is the queue's first one again, with the same parameters. */
static bool begins_again(const struct launch *launch, const struct kernel *kernel)
{
	const struct item *first = &items[0];
	bool is_equal = kernel == first->kernel && stream_of(launch) == first->stream &&
			!memcmp(&launch->shape, &first->shape, sizeof(first->shape));

	for (unsigned i = 0; is_equal && launch->parameters && i < kernel->parameter_count; i++)
		is_equal = !memcmp(first->parameters + kernel->parameters[i].offset,
				   launch->parameters[i], kernel->parameters[i].bytes);
	return is_equal;
}

static void make_room(const struct launch *launch, const struct kernel *kernel, size_t more,
		      CUcontext current)
{
	if (count == QUEUE_ITEMS || (nodes == QUEUE_NODES && !kernel->event))
		flush_until(begins_again(launch, kernel) ? count : find_repetition());
	if (count && (context != current || bytes_used + more > QUEUE_BYTES))
		flush_until(count);
}

static void append(const struct launch *launch, struct kernel *kernel, CUcontext current)
{
	size_t size = (kernel->parameter_bytes + 63) & ~(size_t)63;
	struct item *item;

	make_room(launch, kernel, size, current);
	context = current;
	item = &items[count++];
	own_appended = ++appended;
	nodes += !kernel->event;
	*item = (struct item){kernel, stream_of(launch), launch->shape, bytes + bytes_used};
	memset(bytes + bytes_used, 0, size); /* what lies between parameters is compared as well */
	for (unsigned i = 0; launch->parameters && i < kernel->parameter_count; i++)
		memcpy(bytes + bytes_used + kernel->parameters[i].offset, launch->parameters[i],
		       kernel->parameters[i].bytes);
	bytes_used += size;
	changes++;
	counts_add(kernel->event      ? TRY_EVENTS_DEFERRED
		   : kernel->function ? TRY_LAUNCHES_DEFERRED
				      : TRY_MEMORY_DEFERRED,
		   1);
	tell_pending();
}

static void forget(void)
{
	graphs_forget();
	kernels_forget();
	streams_forget();
	must_forget = false;
}

static void count_seen(const struct launch *launch)
{
	counts_add(launch->kernel ? TRY_MEMORY_SEEN : TRY_LAUNCHES_SEEN, 1);
}

static enum try_reason put(const struct launch *launch, enum try_reason known)
{
	struct kernel *kernel = NULL;
	CUcontext current = NULL;
	enum try_reason reason = known;

	if (must_forget && !captures)
		forget();
	if (reason == TRY_REASON_COUNT)
		reason = why_not_now(launch, &kernel, &current);
	count_seen(launch);
	if (reason == TRY_REASON_COUNT && !timer_is_there())
		note_stop(reason = TRY_NO_MEMORY);
	__atomic_store_n(&is_putting_off, reason == TRY_REASON_COUNT, __ATOMIC_RELAXED);
	if (reason == TRY_REASON_COUNT) {
		append(launch, kernel, current);
		timer_wake();
	} else {
		flush_until(count);
		counts_add_passed(reason);
	}
	return reason;
}

bool deferred_is_on(void)
{
	return process_wants(TRY_GRAPH) && driver_open()->is_complete &&
	       __atomic_load_n(&stopped, __ATOMIC_RELAXED) == TRY_REASON_COUNT;
}

bool deferred_is_putting_off(void)
{
	return deferred_is_on() && __atomic_load_n(&is_putting_off, __ATOMIC_RELAXED);
}

bool deferred_put(const struct launch *launch, enum try_reason known, enum try_reason *reason,
		  CUresult *late)
{
	*reason = __atomic_load_n(&stopped, __ATOMIC_RELAXED);
	if (is_inside || !process_wants(TRY_GRAPH))
		return false;
	if (*reason == TRY_REASON_COUNT && !driver_open()->is_complete)
		deferred_stop(*reason = TRY_UNKNOWN_PARAMETERS);
	if (*reason != TRY_REASON_COUNT) {
		deferred_flush(); /* it was stopped where that could not be done */
		count_seen(launch);
		counts_add_passed(*reason);
		return false;
	}
	enter();
	*late = late_error;
	late_error = CUDA_SUCCESS;
	*reason = *late == CUDA_SUCCESS ? put(launch, known) : TRY_REASON_COUNT;
	if (*reason != TRY_REASON_COUNT)
		deferred_begin_passing();
	leave();
	if (*late != CUDA_SUCCESS) {
		count_seen(launch);
		deferred_stop(TRY_ASIDE);
	}
	return *reason == TRY_REASON_COUNT;
}

static bool put_event(CUevent event, CUstream stream, bool is_wait)
{
	const struct launch launch = {.stream = stream};
	struct kernel *kernel;
	CUcontext current = NULL;

	if (stopped != TRY_REASON_COUNT || captures || must_forget || late_error != CUDA_SUCCESS ||
	    !is_putting_off || (is_wait && !count) ||
	    driver_open()->get_current(&current) != CUDA_SUCCESS || !current ||
	    !streams_is_plain(stream, current))
		return false;
	if (!timer_is_there()) {
		note_stop(TRY_NO_MEMORY);
		return false;
	}
	kernel = is_wait ? events_wait(event, current) : events_record(event, current);
	if (!kernel)
		return false;
	append(&launch, kernel, current);
	timer_wake();
	return true;
}

bool deferred_put_event(CUevent event, CUstream stream, bool is_wait)
{
	bool is_put;

	if (is_inside || !deferred_is_on() || process_has_events_at_once())
		return false;
	enter();
	is_put = put_event(event, stream, is_wait);
	leave();
	return is_put;
}

void deferred_add_event(CUevent event, unsigned flags)
{
	CUcontext current = NULL;

	if (is_inside || !deferred_is_on() || driver_open()->get_current(&current) != CUDA_SUCCESS)
		return;
	enter();
	events_add(event, flags, current);
	leave();
}

static bool is_queued(CUevent event)
{
	for (unsigned i = 0; i < count; i++)
		if (items[i].kernel->event == event)
			return true;
	return false;
}

bool deferred_lose_event(CUevent event)
{
	bool may_go;

	if (!process_wants(TRY_GRAPH))
		return true;
	if (is_inside) { /* the queue cannot be changed now, and the event must not be known any more */
		note_stop(TRY_CONTEXT);
		return true;
	}
	enter();
	if (event && is_queued(event))
		flush_until(count);
	may_go = !event || !graphs_lose(event, !captures);
	events_remove(event);
	leave();
	return may_go;
}

/* What is put off for the legacy default stream others wait for, and that waits for others. */
bool deferred_has_work_of(CUstream stream)
{
	bool has_any = false;

	if (is_inside || !__atomic_load_n(&try_pending, __ATOMIC_ACQUIRE))
		return false;
	enter();
	for (unsigned i = 0; i < count && !has_any; i++)
		has_any = items[i].stream == stream || !items[i].stream || !stream ||
			  stream == CU_STREAM_LEGACY;
	leave();
	return has_any;
}

static void accept(const struct launch *launch)
{
	CUcontext current;
	struct kernel *kernel;

	if (driver_open()->get_current(&current) != CUDA_SUCCESS)
		return;
	kernel = kernels_find(launch->function, current);
	if (kernel)
		kernel_accept(kernel, &launch->shape);
}

void deferred_note_passed(const struct launch *launch, enum try_reason reason, bool is_accepted,
			  uint64_t took_ns)
{
	if (is_inside)
		return;
	enter();
	worth_note_launch(took_ns, !launch->kernel);
	if (reason == TRY_FIRST_TIME && is_accepted)
		accept(launch);
	leave();
}

static void step_aside(void)
{
	counts_add(TRY_STEPPED_ASIDE, 1);
	deferred_stop(TRY_ASIDE);
}

void deferred_flush(void)
{
	if (is_inside || !__atomic_load_n(&try_pending, __ATOMIC_ACQUIRE))
		return;
	enter();
	flush_until(count);
	leave();
}

void deferred_forget(void)
{
	if (is_inside)
		return;
	enter();
	flush_until(count);
	must_forget = true; /* not now: destroying graphs may disturb a thread that captures */
	leave();
}

void deferred_before(unsigned stub, enum function_kind kind)
{
	bool is_too_slow;

	if (is_inside && kind == FREES)
		graphs_note_free();
	if (is_inside || kind == ASKS)
		return;
	enter();
	if (count) {
		flush_until(count);
		counts_add_flush(stub);
	}
	if (kind == FREES) /* what was just made is of that memory, too */
		graphs_note_free();
	if (kind == FORGETS) {
		if (captures)
			must_forget = true;
		else
			forget();
		events_forget();
	}
	if (kind == RENAMES)
		streams_forget();
	is_too_slow = stopped == TRY_REASON_COUNT && worth_at_boundary(stub);
	tell_pending();
	leave();
	if (kind == STOPS)
		deferred_stop(TRY_STOPPED);
	if (is_too_slow)
		step_aside();
}

void deferred_begin_capture(void)
{
	if (is_inside)
		return;
	enter();
	flush_until(count);
	__atomic_fetch_add(&captures, 1, __ATOMIC_SEQ_CST);
	leave();
}

void deferred_end_capture(void)
{
	if (is_inside)
		return;
	enter();
	if (captures)
		__atomic_fetch_sub(&captures, 1, __ATOMIC_SEQ_CST);
	leave();
}

int deferred_count_captures(void)
{
	return __atomic_load_n(&captures, __ATOMIC_SEQ_CST);
}

static void stop_inside(enum try_reason reason)
{
	flush_until(count);
	note_stop(reason);
	__atomic_store_n(&try_pending, 0, __ATOMIC_RELEASE);
}

bool deferred_is_inside(void)
{
	return is_inside;
}

void deferred_stop(enum try_reason reason)
{
	if (is_inside) {
		note_stop(reason);
		return;
	}
	enter();
	stop_inside(reason);
	leave();
}

bool deferred_flush_if_quiet(void)
{
	bool had_any;

	if (pthread_mutex_trylock(&lock) != 0)
		return true;
	is_inside = true;
	had_any = count;
	if (count && changes == changes_seen) {
		flush_until(count);
		counts_add(TRY_TIMER_FLUSHES, 1);
	}
	changes_seen = changes;
	leave();
	return had_any;
}

/* False: it may be the thread's own, or another one may hold it for as long as the driver makes that wait. */
static bool enter_for(unsigned milliseconds)
{
	if (is_inside || !clock_lock(&lock, milliseconds))
		return false;
	is_inside = true;
	return true;
}

void deferred_flush_before_exec(void)
{
	if (!enter_for(END_MS))
		return;
	flush_until(count);
	leave();
}

void deferred_end(void)
{
	if (!enter_for(END_MS))
		return;
	stop_inside(TRY_ASIDE);
	leave();
}

/* The thread gives the driver its own deferred work before its fork.  Where the lock is not to be had soon, another thread is in the
 * driver with it, which may wait there for what this thread does after its fork: then the fork comes first.
 * The driver itself may make a process while this library has called it: that is left alone. */
void deferred_before_fork(void)
{
	unsigned long flushed;

	is_forking = enter_for(FORK_MS);
	flushed = appended - count;
	if (is_forking && own_appended > flushed)
		flush_until((unsigned)(own_appended - flushed));
}

void deferred_after_fork(void)
{
	if (!is_forking)
		return;
	is_forking = false;
	leave();
}

/* The driver does not work in the child of a process that used it.  Nor is anything here to be relied on that another thread
 * may have been about to change. */
void deferred_forked(void)
{
	bool was_used = changes || (!is_forking && !is_inside);

	count = nodes = 0;
	bytes_used = 0;
	appended = own_appended = 0;
	try_pending = 0;
	passing = 0;
	is_passing = false;
	if (was_used)
		stopped = TRY_FORKED;
	counts_reset();
	worth_reset();
	timer_forked();
	if (is_inside && !is_forking)
		return;
	is_inside = is_forking = false;
	pthread_mutex_init(&lock, NULL);
}
