#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_gaps.h"

struct gaps_result gaps_of(struct builder *b, size_t keep)
{
	const struct profile *profile = builder_finish(b);
	struct gaps_result result = {0};
	struct err err = {""};

	assert_int_equal(timeline_build(&result.timeline, profile, &err), 0);
	assert_int_equal(gaps_analyze(&result.gaps, profile, result.timeline, keep, &err), 0);
	return result;
}

void gaps_done(struct builder *b, struct gaps_result result)
{
	gaps_free(result.gaps);
	timeline_free(result.timeline);
	free(b);
}

void gaps_expect(struct builder *b, ...)
{
	struct gaps_result result = gaps_of(b, 10);
	int64_t expected[GAP_CAUSE_COUNT] = {0};
	va_list arguments;

	va_start(arguments, b);
	for (int cause = va_arg(arguments, int); cause >= 0; cause = va_arg(arguments, int))
		expected[cause] = va_arg(arguments, int);
	va_end(arguments);
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (result.gaps->devices[0].by_cause_ns[i] != expected[i])
			fail_msg("%s: %lld, expected %lld", gap_cause_key(i),
				 (long long)result.gaps->devices[0].by_cause_ns[i],
				 (long long)expected[i]);
	gaps_done(b, result);
}

struct builder *gap_before(const char *name, enum profile_call_class class, int64_t start_ns,
			   int64_t end_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t first = builder_launch(b, 0, -500, -400);

	builder_kernel(b, 0, "P", 0, 1000, first);
	builder_kernel(b, 0, "N", 11000, 12000, builder_call(b, 0, name, class, start_ns, end_ns));
	return b;
}

struct builder *gap_launched(int64_t start_ns, int64_t end_ns)
{
	return gap_before("cudaLaunchKernel", CALL_LAUNCH, start_ns, end_ns);
}
