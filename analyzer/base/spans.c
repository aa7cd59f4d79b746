#include "base/spans.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/ns.h"
#include "base/search.h"

int spans_add(struct spans *spans, int64_t start_ns, int64_t end_ns)
{
	if (end_ns <= start_ns)
		return 0;
	if (spans->count == spans->capacity) {
		size_t capacity = spans->capacity ? 2 * spans->capacity : 8;
		struct span *items = realloc(spans->items, capacity * sizeof(*items));

		if (!items)
			return -ENOMEM;
		spans->items = items;
		spans->capacity = capacity;
	}
	spans->items[spans->count++] = (struct span){.start_ns = start_ns, .end_ns = end_ns};
	return 0;
}

static int compare_start(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void sum_up(struct spans *spans)
{
	int64_t covered_ns = 0;

	for (size_t i = 0; i < spans->count; i++) {
		spans->items[i].before_ns = covered_ns;
		covered_ns += spans->items[i].end_ns - spans->items[i].start_ns;
	}
}

static bool is_sorted(const struct spans *spans)
{
	for (size_t i = 1; i < spans->count; i++)
		if (spans->items[i].start_ns < spans->items[i - 1].start_ns)
			return false;
	return true;
}

void spans_seal(struct spans *spans)
{
	size_t kept = 0;

	if (spans->count == 0)
		return;
	if (!is_sorted(spans))
		qsort(spans->items, spans->count, sizeof(*spans->items), compare_start);
	for (size_t i = 1; i < spans->count; i++) {
		struct span *last = &spans->items[kept];
		const struct span *next = &spans->items[i];

		if (next->start_ns > last->end_ns)
			spans->items[++kept] = *next;
		else if (next->end_ns > last->end_ns)
			last->end_ns = next->end_ns;
	}
	spans->count = kept + 1;
	sum_up(spans);
}

int spans_subtract(struct spans *spans, const struct spans *other)
{
	struct spans rest = {0};
	size_t next = 0;

	for (size_t i = 0; i < spans->count; i++) {
		int64_t cursor_ns = spans->items[i].start_ns, end_ns = spans->items[i].end_ns;

		while (next < other->count && other->items[next].end_ns <= cursor_ns)
			next++;
		for (size_t j = next; j < other->count && other->items[j].start_ns < end_ns; j++) {
			if (spans_add(&rest, cursor_ns, other->items[j].start_ns) < 0)
				goto out_of_memory;
			cursor_ns = other->items[j].end_ns;
		}
		if (spans_add(&rest, cursor_ns, end_ns) < 0)
			goto out_of_memory;
	}
	sum_up(&rest);
	spans_free(spans);
	*spans = rest;
	return 0;

out_of_memory:
	spans_free(&rest);
	return -ENOMEM;
}

struct start_search {
	const struct span *items;
	int64_t moment_ns;
};

static bool is_start_reached(size_t index, const void *context)
{
	const struct start_search *search = context;

	return search->items[index].start_ns >= search->moment_ns;
}

/* How much of everything before moment_ns the set covers. */
static int64_t covered_before(const struct spans *spans, int64_t moment_ns)
{
	const struct start_search search = {spans->items, moment_ns};
	size_t next = search_first(0, spans->count, is_start_reached, &search);
	const struct span *last;

	if (next == 0)
		return 0;
	last = &spans->items[next - 1];
	return last->before_ns + (moment_ns < last->end_ns ? moment_ns : last->end_ns) -
	       last->start_ns;
}

int64_t spans_covered_of_some(const struct spans *spans, int64_t start_ns, int64_t end_ns)
{
	return covered_before(spans, end_ns) - covered_before(spans, start_ns);
}

int64_t spans_covered_next(const struct spans *spans, size_t *next, int64_t start_ns,
			   int64_t end_ns)
{
	int64_t covered_ns = 0;

	while (*next < spans->count && spans->items[*next].end_ns <= start_ns)
		(*next)++;
	for (size_t i = *next; i < spans->count && spans->items[i].start_ns < end_ns; i++)
		covered_ns += min_ns(spans->items[i].end_ns, end_ns) -
			      max_ns(spans->items[i].start_ns, start_ns);
	return covered_ns;
}

void spans_free(struct spans *spans)
{
	if (!spans)
		return;
	free(spans->items);
	*spans = (struct spans){0};
}
