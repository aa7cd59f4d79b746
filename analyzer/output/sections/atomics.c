/* atomics.c - what atomics cost, by kernel. */
#include "output/page.h"
#include "output/sections/why_empty.h"
#include "output/points.h"

#include <string.h>

/* ---- columns ---- */

static const struct column columns[] = {FIELD(struct atomics_kernel, name),
					FIELD(struct atomics_kernel, launch_count),
					FIELD(struct atomics_kernel, time_ns),
					FIELD(struct atomics_kernel, least_sample_count),
					FIELD(struct atomics_kernel, most_sample_count),
					FIELD_FROM_ZERO(struct atomics_kernel, duration_ns),
					FIELD_FROM_ZERO(struct atomics_kernel, global_instructions),
					FIELD_FROM_ZERO(struct atomics_kernel, shared_instructions),
					FIELD_FROM_ZERO(struct atomics_kernel, requests),
					FIELD_FROM_ZERO(struct atomics_kernel, sectors),
					FIELD_FROM_ZERO(struct atomics_kernel, sectors_per_request),
					FIELD_FROM_ZERO(struct atomics_kernel,
							requests_per_instruction),
					FIELD_FROM_ZERO(struct atomics_kernel, cas_share),
					FIELD_FROM_ZERO(struct atomics_kernel, unit_share),
					FIELD_FROM_ZERO(struct atomics_kernel, hottest_share),
					FIELD_FROM_ZERO(struct atomics_kernel, slice_ratio),
					FIELD_FROM_ZERO(struct atomics_kernel, busy_slices),
					FIELD_FROM_ZERO(struct atomics_kernel, explained_ns),
					FIELD_FROM_ZERO(struct atomics_kernel, ceiling_ns),
					FIELD_FROM_ZERO(struct atomics_kernel, other_ns),
					FIELD_ABOVE_ZERO(struct atomics_kernel, batch),
					FIELD(struct atomics_kernel, is_bottleneck),
					{0}};

ARRAY(kernel_at, atomics, kernels, kernel_count);

FINDER(atomics_of, struct report, report, report->atomics);

static const struct column asked_columns[] = {{FIELD_AS("is_counted", struct atomics, is_asked)},
					      {0}};

static const struct column object[] = {INLINE_FOUND(atomics_of, asked_columns),
				       ROWS("kernels", columns, kernel_at),
				       {0}};

/* ---- text ---- */

static const struct figure unknown = {"-"};

static struct figure known_count(double count)
{
	return count < 0 ? unknown : point_count(count);
}

static struct figure known_share(double share)
{
	return share < 0 ? unknown : format_percent(share, 1);
}

static struct figure known_ns(double ns)
{
	return ns < 0 ? unknown : format_ns(ns);
}

static struct figure known_ratio(double ratio)
{
	struct figure figure = {"-"};

	if (ratio >= 0)
		snprintf(figure.text, sizeof(figure.text), "%.1f", ratio);
	return figure;
}

/* "merge 64", "fine" where merging would not help, "-" where that is not known. */
static struct figure advice_of(const struct atomics_kernel *kernel)
{
	struct figure figure = {"-"};

	if (kernel->batch > 1)
		snprintf(figure.text, sizeof(figure.text), "merge %.24s",
			 format_count(kernel->batch).text);
	else if (kernel->batch == 1)
		snprintf(figure.text, sizeof(figure.text), "fine");
	return figure;
}

static void put_atomics_of(struct page *page, const struct atomics_kernel *kernel)
{
	if (kernel->is_bottleneck) {
		fputs("  ", page->out);
		page_kernel(page, kernel->name, PAGE_WIDTH - 4 - strlen("bottleneck"));
		fputs("  bottleneck\n", page->out);
	} else {
		page_kernel_line(page, kernel->name);
	}
	fprintf(page->out, "  %8s %8s %7s %6s %6s %7s %8s %7s  %s\n",
		known_count(kernel->requests).text, known_count(kernel->sectors).text,
		known_ratio(kernel->sectors_per_request).text, known_share(kernel->cas_share).text,
		known_share(kernel->unit_share).text, known_share(kernel->hottest_share).text,
		known_ns(kernel->explained_ns).text, known_ns(kernel->duration_ns).text,
		advice_of(kernel).text);
}

static bool has_bottleneck(const struct atomics *atomics)
{
	for (size_t i = 0; i < atomics->kernel_count; i++)
		if (atomics->kernels[i].is_bottleneck)
			return true;
	return false;
}

static void put_atomics_legend(struct page *page)
{
	page_wrap(
		page, "  ",
		"sect/rq: sectors per request, how far a request's addresses are spread; not "
		"retries.  mean, hottest: busy cycles of the L2 atomic units.  explains: the part "
		"of a launch that the hottest unit needs",
		2);
	if (has_bottleneck(page->report->atomics))
		page_wrap(
			page, "  ",
			"merge N: with N atomics merged into one, in a register, a warp or shared "
			"memory, atomics would no longer be the bottleneck",
			2);
}

static void print_atomics(struct page *page)
{
	const struct atomics *atomics = page->report->atomics;
	size_t rows = page_rows(page, atomics->kernel_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "Atomics", "per launch", rows, atomics->kernel_count);
	page_heads(page, "  requests  sectors sect/rq    CAS   mean hottest explains   lasts  "
			 "advice");
	for (size_t i = 0; i < rows; i++)
		put_atomics_of(page, &atomics->kernels[i]);
	put_atomics_legend(page);
}

static struct sentence why_no_atomics(const struct report *report)
{
	return report->atomics->is_asked ? why("no kernel that was counted has atomics")
					 : why_no_counters(report, "--counters=atomics");
}

const struct section section_atomics = {.key = "atomics",
					.title = "Atomics",
					.columns = columns,
					.at = kernel_at,
					.object = object,
					.print = print_atomics,
					.why_empty = why_no_atomics};
