/* sm_activity.c - how many SMs kernels kept active, as samples show. */
#include "output/page.h"
#include "output/sections/why_empty.h"

GETTER(get_name, struct sm_activity_kernel, kernel,
       value_text(row->report->profile->kernel_names[kernel->kernel]));

static const struct column columns[] = {COMPUTED("name", get_name),
					FIELD(struct sm_activity_kernel, launch_count),
					FIELD(struct sm_activity_kernel, span_ns),
					FIELD(struct sm_activity_kernel, sms),
					FIELD(struct sm_activity_kernel, least_sm),
					FIELD(struct sm_activity_kernel, busiest_sm),
					FIELD(struct sm_activity_kernel, tail_ns),
					FIELD(struct sm_activity_kernel, tensor),
					FIELD(struct sm_activity_kernel, dram_byte_per_s),
					{0}};

ARRAY(kernel_at, sm_activity, kernels, kernel_count);

static void print_sm_activity(struct page *page)
{
	const struct sm_activity *activity = page->report->sm_activity;
	size_t rows = page_rows(page, activity->kernel_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "SM activity of kernels", "share of all SMs while the kernel runs",
			rows, activity->kernel_count);
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

const struct section section_sm_activity = {.key = "sm_activity",
					    .title = "SM activity of kernels",
					    .columns = columns,
					    .at = kernel_at,
					    .print = print_sm_activity,
					    .why_empty = why_not_sampled};
