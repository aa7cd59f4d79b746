/* collector/counters/counter_policy.h: which launches are counted, in which pass, and at what cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "collector/counters/counter_policy.c"

#define KINDS 64
#define MOST_PASSES 8

/* A program: launches arrive, and what is done about them takes time. */
struct program {
	struct policy *policy;
	unsigned int passes, ranges;
	int64_t now_ns, start_ns, charged_ns;
	int64_t launch_ns, advance_ns, count_ns; /* what each takes */
	int64_t dearest_ns;			 /* launch, of those that were charged */
	unsigned int used, samples[KINDS][MOST_PASSES];
	unsigned int advances, most_advances; /* all, and of one launch */
};

static struct program start(unsigned int passes, double share)
{
	struct program program = {.passes = passes,
				  .ranges = 64,
				  .now_ns = 1000,
				  .start_ns = 1000,
				  .launch_ns = 5000,
				  .advance_ns = 30000000,
				  .count_ns = 1000000};

	program.policy = policy_new(passes, program.ranges, share, program.now_ns);
	assert_non_null(program.policy);
	return program;
}

static void count(struct program *program, unsigned int kind)
{
	unsigned int pass = policy_pass(program->policy);

	assert_true(pass < program->passes);
	assert_true(program->used < program->ranges);
	assert_true(pass == 0 || program->samples[kind][0]);
	policy_counted(program->policy, kind, kind + 1);
	program->used++;
	program->samples[kind][pass]++;
	program->now_ns += program->count_ns;
}

/* One launch of a kind, done as counters.c does it.  Returns what became of it. */
static enum policy_decision launch(struct program *program, unsigned int kind)
{
	enum policy_decision decision;
	unsigned int advances = 0;
	int64_t since_ns;

	program->now_ns += program->launch_ns;
	since_ns = program->now_ns;
	decision = policy_launch(program->policy, kind, program->now_ns);
	while (decision == POLICY_ADVANCE) {
		assert_true(++advances <= program->passes + 2);
		program->now_ns += program->advance_ns;
		program->used = 0;
		policy_advanced(program->policy);
		decision = policy_again(program->policy, kind, program->now_ns);
	}
	if (decision == POLICY_COUNT)
		count(program, kind);
	policy_charge(program->policy, program->now_ns - since_ns);
	program->charged_ns += program->now_ns - since_ns;
	if (program->now_ns - since_ns > program->dearest_ns)
		program->dearest_ns = program->now_ns - since_ns;
	program->advances += advances;
	if (advances > program->most_advances)
		program->most_advances = advances;
	return decision;
}

static unsigned int samples_of(const struct program *program, unsigned int kind)
{
	unsigned int sum = 0;

	for (unsigned int pass = 0; pass < program->passes; pass++)
		sum += program->samples[kind][pass];
	return sum;
}

static void test_first_sample_is_of_pass_0(void **state)
{
	struct program program = start(3, 1);

	(void)state;
	launch(&program, 0);
	launch(&program, 0);
	assert_int_equal(policy_pass(program.policy), 1);
	assert_int_equal(launch(&program, 1), POLICY_COUNT);
	assert_int_equal(program.samples[1][0], 1);
	policy_free(program.policy);
}

static void test_every_pass_is_reached(void **state)
{
	struct program program = start(MOST_PASSES, 0.1);

	(void)state;
	for (int i = 0; i < 400; i++)
		launch(&program, (unsigned int)i % 4);
	for (unsigned int kind = 0; kind < 4; kind++)
		for (unsigned int pass = 0; pass < MOST_PASSES; pass++)
			assert_true(program.samples[kind][pass] >= 1);
	policy_free(program.policy);
}

static void test_kinds_share_an_open_pass(void **state)
{
	struct program program = start(2, 1);

	(void)state;
	for (int i = 0; i < 40; i++)
		launch(&program, (unsigned int)i % 20);
	for (unsigned int kind = 0; kind < 20; kind++)
		assert_int_equal(samples_of(&program, kind), 2);
	assert_int_equal(program.advances, 1); /* not one for each kind */
	policy_free(program.policy);
}

static void test_samples_grow_like_log2(void **state)
{
	struct program program = start(2, 1);
	unsigned int launches = 0;

	(void)state;
	for (unsigned int power = 4; power <= 16; power += 4) {
		for (; launches < (1U << power) + 2; launches++)
			launch(&program, 0);
		assert_int_equal(program.samples[0][0], power + 1);
		assert_int_equal(program.samples[0][1], power + 1);
	}
	policy_free(program.policy);
}

static void test_a_banned_kind_is_left_alone(void **state)
{
	struct program program = start(2, 1);

	(void)state;
	assert_int_equal(launch(&program, 0), POLICY_COUNT);
	policy_ban(program.policy, 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(launch(&program, 0), POLICY_LEAVE);
	assert_int_equal(program.advances, 0);
	assert_int_equal(launch(&program, 1), POLICY_COUNT);
	policy_free(program.policy);
}

/* A million launches of kinds that come and go must not cost more than was promised. */
static void check_cost(unsigned int passes, unsigned int kinds, double share, int64_t launch_ns)
{
	struct program program = start(passes, share);
	double limit_ns;

	program.launch_ns = launch_ns;
	for (uint32_t i = 0, random = 1; i < 1000000; i++) {
		random = random * 1664525 + 1013904223;
		launch(&program, (random >> 8) % (1 + kinds * (i / 1000 + 1) / 1000));
	}
	limit_ns = share * (double)(program.now_ns - program.start_ns) + POLICY_CREDIT_NS +
		   POLICY_OVERDRAFT_NS + (double)program.dearest_ns;
	assert_true((double)program.charged_ns <= limit_ns);
	assert_true(program.charged_ns > POLICY_CREDIT_NS / 2);
	assert_true(program.most_advances <= passes + 1);
	policy_free(program.policy);
}

static void test_cost_is_bounded(void **state)
{
	(void)state;
	check_cost(2, 1, 0.1, 5000);
	check_cost(2, KINDS - 1, 0.1, 5000);
	check_cost(MOST_PASSES, KINDS - 1, 0.1, 5000);
	check_cost(MOST_PASSES, KINDS - 1, 0.02, 100000);
	check_cost(3, KINDS - 1, 0, 5000);
	check_cost(1, KINDS - 1, 0.5, 5000);
}

static void test_no_share_leaves_credit_and_overdraft(void **state)
{
	struct program program = start(1, 0);

	(void)state;
	program.count_ns = 100000000; /* 0.1 s */
	for (int i = 0; i < 100; i++)
		launch(&program, 0);
	assert_int_equal(samples_of(&program, 0), 3); /* the credit: 0.3 s */
	for (unsigned int kind = 1; kind < KINDS; kind++)
		launch(&program, kind);
	assert_int_equal(program.charged_ns,
			 600000000); /* first samples: a part of the overdraft */
	for (unsigned int kind = KINDS; kind < 2 * KINDS; kind++) {
		policy_tell(program.policy, kind, 0, 0.02);
		if (policy_launch(program.policy, kind, program.now_ns) == POLICY_COUNT) {
			policy_counted(program.policy, kind, kind);
			policy_charge(program.policy, program.count_ns);
			program.charged_ns += program.count_ns;
		}
	}
	assert_int_equal(program.charged_ns, 1000000000); /* of kernels that take time: all of it */
	policy_free(program.policy);
}

/* Ten signatures take the time, fifty take none, and all come in turns. */
static void test_time_comes_first(void **state)
{
	struct program program = start(1, 0);

	(void)state;
	program.count_ns = 60000000; /* 16 samples until everything is spent */
	for (int i = 0; i < 1000; i++) {
		unsigned int kind = (unsigned int)i % 60;

		policy_tell(program.policy, kind, 0, kind >= 50 ? 0.0999 : 0.00002);
		launch(&program, kind);
	}
	for (unsigned int kind = 50; kind < 60; kind++)
		assert_true(program.samples[kind][0] >= 1);
	policy_free(program.policy);
}

/* Each new kind is followed by one that has had pass 0: without patience every launch would change it. */
static void test_passes_are_not_changed_for_single_launches(void **state)
{
	struct program program = start(2, 0.5);

	(void)state;
	for (unsigned int kind = 1; kind < KINDS; kind++) {
		launch(&program, 0);
		launch(&program, kind);
	}
	assert_true(program.advances <= 12);
	for (unsigned int kind = 1; kind < KINDS; kind++)
		assert_true(program.samples[kind][0] >= 1);
	policy_free(program.policy);
}

static void test_a_void_sample_is_taken_again(void **state)
{
	struct program program = start(1, 1);
	unsigned int counted = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		if (launch(&program, 0) == POLICY_COUNT) {
			counted++;
			policy_void(program.policy, 0);
		}
	/* 1 + log2(10), and three that were given back */
	assert_int_equal(counted, 4 + 3);
	policy_free(program.policy);
}

static void test_next_launch(void **state)
{
	struct program program = start(2, 1);

	(void)state;
	for (uint64_t n = 1; n <= 1000; n++) {
		uint64_t next = policy_next_launch(program.policy, 0);
		enum policy_decision decision = launch(&program, 0);

		if (n > 1 && next > n) /* it is not worth asking, and the answer would be no */
			assert_int_equal(decision, POLICY_LEAVE);
	}
	assert_int_equal(policy_next_launch(program.policy, 0), 1024);
	policy_ban(program.policy, 0);
	assert_int_equal(policy_next_launch(program.policy, 0), UINT64_MAX);
	policy_free(program.policy);
}

static void test_launches_that_were_not_asked_about(void **state)
{
	struct policy *policy = policy_new(1, 64, 1, 0);

	(void)state;
	assert_int_equal(policy_launch(policy, 0, 0), POLICY_COUNT);
	policy_counted(policy, 0, 0);
	policy_tell(policy, 0, 1022, -1);
	for (int i = 1; i < 11; i++) { /* 1 + log2(1024) samples are deserved */
		assert_int_equal(policy_launch(policy, 0, 0), POLICY_COUNT);
		policy_counted(policy, 0, 0);
	}
	assert_int_equal(policy_launch(policy, 0, 0), POLICY_LEAVE);
	policy_free(policy);
}

static void test_credit_does_not_gather(void **state)
{
	struct program program = start(1, 0.1);

	(void)state;
	program.now_ns += INT64_C(3600000000000); /* an hour without a launch */
	program.count_ns = 100000000;
	for (int i = 0; i < 1000; i++)
		launch(&program, 0);
	assert_in_range(samples_of(&program, 0), 3, 4);
	policy_free(program.policy);
}

static void test_time_earns_credit(void **state)
{
	struct program program = start(1, 0.1);

	(void)state;
	program.count_ns = 100000000;
	for (int i = 0; i < 100; i++)
		launch(&program, 0);
	assert_in_range(samples_of(&program, 0), 3, 4);
	program.now_ns += INT64_C(3000000000); /* 0.3 s of credit */
	for (int i = 0; i < 100; i++)
		launch(&program, 0);
	assert_in_range(samples_of(&program, 0), 6, 7);
	policy_free(program.policy);
}

static void test_a_clock_that_goes_back(void **state)
{
	struct program program = start(1, 0.5);

	(void)state;
	program.launch_ns = 0;
	program.count_ns = 200000000;
	assert_int_equal(launch(&program, 0), POLICY_COUNT);
	program.now_ns -= INT64_C(10000000000);
	assert_int_equal(launch(&program, 0), POLICY_COUNT); /* a third of the credit was left */
	program.now_ns -= INT64_C(10000000000);
	assert_int_equal(launch(&program, 0), POLICY_LEAVE); /* and now none */
	policy_free(program.policy);
}

static void test_passes_without_room(void **state)
{
	struct program program = start(3, 1);

	(void)state;
	policy_free(program.policy);
	program.policy = policy_new(3, 0, 1, 0);
	for (int i = 0; i < 10; i++) /* launch() sees that it does not go on for ever */
		assert_int_equal(launch(&program, 0), POLICY_LEAVE);
	policy_free(program.policy);
}

static void test_a_full_pass_is_changed(void **state)
{
	struct program program = start(2, 1);

	(void)state;
	for (unsigned int kind = 0; kind < KINDS; kind++)
		assert_int_equal(launch(&program, kind), POLICY_COUNT);
	assert_int_equal(policy_pass(program.policy), 0);
	for (unsigned int i = 0; i < 10; i++) /* count() sees that the 65th is not put into it */
		launch(&program, i % KINDS);
	assert_true(program.advances > 0);
	policy_free(program.policy);
}

static void test_too_many_kinds(void **state)
{
	struct program program = start(1, 1);

	(void)state;
	program.ranges = UINT32_MAX;
	policy_free(program.policy);
	program.policy = policy_new(1, UINT32_MAX, 1, 0);
	for (uint64_t key = 0; key < POLICY_MAX_SIGNATURES; key++) {
		assert_int_equal(policy_launch(program.policy, key, 0), POLICY_COUNT);
		assert_int_equal(policy_counted(program.policy, key, (uint32_t)key), key);
	}
	assert_int_equal(policy_launch(program.policy, UINT64_MAX, 0), POLICY_LEAVE);
	assert_int_equal(policy_again(program.policy, UINT64_MAX, 0), POLICY_LEAVE);
	policy_ban(program.policy, UINT64_MAX);
	assert_int_equal(policy_counted(program.policy, UINT64_MAX, 5), 5);
	assert_int_equal(policy_launch(program.policy, 7, 0), POLICY_COUNT);
	assert_int_equal(HASH_COUNT(program.policy->signatures), POLICY_MAX_SIGNATURES);
	policy_free(program.policy);
}

static void test_restart(void **state)
{
	struct program program = start(2, 1);

	(void)state;
	for (int i = 0; i < 100; i++)
		launch(&program, 0);
	policy_ban(program.policy, 1);
	policy_restart(program.policy, 5);
	program.passes = 5;
	program.used = 0;
	memset(program.samples, 0, sizeof(program.samples));
	assert_int_equal(policy_pass(program.policy), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(launch(&program, 0), POLICY_COUNT);
	for (unsigned int pass = 0; pass < 5; pass++)
		assert_int_equal(program.samples[0][pass], 1);
	assert_int_equal(launch(&program, 1), POLICY_LEAVE); /* still banned */
	policy_free(program.policy);
}

static void test_tag_is_that_of_the_first(void **state)
{
	struct policy *policy = policy_new(2, 4, 1, 0);

	(void)state;
	policy_launch(policy, 9, 0);
	assert_int_equal(policy_counted(policy, 9, 0), 0); /* 0 is a tag like any other */
	assert_int_equal(policy_counted(policy, 9, 41), 0);
	policy_launch(policy, 8, 0);
	assert_int_equal(policy_counted(policy, 8, 42), 42);
	policy_restart(policy, 1);
	assert_int_equal(policy_counted(policy, 9, 43), 0);
	policy_free(policy);
}

static void test_nothing_is_free(void **state)
{
	struct program program = start(1, 0.5);

	(void)state;
	policy_charge(program.policy, -5000000000); /* a clock that was set back */
	policy_charge(program.policy, POLICY_CREDIT_NS + POLICY_OVERDRAFT_NS);
	program.launch_ns = 0;
	assert_int_equal(launch(&program, 0), POLICY_LEAVE);
	policy_free(NULL);
	policy_free(program.policy);
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first sample of a kind is one of pass 0", test_first_sample_is_of_pass_0),
		TEST("every kind gets every pass within a few hundred launches",
		     test_every_pass_is_reached),
		TEST("kinds share an open pass before it changes", test_kinds_share_an_open_pass),
		TEST("samples of each pass grow like 1 + log2 of the launches",
		     test_samples_grow_like_log2),
		TEST("a banned kind is left alone, others are not",
		     test_a_banned_kind_is_left_alone),
		TEST("a million launches cost at most share, credit, overdraft and one launch",
		     test_cost_is_bounded),
		TEST("without a share there are credit and overdraft, the latter for first samples",
		     test_no_share_leaves_credit_and_overdraft),
		TEST("an hour without launches earns no more than the credit",
		     test_credit_does_not_gather),
		TEST("time earns new samples", test_time_earns_credit),
		TEST("a clock that goes back neither earns nor costs", test_a_clock_that_goes_back),
		TEST("passes that hold nothing are not opened for ever", test_passes_without_room),
		TEST("a full pass is changed before a launch is counted",
		     test_a_full_pass_is_changed),
		TEST("more kinds than can be remembered are left alone", test_too_many_kinds),
		TEST("after a restart all samples are taken anew, and bans stay", test_restart),
		TEST("the tag of a kind is that of its first counted launch",
		     test_tag_is_that_of_the_first),
		TEST("kernels that take the time are counted before the others",
		     test_time_comes_first),
		TEST("passes are not changed for single launches",
		     test_passes_are_not_changed_for_single_launches),
		TEST("a sample that came to nothing is taken again, three times",
		     test_a_void_sample_is_taken_again),
		TEST("between powers of two a satisfied kind need not be asked about",
		     test_next_launch),
		TEST("launches that nobody asked about are counted when told of",
		     test_launches_that_were_not_asked_about),
		TEST("costs below zero are not given back", test_nothing_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
