#include "window.h"

#include <pthread.h>
#include <stddef.h>

#include "clock.h"
#include "guard.h"

/* Spans that the program marked.  Records arrive up to some seconds late, so closed spans are kept;
 * beyond this many the oldest is given up. */
#define SPAN_LIMIT 65536

struct span {
	int64_t start_ns, end_ns; /* of CLOCK_MONOTONIC, as all times below */
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

/* ---- the wall clock, which may be set while the program runs ---- */

#define ERAS_MOST 1024	      /* the oldest is given up; a clock is set rarely */
#define STEP_LEAST_NS 1000000 /* two readings of the clocks that belong together differ by less */
#define READ_MOST_NS 100000 /* a reading that took longer is one of a thread that was interrupted */
#define SLACK_NS 1000000000 /* CUPTI's times of the GPU may lie before or after by so much */

/* The time until the wall clock was set: it showed CLOCK_MONOTONIC and offset_ns. */
struct era {
	int64_t offset_ns, start_ns, end_ns;
};
static struct era eras[ERAS_MOST];
static size_t era_count; /* ever; era i lies at i % ERAS_MOST */
static int64_t last_offset_ns;

/* Both clocks at one moment.  Returns false when the thread was interrupted in between. */
static bool read_clocks(int64_t *now_ns, int64_t *offset_ns)
{
	int64_t before_ns = clock_ns(CLOCK_MONOTONIC), wall_ns = clock_ns(CLOCK_REALTIME);

	*now_ns = clock_ns(CLOCK_MONOTONIC);
	*offset_ns = wall_ns - *now_ns;
	return *now_ns - before_ns < READ_MOST_NS;
}

static bool is_same_era(int64_t offset_ns)
{
	int64_t step_ns = offset_ns - __atomic_load_n(&last_offset_ns, __ATOMIC_RELAXED);

	return __atomic_load_n(&era_count, __ATOMIC_ACQUIRE) && step_ns > -STEP_LEAST_NS &&
	       step_ns < STEP_LEAST_NS;
}

static void begin_era(int64_t now_ns, int64_t offset_ns)
{
	sigset_t before;

	guard_lock(&lock, &before);
	if (!is_same_era(offset_ns)) {
		if (era_count)
			eras[(era_count - 1) % ERAS_MOST].end_ns = now_ns;
		eras[era_count % ERAS_MOST] =
			(struct era){offset_ns, era_count ? now_ns - SLACK_NS : INT64_MIN / 2,
				     INT64_MAX / 2};
		__atomic_store_n(&last_offset_ns, offset_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&era_count, era_count + 1, __ATOMIC_RELEASE);
	}
	guard_unlock(&lock, &before);
}

/* Records may have any times. */
static int64_t minus(int64_t a_ns, int64_t b_ns)
{
	int64_t difference_ns;

	if (!__builtin_sub_overflow(a_ns, b_ns, &difference_ns))
		return difference_ns;
	return a_ns < b_ns ? INT64_MIN : INT64_MAX;
}

/* How far a time of an era lies outside of it. */
static int64_t distance_to(const struct era *era, int64_t time_ns, int64_t now_ns)
{
	int64_t end_ns = era->end_ns < now_ns ? era->end_ns : now_ns + SLACK_NS;

	if (time_ns < era->start_ns)
		return minus(era->start_ns, time_ns);
	return time_ns > end_ns ? minus(time_ns, end_ns) : 0;
}

/* The newest era that contains a time of the wall clock, or the one that is nearest to it. */
static int64_t find_era_offset(int64_t wall_ns, int64_t now_ns)
{
	int64_t least_ns = INT64_MAX, offset_ns;
	sigset_t before;
	size_t oldest;

	guard_lock(&lock, &before);
	oldest = era_count > ERAS_MOST ? era_count - ERAS_MOST : 0;
	offset_ns = last_offset_ns;
	for (size_t i = era_count; i > oldest && least_ns; i--) {
		const struct era *era = &eras[(i - 1) % ERAS_MOST];
		int64_t distance_ns = distance_to(era, minus(wall_ns, era->offset_ns), now_ns);

		if (distance_ns < least_ns) {
			least_ns = distance_ns;
			offset_ns = era->offset_ns;
		}
	}
	guard_unlock(&lock, &before);
	return offset_ns;
}

/* Records have times of the wall clock; what happened before the clock was set was so long ago as ever. */
static int64_t monotonic_of(int64_t wall_ns)
{
	int64_t now_ns, offset_ns;
	bool is_exact = read_clocks(&now_ns, &offset_ns);

	if ((is_exact || !__atomic_load_n(&era_count, __ATOMIC_ACQUIRE)) && !is_same_era(offset_ns))
		begin_era(now_ns, offset_ns);
	if (__atomic_load_n(&era_count, __ATOMIC_ACQUIRE) == 1)
		return minus(wall_ns, eras[0].offset_ns);
	return minus(wall_ns, find_era_offset(wall_ns, now_ns));
}

void window_init(int64_t start_ns, int64_t delay_ns, int64_t duration_ns, bool only_marked)
{
	start_ns = monotonic_of(start_ns);
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

/* Spans stay in order also where threads come out of order. */
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
	open_span(&marked, monotonic_of(time_ns), call);
}

void window_close(int64_t time_ns, uint32_t call)
{
	close_span(&marked, monotonic_of(time_ns), call);
}

void window_pause(int64_t time_ns, bool is_paused)
{
	if (is_paused)
		open_span(&pauses, monotonic_of(time_ns), 0);
	else
		close_span(&pauses, monotonic_of(time_ns), 0);
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

bool window_is_over_since(int64_t since_ns)
{
	return last_ns != INT64_MAX && clock_ns(CLOCK_MONOTONIC) - since_ns > last_ns;
}

bool window_contains(int64_t time_ns)
{
	return window_contains_operation(time_ns, 0);
}

static bool is_everything_wanted(void)
{
	return !only_marked_spans && first_ns == INT64_MIN && last_ns == INT64_MAX &&
	       !__atomic_load_n(&pauses.count, __ATOMIC_RELAXED);
}

bool window_contains_operation(int64_t time_ns, uint32_t call)
{
	if (is_everything_wanted())
		return true;
	time_ns = monotonic_of(time_ns);
	if (time_ns < first_ns || time_ns > last_ns || is_paused_at(time_ns))
		return false;
	return !only_marked_spans || marked_contains(time_ns, call);
}
