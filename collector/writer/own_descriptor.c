#define _GNU_SOURCE
#include "writer/own_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST_DESCRIPTOR 512   /* out of the way of programs that count on low numbers */
#define EXTRA_DESCRIPTORS 64   /* behind the limit: more than there are tables */
#define RAISED_LIMIT_MOST 4096 /* a fork copies the kernel's table, of 8 bytes a number */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one raises it at a time */
static struct rlimit program_limit;			 /* what it is while we have raised it */
static rlim_t raised_limit;				 /* 0: we have not */

static bool can_raise(const struct rlimit *limit)
{
	return limit->rlim_cur <= RAISED_LIMIT_MOST && limit->rlim_max > limit->rlim_cur &&
	       limit->rlim_max - limit->rlim_cur >= EXTRA_DESCRIPTORS;
}

static void raise_limit(void)
{
	struct rlimit raised;

	if (getrlimit(RLIMIT_NOFILE, &program_limit) || !can_raise(&program_limit))
		return;
	raised = program_limit;
	raised.rlim_cur += EXTRA_DESCRIPTORS;
	if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
		raised_limit = raised.rlim_cur;
}

/* A limit that the program has set meanwhile stays. */
static void restore_limit(void)
{
	struct rlimit found;

	if (raised_limit && prlimit(0, RLIMIT_NOFILE, &program_limit, &found) == 0 &&
	    found.rlim_cur != raised_limit)
		setrlimit(RLIMIT_NOFILE, &found);
	raised_limit = 0;
}

static int first_descriptor(void)
{
	if (raised_limit)
		return (int)program_limit.rlim_cur;
	return program_limit.rlim_cur < 2 * FIRST_DESCRIPTOR ? (int)program_limit.rlim_cur / 2
							     : FIRST_DESCRIPTOR;
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

int own_descriptor_open(const char *path, int flags, mode_t mode)
{
	int descriptor;

	pthread_mutex_lock(&lock);
	raise_limit();
	descriptor = open(path, flags | O_CLOEXEC, mode);
	descriptor = descriptor < 0 ? -errno : move_high(descriptor);
	restore_limit();
	pthread_mutex_unlock(&lock);
	return descriptor;
}

bool own_descriptors_are_extra(int *limit)
{
	struct rlimit found;

	if (getrlimit(RLIMIT_NOFILE, &found))
		found = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	*limit = found.rlim_cur > INT_MAX ? INT_MAX : (int)found.rlim_cur;
	return can_raise(&found);
}

void own_descriptors_forget(void)
{
	restore_limit();
}
