/* Allocations of a loop are before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

/* The wait before an allocation goes with it, another one stays. */
static void test_allocations(void **state)
{
	struct loop_fixture fixture = loop_of("mkwewm");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_preallocate));
	assert_int_equal(fixture.effect.changed_count, 2 * ITERATIONS);
	for (int i = 0; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "d...dd");
	loop_expect(&fixture, ITERATIONS - 1, "d....d"); /* the last wait of all stays */
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("allocations of a loop go with the waits for them", test_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
