/*
 * row_queue.h - rows on their way from an application's thread to ours, which writes them.
 *
 * The program must not wait for a file, nor for whoever writes one.  A queue is bounded; its rows are all of one size
 * and are copied.  Knows nothing of what they are.
 */
#ifndef ROOFLINE_ROW_QUEUE_H
#define ROOFLINE_ROW_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Threads put rows into one half while ours writes the other. */
struct row_queue {
	pthread_mutex_t lock, one_writer;
	size_t row_bytes, room, count;
	char *filling, *writing; /* NULL: no memory, and all rows are lost */
	void (*wake)(void);
};

#define ROW_QUEUE_INITIALIZER                                                              \
	{                                                                                  \
		.lock = PTHREAD_MUTEX_INITIALIZER, .one_writer = PTHREAD_MUTEX_INITIALIZER \
	}

/* Allocates room for that many rows of row_bytes.  wake: called when a quarter is taken, so that our thread comes
 * before its time. */
void row_queue_init(struct row_queue *queue, size_t row_bytes, size_t room, void (*wake)(void));

/* On any thread.  Returns false when there is no room: the caller counts the loss. */
bool row_queue_put(struct row_queue *queue, const void *row);

/* Calls write with each row that is there, in the order of putting.  A thread that brings records after ours has gone
 * may come at the same time as another. */
void row_queue_take(struct row_queue *queue, void (*write)(void *user, void *row), void *user);

#endif
