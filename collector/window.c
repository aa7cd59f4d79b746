#include "window.h"

#include <pthread.h>
#include <stddef.h>

/* Spans that the program marked.  Records arrive up to some seconds late, so closed spans are kept;
 * beyond this many the oldest is given up. */
#define SPAN_LIMIT 65536

static struct span {
	int64_t start_ns, end_ns;
} spans[SPAN_LIMIT];	  /* in the order of their times, none overlaps another */
static size_t span_count; /* ever; span i lies at i % SPAN_LIMIT */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t first_ns = INT64_MIN, last_ns = INT64_MAX;
static bool only_marked_spans;

void window_init(int64_t start_ns, int64_t delay_ns, int64_t duration_ns, bool only_marked)
{
	if (delay_ns > 0)
		first_ns = start_ns + delay_ns;
	if (duration_ns > 0)
		last_ns = start_ns + delay_ns + duration_ns;
	only_marked_spans = only_marked;
}

/* All under the lock.  The last one, or NULL. */
static struct span *last_span(void)
{
	return span_count ? &spans[(span_count - 1) % SPAN_LIMIT] : NULL;
}

static bool is_span_open(void)
{
	return span_count && last_span()->end_ns == INT64_MAX;
}

/* The clock may be set back, but spans must stay in order. */
void window_open(int64_t time_ns)
{
	pthread_mutex_lock(&lock);
	if (!is_span_open()) {
		if (span_count && time_ns < last_span()->end_ns)
			time_ns = last_span()->end_ns;
		spans[span_count++ % SPAN_LIMIT] = (struct span){time_ns, INT64_MAX};
	}
	pthread_mutex_unlock(&lock);
}

void window_close(int64_t time_ns)
{
	pthread_mutex_lock(&lock);
	if (is_span_open())
		last_span()->end_ns =
			time_ns < last_span()->start_ns ? last_span()->start_ns : time_ns;
	pthread_mutex_unlock(&lock);
}

/* Under the lock: the first span that ends at time_ns or later; span_count when there is none. */
static size_t find_span(int64_t time_ns)
{
	size_t begin = span_count > SPAN_LIMIT ? span_count - SPAN_LIMIT : 0, end = span_count;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (spans[middle % SPAN_LIMIT].end_ns >= time_ns)
			end = middle;
		else
			begin = middle + 1;
	}
	return begin;
}

static bool marked_contains(int64_t time_ns)
{
	size_t i;
	bool found;

	pthread_mutex_lock(&lock);
	i = find_span(time_ns);
	found = i < span_count && spans[i % SPAN_LIMIT].start_ns <= time_ns;
	pthread_mutex_unlock(&lock);
	return found;
}

bool window_contains(int64_t time_ns)
{
	if (time_ns < first_ns || time_ns > last_ns)
		return false;
	return !only_marked_spans || marked_contains(time_ns);
}
