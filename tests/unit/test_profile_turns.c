/* Threads that take turns are one in struct profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_profile.h"

#define FIRST_NS 100000
#define STEP_NS 1000 /* from one call to the next */
#define CALL_NS 400
#define KERNEL_NS 300 /* runs from 500 ns after its call began on */
#define MOST_CALLS 200

/* Names of the small recording. */
enum { KERNEL_CALL = 3, COPY_CALL = 5, WAIT_CALL = 6 };

/* Rows of api and kernels: a call a step. */
struct writing {
	char api[64 * MOST_CALLS], kernels[64 * MOST_CALLS];
	size_t api_length, kernels_length, count;
};

static void begin(struct writing *writing)
{
	*writing = (struct writing){0};
	writing->api_length = (size_t)snprintf(writing->api, sizeof(writing->api),
					       "start_ns,end_ns,name,thread,correlation,result\n");
	writing->kernels_length =
		(size_t)snprintf(writing->kernels, sizeof(writing->kernels),
				 "start_ns,end_ns,signature,device,context,stream,correlation\n");
}

/* Correlations count from 1. */
static void add_call_at(struct writing *writing, int thread, int name, int64_t start_ns,
			int64_t end_ns)
{
	writing->count++;
	writing->api_length += (size_t)snprintf(writing->api + writing->api_length,
						sizeof(writing->api) - writing->api_length,
						"%lld,%lld,%d,%d,%zu,0\n", (long long)start_ns,
						(long long)end_ns, name, thread, writing->count);
	if (name == KERNEL_CALL)
		writing->kernels_length +=
			(size_t)snprintf(writing->kernels + writing->kernels_length,
					 sizeof(writing->kernels) - writing->kernels_length,
					 "%lld,%lld,1,0,1,7,%zu\n", (long long)start_ns + 500,
					 (long long)start_ns + 500 + KERNEL_NS, writing->count);
}

static int64_t step_ns(size_t step)
{
	return FIRST_NS + (int64_t)step * STEP_NS;
}

static void add_call(struct writing *writing, int thread, int name)
{
	int64_t start_ns = step_ns(writing->count);

	add_call_at(writing, thread, name, start_ns, start_ns + CALL_NS);
}

/* Threads of 100, 200, ... after each other. */
static void add_turns(struct writing *writing, int thread_count, int turn_count)
{
	for (int i = 0; i < turn_count; i++)
		add_call(writing, 100 * (1 + i % thread_count), KERNEL_CALL);
}

static void write_tables(const struct fixture *fixture, const char *process,
			 const struct writing *writing)
{
	static const char *const emptied[] = {"copies.csv",   "memsets.csv", "graphs.csv",
					      "syncs.csv",    "jit.csv",     "markers.csv",
					      "counters.csv", "counted.csv", "overheads.csv"};

	for (size_t i = 0; i < sizeof(emptied) / sizeof(*emptied); i++)
		fixture_write(fixture, process, emptied[i], "");
	fixture_write(fixture, process, "api.csv", writing->api);
	fixture_write(fixture, process, "kernels.csv", writing->kernels);
}

static struct profile *load(const struct fixture *fixture, const struct writing *writing)
{
	struct profile *profile;

	write_tables(fixture, FIXTURE_PROCESS, writing);
	profile = fixture_load(fixture);
	assert_consistent(profile);
	return profile;
}

/* The thread of a process with that system thread id. */
static const struct profile_thread *thread_of(const struct profile *profile, uint32_t process,
					      uint32_t id)
{
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].process == process && profile->threads[i].thread == id)
			return &profile->threads[i];
	fail_msg("no thread %u", id);
	return NULL;
}

static size_t calls_of(const struct profile *profile, uint32_t id)
{
	return thread_of(profile, 0, id)->call_count;
}

/* ---- who is joined ---- */

/* 21 calls hand over 20 times. */
static void test_two_threads(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 21);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 21); /* it calls once more than the other */
	assert_int_equal(calls_of(profile, 200), 0);
	for (size_t i = 0; i < 21; i++)
		assert_int_equal(profile->calls[i].start_ns, step_ns(i));
	profile_free(profile);
}

static void test_ops_find_calls(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 21);
	profile = load(*state, &writing);
	assert_int_equal(profile->op_count, 21);
	for (size_t i = 0; i < profile->op_count; i++) {
		assert_int_equal(profile->ops[i].call, i);
		assert_int_equal(profile->ops[i].start_ns, profile->calls[i].start_ns + 500);
	}
	profile_free(profile);
}

/* The thread that calls more comes second in the recording: it is the one that stays. */
static void test_most_calls(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_call(&writing, 200, KERNEL_CALL);
	add_turns(&writing, 2, 20);
	add_call(&writing, 200, KERNEL_CALL);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 200), 22);
	assert_int_equal(calls_of(profile, 100), 0);
	profile_free(profile);
}

/* A call inside another one of its thread is dropped, and is no overlap. */
static void test_nested(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 21);
	add_call_at(&writing, 100, KERNEL_CALL, step_ns(2) + 100, step_ns(2) + 300);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 21);
	assert_int_equal(profile->op_count, 22);
	/* what it submitted is of the call around it */
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].start_ns == step_ns(2) + 600)
			assert_int_equal(profile->ops[i].call, 2);
	profile_free(profile);
}

static void test_overlap(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 40);
	add_call_at(&writing, 200, KERNEL_CALL, step_ns(40), step_ns(41) + 100);
	add_call_at(&writing, 100, KERNEL_CALL, step_ns(41), step_ns(41) + CALL_NS);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 21);
	assert_int_equal(calls_of(profile, 200), 21);
	profile_free(profile);
}

/* The thread that calls most is in a long call all the time, with a short one inside. */
static void test_overlap_of_outer(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 41);
	add_call_at(&writing, 100, KERNEL_CALL, step_ns(41), step_ns(50));
	add_call_at(&writing, 100, KERNEL_CALL, step_ns(42), step_ns(43));
	add_call_at(&writing, 200, KERNEL_CALL, step_ns(44), step_ns(45));
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 200), 21);
	profile_free(profile);
}

/* A call that begins in the nanosecond in which one of another thread returns does not follow it. */
static void expect_apart_when_touching(const struct fixture *fixture, int first, int second)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 40);
	add_call_at(&writing, first, KERNEL_CALL, step_ns(40), step_ns(41));
	add_call_at(&writing, second, KERNEL_CALL, step_ns(41), step_ns(41));
	profile = load(fixture, &writing);
	assert_int_equal(calls_of(profile, 100), 21);
	assert_int_equal(calls_of(profile, 200), 21);
	profile_free(profile);
}

static void test_touching(void **state)
{
	expect_apart_when_touching(*state, 100, 200);
	expect_apart_when_touching(*state, 200, 100);
}

/* 16 calls hand over 15 times. */
static void test_few_turns(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 16);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 8);
	assert_int_equal(calls_of(profile, 200), 8);
	profile_free(profile);
	begin(&writing);
	add_turns(&writing, 2, 17);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 17);
	profile_free(profile);
}

/* Many calls at a stretch are one turn. */
static void test_stretches(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	for (int i = 0; i < 60; i++)
		add_call(&writing, 100 * (1 + i / 10 % 2), KERNEL_CALL);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 30);
	profile_free(profile);
}

static void test_without_launches(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	for (int i = 0; i < 60; i++)
		add_call(&writing, 100 * (1 + i % 3), i % 3 == 1 ? COPY_CALL : KERNEL_CALL);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 40); /* with those of 300 */
	assert_int_equal(calls_of(profile, 200), 20);
	profile_free(profile);
}

/* ---- more than two ---- */

/* One call of the third is inside another one of it. */
static void test_three_threads(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 3, 61);
	add_call_at(&writing, 300, KERNEL_CALL, step_ns(2) + 100, step_ns(2) + 300);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 61);
	for (size_t i = 0; i < 61; i++)
		assert_int_equal(profile->calls[i].start_ns, step_ns(i));
	profile_free(profile);
}

/* 300 and 400 both take turns with 100, as two backward passes do, but once call at the same time. */
static void write_colliding(struct writing *writing, int first, int second)
{
	begin(writing);
	for (int i = 0; i < 20; i++) {
		add_call(writing, 100, KERNEL_CALL);
		add_call(writing, 300, KERNEL_CALL);
		add_call(writing, 400, KERNEL_CALL);
	}
	add_call(writing, 100, KERNEL_CALL);
	add_call_at(writing, first, KERNEL_CALL, step_ns(61), step_ns(62) + 100);
	add_call_at(writing, second, KERNEL_CALL, step_ns(62), step_ns(62) + CALL_NS);
}

static void test_colliding(void **state)
{
	struct writing writing;
	struct profile *profile;

	write_colliding(&writing, 300, 400);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 42); /* of two that call equally often the first */
	assert_int_equal(calls_of(profile, 400), 21);
	profile_free(profile);
	write_colliding(&writing, 300, 400);
	for (int i = 0; i < 2; i++)
		add_call(&writing, 100 + 300 * i, KERNEL_CALL);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 22 + 22);
	assert_int_equal(calls_of(profile, 300), 21);
	profile_free(profile);
}

static void test_third_overlaps(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 3, 61);
	add_call_at(&writing, 100, KERNEL_CALL, step_ns(61), step_ns(62) + 100);
	add_call_at(&writing, 300, KERNEL_CALL, step_ns(62), step_ns(62) + CALL_NS);
	profile = load(*state, &writing);
	assert_int_equal(calls_of(profile, 100), 22 + 20);
	assert_int_equal(calls_of(profile, 300), 21);
	profile_free(profile);
}

/* Threads of the same ids in a process that was read before, whose calls overlap all the time. */
static void test_other_process(void **state)
{
	const struct fixture *fixture = *state;
	struct writing writing;
	struct profile *profile;

	fixture_add_process(fixture, "host.99");
	begin(&writing);
	for (int i = 0; i < 40; i++)
		add_call_at(&writing, 100 * (1 + i % 2), KERNEL_CALL, step_ns((size_t)i),
			    step_ns((size_t)i + 1) + 100);
	write_tables(fixture, "host.99", &writing);
	begin(&writing);
	add_turns(&writing, 2, 41);
	profile = load(fixture, &writing);
	assert_int_equal(thread_of(profile, 0, 100)->call_count, 20);
	assert_int_equal(thread_of(profile, 0, 200)->call_count, 20);
	assert_int_equal(thread_of(profile, 1, 100)->call_count, 41);
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		assert_int_equal(profile->threads[profile->calls[op->call].thread].process,
				 profile_op_process(profile, op));
	}
	profile_free(profile);
}

/* ---- what else belongs to a thread ---- */

static struct profile *load_joined_with(const struct fixture *fixture, const char *file,
					const char *text)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 21);
	write_tables(fixture, FIXTURE_PROCESS, &writing);
	profile = fixture_load_with(fixture, file, text);
	assert_consistent(profile);
	assert_int_equal(calls_of(profile, 100), 21);
	return profile;
}

/* outer of thread 100 from step 0 to 10, with one of each thread inside, that of 100 in that of 200. */
static void test_ranges(void **state)
{
	struct profile *profile = load_joined_with(*state, "markers.csv",
						   "time_ns,id,phase,is_thread,thread,domain,name\n"
						   "99000,1,1,1,100,0,8\n"
						   "101000,2,1,1,200,0,9\n"
						   "102000,3,1,1,100,0,8\n"
						   "103000,3,2,1,100,0,0\n"
						   "104000,2,2,1,200,0,0\n"
						   "110000,1,2,1,100,0,0\n"
						   "111000,4,1,1,200,0,9\n"
						   "112000,4,2,1,200,0,0\n");
	static const struct {
		int64_t start_ns;
		uint32_t depth;
	} expected[] = {{99000, 0}, {101000, 1}, {102000, 2}, {111000, 0}};
	const struct profile_thread *thread = thread_of(profile, 0, 100);

	assert_int_equal(thread->range_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct profile_range *range = &profile->ranges[thread->first_range + i];

		assert_int_equal(range->start_ns, expected[i].start_ns);
		assert_int_equal(range->depth, expected[i].depth);
	}
	assert_int_equal(thread_of(profile, 0, 200)->range_count, 0);
	profile_free(profile);
}

/* A range of the other thread that ends later is not inside, and what begins after both is in neither. */
static void test_crossing_ranges(void **state)
{
	struct profile *profile = load_joined_with(*state, "markers.csv",
						   "time_ns,id,phase,is_thread,thread,domain,name\n"
						   "100000,1,1,1,100,0,8\n"
						   "102000,2,1,1,200,0,9\n"
						   "104000,1,2,1,100,0,0\n"
						   "105000,3,1,1,200,0,8\n"
						   "106000,3,2,1,200,0,0\n"
						   "108000,2,2,1,200,0,0\n"
						   "109000,4,1,1,100,0,8\n"
						   "110000,4,2,1,100,0,0\n");
	static const uint32_t depths[] = {0, 0, 1, 0};

	assert_int_equal(profile->range_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(profile->ranges[i].depth, depths[i]);
	profile_free(profile);
}

static void test_overheads(void **state)
{
	struct profile *profile =
		load_joined_with(*state, "overheads.csv",
				 "start_ns,end_ns,name,is_profiler,thread,correlation\n"
				 "101500,101600,7,1,200,0\n"
				 "102500,102600,7,1,100,0\n");

	assert_int_equal(profile->overhead_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(profile->threads[profile->overheads[i].thread].thread, 100);
	profile_free(profile);
}

/* threads.csv is read before. */
static void test_named(void **state)
{
	struct profile *profile = load_joined_with(*state, "threads.csv",
						   "thread,name\n"
						   "200,11\n"
						   "100,8\n");

	assert_string_equal(thread_of(profile, 0, 100)->name, "outer");
	assert_string_equal(thread_of(profile, 0, 200)->name, "loader thread");
	profile_free(profile);
}

/* A wait of the joined thread is found by its correlation. */
static void test_syncs(void **state)
{
	struct writing writing;
	struct profile *profile;

	begin(&writing);
	add_turns(&writing, 2, 21);
	add_call(&writing, 200, WAIT_CALL);
	add_call(&writing, 100, KERNEL_CALL);
	write_tables(*state, FIXTURE_PROCESS, &writing);
	profile = fixture_load_with(*state, "syncs.csv",
				    "start_ns,end_ns,kind,context,stream,event,correlation\n"
				    "121100,121300,4,1,4294967295,4294967295,22\n");
	assert_consistent(profile);
	assert_int_equal(calls_of(profile, 100), 23);
	assert_int_equal(profile->sync_count, 1);
	assert_int_equal(profile->syncs[0].call, 21);
	assert_string_equal(call_text(profile, 21), "cudaDeviceSynchronize");
	profile_free(profile);
}

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("two threads that take turns are one", test_two_threads),
		TEST("operations of joined threads find their calls", test_ops_find_calls),
		TEST("the thread that calls most stays", test_most_calls),
		TEST("a call inside another one is no overlap", test_nested),
		TEST("one overlap keeps threads apart", test_overlap),
		TEST("so does one with a call that another one is inside", test_overlap_of_outer),
		TEST("calls that touch have not been handed over", test_touching),
		TEST("threads that hand over 15 times stay apart, 16 are enough", test_few_turns),
		TEST("calls at a stretch are one turn", test_stretches),
		TEST("a thread without launches stays apart", test_without_launches),
		TEST("three threads that take turns are one", test_three_threads),
		TEST("of two that call at the same time the one that calls less stays apart",
		     test_colliding),
		TEST("a third thread that overlaps does not keep the others apart",
		     test_third_overlaps),
		TEST("threads of another process are not touched", test_other_process),
		TEST("NVTX ranges of joined threads are inside each other", test_ranges),
		TEST("ranges of joined threads that cross are not", test_crossing_ranges),
		TEST("overheads of a joined thread are the other one's", test_overheads),
		TEST("joined threads keep their names", test_named),
		TEST("waits of a joined thread find their calls", test_syncs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
