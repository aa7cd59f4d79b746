/* Bytes that kernels move before a change and after it, by counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/compare/traffic_change.h"
#include "profile_builder.h"

/* So many launches of a kernel that takes 1000 ns; its signature is returned. */
static uint32_t add_launches(struct builder *b, const char *name, int count)
{
	uint32_t signature = builder_signature(b, name, 1);

	for (int i = 0; i < count; i++)
		builder_kernel(b, 0, name, 2000 * (int64_t)b->profile.op_count,
			       2000 * (int64_t)b->profile.op_count + 1000, PROFILE_NONE);
	return signature;
}

static void count(struct builder *b, uint32_t signature, double read, double written, double l1)
{
	builder_counter(b, false, signature, METRIC_dram_read_bytes, 3, read);
	builder_counter(b, false, signature, METRIC_dram_write_bytes, 3, written);
	if (l1 > 0)
		builder_counter(b, false, signature, METRIC_l1_bytes, 3, l1);
}

/* Two kernels that hand on an array; three launches of the first are no operations. */
static struct builder *two_kernels(void)
{
	struct builder *b = builder_new(1, 1);
	uint32_t first = add_launches(b, "first", 2), second = add_launches(b, "second", 5);

	count(b, first, 100, 100, 200);
	count(b, second, 100, 100, 200);
	b->signatures[first].unrecorded_count = 3;
	return b;
}

static struct builder *one_kernel(double l1)
{
	struct builder *b = builder_new(1, 1);

	count(b, add_launches(b, "both", 5), 100, 100, l1);
	return b;
}

static struct traffic_change change_of(struct builder *before, struct builder *after)
{
	struct traffic_change change;

	assert_int_equal(traffic_change_of(&change, builder_finish(before), builder_finish(after),
					   NULL),
			 0);
	free(before);
	free(after);
	return change;
}

static void test_halved(void **state)
{
	struct traffic_change change = change_of(two_kernels(), one_kernel(100));

	(void)state;
	assert_float_equal(change.before.dram_bytes, 2000, 1e-6);
	assert_float_equal(change.after.dram_bytes, 1000, 1e-6);
	assert_float_equal(change.dram_reduction, 0.5, 1e-9);
	assert_float_equal(change.access_reduction, 0.75, 1e-9);
}

static void test_not_counted(void **state)
{
	struct traffic_change change = change_of(two_kernels(), one_kernel(0));
	struct builder *after = one_kernel(100);

	(void)state;
	assert_float_equal(change.dram_reduction, 0.5, 1e-9);
	assert_true(isnan(change.access_reduction));
	add_launches(after, "uncounted", 1); /* a sixth of the time */
	change = change_of(two_kernels(), after);
	assert_float_equal(change.after.dram_bytes, 0, 0);
	assert_true(isnan(change.dram_reduction));
}

/* Launches of "kernel", each in a call of its own every 100 ns from 0 on; its two ranges "step" have so many of them each. */
static struct builder *in_ranges(int launches, int64_t steps_end_ns)
{
	struct builder *b = builder_new(1, 1);

	builder_range(b, 0, "step", 100, steps_end_ns);
	builder_range(b, 0, "other", 0, 100);
	builder_range(b, 0, "step", 1000, 1000 + steps_end_ns - 100);
	for (int i = 0; i < launches; i++)
		builder_kernel(b, 0, "kernel", 5000 + 20 * i, 5000 + 20 * i + 10,
			       builder_launch(b, 0, 100 * i, 100 * i + 50));
	count(b, builder_signature(b, "kernel", 1), 100, 100, 200);
	return b;
}

/* Launches that were counted by instrumented code: two in the first step, two before it. */
static void add_unrecorded(struct builder *b)
{
	b->signatures[0].unrecorded_count = 4;
	for (int i = 0; i < 4; i++)
		builder_launch(b, 0, 60 + 20 * i, 65 + 20 * i);
}

static void test_range(void **state)
{
	struct builder *before = in_ranges(20, 500), *after = in_ranges(20, 300);
	struct traffic_change change;

	(void)state;
	assert_int_equal(traffic_change_of(&change, builder_finish(before), builder_finish(after),
					   "step"),
			 0);
	assert_float_equal(change.before.dram_bytes, 4 * 200, 1e-6);
	assert_float_equal(change.after.dram_bytes, 2 * 200, 1e-6);
	assert_float_equal(change.access_reduction, 0.5, 1e-9);
	assert_false(change.is_left_out);
	add_unrecorded(after);
	assert_int_equal(traffic_change_of(&change, builder_finish(before), builder_finish(after),
					   "step"),
			 0);
	assert_float_equal(change.after.dram_bytes, 3 * 200, 1e-6);
	builder_kernel(after, 0, "kernel", 9000, 9010, PROFILE_NONE); /* a kernel's child */
	assert_int_equal(traffic_change_of(&change, builder_finish(before), builder_finish(after),
					   "step"),
			 0);
	assert_true(change.is_left_out);
	assert_float_equal(change.before.dram_bytes, 0, 0);
	assert_true(isnan(change.dram_reduction));
	free(before);
	free(after);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("what a change takes off the bytes of kernels is told, of launches "
			 "without times as well",
			 test_halved),
		SENTENCE("nothing is told of bytes that kernels were not counted for",
			 test_not_counted),
		SENTENCE(
			"of a range it is what calls in it launched, of an occurrence in the mean, "
			"and nothing where a launch has no call",
			test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
