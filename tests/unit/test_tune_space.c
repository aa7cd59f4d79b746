/* test_tune_space.c - parameters and the points that they make. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tune/space.h"

static void open_space(struct tune_space *space, const char *const *parameters,
		       const char *condition)
{
	struct err err = {""};

	*space = (struct tune_space){0};
	for (; *parameters; parameters++)
		assert_int_equal(tune_space_add(space, *parameters, &err), 0);
	assert_int_equal(tune_space_close(space, &condition, condition != NULL, &err), 0);
}

static void assert_values(const char *parameter, const char *expected)
{
	struct tune_space space;
	char all[256] = "";

	open_space(&space, (const char *[]){parameter, NULL}, NULL);
	for (size_t i = 0; i < space.point_count; i++) {
		strcat(all, i ? " " : "");
		strcat(all, tune_space_value(&space, i, 0));
	}
	assert_string_equal(all, expected);
	tune_space_free(&space);
}

static void values_are_texts_and_ranges_by_steps_or_factors(void **state)
{
	(void)state;
	assert_values("a=1,x,3", "1 x 3");
	assert_values("a=1..4", "1 2 3 4");
	assert_values("a=8..30:8", "8 16 24");
	assert_values("a=8..64:x2", "8 16 32 64");
	assert_values("a=8..70:*3", "8 24");
	assert_values("a=-2..0", "-2 -1 0");
	assert_values("a=1,4..6,10", "1 4 5 6 10");
	assert_values("a=,_padded", " _padded");
	assert_values("a=../one,../two", "../one ../two");
	assert_values("a=v1..2,1.5", "v1..2 1.5");
	assert_values("a=9223372036854775806..9223372036854775807",
		      "9223372036854775806 9223372036854775807");
}

static void assert_wrong(const char *first, const char *second, const char *what)
{
	struct tune_space space = {0};
	struct err err = {""};
	int rc = tune_space_add(&space, first, &err);

	if (rc == 0 && second)
		rc = tune_space_add(&space, second, &err);
	assert_int_equal(rc, -EINVAL);
	assert_non_null(strstr(err.text, what));
	tune_space_free(&space);
}

static void what_is_no_parameter_is_told(void **state)
{
	(void)state;
	assert_wrong("a", NULL, "is no NAME=VALUE");
	assert_wrong("=1", NULL, "is no NAME=VALUE");
	assert_wrong("1a=1", NULL, "is no NAME=VALUE");
	assert_wrong("a-b=1", NULL, "is no NAME=VALUE");
	assert_wrong("a=", NULL, "--param a: no value");
	assert_wrong("a=1,1", NULL, "the value '1' is there twice");
	assert_wrong("a=1", "a=2", "--param a is there twice");
	assert_wrong("a=4..1", NULL, "'4..1' has no values");
	assert_wrong("a=1..4:0", NULL, "has no values");
	assert_wrong("a=1..4:x1", NULL, "has no values");
	assert_wrong("a=0..4:x2", NULL, "has no values");
	assert_wrong("a=8..64:x", NULL, "'8..64:x' has no values");
	assert_wrong("a=8..64:2k", NULL, "has no values");
	assert_wrong("a=1.5..3", NULL, "of whole numbers");
	assert_wrong("a=8..", NULL, "has no values");
	assert_wrong("a=1..1000000", NULL, "more than 10000 values");
}

static void conditions_leave_the_points_of_which_all_are_true(void **state)
{
	struct tune_space space = {0};
	const char *conditions[] = {"b <= 2*a", "a % b == 0"};
	struct err err = {""};
	char text[64];

	(void)state;
	assert_int_equal(tune_space_add(&space, "a=1..4", &err), 0);
	assert_int_equal(tune_space_add(&space, "b=0,2,4,8", &err), 0);
	assert_int_equal(tune_space_close(&space, conditions, 2, &err), 0);
	assert_int_equal(space.grid_count, 16);
	assert_int_equal(space.point_count,
			 3); /* where b is 0 there is no remainder, and no point */
	tune_space_describe(&space, 2, text, sizeof(text));
	assert_string_equal(text, "a=4 b=4");
	for (size_t i = 0; i < space.point_count; i++) {
		size_t levels[] = {tune_space_level(&space, i, 0), tune_space_level(&space, i, 1)};

		assert_int_equal(tune_space_find(&space, levels), i);
	}
	assert_int_equal(tune_space_find(&space, (size_t[]){0, 0}), TUNE_NO_POINT);
	tune_space_free(&space);
}

static void a_space_without_points_or_with_too_many_is_refused(void **state)
{
	struct tune_space space = {0};
	const char *never = "a > 4";
	struct err err = {""};

	(void)state;
	assert_int_equal(tune_space_close(&space, NULL, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no --param"));
	err.text[0] = '\0';
	assert_int_equal(tune_space_add(&space, "a=1..4", &err), 0);
	assert_int_equal(tune_space_close(&space, &never, 1, &err), -EINVAL);
	assert_string_equal(err.text, "--where leaves none of 4 combinations");
	tune_space_free(&space);
	err.text[0] = '\0';
	assert_int_equal(tune_space_add(&space, "a=1..1000", &err), 0);
	assert_int_equal(tune_space_add(&space, "b=1..1000", &err), 0);
	assert_int_equal(tune_space_close(&space, NULL, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than 100000 combinations"));
	tune_space_free(&space);
}

static void numbers_that_double_are_equally_far_apart_and_texts_all_are(void **state)
{
	struct tune_space space;

	(void)state;
	open_space(&space, (const char *[]){"a=64..1024:x2", NULL}, NULL);
	assert_float_equal(tune_space_distance(&space, 0, 0, 1), 0.25, 1e-9);
	assert_float_equal(tune_space_distance(&space, 0, 3, 4), 0.25, 1e-9);
	assert_float_equal(tune_space_distance(&space, 0, 0, 4), 1, 1e-9);
	tune_space_free(&space);
	open_space(&space, (const char *[]){"a=x,y,z", NULL}, NULL);
	assert_float_equal(tune_space_distance(&space, 0, 0, 2), 1, 1e-9);
	assert_float_equal(tune_space_distance(&space, 0, 1, 2), 1, 1e-9);
	assert_float_equal(tune_space_distance(&space, 0, 1, 1), 0, 1e-9);
	tune_space_free(&space);
}

static void a_point_is_named_by_some_of_its_values(void **state)
{
	struct tune_space space;
	struct err err = {""};
	char text[64];
	size_t point;

	(void)state;
	open_space(&space, (const char *[]){"a=1,2", "b=x,y", NULL}, NULL);
	assert_int_equal(tune_space_parse_point(&space, "b=y", &point, &err), 0);
	tune_space_describe(&space, point, text, sizeof(text));
	assert_string_equal(text, "a=1 b=y");
	assert_int_equal(tune_space_parse_point(&space, "b=z", &point, &err), -EINVAL);
	assert_string_equal(err.text, "'b=z': --param b has no value 'z'");
	tune_space_free(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_texts_and_ranges_by_steps_or_factors),
		cmocka_unit_test(what_is_no_parameter_is_told),
		cmocka_unit_test(conditions_leave_the_points_of_which_all_are_true),
		cmocka_unit_test(a_space_without_points_or_with_too_many_is_refused),
		cmocka_unit_test(numbers_that_double_are_equally_far_apart_and_texts_all_are),
		cmocka_unit_test(a_point_is_named_by_some_of_its_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
