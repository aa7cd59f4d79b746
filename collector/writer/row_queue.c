#define _GNU_SOURCE
#include "writer/row_queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAKE_PART 4
#define HALF_SHIFT \
	63 /* in next: the half; the bits below count its slots, also those beyond its room */
#define INDEX_BITS ((UINT64_C(1) << HALF_SHIFT) - 1)
#define LAST_LOOKS 20
#define LAST_PAUSE_NS 50000

/* A slot is taken by who changes it from FREE to BUSY.  Its number alone does not give it: a thread that was stopped
 * before it came to its slot may find that the half has been written since, and is filled again. */
enum { FREE, BUSY, FULL };

struct slot {
	_Alignas(8) uint32_t state;
	_Alignas(8) char row[];
};

static size_t slot_bytes(const struct row_queue *queue)
{
	return sizeof(struct slot) + (queue->row_bytes + 7) / 8 * 8;
}

static struct slot *slot_at(const struct row_queue *queue, int half, size_t index)
{
	return (struct slot *)(void *)(queue->halves[half] + index * slot_bytes(queue));
}

/* calloc: FREE is 0, and pages that are never used take no memory. */
void row_queue_init(struct row_queue *queue, size_t row_bytes, size_t room, void (*wake)(void))
{
	queue->row_bytes = row_bytes;
	queue->room = room;
	queue->wake = wake;
	queue->halves[1] = calloc(room, slot_bytes(queue));
	queue->halves[0] = queue->halves[1] ? calloc(room, slot_bytes(queue)) : NULL;
}

static bool fill(struct slot *slot, const void *row, size_t row_bytes)
{
	uint32_t expected = FREE;

	if (!__atomic_compare_exchange_n(&slot->state, &expected, BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	memcpy(slot->row, row, row_bytes);
	__atomic_store_n(&slot->state, FULL, __ATOMIC_RELEASE);
	return true;
}

bool row_queue_put(struct row_queue *queue, const void *row)
{
	uint64_t ticket;
	size_t index;

	if (!queue->halves[0])
		return false;
	for (;;) {
		ticket = __atomic_fetch_add(&queue->next, 1, __ATOMIC_ACQ_REL);
		index = (size_t)(ticket & INDEX_BITS);
		if (index >= queue->room)
			return false;
		if (fill(slot_at(queue, (int)(ticket >> HALF_SHIFT), index), row, queue->row_bytes))
			break;
		__atomic_fetch_add(&queue->retried, 1, __ATOMIC_RELAXED);
	}
	if (index + 1 == queue->room / WAKE_PART)
		queue->wake();
	return true;
}

/* Returns how many slots of our half were given out; from now on threads fill the other one. */
static size_t swap_halves(struct row_queue *queue, int *half)
{
	uint64_t before = __atomic_load_n(&queue->next, __ATOMIC_RELAXED);
	size_t count;

	*half = (int)(before >> HALF_SHIFT);
	before = __atomic_exchange_n(&queue->next, (uint64_t) !*half << HALF_SHIFT,
				     __ATOMIC_ACQ_REL);
	count = (size_t)(before & INDEX_BITS);
	if (count > queue->room)
		count = queue->room;
	if (count > queue->used[*half])
		queue->used[*half] = count;
	queue->given += count;
	return count;
}

static void write_slots(struct row_queue *queue, int half, size_t count,
			void (*write)(void *user, void *row), void *user)
{
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = slot_at(queue, half, i);

		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != FULL)
			continue;
		write(user, slot->row);
		__atomic_store_n(&slot->state, FREE, __ATOMIC_RELEASE);
		queue->written++;
	}
}

static void take(struct row_queue *queue, void (*write)(void *user, void *row), void *user)
{
	int half;
	size_t count = swap_halves(queue, &half);

	write_slots(queue, half, count, write, user);
}

void row_queue_take(struct row_queue *queue, void (*write)(void *user, void *row), void *user)
{
	if (!queue->halves[0])
		return;
	pthread_mutex_lock(&queue->one_writer);
	take(queue, write, user);
	pthread_mutex_unlock(&queue->one_writer);
}

static uint64_t missing(const struct row_queue *queue)
{
	uint64_t found = queue->written + __atomic_load_n(&queue->retried, __ATOMIC_RELAXED);

	return queue->given > found ? queue->given - found : 0;
}

uint64_t row_queue_take_last(struct row_queue *queue, void (*write)(void *user, void *row),
			     void *user)
{
	const struct timespec pause = {.tv_nsec = LAST_PAUSE_NS};
	uint64_t count = 0;

	if (!queue->halves[0])
		return 0;
	pthread_mutex_lock(&queue->one_writer);
	take(queue, write, user);
	for (int look = 0; look < LAST_LOOKS; look++) {
		for (int half = 0; half < 2; half++)
			write_slots(queue, half, queue->used[half], write, user);
		count = missing(queue);
		if (!count)
			break;
		nanosleep(&pause, NULL);
	}
	pthread_mutex_unlock(&queue->one_writer);
	return count;
}
