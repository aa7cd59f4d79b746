/*
 * row_queue.h - rows on their way from an application's thread to ours, which writes them.
 *
 * The program must not wait for a file, nor for the thread that writes one, and a signal may interrupt its thread anywhere: the
 * handler may exit, or leave by siglongjmp and never return.  So no lock is held while a row is put; a row that was begun
 * and never finished costs its slot, and is counted at the end.  A queue is bounded; its rows are all of one size and are
 * copied.  Knows nothing of what they are.
 */
#ifndef ROOFLINE_ROW_QUEUE_H
#define ROOFLINE_ROW_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads put rows into one half while ours writes the other. */
struct row_queue {
	size_t row_bytes, room;
	char *halves[2]; /* NULL: no memory, and all rows are lost */
	void (*wake)(void);
	_Alignas(64) uint64_t next; /* which half is filled, and which of its slots comes next */
	uint64_t retried;	    /* slots that were given out and had not been left yet */
	_Alignas(64) pthread_mutex_t one_writer;
	size_t used[2]; /* slots of a half that have ever been given out */
	uint64_t given, written;
};

#define ROW_QUEUE_INITIALIZER                           \
	{                                               \
		.one_writer = PTHREAD_MUTEX_INITIALIZER \
	}

/* Allocates room for that many rows of row_bytes.  wake: called when a quarter is taken, so that our thread comes
 * before its time. */
void row_queue_init(struct row_queue *queue, size_t row_bytes, size_t room, void (*wake)(void));

/* On any thread, in a signal handler, too.  Returns false when there is no room: the caller counts the loss. */
bool row_queue_put(struct row_queue *queue, const void *row);

/* Calls write with each row that is there, in the order of putting; a row whose thread was interrupted while it put it comes
 * later, also after rows that the thread put behind it.  A thread that brings records after ours has gone may come at the same time as another. */
void row_queue_take(struct row_queue *queue, void (*write)(void *user, void *row), void *user);

/* The same at the end of the recording, with the rows that came later.  Returns how many were begun and never finished;
 * those of threads that are running get a millisecond. */
uint64_t row_queue_take_last(struct row_queue *queue, void (*write)(void *user, void *row),
			     void *user);

#endif
