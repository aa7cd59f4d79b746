/* sampling.c - what samples of the whole GPU show beside the trace. */
#include "output/page.h"
#include "output/sections/why_empty.h"

#include <stdlib.h>
#include <string.h>

#include "base/sums.h"

#define BAR_COLUMNS 30

/* ---- columns ---- */

static size_t device_of(const struct row *row, const void *from)
{
	const struct sm_activity_device *device = from;

	return (size_t)(device - row->report->sm_activity->devices);
}

static struct value get_device(struct row *row, const void *from)
{
	return value_count(device_of(row, from));
}

static struct value get_name(struct row *row, const void *from)
{
	return value_text(row->report->profile->devices[device_of(row, from)].name);
}

#define DIFFERENCE_COLUMN(constant, name, title, meaning) \
	{.key = (name),                                   \
	 .csv = name "_ns",                               \
	 .type = COLUMN_I64,                              \
	 .offset = SM_##constant * sizeof(int64_t)},

static const struct column difference_columns[] = {SM_DIFFERENCES(DIFFERENCE_COLUMN){0}};

static const struct column columns[] = {COMPUTED("device", get_device),
					COMPUTED("name", get_name),
					FIELD(struct sm_activity_device, interval_ns),
					FIELD(struct sm_activity_device, sample_count),
					FIELD(struct sm_activity_device, window_count),
					FIELD(struct sm_activity_device, sampled_ns),
					FIELD(struct sm_activity_device, has_sms),
					FIELD(struct sm_activity_device, traced_ns),
					FIELD(struct sm_activity_device, active_ns),
					FIELD(struct sm_activity_device, both_ns),
					FIELD(struct sm_activity_device, neither_ns),
					GROUP("differences_ns", "", struct sm_activity_device,
					      difference_ns, difference_columns),
					FIELD(struct sm_activity_device, mean_sms),
					FIELD(struct sm_activity_device, mean_active_sms),
					FIELD(struct sm_activity_device, dram_bytes),
					FIELD(struct sm_activity_device, l2_bytes),
					FIELD(struct sm_activity_device, atomic_bytes),
					FIELD(struct sm_activity_device, pcie_read_bytes),
					FIELD(struct sm_activity_device, pcie_write_bytes),
					FIELD(struct sm_activity_device, nvlink_rx_bytes),
					FIELD(struct sm_activity_device, nvlink_tx_bytes),
					FIELD(struct sm_activity_device, pcie_own_bytes),
					{0}};

/* Devices that were not sampled are left out. */
static const void *sampled_at(const struct row *parent, size_t index)
{
	const struct sm_activity *activity = parent->report->sm_activity;

	for (size_t i = 0; i < activity->device_count; i++)
		if (activity->devices[i].sampled_ns && !index--)
			return &activity->devices[i];
	return NULL;
}

/* ---- text ---- */

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

	put_share(page, "no operation runs", trace_idle_ns, row->sampled_ns);
	put_share(page, "no SM is active", sm_idle_ns, row->sampled_ns);
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
		fprintf(page->out, "    PCIe out excludes the %s that sampling writes\n",
			format_rate(row->pcie_own_bytes / ((double)row->sampled_ns / 1e9)).text);
	else if (row->pcie_write_bytes > 0)
		fputs("    PCIe out includes what sampling writes\n", page->out);
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
		fprintf(page->out, "; the other %s not sampled",
			format_ns((double)(timeline->wall_ns - row->sampled_ns)).text);
	fputc('\n', page->out);
	if (row->has_sms) {
		put_difference(page, row);
		fprintf(page->out, "    %-24s %17s\n", "SMs active when any is",
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

static void print_sampling(struct page *page)
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

const struct section section_sampling = {.key = "sampling",
					 .title = "Sampled",
					 .columns = columns,
					 .at = sampled_at,
					 .is_of_samples = true,
					 .print = print_sampling,
					 .why_empty = why_not_sampled};
