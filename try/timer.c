#define _GNU_SOURCE
#include "timer.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>

#include "counts.h"
#include "deferred.h"

/* After one to two of them without a change; so many without anything to do, and it sleeps until it is woken. */
enum { TICK_NS = 25000, IDLE_TICKS = 400, WRITE_S = 1 };

static bool is_running, has_failed;
static bool is_asleep;
static sem_t wake;

static long seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void sleep_until_woken(void)
{
	__atomic_store_n(&is_asleep, true, __ATOMIC_SEQ_CST);
	if (deferred_flush_if_quiet()) { /* put off before it could be seen that this sleeps */
		__atomic_store_n(&is_asleep, false, __ATOMIC_SEQ_CST);
		return;
	}
	while (sem_wait(&wake) != 0 && errno == EINTR)
		;
}

static void *run(void *unused)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};
	long written_s = seconds_now();
	unsigned idle = 0;

	(void)unused;
	prctl(PR_SET_TIMERSLACK, 1000);
	for (;;) {
		nanosleep(&tick, NULL);
		idle = deferred_flush_if_quiet() ? 0 : idle + 1;
		if (seconds_now() > written_s + WRITE_S) {
			counts_write();
			written_s = seconds_now();
		}
		if (idle > IDLE_TICKS)
			sleep_until_woken();
	}
	return NULL;
}

/* Signals are for the program's own threads. */
static void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sem_init(&wake, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_running = pthread_create(&thread, NULL, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (is_running)
		pthread_detach(thread);
	has_failed = !is_running;
}

bool timer_is_there(void)
{
	if (!is_running && !has_failed)
		start();
	return is_running;
}

void timer_wake(void)
{
	if (__atomic_load_n(&is_asleep, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&is_asleep, false, __ATOMIC_SEQ_CST);
		sem_post(&wake);
	}
}

void timer_forked(void)
{
	is_running = has_failed = is_asleep = false;
}
