/* What a run without recording tells of one that was recorded, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fixture_random.h"
#include "replay/recording_overhead.h"
#include "replay/untraced_shares.h"

enum { PERIOD_NS = 5000, CALLS_MOST = 100, AS_USUAL = -1 };

/* Launches one after the other, each of a kernel, then a wait. */
struct made {
	struct builder *b;
	struct profile *profile;
	struct profile_untraced_call untraced[CALLS_MOST];
};

/* period_ns: from launch to launch without recording; wait_ns: of the wait, there and here. */
static void make(struct made *made, size_t launch_count, int64_t period_ns, int64_t wait_ns)
{
	struct builder *b = made->b = builder_new(1, 1);
	int64_t start_ns = 1000000;

	for (size_t i = 0; i < launch_count; i++, start_ns += PERIOD_NS) {
		uint32_t call = builder_launch(b, 0, start_ns, start_ns + PERIOD_NS - 100);

		builder_kernel(b, 0, "k", start_ns + 6000, start_ns + 6500, call);
		made->untraced[i] =
			(struct profile_untraced_call){.call = call,
						       .start_ns = 77 + (int64_t)i * period_ns,
						       .end_ns = 77 + (int64_t)(i + 1) * period_ns -
								 100};
	}
	made->untraced[launch_count] = (struct profile_untraced_call){
		.call = builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, start_ns,
				     start_ns + wait_ns),
		.start_ns = 77 + (int64_t)launch_count * period_ns,
		.end_ns = 77 + (int64_t)launch_count * period_ns + wait_ns};
	made->profile = (struct profile *)builder_finish(b);
	made->profile->untraced_calls = made->untraced;
	made->profile->untraced_call_count = launch_count + 1;
}

static void clear(struct made *made)
{
	made->profile->untraced_calls = NULL;
	free(made->b);
}

static struct model *model_of(struct made *made)
{
	struct model *model = NULL;
	struct err err = {""};

	assert_int_equal(model_build(&model, made->profile, &err), 0);
	return model;
}

static int64_t added_ns(struct made *made, enum profile_call_class call_class)
{
	struct model *model = model_of(made);
	int64_t found_ns = untraced_added_ns(&model->untraced, call_class, 1);

	model_free(model);
	return found_ns;
}

static void test_added(void **state)
{
	static const struct {
		size_t launch_count;
		int64_t period_ns, added_ns;
	} cases[] = {
		{9, 4000, 1000},
		{8, 4900, 100},
		{9, 5500, 0}, /* it was no slower while it was recorded */
		{7, 4000, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made;

		make(&made, cases[i].launch_count, cases[i].period_ns, 2000);
		assert_int_equal(added_ns(&made, CALL_LAUNCH), cases[i].added_ns);
		assert_int_equal(added_ns(&made, CALL_GRAPH_LAUNCH), -1);
		clear(&made);
	}
}

/* What is usual is the mean of 20 but for the longest and the shortest: of eight it is that of all. */
static void test_added_now_and_then(void **state)
{
	struct made made;

	(void)state;
	make(&made, 21, 4000, 2000);
	for (size_t i = 4; i < 22;
	     i++) /* the fourth took 900 less, and the tenth the rest of the time */
		made.untraced[i].start_ns += 900;
	for (size_t i = 10; i < 22; i++)
		made.untraced[i].start_ns -= 100000;
	for (size_t i = 15; i < 22; i++)
		made.untraced[i].start_ns -= 190;
	assert_int_equal(added_ns(&made, CALL_LAUNCH), 1000 + 190 / 19);
	clear(&made);
	make(&made, 8, 4000, 2000);
	for (size_t i = 4; i < 9; i++)
		made.untraced[i].start_ns -= 800;
	assert_int_equal(added_ns(&made, CALL_LAUNCH), 1100);
	clear(&made);
}

/* From launch to launch what else the host does tells nothing of the launch. */
static void test_not_followed(void **state)
{
	struct made made;

	(void)state;
	make(&made, 9, 4000, 2000);
	for (size_t i = 2; i < 9; i += 2) /* every second one was not watched */
		made.untraced[i / 2] = made.untraced[i];
	made.profile->untraced_call_count = 5;
	assert_int_equal(added_ns(&made, CALL_LAUNCH), -1);
	clear(&made);
}

static void test_share(void **state)
{
	struct made made;
	struct place place = {.first = 0, .end = 11};

	(void)state;
	make(&made, 10, 4000, 10000);
	/* 10 launches and the wait: 50 + 10 us recorded, 40 + 10 us without */
	assert_true(untraced_share(made.profile, &place, 1) * 60 - 50 < 1e-9);
	assert_true(untraced_share(made.profile, &place, 1) * 60 - 50 > -1e-9);
	assert_true(untraced_share(made.profile, NULL, 0) ==
		    untraced_share(made.profile, &place, 1));
	place.end = 10; /* no wait ends it */
	assert_true(untraced_share(made.profile, &place, 1) == 0);
	place.end = 11;
	made.profile->untraced_call_count = 0; /* there was no such run */
	assert_true(untraced_share(made.profile, &place, 1) == 0);
	clear(&made);
}

/* Where most of a place lies outside of what was watched, its time is not known. */
static void test_not_covered(void **state)
{
	struct made made;
	struct place place = {.first = 0, .end = 11};

	(void)state;
	make(&made, 10, 4000, 10000);
	for (size_t i = 0; i < 3; i++)
		made.untraced[i] = made.untraced[8 + i];
	made.profile->untraced_call_count = 3;
	assert_true(untraced_share(made.profile, &place, 1) == 0);
	place.first = 8;
	assert_true(untraced_share(made.profile, &place, 1) > 0);
	clear(&made);
}

/* In place of what is usual on such a GPU. */
static void test_taken_from_calls(void **state)
{
	struct made made;
	struct model *model = NULL;
	struct err err = {""};

	(void)state;
	make(&made, 10, 4000, 2000);
	for (uint32_t i = 0; i < 10; i++)
		made.profile->call_names[made.profile->calls[i].name].call_class =
			CALL_GRAPH_LAUNCH;
	assert_int_equal(model_build(&model, made.profile, &err), 0);
	assert_int_equal(overhead_call_ns(model, &random_costs, 3, PERIOD_NS - 100), 1000);
	assert_int_equal(overhead_start_ns(model, &random_costs, 3, 6000), 1000);
	model_free(model);
	clear(&made);
}

/* A launch every 5 us, or 4 without recording, and behind each ninth one another call, with which 7 us more pass, or 4
 * without recording. */
static struct model *make_others(struct made *made, size_t other_count, const char *name,
				 enum profile_call_class call_class, int64_t own_ns)
{
	struct builder *b = made->b = builder_new(1, 1);
	int64_t start_ns = 1000000, untraced_ns = 77;
	size_t count = 0;

	for (size_t i = 0; i < 9 * other_count; i++, start_ns += PERIOD_NS, untraced_ns += 4000) {
		uint32_t call = builder_launch(b, 0, start_ns, start_ns + PERIOD_NS - 100);

		builder_kernel(b, 0, "k", start_ns + 6000, start_ns + 6500, call);
		made->untraced[count++] =
			(struct profile_untraced_call){call, untraced_ns, untraced_ns + 3900};
		if (i % 9)
			continue;
		builder_call(b, 0, name, call_class, start_ns + PERIOD_NS,
			     start_ns + PERIOD_NS + own_ns);
		start_ns += 7000;
		untraced_ns += 4000;
	}
	made->profile = (struct profile *)builder_finish(b);
	made->profile->untraced_calls = made->untraced;
	made->profile->untraced_call_count = count;
	return model_of(made);
}

/* Beyond what it added to the launch before it. */
static void test_other_calls(void **state)
{
	static const struct {
		size_t count;
		const char *name;
		enum profile_call_class call_class;
		int64_t own_ns, added_ns, behind_ns;
	} cases[] = {
		{9, "cudaEventRecord", CALL_EVENT, 6000, 3000, 0},
		/* three quarters of its time, and of the pause behind it */
		{9, "cudaEventRecord", CALL_EVENT, 2000, 1500, 1500},
		/* also of calls that recording is not known to slow */
		{9, "cuModuleLoadData", CALL_MODULE, 6000, 3000, 0},
		{8, "cuModuleLoadData", CALL_MODULE, 6000, 3000, 0},
		{7, "cuModuleLoadData", CALL_MODULE, 6000, 0, 0}, /* too few */
		/* it waits for the kernel before it, whose time is another: as is usual */
		{9, "cudaFree", CALL_MEMORY, 6000, AS_USUAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made;
		struct model *model = make_others(&made, cases[i].count, cases[i].name,
						  cases[i].call_class, cases[i].own_ns);
		int64_t own_ns = cases[i].own_ns;

		assert_int_equal(overhead_call_ns(model, &random_costs, 1, own_ns),
				 cases[i].added_ns == AS_USUAL ? random_costs.trace_call_ns
							       : cases[i].added_ns);
		assert_int_equal(overhead_behind_call_ns(model, &random_costs, 1, 7000 - own_ns),
				 cases[i].behind_ns);
		assert_int_equal(overhead_call_ns(model, NULL, 1, own_ns), 0);
		assert_int_equal(overhead_behind_call_ns(model, NULL, 1, 7000 - own_ns), 0);
		model_free(model);
		clear(&made);
	}
}

/* The median of launches behind another launch. */
static void test_launch_call(void **state)
{
	struct made made;
	struct model *model;

	(void)state;
	make(&made, 21, 4000, 2000);
	for (size_t i = 0; i < 6; i++)
		made.untraced[i].end_ns += 20000; /* the first one begins with what others do not */
	model = model_of(&made);
	assert_int_equal(model->untraced.launch_call_ns, 3900);
	model_free(model);
	for (size_t i = 6; i < 12; i++)
		made.untraced[i].end_ns += 100;
	model = model_of(&made);
	assert_int_equal(model->untraced.launch_call_ns, 4000);
	model_free(model);
	clear(&made);
	make(&made, 8, 4000, 2000);
	model = model_of(&made);
	assert_int_equal(model->untraced.launch_call_ns, 0); /* seven behind another are too few */
	model_free(model);
	clear(&made);
	/* from the 65th on they may wait for the GPU */
	make(&made, 90, 4000, 2000);
	for (size_t i = 64; i < 90; i++)
		made.untraced[i].end_ns += 100000;
	for (size_t i = 33; i < 64; i++)
		made.untraced[i].end_ns += 200;
	model = model_of(&made);
	assert_int_equal(model->untraced.launch_call_ns, 3900);
	model_free(model);
	clear(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"what recording adds to a launch is the time to the next call that it did not take "
		 "without",
		 test_added, NULL, NULL, NULL},
		{"what it added to launches now and then counts as well, but for outliers",
		 test_added_now_and_then, NULL, NULL, NULL},
		{"calls between which the host did something else tell nothing", test_not_followed,
		 NULL, NULL, NULL},
		{"a place took as long as from its first launch to the end of its last wait",
		 test_share, NULL, NULL, NULL},
		{"what was hardly watched is not known", test_not_covered, NULL, NULL, NULL},
		{"what it adds to other calls is what lies between launches beyond theirs",
		 test_other_calls, NULL, NULL, NULL},
		{"how fast the host is tell launches that cannot wait", test_launch_call, NULL,
		 NULL, NULL},
		{"what was measured stands in place of what is usual", test_taken_from_calls, NULL,
		 NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
