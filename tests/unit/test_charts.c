/* test_charts.c - what a picture shows of a recording: nothing more and nothing less. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "charts/chart_colors.h"
#include "charts/chart_file.h"
#include "charts/timelines/chart_rows.h"
#include "charts/charts.h"
#include "base/temporary.h"
#include "charts/gnuplot.h"
#include "charts/quantity.h"
#include "charts/timelines/raster.h"
#include "profile_builder.h"

#define COLUMNS 100
#define COLUMN_NS 100

/* A row with its runs, in a window of COLUMNS columns of COLUMN_NS each. */
struct drawn {
	struct raster raster;
	struct raster_run runs[1000];
	size_t count;
};

static int keep_run(const struct raster_run *run, void *context)
{
	struct drawn *drawn = context;

	assert_in_range(drawn->count, 0, 999);
	drawn->runs[drawn->count++] = *run;
	return 0;
}

static struct drawn *row_new(void)
{
	struct drawn *drawn = calloc(1, sizeof(*drawn));

	assert_non_null(drawn);
	raster_init(&drawn->raster, 0, (int64_t)COLUMNS * COLUMN_NS, COLUMNS, keep_run, drawn);
	return drawn;
}

static void row_add(struct drawn *drawn, int64_t start_ns, int64_t end_ns, unsigned class_index)
{
	assert_int_equal(raster_add(&drawn->raster, start_ns, end_ns, class_index, "label"), 0);
}

static uint64_t intervals(const struct drawn *drawn)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < drawn->count; i++)
		sum += drawn->runs[i].interval_count;
	return sum;
}

static int64_t busy(const struct drawn *drawn)
{
	int64_t sum = 0;

	for (size_t i = 0; i < drawn->count; i++)
		sum += drawn->runs[i].busy_ns;
	return sum;
}

static void wide_intervals_are_drawn_exactly_where_they_are(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	row_add(row, 150, 475, 1);
	row_add(row, 480, 1000, 2);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->runs[0].start_ns, 150);
	assert_int_equal(row->runs[0].end_ns, 475);
	assert_true(row->runs[0].is_exact);
	assert_int_equal(row->runs[1].start_ns, 480);
	assert_int_equal(row->runs[1].end_ns, 1000);
	free(row);
}

static void a_single_short_interval_is_drawn_one_column_wide(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	row_add(row, 5000, 5003, 4);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(row->count, 1);
	assert_int_equal(row->runs[0].end_ns - row->runs[0].start_ns, COLUMN_NS);
	assert_int_equal(row->runs[0].busy_ns, 3);
	assert_int_equal(row->runs[0].class_ns[4], 3);
	free(row);
}

static void a_spike_of_another_class_among_short_intervals_stays_visible(void **state)
{
	struct drawn *row = row_new();
	int64_t spike_ns = 0, widest_ns = 0;

	(void)state;
	for (int i = 0; i < 400; i++)
		row_add(row, i * 25, i * 25 + 20, i == 200 ? 3 : 1);
	assert_int_equal(raster_finish(&row->raster), 0);
	for (size_t i = 0; i < row->count; i++) {
		if (!row->runs[i].class_ns[3])
			continue;
		spike_ns += row->runs[i].class_ns[3];
		widest_ns = row->runs[i].end_ns - row->runs[i].start_ns;
	}
	assert_int_equal(spike_ns, 20);
	assert_in_range(widest_ns, 1, 8 * COLUMN_NS);
	free(row);
}

static void short_intervals_keep_their_share_of_the_time(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	for (int i = 0; i < 1000; i++)
		row_add(row, i * 10, i * 10 + 3, (unsigned)i % 3);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(intervals(row), 1000);
	assert_int_equal(busy(row), 3000);
	for (size_t i = 0; i < row->count; i++) {
		int64_t width = row->runs[i].end_ns - row->runs[i].start_ns;

		assert_in_range(row->runs[i].busy_ns * 100 / width, 27, 33);
	}
	free(row);
}

static void alike_runs_that_touch_are_one_bar_and_different_ones_are_not(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	for (int i = 0; i < 1000; i++)
		row_add(row, i * 10, i * 10 + (i < 500 ? 2 : 8), 0);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_in_range(row->count, 2, 3); /* one run may straddle the change */
	assert_in_range(row->runs[0].end_ns, 4400, 5000);
	assert_int_equal(busy(row), 5000);
	free(row);
}

static void a_gap_of_a_column_between_short_intervals_stays_open(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	row_add(row, 1000, 1090, 0);
	row_add(row, 1190, 1280, 0);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->runs[0].end_ns, 1100);
	assert_int_equal(row->runs[1].start_ns, 1190);
	free(row);
}

static void overlapping_intervals_are_counted_once_as_busy(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	row_add(row, 1000, 3000, 0);
	row_add(row, 1500, 2000, 1); /* under the first */
	row_add(row, 2500, 3500, 2); /* beyond it */
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(busy(row), 2500);
	assert_int_equal(intervals(row), 3);
	assert_int_equal(row->runs[0].class_ns[1], 500);
	assert_int_equal(row->runs[1].start_ns, 3000);
	free(row);
}

static void what_lies_outside_the_window_is_cut_off(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	row_add(row, -500, -100, 0);
	row_add(row, -50, 300, 0);
	row_add(row, 9500, 20000, 0);
	row_add(row, 30000, 40000, 0);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(busy(row), 800);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->runs[0].start_ns, 0);
	assert_int_equal(row->runs[1].end_ns, COLUMNS * COLUMN_NS);
	free(row);
}

static void an_interval_without_length_is_drawn_too(void **state)
{
	struct drawn *row = row_new();

	(void)state;
	row_add(row, 700, 700, 2);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(row->count, 1);
	assert_int_equal(row->runs[0].class_ns[2], 1);
	free(row);
}

static void a_mixed_interval_keeps_the_parts_of_its_classes(void **state)
{
	const int64_t class_ns[RASTER_CLASSES] = {[0] = 700, [5] = 300};
	struct drawn *row = row_new();

	(void)state;
	assert_int_equal(raster_add_mixed(&row->raster, 2000, 3000, class_ns), 0);
	assert_int_equal(raster_add_mixed(&row->raster, 9500, 10500, class_ns), 0);
	assert_int_equal(raster_finish(&row->raster), 0);
	assert_int_equal(row->runs[0].class_ns[0], 700);
	assert_int_equal(row->runs[0].class_ns[5], 300);
	assert_int_equal(row->runs[1].class_ns[0], 350); /* half of it is shown */
	free(row);
}

static int refuse_run(const struct raster_run *run, void *context)
{
	(void)run;
	(void)context;
	return -7;
}

static void an_error_while_drawing_ends_it(void **state)
{
	struct raster raster;

	(void)state;
	raster_init(&raster, 0, 1000, 10, refuse_run, NULL);
	assert_int_equal(raster_add(&raster, 0, 500, 0, NULL), 0);
	assert_int_equal(raster_finish(&raster), -7);
}

/* ---- files for gnuplot ---- */

/* What folder/name holds; the caller frees it. */
static char *read_whole(const char *folder, const char *name)
{
	char path[PATH_MAX], *text = calloc(1, 65536);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void no_name_can_become_a_command_or_break_a_column(void **state)
{
	char folder[PATH_MAX], *text;
	struct chart_file file;

	(void)state;
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_file_open(&file, folder, "x.gp", NULL), 0);
	chart_set_text(&file, "name", "it's\n`ls` \\ \"x\"");
	chart_put_text(&file, "a\tb\n\"c\\");
	putc('|', file.stream);
	chart_put_text(&file, "");
	chart_put_text(&file, " \t");
	chart_put_text(&file, " d\xff\xc2\x9b\xc3\xa9");
	assert_int_equal(chart_file_close(&file, 0, NULL), 0);
	text = read_whole(folder, "x.gp");
	assert_string_equal(text, "name = 'it''s `ls` \\ \"x\"'\na b 'c/|\"\"\"\"d   \xc3\xa9");
	free(text);
	temporary_remove(folder);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
	struct chart_file file;
	struct err err = {""};

	(void)state;
	assert_true(chart_file_open(&file, "/nonexistent", "x.gp", &err) < 0);
	assert_non_null(strstr(err.text, "/nonexistent/x.gp"));
	assert_int_equal(chart_file_close(&file, -3, NULL), -3);
}

static void counts_above_bars_take_at_most_four_characters(void **state)
{
	(void)state;
	assert_string_equal(quantity_short_count(0).text, "0");
	assert_string_equal(quantity_short_count(999).text, "999");
	assert_string_equal(quantity_short_count(1000).text, "1.0k");
	assert_string_equal(quantity_short_count(99999).text, "100k");
	assert_string_equal(quantity_short_count(999600).text, "1.0M");
}

/* ---- rows ---- */
static const struct chart_window all_time = {INT64_MIN, INT64_MAX};

static void what_is_not_shown_has_no_row(void **state)
{
	struct builder *b = builder_new(3, 1);
	struct chart_rows rows;

	(void)state;
	b->ranges[0] = (struct profile_range){0, 100, "", "early", 0, 0, true, false, NULL};
	b->profile.range_count = 1;
	builder_kernel(b, 0, "before", 0, 10, PROFILE_NONE);
	builder_copy(b, 0, (struct profile_copy){.kind = 1}, 20, 90, PROFILE_NONE);
	builder_kernel(b, 1, "shown", 140, 400, PROFILE_NONE);
	builder_copy(b, 0, (struct profile_copy){.kind = 2}, 150, 150, PROFILE_NONE);
	builder_kernel(b, 2, "behind", 201, 300, PROFILE_NONE);
	builder_finish(b);
	assert_int_equal(chart_rows_choose(&rows, &b->profile, (struct chart_window){150, 200},
					   NULL),
			 0);
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.of_stream[1], 0);
	assert_string_equal(rows.rows[1].label, "copy DtoH");
	assert_int_equal(rows.rows[2].kind, ROW_GAPS);
	assert_int_equal(rows.of_stream[0], PROFILE_NONE);
	assert_int_equal(rows.of_stream[2], PROFILE_NONE);
	assert_int_equal(chart_row_of_range(&rows, &b->ranges[0]), PROFILE_NONE);
	chart_rows_free(&rows);
	free(b);
}

static void the_busiest_streams_get_rows_and_the_others_share_one(void **state)
{
	struct builder *b = builder_new(16, 1);
	struct chart_rows rows;
	uint32_t last;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		b->streams[i].stream = 100 + i;
		builder_kernel(b, i, "k", 1000 * i, 1000 * i + 10 * (i + 1), PROFILE_NONE);
	}
	builder_finish(b);
	assert_int_equal(chart_rows_choose(&rows, &b->profile, all_time, NULL), 0);
	last = rows.of_stream[0];
	assert_string_equal(rows.rows[last].label, "7 other streams");
	assert_int_equal(rows.of_stream[6], last);
	assert_int_not_equal(rows.of_stream[7], last);
	assert_int_equal(rows.rows[rows.count - 1].kind, ROW_GAPS);
	chart_rows_free(&rows);
	free(b);
}

static void a_range_row_stands_above_the_streams(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct chart_rows rows;

	(void)state;
	b->ranges[0] = (struct profile_range){0, 100, "", "outer", 0, 0, true, false, NULL};
	b->ranges[1] = (struct profile_range){10, 20, "", "deep", 0, 7, true, false, NULL};
	b->profile.range_count = 2;
	builder_kernel(b, 0, "k", 0, 10, PROFILE_NONE);
	builder_finish(b);
	assert_int_equal(chart_rows_choose(&rows, &b->profile, all_time, NULL), 0);
	assert_int_equal(chart_row_of_range(&rows, &b->ranges[0]), 0);
	assert_int_equal(chart_row_of_range(&rows, &b->ranges[1]), PROFILE_NONE);
	assert_int_equal(chart_row_of_op(&rows, &b->profile, &b->ops[0]), 1);
	chart_rows_free(&rows);
	free(b);
}

/* ---- whole charts ---- */
static struct report report_of(struct builder *b)
{
	struct report report = {.profile = &b->profile};

	builder_finish(b);
	assert_int_equal(timeline_build(&report.timeline, &b->profile, NULL), 0);
	assert_int_equal(statistics_collect(&report.statistics, &b->profile, NULL, NULL), 0);
	assert_int_equal(gaps_analyze(&report.gaps, &b->profile, report.timeline, 0, NULL), 0);
	assert_int_equal(device_work_build(&report.device_work, &b->profile, NULL), 0);
	return report;
}

static void report_close(struct report *report)
{
	timeline_free(report->timeline);
	statistics_free(report->statistics);
	gaps_free(report->gaps);
	device_work_free(report->device_work);
}

/* Sums last - first over the data rows of a column file, color 0 left out. */
static double sum_of_bars(const char *text)
{
	double sum = 0, low, high;
	int bin, color;

	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		if (sscanf(line + 1, "%d\t%lf\t%lf\t%d", &bin, &low, &high, &color) == 4 && color)
			sum += high - low;
	return sum;
}

static void the_bars_of_the_gap_chart_add_up_to_the_idle_time(void **state)
{
	const struct chart_options options = {.to_ns = -1};
	struct builder *b = builder_new(1, 1);
	char folder[PATH_MAX], *text;
	struct report report;

	(void)state;
	for (int i = 0; i < 50; i++) /* gaps of 0, 100, 400, 900 ns ... */
		builder_kernel(b, 0, "k", i * (i + 1) * (2 * i + 1) / 6 * 100 + i * 50,
			       i * (i + 1) * (2 * i + 1) / 6 * 100 + i * 50 + 50, PROFILE_NONE);
	report = report_of(b);
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_gaps(&report, &options, folder, NULL), 0);
	text = read_whole(folder, "bars.dat");
	assert_int_equal((int64_t)(sum_of_bars(text) * 1000000 + 0.5), /* the unit is ms */
			 report.timeline->devices[0].idle_ns);
	free(text);
	temporary_remove(folder);
	report_close(&report);
	free(b);
}

static void kernels_beyond_the_fifteenth_are_one_bar_with_their_time(void **state)
{
	const struct chart_options options = {.to_ns = -1};
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
					    "j", "k", "l", "m", "n", "o", "p", "q"};
	struct builder *b = builder_new(1, 1);
	char folder[PATH_MAX], *text;
	struct report report;

	(void)state;
	for (int i = 0; i < 17; i++)
		builder_kernel(b, 0, names[i], i * 1000, i * 1000 + 100 - i, PROFILE_NONE);
	report = report_of(b);
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_kernels(&report, &options, folder, NULL), 0);
	text = read_whole(folder, "bars.dat");
	assert_non_null(strstr(text, "0\t100\t1\tA\ta\t100 ns"));
	assert_non_null(strstr(text, "15\t169\t8\tX\t2 other kernels\t169 ns"));
	free(text);
	temporary_remove(folder);
	report_close(&report);
	free(b);
}

static void a_window_of_the_timeline_tells_the_idle_time_in_it(void **state)
{
	const struct chart_options options = {.from_ns = 1000, .to_ns = 3000};
	struct builder *b = builder_new(1, 1);
	char folder[PATH_MAX], *text;
	struct report report;

	(void)state;
	builder_kernel(b, 0, "k", 5000, 6500, PROFILE_NONE); /* 500 ns of it are shown */
	builder_kernel(b, 0, "k", 9000, 9500, PROFILE_NONE);
	report = report_of(b);
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_timeline(&report, &options, folder, NULL), 0);
	text = read_whole(folder, "timeline.gp");
	assert_non_null(strstr(text, "idle for 75.0% of 2.00 us"));
	free(text);
	temporary_remove(folder);
	report_close(&report);
	free(b);
}

static void what_is_zoomed_to_is_shown_with_a_margin_wherever_it_lies(void **state)
{
	const struct occurrence before = {.name = "load",
					  .is_range = true,
					  .number = 3,
					  .count = 1000,
					  .start_ns = 1000,
					  .end_ns = 3000};
	const struct chart_options options = {.to_ns = -1, .occurrence = &before};
	struct builder *b = builder_new(1, 1);
	char folder[PATH_MAX], *text;
	struct report report;

	(void)state;
	builder_range(b, 0, "load", 1000, 3000);
	builder_kernel(b, 0, "k", 5000, 6500, PROFILE_NONE);
	report = report_of(b);
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_timeline(&report, &options, folder, NULL), 0);
	text = read_whole(folder, "timeline.gp");
	assert_non_null(strstr(text, "NVIDIA Test: outside the time of GPU operations"));
	assert_non_null(strstr(text, "chart_subtitle = 'load, 3 of 1,000, at -4.00 us'"));
	assert_non_null(strstr(text, "from = -61\n")); /* ns before it begins */
	assert_non_null(strstr(text, "to = 2061\n"));
	free(text);
	temporary_remove(folder);
	report_close(&report);
	free(b);
}

static void a_window_behind_the_end_is_an_error(void **state)
{
	const struct chart_options options = {.from_ns = 10000, .to_ns = -1};
	struct builder *b = builder_new(1, 1);
	struct err err = {""};
	struct report report;

	(void)state;
	builder_kernel(b, 0, "k", 5000, 6500, PROFILE_NONE);
	report = report_of(b);
	assert_true(chart_timeline(&report, &options, "/nonexistent", &err) < 0);
	assert_non_null(strstr(err.text, "lasts 1.50 us"));
	report_close(&report);
	free(b);
}

static void in_characters_a_cell_busy_for_half_of_its_time_gets_a_capital_letter(void **state)
{
	const struct chart_options options = {.to_ns = -1, .text_columns = 40};
	struct builder *b = builder_new(1, 1);
	char folder[PATH_MAX], *text;
	struct report report;

	(void)state;
	for (int i = 0; i < 2000; i++) /* 30% busy, then 80% */
		builder_kernel(b, 0, "k", i * 10, i * 10 + (i < 1000 ? 3 : 8), PROFILE_NONE);
	report = report_of(b);
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_timeline(&report, &options, folder, NULL), 0);
	text = read_whole(folder, "spans.dat");
	assert_non_null(strstr(text, "0.5\t0\t1\ta\n"));
	assert_non_null(strstr(text, "20.5\t0\t1\tA\n"));
	free(text);
	temporary_remove(folder);
	report_close(&report);
	free(b);
}

/* ---- before and after ---- */

/* Two iterations of a launch, a wait and a kernel of 10 us: in 100 us, and as graphs in 40 us, beside a
 * kernel that another thread launched. */
static void fill_sides(struct side_by_side *sides, struct builder *b, struct side_span spans[10])
{
	uint32_t other = builder_thread(b, 0);

	for (int i = 0; i < 2; i++) {
		int64_t now_ns = i * 50000;
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 5000);

		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 5000,
			     now_ns + 50000);
		builder_kernel(b, 0, "step", now_ns + 10000, now_ns + 20000, call);
		spans[2 * i] = (struct side_span){now_ns, now_ns + 5000, call, CALL_LAUNCH, true};
		spans[2 * i + 1] = (struct side_span){now_ns + 5000, now_ns + 50000, call + 1,
						      CALL_SYNC, true};
		spans[4 + i] = (struct side_span){now_ns + 10000, now_ns + 20000, (uint32_t)i,
						  CALL_OTHER, true};
		spans[6 + i] = (struct side_span){i * 5000, i * 5000 + 4000, call,
						  CALL_GRAPH_LAUNCH, true};
	}
	builder_kernel(b, 0, "beside", 60000, 90000, builder_launch(b, other, 0, 1000));
	spans[8] = (struct side_span){10000, 20000, 0, CALL_OTHER, true};
	spans[9] = (struct side_span){15000, 45000, 2, CALL_OTHER, false};
	*sides = (struct side_by_side){.stretch = {.end = 4,
						   .first_iteration = 2,
						   .iteration_count = 2,
						   .loop_iteration_count = 1000},
				       .before = {.end_ns = 100000,
						  .run_start_ns = 10000,
						  .calls = spans,
						  .call_count = 4,
						  .ops = spans + 4,
						  .op_count = 2},
				       .after = {.end_ns = 40000,
						 .calls = spans + 6,
						 .call_count = 2,
						 .ops = spans + 8,
						 .op_count = 2}};
}

static const char no_copies[] = "there are no copies beside kernels to overlap";

static const struct scenario a_scenario = {.part_count = 2,
					   .parts = {{.technique = TECHNIQUE_cuda_graph},
						     {.technique = TECHNIQUE_overlap,
						      .together.effect.refusal = no_copies}},
					   .is_changed = true,
					   .prediction = {.program = {2.5, 2, 4},
							  .program_before_ns = 1000000,
							  .program_after_ns = 400000}};

/* The whatif chart's file name of a builder's two iterations; the caller frees it. */
static char *draw_whatif(const char *name, int text_columns)
{
	struct chart_options options = {.to_ns = -1, .text_columns = text_columns};
	struct builder *b = builder_new(1, 1);
	struct side_span spans[10];
	struct side_by_side sides;
	char folder[PATH_MAX], *text;
	struct report report;

	fill_sides(&sides, b, spans);
	report = report_of(b);
	options.scenario = &a_scenario;
	options.sides = &sides;
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_whatif(&report, &options, folder, NULL), 0);
	text = read_whole(folder, name);
	temporary_remove(folder);
	report_close(&report);
	free(b);
	return text;
}

static void both_halves_say_how_long_and_how_busy(void **state)
{
	char *text = draw_whatif("heads.dat", 0);

	(void)state;
	assert_non_null(
		strstr(text, "0\t100\t3\trecorded: 2 iterations in 100 us, GPU busy 20.0%\n"));
	/* 10 to 40 us: the other kernel goes on, and what overlaps counts once */
	assert_non_null(strstr(text, "3.5\t40\t6.5\tre-simulated with cuda_graph: the same 2 "
				     "iterations in 40.0 us, GPU busy 75.0%\n"));
	free(text);
}

static void other_work_is_cut_off_where_the_same_work_ends(void **state)
{
	char *text = draw_whatif("spans.dat", 0);
	char last[64];

	(void)state;
	snprintf(last, sizeof(last), "15\t40\t6.4\t5.6\t%d\t", COLOR_ASIDE);
	assert_non_null(strstr(text, last));
	snprintf(last, sizeof(last), "0\t4\t5.4\t4.6\t%d\tgraph\n", COLOR_CAUSE + GAP_GRAPH);
	assert_non_null(strstr(text, last));
	free(text);
}

static void the_title_has_what_changes_and_the_interval(void **state)
{
	char *text = draw_whatif("whatif.gp", 0);

	(void)state;
	assert_non_null(strstr(text, "'cuda_graph: the whole run would be 2.50x as fast (2.00x to "
				     "4.00x)'"));
	assert_non_null(strstr(text, "iterations 2 to 3 of 1,000 of the largest loop"));
	assert_non_null(strstr(text, "saved = '60.0 us saved'"));
	assert_non_null(strstr(text, "10.0 us before the run"));
	assert_non_null(strstr(text, "run_end[2] = 0.4\n"));
	assert_non_null(strstr(text, "run_from[1] = 0\nrun_to[1] = 0.09\n"));
	assert_non_null(strstr(text, "run_low = 0.25\nrun_high = 0.5\n"));
	assert_non_null(strstr(text, "run_after = '400 us (250 us to 500 us)'"));
	free(text);
}

static void in_characters_each_row_has_a_line(void **state)
{
	char *text = draw_whatif("spans.dat", 80);

	(void)state;
	assert_non_null(strstr(text, "\t2\t2\tB\n")); /* line 2 is the first half's stream */
	assert_non_null(strstr(text, "\t5\t2\tB\n"));
	free(text);
}

static void where_nothing_changes_the_chart_says_why(void **state)
{
	const struct scenario scenario = {.part_count = 1,
					  .parts = {{.technique = TECHNIQUE_overlap,
						     .together.effect.refusal = no_copies}}};
	const struct side_by_side none = {0};
	const struct report report = {0};
	const struct chart_options options = {.scenario = &scenario, .sides = &none};
	char folder[PATH_MAX], *text;

	(void)state;
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_whatif(&report, &options, folder, NULL), 0);
	text = read_whole(folder, "whatif.gp");
	assert_non_null(strstr(text, "chart_title = 'nothing would change'"));
	assert_non_null(
		strstr(text,
		       "reason[1] = 'overlap: there are no copies beside kernels to overlap'"));
	free(text);
	temporary_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_intervals_are_drawn_exactly_where_they_are),
		cmocka_unit_test(a_single_short_interval_is_drawn_one_column_wide),
		cmocka_unit_test(a_spike_of_another_class_among_short_intervals_stays_visible),
		cmocka_unit_test(short_intervals_keep_their_share_of_the_time),
		cmocka_unit_test(alike_runs_that_touch_are_one_bar_and_different_ones_are_not),
		cmocka_unit_test(a_gap_of_a_column_between_short_intervals_stays_open),
		cmocka_unit_test(overlapping_intervals_are_counted_once_as_busy),
		cmocka_unit_test(what_lies_outside_the_window_is_cut_off),
		cmocka_unit_test(an_interval_without_length_is_drawn_too),
		cmocka_unit_test(a_mixed_interval_keeps_the_parts_of_its_classes),
		cmocka_unit_test(an_error_while_drawing_ends_it),
		cmocka_unit_test(no_name_can_become_a_command_or_break_a_column),
		cmocka_unit_test(a_file_that_cannot_be_written_is_an_error),
		cmocka_unit_test(counts_above_bars_take_at_most_four_characters),
		cmocka_unit_test(what_is_not_shown_has_no_row),
		cmocka_unit_test(the_busiest_streams_get_rows_and_the_others_share_one),
		cmocka_unit_test(a_range_row_stands_above_the_streams),
		cmocka_unit_test(the_bars_of_the_gap_chart_add_up_to_the_idle_time),
		cmocka_unit_test(kernels_beyond_the_fifteenth_are_one_bar_with_their_time),
		cmocka_unit_test(a_window_of_the_timeline_tells_the_idle_time_in_it),
		cmocka_unit_test(what_is_zoomed_to_is_shown_with_a_margin_wherever_it_lies),
		cmocka_unit_test(a_window_behind_the_end_is_an_error),
		cmocka_unit_test(both_halves_say_how_long_and_how_busy),
		cmocka_unit_test(other_work_is_cut_off_where_the_same_work_ends),
		cmocka_unit_test(the_title_has_what_changes_and_the_interval),
		cmocka_unit_test(in_characters_each_row_has_a_line),
		cmocka_unit_test(where_nothing_changes_the_chart_says_why),
		cmocka_unit_test(
			in_characters_a_cell_busy_for_half_of_its_time_gets_a_capital_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
