/* device_work.c - work that the device launched, found in samples, and its bursts. */
#include "output/page.h"
#include "output/sections/why_empty.h"

#include <stdlib.h>
#include <string.h>

/* ---- by what launched it: columns ---- */

GETTER(get_kernel, struct launcher, launcher,
       launcher->kernel == PROFILE_NONE
	       ? value_none()
	       : value_text(row->report->profile->kernel_names[launcher->kernel]));
GETTER(get_process, struct launcher, launcher,
       launcher->is_graph ? value_text(row->report->profile->processes[launcher->process].folder)
			  : value_none());

static const struct column launcher_columns[] = {COMPUTED("kernel", get_kernel),
						 COMPUTED("process", get_process),
						 FIELD(struct launcher, graph),
						 FIELD(struct launcher, is_inside),
						 FIELD(struct launcher, launch_count),
						 FIELD(struct launcher, dispatch_count),
						 FIELD(struct launcher, block_count),
						 FIELD(struct launcher, dram_bytes),
						 FIELD(struct launcher, span_ns),
						 FIELD(struct launcher, own_ns),
						 FIELD(struct launcher, quiet_ns),
						 INLINE(struct launcher, time,
							distribution_columns),
						 {0}};

ARRAY(launcher_at, device_work, launchers, launcher_count);

FINDER(work_of, struct report, report, report->device_work);

static const struct column count_columns[] = {FIELD(struct device_work, burst_count),
					      FIELD(struct device_work, single_block_count),
					      {0}};

static const struct column object[] = {INLINE_FOUND(work_of, count_columns),
				       ROWS("launchers", launcher_columns, launcher_at),
				       {0}};

/* ---- by what launched it: text ---- */

static void put_name(struct page *page, const struct launcher *row)
{
	const struct profile *profile = page->report->profile;
	char text[64];

	fputs(row->is_inside ? "  in " : "  after ", page->out);
	if (row->kernel != PROFILE_NONE) {
		page_kernel_line(page, profile->kernel_names[row->kernel]);
		return;
	}
	if (row->is_graph)
		snprintf(text, sizeof(text), "graph %u", row->graph);
	else
		snprintf(text, sizeof(text), "copies and memsets, or nothing");
	fprintf(page->out, "%s\n", text);
}

static void put_launcher(struct page *page, const struct launcher *row)
{
	put_name(page, row);
	fprintf(page->out, "  %9s %9s %9s %9s %9s %9s %9s\n", format_count(row->launch_count).text,
		format_count(row->time.count).text, format_count(row->dispatch_count).text,
		format_count(row->block_count).text, format_ns((double)row->time.total_ns).text,
		format_ns(row->time.mean_ns).text,
		row->dram_bytes > 0
			? format_rate(row->dram_bytes / (double)row->time.total_ns * 1e9).text
			: "-");
	if (row->is_inside && row->span_ns && !row->is_graph)
		fprintf(page->out,
			"            of its %s: own blocks %s, launched %s, neither %s\n",
			format_ns((double)row->span_ns).text,
			format_percent((double)row->own_ns, (double)row->span_ns).text,
			format_percent((double)(row->span_ns - row->own_ns - row->quiet_ns),
				       (double)row->span_ns)
				.text,
			format_percent((double)row->quiet_ns, (double)row->span_ns).text);
}

static void print_device_work(struct page *page)
{
	const struct device_work *work = page->report->device_work;
	size_t rows = page_rows(page, work->launcher_count, PAGE_TOP);
	char text[256];

	if (!rows)
		return;
	page_list_title(page, "Work launched by the device", "found in samples", rows,
			work->launcher_count);
	page_heads(page, "   launches    bursts   kernels    blocks      time      mean      DRAM");
	for (size_t i = 0; i < rows; i++)
		put_launcher(page, &work->launchers[i]);
	if (!work->single_block_count)
		return;
	snprintf(text, sizeof(text),
		 "%s more kernels of one block: the program's cannot be told from those that the "
		 "GPU runs to launch others",
		 format_count(work->single_block_count).text);
	page_wrap(page, "  ", text, 2);
}

const struct section section_device_work = {.key = "device_work",
					    .title = "Work launched by the device",
					    .columns = launcher_columns,
					    .at = launcher_at,
					    .object = object,
					    .is_of_samples = true,
					    .print = print_device_work,
					    .why_empty = why_no_device_work};

/* ---- bursts: columns ---- */

FINDER(op_of, struct burst, burst,
       burst->op == PROFILE_NONE ? NULL : &row->report->profile->ops[burst->op]);

static const struct column op_columns[] = {MOMENT_AS("op_start", struct profile_op, start_ns),
					   MOMENT_AS("op_end", struct profile_op, end_ns),
					   {0}};

static const struct column burst_columns[] = {
	FIELD(struct burst, device),	  MOMENT(struct burst, start),
	MOMENT(struct burst, end),	  FIELD(struct burst, dispatch_count),
	FIELD(struct burst, block_count), FIELD(struct burst, dram_bytes),
	FIELD(struct burst, is_inside),	  {FIELD_AS("is_concurrent", struct burst, is_beside)},
	INLINE_FOUND(op_of, op_columns),  {0}};

/* In order of time: programs can sort. */
ARRAY(burst_at, device_work, bursts, burst_count);

/* ---- bursts: text ---- */

static int compare_bursts(const void *left, const void *right)
{
	const struct burst *a = left, *b = right;
	int64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns ? 1 : -1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void put_burst(struct page *page, const struct burst *row)
{
	const struct profile *profile = page->report->profile;
	int64_t origin_ns = page->report->profile->window.first_ns;
	char name[128] = "";

	if (row->op != PROFILE_NONE)
		page_describe_op(page, &profile->ops[row->op], name, sizeof(name), 30);
	fprintf(page->out, "  %9s at %9s %8s %8s  %s %s\n",
		format_ns((double)(row->end_ns - row->start_ns)).text,
		format_ns((double)(row->start_ns - origin_ns)).text,
		format_count(row->dispatch_count).text, format_count(row->block_count).text,
		row->is_beside	 ? "beside"
		: row->is_inside ? "in    "
				 : "after ",
		name);
}

static void print_bursts(struct page *page)
{
	const struct device_work *work = page->report->device_work;
	size_t rows = page_rows(page, work->burst_count, PAGE_TOP);
	struct burst *order = calloc(work->burst_count + 1, sizeof(*order));

	page->has_failed |= !order;
	if (order && work->burst_count)
		memcpy(order, work->bursts, work->burst_count * sizeof(*order));
	if (order && rows) {
		qsort(order, work->burst_count, sizeof(*order), compare_bursts);
		page_list_title(page, "Longest device-launched bursts", NULL, rows,
				work->burst_count);
		page_heads(page, "                          kernels   blocks");
		for (size_t i = 0; i < rows; i++)
			put_burst(page, &order[i]);
	}
	free(order);
}

const struct section section_bursts = {.key = "bursts",
				       .title = "Longest device-launched bursts",
				       .columns = burst_columns,
				       .at = burst_at,
				       .is_of_samples = true,
				       .print = print_bursts,
				       .why_empty = why_no_device_work};
