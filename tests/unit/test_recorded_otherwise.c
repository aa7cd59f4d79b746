/* What is told of runs that are others while they are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/compare/recorded_otherwise.h"
#include "profile_builder.h"

#define KERNELS 10

static size_t warned(struct builder *b, const char *part)
{
	struct sentences warnings = {0};
	size_t count;

	assert_int_equal(recorded_otherwise_warn(&warnings, builder_finish(b)), 0);
	count = warnings.count;
	if (count)
		assert_non_null(strstr(warnings.items[0], part));
	sentences_free(&warnings);
	free(b);
	return count;
}

/* The first apart ones start 1 us after the one before, the others 1 us before its end. */
static struct builder *dependent_kernels(int apart, bool is_dependent)
{
	static struct profile_launch launches[KERNELS];
	struct builder *b = builder_new(1, 1);
	int64_t end_ns = 10000;

	for (int i = 0; i < KERNELS; i++) {
		uint32_t call = builder_launch(b, 0, 1000 + 100 * i, 1050 + 100 * i);
		int64_t start_ns = end_ns + (i <= apart ? 1000 : -1000);

		builder_kernel(b, 0, "k", start_ns, start_ns + 5000, call);
		launches[i] = (struct profile_launch){.call = call, .is_dependent = is_dependent};
		end_ns = start_ns + 5000;
	}
	b->profile.launches = launches;
	b->profile.launch_count = KERNELS;
	return b;
}

static void test_dependent(void **state)
{
	(void)state;
	assert_int_equal(warned(dependent_kernels(KERNELS, true), "9 of 9 kernels"), 1);
	assert_int_equal(warned(dependent_kernels(5, true), "5 of 9 kernels"), 1);
}

static void test_overlapping(void **state)
{
	(void)state;
	assert_int_equal(warned(dependent_kernels(4, true), ""), 0);
	assert_int_equal(warned(dependent_kernels(KERNELS, false), ""), 0);
}

static void test_host_functions(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_call(b, 0, "cudaLaunchHostFunc", CALL_LAUNCH, 100, 200);
	assert_int_equal(warned(b, "functions of the host"), 1);
	b = builder_new(1, 1);
	builder_launch(b, 0, 100, 200);
	assert_int_equal(warned(b, ""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"kernels that may overlap and mostly do not are told", test_dependent, NULL, NULL,
		 NULL},
		{"nothing is told where they overlap, or were not launched so", test_overlapping,
		 NULL, NULL, NULL},
		{"functions of the host are told", test_host_functions, NULL, NULL, NULL},
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
