/* test_occurrence.c - the N-th range or kernel of a name, and what there is to say without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/time/occurrence.h"
#include "profile_builder.h"

/* Two devices, two threads: ranges `step` at 100, 300 (other thread), 500; kernels at 110 and so on. */
static struct builder *steps(void)
{
	struct builder *b = builder_new(2, 2);
	uint32_t call;

	builder_range(b, 0, "step", 100, 200);
	builder_range(b, 0, "step", 500, 600);
	builder_range(b, 0, "evaluate", 700, 800);
	builder_range(b, 1, "step", 300, 400);
	call = builder_launch(b, 0, 110, 120);
	builder_kernel(b, builder_stream(b, 0, 0), "void ns::saxpy<float>(float*, int)", 130, 140,
		       call);
	builder_kernel(b, builder_stream(b, 0, 1), "void ns::saxpy<float>(float*, int)", 135, 145,
		       PROFILE_NONE);
	call = builder_launch(b, 0, 510, 520);
	builder_kernel(b, builder_stream(b, 0, 0), "reduce_rows(int)", 900, 950, call);
	builder_kernel(b, builder_stream(b, 0, 0), "void ns::saxpy<float>(float*, int)", 960, 970,
		       PROFILE_NONE);
	builder_kernel(b, builder_stream(b, 0, 1), "reduce_columns(int)", 990, 999, PROFILE_NONE);
	builder_finish(b);
	return b;
}

static struct occurrence find(const char *what)
{
	struct builder *b = steps();
	struct occurrence occurrence;
	struct err err = {""};

	if (occurrence_find(&occurrence, &b->profile, what, &err) < 0)
		fail_msg("%s: %s", what, err.text);
	free(b);
	return occurrence;
}

static void expect_failure(const char *what, const char *text)
{
	struct builder *b = steps();
	struct occurrence occurrence;
	struct err err = {""};

	assert_true(occurrence_find(&occurrence, &b->profile, what, &err) < 0);
	if (!strstr(err.text, text))
		fail_msg("'%s' says '%s' and not '%s'", what, err.text, text);
	free(b);
}

static void a_range_is_counted_by_its_start_over_all_threads(void **state)
{
	struct occurrence second = find("step:2");

	(void)state;
	assert_int_equal(find("step").start_ns, 100);
	assert_int_equal(second.start_ns, 300);
	assert_int_equal(second.end_ns, 400);
	assert_int_equal(second.number, 2);
	assert_int_equal(second.count, 3);
	assert_true(second.is_range);
	assert_int_equal(find("step:3").start_ns, 500);
}

static void a_range_lasts_until_what_was_launched_in_it_has_ended(void **state)
{
	(void)state;
	assert_int_equal(find("step:1").end_ns, 200); /* its kernel ended before */
	assert_int_equal(find("step:3").end_ns, 950);
}

static void a_kernel_is_counted_over_all_devices(void **state)
{
	(void)state;
	assert_int_equal(find("void ns::saxpy<float>(float*, int)").start_ns, 130);
	assert_int_equal(find("void ns::saxpy<float>(float*, int):2").start_ns, 135);
	assert_int_equal(find("saxpy:3").start_ns, 960);
	assert_int_equal(find("saxpy:3").end_ns, 970);
	assert_int_equal(find("saxpy:3").count, 3);
	assert_false(find("saxpy").is_range);
}

static void a_part_of_only_one_name_is_enough(void **state)
{
	(void)state;
	assert_int_equal(find("eval").start_ns, 700);
	assert_int_equal(find("rows").start_ns, 900);
	assert_int_equal(find("ns::saxpy").start_ns,
			 130); /* the colons of a namespace count nothing */
	expect_failure("reduce", "'reduce' matches several kernels, such as 'reduce_rows(int)' and "
				 "'reduce_columns(int)'; give more of the name");
}

static void names_as_reports_print_them_are_known(void **state)
{
	struct builder *b = steps();
	struct occurrence occurrence;

	(void)state;
	assert_int_equal(find("saxpy<float>:2").start_ns, 135); /* without the namespace */
	assert_int_equal(find("ns::saxpy<float>").start_ns, 130);
	b->ranges[1].domain = "train";
	assert_int_equal(occurrence_find(&occurrence, &b->profile, "train: step", NULL), 0);
	assert_int_equal(occurrence.count, 1);
	assert_int_equal(occurrence_find(&occurrence, &b->profile, "step", NULL), 0);
	assert_int_equal(occurrence.count, 3);
	free(b);
}

static void names_to_choose_from_are_whole(void **state)
{
	struct builder *b = steps();
	struct occurrence occurrence;
	struct err err = {""};

	(void)state;
	builder_kernel(b, 0,
		       "copy_with_a_name_that_is_longer_than_sixty_characters_and_ends_in_one",
		       1000, 1001, PROFILE_NONE);
	builder_kernel(b, 0,
		       "copy_with_a_name_that_is_longer_than_sixty_characters_and_ends_in_two",
		       1002, 1003, PROFILE_NONE);
	assert_true(occurrence_find(&occurrence, &b->profile, "copy_with", &err) < 0);
	assert_non_null(strstr(err.text, "ends_in_one' and 'copy_with"));
	assert_non_null(strstr(err.text, "ends_in_two';"));
	free(b);
}

static void digits_alone_are_no_part_of_a_word(void **state)
{
	struct builder *b = steps();
	struct occurrence occurrence;
	struct err err = {""};

	(void)state;
	b->ranges[2].name = "epoch17";
	assert_true(occurrence_find(&occurrence, &b->profile, "17", &err) < 0);
	b->ranges[2].name = "epoch 17";
	assert_int_equal(occurrence_find(&occurrence, &b->profile, "17", &err), 0);
	assert_int_equal(occurrence.start_ns, 700);
	free(b);
}

static void without_a_loop_there_is_no_iteration(void **state)
{
	(void)state;
	expect_failure("iteration:2", "no loop of kernels takes most of the time");
	expect_failure("iteration", "no NVTX range and no kernel");
}

static void a_whole_name_wins_over_a_part_of_another(void **state)
{
	struct builder *b = steps();
	struct occurrence occurrence;

	(void)state;
	b->ranges[2].name = "warm-up step";
	b->ranges[1].name = "step:3";
	assert_int_equal(occurrence_find(&occurrence, &b->profile, "step", NULL), 0);
	assert_int_equal(occurrence.start_ns, 100);
	assert_int_equal(occurrence.count, 2);
	assert_int_equal(occurrence_find(&occurrence, &b->profile, "step:3", NULL), 0);
	assert_int_equal(occurrence.start_ns, 500);
	free(b);
}

static void what_is_not_there_is_said_with_a_remedy(void **state)
{
	(void)state;
	expect_failure("stop",
		       "no NVTX range and no kernel of recording is called 'stop'; they are "
		       "listed by: rooflinectl report recording --section ranges");
	expect_failure("step:4",
		       "the NVTX range 'step' occurs 3 times: N in NAME:N is 1 to 3, not 4");
	expect_failure("step:0", "N in NAME:N is 1 to 3, not 0");
	expect_failure("step:99999999999999999999999", "N in NAME:N is 1 to 3, not");
	expect_failure(":1", "is called ':1'");
	expect_failure("st\x1bop", "is called 'st?op'");
}

static void a_kernel_that_was_never_launched_is_said(void **state)
{
	struct builder *b = steps();
	struct occurrence occurrence;
	struct err err = {""};

	(void)state;
	builder_signature(b, "ghost", 1);
	assert_true(occurrence_find(&occurrence, &b->profile, "ghost", &err) < 0);
	assert_string_equal(err.text, "no launch of the kernel 'ghost' was recorded");
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_counted_by_its_start_over_all_threads),
		cmocka_unit_test(a_range_lasts_until_what_was_launched_in_it_has_ended),
		cmocka_unit_test(a_kernel_is_counted_over_all_devices),
		cmocka_unit_test(a_part_of_only_one_name_is_enough),
		cmocka_unit_test(names_as_reports_print_them_are_known),
		cmocka_unit_test(names_to_choose_from_are_whole),
		cmocka_unit_test(digits_alone_are_no_part_of_a_word),
		cmocka_unit_test(without_a_loop_there_is_no_iteration),
		cmocka_unit_test(a_whole_name_wins_over_a_part_of_another),
		cmocka_unit_test(what_is_not_there_is_said_with_a_remedy),
		cmocka_unit_test(a_kernel_that_was_never_launched_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
