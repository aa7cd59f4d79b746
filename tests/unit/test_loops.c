#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/loops/loops.h"
#include "profile_builder.h"

#define CALL_NS 100
#define GAP_NS 50

/* A host that calls one thing after another. */
struct host {
	struct builder *b;
	uint32_t thread;
	int64_t now_ns;
};

struct result {
	struct submissions submissions;
	struct loops loops;
	const struct loop *items;
	size_t count;
};

static struct host host_new(void)
{
	return (struct host){.b = builder_new(1, 1)};
}

static uint32_t call(struct host *host, const char *name, enum profile_call_class class)
{
	int64_t start_ns = host->now_ns + GAP_NS;

	host->now_ns = start_ns + CALL_NS;
	return builder_call(host->b, host->thread, name, class, start_ns, host->now_ns);
}

static struct profile_op *launch_grid(struct host *host, const char *kernel, uint32_t grid)
{
	uint32_t by = call(host, "cudaLaunchKernel", CALL_LAUNCH);

	return builder_op(host->b, OP_KERNEL, 0, builder_signature(host->b, kernel, grid),
			  host->now_ns, host->now_ns + 10, by);
}

/* Each letter is the launch of a kernel of that name, a small one of cuBLAS, _ a wait, * a pause of 20 us, m a cudaMalloc,
 * < a copy to the host, = one on the device. */
static void run(struct host *host, const char *text)
{
	static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I",
					    "J", "K", "L", "M", "N", "O", "P", "Q", "R",
					    "S", "T", "U", "V", "W", "X", "Y", "Z"};

	static const char *const products[] = {"nvjet_a", "nvjet_b", "nvjet_c", "nvjet_d",
					       "nvjet_e", "nvjet_f", "nvjet_g", "nvjet_h",
					       "nvjet_i", "nvjet_j", "nvjet_k"};

	for (; *text; text++)
		if (*text >= 'a' && *text <= 'k')
			launch_grid(host, products[*text - 'a'], 1);
		else if (*text == '_')
			call(host, "cudaDeviceSynchronize", CALL_SYNC);
		else if (*text == '*')
			host->now_ns += 20000;
		else if (*text == 'm')
			call(host, "cudaMalloc", CALL_MEMORY);
		else if (*text == '<')
			builder_copy(host->b, 0, (struct profile_copy){.bytes = 4, .kind = 2},
				     host->now_ns, host->now_ns + 10,
				     call(host, "cudaMemcpy", CALL_COPY));
		else if (*text == '=')
			builder_copy(host->b, 0, (struct profile_copy){.bytes = 4, .kind = 8},
				     host->now_ns, host->now_ns + 10,
				     call(host, "cudaMemcpyAsync", CALL_COPY));
		else if (*text >= 'A' && *text <= 'Z')
			launch_grid(host, names[*text - 'A'], 1);
}

static void repeat(struct host *host, int count, const char *text)
{
	for (int i = 0; i < count; i++)
		run(host, text);
}

static struct result find(struct builder *b)
{
	const struct profile *profile = builder_finish(b);
	struct result result;

	assert_int_equal(submissions_find(&result.submissions, profile), 0);
	assert_int_equal(loops_find(&result.loops, profile, &result.submissions), 0);
	result.items = result.loops.items;
	result.count = result.loops.count;
	return result;
}

static void done(struct builder *b, struct result *result)
{
	loops_free(&result->loops);
	submissions_free(&result->submissions);
	free(b);
}

/* That a sequence is the whole of [first_call, first_call + call_count) in equal steps. */
static void expect_steps(const struct loop *loop, size_t first_call, size_t step, size_t count)
{
	assert_int_equal(loop->iteration_count, count);
	assert_int_equal(loop->first_call, first_call);
	assert_int_equal(loop->call_count, step * count);
	for (size_t i = 0; i <= count; i++)
		assert_int_equal(loop->iterations[i], first_call + step * i);
}

static void expect_one(struct host *host, size_t first_call, size_t step, size_t count,
		       size_t period)
{
	struct result result = find(host->b);

	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, period);
	assert_true(result.items[0].is_exact);
	assert_float_equal(result.items[0].regularity, 1, 0);
	assert_float_equal(result.items[0].exactness, 1, 0);
	expect_steps(&result.items[0], first_call, step, count);
	done(host->b, &result);
}

static void test_exact(void **state)
{
	struct host host = host_new();

	(void)state;
	repeat(&host, 20, "ABC");
	expect_one(&host, 0, 3, 20, 3);
}

/* In an order that no period explains. */
static void run_kinds(struct host *host, const char *const kinds[], uint32_t kind_count, int count)
{
	uint32_t number = 1;

	for (int i = 0; i < count; i++) {
		number = number * 1103515245 + 12345;
		run(host, kinds[(number >> 16) % kind_count]);
	}
}

static void test_kinds(void **state)
{
	static const char *const kinds[] = {"=abcQRS<", "=defgTU<", "=hijkVWX<"};
	struct host host = host_new();
	struct result result;

	(void)state;
	run(&host, "Z<");
	run_kinds(&host, kinds, 3, 40);
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].kind_count, 3);
	assert_int_equal(result.items[0].first_call,
			 2); /* behind the copy that ends what was before */
	assert_int_equal(result.items[0].iteration_count, 40);
	assert_float_equal(result.items[0].regularity, 1, 0);
	assert_float_equal(result.items[0].exactness, 1, 0);
	done(host.b, &result);
}

/* Of each step another: what the kernels are is chance. */
static void test_no_kinds(void **state)
{
	struct host host = host_new();
	uint32_t number = 1;
	struct result result;

	(void)state;
	for (int i = 0; i < 40; i++) {
		for (int j = 0; j < 6; j++) {
			char kernel[2] = "";

			number = number * 1103515245 + 12345;
			kernel[0] = (char)('A' + (number >> 16) % 26);
			run(&host, kernel);
		}
		run(&host, "<");
	}
	result = find(host.b);
	assert_int_equal(result.count, 0);
	done(host.b, &result);
}

/* cuBLAS has a kernel for each size, and each step has a size of its own. */
static void test_families(void **state)
{
	static char products[12][3][32];
	struct host host = host_new();
	struct result result;

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		for (uint32_t j = 0; j < 3; j++) {
			snprintf(products[i][j], sizeof(products[i][j]), "nvjet_%u_%u", i, j);
			launch_grid(&host, products[i][j], 1 + i);
		}
		run(&host, "A<");
	}
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].kind_count, 1);
	assert_int_equal(result.items[0].iteration_count, 11);
	assert_float_equal(result.items[0].exactness, 0, 0);
	done(host.b, &result);
}

static void test_one_kernel(void **state)
{
	struct host host = host_new();

	(void)state;
	repeat(&host, 50, "A");
	expect_one(&host, 0, 1, 50, 1);
}

/* As in a damaged recording: every call returns long after the next one was entered. */
static void test_overlapping_calls(void **state)
{
	struct host host = host_new();

	(void)state;
	for (int i = 0; i < 60; i++) {
		uint32_t by = builder_launch(host.b, 0, i * 100, 1000000 + i * 100);

		builder_kernel(host.b, 0, i % 3 ? "A" : "B", 2000000 + i * 100, 2000050 + i * 100,
			       by);
	}
	expect_one(&host, 0, 3, 20, 3);
}

static void test_repeats_within(void **state)
{
	struct host host = host_new();

	(void)state;
	repeat(&host, 12, "AAABC");
	expect_one(&host, 0, 5, 12, 5);
}

static void test_no_token_is_single(void **state)
{
	struct host host = host_new();

	(void)state;
	repeat(&host, 12, "AABBAB");
	expect_one(&host, 0, 6, 12, 6);
}

static void test_long_fork(void **state)
{
	struct host host = host_new();

	(void)state;
	repeat(&host, 10, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB");
	expect_one(&host, 0, 31, 10, 31);
}

static void test_long_period(void **state)
{
	struct host host = host_new();

	(void)state;
	for (int i = 0; i < 9; i++) {
		run(&host, "X");
		repeat(&host, 12, "ABCDEFGHIJKLM");
		run(&host, "YZXXYYZZ");
	}
	expect_one(&host, 0, 1 + 12 * 13 + 8, 9, 1 + 12 * 13 + 8);
}

static void test_noise_around(void **state)
{
	struct host host = host_new();

	(void)state;
	run(&host, "XAYBZm");
	repeat(&host, 10, "ABC");
	run(&host, "ZYAXC_m");
	expect_one(&host, 6, 3, 10, 3);
}

static void test_too_few(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	repeat(&host, LOOP_LEAST_ITERATIONS - 1, "ABC");
	result = find(host.b);
	assert_int_equal(result.count, 0);
	done(host.b, &result);
}

static void test_just_enough(void **state)
{
	struct host host = host_new();

	(void)state;
	repeat(&host, LOOP_LEAST_ITERATIONS, "ABC");
	expect_one(&host, 0, 3, LOOP_LEAST_ITERATIONS, 3);
}

static void test_empty(void **state)
{
	struct host host = host_new();
	struct result result = find(host.b);

	(void)state;
	assert_int_equal(result.count, 0);
	done(host.b, &result);
}

static void test_other_calls(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	repeat(&host, 30, "_m");
	result = find(host.b);
	assert_int_equal(result.count, 0);
	done(host.b, &result);
}

static void test_chance(void **state)
{
	struct host host = host_new();
	struct result result;
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 500; i++) {
		random = random * 1664525 + 1013904223;
		run(&host, (char[]){(char)('A' + (random >> 16) % 20), 0});
	}
	result = find(host.b);
	assert_int_equal(result.count, 0);
	done(host.b, &result);
}

/* More at every tenth iteration, now and then one later, so that no long period has it as well. */
static bool is_tenth(int iteration)
{
	return iteration % 10 == 5 + iteration / 10 % 3;
}

static void test_insertion(void **state)
{
	struct host host = host_new();
	struct result result;
	size_t first_call = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		run(&host, is_tenth(i) ? "ABCDX" : "ABCD");
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 4);
	assert_int_equal(result.items[0].iteration_count, 100);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(result.items[0].iterations[i], first_call);
		first_call += is_tenth(i) ? 5 : 4;
	}
	assert_false(result.items[0].is_exact);
	assert_float_equal(result.items[0].regularity, 400. / 410, 1e-9);
	assert_float_equal(result.items[0].exactness, 400. / 410, 1e-9);
	done(host.b, &result);
}

static void test_missing(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	for (int i = 0; i < 100; i++)
		run(&host, is_tenth(i) ? "BCD" : "ABCD");
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 4);
	assert_int_equal(result.items[0].iteration_count, 100);
	assert_float_equal(result.items[0].regularity, 390. / 400, 1e-9);
	done(host.b, &result);
}

static void test_sizes(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		run(&host, "AB");
		launch_grid(&host, "C", 1 + i % 7);
	}
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 3);
	assert_float_equal(result.items[0].regularity, 1, 0);
	assert_float_equal(result.items[0].exactness, (40 + 3) / 60., 1e-9);
	assert_false(result.items[0].is_exact);
	done(host.b, &result);
}

static void test_two_loops(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	repeat(&host, 20, "ABC");
	repeat(&host, 15, "ABCDE");
	result = find(host.b);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.items[0].period, 3);
	assert_int_equal(result.items[0].iteration_count, 20);
	assert_int_equal(result.items[1].period, 5);
	assert_int_equal(result.items[1].iteration_count, 15);
	assert_int_equal(result.items[1].first_call,
			 result.items[0].first_call + result.items[0].call_count);
	assert_int_not_equal(result.items[0].shape, result.items[1].shape);
	done(host.b, &result);
}

static void test_common_multiple(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	repeat(&host, 30, "ABC");
	repeat(&host, 20, "DEFGHI");
	result = find(host.b);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.items[0].period, 3);
	expect_steps(&result.items[0], 0, 3, 30);
	assert_int_equal(result.items[1].period, 6);
	expect_steps(&result.items[1], 90, 6, 20);
	done(host.b, &result);
}

static void test_again(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	repeat(&host, 60, "ABC");
	run(&host, "XY_");
	repeat(&host, 50, "ABC");
	result = find(host.b);
	assert_int_equal(result.count, 2);
	expect_steps(&result.items[0], 0, 3, 60);
	expect_steps(&result.items[1], 183, 3, 50);
	assert_true(result.items[0].is_exact && result.items[1].is_exact);
	assert_int_equal(result.items[0].shape, result.items[1].shape);
	done(host.b, &result);
}

/* Where it goes on in the middle of an iteration, after something else, iterations begin as most do. */
static void test_turned(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	run(&host, "CD");
	repeat(&host, 9, "ABCD");
	run(&host, "EFGHIJKLMNOPQRSTUVWXYZ");
	repeat(&host, 20, "ABCD");
	run(&host, "ZYXWVUTSRQPONMLKJIHGFE");
	run(&host, "BCD");
	repeat(&host, 10, "ABCD");
	result = find(host.b);
	assert_int_equal(result.count, 3);
	expect_steps(&result.items[0], 2, 4, 9);
	expect_steps(&result.items[1], 60, 4, 20);
	expect_steps(&result.items[2], 165, 4, 10);
	assert_int_equal(result.items[0].shape, result.items[1].shape);
	assert_int_equal(result.items[2].shape, result.items[1].shape);
	assert_int_equal(result.items[2].circle, result.items[1].circle);
	done(host.b, &result);
}

static void test_again_soon(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	repeat(&host, 20, "ABC");
	run(&host, "XY_");
	repeat(&host, 20, "ABC");
	result = find(host.b);
	assert_int_equal(result.count, 2);
	expect_steps(&result.items[0], 0, 3, 20);
	expect_steps(&result.items[1], 63, 3, 20);
	done(host.b, &result);
}

static void test_again_and_again(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	for (int i = 0; i < 4; i++) {
		repeat(&host, 60, "ABC");
		run(&host, "XY_");
	}
	result = find(host.b);
	assert_int_equal(result.count, 4);
	for (size_t i = 0; i < 4; i++)
		expect_steps(&result.items[i], 183 * i, 3, 60);
	done(host.b, &result);
}

static void test_any_other_after(void **state)
{
	struct host host = host_new();
	struct result result;
	uint32_t random = 3;

	(void)state;
	for (int i = 0; i < 100; i++) {
		random = random * 1664525 + 1013904223;
		run(&host, (char[]){'A', (char)('B' + (random >> 16) % 4), 0});
	}
	result = find(host.b);
	for (size_t i = 0; i < result.count; i++)
		assert_int_not_equal(result.items[i].period, 1);
	done(host.b, &result);
}

static void test_many_loops(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	for (int length = 1; length <= 24; length++)
		for (int i = 0; i < 9; i++)
			for (int k = 0; k < length; k++)
				run(&host, (char[]){(char)('A' + (k + length) % 26), 0});
	result = find(host.b);
	assert_int_equal(result.count, 24);
	for (size_t i = 0; i < 24; i++) {
		assert_int_equal(result.items[i].period, i + 1);
		assert_in_range(result.items[i].iteration_count, 8, 10);
	}
	done(host.b, &result);
}

static void test_two_threads(void **state)
{
	struct host first = host_new(), second = first;
	struct result result;

	(void)state;
	second.thread = builder_thread(first.b, 0);
	for (int i = 0; i < 20; i++) {
		run(&first, "ABC");
		run(&second, i % 2 ? "ED" : "DE");
		run(&second, i % 2 ? "FG" : "GF");
	}
	result = find(first.b);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.items[0].thread, 0);
	assert_int_equal(result.items[0].period, 3);
	expect_steps(&result.items[0], 0, 3, 20);
	assert_int_equal(result.items[1].thread, 1);
	assert_int_equal(result.items[1].period, 8);
	expect_steps(&result.items[1], 60, 8, 10);
	done(first.b, &result);
}

static void test_streams_differ(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct host host = {.b = b};
	struct result result;

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		launch_grid(&host, "A", 1)->stream = i % 2;
	result = find(b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 2);
	done(b, &result);
}

static void test_failed_calls(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	for (int i = 0; i < 20; i++) {
		run(&host, "ABC");
		host.b->calls[call(&host, "cudaLaunchKernel", CALL_LAUNCH)].result = 1;
	}
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 3);
	assert_true(result.items[0].is_exact);
	expect_steps(&result.items[0], 0, 4, 20);
	done(host.b, &result);
}

static void test_unrecorded(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	for (int i = 0; i < 10; i++) {
		call(&host, "cudaLaunchKernel", CALL_LAUNCH);
		call(&host, "cudaLaunchHostFunc", CALL_LAUNCH);
	}
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 2);
	done(host.b, &result);
}

static void test_waits_belong(void **state)
{
	struct host host = host_new();

	(void)state;
	run(&host, "m_");
	repeat(&host, 10, "A_B_C_");
	run(&host, "_mm");
	expect_one(&host, 2, 6, 10, 3);
}

static void test_begins_after_pause(void **state)
{
	struct host host = host_new();

	(void)state;
	run(&host, "BC");
	repeat(&host, 10, "*ABC");
	expect_one(&host, 2, 3, 10, 3);
}

static void test_time_in_calls_is_no_pause(void **state)
{
	struct host host = host_new();

	(void)state;
	for (int i = 0; i < 10; i++) {
		run(&host, "Am");
		host.now_ns += 50000;
		host.b->calls[host.b->profile.call_count - 1].end_ns += 50000;
		run(&host, "B");
	}
	expect_one(&host, 0, 3, 10, 2);
}

static void test_data_decides(void **state)
{
	struct host host = host_new();
	struct result result;
	uint32_t random = 7;
	int more_count = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		random = random * 1664525 + 1013904223;
		run(&host, "AB<");
		if (random >> 16 & 1) {
			run(&host, "X");
			more_count++;
		}
	}
	assert_in_range(more_count, 30, 50); /* so that the usual iteration has none */
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 3);
	assert_in_range(result.items[0].iteration_count, 98, 100);
	assert_float_equal(result.items[0].regularity, 300. / (300 + more_count), 0.01);
	done(host.b, &result);
}

/* 12, 5, 9, 5 rounds, again and again: a period of 31 rounds, which the data made. */
static void inner_loops(struct host *host, const char *round)
{
	static const int counts[] = {12, 5, 9, 5};

	for (int i = 0; i < 48; i++) {
		run(host, "X");
		repeat(host, counts[i % 4], round);
		run(host, "Y");
	}
}

static void test_inner_loop(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	inner_loops(&host, "AB<_");
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 3);
	assert_in_range(result.items[0].iteration_count, 12 * 31 - 2, 12 * 31);
	assert_float_equal(result.items[0].regularity, 93. / 101, 0.01);
	done(host.b, &result);
}

static void test_inner_loop_of_its_own(void **state)
{
	struct host host = host_new();
	struct result result;

	(void)state;
	inner_loops(&host, "ABC");
	result = find(host.b);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, 101);
	assert_true(result.items[0].is_exact);
	done(host.b, &result);
}

static void launch_graph(struct host *host, uint32_t graph)
{
	uint32_t by = call(host, "cudaGraphLaunch", CALL_GRAPH_LAUNCH);

	builder_ids(host->b, builder_graph(host->b, 0, 0, host->now_ns, host->now_ns + 10, by))
		->graph = graph;
}

static void expect_graphs(struct host *host, size_t period, bool is_exact)
{
	struct result result = find(host->b);

	assert_int_equal(result.count, 1);
	assert_int_equal(result.items[0].period, period);
	assert_float_equal(result.items[0].regularity, 1, 0);
	assert_int_equal(result.items[0].is_exact, is_exact);
	done(host->b, &result);
}

static void test_graphs_take_turns(void **state)
{
	struct host host = host_new();

	(void)state;
	for (uint32_t i = 0; i < 60; i++)
		launch_graph(&host, i % 3 == 2 ? 9 : 4);
	expect_graphs(&host, 3, true);
}

static void test_graphs_anew(void **state)
{
	struct host host = host_new();

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		run(&host, "A");
		launch_graph(&host, 4 + i);
	}
	expect_graphs(&host, 2, false);
}

static void test_graphs_by_data(void **state)
{
	struct host host = host_new();
	uint32_t random = 5;

	(void)state;
	for (int i = 0; i < 60; i++) {
		random = random * 1664525 + 1013904223;
		launch_graph(&host, 4 + (random >> 16) % 3);
	}
	expect_graphs(&host, 1, false);
}

/* Of 100 A, then B and C, twenty times, amid others. */
static void test_around(void **state)
{
	struct host host = host_new();
	struct result result;
	struct loops around;

	(void)state;
	run(&host, "XYZ");
	for (int i = 0; i < 20; i++) {
		repeat(&host, 100, "A");
		run(&host, "BC");
	}
	run(&host, "ZYX");
	result = find(host.b);
	assert_int_equal(result.count, 20);
	assert_int_equal(loops_find_around(&around, &host.b->profile, &result.submissions,
					   &result.loops),
			 0);
	assert_int_equal(around.count, 1);
	assert_int_equal(around.items[0].iteration_count, 20);
	assert_int_equal(around.items[0].first_call, 3);
	assert_int_equal(around.items[0].iterations[1], 3 + 102);
	assert_int_equal(around.items[0].first_within, 0);
	assert_int_equal(around.items[0].within_count, 20);
	loops_free(&around);
	done(host.b, &result);
}

/* What follows each loop is another thing, or they are too few. */
static void test_nothing_around(void **state)
{
	static const char *const between[] = {"BC", "DE", "FG", "HI", "JK",
					      "LM", "NO", "PQ", "RS", "TU"};

	(void)state;
	for (int count = LOOP_LEAST_ITERATIONS - 1; count <= 10; count += 3) {
		struct host host = host_new();
		struct result result;
		struct loops around;

		for (int i = 0; i < count; i++) {
			repeat(&host, 40, "A");
			run(&host, count < LOOP_LEAST_ITERATIONS ? "BC" : between[i]);
		}
		result = find(host.b);
		assert_int_equal(loops_find_around(&around, &host.b->profile, &result.submissions,
						   &result.loops),
				 0);
		assert_int_equal(around.count, 0);
		loops_free(&around);
		done(host.b, &result);
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a loop of three launches has period three", test_exact),
		SENTENCE("steps of three kinds in no order are one sequence", test_kinds),
		SENTENCE("steps of which none comes again are no sequence", test_no_kinds),
		SENTENCE("steps whose library kernels all differ are one sequence", test_families),
		SENTENCE("one kernel again and again has period one", test_one_kernel),
		SENTENCE("a kernel may come several times in a period", test_repeats_within),
		SENTENCE("a period in which no launch is the only one of its kind is found",
			 test_no_token_is_single),
		SENTENCE("thirty equal launches and a last one are a period, not one with noise",
			 test_long_fork),
		SENTENCE("an inner loop of fixed length is part of a long period",
			 test_long_period),
		SENTENCE("what comes before and after the loop is left out", test_noise_around),
		SENTENCE("seven iterations are no sequence", test_too_few),
		SENTENCE("eight iterations are a sequence", test_just_enough),
		SENTENCE("an empty profile has no sequence", test_empty),
		SENTENCE("calls that submit nothing are no sequence", test_other_calls),
		SENTENCE("launches in random order are no sequence", test_chance),
		SENTENCE("one launch more about every tenth time does not end the sequence",
			 test_insertion),
		SENTENCE("one launch less about every tenth time does not end the sequence",
			 test_missing),
		SENTENCE("grids that vary leave it regular, not exact", test_sizes),
		SENTENCE("two loops one after the other are two sequences", test_two_loops),
		SENTENCE("two loops keep their periods where one is a multiple of the other",
			 test_common_multiple),
		SENTENCE("a loop that runs twice is two exact sequences of one shape", test_again),
		SENTENCE(
			"a loop that goes on in the middle of an iteration begins as it mostly does",
			test_turned),
		SENTENCE("what interrupts a loop once ends a sequence", test_again_soon),
		SENTENCE("what interrupts a loop seldom ends a sequence each time",
			 test_again_and_again),
		SENTENCE("a kernel and any other one after it each time is no period one",
			 test_any_other_after),
		SENTENCE("more loops than periods tried at a time are all found", test_many_loops),
		SENTENCE("threads do not disturb each other", test_two_threads),
		SENTENCE("a kernel on another stream is another launch", test_streams_differ),
		SENTENCE("calls that failed submitted nothing", test_failed_calls),
		SENTENCE("launches whose operation was not recorded go by the call's name",
			 test_unrecorded),
		SENTENCE("waits belong to the iteration they stand in, to the last one as well",
			 test_waits_belong),
		SENTENCE("an iteration begins after the host's pause", test_begins_after_pause),
		SENTENCE("time inside other calls is no pause", test_time_in_calls_is_no_pause),
		SENTENCE("an iteration to which data may add a kernel keeps its period",
			 test_data_decides),
		SENTENCE("a loop that the host ends by what it reads back is the sequence",
			 test_inner_loop),
		SENTENCE("without reading back the exact longer period is the sequence",
			 test_inner_loop_of_its_own),
		SENTENCE("calls that overlap leave no pause to begin after",
			 test_overlapping_calls),
		SENTENCE("graphs that take turns make a period", test_graphs_take_turns),
		SENTENCE("graphs instantiated anew are one", test_graphs_anew),
		SENTENCE("graphs chosen by data are one, not exactly", test_graphs_by_data),
		SENTENCE("a loop that runs again with the same after it is an iteration",
			 test_around),
		SENTENCE("where other things follow it, or too seldom, it is none",
			 test_nothing_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
