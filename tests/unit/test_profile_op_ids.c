/* What CUPTI calls an operation: kept where it does not follow from the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_profile.h"

#define CALLS                                              \
	"start_ns,end_ns,name,thread,correlation,result\n" \
	"1000,1500,3,1,1,0\n"                              \
	"2000,2900,3,1,2,0\n"                              \
	"2100,2200,3,1,3,0\n" /* inside the one before */
#define KERNELS "start_ns,end_ns,signature,device,context,stream,correlation,graph,graph_node\n"

/* No operations but the kernels. */
static struct profile *load(struct fixture *fixture, const char *kernels)
{
	static const char *const others[] = {"copies.csv", "memsets.csv", "graphs.csv"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		fixture_write(fixture, FIXTURE_PROCESS, others[i], "start_ns,end_ns\n");
	fixture_write(fixture, FIXTURE_PROCESS, "api.csv", CALLS);
	return fixture_load_with(fixture, "kernels.csv", kernels);
}

static uint32_t correlation_of(const struct profile *profile, size_t op)
{
	return profile_op_ids(profile, &profile->ops[op]).correlation;
}

static void test_as_calls(void **state)
{
	struct profile *profile = load(*state, KERNELS "1200,1300,1,0,1,7,1,0,0\n"
						       "2300,2400,1,0,1,7,2,0,0\n");

	assert_int_equal(profile->op_count, 2);
	assert_null(profile->op_ids);
	assert_int_equal(correlation_of(profile, 0), 1);
	assert_int_equal(correlation_of(profile, 1), 2);
	assert_int_equal(profile_op_graph(profile, &profile->ops[1]), 0);
	profile_free(profile);
}

static void test_otherwise(void **state)
{
	struct profile *profile = load(*state, KERNELS "2300,2400,1,0,1,7,3,0,0\n"
						       "1200,1300,1,0,1,7,1,0,0\n"
						       "5000,5100,1,0,1,7,9,0,0\n");

	assert_int_equal(profile->op_count, 3);
	assert_int_equal(correlation_of(profile, 0), 1);
	assert_int_equal(correlation_of(profile, 1), 3); /* of a call within another */
	assert_int_equal(profile->calls[profile->ops[1].call].correlation, 2);
	assert_int_equal(correlation_of(profile, 2), 9); /* whose call is not recorded */
	assert_int_equal(profile->ops[2].call, PROFILE_NONE);
	profile_free(profile);
}

static void test_in_graphs(void **state)
{
	struct profile *profile = load(*state, KERNELS "2300,2400,1,0,1,7,2,5,77\n"
						       "1200,1300,1,0,1,7,1,0,0\n");

	assert_int_equal(profile_op_graph(profile, &profile->ops[0]), 0);
	assert_int_equal(profile_op_node(profile, &profile->ops[0]), 0);
	assert_int_equal(profile_op_graph(profile, &profile->ops[1]), 5);
	assert_int_equal(profile_op_node(profile, &profile->ops[1]), 77);
	profile_free(profile);
}

static void test_result(void **state)
{
	struct profile *profile = fixture_load_with(
		*state, "api.csv",
		"start_ns,end_ns,name,thread,correlation,result\n1000,1500,3,1,1,999\n"
		"2000,2500,3,1,2,70000\n");

	assert_int_equal(profile->calls[0].result, 999);
	assert_int_equal(profile->calls[1].result, CALL_RESULT_MOST);
	profile_free(profile);
}

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("correlations that are those of the calls are not kept twice", test_as_calls),
		TEST("a correlation that its call does not have is kept", test_otherwise),
		TEST("graphs and nodes stay with their operations when these are sorted",
		     test_in_graphs),
		TEST("a result that no version of CUDA has is the greatest", test_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
