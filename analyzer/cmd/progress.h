/*
 * progress.h - what takes long says so: a line on stderr, where that is a terminal, until it is done.
 *
 * Nothing is said of what is done sooner than progress_after_ms, and nothing in a pipe or a file.
 */
#ifndef ROOFLINE_PROGRESS_H
#define ROOFLINE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

struct progress {
	const char *what;
	bool is_running, is_done; /* the thread that says it is; all is done */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t done;
};

/* 2 s; tests set less. */
extern long progress_after_ms;

/* what: "reading the recording", borrowed until the end.  Every begin has its end, before anything else is written. */
void progress_begin(struct progress *progress, const char *what);
void progress_end(struct progress *progress);

#endif
