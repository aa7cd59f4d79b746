/* text_verify.c - a comparison of two recordings for people. */
#include "output/verify.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "output/page.h"

static void put_row(const struct page *page, const char *label, const char *value)
{
	fprintf(page->out, "  %-10s %9s", label, value);
}

/* Names from outside keep to a line, so that it can be copied: as long as it needs to be. */
static void put_name(struct page *page, const char *before, const char *name, const char *after)
{
	char buffer[1024];

	format_text(buffer, sizeof(buffer), name, sizeof(buffer) / 4 - 1);
	fprintf(page->out, "%s%s%s", before, buffer, after);
}

static void put_time(struct page *page, const char *label, const struct compared_time *time,
		     const struct compared_repeats *repeats, const struct profile *profile)
{
	put_row(page, label, format_ns(time->mean_ns).text);
	put_name(page, "  ", profile->path, "");
	if (time->count > 1)
		fprintf(page->out, ", mean of %s", format_count(time->count).text);
	fputc('\n', page->out);
	if (repeats->count > 1)
		fprintf(page->out, "  %-10s %9s  the median of %s repeats: %s to %s\n", "", "",
			format_count(repeats->count).text, format_ns(repeats->low_ns).text,
			format_ns(repeats->high_ns).text);
}

static bool has_repeats(const struct comparison *comparison)
{
	return comparison->before_repeats.count > 1 || comparison->after_repeats.count > 1;
}

/* Beyond that what recording added is worth measuring. */
#define ESTIMATE_MOST 0.05

static void put_shares(struct page *page, double before_share, double after_share)
{
	if (before_share < 1 || after_share < 1)
		fprintf(page->out,
			"  %-10s %9s  without what recording added: %.1f%% of before, %.1f%% of "
			"after\n",
			"", "", 100 * (1 - before_share), 100 * (1 - after_share));
}

/* Why what recording added is an estimate, and what would measure it. */
static const char *why_estimated(const struct comparison *comparison)
{
	const struct profile *before = comparison->before_profile;
	const struct profile *after = comparison->after_profile;

	if (!before->untraced_run_count || !after->untraced_run_count)
		return "an estimate: record both with --untraced to measure it";
	if (!before->untraced_same_count || !after->untraced_same_count)
		return "an estimate: a run without recording launched otherwise";
	return "an estimate: no wait ends what is compared in a run without recording";
}

/* What recording added: as it was measured, or an estimate. */
static void put_recording(struct page *page, const struct comparison *comparison)
{
	double before_share = comparison->before_share, after_share = comparison->after_share;

	if (comparison->before_is_measured && comparison->after_is_measured) {
		fprintf(page->out, "  %-10s %9s  as runs without recording took: %s and %s\n", "",
			"", format_ns(before_share * comparison->before.mean_ns).text,
			format_ns(after_share * comparison->after.mean_ns).text);
		return;
	}
	put_shares(page, before_share, after_share);
	if (before_share < 1 - ESTIMATE_MOST || after_share < 1 - ESTIMATE_MOST)
		fprintf(page->out, "  %-10s %9s  %s\n", "", "", why_estimated(comparison));
}

static void put_measured(struct page *page, const struct comparison *comparison)
{
	put_row(page, "measured", format_speedup(comparison->measured).text);
	if (comparison->measured_low < comparison->measured_high)
		fprintf(page->out, "  %s to %s of single %s",
			format_speedup(comparison->measured_low).text,
			format_speedup(comparison->measured_high).text,
			has_repeats(comparison) ? "repeats" : "occurrences");
	fputc('\n', page->out);
	put_recording(page, comparison);
}

/* What the program does once, before its first kernel and after the last one, may hide what a change brought. */
static void put_kernels(struct page *page, const struct comparison *comparison)
{
	double before_ns = comparison->before_kernels_ns, after_ns = comparison->after_kernels_ns;

	struct figure ratio = format_speedup(after_ns > 0 ? before_ns / after_ns : 0);

	if (!(before_ns > 0) || !(after_ns > 0) ||
	    !strcmp(ratio.text, format_speedup(comparison->measured).text))
		return;
	put_row(page, "kernels", ratio.text);
	fprintf(page->out, "  from the first to the last, without that: %s to %s\n",
		format_ns(before_ns).text, format_ns(after_ns).text);
}

static void put_nothing_predicted(struct page *page, const struct comparison *comparison)
{
	put_row(page, "predicted", "-");
	if (comparison->strategy)
		fprintf(page->out, "  no prediction of %s (%s)\n", comparison->strategy,
			comparison->advice);
	else
		fputs("  no prediction: no advice for the first recording has one\n", page->out);
}

/* Its low end first where nobody knows what operations need of each other. */
static void put_interval(struct page *page, const struct comparison *comparison,
			 const struct compared_speedup *speedup)
{
	put_row(page, "predicted",
		format_speedup(comparison->is_up_to ? speedup->low : speedup->predicted).text);
	fputs("  ", page->out);
	if (comparison->is_up_to)
		fprintf(page->out, "up to %s, ", format_speedup(speedup->predicted).text);
	fprintf(page->out, "%s to %s by %s (%s)\n", format_speedup(speedup->low).text,
		format_speedup(speedup->high).text, comparison->strategy, comparison->advice);
}

static void put_predicted(struct page *page, const struct comparison *comparison,
			  const struct compared_speedup *speedup)
{
	char error[32];

	put_interval(page, comparison, speedup);
	if (!(speedup->measured > 0))
		return;
	snprintf(error, sizeof(error), "%+.1f%%", 100 * speedup->error_ratio);
	put_row(page, "error", error);
	fprintf(page->out, "  of the measured speedup, which lies %s the interval\n",
		speedup->is_inside ? "inside" : "outside");
}

static void put_run(struct page *page, const struct comparison *comparison)
{
	const struct compared_speedup speedup = {.measured = comparison->measured,
						 .predicted = comparison->predicted,
						 .low = comparison->low,
						 .high = comparison->high,
						 .error_ratio = comparison->error_ratio,
						 .is_inside = comparison->is_inside};

	put_time(page, "before", &comparison->before, &comparison->before_repeats,
		 comparison->before_profile);
	put_time(page, "after", &comparison->after, &comparison->after_repeats,
		 comparison->after_profile);
	put_measured(page, comparison);
	put_kernels(page, comparison);
	if (speedup.predicted > 0)
		put_predicted(page, comparison, &speedup);
	else
		put_nothing_predicted(page, comparison);
}

/* ---- what repeats ---- */

static void put_iterations(struct page *page, const char *label, const struct compared_side *side)
{
	put_row(page, label, format_ns(side->row_ns).text);
	if (side->row_count > 1)
		fprintf(page->out, "  %s iterations in a row, the median of %s\n",
			format_count(side->row_count).text, format_count(side->count).text);
	else
		fprintf(page->out, "  an iteration, the median of %s\n",
			format_count(side->count).text);
}

static void put_steady(struct page *page, const struct comparison *comparison)
{
	const struct compared_steady *steady = &comparison->steady;

	if (!steady->before.count || !steady->after.count)
		return;
	page_title(page, "Steady state",
		   comparison_is_by_steady(comparison) ? "what repeats; the advice is judged by it"
						       : "what repeats");
	put_iterations(page, "before", &steady->before);
	put_iterations(page, "after", &steady->after);
	put_row(page, "measured", format_speedup(steady->speedup.measured).text);
	fputs(steady->speedup.measured > 0 ? "\n"
					   : "  other iterations than before: the run is judged\n",
	      page->out);
	put_shares(page, steady->before.share, steady->after.share);
	if (steady->speedup.predicted > 0)
		put_predicted(page, comparison, &steady->speedup);
}

/* ---- compiling at run time ---- */

static void put_return(struct page *page, const struct jit_return *jit)
{
	char ratio[32];

	snprintf(ratio, sizeof(ratio), "%+.2f", jit->ratio);
	put_row(page, "return", ratio);
	fputs("  (saved - cost) / cost; ", page->out);
	if (jit->least_launches > 0)
		fprintf(page->out, "it pays from %s launches on\n",
			format_count((uint64_t)jit->least_launches).text);
	else
		fputs("it never pays: the kernels are no faster\n", page->out);
}

static void put_bytes(struct page *page, const char *label, double before, double after,
		      double reduction)
{
	char change[32];

	if (!(before > 0) || !(after > 0))
		return;
	snprintf(change, sizeof(change), "%+.1f%%", -100 * reduction);
	put_row(page, label, change);
	fprintf(page->out, "  %s to %s\n", format_bytes(before).text, format_bytes(after).text);
}

static void put_traffic(struct page *page, const struct comparison *comparison)
{
	const struct traffic_change *traffic = &comparison->traffic;
	const struct traffic *before = &traffic->before, *after = &traffic->after;

	if (traffic->is_left_out)
		page_title(
			page, "Bytes that kernels move",
			"not told of the range: some kernels were launched by no call of the host");
	if (!(before->dram_bytes > 0 && after->dram_bytes > 0) &&
	    !(before->accessed_bytes > 0 && after->accessed_bytes > 0))
		return;
	page_title(page, "Bytes that kernels move",
		   comparison->range ? "of an occurrence in the mean, by counters"
				     : "of the whole runs, by counters");
	put_bytes(page, "DRAM", before->dram_bytes, after->dram_bytes, traffic->dram_reduction);
	put_bytes(page, "accesses", before->accessed_bytes, after->accessed_bytes,
		  traffic->access_reduction);
}

static void put_jit(struct page *page, const struct comparison *comparison)
{
	const struct jit_return *jit = &comparison->jit;

	if (!jit->launch_count)
		return;
	if (comparison->range) {
		page_title(page, "Code compiled at run time",
			   "not told of a range: what is compiled serves the whole run");
		return;
	}
	page_title(page, "Code compiled at run time", "of the whole runs");
	put_row(page, "cost", format_ns(jit->cost_ns).text);
	fputs("  of compiling and loading, at most\n", page->out);
	put_row(page, "saved", format_ns(jit->saved_ns).text);
	fprintf(page->out, "  of kernel time a launch, in the mean of %s\n",
		format_count(jit->launch_count).text);
	put_return(page, jit);
}

static void put_sentences(struct page *page, const char *label, const struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->count; i++)
		page_wrap(page, label, sentences->items[i], 2);
}

static void put_what(struct page *page, const struct comparison *comparison)
{
	char what[512] = "NVTX range ";
	size_t used = strlen(what);

	if (comparison->range)
		format_text(what + used, sizeof(what) - used, comparison->range, 80);
	page_title(page, "Before and after",
		   comparison->range ? what : "the run: first operation to the last's end");
}

int verify_write_text(const struct comparison *comparison, FILE *out,
		      const struct output_options *options, struct err *err)
{
	struct page page = {.out = out, .options = options};

	page_begin(&page);
	put_what(&page, comparison);
	put_run(&page, comparison);
	put_steady(&page, comparison);
	put_traffic(&page, comparison);
	put_jit(&page, comparison);
	put_sentences(&page, "not the same work: ", &comparison->differences);
	put_sentences(&page, "disturbed times: ", &comparison->obstacles);
	put_sentences(&page, "warning: ", &comparison->warnings);
	return page_finish(&page, "the comparison", err);
}
