/* concurrency.c - how long how many operations ran at once. */
#include "output/page.h"
#include "output/sections/steady_state.h"

/* A row is the time of one number of operations on one device. */
#define NUMBERS (TIMELINE_MAX_CONCURRENCY + 1)

GETTER(get_device, int64_t, time_ns, value_count(row->index / NUMBERS));
GETTER(get_operation_count, int64_t, time_ns, value_count(row->index % NUMBERS));
GETTER(get_time_ns, int64_t, time_ns, value_integer(*time_ns));

static const void *split_of(struct row *row, const void *from)
{
	const struct steady_device *device = steady_state_of(row->report, row->index / NUMBERS);
	struct steady_split *split = (void *)row->scratch.bytes;

	if (!device)
		return NULL;
	*split = (struct steady_split){0};
	split->steady.time_ns = device->concurrency_ns[row->index % NUMBERS];
	split->once.time_ns = *(const int64_t *)from - split->steady.time_ns;
	return split;
}

static const struct column columns[] = {COMPUTED("device", get_device),
					COMPUTED("operation_count", get_operation_count),
					COMPUTED("time_ns", get_time_ns),
					INLINE_FOUND(split_of, split_time_columns),
					{0}};

static const void *time_at(const struct row *parent, size_t index)
{
	const struct timeline *timeline = parent->report->timeline;

	return index < timeline->device_count * NUMBERS
		       ? &timeline->devices[index / NUMBERS].concurrency_ns[index % NUMBERS]
		       : NULL;
}

static void put_concurrency(struct page *page, size_t index)
{
	const struct timeline_device *times = &page->report->timeline->devices[index];
	char label[64], gpu[32] = "";

	if (page->report->profile->device_count > 1)
		snprintf(gpu, sizeof(gpu), "GPU %zu: ", index);
	for (size_t i = 1; i <= TIMELINE_MAX_CONCURRENCY; i++) {
		snprintf(label, sizeof(label), "%s%zu%s operation%s", gpu, i,
			 i == TIMELINE_MAX_CONCURRENCY ? "+" : "", i == 1 ? "" : "s");
		if (times->concurrency_ns[i])
			page_share(page, label, times->concurrency_ns[i], times->wall_ns);
	}
}

/* Whether two operations ever ran at once on the device. */
static bool is_concurrent(const struct timeline_device *times)
{
	return times->busy_ns > times->concurrency_ns[1];
}

static void print_concurrency(struct page *page)
{
	const struct timeline *timeline = page->report->timeline;
	bool any = false;

	for (size_t i = 0; i < timeline->device_count; i++)
		any |= is_concurrent(&timeline->devices[i]);
	if (!any)
		return;
	page_title(page, "Concurrency", "time with that many running at once, of wall time");
	for (size_t i = 0; i < timeline->device_count; i++)
		put_concurrency(page, i);
}

const struct section section_concurrency = {.key = "concurrency",
					    .needs = {TABLES_STEADY, NEED_when_steady},
					    .title = "Concurrency",
					    .columns = columns,
					    .at = time_at,
					    .print = print_concurrency,
					    .empty = "no two operations ran at the same time"};
