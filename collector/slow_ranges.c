#include "slow_ranges.h"

#include <pthread.h>
#include <string.h>

#include "roofline/last.h"

#define OPEN_MOST \
	64 /* ranges of the name at a time, on all threads; of more the oldest is forgotten */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *wanted; /* NULL: nobody asked */
static size_t wanted_length;
static int64_t limit_ns;
static struct open_range {
	uint32_t id;
	int64_t start_ns; /* 0: none */
} open_ranges[OPEN_MOST];
static size_t next_open;
static bool is_found;
static struct slow_range found;

void slow_ranges_init(const char *text)
{
	wanted_length = text ? slower_parse(text, &limit_ns) : 0;
	wanted = wanted_length ? text : NULL;
}

void slow_ranges_on_start(uint32_t id, const char *name, int64_t time_ns)
{
	if (!wanted || !name || strncmp(name, wanted, wanted_length) || name[wanted_length])
		return;
	pthread_mutex_lock(&lock);
	open_ranges[next_open++ % OPEN_MOST] = (struct open_range){id, time_ns};
	pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void note_slow(int64_t start_ns, int64_t end_ns)
{
	if (is_found) {
		found.other_count++;
		return;
	}
	is_found = true;
	found = (struct slow_range){start_ns, end_ns, limit_ns, 0, wanted, (int)wanted_length};
}

void slow_ranges_on_end(uint32_t id, int64_t time_ns)
{
	if (!wanted)
		return;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < OPEN_MOST; i++) {
		struct open_range *range = &open_ranges[i];

		if (!range->start_ns || range->id != id)
			continue;
		if (time_ns - range->start_ns > limit_ns)
			note_slow(range->start_ns, time_ns);
		range->start_ns = 0;
	}
	pthread_mutex_unlock(&lock);
}

bool slow_ranges_take(struct slow_range *range)
{
	bool was_found;

	if (!wanted)
		return false;
	pthread_mutex_lock(&lock);
	was_found = is_found;
	*range = found;
	is_found = false;
	pthread_mutex_unlock(&lock);
	return was_found;
}
