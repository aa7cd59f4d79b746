#include "writer/row_queue.h"

#include <stdlib.h>
#include <string.h>

#define WAKE_PART 4

void row_queue_init(struct row_queue *queue, size_t row_bytes, size_t room, void (*wake)(void))
{
	queue->row_bytes = row_bytes;
	queue->room = room;
	queue->wake = wake;
	queue->filling = malloc(room * row_bytes);
	queue->writing = malloc(room * row_bytes);
}

bool row_queue_put(struct row_queue *queue, const void *row)
{
	bool has_room, must_wake;

	pthread_mutex_lock(&queue->lock);
	has_room = queue->filling && queue->writing && queue->count < queue->room;
	if (has_room)
		memcpy(queue->filling + queue->count++ * queue->row_bytes, row, queue->row_bytes);
	must_wake = has_room && queue->count == queue->room / WAKE_PART;
	pthread_mutex_unlock(&queue->lock);
	if (must_wake)
		queue->wake();
	return has_room;
}

/* Our half of the queue, full; threads go on with the other. */
static size_t swap_halves(struct row_queue *queue)
{
	char *full;
	size_t count;

	pthread_mutex_lock(&queue->lock);
	full = queue->filling;
	queue->filling = queue->writing;
	queue->writing = full;
	count = queue->count;
	queue->count = 0;
	pthread_mutex_unlock(&queue->lock);
	return count;
}

void row_queue_take(struct row_queue *queue, void (*write)(void *user, void *row), void *user)
{
	size_t count;

	pthread_mutex_lock(&queue->one_writer);
	count = swap_halves(queue);
	for (size_t i = 0; i < count; i++)
		write(user, queue->writing + i * queue->row_bytes);
	pthread_mutex_unlock(&queue->one_writer);
}
