#include "base/stable_sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/worker.h"

#define MAX_ITEM_BYTES 128
#define INSERTION_COUNT 24 /* shorter pieces are sorted by insertion */

/* What takes longer to sort than a thread to begin: two sort a half each, and so on. */
#define THREAD_BYTES ((size_t)1 << 20)
#define THREADS_MOST 8

struct sorter {
	size_t item_size;
	stable_compare compare;
	char *spare; /* room for the left part of a merge */
	size_t spare_bytes;
};

static void insertion_sort(const struct sorter *sorter, char *items, size_t count)
{
	size_t size = sorter->item_size;
	char held[MAX_ITEM_BYTES];

	for (size_t i = 1; i < count; i++) {
		size_t to = i;

		while (to > 0 && sorter->compare(items + (to - 1) * size, items + i * size) > 0)
			to--;
		if (to == i)
			continue;
		memcpy(held, items + i * size, size);
		memmove(items + (to + 1) * size, items + to * size, (i - to) * size);
		memcpy(items + to * size, held, size);
	}
}

struct item_search {
	const struct sorter *sorter;
	const char *items, *item;
	int after_equal;
};

static bool is_item_reached(size_t index, const void *context)
{
	const struct item_search *search = context;
	const struct sorter *sorter = search->sorter;

	return sorter->compare(search->items + index * sorter->item_size, search->item) >=
	       search->after_equal;
}

/* How many of count sorted items come before item; equal ones do when after_equal is set. */
static size_t count_before(const struct sorter *sorter, const char *items, size_t count,
			   const char *item, int after_equal)
{
	const struct item_search search = {sorter, items, item, after_equal};

	return search_first(0, count, is_item_reached, &search);
}

static int sorter_reserve(struct sorter *sorter, size_t bytes)
{
	char *spare;

	if (bytes <= sorter->spare_bytes)
		return 0;
	spare = realloc(sorter->spare, bytes);
	if (!spare)
		return -ENOMEM;
	sorter->spare = spare;
	sorter->spare_bytes = bytes;
	return 0;
}

/* Merges left bytes at items with the right bytes behind them; the left ones wait in spare. */
static void merge_forwards(const struct sorter *sorter, char *items, size_t left, size_t right)
{
	size_t size = sorter->item_size;
	const char *from_left = sorter->spare, *left_end = from_left + left;
	const char *from_right = items + left, *right_end = from_right + right;
	char *to = items;

	memcpy(sorter->spare, items, left);
	while (from_left < left_end && from_right < right_end) {
		bool is_right = sorter->compare(from_right, from_left) < 0;
		const char **from = is_right ? &from_right : &from_left;

		memcpy(to, *from, size);
		*from += size;
		to += size;
	}
	memcpy(to, from_left, (size_t)(left_end - from_left));
}

/* The same from the end on; the right ones wait in spare. */
static void merge_backwards(const struct sorter *sorter, char *items, size_t left, size_t right)
{
	size_t size = sorter->item_size;
	const char *left_end = items + left; /* one behind the next to take */
	const char *right_end = sorter->spare + right;
	char *to_end = items + left + right;

	memcpy(sorter->spare, items + left, right);
	while (left_end > items && right_end > sorter->spare) {
		bool is_left = sorter->compare(right_end - size, left_end - size) < 0;
		const char **from_end = is_left ? &left_end : &right_end;

		*from_end -= size;
		to_end -= size;
		memcpy(to_end, *from_end, size);
	}
	right = (size_t)(right_end - sorter->spare);
	memcpy(to_end - right, sorter->spare, right);
}

/* Merges the sorted halves [0, left) and [left, count); only what overlaps is touched, and only
 * its smaller part is copied. */
static int merge(struct sorter *sorter, char *items, size_t left, size_t count)
{
	size_t size = sorter->item_size;
	char *middle = items + left * size;
	size_t skip = count_before(sorter, items, left, middle, 1);
	size_t left_bytes = (left - skip) * size, right_bytes;

	if (skip == left)
		return 0;
	right_bytes = count_before(sorter, middle, count - left, middle - size, 0) * size;
	if (sorter_reserve(sorter, left_bytes < right_bytes ? left_bytes : right_bytes) < 0)
		return -ENOMEM;
	if (left_bytes < right_bytes)
		merge_forwards(sorter, middle - left_bytes, left_bytes, right_bytes);
	else
		merge_backwards(sorter, middle - left_bytes, left_bytes, right_bytes);
	return 0;
}

static int sort_piece(struct sorter *sorter, char *items, size_t count)
{
	size_t left = count / 2;

	if (count <= INSERTION_COUNT) {
		insertion_sort(sorter, items, count);
		return 0;
	}
	if (sort_piece(sorter, items, left) < 0 ||
	    sort_piece(sorter, items + left * sorter->item_size, count - left) < 0)
		return -ENOMEM;
	return merge(sorter, items, left, count);
}

/* A part of what is sorted, by a thread of its own. */
struct half {
	struct sorter sorter;
	char *items;
	size_t count, thread_count;
};

/* As sort_piece: the left half by other threads, where it is large. */
static int sort_half(void *context)
{
	struct half *half = context;
	size_t size = half->sorter.item_size, middle = half->count / 2;
	struct half left = *half, right = *half;
	struct worker worker;
	int rc, left_rc;

	if (half->thread_count < 2 || half->count * size < THREAD_BYTES)
		return sort_piece(&half->sorter, half->items, half->count);
	left.count = middle;
	right.items += middle * size;
	right.count -= middle;
	left.thread_count = right.thread_count = half->thread_count / 2;
	worker_start(&worker, WORKER_ALWAYS, sort_half, &left);
	rc = sort_half(&right);
	left_rc = worker_join(&worker);
	free(left.sorter.spare);
	half->sorter.spare = right.sorter.spare;
	half->sorter.spare_bytes = right.sorter.spare_bytes;
	if (rc < 0 || left_rc < 0)
		return -ENOMEM;
	return merge(&half->sorter, half->items, middle, half->count);
}

int stable_sort(void *items, size_t count, size_t item_size, stable_compare compare)
{
	struct half all = {{item_size, compare, NULL, 0}, items, count, 1};
	int rc;

	if (item_size > MAX_ITEM_BYTES)
		return -EINVAL;
	if (count * item_size >= THREAD_BYTES)
		all.thread_count = worker_cores(THREADS_MOST);
	rc = count > 1 ? sort_half(&all) : 0;
	free(all.sorter.spare);
	return rc;
}
