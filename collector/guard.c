#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

/* A fault cannot wait: blocked, it would kill a program that handles it. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

/* What an impatient user sends.  A handler of the program's own for it has to wait: it might leave by siglongjmp, and what is held
 * here would be held for ever. */
static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static bool is_pending(int signal_number)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, signal_number) == 1;
}

static void discard_pending(int signal_number, bool had_it)
{
	static const struct timespec at_once;
	sigset_t set;

	if (had_it || !is_pending(signal_number))
		return;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
		;
}

static void leave_out_faults(sigset_t *blocked)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(blocked, faults[i]);
}

static void block(struct guard *guard, sigset_t *blocked)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
	leave_out_faults(blocked);
	pthread_sigmask(SIG_BLOCK, blocked, &guard->mask);
	guard->had_sigpipe = is_pending(SIGPIPE);
	guard->had_sigxfsz = is_pending(SIGXFSZ);
}

void guard_enter(struct guard *guard)
{
	sigset_t blocked;

	sigfillset(&blocked);
	block(guard, &blocked);
}

static bool has_handler(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) || action.sa_handler != SIG_DFL;
}

void guard_enter_long(struct guard *guard)
{
	sigset_t blocked;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!has_handler(ends[i]))
			sigdelset(&blocked, ends[i]);
	block(guard, &blocked);
}

void guard_leave(const struct guard *guard)
{
	int saved_errno = errno;

	discard_pending(SIGPIPE, guard->had_sigpipe);
	discard_pending(SIGXFSZ, guard->had_sigxfsz);
	pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
	pthread_setcancelstate(guard->cancel_state, NULL);
	errno = saved_errno;
}

/* ---- locks ---- */

/* Not a variable of each thread: the first look at one allocates it, and ends the program where there is no memory. */
#define OWN_THREADS 128 /* the others of ours block signals like the program's */

static pthread_t own_threads[OWN_THREADS];
static unsigned int own_thread_count; /* atomic */

void guard_own_thread(void)
{
	unsigned int index = __atomic_fetch_add(&own_thread_count, 1, __ATOMIC_RELAXED);

	if (index < OWN_THREADS)
		__atomic_store_n(&own_threads[index], pthread_self(), __ATOMIC_RELEASE);
}

static bool is_own_thread(void)
{
	unsigned int count = __atomic_load_n(&own_thread_count, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; i < count && i < OWN_THREADS; i++)
		if (pthread_equal(__atomic_load_n(&own_threads[i], __ATOMIC_ACQUIRE),
				  pthread_self()))
			return true;
	return false;
}

void guard_lock(pthread_mutex_t *mutex, sigset_t *before)
{
	sigset_t blocked;

	if (!is_own_thread()) {
		sigfillset(&blocked);
		leave_out_faults(&blocked);
		pthread_sigmask(SIG_BLOCK, &blocked, before);
	}
	pthread_mutex_lock(mutex);
}

void guard_unlock(pthread_mutex_t *mutex, const sigset_t *before)
{
	pthread_mutex_unlock(mutex);
	if (!is_own_thread())
		pthread_sigmask(SIG_SETMASK, before, NULL);
}
