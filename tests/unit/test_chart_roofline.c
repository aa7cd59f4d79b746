/* test_chart_roofline.c - where labels find a place, and what the charts of points and roofs show. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_roofs.h"
#include "charts/chart_labels.h"
#include "charts/chart_plane.h"
#include "charts/charts.h"
#include "base/temporary.h"
#include "charts/gnuplot.h"
#include "output/points.h"

/* ---- labels ---- */

static bool is_apart(const struct label_box *a, const struct label_box *b)
{
	return a->right <= b->left || b->right <= a->left || a->top <= b->bottom ||
	       b->top <= a->bottom;
}

static void a_lonely_label_stands_to_the_right_of_its_mark(void **state)
{
	static struct label_layout layout;
	struct label_box box;

	(void)state;
	label_layout_init(&layout, 1000, 500);
	assert_true(label_beside(&layout, 500, 250, 10, 80, 16, &box));
	assert_true(box.left > 510 && box.left < 520);
	assert_true(box.bottom == 242 && box.top == 258);
}

static void at_the_right_edge_it_stands_to_the_left(void **state)
{
	static struct label_layout layout;
	struct label_box box;

	(void)state;
	label_layout_init(&layout, 1000, 500);
	assert_true(label_beside(&layout, 950, 250, 10, 80, 16, &box));
	assert_true(box.right < 940);
}

static void labels_of_near_marks_do_not_touch_each_other_or_the_marks(void **state)
{
	static struct label_layout layout;
	struct label_box boxes[5];
	size_t placed = 0;

	(void)state;
	label_layout_init(&layout, 1000, 500);
	for (int i = 0; i < 5; i++)
		label_take(&layout, label_around(400 + 12 * i, 250 + 6 * i, 8, 8));
	for (int i = 0; i < 5; i++)
		placed +=
			label_beside(&layout, 400 + 12 * i, 250 + 6 * i, 8, 90, 16, &boxes[placed]);
	assert_true(placed >= 3);
	for (size_t i = 0; i < placed; i++) {
		for (size_t j = 0; j < i; j++)
			assert_true(is_apart(&boxes[i], &boxes[j]));
		for (int j = 0; j < 5; j++) {
			struct label_box mark = label_around(400 + 12 * j, 250 + 6 * j, 8, 8);

			assert_true(is_apart(&boxes[i], &mark));
		}
	}
}

static void a_label_in_a_crowd_is_given_up_and_its_number_stands_farther_away(void **state)
{
	static struct label_layout layout;
	struct label_box box;
	bool is_beside;

	(void)state;
	label_layout_init(&layout, 1000, 500);
	label_take(&layout, label_around(500, 250, 300, 200));
	label_take(&layout, label_around(513, 250, 20, 10));
	assert_false(label_beside(&layout, 500, 250, 10, 80, 16, &box));
	assert_int_equal(layout.taken_count, 2);
	/* the nearest that is free: above or below the crowd */
	box = label_near(&layout, 500, 250, 10, 14, 16, &is_beside);
	assert_false(is_beside);
	assert_int_equal(layout.taken_count, 3);
	layout.taken_count = 2;
	assert_int_equal(label_overlaps(&layout, &box), 0);
	assert_true(box.bottom >= 450 || box.top <= 50);
	/* nowhere: the least that there is */
	label_take(&layout, label_around(500, 250, 500, 250));
	box = label_near(&layout, 500, 250, 10, 14, 16, &is_beside);
	layout.taken_count = 3;
	assert_int_equal(label_overlaps(&layout, &box), 1);
}

static void a_label_prefers_a_side_where_it_crosses_no_line(void **state)
{
	static struct label_layout layout;
	struct label_box box;

	(void)state;
	label_layout_init(&layout, 1000, 500);
	label_cross(&layout, (struct label_segment){520, 0, 560, 500});
	assert_true(label_beside(&layout, 500, 250, 10, 80, 16, &box));
	assert_true(box.right < 500);
	/* a line that ends before it is none */
	label_layout_init(&layout, 1000, 500);
	label_cross(&layout, (struct label_segment){520, 0, 560, 200});
	assert_true(label_beside(&layout, 500, 250, 10, 80, 16, &box));
	assert_true(box.left > 500);
}

static void the_same_marks_get_the_same_places(void **state)
{
	static struct label_layout first, second;
	struct label_box a, b;

	(void)state;
	label_layout_init(&first, 600, 300);
	label_layout_init(&second, 600, 300);
	for (int i = 0; i < 40; i++) {
		double x = 37 * i % 600, y = 53 * i % 300;
		bool is_placed = label_beside(&first, x, y, 5, 70, 15, &a);

		assert_int_equal(is_placed, label_beside(&second, x, y, 5, 70, 15, &b));
		if (is_placed)
			assert_memory_equal(&a, &b, sizeof(a));
	}
}

/* ---- axes ---- */

static void a_logarithmic_axis_begins_at_a_decade_and_places_by_factors(void **state)
{
	struct plane_axis axis = {.length = 300};

	(void)state;
	plane_fit_log(&axis, 3, 4000, 3);
	assert_true(axis.low == 1);
	assert_true(fabs(axis.high - 4000) < 1e-6);
	plane_fit_log(&axis, 1, 50, 3);
	assert_true(fabs(axis.high - 1000) < 1e-9);
	assert_true(fabs(plane_at(&axis, 10) - 100) < 1e-9);
	assert_true(fabs(plane_at(&axis, 100) - 200) < 1e-9);
}

/* ---- whole charts ---- */

struct drawing {
	struct builder *b;
	struct placed placed;
	struct report report;
	char folder[PATH_MAX];
};

static struct drawing drawing_open(struct builder *b, bool has_ceilings)
{
	struct drawing drawing = {.b = b};

	drawing.report.profile = &b->profile;
	drawing.report.ceilings = has_ceilings ? fixture_ceilings() : NULL;
	drawing.placed = fixture_place(builder_finish(b), drawing.report.ceilings);
	drawing.report.roofline = drawing.placed.roofline;
	drawing.report.atomics = drawing.placed.atomics;
	drawing.report.counted = drawing.placed.counted;
	assert_int_equal(temporary_make_work_folder(drawing.folder, sizeof(drawing.folder), NULL),
			 0);
	return drawing;
}

static void drawing_close(struct drawing *drawing)
{
	temporary_remove(drawing->folder);
	fixture_placed_free(&drawing->placed);
	ceilings_free(drawing->report.ceilings);
	free(drawing->b);
}

static struct drawing draw(struct builder *b, bool has_ceilings, chart_writer write)
{
	const struct chart_options options = {.to_ns = -1};
	struct drawing drawing = drawing_open(b, has_ceilings);

	assert_int_equal(write(&drawing.report, &options, drawing.folder, NULL), 0);
	return drawing;
}

/* It has nothing to show, and says so. */
static void assert_missing(struct builder *b, chart_writer write, const char *text)
{
	const struct chart_options options = {.to_ns = -1};
	struct drawing drawing = drawing_open(b, true);
	struct err err = {""};

	assert_int_equal(write(&drawing.report, &options, drawing.folder, &err), -ENODATA);
	assert_non_null(strstr(err.text, text));
	drawing_close(&drawing);
}

static char *read_whole(const char *folder, const char *name)
{
	char path[PATH_MAX], *text = calloc(1, 65536);
	FILE *file;

	assert_true((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void assert_has(const struct drawing *drawing, const char *file, const char *text)
{
	char *whole = read_whole(drawing->folder, file);

	if (!strstr(whole, text))
		fail_msg("%s has no '%s':\n%s", file, text, whole);
	free(whole);
}

static void assert_ends(const struct drawing *drawing, const char *file, const char *text)
{
	char *whole = read_whole(drawing->folder, file);

	assert_true(strlen(whole) >= strlen(text));
	assert_string_equal(whole + strlen(whole) - strlen(text), text);
	free(whole);
}

static void assert_has_not(const struct drawing *drawing, const char *file, const char *text)
{
	char *whole = read_whole(drawing->folder, file);

	if (strstr(whole, text))
		fail_msg("%s has '%s':\n%s", file, text, whole);
	free(whole);
}

/* Rows of marks.dat of that mark. */
static int count_marks(const struct drawing *drawing, int wanted)
{
	char *text = read_whole(drawing->folder, "marks.dat");
	int count = 0, mark;
	double x, y, radius;

	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		count += sscanf(line + 1, "%lf\t%lf\t%lf\t%d", &x, &y, &radius, &mark) == 4 &&
			 mark == wanted;
	free(text);
	return count;
}

/* A kernel of 100 us with so many bytes of DRAM and FP32 additions. */
static void add_kernel(struct builder *b, const char *name, double bytes, double flops)
{
	int64_t start_ns = (int64_t)b->profile.op_count * 101000;
	uint32_t signature = builder_signature(b, name, 1);

	builder_kernel(b, 0, name, start_ns, start_ns + 100000, PROFILE_NONE);
	builder_counter(b, false, signature, METRIC_dram_read_bytes, 1, bytes);
	builder_counter(b, false, signature, METRIC_fp32_add, 1, flops);
	fixture_count_nothing_else(b, signature, 1);
}

static void every_kernel_with_flops_and_the_application_have_a_mark(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;

	(void)state;
	add_kernel(b, "near", 300e6, 30e6);
	add_kernel(b, "far", 1e6, 3000e6);
	add_kernel(b, "copies", 200e6, 0);
	drawing = draw(b, true, chart_roofline);
	assert_int_equal(count_marks(&drawing, PLANE_CIRCLE), 2);
	assert_int_equal(count_marks(&drawing, PLANE_DIAMOND), 1);
	assert_has(&drawing, "labels.dat", "near 75%");
	assert_has(&drawing, "labels.dat", "far 50%");
	assert_has(&drawing, "rising.dat", "DRAM 4.00 TB/s");
	assert_has(&drawing, "labels.dat", "FP32 60.0 TFLOP/s");
	assert_has_not(&drawing, "labels.dat", "copies");
	assert_has(&drawing, "roofline.gp", "No FLOPs: copies 2.00 TB/s, of DRAM''s roof 50.0%");
	drawing_close(&drawing);
}

static void a_mark_stands_at_its_intensity_and_rate(void **state)
{
	struct plane_axis x = {.length = 1036}, y = {.length = 470};
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;
	char expected[64];

	(void)state;
	add_kernel(b, "k", 100e6, 100e6);
	drawing = draw(b, true, chart_roofline);
	/* 1 FLOP/B and 1 TFLOP/s; x from 0.1 to 120, four times the ridge, y from 100 GFLOP/s to 180 T */
	plane_fit_log(&x, 0.5 / 1.5, 2 * 4 * 60e12 / 4e12, 3);
	plane_fit_log(&y, 1e12 / 1.5, 2 * 60e12 * 1.5, 3);
	snprintf(expected, sizeof(expected), "\n%.9g\t%.9g\t15\t1\t", plane_at(&x, 1),
		 plane_at(&y, 1e12));
	assert_has(&drawing, "marks.dat", expected);
	drawing_close(&drawing);
}

/* x from 0.1 to 120 and y from 100 GFLOP/s to 180 TFLOP/s */
static void each_decade_of_an_axis_is_labelled_up_to_its_end(void **state)
{
	struct plane_axis x = {.length = 1036}, y = {.length = 470};
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;
	char expected[256];

	(void)state;
	add_kernel(b, "k", 100e6, 100e6);
	drawing = draw(b, true, chart_roofline);
	plane_fit_log(&x, 0.5 / 1.5, 2 * 4 * 60e12 / 4e12, 3);
	plane_fit_log(&y, 1e12 / 1.5, 2 * 60e12 * 1.5, 3);
	snprintf(expected, sizeof(expected), "label\n0\t0.1\n%.9g\t1\n%.9g\t10\n%.9g\t100\n",
		 plane_at(&x, 1), plane_at(&x, 10), plane_at(&x, 100));
	assert_ends(&drawing, "xtics.dat", expected);
	snprintf(expected, sizeof(expected),
		 "label\n0\t100 GFLOP/s\n%.9g\t1 TFLOP/s\n%.9g\t10 TFLOP/s\n%.9g\t100 TFLOP/s\n",
		 plane_at(&y, 1e12), plane_at(&y, 1e13), plane_at(&y, 1e14));
	assert_ends(&drawing, "ytics.dat", expected);
	drawing_close(&drawing);
}

static void what_is_above_its_roof_is_marked_as_wrong_data(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;

	(void)state;
	add_kernel(b, "impossible", 500e6, 1e6);
	drawing = draw(b, true, chart_roofline);
	assert_int_equal(count_marks(&drawing, PLANE_CROSS), 1);
	assert_int_equal(count_marks(&drawing, PLANE_CIRCLE), 0);
	assert_has(&drawing, "labels.dat", "impossible: WRONG DATA");
	assert_has(&drawing, "roofline.gp", "chart_title = 'WRONG DATA");
	drawing_close(&drawing);
}

static void kernels_that_lie_on_each_other_are_all_named(void **state)
{
	static const char *const names[] = {"first", "second", "third",	   "fourth",
					    "fifth", "sixth",  "seventh",  "eighth",
					    "ninth", "tenth",  "eleventh", "twelfth"};
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;
	char *labels, *notes;

	(void)state;
	for (int i = 0; i < 12; i++)
		add_kernel(b, names[i], 200e6 + i, 20e6);
	drawing = draw(b, true, chart_roofline);
	labels = read_whole(drawing.folder, "labels.dat");
	notes = read_whole(drawing.folder, "roofline.gp");
	for (int i = 0; i < 12; i++)
		assert_int_equal(!!strstr(labels, names[i]) + !!strstr(notes, names[i]), 1);
	assert_non_null(strstr(notes, "12: twelfth 50%"));
	assert_non_null(strstr(labels, "\t12\n"));
	free(labels);
	free(notes);
	drawing_close(&drawing);
}

static void without_counters_no_roofline_is_drawn_and_what_counts_is_told(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "k", 0, 1000, PROFILE_NONE);
	assert_missing(b, chart_roofline, "record them with: rooflinectl record --counters --");
	assert_missing(builder_new(1, 1), chart_roofline, "rooflinectl record --counters --");
}

static void the_launch_roof_bends_at_the_period_of_empty_kernels(void **state)
{
	struct plane_axis x = {.length = 1036};
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;
	char expected[64];

	(void)state;
	for (int i = 0; i < 10; i++)
		builder_kernel(b, 0, "short", i * 4000, i * 4000 + 1000, PROFILE_NONE);
	/* nine pauses of 3 us and ten kernels of 1 us */
	drawing = draw(b, true, chart_launch_roofline);
	assert_has(&drawing, "labels.dat", "empty kernel every 2.50 us");
	assert_has(&drawing, "labels.dat", "short, 27.0 us idle");
	plane_fit_log(&x, 625 / 1.2, 1.2e5, 2);
	snprintf(expected, sizeof(expected), "\n%.9g\t%.9g\t1\t0\n", plane_at(&x, 2500),
		 470 / 1.08);
	assert_has(&drawing, "lines.dat", expected);
	snprintf(expected, sizeof(expected), "\n%.9g\t%.9g\t18\t1\t", plane_at(&x, 1000),
		 10. / 37 * 470 / 1.08);
	assert_has(&drawing, "marks.dat", expected);
	drawing_close(&drawing);
}

static void add_atomics(struct builder *b, const char *name, double requests, double hottest)
{
	static const enum metric_role zeros[] = {METRIC_global_atom_instructions,
						 METRIC_shared_atom_instructions,
						 METRIC_l2_atom_requests, METRIC_l2_cas_requests,
						 METRIC_l2_atom_sectors};
	const struct {
		enum metric_role role;
		double value;
	} counts[] = {
		{METRIC_global_red_instructions, requests / 32},
		{METRIC_l2_red_requests, requests},
		{METRIC_l2_red_sectors, requests},
		{METRIC_atomic_unit_cycles, requests},
		{METRIC_atomic_unit_cycles_max, hottest},
		{METRIC_atomic_unit_cycles_mean, requests / 96},
		{METRIC_l2_cycles, 160000},
		{METRIC_range_ns, 100000},
	};
	uint32_t signature = builder_signature(b, name, 1);

	add_kernel(b, name, 1e6, 1e3);
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		builder_counter(b, false, signature, zeros[i], 1, 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		builder_counter(b, false, signature, counts[i].role, 1, counts[i].value);
}

/* To the right of the mark the text would be nearer to the next one. */
static void a_label_is_nearer_to_its_mark_than_to_another(void **state)
{
	static struct label_layout layout;
	struct label_box place;

	(void)state;
	label_layout_init(&layout, 400, 400);
	label_take_mark(&layout, label_around(100, 100, 5, 5));
	label_take_mark(&layout, label_around(180, 100, 5, 5));
	assert_true(label_beside(&layout, 100, 100, 5, 65, 12, &place));
	assert_true(place.right <=
		    100); /* not between the two: 3 pixels from its own, 2 from the other */
	label_layout_init(&layout, 400, 400);
	label_take_mark(&layout, label_around(100, 100, 5, 5));
	assert_true(label_beside(&layout, 100, 100, 5, 65, 12, &place));
	assert_true(place.left >= 100);
}

static void atomics_that_are_the_bottleneck_have_a_ring(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct drawing drawing;

	(void)state;
	add_atomics(b, "hot", 144000, 144000);
	add_atomics(b, "spread", 144000, 1500);
	drawing = draw(b, true, chart_atomics);
	assert_int_equal(count_marks(&drawing, PLANE_CIRCLE), 2);
	assert_int_equal(count_marks(&drawing, PLANE_RING), 1);
	assert_has(&drawing, "labels.dat", "hot 90%: bottleneck");
	assert_has(&drawing, "rising.dat", "one address");
	assert_has(&drawing, "rising.dat", "addresses far apart");
	assert_has_not(&drawing, "rising.dat", "1,024 neighboring"); /* its rate was not measured */
	assert_has(&drawing, "atomics.gp", "2 kernels with atomics, the bottleneck of 1");
	drawing_close(&drawing);
}

static void without_atomics_no_chart_is_drawn_and_what_counts_is_told(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "k", 0, 1000, PROFILE_NONE);
	assert_missing(b, chart_atomics,
		       "record them with: rooflinectl record --counters=atomics --");
}

static void without_kernels_there_is_no_launch_roofline(void **state)
{
	(void)state;
	assert_missing(builder_new(1, 1), chart_launch_roofline, "has no launch of a kernel");
}

static void long_notes_begin_a_new_line(void **state)
{
	static struct plane plane;
	char item[41];

	(void)state;
	plane.note_room = 100;
	plane.is_text = true;
	memset(item, 'x', 40);
	item[40] = '\0';
	for (int i = 0; i < 3; i++)
		plane_note(&plane, false, item);
	assert_int_equal(plane.note_count, 2);
	assert_int_equal(strlen(plane.notes[0]), 83);
	plane_note(&plane, true, "y");
	assert_int_equal(plane.note_count, 3);
	for (int i = 0; i < 50; i++)
		plane_note(&plane, true, item);
	assert_int_equal(plane.note_count, PLANE_NOTES);
}

static void figures_of_points_have_three_digits(void **state)
{
	(void)state;
	assert_string_equal(point_intensity(0).text, "-");
	assert_string_equal(point_intensity(0.00025).text, "0.00025");
	assert_string_equal(point_intensity(0.1666).text, "0.17");
	assert_string_equal(point_intensity(12.34).text, "12.3");
	assert_string_equal(point_intensity(1800).text, "1800");
	assert_string_equal(point_samples(3, 3).text, "3");
	assert_string_equal(point_samples(3, 40).text, "3-40");
	assert_string_equal(point_rate(ROOF_dram, 3.13e12).text, "3.13 TB/s");
	assert_string_equal(point_rate(ROOF_tensor_int8, 1e15).text, "1.00 POP/s");
	assert_string_equal(point_amount(ROOF_fp32, 33.6e6).text, "33.6 MFLOP");
	assert_string_equal(point_count(65536).text, "65,536");
	assert_string_equal(point_count(1048576).text, "1.05 M");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lonely_label_stands_to_the_right_of_its_mark),
		cmocka_unit_test(at_the_right_edge_it_stands_to_the_left),
		cmocka_unit_test(labels_of_near_marks_do_not_touch_each_other_or_the_marks),
		cmocka_unit_test(a_label_in_a_crowd_is_given_up_and_its_number_stands_farther_away),
		cmocka_unit_test(a_label_prefers_a_side_where_it_crosses_no_line),
		cmocka_unit_test(the_same_marks_get_the_same_places),
		cmocka_unit_test(a_logarithmic_axis_begins_at_a_decade_and_places_by_factors),
		cmocka_unit_test(every_kernel_with_flops_and_the_application_have_a_mark),
		cmocka_unit_test(a_mark_stands_at_its_intensity_and_rate),
		cmocka_unit_test(each_decade_of_an_axis_is_labelled_up_to_its_end),
		cmocka_unit_test(what_is_above_its_roof_is_marked_as_wrong_data),
		cmocka_unit_test(kernels_that_lie_on_each_other_are_all_named),
		cmocka_unit_test(without_counters_no_roofline_is_drawn_and_what_counts_is_told),
		cmocka_unit_test(the_launch_roof_bends_at_the_period_of_empty_kernels),
		cmocka_unit_test(a_label_is_nearer_to_its_mark_than_to_another),
		cmocka_unit_test(atomics_that_are_the_bottleneck_have_a_ring),
		cmocka_unit_test(without_atomics_no_chart_is_drawn_and_what_counts_is_told),
		cmocka_unit_test(without_kernels_there_is_no_launch_roofline),
		cmocka_unit_test(long_notes_begin_a_new_line),
		cmocka_unit_test(figures_of_points_have_three_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
