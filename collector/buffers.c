#define _GNU_SOURCE
#include "buffers.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* Lies behind the buffer's own bytes, in the same mapping. */
struct note {
	struct note *next; /* in the pool or in line */
	uint8_t *buffer;
	size_t valid_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note *pool;
static struct note *first_finished, **last_finished = &first_finished;
static size_t finished_count; /* in line; read without the lock */
static size_t limit_count = 1, made_count;
static uint64_t refused_count;

static struct note *note_of(uint8_t *buffer)
{
	return (struct note *)(buffer + BUFFER_BYTES);
}

void buffers_limit(size_t limit_bytes)
{
	pthread_mutex_lock(&lock);
	limit_count = limit_bytes / BUFFER_BYTES ? limit_bytes / BUFFER_BYTES : 1;
	pthread_mutex_unlock(&lock);
}

/* Room is reserved under the lock, but the pages are made outside: that takes the kernel a while. */
static struct note *make_buffer(void)
{
	uint8_t *buffer = mmap(NULL, BUFFER_BYTES + sizeof(struct note), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (buffer == MAP_FAILED)
		return NULL;
	note_of(buffer)->buffer = buffer;
	return note_of(buffer);
}

/* Memory may be there again the next time. */
static void release_reservation(void)
{
	pthread_mutex_lock(&lock);
	made_count--;
	pthread_mutex_unlock(&lock);
}

uint8_t *buffers_get(void)
{
	struct note *note;
	bool may_make;

	pthread_mutex_lock(&lock);
	note = pool;
	if (note)
		pool = note->next;
	may_make = !note && made_count < limit_count;
	made_count += may_make;
	pthread_mutex_unlock(&lock);
	if (may_make)
		note = make_buffer();
	if (may_make && !note)
		release_reservation();
	if (!note)
		__atomic_fetch_add(&refused_count, 1, __ATOMIC_RELAXED);
	return note ? note->buffer : NULL;
}

void buffers_finish(uint8_t *buffer, size_t valid_bytes)
{
	struct note *note = note_of(buffer);

	note->valid_bytes = valid_bytes;
	note->next = NULL;
	pthread_mutex_lock(&lock);
	*last_finished = note;
	last_finished = &note->next;
	__atomic_fetch_add(&finished_count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

size_t buffers_finished(void)
{
	return __atomic_load_n(&finished_count, __ATOMIC_RELAXED);
}

uint8_t *buffers_next_finished(size_t *valid_bytes)
{
	struct note *note;

	pthread_mutex_lock(&lock);
	note = first_finished;
	if (note) {
		first_finished = note->next;
		__atomic_fetch_sub(&finished_count, 1, __ATOMIC_RELAXED);
	}
	if (!first_finished)
		last_finished = &first_finished;
	pthread_mutex_unlock(&lock);
	if (!note)
		return NULL;
	*valid_bytes = note->valid_bytes;
	return note->buffer;
}

void buffers_put(uint8_t *buffer, size_t used_bytes)
{
	struct note *note = note_of(buffer);

	memset(buffer, 0, used_bytes < BUFFER_BYTES ? used_bytes : BUFFER_BYTES);
	pthread_mutex_lock(&lock);
	note->next = pool;
	pool = note;
	pthread_mutex_unlock(&lock);
}

uint64_t buffers_refused(void)
{
	return __atomic_exchange_n(&refused_count, 0, __ATOMIC_RELAXED);
}
