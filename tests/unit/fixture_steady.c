#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_steady.h"

struct steady_run steady_run_new(void)
{
	return (struct steady_run){builder_new(1, 1), 1000000};
}

void steady_run_call(struct steady_run *run, const char *name, enum profile_call_class class,
		     int64_t ns)
{
	builder_call(run->b, 0, name, class, run->now_ns, run->now_ns + ns);
	run->now_ns += ns;
}

void steady_run_kernel(struct steady_run *run, const char *name, int64_t ns)
{
	int64_t start_ns = run->now_ns + 5000;
	uint32_t call = builder_launch(run->b, 0, run->now_ns, run->now_ns + 4000);

	builder_kernel(run->b, 0, name, start_ns, start_ns + ns, call);
	builder_call(run->b, 0, "cudaDeviceSynchronize", CALL_SYNC, run->now_ns + 4000,
		     start_ns + ns + 2000);
	run->now_ns = start_ns + ns + 2000;
}

static void iterate(struct steady_run *run, int64_t more_ns)
{
	int64_t now_ns = run->now_ns, launched_ns = now_ns + 4000 + more_ns;
	uint32_t a = builder_launch(run->b, 0, now_ns, launched_ns);
	uint32_t b = builder_launch(run->b, 0, launched_ns, launched_ns + 4000);

	builder_kernel(run->b, 0, "A", launched_ns + 1000, launched_ns + 11000, a);
	builder_kernel(run->b, 0, "B", launched_ns + 12000, launched_ns + 17000, b);
	builder_call(run->b, 0, "cudaDeviceSynchronize", CALL_SYNC, launched_ns + 4000,
		     launched_ns + 19000);
	run->now_ns = launched_ns + 22000;
}

void steady_run_iterate(struct steady_run *run, int count, int64_t more_ns)
{
	for (int i = 0; i < count; i++)
		iterate(run, more_ns);
}

void steady_run_pause(struct steady_run *run, int64_t ns)
{
	run->now_ns += ns;
}

struct steady_found steady_find_in(const struct profile *profile)
{
	struct steady_found found;
	struct err err = {""};

	assert_int_equal(timeline_build(&found.timeline, profile, &err), 0);
	assert_int_equal(gaps_analyze(&found.gaps, profile, found.timeline, 0, &err), 0);
	assert_int_equal(steady_state_build(&found.state, profile, found.timeline, found.gaps,
					    &err),
			 0);
	found.device = &found.state->devices[0];
	return found;
}

struct steady_found steady_find(struct builder *b)
{
	return steady_find_in(builder_finish(b));
}

void steady_done(struct builder *b, struct steady_found *found)
{
	steady_state_free(found->state);
	gaps_free(found->gaps);
	timeline_free(found->timeline);
	free(b);
}
