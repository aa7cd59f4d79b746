/* A loop of kernels is one kernel with barriers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static const char not_kernels[] = "more than kernels is between the first and the last of them";

static const char not_resident[] = "not all blocks of a kernel fit on the GPU at once";

/* A GPU of one SM that holds so many blocks. */
static const char *persist(struct loop_fixture *fixture, uint32_t blocks_per_sm)
{
	struct profile_device *device = &fixture->b->devices[0];

	device->sm_count = 1;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = blocks_per_sm;
	device->max_registers_per_sm = device->max_shared_bytes_per_sm = 1 << 16;
	return loop_apply(fixture, &technique_persistent_kernel);
}

static void expect_refused(const char *usual, uint32_t blocks_per_sm, const char *refusal)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_string_equal(persist(&fixture, blocks_per_sm), refusal);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_persistent(void **state)
{
	struct loop_fixture fixture = loop_of("kek");

	(void)state;
	assert_null(persist(&fixture, 8));
	assert_int_equal(fixture.effect.changed_count, 2 * ITERATIONS);
	loop_expect(&fixture, 0, "Gss");
	loop_expect(&fixture, 1, "sss");
	loop_free(&fixture);
	expect_refused("kik", 8, not_kernels);
	expect_refused("kwk", 8, not_kernels);
	expect_refused("kxk", 8, not_kernels);
	expect_refused("kmk", 8, refused_allocates);
	expect_refused("gk", 8, refused_has_graphs);
	expect_refused("kk", 0, not_resident);
}

/* All blocks at once, and one more than that. */
static void test_persistent_fits(void **state)
{
	struct loop_fixture fixture = loop_of("k");

	(void)state;
	fixture.b->signatures[0].grid[0] = 2;
	assert_null(persist(&fixture, 2));
	loop_free(&fixture);
	fixture = loop_of("k");
	fixture.b->signatures[0].grid[0] = 3;
	assert_string_equal(persist(&fixture, 2), not_resident);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a loop of kernels that fit becomes one that stays", test_persistent),
		SENTENCE("blocks that stay have to fit on the GPU at once", test_persistent_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
