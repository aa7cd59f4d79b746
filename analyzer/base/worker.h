/*
 * worker.h - a piece of work on a thread of its own, while the caller goes on with another.
 */
#ifndef ROOFLINE_WORKER_H
#define ROOFLINE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
	int (*work)(void *context); /* returns 0 or a negative errno */
	void *context;
	pthread_t thread;
	bool is_running;
	int rc;
};

/* Fewer items are worked on sooner than a thread begins: with threads for all, the report of
 * tests/recordings/graph_chain.naive took 1.5 times as long.  How few is reckoned, not measured. */
#ifndef WORKER_LEAST_ITEMS
#define WORKER_LEAST_ITEMS 10000
#endif
#define WORKER_ALWAYS SIZE_MAX

/* item_count: how many the work is about, roughly, such as profile_item_count(); WORKER_ALWAYS: each is much work, or
 * there are many for certain.  Of few, and where no thread can be had, the work is done at once instead. */
void worker_start(struct worker *worker, size_t item_count, int (*work)(void *context),
		  void *context);

/* Waits until it is done; what the work returned. */
int worker_join(struct worker *worker);

/* How many threads have a core of their own: those that this process may run on, and most at most. */
size_t worker_cores(size_t most);

/* Work on items [first, end) of many; returns 0, or what worker_slices shall. */
typedef int (*worker_slice)(void *context, size_t first, size_t end);

/* Items [0, count) as slices beside each other, each on a core of its own and none of less than least of them; returns what the
 * first slice returned that did not return 0.  What a slice writes has to be its own. */
int worker_slices(size_t count, size_t least, worker_slice work, void *context);

#endif
