#define _GNU_SOURCE
#include "writer/own_descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif

#define FIRST_OF_OWN_TABLE 3 /* a C library that fails writes to 2 */
#define FIRST_AMONG_OTHERS 512

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* one asks at a time */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum { NO_THREAD, STARTING, IDLE, ASKED } state;
static bool has_thread; /* atomic */
static void (*asked_work)(void *);
static void *asked_data;
static bool is_private;
static char warnings[2048];
static pthread_t thread; /* set before has_thread */

/* ---- a table of its own ---- */

static void close_all(void)
{
	DIR *folder = opendir("/proc/thread-self/fd");
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		int descriptor = atoi(entry->d_name);

		if (*entry->d_name != '.' && descriptor != dirfd(folder))
			close(descriptor);
	}
	closedir(folder);
}

/* Nothing stays open that the program closes: a reader of its pipes waits for that. */
static bool leave_table(void)
{
	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0)
		return true;
	if (unshare(CLONE_FILES))
		return false;
	close_all();
	return true;
}

/* No variable of a thread is touched here, nor in what is done here: the first time that takes the dynamic linker's lock before
 * glibc 2.35, and the thread that waits for this one may have it. */
static bool is_this_thread(void)
{
	return __atomic_load_n(&has_thread, __ATOMIC_ACQUIRE) &&
	       pthread_equal(pthread_self(), thread);
}

static void *thread_main(void *unused)
{
	bool has_left = leave_table();

	pthread_mutex_lock(&lock);
	thread = pthread_self();
	is_private = has_left;
	if (has_left)
		log_hold(is_this_thread, warnings, sizeof(warnings));
	state = IDLE;
	__atomic_store_n(&has_thread, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&changed);
	for (;;) {
		while (state != ASKED)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		asked_work(asked_data);
		pthread_mutex_lock(&lock);
		state = IDLE;
		pthread_cond_broadcast(&changed);
	}
	return unused;
}

static void start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t started;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	state = STARTING;
	if (pthread_create(&started, &attributes, thread_main, NULL))
		state = NO_THREAD;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

bool own_descriptors_start(void)
{
	bool found;

	pthread_mutex_lock(&turn);
	pthread_mutex_lock(&lock);
	if (state == NO_THREAD)
		start_thread();
	while (state == STARTING)
		pthread_cond_wait(&changed, &lock);
	found = is_private;
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&turn);
	return found;
}

/* With the turn, so that the warnings are those of this work. */
static void ask(void (*work)(void *data), void *data)
{
	pthread_mutex_lock(&lock);
	asked_work = work;
	asked_data = data;
	state = ASKED;
	pthread_cond_broadcast(&changed);
	while (state == ASKED)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	if (*warnings)
		log_print(warnings);
	*warnings = '\0';
}

void own_descriptors_do(void (*work)(void *data), void *data)
{
	if (!__atomic_load_n(&has_thread, __ATOMIC_ACQUIRE) || is_this_thread()) {
		work(data);
		return;
	}
	pthread_mutex_lock(&turn);
	ask(work, data);
	pthread_mutex_unlock(&turn);
}

/* ---- numbers ---- */

static int first_descriptor(void)
{
	struct rlimit limit;

	if (is_private)
		return FIRST_OF_OWN_TABLE;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= 2 * FIRST_AMONG_OTHERS)
		return FIRST_AMONG_OTHERS;
	return (int)limit.rlim_cur / 2;
}

/* A program that has so few of them left needs these more than we do. */
static int move_high(int low)
{
	int high = low;

	if (low < first_descriptor()) {
		high = fcntl(low, F_DUPFD_CLOEXEC, first_descriptor());
		close(low);
	}
	return high < 0 ? -EMFILE : high;
}

int own_descriptor_open(int folder, const char *path, int flags, mode_t mode)
{
	int descriptor = openat(folder, path, flags | O_CLOEXEC, mode);

	return descriptor < 0 ? -errno : move_high(descriptor);
}

bool own_descriptors_forget(void)
{
	__atomic_store_n(&has_thread, false, __ATOMIC_RELEASE);
	return !is_private;
}
