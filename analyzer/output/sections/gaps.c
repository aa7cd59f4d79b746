/* gaps.c - the longest idle times, what surrounds them and their causes. */
#include "output/page.h"

#include <stdint.h>

/* ---- columns ---- */

GETTER(get_device, struct gap, gap, value_integer(row->report->profile->ops[gap->after].device));
GETTER(get_duration_ns, struct gap, gap, value_integer(gap->end_ns - gap->start_ns));
GETTER(get_from_first_ns, struct gap, gap,
       value_integer(gap->start_ns - report_first_ns(row->report)));
GETTER(get_cause, struct gap, gap, value_text(gap_cause_key(gap->cause)));
FINDER(op_before, struct gap, gap, &row->report->profile->ops[gap->before]);
FINDER(op_after, struct gap, gap, &row->report->profile->ops[gap->after]);

static struct value get_op_kind(struct row *row, const void *from)
{
	static const char *const kinds[] = {"kernel", "copy", "memset", "graph"};
	const struct profile_op *op = from;

	(void)row;
	return value_text(kinds[op->kind]);
}

/* Kernels by name, copies by direction, others by what they are. */
static struct value get_op_name(struct row *row, const void *from)
{
	const struct profile *profile = row->report->profile;
	const struct profile_op *op = from;

	if (op->kind == OP_KERNEL)
		return value_text(profile->signatures[op->detail].name);
	if (op->kind == OP_COPY)
		return value_text(profile_copy_kind_name(profile->copies[op->detail].kind));
	return get_op_kind(row, from);
}

GETTER(get_op_stream, struct profile_op, op,
       value_integer(row->report->profile->streams[op->stream].stream));

/* In CSV the columns "before" and "after" hold the name. */
static const struct column op_columns[] = {
	{.key = "name", .csv = "", .type = COLUMN_COMPUTED, .get = get_op_name},
	COMPUTED("kind", get_op_kind),
	FIELD(struct profile_op, start_ns),
	FIELD(struct profile_op, end_ns),
	COMPUTED("stream", get_op_stream),
	FIELD(struct profile_op, graph),
	{0}};

static const struct column columns[] = {COMPUTED("device", get_device),
					FIELD(struct gap, start_ns),
					FIELD(struct gap, end_ns),
					COMPUTED("duration_ns", get_duration_ns),
					COMPUTED("from_first_ns", get_from_first_ns),
					COMPUTED("cause", get_cause),
					GROUP("by_cause", "", struct gap, by_cause_ns,
					      cause_columns),
					GROUP_FOUND("before", op_before, op_columns),
					GROUP_FOUND("after", op_after, op_columns),
					{0}};

ARRAY(gap_at, gaps, longest, longest_count);

/* ---- text ---- */

/* The largest share that was not told yet, or -1 when less than one percent is left. */
static int largest_untold(const struct gap *gap, const bool *is_told)
{
	int64_t largest_ns = (gap->end_ns - gap->start_ns) / 100;
	int largest = -1;

	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
		if (is_told[cause] || gap->by_cause_ns[cause] <= largest_ns)
			continue;
		largest_ns = gap->by_cause_ns[cause];
		largest = cause;
	}
	return largest;
}

/* "host compute 80%, launch 20%", the largest share first. */
static void describe_causes(const struct gap *gap, char *buffer, size_t size)
{
	double length_ns = (double)(gap->end_ns - gap->start_ns);
	bool is_told[GAP_CAUSE_COUNT] = {false};
	size_t used = 0;
	int cause;

	buffer[0] = '\0';
	while (used < size && (cause = largest_untold(gap, is_told)) >= 0) {
		used += (size_t)snprintf(buffer + used, size - used, "%s%s %.0f%%",
					 used ? ", " : "", gap_cause_title(cause),
					 100 * (double)gap->by_cause_ns[cause] / length_ns);
		is_told[cause] = true;
	}
}

/* Names of templates grow to thousands of characters; --wide shows them in full. */
#define GAP_NAME_SIZE 16384

static void put_gap(struct page *page, const struct gap *gap, int64_t first_ns)
{
	const struct profile *profile = page->report->profile;
	char label[160], gpu[32] = "", causes[256], before[GAP_NAME_SIZE], after[GAP_NAME_SIZE];

	if (profile->device_count > 1)
		snprintf(gpu, sizeof(gpu), " on GPU %u", profile->ops[gap->after].device);
	describe_causes(gap, causes, sizeof(causes));
	page_describe_op(page, &profile->ops[gap->before], before, sizeof(before), 60);
	page_describe_op(page, &profile->ops[gap->after], after, sizeof(after), 60);
	snprintf(label, sizeof(label),
		 "  %9s  at %s%s: ", format_ns((double)(gap->end_ns - gap->start_ns)).text,
		 format_ns((double)(gap->start_ns - first_ns)).text, gpu);
	page_wrap(page, label, causes, 13);
	fprintf(page->out, "             after  %s\n             before %s\n", before, after);
}

static void print_gaps(struct page *page)
{
	const struct gap_analysis *gaps = page->report->gaps;
	/* three lines each: half as many as elsewhere */
	size_t rows = page_rows(page, gaps->longest_count, PAGE_TOP / 2);
	const struct row root = {.report = page->report, .options = page->options};
	uint64_t count = 0;

	if (!rows)
		return;
	for (size_t i = 0; i < gaps->device_count; i++)
		count += gaps->devices[i].gap_count;
	page_list_title(page, "Longest gaps", "times from the first operation", rows, count);
	for (size_t i = 0; i < rows; i++)
		put_gap(page, section_row(&section_gaps, &root, i), report_first_ns(page->report));
}

const struct section section_gaps = {.key = "gaps",
				     .title = "Longest gaps",
				     .columns = columns,
				     .at = gap_at,
				     .takes_order = true,
				     .print = print_gaps,
				     .empty = "the GPU was never idle between two operations"};
