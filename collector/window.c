#include "window.h"

#include <pthread.h>
#include <stddef.h>

/* Spans that the program marked.  Records arrive up to some seconds late, so closed spans are kept;
 * beyond this many the oldest is given up. */
#define SPAN_LIMIT 65536

static struct span {
	int64_t start_ns, end_ns;
	uint32_t first_call,
		last_call; /* correlation ids of the calls that mark it; 0 where CUPTI told none */
} spans[SPAN_LIMIT];	   /* in the order of their times, none overlaps another */
static size_t span_count;  /* ever; span i lies at i % SPAN_LIMIT */
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
void window_open(int64_t time_ns, uint32_t call)
{
	pthread_mutex_lock(&lock);
	if (!is_span_open()) {
		if (span_count && time_ns < last_span()->end_ns)
			time_ns = last_span()->end_ns;
		spans[span_count++ % SPAN_LIMIT] =
			(struct span){time_ns, INT64_MAX, call, UINT32_MAX};
	}
	pthread_mutex_unlock(&lock);
}

void window_close(int64_t time_ns, uint32_t call)
{
	struct span *last;

	pthread_mutex_lock(&lock);
	last = last_span();
	if (is_span_open()) {
		last->end_ns = time_ns < last->start_ns ? last->start_ns : time_ns;
		last->last_call = call;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- what is inside ---- */

static bool ends_before_time(const struct span *span, int64_t time_ns)
{
	return span->end_ns < time_ns;
}

static bool ends_before_call(const struct span *span, int64_t call)
{
	return span->last_call < call;
}

/* Under the lock: the first span that does not end before it, or NULL. */
static const struct span *find_span(bool (*ends_before)(const struct span *, int64_t), int64_t key)
{
	size_t begin = span_count > SPAN_LIMIT ? span_count - SPAN_LIMIT : 0, end = span_count;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (ends_before(&spans[middle % SPAN_LIMIT], key))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin < span_count ? &spans[begin % SPAN_LIMIT] : NULL;
}

static bool marked_contains_time(int64_t time_ns)
{
	const struct span *span = find_span(ends_before_time, time_ns);

	return span && span->start_ns <= time_ns;
}

/* Calls are numbered in their order. */
static bool marked_contains(int64_t time_ns, uint32_t call)
{
	const struct span *span;
	bool found;

	pthread_mutex_lock(&lock);
	span = call ? find_span(ends_before_call, call) : NULL;
	if (call && span_count && spans[0].first_call)
		found = span && span->first_call < call;
	else
		found = marked_contains_time(time_ns);
	pthread_mutex_unlock(&lock);
	return found;
}

bool window_contains(int64_t time_ns)
{
	return window_contains_operation(time_ns, 0);
}

bool window_contains_operation(int64_t time_ns, uint32_t call)
{
	if (time_ns < first_ns || time_ns > last_ns)
		return false;
	return !only_marked_spans || marked_contains(time_ns, call);
}
