/* gaps.c - the longest idle times, what surrounds them and their causes. */
#include "output/page.h"

#include "analysis/time/gap_host.h"
#include "base/memory_file.h"
#include "base/ns.h"
#include "base/paths.h"
#include "base/shell.h"
#include "output/op_columns.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

GETTER(get_device, struct gap, gap,
       value_integer(profile_op_device(row->report->profile,
				       &row->report->profile->ops[gap->after])));
GETTER(get_duration_ns, struct gap, gap, value_integer(gap->end_ns - gap->start_ns));
GETTER(get_cause, struct gap, gap, value_text(gap_cause_key(gap->cause)));
FINDER(op_before, struct gap, gap, &row->report->profile->ops[gap->before]);
FINDER(op_after, struct gap, gap, &row->report->profile->ops[gap->after]);

GETTER(get_graph, struct profile_op, op, value_count(profile_op_graph(row->report->profile, op)));

/* In CSV the columns "before" and "after" hold the name. */
static const struct column op_columns[] = {
	{.key = "name", .csv = "", .type = COLUMN_COMPUTED, .get = op_get_name},
	COMPUTED("kind", op_get_kind),
	MOMENT(struct profile_op, start),
	MOMENT(struct profile_op, end),
	COMPUTED("stream", op_get_stream),
	COMPUTED("graph", get_graph),
	{0}};

/* ---- columns of the host ---- */

static const void *host_of(struct row *row, const void *from)
{
	struct gap_host *host = (void *)row->scratch.bytes;

	_Static_assert(sizeof(*host) <= sizeof(row->scratch), "scratch holds what the host did");
	return gap_host_find(host, row->report->profile, from) ? host : NULL;
}

static const char *call_name(const struct profile *profile, uint32_t call)
{
	return call == PROFILE_NONE ? NULL : profile->call_names[profile->calls[call].name].text;
}

/* "domain: name" */
static void put_range(FILE *out, const struct profile_range *range)
{
	fprintf(out, "%s%s%s", range->domain, *range->domain ? ": " : "", range->name);
}

static struct value get_host_range(struct row *row, const void *from)
{
	const struct gap_host *host = from;
	struct memory_file file;
	FILE *out;

	(void)row;
	if (!host->range)
		return value_none();
	out = memory_file_open(&file);
	if (!out)
		return value_owned_text(NULL);
	put_range(out, host->range);
	return value_owned_text(memory_file_close(&file));
}

GETTER(get_host_process, struct gap_host, host,
       value_count(row->report->profile
			   ->processes[row->report->profile->threads[host->thread].process]
			   .pid));
GETTER(get_host_thread, struct gap_host, host,
       value_integer(row->report->profile->threads[host->thread].thread));
GETTER(get_own_after, struct gap_host, host,
       value_text(host->own_ns ? call_name(row->report->profile, host->after) : NULL));
GETTER(get_own_then, struct gap_host, host,
       value_text(host->own_ns ? call_name(row->report->profile, host->then) : NULL));
GETTER(get_longest_call, struct gap_host, host,
       value_text(call_name(row->report->profile, host->call)));
GETTER(get_launch, struct gap_host, host,
       value_text(call_name(row->report->profile, host->launch)));

static const struct column host_columns[] = {COMPUTED("process", get_host_process),
					     COMPUTED("thread", get_host_thread),
					     COMPUTED("range", get_host_range),
					     FIELD(struct gap_host, own_ns),
					     COMPUTED("after_call", get_own_after),
					     COMPUTED("then_call", get_own_then),
					     COMPUTED("longest_call", get_longest_call),
					     FIELD(struct gap_host, call_ns),
					     COMPUTED("launch_call", get_launch),
					     FIELD(struct gap_host, returned_ns),
					     {0}};

static struct steady_split split_gap(const struct report *report, const struct gap *gap)
{
	uint32_t device = profile_op_device(report->profile, &report->profile->ops[gap->after]);
	struct steady_split split = {0};

	steady_split_any(&split, report->steady_state, device, gap->start_ns, gap->end_ns);
	return split;
}

static const void *split_of(struct row *row, const void *from)
{
	struct steady_split *split = (void *)row->scratch.bytes;

	*split = split_gap(row->report, from);
	return split;
}

static const struct column columns[] = {COMPUTED("device", get_device),
					MOMENT(struct gap, start),
					MOMENT(struct gap, end),
					COMPUTED("duration_ns", get_duration_ns),
					COMPUTED("cause", get_cause),
					GROUP("by_cause", "", struct gap, by_cause_ns,
					      cause_columns),
					GROUP_FOUND("before", op_before, op_columns),
					GROUP_FOUND("after", op_after, op_columns),
					GROUP_FOUND("host", host_of, host_columns),
					INLINE_FOUND(split_of, split_time_columns),
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

/* "94.1 us of its own code after cudaDeviceSynchronize, then cudaMemcpy" */
static void put_own_code(FILE *out, const struct profile *profile, const struct gap_host *host)
{
	fprintf(out, "%s of its own code", format_ns((double)host->own_ns).text);
	if (host->after != PROFILE_NONE)
		fprintf(out, " after %s", call_name(profile, host->after));
	fprintf(out, ", then %s", call_name(profile, host->then));
}

/* "80 us in cudaMalloc, then cudaLaunchKernel" */
static void put_calls(FILE *out, const struct profile *profile, const struct gap_host *host)
{
	fprintf(out, "%s in %s", format_ns((double)host->call_ns).text,
		call_name(profile, host->call));
	if (host->call != host->launch)
		fprintf(out, ", then %s", call_name(profile, host->launch));
}

/* "thread 483 in 'check': ..." */
static void put_host(FILE *out, const struct profile *profile, const struct gap_host *host)
{
	const struct profile_thread *thread = &profile->threads[host->thread];

	if (profile->process_count > 1)
		fprintf(out, "process %" PRIu64 ", ", profile->processes[thread->process].pid);
	fprintf(out, "thread %" PRIu32, thread->thread);
	if (thread->name)
		fprintf(out, " (%s)", thread->name);
	if (host->range) {
		fputs(" in '", out);
		put_range(out, host->range);
		fputc('\'', out);
	}
	fputs(": ", out);
	if (host->own_ns && host->own_ns >= host->call_ns)
		put_own_code(out, profile, host);
	else if (host->call_ns)
		put_calls(out, profile, host);
	else
		fprintf(out, "%s had returned %s before", call_name(profile, host->launch),
			format_ns((double)host->returned_ns).text);
}

static void print_host(struct page *page, const struct gap *gap)
{
	const struct profile *profile = page->report->profile;
	struct gap_host host;
	struct memory_file file;
	FILE *out;
	char *text;

	if (!gap_host_find(&host, profile, gap))
		return;
	out = memory_file_open(&file);
	if (out)
		put_host(out, profile, &host);
	text = out ? memory_file_close(&file) : NULL;
	if (text)
		page_wrap(page, "             host   ", text, 20);
	else
		page->has_failed = true;
	free(text);
}

static void put_gap(struct page *page, const struct gap *gap, int64_t first_ns)
{
	const struct profile *profile = page->report->profile;
	const struct steady_split split = split_gap(page->report, gap);
	char label[160], gpu[32] = "", causes[256], before[GAP_NAME_SIZE], after[GAP_NAME_SIZE];

	if (profile->device_count > 1)
		snprintf(gpu, sizeof(gpu), " on GPU %u",
			 profile_op_device(profile, &profile->ops[gap->after]));
	describe_causes(gap, causes, sizeof(causes));
	if (!split.is_unknown && !split.steady.time_ns)
		snprintf(causes + strlen(causes), sizeof(causes) - strlen(causes), "; once");
	page_describe_op(page, &profile->ops[gap->before], before, sizeof(before), 60);
	page_describe_op(page, &profile->ops[gap->after], after, sizeof(after), 60);
	snprintf(label, sizeof(label),
		 "  %9s  from %s to %s%s: ", format_ns((double)(gap->end_ns - gap->start_ns)).text,
		 format_moment(gap->start_ns - first_ns).text,
		 format_moment(gap->end_ns - first_ns).text, gpu);
	page_wrap(page, label, causes, 13);
	fprintf(page->out, "             after  %s\n             before %s\n", before, after);
	print_host(page, gap);
}

/* With a tenth of its length on both sides, so that what ends and begins there is seen.  It is of the same operations; its
 * time takes the place of that of the report. */
static void print_command(struct page *page, const struct gap *gap, int64_t first_ns)
{
	int64_t margin_ns = (gap->end_ns - gap->start_ns) / 10 + 1;
	int64_t from_ns = max_ns(gap->start_ns - margin_ns - first_ns, 0);
	const char *choice = page->report->part.choice_options;
	struct memory_file file;
	FILE *out = memory_file_open(&file);
	char *command;

	if (out) {
		fprintf(out, "rooflinectl plot %s", choice ? choice : "");
		shell_put_path(out, path_named(page->report->profile->path));
		fprintf(out, " timeline --from %s --to %s", format_moment(from_ns).text,
			format_moment(gap->end_ns + margin_ns - first_ns).text);
	}
	command = out ? memory_file_close(&file) : NULL;
	if (command)
		page_line(page, "  to see the first:\n    ", command);
	else
		page->has_failed = true;
	free(command);
}

static void print_gaps(struct page *page)
{
	const struct gap_analysis *gaps = page->report->gaps;
	/* four lines each: half as many as elsewhere */
	size_t rows = page_rows(page, gaps->longest_count, PAGE_TOP / 2);
	const struct row root = {.report = page->report, .options = page->options};
	int64_t first_ns = page->report->profile->window.first_ns;
	uint64_t count = 0;

	if (!rows)
		return;
	for (size_t i = 0; i < gaps->device_count; i++)
		count += gaps->devices[i].gap_count;
	page_list_title(page, "Longest gaps", "times from the first operation", rows, count);
	for (size_t i = 0; i < rows; i++)
		put_gap(page, section_row(&section_gaps, &root, i), first_ns);
	print_command(page, section_row(&section_gaps, &root, 0), first_ns);
}

const struct section section_gaps = {.key = "gaps",
				     .title = "Longest gaps",
				     .columns = columns,
				     .at = gap_at,
				     .takes_order = true,
				     .print = print_gaps,
				     .empty = "the GPU was never idle between two operations"};
