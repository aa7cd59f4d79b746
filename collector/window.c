#include "window.h"

#include <pthread.h>
#include <stddef.h>

#include "guard.h"

/* Spans that the program marked.  Records arrive up to some seconds late, so closed spans are kept;
 * beyond this many the oldest is given up. */
#define SPAN_LIMIT 65536

struct span {
	int64_t start_ns, end_ns;
	uint32_t first_call,
		last_call; /* correlation ids of the calls that mark it; 0 where CUPTI told none */
};
struct spans {
	struct span at[SPAN_LIMIT]; /* in the order of their times, none overlaps another */
	size_t count;		    /* ever; span i lies at i % SPAN_LIMIT */
};
static struct spans marked, pauses; /* by the program; by rooflinectl ctl */
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
static struct span *last_span(struct spans *spans)
{
	return spans->count ? &spans->at[(spans->count - 1) % SPAN_LIMIT] : NULL;
}

static bool is_span_open(struct spans *spans)
{
	return spans->count && last_span(spans)->end_ns == INT64_MAX;
}

/* The clock may be set back, but spans must stay in order. */
static void open_span(struct spans *spans, int64_t time_ns, uint32_t call)
{
	sigset_t before;

	guard_lock(&lock, &before);
	if (!is_span_open(spans)) {
		if (spans->count && time_ns < last_span(spans)->end_ns)
			time_ns = last_span(spans)->end_ns;
		spans->at[spans->count % SPAN_LIMIT] =
			(struct span){time_ns, INT64_MAX, call, UINT32_MAX};
		/* is_paused_at() looks at it before it takes the lock. */
		__atomic_store_n(&spans->count, spans->count + 1, __ATOMIC_RELAXED);
	}
	guard_unlock(&lock, &before);
}

static void close_span(struct spans *spans, int64_t time_ns, uint32_t call)
{
	struct span *last;
	sigset_t before;

	guard_lock(&lock, &before);
	last = last_span(spans);
	if (is_span_open(spans)) {
		last->end_ns = time_ns < last->start_ns ? last->start_ns : time_ns;
		last->last_call = call;
	}
	guard_unlock(&lock, &before);
}

void window_open(int64_t time_ns, uint32_t call)
{
	open_span(&marked, time_ns, call);
}

void window_close(int64_t time_ns, uint32_t call)
{
	close_span(&marked, time_ns, call);
}

void window_pause(int64_t time_ns, bool is_paused)
{
	if (is_paused)
		open_span(&pauses, time_ns, 0);
	else
		close_span(&pauses, time_ns, 0);
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
static const struct span *find_span(const struct spans *spans,
				    bool (*ends_before)(const struct span *, int64_t), int64_t key)
{
	size_t begin = spans->count > SPAN_LIMIT ? spans->count - SPAN_LIMIT : 0;
	size_t end = spans->count;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (ends_before(&spans->at[middle % SPAN_LIMIT], key))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin < spans->count ? &spans->at[begin % SPAN_LIMIT] : NULL;
}

static bool contain_time(const struct spans *spans, int64_t time_ns)
{
	const struct span *span = find_span(spans, ends_before_time, time_ns);

	return span && span->start_ns <= time_ns;
}

/* Calls are numbered in their order. */
static bool marked_contains(int64_t time_ns, uint32_t call)
{
	const struct span *span;
	sigset_t before;
	bool found;

	guard_lock(&lock, &before);
	span = call ? find_span(&marked, ends_before_call, call) : NULL;
	if (call && marked.count && marked.at[0].first_call)
		found = span && span->first_call < call;
	else
		found = contain_time(&marked, time_ns);
	guard_unlock(&lock, &before);
	return found;
}

static bool is_paused_at(int64_t time_ns)
{
	sigset_t before;
	bool found;

	if (!__atomic_load_n(&pauses.count, __ATOMIC_RELAXED))
		return false;
	guard_lock(&lock, &before);
	found = contain_time(&pauses, time_ns);
	guard_unlock(&lock, &before);
	return found;
}

bool window_is_over(int64_t time_ns)
{
	return time_ns > last_ns;
}

bool window_contains(int64_t time_ns)
{
	return window_contains_operation(time_ns, 0);
}

bool window_contains_operation(int64_t time_ns, uint32_t call)
{
	if (time_ns < first_ns || time_ns > last_ns || is_paused_at(time_ns))
		return false;
	return !only_marked_spans || marked_contains(time_ns, call);
}
