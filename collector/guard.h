/*
 * guard.h - what we do on an application's thread cannot end it.
 *
 * A write to a pipe that nobody reads raises SIGPIPE, one beyond `ulimit -f` raises SIGXFSZ, and most
 * system calls end a thread whose cancellation is pending.  Between guard_enter and guard_leave none
 * of these happens to the calling thread, and threads that CUPTI starts meanwhile take no signals.
 * Guards nest.  Knows nothing of CUPTI.
 */
#ifndef ROOFLINE_GUARD_H
#define ROOFLINE_GUARD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct guard {
	sigset_t mask;		       /* before */
	bool had_sigpipe, had_sigxfsz; /* pending before: the application's own */
	int cancel_state;
};

void guard_enter(struct guard *guard);

/* For what may take seconds, or hang in somebody else's code: what people send to end a program (TERM, INT,
 * HUP, QUIT) still ends it.  Where it has a handler that waits, too: handlers may leave by siglongjmp. */
void guard_enter_long(struct guard *guard);

/* What the application has to get waits until now; what we raised ourselves is taken away.  Keeps
 * errno. */
void guard_leave(const struct guard *guard);

/* Takes a mutex on an application's thread, for some instructions.  Signals wait until it is given back: a handler that
 * exits, or leaves by siglongjmp, would hold it indefinitely.  Costs two system calls on a thread that takes signals. */
void guard_lock(pthread_mutex_t *mutex, sigset_t *before);
void guard_unlock(pthread_mutex_t *mutex, const sigset_t *before);

/* First of all on a thread of ours: it takes no signals, and guard_lock leaves its mask alone. */
void guard_own_thread(void);

#endif
