#define _GNU_SOURCE
#include "attach.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define FORK_WAIT_NS (3 * INT64_C(1000000000)) /* CUDA starts in 0.2 to 2 s */
#define NVTX_WAIT_NS (INT64_C(1000000000) / 10)

/* ATTACH_NEVER, ATTACH_DONE, or the process in which a thread is attaching to CUPTI. */
enum { ATTACH_NEVER = 0, ATTACH_DONE = -1 };
static _Atomic pid_t attaching;
static __thread bool is_attaching;	  /* it is this thread */
static __thread const char *attach_frame; /* and there */
static bool is_forked;
static atomic_bool was_left;

static atomic_int nvtx_calls;	    /* first NVTX calls of modules that are here, of all threads */
static __thread int own_nvtx_calls; /* of this thread */

/* ---- forks ---- */

static bool is_starting(void)
{
	return atomic_load(&attaching) == getpid() || atomic_load(&nvtx_calls) > 0;
}

static void pause_shortly(void)
{
	const struct timespec pause = {.tv_nsec = 100000};

	nanosleep(&pause, NULL);
}

static atomic_bool
	has_waited_in_vain; /* a thread takes long, or has left: one fork has waited for it */

/* After the last look a pause more, for the thread to leave NVTX. */
static void on_fork(void)
{
	int64_t deadline_ns;

	if (is_attaching || own_nvtx_calls || !is_starting() || atomic_load(&has_waited_in_vain))
		return;
	deadline_ns = clock_ns(CLOCK_MONOTONIC) + FORK_WAIT_NS;
	while (is_starting() && clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		pause_shortly();
	atomic_store(&has_waited_in_vain, is_starting());
	pause_shortly();
}

static void on_fork_child(void)
{
	atomic_store(&nvtx_calls, own_nvtx_calls);
}

void attach_watch_forks(void)
{
	static atomic_bool is_watching;

	if (!atomic_exchange(&is_watching, true))
		pthread_atfork(on_fork, NULL, on_fork_child);
}

/* ---- attaching ---- */

/* A handler of a fault has left by siglongjmp while this thread was attaching: what it has come to again is not below that.
 * What CUPTI calls meanwhile is. */
static bool has_left(const char *frame)
{
	return is_attaching && frame >= attach_frame;
}

bool attach_once(void (*once)(void), void (*then)(void))
{
	const char *frame = __builtin_frame_address(0);
	pid_t before = ATTACH_NEVER;

	if (has_left(frame)) {
		is_attaching = false;
		atomic_store(&was_left, true);
		atomic_store(&attaching, ATTACH_DONE);
		then();
	}
	if (atomic_compare_exchange_strong(&attaching, &before, getpid())) {
		is_attaching = true;
		attach_frame = frame;
		once();
		is_attaching = false;
		atomic_store(&attaching, ATTACH_DONE);
		atomic_store(&has_waited_in_vain, false);
		then();
		return true;
	}
	if (before != ATTACH_DONE &&
	    before != getpid()) /* by a thread that this child does not have */
		is_forked = true;
	return before == ATTACH_DONE || is_forked;
}

bool attach_is_done(void)
{
	return atomic_load(&attaching) == ATTACH_DONE;
}

bool attach_is_own(void)
{
	return is_attaching;
}

bool attach_was_left(void)
{
	return atomic_load_explicit(&was_left, memory_order_relaxed);
}

bool attach_is_forked(void)
{
	return is_forked;
}

void attach_set_forked(void)
{
	is_forked = true;
}

void attach_enter_nvtx(void)
{
	atomic_fetch_add(&nvtx_calls, 1); /* first of all: from here on a fork waits */
	own_nvtx_calls++;
	attach_watch_forks();
}

void attach_leave_nvtx(void)
{
	atomic_fetch_sub(&nvtx_calls, 1);
	own_nvtx_calls--;
}

void attach_wait_for_nvtx(void)
{
	int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + NVTX_WAIT_NS;

	while (atomic_load(&nvtx_calls) > own_nvtx_calls && clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		pause_shortly();
}

/* ---- which process ---- */

static atomic_bool *is_this_process; /* on a page that the kernel clears in each child */

/* Linux 4.14; before, processes are distinguished by their numbers alone. */
void attach_note_process(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page =
		mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, page_bytes, MADV_WIPEONFORK)) {
		munmap(page, page_bytes);
		return;
	}
	is_this_process = page;
	atomic_store(is_this_process, true);
}

bool attach_is_process(void)
{
	return !is_this_process || atomic_load_explicit(is_this_process, memory_order_relaxed);
}
