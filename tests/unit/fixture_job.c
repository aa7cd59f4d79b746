#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_job.h"

struct built_job job_of(struct builder *b)
{
	const struct profile *profile = builder_finish(b);
	struct built_job it = {.b = b};
	struct err err = {""};

	assert_int_equal(timeline_build(&it.timeline, profile, &err), 0);
	assert_int_equal(gaps_analyze(&it.gaps, profile, it.timeline, 0, &err), 0);
	assert_int_equal(collectives_build(&it.collectives, profile, &err), 0);
	assert_int_equal(job_build(&it.job, profile, it.gaps, it.collectives, &err), 0);
	return it;
}

void job_done(struct built_job *it)
{
	job_free(it->job);
	collectives_free(it->collectives);
	gaps_free(it->gaps);
	timeline_free(it->timeline);
	free(it->b);
}

struct profile_op *job_run(struct builder *b, uint32_t process, const char *name, int64_t start_ns,
			   int64_t end_ns)
{
	return builder_kernel(b, builder_stream(b, process, process), name, start_ns, end_ns,
			      PROFILE_NONE);
}

void job_copy(struct builder *b, uint32_t process, struct profile_copy copy, int64_t start_ns,
	      int64_t end_ns)
{
	builder_copy(b, builder_stream(b, process, process), copy, start_ns, end_ns, PROFILE_NONE);
}
