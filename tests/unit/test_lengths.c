/* Techniques that change how long kernels take: of which launches, and by how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "techniques/shared/lengths.h"
#include "fixture_loop.h"

/* Launches of that kernel take that share of their time; how many they are. */
static size_t scale(struct loop_fixture *fixture, uint32_t kernel, lengths_concerns *concerns,
		    double share)
{
	return lengths_scale_kernel(loop_application(fixture, &technique_fewer_bytes), kernel,
				    concerns, share);
}

static void test_share(void **state)
{
	struct loop_fixture fixture = loop_of("ki");

	(void)state;
	assert_int_equal(scale(&fixture, 1, NULL, 0.3), 0);
	loop_expect_unchanged(&fixture);
	assert_int_equal(scale(&fixture, 0, NULL, 0.3), ITERATIONS);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.op_ns[i], i % 2 ? 0 : 31);
	/* what was shortened keeps that */
	assert_int_equal(scale(&fixture, 0, NULL, 0.1), 0);
	assert_int_equal(fixture.application.change.op_ns[0], 31);
	loop_free(&fixture);
}

static bool has_two_blocks(const struct profile_device *device,
			   const struct profile_signature *launch)
{
	assert_non_null(device);
	return launch->grid[0] >= 2;
}

static void test_share_of_shapes(void **state)
{
	struct loop_fixture fixture = loop_of("k");

	(void)state;
	fixture.b->signatures[0].grid[0] = 1;
	assert_int_equal(scale(&fixture, 0, has_two_blocks, 0.3), 0);
	loop_expect_unchanged(&fixture);
	fixture.b->signatures[0].grid[0] = 2;
	assert_int_equal(scale(&fixture, 0, has_two_blocks, 0.3), ITERATIONS);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("launches of one kernel take a share of their time", test_share),
		SENTENCE("and of shapes that are not meant none", test_share_of_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
