/* message_sizes.c - what NCCL was asked for, by size, and how fast it was against the measured ceiling. */
#include "output/page.h"
#include "whatif/all_reduce.h"

#include <string.h>

static double ceiling_ns(const struct row *row, const struct collective_size *size)
{
	const struct ceilings *ceilings = row->report->ceilings;

	return ceilings ? collective_size_ceiling_ns(size, ceilings,
						     (uint32_t)reduce_measured_gpus(ceilings))
			: 0;
}

static struct value above_zero(double value)
{
	return value > 0 ? value_real(value) : value_none();
}

PREDICATE(is_timed, struct collective_size, size, size->timed_count > 0);
PREDICATE(has_ranks, struct collective_size, size, size->rank_count > 0);

GETTER(get_bandwidth, struct collective_size, size, above_zero(collective_size_bandwidth(size)));
GETTER(get_ceiling, struct collective_size, size, above_zero(ceiling_ns(row, size)));
GETTER(get_share, struct collective_size, size,
       size->timed_count ? above_zero(ceiling_ns(row, size) / (double)size->median_ns)
			 : value_none());
GETTER(get_ranks, struct collective_size, size, value_count(size->rank_count));
GETTER(get_median, struct collective_size, size, value_integer(size->median_ns));

static const struct column columns[] = {
	FIELD(struct collective_size, operation),
	FIELD(struct collective_size, bytes),
	{.key = "rank_count", .type = COLUMN_COMPUTED, .get = get_ranks, .is_known = has_ranks},
	FIELD(struct collective_size, count),
	FIELD(struct collective_size, timed_count),
	FIELD(struct collective_size, time_ns),
	{.key = "median_ns", .type = COLUMN_COMPUTED, .get = get_median, .is_known = is_timed},
	COMPUTED("bus_byte_per_s", get_bandwidth),
	COMPUTED("ceiling_ns", get_ceiling),
	COMPUTED("ceiling_ratio", get_share),
	{0}};

ARRAY(size_at, collective_sizes, items, count);

static const struct column total_columns[] = {FIELD(struct collective_sizes, call_count),
					      FIELD(struct collective_sizes, unmatched_count),
					      {0}};

FINDER(known_sizes, struct report, report,
       report->collective_sizes->call_count ? report->collective_sizes : NULL);

static const struct column object[] = {INLINE_FOUND(known_sizes, total_columns),
				       ROWS("sizes", columns, size_at),
				       {0}};

static struct value get_percent(struct row *row, const void *from)
{
	struct value share = get_share(row, from);
	char *text = row->scratch.bytes;

	if (share.type != VALUE_REAL)
		return value_text("-");
	snprintf(text, sizeof(row->scratch.bytes), "%.0f%%", 100 * share.real);
	return value_text(text);
}

static struct value get_bytes(struct row *row, const void *from)
{
	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s",
		 collective_size_bytes(row->report->collective_sizes, from).text);
	return value_text(row->scratch.bytes);
}

static void print_sizes(struct page *page)
{
	static const struct text_column text_columns[] = {{"operation", -14, .key = "operation"},
							  {"bytes", 11, .get = get_bytes},
							  {"ranks", 5, .key = "rank_count"},
							  {"calls", 7, .key = "count"},
							  {"median", 8, .key = "median_ns"},
							  {"bus", 9, .key = "bus_byte_per_s"},
							  {"ceiling", 8, .key = "ceiling_ns"},
							  {"reached", 7, .get = get_percent},
							  {0}};
	const struct collective_sizes *sizes = page->report->collective_sizes;

	page_table(page, &section_message_sizes, "by NCCL's own payloads; without waits",
		   text_columns);
	if (sizes->unmatched_count)
		fprintf(page->out,
			"  of %s calls no kernel is known: captured, or launched later\n",
			format_count(sizes->unmatched_count).text);
}

const struct section section_message_sizes = {
	.key = "message_sizes",
	.title = "Collectives by size",
	.columns = columns,
	.at = size_at,
	.object = object,
	.print = print_sizes,
	.empty = "NCCL told no sizes: it does from 2.18 on, where NVTX is recorded"};
