/* text_verify.c - a comparison of two recordings for people. */
#include "output/verify.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "output/page.h"

/* 3.91x, 128x */
static struct figure speedup_figure(double speedup)
{
	struct figure figure;

	if (speedup > 0)
		snprintf(figure.text, sizeof(figure.text), "%.*fx", speedup < 100 ? 2 : 0, speedup);
	else
		snprintf(figure.text, sizeof(figure.text), "-");
	return figure;
}

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
		     const struct profile *profile)
{
	put_row(page, label, format_ns(time->mean_ns).text);
	put_name(page, "  ", profile->path, "");
	if (time->count > 1)
		fprintf(page->out, ", mean of %s", format_count(time->count).text);
	fputc('\n', page->out);
}

static void put_measured(struct page *page, const struct comparison *comparison)
{
	put_row(page, "measured", speedup_figure(comparison->measured).text);
	if (comparison->measured_low < comparison->measured_high)
		fprintf(page->out, "  %s to %s of single occurrences",
			speedup_figure(comparison->measured_low).text,
			speedup_figure(comparison->measured_high).text);
	fputc('\n', page->out);
	if (comparison->before_share < 1 || comparison->after_share < 1)
		fprintf(page->out,
			"  %-10s %9s  without what recording added: %.1f%% of before, %.1f%% of "
			"after\n",
			"", "", 100 * (1 - comparison->before_share),
			100 * (1 - comparison->after_share));
}

/* What the program does once, before its first kernel and after the last one, may hide what a change brought. */
static void put_kernels(struct page *page, const struct comparison *comparison)
{
	double before_ns = comparison->before_kernels_ns, after_ns = comparison->after_kernels_ns;

	struct figure ratio = speedup_figure(after_ns > 0 ? before_ns / after_ns : 0);

	if (!(before_ns > 0) || !(after_ns > 0) ||
	    !strcmp(ratio.text, speedup_figure(comparison->measured).text))
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

static void put_predicted(struct page *page, const struct comparison *comparison)
{
	char error[32];

	if (!(comparison->predicted > 0)) {
		put_nothing_predicted(page, comparison);
		return;
	}
	put_row(page, "predicted", speedup_figure(comparison->predicted).text);
	fprintf(page->out, "  %s to %s by %s (%s)\n", speedup_figure(comparison->low).text,
		speedup_figure(comparison->high).text, comparison->strategy, comparison->advice);
	if (!comparison_is_judged(comparison))
		return;
	snprintf(error, sizeof(error), "%+.1f%%", 100 * comparison->error_ratio);
	put_row(page, "error", error);
	fprintf(page->out, "  of the measured speedup, which lies %s the interval\n",
		comparison->is_inside ? "inside" : "outside");
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

	put_what(&page, comparison);
	put_time(&page, "before", &comparison->before, comparison->before_profile);
	put_time(&page, "after", &comparison->after, comparison->after_profile);
	put_measured(&page, comparison);
	put_kernels(&page, comparison);
	put_predicted(&page, comparison);
	put_sentences(&page, "not the same work: ", &comparison->differences);
	put_sentences(&page, "disturbed times: ", &comparison->obstacles);
	put_sentences(&page, "warning: ", &comparison->warnings);
	if (ferror(out) || fflush(out))
		return err_set(err, -EIO, "the comparison could not be written: %s",
			       strerror(errno));
	return 0;
}
