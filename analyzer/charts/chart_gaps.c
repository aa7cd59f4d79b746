/* chart_gaps.c - idle time by length of the gap, stacked by cause. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sums.h"
#include "charts/chart_colors.h"
#include "charts/quantity.h"

/* Edges 1-2-5 from 100 ns to 1 s; one bin below the first and one from the last on. */
#define EDGE_COUNT 22
#define BIN_COUNT (EDGE_COUNT + 1)
#define LEAST_BINS 6 /* a histogram of one bar shows little about lengths */

struct bin {
	uint64_t gap_count;
	struct chart_idle idle;
};

struct histogram {
	struct bin bins[BIN_COUNT];
	struct chart_idle all;
	uint64_t gap_count;
};

static int64_t edge_ns(int edge)
{
	static const int64_t mantissas[] = {1, 2, 5};
	int64_t value = 100 * mantissas[edge % 3];

	for (int i = 0; i < edge / 3; i++)
		value *= 10;
	return value;
}

static int find_bin(int64_t length_ns)
{
	int bin = 0;

	while (bin < EDGE_COUNT && length_ns >= edge_ns(bin))
		bin++;
	return bin;
}

static int add_gap(const struct gap *gap, void *context)
{
	struct histogram *histogram = context;
	struct bin *bin = &histogram->bins[find_bin(gap->end_ns - gap->start_ns)];

	bin->gap_count++;
	histogram->gap_count++;
	sum_add_ns(&bin->idle.idle_ns, gap->end_ns - gap->start_ns);
	sum_add_ns(&histogram->all.idle_ns, gap->end_ns - gap->start_ns);
	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		sum_add_ns(&bin->idle.by_cause_ns[i], gap->by_cause_ns[i]);
		sum_add_ns(&histogram->all.by_cause_ns[i], gap->by_cause_ns[i]);
	}
	return 0;
}

static int collect(struct histogram *histogram, const struct report *report)
{
	int rc = 0;

	memset(histogram, 0, sizeof(*histogram));
	for (size_t i = 0; i < report->profile->device_count && rc == 0; i++) {
		sum_add_ns(&histogram->all.wall_ns, report->timeline->devices[i].wall_ns);
		rc = gaps_visit(report->gaps, i, add_gap, histogram);
	}
	return rc;
}

/* The bins worth showing: those with gaps, and neighbors up to LEAST_BINS. */
static void find_shown(const struct histogram *histogram, int *first, int *last)
{
	*first = 0;
	*last = histogram->gap_count ? BIN_COUNT - 1 : 0;
	while (*first < *last && !histogram->bins[*first].gap_count)
		++*first;
	while (*last > *first && !histogram->bins[*last].gap_count)
		--*last;
	while (*last - *first + 1 < LEAST_BINS) {
		if (*first > 0)
			--*first;
		if (*last < BIN_COUNT - 1)
			++*last;
	}
}

static int64_t longest_bar_ns(const struct histogram *histogram)
{
	int64_t longest = 0;

	for (int i = 0; i < BIN_COUNT; i++)
		if (histogram->bins[i].idle.idle_ns > longest)
			longest = histogram->bins[i].idle.idle_ns;
	return longest;
}

static void write_bin(FILE *out, const struct bin *bin, int position, double unit_ns)
{
	int64_t below_ns = 0;

	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
		if (!bin->idle.by_cause_ns[cause])
			continue;
		fprintf(out, "%d\t%.9g\t%.9g\t%d\t%c\t\"\"\n", position, (double)below_ns / unit_ns,
			(double)(below_ns + bin->idle.by_cause_ns[cause]) / unit_ns,
			COLOR_CAUSE + cause, chart_color_letter(COLOR_CAUSE + cause));
		sum_add_ns(&below_ns, bin->idle.by_cause_ns[cause]);
	}
	if (bin->gap_count)
		fprintf(out, "%d\t%.9g\t%.9g\t0\t\"\"\t%s\n", position, (double)below_ns / unit_ns,
			(double)below_ns / unit_ns, quantity_short_count(bin->gap_count).text);
}

static int write_bins(const struct histogram *histogram, int first, int last, double unit_ns,
		      const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "bars.dat", err);

	if (rc < 0)
		return rc;
	fputs("# bin\tlow\thigh\tcolor\tletter\tcount\n", file.stream);
	for (int i = first; i <= last; i++)
		write_bin(file.stream, &histogram->bins[i], i - first, unit_ns);
	return chart_file_close(&file, 0, err);
}

static struct figure edge_text(int edge)
{
	const struct quantity_unit *unit = quantity_unit((double)edge_ns(edge));
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.0f %s", (double)edge_ns(edge) / unit->ns,
		 unit->name);
	return figure;
}

/* Edge i is at the left of bin i + 1. */
static int write_edges(int first, int last, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "edges.dat", err);

	if (rc < 0)
		return rc;
	fputs("# position\tlabel\tedge in ns\n", file.stream);
	for (int i = first > 0 ? first - 1 : 0; i <= last && i < EDGE_COUNT; i++) {
		fprintf(file.stream, "%g\t%s\t%" PRId64 "\n", i - first + 0.5, edge_text(i).text,
			edge_ns(i));
	}
	return chart_file_close(&file, 0, err);
}

/* "5 us to 10 us" */
static void describe_bin(char *text, size_t size, int bin)
{
	if (bin == 0)
		snprintf(text, size, "less than %s", edge_text(0).text);
	else if (bin == EDGE_COUNT)
		snprintf(text, size, "%s or more", edge_text(EDGE_COUNT - 1).text);
	else
		snprintf(text, size, "%s to %s", edge_text(bin - 1).text, edge_text(bin).text);
}

/* The lengths of gaps in which the GPU idled longest. */
static void set_title(struct chart_file *file, const struct histogram *histogram)
{
	char lengths[80], title[256];
	int longest = 0;

	while (histogram->bins[longest].idle.idle_ns < longest_bar_ns(histogram))
		longest++;
	describe_bin(lengths, sizeof(lengths), longest);
	snprintf(title, sizeof(title), "%s idle in %s gaps, %s of it in gaps of %s",
		 format_ns((double)histogram->all.idle_ns).text,
		 format_count(histogram->gap_count).text,
		 format_ns((double)histogram->bins[longest].idle.idle_ns).text, lengths);
	chart_set_text(file, "chart_title", title);
}

static void set_subtitle(struct chart_file *file, const struct histogram *histogram,
			 int text_columns)
{
	char text[384];
	size_t size = sizeof(text), used;

	if (text_columns && (size_t)text_columns < size)
		size = (size_t)text_columns;
	used = (size_t)snprintf(
		text, sizeof(text), "%s of %s: ",
		format_percent((double)histogram->all.idle_ns, (double)histogram->all.wall_ns).text,
		format_ns((double)histogram->all.wall_ns).text);
	chart_describe_causes(text + used, size > used ? size - used : 1, &histogram->all);
	chart_set_text(file, "chart_subtitle", text);
}

static int write_settings(const struct histogram *histogram, int first, int last,
			  const struct quantity_unit *unit, int text_columns, const char *folder,
			  struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "gaps.gp", err);
	int legend_end;

	if (rc < 0)
		return rc;
	set_title(&file, histogram);
	set_subtitle(&file, histogram, text_columns);
	chart_set_data(&file, "bars", folder);
	chart_set_data(&file, "edges", folder);
	chart_set_text(&file, "unit", unit->name);
	chart_set_number(&file, "bin_count", last - first + 1);
	chart_set_number(&file, "longest", (double)longest_bar_ns(histogram) / unit->ns);
	chart_begin_legend(&file, 1);
	chart_set_legend(&file, 1, 0, "causes of idle time");
	legend_end = chart_set_cause_legend(&file, 2, &histogram->all, NULL);
	chart_set_number(&file, "legend_count", legend_end > 2 ? legend_end - 1 : 0);
	return chart_file_close(&file, 0, err);
}

int chart_gaps(const struct report *report, const struct chart_options *options, const char *folder,
	       struct err *err)
{
	const struct quantity_unit *unit;
	struct histogram histogram;
	int first, last, rc;

	rc = collect(&histogram, report);
	if (rc < 0)
		return err_set(err, rc, "gaps: cannot be classified: %s", strerror(-rc));
	if (!histogram.gap_count)
		return err_set(err, -ENODATA, "the GPU was never idle between two operations");
	find_shown(&histogram, &first, &last);
	unit = quantity_unit((double)longest_bar_ns(&histogram));
	rc = write_bins(&histogram, first, last, unit->ns, folder, err);
	if (rc == 0)
		rc = write_edges(first, last, folder, err);
	if (rc == 0)
		rc = write_settings(&histogram, first, last, unit, options->text_columns, folder,
				    err);
	return rc;
}
