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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
