#define _GNU_SOURCE
#include "flush_thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "buffers.h"
#include "clock.h"
#include "control.h"
#include "counters/counters.h"
#include "guard.h"
#include "inject.h"
#include "log.h"
#include "power.h"
#include "process_facts.h"
#include "program_rows.h"
#include "sampling/sampling.h"
#include "wait.h"
#include "window.h"

/* How long a call that unloads code waits for records of its kernels, and how often that may be too long: then none
 * waits any more. */
#define DELIVERY_TIMEOUT_NS 50000000
#define DELIVERY_TIMEOUTS 3

/* How long a program's exit waits for the last records before it goes on without them. */
#define EXIT_TIMEOUT_S 10

/* Work of the GPU that began within --duration may end later: CUPTI's kinds stay enabled for so long after it. */
#define LAST_OPERATIONS_NS 2000000000

static const struct cupti_api *cupti;
static const struct options *options;

static pthread_t flush_thread;
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flush_wake, flush_done;
static bool has_thread;	  /* there is one to wait for at exit */
static bool has_finished; /* a buffer waits to be decoded */
static bool is_stopping, is_done;
static uint32_t has_ended;		       /* is_done, for threads that exit: a futex */
static uint64_t delivery_asked, delivery_done; /* deliveries, counted */
static unsigned int late_deliveries;
static atomic_ulong heard_count; /* how often CUPTI has called the two functions below */

/* Before any of them is used. */
__attribute__((constructor)) static void init_conditions(void)
{
	wait_init_condition(&flush_wake);
	wait_init_condition(&flush_done);
}

void flush_init(const struct cupti_api *api, const struct options *asked)
{
	cupti = api;
	options = asked;
}

void CUPTIAPI flush_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct guard guard;

	atomic_fetch_add_explicit(&heard_count, 1, memory_order_relaxed);
	guard_enter(
		&guard); /* a handler that leaves by siglongjmp would keep the buffer, or a lock */
	*buffer = inject_is_recording() ? buffers_get() : NULL;
	guard_leave(&guard);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

/* Decodes what stands in line now.  Threads that launch faster than we decode make more meanwhile;
 * waiting for an empty line would keep back flushes, losses and the program's exit. */
static void decode_finished(void)
{
	uint8_t *buffer;
	size_t valid_bytes;

	counters_write_rows();
	program_rows_write();
	for (size_t count = buffers_finished();
	     count > 0 && (buffer = buffers_next_finished(&valid_bytes)); count--) {
		if (valid_bytes && !options->discard)
			activity_decode(cupti, buffer, valid_bytes);
		buffers_put(buffer, valid_bytes);
	}
}

/* Once our thread has gone, the thread that brings a buffer decodes it, and its rows are counted as lost. */
static void take_buffer(uint8_t *buffer, size_t valid_bytes)
{
	bool is_late;

	if (!buffers_finish(buffer, valid_bytes)) {
		/* The program's own, from before we registered: it must not even be read. */
		trace_loss_add(LOSS_foreign_buffers, 1);
		return;
	}
	pthread_mutex_lock(&flush_lock);
	has_finished = true;
	is_late = is_done;
	pthread_cond_signal(&flush_wake);
	pthread_mutex_unlock(&flush_lock);
	if (is_late)
		decode_finished();
}

void CUPTIAPI flush_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				     size_t size, size_t valid_bytes)
{
	struct guard guard;

	(void)context;
	(void)stream;
	(void)size;
	atomic_fetch_add_explicit(&heard_count, 1, memory_order_relaxed);
	if (!buffer || !inject_is_recording())
		return;
	guard_enter(&guard);
	take_buffer(buffer, valid_bytes);
	guard_leave(&guard);
}

void flush_thread_wake(void)
{
	sigset_t before;

	guard_lock(&flush_lock, &before);
	has_finished = true;
	pthread_cond_signal(&flush_wake);
	guard_unlock(&flush_lock, &before);
}

/* ---- our thread ---- */

void flush_write_clocks(struct trace_rows *rows)
{
	struct trace_clocks_row row = {.realtime_ns = clock_ns(CLOCK_REALTIME),
				       .monotonic_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW)};
	uint64_t now;

	if (cupti->cuptiGetTimestamp(&now) == CUPTI_SUCCESS)
		row.cupti_ns = (int64_t)now;
	trace_write_clocks(rows, &row);
}

static void count_losses(void)
{
	size_t dropped = 0;

	if (cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS)
		trace_loss_add(LOSS_dropped_records, dropped);
	trace_loss_add(LOSS_refused_buffers, buffers_refused());
}

static void flush_once(bool is_last)
{
	struct trace_rows *rows;
	bool is_forced = is_last && !counters_are_replaying();

	cupti->cuptiActivityFlushAll(is_forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
	decode_finished();
	count_losses();
	rows = trace_rows_get();
	flush_write_clocks(rows);
	trace_rows_put(rows);
	trace_losses_write(clock_ns(CLOCK_REALTIME));
}

/* CUPTI gives records to who registered last, and tells nobody.  When the last flush has brought nothing though
 * CUPTI has buffers of ours, it is asked for the records of the devices: they must come to us. */
static void count_taken_buffers(unsigned long heard_before)
{
	size_t count = buffers_out();

	if (!count || atomic_load(&heard_count) != heard_before || counters_are_replaying() ||
	    !cupti->cuptiActivityEnableAndDump)
		return;
	if (cupti->cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE) != CUPTI_SUCCESS ||
	    cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != CUPTI_SUCCESS ||
	    atomic_load(&heard_count) != heard_before)
		return;
	trace_loss_add(LOSS_taken_buffers, count);
	log_warn(
		"CUPTI gives its records to somebody else, who has asked after us: the program, or a "
		"library that it uses; the recording lacks them");
}

/* Everything that CUPTI still has. */
static void flush_last(void)
{
	unsigned long heard_before = atomic_load(&heard_count);

	flush_once(true);
	count_taken_buffers(heard_before);
	decode_finished();
	counters_write_last_rows();
	program_rows_write_last();
}

/* Waits for a finished buffer, the time of the next flush, or the program's exit.  Returns true when
 * the program exits. */
static bool wait_for_work(int64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);
	bool stopping;

	pthread_mutex_lock(&flush_lock);
	while (!is_stopping && !has_finished &&
	       pthread_cond_timedwait(&flush_wake, &flush_lock, &until) != ETIMEDOUT)
		;
	has_finished = false;
	stopping = is_stopping;
	pthread_mutex_unlock(&flush_lock);
	return stopping;
}

/* Once the recording has reached its limit nothing more is written, nor after --duration: the program goes on without us. */
static void disable_when_ended(void)
{
	static bool is_disabled;

	if (is_disabled || !(trace_writer_has_ended() || window_is_over_since(LAST_OPERATIONS_NS)))
		return;
	activity_disable(cupti, options);
	is_disabled = true;
}

/* What calls that unload code wait for. */
static void deliver(void)
{
	uint64_t asked;

	pthread_mutex_lock(&flush_lock);
	asked = delivery_asked;
	pthread_mutex_unlock(&flush_lock);
	if (asked == delivery_done)
		return;
	if (!counters_are_replaying())
		cupti->cuptiActivityFlushAll(0);
	decode_finished();
	pthread_mutex_lock(&flush_lock);
	delivery_done = asked;
	pthread_cond_broadcast(&flush_done);
	pthread_mutex_unlock(&flush_lock);
}

static void flush_for_request(void)
{
	flush_once(false);
}

/* Decodes what arrives during one flush period.  Returns true when the program exits. */
static bool decode_for_a_period(void)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + options->flush_period_ms * INT64_C(1000000);
	bool is_stopped = false;

	while (!is_stopped && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		is_stopped = wait_for_work(control_wait_until(until_ns));
		decode_finished();
		deliver();
		control_serve(flush_for_request);
		disable_when_ended();
	}
	return is_stopped;
}

/* CUDA is not ready while it loads the collector, but a flush period later it is. */
static void write_cuda_facts(void)
{
	struct trace_rows *rows = trace_rows_get();

	process_facts_write_cuda(rows);
	trace_rows_put(rows);
}

static void end_waits(void)
{
	__atomic_store_n(&has_ended, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &has_ended, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *flush_main(void *unused)
{
	bool is_stopped;

	guard_own_thread();
	is_stopped = decode_for_a_period();
	write_cuda_facts();
	while (!is_stopped) {
		flush_once(false);
		is_stopped = decode_for_a_period();
	}
	counters_stop();
	sampling_stop();
	power_stop();
	flush_last();
	trace_writer_seal(clock_ns(CLOCK_REALTIME));
	control_end();
	pthread_mutex_lock(&flush_lock);
	is_done = true;
	pthread_cond_broadcast(&flush_done);
	pthread_mutex_unlock(&flush_lock);
	end_waits();
	decode_finished(); /* what came during the seal is late */
	return unused;
}

/* Application threads handle their signals themselves: ours takes none. */
int flush_thread_start(void)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&flush_lock);
	rc = pthread_create(&flush_thread, NULL, flush_main, NULL);
	has_thread = rc == 0;
	pthread_mutex_unlock(&flush_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* Waits with the lock held.  Returns false when it took too long. */
static bool wait_for_delivery(uint64_t wanted)
{
	struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + DELIVERY_TIMEOUT_NS);
	int rc = 0;

	while (!is_stopping && !is_done && delivery_done < wanted && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&flush_done, &flush_lock, &until);
	return rc != ETIMEDOUT;
}

void flush_thread_deliver(void)
{
	struct guard guard;

	guard_enter(&guard);
	pthread_mutex_lock(&flush_lock);
	if (has_thread && !is_stopping && !is_done && late_deliveries < DELIVERY_TIMEOUTS) {
		has_finished = true;
		pthread_cond_signal(&flush_wake);
		late_deliveries += !wait_for_delivery(++delivery_asked);
	}
	pthread_mutex_unlock(&flush_lock);
	guard_leave(&guard);
}

/* ---- leaving ---- */

/* Returns whether there is a thread to wait for. */
static bool ask_to_stop(const struct timespec *until)
{
	struct guard guard;
	bool has_asked;

	guard_enter(&guard);
	has_asked = wait_lock(&flush_lock, until) == 0;
	if (has_asked) {
		is_stopping = true;
		pthread_cond_signal(&flush_wake);
		has_asked = has_thread && !is_done;
		pthread_mutex_unlock(&flush_lock);
	}
	guard_leave(&guard);
	return has_asked;
}

/* Holds no lock while it waits: a signal handler may exit during an exit.  The futex's time is one of CLOCK_MONOTONIC. */
static bool wait_for_end(const struct timespec *until)
{
	while (!__atomic_load_n(&has_ended, __ATOMIC_ACQUIRE))
		if (syscall(SYS_futex, &has_ended, FUTEX_WAIT_BITSET_PRIVATE, 0, until, NULL,
			    FUTEX_BITSET_MATCH_ANY) &&
		    errno == ETIMEDOUT)
			return false;
	return true;
}

void flush_thread_stop(void)
{
	struct timespec until;

	counters_on_exit();
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += EXIT_TIMEOUT_S;
	if (!ask_to_stop(&until) || wait_for_end(&until))
		return;
	if (!__atomic_exchange_n(&has_thread, false,
				 __ATOMIC_RELAXED)) /* called again, it must not wait */
		return;
	log_warn("CUPTI did not deliver its last records within %d s; they are lost",
		 EXIT_TIMEOUT_S);
}
