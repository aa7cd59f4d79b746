/* How much the clocks of hosts differ, by the ends of collectives that they have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "analysis/time/host_clocks.h"
#include "fixture_job.h"

#define STEPS 21
#define STEP_NS 1000000
#define GATHER "ncclDevKernel_AllGather_RING_LL"

/* A rank's collectives, one each millisecond, by a clock so far ahead; every other one ends noise_ns later. */
static void add_rank(struct builder *b, uint32_t process, const char *name, int64_t ahead_ns,
		     int64_t noise_ns)
{
	for (int64_t i = 1; i <= STEPS; i++) {
		int64_t start_ns = i * STEP_NS + ahead_ns;

		job_run(b, process, name, start_ns,
			start_ns + 10000 +
				(i % 4 == 0   ? noise_ns
				 : i % 4 == 1 ? -noise_ns
					      : 0));
	}
}

static const struct host_clock *clock_of(const struct host_clocks *clocks, const char *host)
{
	for (size_t i = 0; i < clocks->count; i++)
		if (!strcmp(clocks->items[i].host, host))
			return &clocks->items[i];
	fail_msg("no clock of %s", host);
	return NULL;
}

static struct host_clocks find(struct builder *b)
{
	struct host_clocks clocks;
	struct err err = {""};

	assert_int_equal(host_clocks_find(&clocks, builder_finish(b), &err), 0);
	return clocks;
}

static void test_two_hosts(void **state)
{
	struct builder *b = builder_new(3, 3);
	struct host_clocks clocks;

	(void)state;
	b->processes[0].host = "b";
	b->processes[1].host = "a";
	b->processes[2].host = "b";
	add_rank(b, 0, JOB_REDUCE, 5000000, 3000);
	add_rank(b, 1, JOB_REDUCE, 0, 0);
	add_rank(b, 2, JOB_REDUCE, 5000000, 0);
	clocks = find(b);
	assert_int_equal(clocks.count, 2);
	assert_int_equal(clock_of(&clocks, "a")->common_count, 0);
	assert_string_equal(clock_of(&clocks, "b")->base, "a");
	assert_int_equal(clock_of(&clocks, "b")->ahead_ns, 5000000);
	assert_int_equal(clock_of(&clocks, "b")->common_count, STEPS);
	host_clocks_free(&clocks);
	free(b);
}

/* Half of the ends are off by that, so the error is: the median of what they are off. */
static void test_error(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct host_clocks clocks;

	(void)state;
	b->processes[0].host = "a";
	b->processes[1].host = "b";
	for (int64_t i = 1; i <= STEPS; i++) {
		job_run(b, 0, JOB_REDUCE, i * STEP_NS, i * STEP_NS + 10000);
		job_run(b, 1, JOB_REDUCE, i * STEP_NS - 70000,
			i * STEP_NS - 60000 + (i - 11) * 100);
	}
	clocks = find(b);
	assert_int_equal(clock_of(&clocks, "b")->ahead_ns, -70000);
	assert_int_equal(clock_of(&clocks, "b")->error_ns, 500);
	host_clocks_free(&clocks);
	free(b);
}

/* c has nothing in common with a, but with b; its error is no less than b's. */
static void test_chain(void **state)
{
	struct builder *b = builder_new(4, 4);
	struct host_clocks clocks;
	const char *hosts[] = {"a", "b", "b", "c"};

	(void)state;
	for (int i = 0; i < 4; i++)
		b->processes[i].host = hosts[i];
	add_rank(b, 0, JOB_REDUCE, 0, 0);
	add_rank(b, 1, JOB_REDUCE, 100000, 0);
	add_rank(b, 2, GATHER, 100000, 0);
	add_rank(b, 3, GATHER, 300000, 0);
	clocks = find(b);
	assert_string_equal(clock_of(&clocks, "c")->base, "a");
	assert_int_equal(clock_of(&clocks, "c")->ahead_ns, 300000);
	assert_int_equal(clock_of(&clocks, "b")->ahead_ns, 100000);
	host_clocks_free(&clocks);
	free(b);
}

/* It may be any of the others. */
static void test_unknown_host(void **state)
{
	struct builder *b = builder_new(3, 3);
	struct host_clocks clocks;
	const char *hosts[] = {"a", "", "b"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		b->processes[i].host = hosts[i];
		add_rank(b, (uint32_t)i, JOB_REDUCE, i * 100000, 0);
	}
	clocks = find(b);
	assert_int_equal(clocks.count, 2); /* of a and b */
	assert_string_equal(clock_of(&clocks, "b")->base, "a");
	host_clocks_free(&clocks);
	b->processes[2].host = "a";
	clocks = find(b);
	assert_int_equal(clocks.count, 0);
	host_clocks_free(&clocks);
	free(b);
}

/* Two programs of their own end theirs whenever they do. */
static void test_not_one_job(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct host_clocks clocks;

	(void)state;
	b->processes[0].host = "a";
	b->processes[1].host = "b";
	for (int64_t i = 1; i <= STEPS; i++) {
		job_run(b, 0, JOB_REDUCE, i * STEP_NS, i * STEP_NS + 10000);
		job_run(b, 1, JOB_REDUCE, i * 3 * STEP_NS, i * 3 * STEP_NS + 10000);
	}
	clocks = find(b);
	for (size_t i = 0; i < clocks.count; i++)
		assert_int_equal(clocks.items[i].common_count, 0);
	host_clocks_free(&clocks);
	free(b);
}

static void test_one_host(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct host_clocks clocks;

	(void)state;
	add_rank(b, 0, JOB_REDUCE, 0, 0);
	add_rank(b, 1, JOB_REDUCE, 7000, 0);
	clocks = find(b);
	assert_int_equal(clocks.count, 0);
	host_clocks_free(&clocks);
	free(b);
}

/* Damaged times are no clock. */
static void test_damage(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct host_clocks clocks;

	(void)state;
	b->processes[0].host = "a";
	b->processes[1].host = "b";
	add_rank(b, 0, JOB_REDUCE, 0, 0);
	add_rank(b, 1, JOB_REDUCE, INT64_MAX / 2, 0);
	clocks = find(b);
	assert_int_equal(clock_of(&clocks, "b")->common_count, 0);
	host_clocks_free(&clocks);
	free(b);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"the host of the lowest name is the base, and ends that differ now and then do not matter",
			test_two_hosts),
		SENTENCE("the error is the median of how much the differences differ", test_error),
		SENTENCE("a host is compared over another one that it has something in common with",
			 test_chain),
		SENTENCE("programs that end theirs whenever they do are not one job",
			 test_not_one_job),
		SENTENCE("a rank whose host is not known is on none of its own", test_unknown_host),
		SENTENCE("of one host there is nothing to compare", test_one_host),
		SENTENCE("times that are damage are no clock", test_damage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
