#include "html/html_windows.h"

#include <stdlib.h>

#include "base/ns.h"

static void add(struct html_windows *windows, struct html_window all, int64_t middle_ns,
		int64_t half_ns)
{
	windows->items[windows->count++] =
		(struct html_window){max_ns(middle_ns - half_ns, all.from_ns),
				     min_ns(middle_ns + half_ns, all.to_ns)};
}

static int by_start(const void *left, const void *right)
{
	const struct html_window *a = left, *b = right;

	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

/* Those that overlap become one. */
static void merge(struct html_windows *windows)
{
	size_t count = 0;

	qsort(windows->items, windows->count, sizeof(*windows->items), by_start);
	for (size_t i = 0; i < windows->count; i++) {
		struct html_window *last = count ? &windows->items[count - 1] : NULL;

		if (last && windows->items[i].from_ns <= last->to_ns)
			last->to_ns = max_ns(last->to_ns, windows->items[i].to_ns);
		else
			windows->items[count++] = windows->items[i];
	}
	windows->count = count;
}

/* So that windows have HTML_WINDOW_ITEMS in the mean; of fewer items one window is all of it. */
static int64_t half_of_window_ns(int64_t length_ns, uint64_t item_count)
{
	if (item_count <= HTML_WINDOW_ITEMS / 2)
		return length_ns + 1;
	return (int64_t)((double)length_ns * HTML_WINDOW_ITEMS / 2 / (double)item_count) + 1;
}

void html_windows_choose(struct html_windows *windows, const struct report *report,
			 struct html_window all, uint64_t item_count)
{
	const struct gap_analysis *gaps = report->gaps;
	int64_t length_ns = all.to_ns - all.from_ns;
	int64_t half_ns = half_of_window_ns(length_ns, item_count);

	windows->count = 0;
	for (size_t i = 0; i < gaps->longest_count && i < HTML_WINDOW_GAPS; i++) {
		add(windows, all, gaps->longest[i].start_ns, half_ns);
		add(windows, all, gaps->longest[i].end_ns, half_ns);
	}
	for (int i = 0; i < HTML_WINDOW_PLACES; i++)
		add(windows, all, all.from_ns + length_ns / HTML_WINDOW_PLACES * i + half_ns,
		    half_ns);
	merge(windows);
}

bool html_windows_show(const struct html_windows *windows, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = windows->count;

	while (low < high) { /* the first that ends behind the start */
		size_t middle = (low + high) / 2;

		if (windows->items[middle].to_ns < start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < windows->count && windows->items[low].from_ns <= end_ns;
}
