#define _GNU_SOURCE
#include "buffers.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* A free buffer's first bytes link it to the next one; they are cleared when it is taken. */
struct free_buffer {
	struct free_buffer *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct free_buffer *free_list;
static size_t limit_count = 1, made_count;
static uint64_t refused_count;

void buffers_limit(size_t limit_bytes)
{
	pthread_mutex_lock(&lock);
	limit_count = limit_bytes / BUFFER_BYTES ? limit_bytes / BUFFER_BYTES : 1;
	pthread_mutex_unlock(&lock);
}

static uint8_t *make_buffer(void)
{
	void *memory;

	if (made_count >= limit_count)
		return NULL;
	memory = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	made_count++;
	return memory;
}

uint8_t *buffers_take(void)
{
	struct free_buffer *buffer;

	pthread_mutex_lock(&lock);
	buffer = free_list;
	if (buffer) {
		free_list = buffer->next;
		buffer->next = NULL;
	} else {
		buffer = (struct free_buffer *)make_buffer();
	}
	if (!buffer)
		refused_count++;
	pthread_mutex_unlock(&lock);
	return (uint8_t *)buffer;
}

void buffers_give(uint8_t *buffer, size_t used_bytes)
{
	struct free_buffer *entry = (struct free_buffer *)buffer;

	memset(buffer, 0, used_bytes < BUFFER_BYTES ? used_bytes : BUFFER_BYTES);
	pthread_mutex_lock(&lock);
	entry->next = free_list;
	free_list = entry;
	pthread_mutex_unlock(&lock);
}

uint64_t buffers_refused(void)
{
	return __atomic_exchange_n(&refused_count, 0, __ATOMIC_RELAXED);
}
