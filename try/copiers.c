/* copiers.c - threads that copy memory of the host beside the thread that called the driver. */
#define _GNU_SOURCE
#include "copiers.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

enum {
	/* With the one that calls eight, which together copy more than a link takes. */
	THREADS_MOST = 7,
	JOBS_MOST = 16,	   /* copies at the same time */
	AWAKE_NS = 200000, /* without anything to do, before a thread sleeps */
	LOOKS = 64	   /* between two looks at the clock */
};

/* What is copied now.  A thread that looks at it says so first, so that who removes it can wait for that. */
static struct job {
	struct portions *portions;
	unsigned users;
} jobs[JOBS_MOST];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned thread_count;

/* Threads sleep while this is the number that they have seen.  No lock: who is woken would wait for it behind the others, and who
 * calls behind all of them. */
static unsigned wake_number;
static bool may_sleep; /* since the last time that all were woken a thread may have gone to sleep */

static bool has_more(const struct portions *portions)
{
	return __atomic_load_n(&portions->next, __ATOMIC_SEQ_CST) <
		       __atomic_load_n(&portions->allowed, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&portions->has_failed, __ATOMIC_SEQ_CST);
}

static bool take(struct portions *portions, size_t *portion)
{
	size_t next = __atomic_load_n(&portions->next, __ATOMIC_SEQ_CST);

	while (next < __atomic_load_n(&portions->allowed, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&portions->has_failed, __ATOMIC_SEQ_CST))
		if (__atomic_compare_exchange_n(&portions->next, &next, next + 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
			*portion = next;
			return true;
		}
	return false;
}

bool copiers_help(struct portions *portions)
{
	size_t portion;

	if (!take(portions, &portion))
		return false;
	if (!portions->copy(portions->context, portion))
		__atomic_store_n(&portions->has_failed, true, __ATOMIC_SEQ_CST);
	return true;
}

/* ---- the threads ---- */

/* Of a job that ends: nobody takes of it any more, and nobody begins another one in its place yet. */
static struct portions ends;

/* NULL: there is none.  Given back with leave_job(). */
static struct portions *enter_job(struct job *job)
{
	struct portions *portions;

	__atomic_fetch_add(&job->users, 1, __ATOMIC_SEQ_CST);
	portions = __atomic_load_n(&job->portions, __ATOMIC_SEQ_CST);
	return portions == &ends ? NULL : portions;
}

static void leave_job(struct job *job)
{
	__atomic_fetch_sub(&job->users, 1, __ATOMIC_SEQ_CST);
}

static bool work_on(struct job *job)
{
	struct portions *portions = enter_job(job);
	bool has_worked = false;

	while (portions && copiers_help(portions))
		has_worked = true;
	leave_job(job);
	return has_worked;
}

static bool is_job(const struct job *job)
{
	const struct portions *portions = __atomic_load_n(&job->portions, __ATOMIC_SEQ_CST);

	return portions && portions != &ends;
}

static bool work(void)
{
	bool has_worked = false;

	for (unsigned i = 0; i < JOBS_MOST; i++)
		if (is_job(&jobs[i]))
			has_worked |= work_on(&jobs[i]);
	return has_worked;
}

static bool is_work_there(void)
{
	bool is_there = false;

	for (unsigned i = 0; i < JOBS_MOST && !is_there; i++) {
		struct portions *portions = enter_job(&jobs[i]);

		is_there = portions && has_more(portions);
		leave_job(&jobs[i]);
	}
	return is_there;
}

/* Who allows portions looks whether any thread may sleep after that: either this is seen, or the portions are.  The number is read
 * before, so that a thread that was to be woken meanwhile does not sleep. */
static void sleep_until_work_comes(void)
{
	unsigned seen = __atomic_load_n(&wake_number, __ATOMIC_SEQ_CST);

	__atomic_store_n(&may_sleep, true, __ATOMIC_SEQ_CST);
	if (!is_work_there())
		(void)syscall(SYS_futex, &wake_number, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void *run(void *unused)
{
	uint64_t last_ns = clock_ns();

	(void)unused;
	for (unsigned looks = 1;; looks++) {
		if (work()) {
			last_ns = clock_ns();
		} else if (looks % LOOKS == 0) {
			sched_yield();
			if (clock_ns() - last_ns > AWAKE_NS) {
				sleep_until_work_comes();
				last_ns = clock_ns();
			}
		}
	}
	return NULL;
}

/* Half of the processors that the program may use. */
static unsigned count_wanted(void)
{
	cpu_set_t processors;
	unsigned count = 1;

	if (sched_getaffinity(0, sizeof(processors), &processors) == 0)
		count = (unsigned)CPU_COUNT(&processors) / 2;
	return count < THREADS_MOST ? count : THREADS_MOST;
}

/* Signals are for the program's own threads. */
static void start(void)
{
	unsigned wanted = count_wanted();
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (thread_count < wanted && pthread_create(&thread, NULL, run, NULL) == 0) {
		pthread_detach(thread);
		thread_count++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- who calls ---- */

bool copiers_begin(struct portions *portions)
{
	pthread_once(&once, start);
	for (unsigned i = 0; thread_count && i < JOBS_MOST; i++) {
		struct portions *none = NULL;

		if (__atomic_compare_exchange_n(&jobs[i].portions, &none, portions, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return true;
	}
	return false;
}

void copiers_allow(struct portions *portions, size_t count)
{
	__atomic_store_n(&portions->allowed, count, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&may_sleep, __ATOMIC_SEQ_CST) ||
	    !__atomic_exchange_n(&may_sleep, false, __ATOMIC_SEQ_CST))
		return;
	__atomic_add_fetch(&wake_number, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &wake_number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void copiers_end(struct portions *portions)
{
	for (unsigned i = 0; i < JOBS_MOST; i++) {
		if (__atomic_load_n(&jobs[i].portions, __ATOMIC_SEQ_CST) != portions)
			continue;
		__atomic_store_n(&jobs[i].portions, &ends, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&jobs[i].users, __ATOMIC_SEQ_CST))
			sched_yield();
		__atomic_store_n(&jobs[i].portions, NULL, __ATOMIC_SEQ_CST);
	}
}
