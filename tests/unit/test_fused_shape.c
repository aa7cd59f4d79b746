/* What kernels need as one kernel, from what each needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "techniques/shared/fused_shape.h"

static const struct profile_device h200 = {
	.compute_major = 9,
	.sm_count = 132,
	.max_warps_per_sm = 64,
	.max_blocks_per_sm = 32,
	.max_registers_per_sm = 65536,
	.max_shared_bytes_per_sm = 233472,
};

struct part {
	uint32_t registers, static_shared_bytes, dynamic_shared_bytes;
};

static struct fused_shape shape_of(const struct part *parts, size_t count, uint32_t block,
				   double values)
{
	static const uint32_t numbers[] = {0, 1, 2};
	struct profile_signature signatures[3] = {0};
	struct profile profile = {.signatures = signatures, .signature_count = count};
	struct fused_shape shape;

	for (size_t i = 0; i < count; i++)
		signatures[i] = (struct profile_signature){
			.grid = {1000, 1, 1},
			.block = {block, 1, 1},
			.registers_per_thread = parts[i].registers,
			.static_shared_bytes = parts[i].static_shared_bytes,
			.dynamic_shared_bytes = parts[i].dynamic_shared_bytes,
		};
	assert_true(fused_shape_of(&shape, &profile, &h200, numbers, count, values));
	return shape;
}

/* fuse_reduction: 31, 30 and 26 registers, 2 and 1 KiB; as one kernel it has 32 and 2 KiB. */
static void test_range(void **state)
{
	static const struct part parts[] = {{31, 2048, 0}, {30, 1024, 0}, {26, 0, 0}};
	struct fused_shape shape = shape_of(parts, 3, 256, 1);

	(void)state;
	assert_int_equal(shape.registers_least, 31);
	assert_int_equal(shape.registers_most, 15 + 14 + 10 + 16);
	assert_int_equal(shape.shared_least, 2048);
	assert_int_equal(shape.shared_most, 3072);
	assert_false(shape.may_spill);
	assert_float_equal(shape.warps_now, 1, 0);
	assert_float_equal(shape.warps_most, 1, 0);
	assert_float_equal(shape.warps_least, 0.5, 0);
}

/* overfused: 8 values of 4 bytes for each thread, in 22 registers. */
static void test_values(void **state)
{
	static const struct {
		double read_bytes;
		uint32_t registers, shared_bytes;
		double values;
	} cases[] = {
		{8 * 4 * 256000.0, 22, 0, 8},
		{1.9 * 4 * 256000, 22, 0, 1},  /* a single one */
		{8 * 4 * 256000.0, 22, 16, 1}, /* a block exchanges them */
		{23 * 4 * 256000.0, 22, 0, 1}, /* one after the other */
		{0, 22, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct profile_signature launch = {.grid = {1000, 1, 1},
							 .block = {256, 1, 1},
							 .registers_per_thread = cases[i].registers,
							 .dynamic_shared_bytes =
								 cases[i].shared_bytes};

		assert_float_equal(fused_values_of(&launch, cases[i].read_bytes), cases[i].values,
				   1e-9);
	}
}

/* overfused: 128 values of seven steps, which have 16 registers each; the kernel of all seven has 168. */
static void test_holding(void **state)
{
	static const struct part parts[] = {{16, 0, 0}, {16, 0, 0}, {16, 0, 0}};
	struct fused_shape shape = shape_of(parts, 3, 256, 128);

	(void)state;
	assert_int_equal(shape.registers_least, 16);
	assert_int_equal(shape.registers_most, 16 + 128);
	assert_float_equal(shape.warps_most, 1, 0);
	assert_float_equal(shape.warps_least, 8.0 / 64, 0);
	assert_false(shape.may_spill);
	assert_true(shape_of(parts, 3, 256, 250).may_spill);
}

/* What needs no more than its index and addresses adds nothing. */
static void test_small(void **state)
{
	static const struct part parts[] = {{24, 0, 0}, {16, 0, 0}, {12, 0, 0}};
	struct fused_shape shape = shape_of(parts, 3, 256, 1);

	(void)state;
	assert_int_equal(shape.registers_least, 24);
	assert_int_equal(shape.registers_most, 24);
	assert_float_equal(shape.warps_least, 1, 0);
}

static void test_limits(void **state)
{
	static const struct part spilling[] = {{168, 0, 0}, {200, 0, 0}};
	static const struct part large[] = {{32, 0, 150000}, {32, 0, 100000}};
	static const struct part tiny[] = {{10, 0, 0}, {12, 0, 0}};
	struct fused_shape shape = shape_of(spilling, 2, 256, 1);

	(void)state;
	assert_true(shape.may_spill);
	assert_int_equal(shape.registers_most, FUSED_REGISTERS_MOST);
	assert_true(shape.warps_least > 0);
	shape = shape_of(large, 2, 256, 1);
	assert_float_equal(shape.warps_now, 8.0 / 64, 0);
	assert_float_equal(shape.warps_least, 0, 0);
	shape = shape_of(tiny, 2, 256, 1);
	assert_int_equal(shape.registers_most, 16);
}

static void test_unknown(void **state)
{
	static const uint32_t numbers[] = {0, 0};
	struct profile_signature signature = {.grid = {1, 1, 1}, .block = {256, 1, 1}};
	struct profile profile = {.signatures = &signature, .signature_count = 1};
	struct profile_device older = h200;
	struct fused_shape shape;

	(void)state;
	older.max_registers_per_sm = 0;
	assert_false(fused_shape_of(&shape, &profile, &older, numbers, 2, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"one kernel needs at least what one of its parts has, and at most what all have together",
		 test_range, NULL, NULL, NULL},
		{"a thread may hold all of its values, where it has as many registers", test_values,
		 NULL, NULL, NULL},
		{"a thread that needs values of other threads holds all of them", test_holding,
		 NULL, NULL, NULL},
		{"registers for index and addresses count once", test_small, NULL, NULL, NULL},
		{"what may spill, and what does not fit, is told", test_limits, NULL, NULL, NULL},
		{"of an older recording without the device's limits nothing is told", test_unknown,
		 NULL, NULL, NULL},
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
