#include "early.h"

#include <pthread.h>

static struct {
	uint8_t *buffer;
	size_t valid_bytes;
} kept[EARLY_BUFFERS];
static size_t kept_count;
static bool is_over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool early_keep(uint8_t *buffer, size_t valid_bytes)
{
	bool is_kept;

	if (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&lock);
	is_kept = !is_over && kept_count < EARLY_BUFFERS;
	if (is_kept) {
		kept[kept_count].buffer = buffer;
		kept[kept_count].valid_bytes = valid_bytes;
		kept_count++;
	}
	pthread_mutex_unlock(&lock);
	return is_kept;
}

void early_end(void (*consume)(uint8_t *buffer, size_t valid_bytes))
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < kept_count; i++)
		consume(kept[i].buffer, kept[i].valid_bytes);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}
