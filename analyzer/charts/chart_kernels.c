/* chart_kernels.c - kernels by total time, the longest bars first. */
#include <errno.h>
#include <string.h>

#include "base/sums.h"
#include "charts/chart_colors.h"
#include "charts/quantity.h"

#define BAR_COUNT 15

static int64_t total_ns(const struct statistics *statistics, size_t first)
{
	int64_t total = 0;

	for (size_t i = first; i < statistics->kernel_count; i++)
		sum_add_ns(&total, statistics->kernels[i].time.total_ns);
	return total;
}

static void put_bar(struct chart_file *file, size_t position, double total, int color,
		    const char *name, const char *value, const char *detail)
{
	fprintf(file->stream, "%zu\t%.9g\t%d\t%c\t", position, total, color,
		chart_color_letter(color));
	name += strspn(name, " ");
	chart_put_text(file, *name ? name : "(no name)");
	fprintf(file->stream, "\t%s\t%s\n", value, detail);
}

/* How often a kernel ran and how long one run took. */
static void describe_runs(char *text, size_t size, const struct distribution *time)
{
	struct figure count = format_count(time->count);
	struct figure p50 = format_ns((double)time->p50_ns), p99 = format_ns((double)time->p99_ns);

	if (time->count == 1)
		snprintf(text, size, "1 run");
	else if (!strcmp(p50.text, p99.text))
		snprintf(text, size, "%s x %s", count.text, p50.text);
	else
		snprintf(text, size, "%s x %s, p99 %s", count.text, p50.text, p99.text);
}

static void describe_total(char *text, size_t size, int64_t part_ns, int64_t whole_ns)
{
	snprintf(text, size, "%s  %s", format_ns((double)part_ns).text,
		 format_percent((double)part_ns, (double)whole_ns).text);
}

static void put_kernel(struct chart_file *file, const struct kernel_statistics *kernel,
		       size_t position, const char *name, double unit_ns, int64_t whole_ns)
{
	char value[80], detail[128];
	int color =
		position < CHART_KERNEL_COLORS ? COLOR_KERNEL + (int)position : COLOR_OTHER_KERNEL;

	describe_total(value, sizeof(value), kernel->time.total_ns, whole_ns);
	describe_runs(detail, sizeof(detail), &kernel->time);
	put_bar(file, position, (double)kernel->time.total_ns / unit_ns, color, name, value,
		detail);
}

/* One bar for all kernels that got none of their own. */
static void put_rest(struct chart_file *file, const struct statistics *statistics, double unit_ns,
		     int64_t whole_ns)
{
	int64_t rest_ns = total_ns(statistics, BAR_COUNT);
	char name[64], value[80];

	snprintf(name, sizeof(name), "%zu other kernels", statistics->kernel_count - BAR_COUNT);
	describe_total(value, sizeof(value), rest_ns, whole_ns);
	put_bar(file, BAR_COUNT, (double)rest_ns / unit_ns, COLOR_OTHER_KERNEL, name, value,
		"\"\"");
}

static int write_bars(const struct report *report, enum kernel_label label, double unit_ns,
		      const char *folder, struct err *err)
{
	const struct statistics *statistics = report->statistics;
	int64_t whole_ns = total_ns(statistics, 0);
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "bars.dat", err);

	if (rc < 0)
		return rc;
	fputs("# position\ttotal\tcolor\tletter\tname\tvalue\truns\n", file.stream);
	for (size_t i = 0; i < statistics->kernel_count && i < BAR_COUNT; i++)
		put_kernel(&file, &statistics->kernels[i], i,
			   kernel_label(report->profile->kernel_labels, statistics->kernels[i].name,
					label),
			   unit_ns, whole_ns);
	if (statistics->kernel_count > BAR_COUNT)
		put_rest(&file, statistics, unit_ns, whole_ns);
	return chart_file_close(&file, 0, err);
}

static void set_titles(struct chart_file *file, const struct report *report)
{
	const struct statistics *statistics = report->statistics;
	const struct kernel_statistics *first = statistics->kernels;
	int64_t whole_ns = total_ns(statistics, 0);
	uint64_t run_count = 0;
	char text[512];

	for (size_t i = 0; i < statistics->kernel_count; i++)
		run_count += first[i].time.count;
	snprintf(text, sizeof(text), "%s of kernel time, %s in %s",
		 format_ns((double)whole_ns).text,
		 format_percent((double)first->time.total_ns, (double)whole_ns).text,
		 kernel_label(report->profile->kernel_labels, first->name, LABEL_WIDE));
	chart_set_text(file, "chart_title", text);
	snprintf(text, sizeof(text), "%s runs of %zu kernel%s; runs x median, 99th percentile",
		 format_count(run_count).text, statistics->kernel_count,
		 statistics->kernel_count == 1 ? "" : "s");
	chart_set_text(file, "chart_subtitle", text);
}

static int64_t longest_bar_ns(const struct statistics *statistics)
{
	int64_t longest = statistics->kernel_count ? statistics->kernels[0].time.total_ns : 0;
	int64_t rest = total_ns(statistics, BAR_COUNT);

	return rest > longest ? rest : longest;
}

int chart_kernels(const struct report *report, const struct chart_options *options,
		  const char *folder, struct err *err)
{
	const struct statistics *statistics = report->statistics;
	double longest_ns = (double)longest_bar_ns(statistics);
	const struct quantity_unit *unit = quantity_unit(longest_ns);
	size_t shown =
		statistics->kernel_count > BAR_COUNT ? BAR_COUNT + 1 : statistics->kernel_count;
	struct chart_file file;
	int rc;

	if (!statistics->kernel_count)
		return err_set(err, -ENODATA, "no kernel of %s ran", report->profile->path);
	rc = write_bars(report,
			options->text_columns
				? kernel_label_within((size_t)options->text_columns / 3)
				: LABEL_WIDE,
			unit->ns, folder, err);

	if (rc < 0)
		return rc;
	rc = chart_file_open(&file, folder, "kernels.gp", err);
	if (rc < 0)
		return rc;
	set_titles(&file, report);
	chart_set_data(&file, "bars", folder);
	chart_set_number(&file, "bar_count", (double)shown);
	chart_set_number(&file, "longest", longest_ns / unit->ns);
	return chart_file_close(&file, 0, err);
}
