/* ranges.c - NVTX ranges by total time, and the GPU work that their threads launched inside. */
#include "output/page.h"

static const struct column columns[] = {FIELD(struct range_statistics, domain),
					FIELD(struct range_statistics, name),
					INLINE(struct range_statistics, time, distribution_columns),
					{FIELD_AS("operation_count", struct range_statistics,
						  op_count)},
					FIELD(struct range_statistics, gpu_ns),
					FIELD(struct range_statistics, span_ns),
					FIELD(struct range_statistics, open_count),
					INLINE(struct range_statistics, split, split_columns),
					{0}};

ARRAY(range_at, statistics, ranges, range_count);

/* "domain: name (open)" */
static struct value get_title(struct row *row, const void *from)
{
	const struct range_statistics *range = from;

	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s%s%s%s", range->domain,
		 *range->domain ? ": " : "", range->name, range->open_count ? " (open)" : "");
	return value_text(row->scratch.bytes);
}

static void print_ranges(struct page *page)
{
	static const struct text_column text_columns[] = {{"range", -23, .get = get_title},
							  {"time", 9, .key = "total_ns"},
							  {"count", 11, .key = "count"},
							  {"mean", 9, .key = "mean_ns"},
							  {"GPU ops", 10, .key = "operation_count"},
							  {"GPU time", 9, .key = "gpu_ns"},
							  {0}};

	page_table(page, &section_ranges, "GPU columns: work launched inside", text_columns);
}

const struct section section_ranges = {
	.key = "ranges",
	.title = "NVTX ranges",
	.columns = columns,
	.at = range_at,
	.takes_order = true,
	.print = print_ranges,
	.empty =
		"the program has no NVTX range: mark what repeats with nvtxRangePush(\"step\") and "
		"nvtxRangePop(), in PyTorch with torch.cuda.nvtx.range(\"step\"), and record it again"};
