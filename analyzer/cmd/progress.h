/*
 * progress.h - what takes long says so: a line on stderr, where that is a terminal, until it is done.
 *
 * Nothing is said before a command has worked for progress_after_ms, its earlier steps counted in, nothing of a step that
 * is done within a tenth of that, and nothing in a pipe or a file.
 */
#ifndef ROOFLINE_PROGRESS_H
#define ROOFLINE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

struct progress {
	const char *what;
	bool is_running, is_done; /* the thread that says it is; all is done */
	struct timespec begin;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t done;
};

/* 2 s; tests set less, and with 0 every step says so. */
extern long progress_after_ms;

/* what: "reading the recording", borrowed until the end.  Every begin has its end, before anything else is written; one
 * that is {0} needs none. */
void progress_begin(struct progress *progress, const char *what);
void progress_end(struct progress *progress);

#endif
