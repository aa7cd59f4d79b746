#define _GNU_SOURCE
#include "idle_wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "guard.h"
#include "wait.h"

static struct {
	CUresult (*set_current)(CUcontext);
	CUresult (*synchronize)(void);
	CUresult (*exchange_mode)(CUstreamCaptureMode *);
} driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake, done;
static uint32_t waiter; /* system thread id */
static CUcontext asked; /* NULL while there is nothing to wait for */
static bool is_idle;	/* how the last wait ended */

/* Before any of them is used. */
__attribute__((constructor)) static void init_conditions(void)
{
	wait_init_condition(&wake);
	wait_init_condition(&done);
}

/* Another thread's capture would fail if this one synchronized in the strict mode. */
static bool synchronize(CUcontext context)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	driver.exchange_mode(&mode);
	return driver.set_current(context) == CUDA_SUCCESS && driver.synchronize() == CUDA_SUCCESS;
}

static void *wait_main(void *unused)
{
	guard_own_thread();
	__atomic_store_n(&waiter, (uint32_t)gettid(), __ATOMIC_RELAXED);
	pthread_mutex_lock(&lock);
	for (;;) {
		CUcontext context = asked;
		bool ended_well;

		if (!context) {
			pthread_cond_wait(&wake, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		ended_well = synchronize(context);
		pthread_mutex_lock(&lock);
		is_idle = ended_well;
		asked = NULL;
		pthread_cond_signal(&done);
	}
	return unused;
}

static bool resolve(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		return false;
	*(void **)&driver.set_current = dlsym(library, "cuCtxSetCurrent");
	*(void **)&driver.synchronize = dlsym(library, "cuCtxSynchronize");
	*(void **)&driver.exchange_mode = dlsym(library, "cuThreadExchangeStreamCaptureMode");
	return driver.set_current && driver.synchronize && driver.exchange_mode;
}

static bool start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, wait_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		pthread_detach(thread);
	return rc == 0;
}

static bool is_ready(void)
{
	static bool was_tried, is_running;

	if (!was_tried)
		is_running = resolve() && start_thread();
	was_tried = true;
	return is_running;
}

/* Under the lock.  A thread that is canceled here would keep it. */
static void wait_until_done(const struct timespec *until)
{
	int cancel_state, rc = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	while (asked && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&done, &lock, until);
	pthread_setcancelstate(cancel_state, NULL);
}

bool idle_wait(CUcontext context, int64_t timeout_ns)
{
	struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + timeout_ns);
	bool ended_well = false;

	if (!is_ready())
		return false;
	pthread_mutex_lock(&lock);
	if (!asked) {
		asked = context;
		pthread_cond_signal(&wake);
		wait_until_done(&until);
		ended_well = !asked && is_idle;
	}
	pthread_mutex_unlock(&lock);
	return ended_well;
}

bool idle_wait_is_thread(uint32_t thread)
{
	return thread && thread == __atomic_load_n(&waiter, __ATOMIC_RELAXED);
}
