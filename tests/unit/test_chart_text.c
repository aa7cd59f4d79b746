/* test_chart_text.c - how wide texts are, where they stand, and that titles and legends begin with what costs most. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/temporary.h"
#include "charts/chart_colors.h"
#include "charts/chart_plane.h"
#include "charts/gnuplot.h"
#include "charts/text_width.h"

/* What f writes into a file of settings. */
static char *settings_of(void (*f)(struct chart_file *))
{
	char folder[PATH_MAX], path[PATH_MAX + 16];
	char *text = calloc(1, 65536);
	struct chart_file file;
	FILE *in;

	assert_non_null(text);
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(chart_file_open(&file, folder, "x.gp", NULL), 0);
	f(&file);
	assert_int_equal(chart_file_close(&file, 0, NULL), 0);
	snprintf(path, sizeof(path), "%s/x.gp", folder);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_true(fread(text, 1, 65535, in) > 0);
	fclose(in);
	temporary_remove(folder);
	return text;
}

/* ---- widths ---- */

static void a_text_is_as_wide_as_its_letters(void **state)
{
	(void)state;
	assert_float_equal(text_width(""), 0, 0);
	assert_float_equal(text_width("iiii"), 4 * 0.222 * 13, 1e-6);
	assert_float_equal(text_width("MMMM"), 4 * 0.833 * 13, 1e-6);
	assert_float_equal(text_width("up to 59.9 GB/s"), 13 * 6.949, 1e-3);
	assert_true(text_width("WWWWW") > 3 * text_width("iiiii"));
}

static void a_character_of_several_bytes_counts_once(void **state)
{
	(void)state;
	assert_float_equal(text_width("\u00b5"), 0.6 * 13, 1e-6);
	assert_float_equal(text_extent("\u2581 to \u2588", true), 6, 0);
}

static void gnuplot_gets_a_width_for_each_character_and_one_for_all_others(void **state)
{
	char *text = settings_of(text_width_set);

	(void)state;
	assert_non_null(strstr(text, "text_ascii = ' !\"#$%&''()*+,-./0123"));
	assert_non_null(strstr(text, "array advance[96] = [7.8, 3.614, 3.614, 4.615,"));
	assert_non_null(strstr(text, ", 7.592]\n"));
	free(text);
}

/* ---- legends and titles ---- */

static const struct chart_idle some_idle = {
	.wall_ns = 2000,
	.idle_ns = 1000,
	.by_cause_ns = {[GAP_LAUNCH] = 200, [GAP_HOST] = 500, [GAP_CHILDREN] = 300},
};

static void set_causes(struct chart_file *file)
{
	const bool seen[COLOR_END] = {[COLOR_CAUSE + GAP_HOST] = true,
				      [COLOR_CAUSE + GAP_JIT] = true};

	chart_begin_legend(file, 0);
	assert_int_equal(chart_set_cause_legend(file, 1, &some_idle, NULL), 4);
	assert_int_equal(chart_set_cause_legend(file, 1, &some_idle, seen), 5);
}

static void a_legend_begins_with_the_largest_cause(void **state)
{
	char *text = settings_of(set_causes);

	(void)state;
	assert_non_null(strstr(text, "legend_text[1] = 'host compute'"));
	assert_non_null(strstr(text, "legend_text[2] = 'possibly child kernels'"));
	assert_non_null(strstr(text, "legend_text[3] = 'launch'"));
	assert_non_null(strstr(text, "legend_text[4] = 'JIT compilation'"));
	free(text);
}

static void a_title_tells_the_largest_cause_of_what_is_idle_for_certain(void **state)
{
	const struct chart_idle none = {.wall_ns = 1000};
	char text[96];

	(void)state;
	chart_describe_largest_cause(text, sizeof(text), &some_idle);
	assert_string_equal(text, "largest cause host compute, 25.0%");
	chart_describe_largest_cause(text, sizeof(text), &none);
	assert_string_equal(text, "");
}

/* ---- labels of lines ---- */

static void the_label_of_an_upright_line_keeps_off_other_lines(void **state)
{
	const struct chart_options options = {.to_ns = -1};
	char folder[PATH_MAX], path[PATH_MAX + 16], line[256];
	static struct plane plane;
	double x = 0, y;
	FILE *in;

	(void)state;
	assert_int_equal(temporary_make_work_folder(folder, sizeof(folder), NULL), 0);
	assert_int_equal(plane_open(&plane, &options, folder, NULL), 0);
	plane.x.high = plane.x.length;
	plane.y.high = plane.y.length;
	plane_put_line(&plane, 300, 0, 300, plane.y.high, PLANE_GUIDE, 0);
	plane_put_line(&plane, 350, 0, 350, plane.y.high, PLANE_GUIDE, 0);
	plane_put_upright_label(&plane, 300, "in graphs every 677 ns", 0);
	assert_int_equal(plane_close(&plane, 0, NULL), 0);
	snprintf(path, sizeof(path), "%s/labels.dat", folder);
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (line[0] != '#')
			assert_int_equal(sscanf(line, "%lf\t%lf", &x, &y), 2);
	fclose(in);
	assert_true(x > 0 && x + text_width("in graphs every 677 ns") < 300); /* left of it */
	temporary_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_as_wide_as_its_letters),
		cmocka_unit_test(a_character_of_several_bytes_counts_once),
		cmocka_unit_test(gnuplot_gets_a_width_for_each_character_and_one_for_all_others),
		cmocka_unit_test(a_legend_begins_with_the_largest_cause),
		cmocka_unit_test(a_title_tells_the_largest_cause_of_what_is_idle_for_certain),
		cmocka_unit_test(the_label_of_an_upright_line_keeps_off_other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
