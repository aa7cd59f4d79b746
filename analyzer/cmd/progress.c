#include "cmd/progress.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_AGAIN_MS 1000

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

static void show(const struct progress *progress, const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(stderr, "\r%s: %ld s\033[K", progress->what, (long)(now.tv_sec - begin->tv_sec));
	fflush(stderr);
}

static void *say(void *context)
{
	struct progress *progress = context;
	struct timespec begin, next;
	bool is_shown = false;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	next = later(begin, progress_after_ms);
	pthread_mutex_lock(&progress->lock);
	while (!progress->is_done) {
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
