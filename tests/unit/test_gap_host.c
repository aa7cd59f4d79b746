/* What the host did during a gap: thread, NVTX range and calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/time/gap_host.h"
#include "fixture_gaps.h"

static struct gap_host host_of(struct builder *b, struct gaps_result *result)
{
	struct gap_host host;

	*result = gaps_of(b, 10);
	assert_int_equal(result->gaps->longest_count, 1);
	assert_true(gap_host_find(&host, &b->profile, &result->gaps->longest[0]));
	return host;
}

static const char *name_of(const struct builder *b, uint32_t call)
{
	return b->profile.call_names[b->profile.calls[call].name].text;
}

static void test_own_code(void **state)
{
	struct builder *b = gap_launched(9000, 10000);
	struct gaps_result result;
	struct gap_host host;

	(void)state;
	builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, -300, 2000);
	host = host_of(b, &result);
	assert_int_equal(host.own_ns, 7000);
	assert_string_equal(name_of(b, host.after), "cudaDeviceSynchronize");
	assert_string_equal(name_of(b, host.then), "cudaLaunchKernel");
	assert_int_equal(host.call_ns, 1000);
	gaps_done(b, result);
}

static void test_call(void **state)
{
	struct builder *b = gap_launched(9000, 10000);
	struct gaps_result result;
	struct gap_host host;

	(void)state;
	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 2000, 8500);
	host = host_of(b, &result);
	assert_string_equal(name_of(b, host.call), "cudaMalloc");
	assert_int_equal(host.call_ns, 6500);
	assert_int_equal(host.own_ns, 1000);
	gaps_done(b, result);
}

static void test_returned(void **state)
{
	struct builder *b = gap_launched(-6000, -5000);
	struct gaps_result result;
	struct gap_host host = host_of(b, &result);

	(void)state;
	assert_int_equal(host.returned_ns, 6000);
	assert_int_equal(host.own_ns + host.call_ns, 0);
	gaps_done(b, result);
}

static void add_range(struct builder *b, const char *name, uint32_t depth, int64_t start_ns,
		      int64_t end_ns)
{
	b->ranges[b->profile.range_count++] = (struct profile_range){.start_ns = start_ns,
								     .end_ns = end_ns,
								     .domain = "",
								     .name = name,
								     .depth = depth,
								     .is_push_pop = true};
}

static void test_range(void **state)
{
	struct builder *b = gap_launched(9000, 10000);
	struct gaps_result result;
	struct gap_host host;

	(void)state;
	add_range(b, "step", 0, 900, 11000);
	add_range(b, "load", 1, 1100, 1500);
	add_range(b, "check", 1, 1600, 8900);
	b->threads[0].range_count = b->profile.range_count;
	host = host_of(b, &result);
	assert_non_null(host.range);
	assert_string_equal(host.range->name, "check");
	gaps_done(b, result);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("the thread's own code lies between two calls", test_own_code),
		SENTENCE("a call that takes most of the gap is named", test_call),
		SENTENCE("of a launch that was queued it is told when it had returned",
			 test_returned),
		SENTENCE("the range is the innermost in the middle of what took longest",
			 test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
