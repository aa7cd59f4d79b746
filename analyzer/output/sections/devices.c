/* devices.c - where the time of each GPU went. */
#include "output/page.h"

#include "output/sections/steady_state.h"

/* ---- columns ---- */

GETTER(get_device, struct profile_device, device, value_count(row->index));
FINDER(times_of, struct profile_device, device, &row->report->timeline->devices[row->index]);
FINDER(gaps_of, struct profile_device, device, &row->report->gaps->devices[row->index]);
FINDER(sampled_of, struct profile_device, device, &row->report->sm_activity->devices[row->index]);
PREDICATE(is_sampled, struct sm_activity_device, sampled, sampled->kernel_launch_count > 0);
FINDER(collectives_of, struct profile_device, device,
       &row->report->collectives->devices[row->index]);
PREDICATE(is_matched, struct collective_device, collectives, collectives->is_known);

static const struct column tail_columns[] = {
	{FIELD_AS("tail_ns", struct sm_activity_device, kernel_tail_ns), .is_known = is_sampled},
	{0}};
static const struct column wait_columns[] = {
	{FIELD_AS("collective_wait_ns", struct collective_device, wait_ns), .is_known = is_matched},
	{0}};
static const struct column inside_kernels_columns[] = {INLINE_FOUND(sampled_of, tail_columns),
						       INLINE_FOUND(collectives_of, wait_columns),
						       {0}};

static const struct column times_columns[] = {MOMENT(struct timeline_device, first),
					      MOMENT(struct timeline_device, last),
					      FIELD(struct timeline_device, wall_ns),
					      FIELD(struct timeline_device, busy_ns),
					      FIELD(struct timeline_device, idle_ns),
					      FIELD(struct timeline_device, kernel_ns),
					      FIELD(struct timeline_device, copy_ns),
					      FIELD(struct timeline_device, memset_ns),
					      FIELD(struct timeline_device, copy_overlapped_ns),
					      FIELD(struct timeline_device, kernel_total_ns),
					      {FIELD_AS("kernel_concurrent_ns",
							struct timeline_device, kernel_shared_ns)},
					      {0}};

#define CAUSE_COUNT_COLUMN(constant, name, title, meaning) \
	{.key = (name), .type = COLUMN_U64, .offset = GAP_##constant * sizeof(uint64_t)},

static const struct column cause_count_columns[] = {GAP_CAUSES(CAUSE_COUNT_COLUMN){0}};

static const struct column gap_columns[] = {FIELD(struct gap_device, gap_count),
					    GROUP("idle_by_cause", "", struct gap_device,
						  by_cause_ns, cause_columns),
					    GROUP("gap_count_by_cause", NULL, struct gap_device,
						  gap_count_by_cause, cause_count_columns),
					    {0}};

/* What repeats and the rest of it, where something does. */
FINDER(steady_of, struct profile_device, device,
       steady_state_of(row->report, row->index) ? &steady_state_of(row->report, row->index)->steady
						: NULL);
FINDER(once_of, struct profile_device, device,
       steady_state_of(row->report, row->index) ? &steady_state_of(row->report, row->index)->once
						: NULL);

static const struct column columns[] = {COMPUTED("device", get_device),
					FIELD(struct profile_device, name),
					FIELD(struct profile_device, uuid),
					INLINE_FOUND(times_of, times_columns),
					INLINE_FOUND(gaps_of, gap_columns),
					{.key = "inside_kernels",
					 .csv = "",
					 .type = COLUMN_GROUP,
					 .columns = inside_kernels_columns},
					FIELD(struct profile_device, compute_major),
					FIELD(struct profile_device, compute_minor),
					FIELD(struct profile_device, sm_count),
					{FIELD_AS("operation_count", struct profile_device,
						  op_count)},
					GROUP_FOUND("steady", steady_of, run_part_columns),
					GROUP_FOUND("once", once_of, run_part_columns),
					{0}};

ARRAY(device_at, profile, devices, device_count);

/* ---- text ---- */

/* Of one device: what its shares are of. */
struct sheet {
	struct page *page;
	int64_t wall_ns;
	const struct run_part *steady; /* NULL: it repeats nothing */
};

#define LABEL_WIDTH 25
#define LABEL_WIDTH_NARROW 19
#define SHARE_WIDTH 18 /* of a time and its share */

static int label_width(const struct page *page)
{
	return page->screen ? LABEL_WIDTH_NARROW : LABEL_WIDTH;
}

/* What is nothing in the one and not in the other is "-". */
static void put_time(struct page *page, int64_t part_ns, int64_t whole_ns)
{
	if (!part_ns) {
		fprintf(page->out, " %9s", "-");
		return;
	}
	fprintf(page->out, " %9s %7s", format_ns((double)part_ns).text,
		format_percent((double)part_ns, (double)whole_ns).text);
}

/* A part of the run, and of its steady state, where that is known (else negative).  The bar is that of the steady state
 * where there is one: it is what the verdict is about. */
static void put_part(struct sheet *sheet, const char *label, int64_t part_ns, int64_t steady_ns)
{
	struct page *page = sheet->page;

	if (!sheet->steady) {
		page_share(page, label, part_ns, sheet->wall_ns);
		return;
	}
	fprintf(page->out, "  %-*s", label_width(page), label);
	put_time(page, part_ns, sheet->wall_ns);
	if (steady_ns < 0) {
		fputc('\n', page->out);
		return;
	}
	fputs("  ", page->out);
	put_time(page, steady_ns, sheet->steady->wall_ns);
	page_bar(page, steady_ns, sheet->steady->wall_ns,
		 PAGE_WIDTH - LABEL_WIDTH - 2 * (SHARE_WIDTH + 2) - 2);
}

#define OF_STEADY(sheet, member) ((sheet)->steady ? (sheet)->steady->member : -1)

static void put_wall(struct sheet *sheet)
{
	struct page *page = sheet->page;
	const char *what = page->report->profile->window.is_part ? "what was chosen" : "the run";
	const char *whole = page->report->profile->window.is_part
				    ? "what was chosen"
				    : "first operation to the last's end";

	if (sheet->steady) {
		char heads[96];

		snprintf(heads, sizeof(heads), "  %*s%*s  %*s", label_width(page), "", SHARE_WIDTH,
			 what, SHARE_WIDTH, "its steady state");
		page_heads(page, heads);
		fprintf(page->out, "  %-*s %9s %9s %9s\n", label_width(page), "wall",
			format_ns((double)sheet->wall_ns).text, "",
			format_ns((double)sheet->steady->wall_ns).text);
		return;
	}
	fprintf(page->out, "  %-*s %9s %7s  %s\n", label_width(page), "wall",
		format_ns((double)sheet->wall_ns).text, "", whole);
}

/* Parts of the busy time: where there is one kind only, the line above says it all. */
static void put_kinds(struct sheet *sheet, const struct timeline_device *times)
{
	if (times->kernel_ns && (times->kernel_ns < times->busy_ns || times->kernel_shared_ns))
		put_part(sheet, "  kernels", times->kernel_ns, OF_STEADY(sheet, kernel_ns));
	if (times->kernel_shared_ns)
		put_part(sheet, "    concurrent", times->kernel_shared_ns, -1);
	if (times->copy_ns)
		put_part(sheet, "  copies", times->copy_ns, -1);
	if (times->copy_overlapped_ns) {
		char label[64];

		snprintf(label, sizeof(label), "    %s overlapped",
			 format_percent((double)times->copy_overlapped_ns, (double)times->copy_ns)
				 .text);
		put_part(sheet, label, times->copy_overlapped_ns, -1);
	}
	if (times->memset_ns)
		put_part(sheet, "  memsets", times->memset_ns, -1);
}

/* Time in which the GPU seems to have run what no trace shows is told apart, and is not called idle. */
static void put_children(struct sheet *sheet, int64_t children_ns, bool is_sampled)
{
	bool has_remedy = !is_sampled && profile_is_nvidias(sheet->page->report->profile);

	if (!children_ns)
		return;
	put_part(sheet, gap_cause_title(GAP_CHILDREN), children_ns,
		 OF_STEADY(sheet, by_cause_ns[GAP_CHILDREN]));
	page_wrap(
		sheet->page, "    ",
		!has_remedy
			? "not visible in a trace, and not called idle: shown by samples, or by how "
			  "late work starts after kernels that seem to launch others"
			: "not visible in a trace, and not called idle: work starts late after kernels "
			  "that seem to launch others; record with --sample to see these",
		4);
}

static void put_idle(struct sheet *sheet, const struct gap_device *gaps, bool is_sampled)
{
	int64_t children_ns = gaps->by_cause_ns[GAP_CHILDREN];

	put_children(sheet, children_ns, is_sampled);
	put_part(sheet, "idle", gaps->idle_ns - children_ns,
		 sheet->steady ? sheet->steady->idle_ns - sheet->steady->by_cause_ns[GAP_CHILDREN]
			       : -1);
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
		char label[64];

		snprintf(label, sizeof(label), "  %s", gap_cause_title(cause));
		if (gaps->by_cause_ns[cause] && cause != GAP_CHILDREN)
			put_part(sheet, label, gaps->by_cause_ns[cause],
				 OF_STEADY(sheet, by_cause_ns[cause]));
	}
}

/* Time that counts as busy, as a kernel ran, while SMs had nothing to do. */
static void put_inside_kernels(struct sheet *sheet, size_t index)
{
	const struct report *report = sheet->page->report;
	int64_t tail_ns = report->sm_activity->devices[index].kernel_tail_ns;
	int64_t wait_ns = report->collectives->devices[index].wait_ns;

	if (!tail_ns && !wait_ns)
		return;
	fprintf(sheet->page->out, "  %-*s %9s %7s  %s\n", LABEL_WIDTH, "inside kernels", "", "",
		"SMs idle while a kernel runs");
	if (tail_ns)
		put_part(sheet, "  tails", tail_ns, -1);
	if (wait_ns)
		put_part(sheet, "  collective wait", wait_ns, -1);
}

static void put_title(struct page *page, size_t index)
{
	const struct profile_device *device = &page->report->profile->devices[index];
	char title[256], note[128] = "";

	snprintf(title, sizeof(title), "GPU %zu  %s", index, device->name);
	if (device->sm_count)
		snprintf(note, sizeof(note), "compute capability %u.%u, %u SMs",
			 device->compute_major, device->compute_minor, device->sm_count);
	page_title(page, title, note);
}

static void put_device(struct page *page, size_t index)
{
	const struct profile_device *device = &page->report->profile->devices[index];
	const struct timeline_device *times = &page->report->timeline->devices[index];
	const struct steady_device *steady = steady_state_of(page->report, index);
	struct sheet sheet = {page, times->wall_ns, steady ? &steady->steady : NULL};

	put_title(page, index);
	if (!device->op_count && !times->wall_ns) {
		fputs("  no work recorded\n", page->out);
		return;
	}
	put_wall(&sheet);
	put_part(&sheet, "busy", times->busy_ns, OF_STEADY(&sheet, busy_ns));
	put_kinds(&sheet, times);
	put_idle(&sheet, &page->report->gaps->devices[index], device->sample_count > 0);
	put_inside_kernels(&sheet, index);
}

static void print_devices(struct page *page)
{
	for (size_t i = 0; i < page->report->profile->device_count; i++)
		put_device(page, i);
}

const struct section section_devices = {.key = "devices",
					.title = "Devices",
					.columns = columns,
					.at = device_at,
					.print = print_devices,
					.empty = "no GPU was used"};
