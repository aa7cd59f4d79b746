#define _GNU_SOURCE
#include "counters/counter_gate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

#include "clock.h"
#include "guard.h"
#include "wait.h"

/* Calls that launch and are not counted take microseconds, unless a queue is full. */
#define OTHERS_TIMEOUT_NS INT64_C(1000000)

/* Launches that are under way, by thread: threads beyond so many share a number. */
#define STRIPES 64
static struct {
	_Alignas(64) unsigned int count;
} under_way[STRIPES];

static __thread unsigned int stripe; /* 0: none yet */

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* the next two; never held across a call */
static pthread_cond_t changed;
static enum counter_gate_phase phase; /* read without the lock, too */
static int64_t phase_since_ns;
static bool was_passed;

static const int64_t patience[] = {
#define GATE_PATIENCE(name, ns, what) INT64_C(ns),
	GATE_PHASES(GATE_PATIENCE)
#undef GATE_PATIENCE
};

/* Before any of them is used. */
__attribute__((constructor)) static void init_conditions(void)
{
	wait_init_condition(&changed);
}

/* ---- who counts ---- */

void counter_gate_set(enum counter_gate_phase next)
{
	sigset_t before;

	guard_lock(&lock, &before);
	if (phase == GATE_OPEN)
		__atomic_store_n(&was_passed, false, __ATOMIC_RELAXED);
	__atomic_store_n(&phase, next, __ATOMIC_SEQ_CST);
	phase_since_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_cond_broadcast(&changed);
	guard_unlock(&lock, &before);
}

static bool is_any_under_way(void)
{
	for (size_t i = 0; i < STRIPES; i++)
		if (__atomic_load_n(&under_way[i].count, __ATOMIC_SEQ_CST))
			return true;
	return false;
}

bool counter_gate_wait_for_others(void)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + OTHERS_TIMEOUT_NS;

	while (is_any_under_way()) {
		if (clock_ns(CLOCK_MONOTONIC) > until_ns)
			return false;
		sched_yield();
	}
	return true;
}

bool counter_gate_was_passed(void)
{
	return __atomic_load_n(&was_passed, __ATOMIC_RELAXED);
}

/* ---- the others ---- */

static unsigned int *own_count(void)
{
	static unsigned int last;

	if (!stripe)
		stripe = 1 + __atomic_fetch_add(&last, 1, __ATOMIC_RELAXED) % STRIPES;
	return &under_way[stripe - 1].count;
}

/* Under the lock: the phase may change meanwhile, and each has its time.  A thread that is canceled here would keep it. */
static void wait_until_open(int64_t patience_ns)
{
	int64_t came_ns = clock_ns(CLOCK_MONOTONIC);
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	while (phase != GATE_OPEN) {
		int64_t until_ns =
			patience_ns ? came_ns + patience_ns : phase_since_ns + patience[phase];
		struct timespec until = clock_timespec(until_ns);

		if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
			break;
		pthread_cond_timedwait(&changed, &lock, &until);
	}
	pthread_setcancelstate(cancel_state, NULL);
}

/* Its launch is under way again before the lock is given back: who closes the gate next sees it. */
static int64_t wait_at_gate(int64_t patience_ns)
{
	int64_t since_ns = clock_ns(CLOCK_REALTIME);
	sigset_t before;

	counter_gate_leave();
	guard_lock(&lock, &before);
	wait_until_open(patience_ns);
	if (phase != GATE_OPEN)
		__atomic_store_n(&was_passed, true, __ATOMIC_RELAXED);
	__atomic_add_fetch(own_count(), 1, __ATOMIC_SEQ_CST);
	guard_unlock(&lock, &before);
	return since_ns;
}

bool counter_gate_wait(void)
{
	sigset_t before;
	bool is_open;

	guard_lock(&lock, &before);
	wait_until_open(0);
	is_open = phase == GATE_OPEN;
	guard_unlock(&lock, &before);
	return is_open;
}

/* Both sides write before they read, so one of them sees the other. */
int64_t counter_gate_enter(int64_t patience_ns)
{
	__atomic_add_fetch(own_count(), 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&phase, __ATOMIC_SEQ_CST) == GATE_OPEN)
		return 0;
	return wait_at_gate(patience_ns);
}

void counter_gate_leave(void)
{
	__atomic_sub_fetch(own_count(), 1, __ATOMIC_SEQ_CST);
}

void counter_gate_force(void)
{
	__atomic_store_n(&was_passed, true, __ATOMIC_RELAXED);
	__atomic_add_fetch(own_count(), 1, __ATOMIC_SEQ_CST);
}
