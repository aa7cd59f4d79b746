/* A kernel is set up while the one before it in its stream ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static const char no_predecessor[] = "no kernel follows another one in its stream";

static void test_dependent(void **state)
{
	struct loop_fixture fixture = loop_of("keeeeeeeeeeeeeekeeeeeeeeeeeeee");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	assert_int_equal(fixture.effect.changed_count, 2 * ITERATIONS - 1);
	loop_expect(&fixture, 0, "...............p..............");
	loop_expect(&fixture, 1, "p..............p..............");
	loop_expect_refusal("kc", &technique_dependent_launch, no_predecessor);
	loop_free(&fixture);
}

/* As the recording of a program that has it done. */
static void test_done_already(void **state)
{
	struct loop_fixture fixture = loop_of("kk");

	(void)state;
	for (size_t i = 0; i + 1 < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].end_ns = fixture.b->ops[i + 1].start_ns + 1;
	assert_string_equal(loop_apply(&fixture, &technique_dependent_launch),
			    "kernels start before the one before them has ended already");
	loop_free(&fixture);
}

/* All calls from first on, so many apart, ask for it. */
static void ask(struct profile_launch *launches, const struct loop_fixture *fixture, size_t first,
		size_t apart)
{
	size_t count = 0;

	for (size_t i = first; i < fixture->b->profile.call_count; i += apart)
		launches[count++] =
			(struct profile_launch){.call = (uint32_t)i, .is_dependent = true};
	fixture->b->profile.launches = launches;
	fixture->b->profile.launch_count = count;
}

static void test_asked_already(void **state)
{
	struct profile_launch launches[30 * ITERATIONS];
	struct loop_fixture fixture = loop_of("keeeeeeeeeeeeeeveeeeeeeeeeeeee");

	(void)state;
	ask(launches, &fixture, 15, 30);
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	assert_int_equal(fixture.effect.changed_count, ITERATIONS - 1);
	loop_expect(&fixture, 1, "p.............................");
	ask(launches, &fixture, 0, 15);
	assert_string_equal(loop_apply(&fixture, &technique_dependent_launch),
			    "kernels are launched so already (programmatic stream serialization)");
	loop_free(&fixture);
}

/* A GPU of one SM with room for two blocks: kernels of one and of two. */
static void test_no_room(void **state)
{
	for (uint32_t blocks = 1; blocks <= 2; blocks++) {
		struct loop_fixture fixture = loop_of("keeeeeeeeeeeeee");
		struct profile_device *device = &fixture.b->devices[0];

		*device = (struct profile_device){.name = device->name,
						  .uuid = device->uuid,
						  .op_count = device->op_count,
						  .sm_count = 1,
						  .max_warps_per_sm = 64,
						  .max_blocks_per_sm = 2,
						  .max_registers_per_sm = 1 << 16,
						  .max_shared_bytes_per_sm = 1 << 16};
		fixture.b->signatures[0].grid[0] = blocks;
		if (blocks == 1)
			assert_null(loop_apply(&fixture, &technique_dependent_launch));
		else
			assert_string_equal(loop_apply(&fixture, &technique_dependent_launch),
					    "the kernels before them fill the GPU until they end: "
					    "there is no room for others");
		loop_free(&fixture);
	}
	(void)state;
}

/* One block of each kernel on a GPU of one SM, with room for so many. */
static void make_room(struct loop_fixture *fixture, uint32_t blocks)
{
	struct profile_device *device = &fixture->b->devices[0];

	device->compute_major = 9;
	device->sm_count = 1;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = blocks;
	device->max_registers_per_sm = device->max_shared_bytes_per_sm = 1 << 16;
}

static int64_t op_length_ns(const struct loop_fixture *fixture, size_t op)
{
	return fixture->b->ops[op].end_ns - fixture->b->ops[op].start_ns;
}

/* Three of eight loads above the wait, and then six, of which room for half of it is left. */
static void test_early_part(void **state)
{
	struct loop_fixture fixture = loop_of("keeeeeeeeeeeeee");
	struct profile_machine_code code = {.kernel = fixture.b->signatures[0].kernel,
					    .sm = 90,
					    .dependency_wait_count = 1,
					    .dependent_launch_count = 1,
					    .load_count = 8,
					    .load_before_wait_count = 3};
	const int64_t *op_ns = fixture.application.change.op_ns;

	(void)state;
	make_room(&fixture, 2);
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	assert_int_equal(op_ns[1], 0); /* nothing tells */
	assert_false(fixture.effect.is_assuming);
	fixture.b->profile.machine_codes = &code;
	fixture.b->profile.machine_code_count = 1;
	fixture.application.end = ASSUMED_LEAST;
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	assert_int_equal(op_ns[1], 0);
	assert_true(fixture.effect.is_assuming);
	fixture.application.end = ASSUMED_USUAL;
	code.dependent_launch_count = 0; /* the one before lets it begin at its end only */
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	assert_int_equal(op_ns[1], 0);
	code.dependent_launch_count = 1;
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	assert_int_equal(op_ns[0], 0); /* behind no other */
	assert_int_equal(op_ns[1], 1 + op_length_ns(&fixture, 1) * 5 / 8);
	loop_free(&fixture);
	fixture = loop_of("keeeeeeeeeeeeee");
	make_room(&fixture, 2);
	fixture.b->profile.machine_codes = &code;
	fixture.b->profile.machine_code_count = 1;
	code.load_before_wait_count = 6;
	assert_null(loop_apply(&fixture, &technique_dependent_launch));
	op_ns = fixture.application.change.op_ns;
	assert_int_equal(op_ns[1], 1 + op_length_ns(&fixture, 1) / 2);
	loop_free(&fixture);
}

/* A kernel that stays as it was launched is as long as it was. */
static void test_early_part_refused(void **state)
{
	struct loop_fixture fixture = loop_of("kk");
	struct profile_machine_code code = {.kernel = fixture.b->signatures[0].kernel,
					    .sm = 90,
					    .dependency_wait_count = 1,
					    .dependent_launch_count = 1,
					    .load_count = 2,
					    .load_before_wait_count = 1};

	(void)state;
	make_room(&fixture, 2);
	fixture.b->profile.machine_codes = &code;
	fixture.b->profile.machine_code_count = 1;
	for (size_t i = 0; i + 1 < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].end_ns = fixture.b->ops[i + 1].start_ns + 1;
	assert_non_null(loop_apply(&fixture, &technique_dependent_launch));
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.op_ns[i], 0);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a kernel behind another one can be set up before", test_dependent),
		SENTENCE("there must be room on the GPU while the kernel before it runs",
			 test_no_room),
		SENTENCE("kernels that start before the one before them ends are left alone",
			 test_done_already),
		SENTENCE("launches that ask for it already are left alone", test_asked_already),
		SENTENCE(
			"what a kernel does above its wait runs beside the one before, as far as there is room",
			test_early_part),
		SENTENCE("kernels of a refused loop are as long as they were",
			 test_early_part_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
