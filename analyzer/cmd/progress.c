#include "cmd/progress.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_AGAIN_MS 1000
#define SHORT_STEPS 10 /* so many of them in progress_after_ms */

long progress_after_ms = 2000;

static struct timespec later(struct timespec time, long ms)
{
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

static long ms_between(const struct timespec *begin, const struct timespec *end)
{
	return (end->tv_sec - begin->tv_sec) * 1000 + (end->tv_nsec - begin->tv_nsec) / 1000000;
}

/* How long until it is said: who waits for two steps of 1.9 s waits for more than 2 s. */
static long wait_ms(const struct timespec *now)
{
	static struct timespec first; /* begin of the command's first step */
	long left, least = progress_after_ms / SHORT_STEPS;

	if (!first.tv_sec && !first.tv_nsec)
		first = *now;
	left = progress_after_ms - ms_between(&first, now);
	return left > least ? left : least;
}

static void show(const struct progress *progress, const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(stderr, "\r%s: %ld s\033[K", progress->what, ms_between(begin, &now) / 1000);
	fflush(stderr);
}

/* A step that shall be told at once is told though it is done meanwhile. */
static bool is_over(const struct progress *progress, bool is_shown)
{
	return progress->is_done && (is_shown || progress_after_ms > 0);
}

static void *say(void *context)
{
	struct progress *progress = context;
	struct timespec begin = progress->begin, next = later(begin, wait_ms(&begin));
	bool is_shown = false;

	pthread_mutex_lock(&progress->lock);
	while (!is_over(progress, is_shown)) {
		if (pthread_cond_timedwait(&progress->done, &progress->lock, &next) != ETIMEDOUT)
			continue;
		show(progress, &begin);
		is_shown = true;
		next = later(next, SHOWN_AGAIN_MS);
	}
	pthread_mutex_unlock(&progress->lock);
	if (is_shown)
		fputs("\r\033[K", stderr);
	return NULL;
}

void progress_begin(struct progress *progress, const char *what)
{
	pthread_condattr_t clock;

	*progress = (struct progress){.what = what};
	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &progress->begin);
	pthread_mutex_init(&progress->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->done, &clock);
	pthread_condattr_destroy(&clock);
	progress->is_running = pthread_create(&progress->thread, NULL, say, progress) == 0;
}

void progress_end(struct progress *progress)
{
	if (!progress->is_running)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->is_done = true;
	pthread_cond_signal(&progress->done);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	progress->is_running = false;
	pthread_cond_destroy(&progress->done);
	pthread_mutex_destroy(&progress->lock);
}
