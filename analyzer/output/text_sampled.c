/* text_sampled.c - what samples of the whole GPU show: beside the trace, and beneath it. */
#include "output/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"

#define BAR_COLUMNS 30

/* ---- Sampled ---- */

static void put_share(struct page *page, const char *label, int64_t part_ns, int64_t whole_ns)
{
	fprintf(page->out, "    %-24s %9s %7s  ", label, format_ns((double)part_ns).text,
		format_percent((double)part_ns, (double)whole_ns).text);
	page_bar(page, part_ns, whole_ns, BAR_COLUMNS);
}

static void put_difference(struct page *page, const struct sm_activity_device *row)
{
	int64_t trace_idle_ns = row->sampled_ns - row->traced_ns;
	int64_t sm_idle_ns = row->sampled_ns - row->active_ns;

	put_share(page, "idle, says the trace", trace_idle_ns, row->sampled_ns);
	put_share(page, "idle, say the SMs", sm_idle_ns, row->sampled_ns);
	for (int i = 0; i < SM_DIFFERENCE_COUNT; i++) {
		char label[40];

		if (!row->difference_ns[i])
			continue;
		snprintf(label, sizeof(label), "%s %s",
			 i == SM_COPY || i == SM_INSIDE ? "  +" : "  -", sm_difference_title(i));
		put_share(page, label, row->difference_ns[i], row->sampled_ns);
	}
}

/* "DRAM 1.20 TB/s, PCIe in 55.2 GB/s": of the sampled time. */
static void put_traffic(struct page *page, const struct sm_activity_device *row)
{
	const struct {
		const char *name;
		double bytes;
	} flows[] = {
		{"DRAM", row->dram_bytes},
		{"L2", row->l2_bytes},
		{"atomics", row->atomic_bytes},
		{"PCIe in", row->pcie_read_bytes},
		{"PCIe out", row->pcie_write_bytes - row->pcie_own_bytes},
		{"NVLink in", row->nvlink_rx_bytes},
		{"NVLink out", row->nvlink_tx_bytes},
	};
	double seconds = (double)row->sampled_ns / 1e9;
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(flows) / sizeof(*flows) && used < sizeof(text); i++)
		if (flows[i].bytes >= 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s",
						 used ? ", " : "", flows[i].name,
						 format_rate(flows[i].bytes / seconds).text);
	if (used)
		page_wrap(page, "    ", text, 4);
}

/* Reading the counters writes over PCIe too. */
static void put_own_traffic(struct page *page, const struct sm_activity_device *row)
{
	if (row->pcie_own_bytes > 0)
		fprintf(page->out, "    PCIe out is without the %s of sampling itself\n",
			format_rate(row->pcie_own_bytes / ((double)row->sampled_ns / 1e9)).text);
	else if (row->pcie_write_bytes > 0)
		fputs("    PCIe out is with what sampling itself writes\n", page->out);
}

static void put_device(struct page *page, size_t number, const struct sm_activity_device *row)
{
	const struct timeline_device *timeline = &page->report->timeline->devices[number];

	fprintf(page->out, "  GPU %zu  %s in %s %s of ", number,
		format_ns((double)row->sampled_ns).text, format_count(row->window_count).text,
		row->window_count == 1 ? "window" : "windows");
	if (row->longest_interval_ns > row->interval_ns)
		fprintf(page->out, "%s to ", format_ns((double)row->interval_ns).text);
	fprintf(page->out, "%s samples", format_ns((double)row->longest_interval_ns).text);
	if (timeline->wall_ns > row->sampled_ns)
		fprintf(page->out, "; not the other %s",
			format_ns((double)(timeline->wall_ns - row->sampled_ns)).text);
	fputc('\n', page->out);
	if (row->has_sms) {
		put_difference(page, row);
		fprintf(page->out, "    %-24s %17s\n", "SMs active, while any is",
			format_percent(row->mean_active_sms, 1).text);
	}
	put_traffic(page, row);
	put_own_traffic(page, row);
}

/* What should have been sampled and was not. */
static void put_lost_time(struct page *page)
{
	const struct profile *profile = page->report->profile;
	uint64_t lost_ns = 0;

	for (size_t i = 0; i < profile->loss_count; i++)
		if (!strcmp(profile->losses[i].kind, "lost_sample_ns"))
			sum_add_count(&lost_ns, profile->losses[i].count);
	if (lost_ns)
		fprintf(page->out, "  %s of samples were lost: not counted, and not as idle\n",
			format_ns((double)lost_ns).text);
}

void page_section_sampling(struct page *page)
{
	const struct sm_activity *activity = page->report->sm_activity;
	bool is_begun = false;

	for (size_t i = 0; i < activity->device_count; i++) {
		if (!activity->devices[i].sampled_ns)
			continue;
		if (!is_begun)
			page_title(page, "Sampled", "everything on the GPU, other processes too");
		is_begun = true;
		put_device(page, i, &activity->devices[i]);
	}
	if (is_begun)
		put_lost_time(page);
}

/* ---- SM activity ---- */

void page_section_sm_activity(struct page *page)
{
	const struct sm_activity *activity = page->report->sm_activity;
	size_t rows = page_rows(page, activity->kernel_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "SM activity of kernels", "over their life, of all SMs", rows,
			activity->kernel_count);
	page_heads(page, "        SMs  least SM   busiest      tail  launches      time");
	for (size_t i = 0; i < rows; i++) {
		const struct sm_activity_kernel *row = &activity->kernels[i];

		fputs("  ", page->out);
		page_kernel_line(page, page->report->profile->kernel_names[row->kernel]);
		fprintf(page->out, "     %6s    %6s    %6s    %6s %9s %9s\n",
			format_percent(row->sms, 1).text, format_percent(row->least_sm, 1).text,
			format_percent(row->busiest_sm, 1).text,
			format_percent((double)row->tail_ns, (double)row->span_ns).text,
			format_count(row->launch_count).text, format_ns((double)row->span_ns).text);
	}
}

/* ---- device-launched work ---- */

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

void page_section_device_work(struct page *page)
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
		 "%s kernels of one block besides: those of the program cannot be told from those "
		 "with which the GPU launches others",
		 format_count(work->single_block_count).text);
	page_wrap(page, "  ", text, 2);
}

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
	int64_t origin_ns = page->report->timeline->devices[row->device].first_ns;
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

void page_section_bursts(struct page *page)
{
	const struct device_work *work = page->report->device_work;
	size_t rows = page_rows(page, work->burst_count, PAGE_TOP);
	struct burst *order = calloc(work->burst_count + 1, sizeof(*order));

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
