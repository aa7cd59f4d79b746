#define _GNU_SOURCE
#include "buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Says what we know of a buffer, and lies apart from it: whoever takes our buffers may free them. */
struct note {
	struct note *next; /* in the pool or in line */
	uint8_t *buffer;
	size_t valid_bytes;
	atomic_bool is_out;	  /* CUPTI has it */
	struct note *same_bucket; /* never changes once it can be found */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note *pool;
static struct note *first_finished, **last_finished = &first_finished;
static size_t finished_count; /* in line; read without the lock */
static size_t limit_count = 1, made_count;
static uint64_t refused_count;
static atomic_size_t out_count;

/* ---- which buffers are ours: found by address, without a lock and without touching the buffer ---- */

#define BUCKETS 4096 /* one buffer in each, up to 4 GB of them */

static struct note *_Atomic buckets[BUCKETS];

static struct note *_Atomic *bucket_of(const uint8_t *buffer)
{
	return &buckets[((uintptr_t)buffer >> 12) * 2654435761u % (UINT64_C(1) << 32) /
			((UINT64_C(1) << 32) / BUCKETS)];
}

static struct note *note_of(const uint8_t *buffer)
{
	struct note *note = atomic_load_explicit(bucket_of(buffer), memory_order_acquire);

	while (note && note->buffer != buffer)
		note = note->same_bucket;
	return note;
}

static void remember(struct note *note)
{
	struct note *_Atomic *bucket = bucket_of(note->buffer);

	note->same_bucket = atomic_load(bucket);
	while (!atomic_compare_exchange_weak(bucket, &note->same_bucket, note))
		;
}

void buffers_limit(size_t limit_bytes)
{
	pthread_mutex_lock(&lock);
	limit_count = limit_bytes / BUFFER_BYTES ? limit_bytes / BUFFER_BYTES : 1;
	pthread_mutex_unlock(&lock);
}

/* Room is reserved under the lock, but the pages are made outside: that takes the kernel a while.  From
 * malloc: a program that registers callbacks of its own with CUPTI gets this buffer, and calls free. */
static struct note *make_buffer(void)
{
	struct note *note = calloc(1, sizeof(*note));
	uint8_t *buffer = note ? malloc(BUFFER_BYTES) : NULL;

	if (!buffer) {
		free(note);
		return NULL;
	}
	memset(buffer, 0, BUFFER_BYTES);
	note->buffer = buffer;
	remember(note);
	return note;
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
	if (!note) {
		__atomic_fetch_add(&refused_count, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	atomic_fetch_add(&out_count, 1);
	atomic_store(&note->is_out, true);
	return note->buffer;
}

bool buffers_finish(uint8_t *buffer, size_t valid_bytes)
{
	struct note *note = note_of(buffer);

	if (!note || !atomic_exchange(&note->is_out, false))
		return false;
	atomic_fetch_sub(&out_count, 1);
	note->valid_bytes = valid_bytes;
	note->next = NULL;
	pthread_mutex_lock(&lock);
	*last_finished = note;
	last_finished = &note->next;
	__atomic_fetch_add(&finished_count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return true;
}

size_t buffers_out(void)
{
	return atomic_load(&out_count);
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
