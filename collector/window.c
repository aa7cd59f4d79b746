#include "window.h"

#include <pthread.h>
#include <stddef.h>

/* Spans that the program marked.  Records arrive up to some seconds late, so closed spans are kept;
 * beyond this many the oldest is given up. */
#define SPAN_LIMIT 4096

static struct span {
	int64_t start_ns, end_ns;
} spans[SPAN_LIMIT];
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

void window_open(int64_t time_ns)
{
	pthread_mutex_lock(&lock);
	if (span_count == 0 || spans[(span_count - 1) % SPAN_LIMIT].end_ns != INT64_MAX) {
		spans[span_count % SPAN_LIMIT] = (struct span){time_ns, INT64_MAX};
		span_count++;
	}
	pthread_mutex_unlock(&lock);
}

void window_close(int64_t time_ns)
{
	pthread_mutex_lock(&lock);
	if (span_count > 0 && spans[(span_count - 1) % SPAN_LIMIT].end_ns == INT64_MAX)
		spans[(span_count - 1) % SPAN_LIMIT].end_ns = time_ns;
	pthread_mutex_unlock(&lock);
}

static bool marked_contains(int64_t time_ns)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = span_count; i > 0 && span_count - i < SPAN_LIMIT && !found; i--) {
		const struct span *span = &spans[(i - 1) % SPAN_LIMIT];

		found = time_ns >= span->start_ns && time_ns <= span->end_ns;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

bool window_contains(int64_t time_ns)
{
	if (time_ns < first_ns || time_ns > last_ns)
		return false;
	return !only_marked_spans || marked_contains(time_ns);
}
