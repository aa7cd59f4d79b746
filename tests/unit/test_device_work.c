/* Work that the device launched: what is a burst, whose it is, and what launchers add up to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "analysis/statistics/device_graphs.h"
#include "analysis/samples/device_work.h"
#include "profile_builder.h"

#define SM_COUNT 100
#define SAMPLES 60

/* Two devices, each sampled from 0 to 60 us, with nothing in the samples. */
static struct builder *sampled_new(void)
{
	struct builder *b = builder_new(1, 2);

	for (uint32_t device = 0; device < 2; device++) {
		b->devices[device].sm_count = SM_COUNT;
		b->devices[device].sampled = 1u << SAMPLED_sm_cycles;
		builder_span(b, device, 0, SAMPLES * 1000);
		for (int64_t i = 0; i < SAMPLES; i++)
			builder_sample(b, device, 1000 * i, 1000);
	}
	return b;
}

/* So many SMs worked in the samples from first to last of a device. */
static void work(struct builder *b, uint32_t device, int first, int last, double sms)
{
	for (int i = first; i <= last; i++) {
		b->samples[device * SAMPLES + (uint32_t)i].sm = (float)(sms / SM_COUNT);
		b->samples[device * SAMPLES + (uint32_t)i].dram_read_bytes = 100;
	}
}

static void launched(struct builder *b, uint32_t device, int sample, int dispatches, int blocks)
{
	b->samples[device * SAMPLES + (uint32_t)sample].dispatches += (float)dispatches;
	b->samples[device * SAMPLES + (uint32_t)sample].blocks += (float)blocks;
}

/* A kernel of 50 blocks by the device, in whole samples. */
static void device_kernel(struct builder *b, uint32_t device, int first, int last)
{
	launched(b, device, first, 1, 50);
	work(b, device, first, last, 50);
}

static struct profile_op *kernel(struct builder *b, const char *name, uint32_t grid,
				 int64_t start_ns, int64_t end_ns)
{
	return builder_op(b, OP_KERNEL, 0, builder_signature(b, name, grid), start_ns, end_ns,
			  PROFILE_NONE);
}

static struct device_work *build(struct builder *b)
{
	struct device_work *found = NULL;
	struct err err = {""};

	assert_int_equal(device_work_build(&found, builder_finish(b), &err), 0);
	return found;
}

static void done(struct builder *b, struct device_work *found)
{
	device_work_free(found);
	free(b);
}

static void expect_burst(const struct device_work *found, size_t i, int64_t start_ns,
			 int64_t end_ns, uint64_t dispatches, uint64_t blocks)
{
	assert_in_range(i, 0, found->burst_count - 1);
	assert_in_range(found->bursts[i].start_ns, start_ns - 1, start_ns + 1);
	assert_in_range(found->bursts[i].end_ns, end_ns - 1, end_ns + 1);
	assert_int_equal(found->bursts[i].dispatch_count, dispatches);
	assert_int_equal(found->bursts[i].block_count, blocks);
}

static void a_burst_while_a_kernel_runs_is_inside_it(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "parent", 1, 2000, 30000);
	launched(b, 0, 2, 1, 1);
	work(b, 0, 2, 29, 1);
	device_kernel(b, 0, 10, 14);
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	expect_burst(found, 0, 10000, 15000, 1, 50);
	assert_true(found->bursts[0].is_inside);
	assert_false(found->bursts[0].is_beside);
	assert_int_equal(found->bursts[0].op, 0);
	assert_float_equal(found->bursts[0].dram_bytes, 500, 0.1);
	assert_int_equal(found->launcher_count, 1);
	assert_string_equal(b->kernel_names[found->launchers[0].kernel], "parent");
	assert_true(found->launchers[0].is_inside);
	assert_int_equal(found->launchers[0].launch_count, 1);
	assert_int_equal(found->launchers[0].span_ns, 28000);
	assert_int_equal(found->launchers[0].quiet_ns, 23000);
	assert_int_equal(found->single_block_count, 1);
	done(b, found);
}

/* Samples of 10 us: a kernel that begins inside one is what that sample shows. */
static void a_run_in_long_samples_is_the_kernel_that_begins_in_the_first(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_work *found;

	(void)state;
	b->devices[0].sm_count = SM_COUNT;
	b->devices[0].sampled = 1u << SAMPLED_sm_cycles;
	builder_span(b, 0, 0, 60000);
	for (int64_t i = 0; i < 6; i++)
		builder_sample(b, 0, 10000 * i, 10000);
	kernel(b, "traced", 50, 16000, 38000);
	launched(b, 0, 1, 1, 50);
	work(b, 0, 1, 3, 50);
	found = build(b);
	assert_int_equal(found->burst_count, 0);
	done(b, found);
}

static void a_burst_after_a_kernel_belongs_to_the_one_that_ended_last(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "earlier", 1, 1000, 2000);
	kernel(b, "parent", 1, 3000, 5000);
	kernel(b, "later", 1, 40000, 41000);
	device_kernel(b, 0, 10, 14);
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	assert_false(found->bursts[0].is_inside);
	assert_int_equal(found->bursts[0].op, 1);
	assert_int_equal(found->launchers[0].quiet_ns, 0); /* it did not run meanwhile */
	done(b, found);
}

static void a_burst_before_any_operation_belongs_to_none(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	device_kernel(b, 0, 10, 14);
	kernel(b, "later", 1, 40000, 41000);
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	assert_int_equal(found->bursts[0].op, PROFILE_NONE);
	assert_int_equal(found->launcher_count, 1);
	assert_int_equal(found->launchers[0].kernel, PROFILE_NONE);
	assert_int_equal(found->launchers[0].launch_count, 0);
	done(b, found);
}

static void a_run_with_which_an_operation_begins_is_no_burst(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "early", 50, 8600, 15000); /* the SMs follow the record by up to 1.5 us */
	device_kernel(b, 0, 10, 14);
	kernel(b, "late", 50, 31400, 35000);
	device_kernel(b, 0, 30, 34);
	found = build(b);
	assert_int_equal(found->burst_count, 0);
	done(b, found);
}

static void a_burst_ends_where_the_next_traced_operation_begins(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "parent", 1, 2000, 4000);
	device_kernel(b, 0, 10, 20);
	kernel(b, "next", 50, 14500, 21000);
	launched(b, 0, 14, 1, 50);
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	assert_in_range(found->bursts[0].start_ns, 9999, 10001);
	assert_int_equal(found->bursts[0].end_ns, 14500);
	done(b, found);
}

static void blocks_beyond_those_of_the_traced_kernel_are_a_burst_beside_it(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "parent", 50, 10000, 20000);
	device_kernel(b, 0, 10, 19);
	launched(b, 0, 13, 3, 30);
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	expect_burst(found, 0, 13000, 20000, 3, 30);
	assert_true(found->bursts[0].is_beside);
	assert_true(found->bursts[0].is_inside);
	assert_float_equal(found->bursts[0].dram_bytes, 700, 0.1);
	done(b, found);
}

static void a_block_for_each_dispatch_is_what_launching_takes(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "parent", 50, 10000, 20000);
	device_kernel(b, 0, 10, 19);
	launched(b, 0, 13, 3, 3);
	found = build(b);
	assert_int_equal(found->burst_count, 0);
	done(b, found);
}

static void nodes_of_a_graph_of_the_host_are_no_bursts(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	builder_ids(b, builder_graph(b, 0, LAUNCH_BY_HOST, 2000, 30000, PROFILE_NONE))->graph = 7;
	device_kernel(b, 0, 2, 5);
	device_kernel(b, 0, 10, 14);
	device_kernel(b, 0, 20, 24);
	found = build(b);
	assert_int_equal(found->burst_count, 0);
	done(b, found);
}

static void a_graph_of_the_device_owns_its_bursts_whatever_else_runs(void **state)
{
	for (uint32_t mode = 1; mode <= 3; mode++) {
		struct builder *b = sampled_new();
		struct device_work *found;

		kernel(b, "scheduler", 1, 2000, 40000);
		builder_ids(b, builder_graph(b, 0, mode, 10000, 22000, PROFILE_NONE))->graph = 7;
		kernel(b, "tiny", 1, 15500, 40000); /* began later */
		device_kernel(b, 0, 10, 14);	    /* with the graph itself */
		device_kernel(b, 0, 18, 20);
		found = build(b);
		assert_int_equal(found->burst_count, 2);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(b->ops[found->bursts[i].op].kind, OP_GRAPH);
			assert_true(found->bursts[i].is_inside);
		}
		assert_int_equal(found->launcher_count, 1);
		assert_true(found->launchers[0].is_graph);
		assert_int_equal(found->launchers[0].graph, 7);
		assert_int_equal(found->launchers[0].launch_count, 1);
		done(b, found);
	}
	(void)state;
}

static void a_kernel_that_runs_long_is_found_behind_those_that_ended(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "scheduler", 1, 1000, 50000);
	for (int i = 0; i < 5; i++)
		kernel(b, "step", 1, 2000 + 1000 * i, 2500 + 1000 * i);
	device_kernel(b, 0, 20, 24);
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	assert_true(found->bursts[0].is_inside);
	assert_int_equal(found->bursts[0].op, 0);
	done(b, found);
}

static void launchers_add_up_bursts_and_count_launches_that_were_sampled_whole(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;
	const struct launcher *launcher;

	(void)state;
	b->spans[0].end_ns = 50000; /* in the middle of the third */
	for (int i = 0; i < 3; i++) {
		kernel(b, "parent", 50, 2000 + 20000 * i, 19000 + 20000 * i);
		device_kernel(b, 0, 2 + 20 * i, 5 + 20 * i); /* its own blocks */
		device_kernel(b, 0, 10 + 20 * i, 12 + 20 * i);
		device_kernel(b, 0, 15 + 20 * i, 15 + 20 * i);
	}
	found = build(b);
	assert_int_equal(found->burst_count, 6);
	assert_int_equal(found->launcher_count, 1);
	launcher = &found->launchers[0];
	assert_int_equal(launcher->launch_count, 2);
	assert_int_equal(launcher->span_ns, 34000);
	assert_in_range(launcher->own_ns, 7990, 8010);
	assert_int_equal(launcher->time.count, 6);
	assert_in_range(launcher->time.total_ns, 11990, 12010);
	assert_in_range(launcher->quiet_ns, 13990, 14010);
	assert_int_equal(launcher->dispatch_count, 6);
	assert_int_equal(launcher->block_count, 300);
	assert_float_equal(launcher->dram_bytes, 1200, 0.1);
	done(b, found);
}

static void a_launch_counts_for_what_came_inside_it_and_for_what_came_after_it(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	kernel(b, "parent", 1, 2000, 20000);
	device_kernel(b, 0, 10, 14);
	device_kernel(b, 0, 30, 31);
	found = build(b);
	assert_int_equal(found->launcher_count, 2);
	assert_true(found->launchers[0].is_inside);
	assert_false(found->launchers[1].is_inside);
	assert_int_equal(found->launchers[0].launch_count, 1);
	assert_int_equal(found->launchers[1].launch_count, 1);
	done(b, found);
}

static void nodes_of_one_launch_of_a_graph_are_one_launch(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct profile_op *op =
			kernel(b, i % 2 ? "first" : "second", 1, 2000 + 1000 * i, 2900 + 1000 * i);

		builder_ids(b, op)->graph = 7;
		builder_ids(b, op)->correlation = 1 + (uint32_t)i / 2;
	}
	device_kernel(b, 0, 10, 14);
	found = build(b);
	assert_int_equal(found->launcher_count, 1);
	assert_true(found->launchers[0].is_graph);
	assert_int_equal(found->launchers[0].launch_count, 2);
	assert_int_equal(found->launchers[0].span_ns, 3600);
	done(b, found);
}

static void every_device_has_its_own_bursts_and_launches_of_one_kernel_are_added_up(void **state)
{
	struct builder *b = sampled_new();
	struct device_work *found;

	(void)state;
	for (uint32_t device = 0; device < 2; device++)
		builder_op(b, OP_KERNEL, device, builder_signature(b, "parent", 1), 2000, 20000,
			   PROFILE_NONE);
	device_kernel(b, 1, 10, 14); /* that of the first device launched nothing */
	found = build(b);
	assert_int_equal(found->burst_count, 1);
	assert_int_equal(found->bursts[0].device, 1);
	assert_int_equal(found->bursts[0].op, 1);
	assert_int_equal(found->launchers[0].launch_count, 2);
	done(b, found);
}

static void without_samples_nothing_is_found(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_work *found;

	(void)state;
	kernel(b, "parent", 1, 2000, 20000);
	found = build(b);
	assert_int_equal(found->burst_count + found->launcher_count, 0);
	done(b, found);
}

/* ---- size ---- */

#define MANY_SAMPLES 2000000
#define MANY_OPS 100000

/* 100,000 kernels of half a microsecond, each with a name of its own, every 20 us; each launches one. */
static struct builder *many_new(bool is_under_a_long_one)
{
	struct builder *b = sampled_new();
	struct profile *p = &b->profile;

	p->samples = calloc(MANY_SAMPLES, sizeof(*p->samples));
	p->ops = calloc(MANY_OPS, sizeof(*p->ops));
	p->signatures = calloc(MANY_OPS, sizeof(*p->signatures));
	assert_true(p->samples && p->ops && p->signatures);
	for (int64_t i = 0; i < MANY_SAMPLES; i++)
		p->samples[i] = (struct profile_sample){.start_ns = 1000 * i,
							.length_ns = 1000,
							.sample_count = 1,
							.sm = i % 20 == 10 ? 0.5f : 0,
							.blocks = i % 20 == 10 ? 50 : 0,
							.dispatches = i % 20 == 10};
	for (int64_t i = 0; i < MANY_OPS; i++) {
		p->signatures[i] =
			(struct profile_signature){.kernel = (uint32_t)i, .grid = {1, 1, 1}};
		p->ops[i] = (struct profile_op){.start_ns = 20000 * i,
						.end_ns = 20000 * i + 500,
						.detail = (uint32_t)i,
						.kind = OP_KERNEL};
	}
	if (is_under_a_long_one)
		p->ops[0].end_ns = MANY_SAMPLES * INT64_C(1000);
	b->devices[0].op_count = p->op_count = MANY_OPS;
	b->devices[0].sample_count = p->sample_count = MANY_SAMPLES;
	b->spans[0].end_ns = MANY_SAMPLES * INT64_C(1000);
	p->device_count = b->devices[0].span_count = p->sampled_span_count = 1;
	return b;
}

static void expect_fast(bool is_under_a_long_one, size_t launcher_count)
{
	struct builder *b = many_new(is_under_a_long_one);
	clock_t start = clock();
	struct device_work *found = NULL;
	struct err err = {""};

	assert_int_equal(device_work_build(&found, &b->profile, &err), 0);
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC <
		    3); /* of which a sanitizer takes most */
	assert_int_equal(found->burst_count, MANY_OPS);
	assert_int_equal(found->launcher_count, launcher_count);
	device_work_free(found);
	free(b->profile.samples);
	free(b->profile.ops);
	free(b->profile.signatures);
	free(b);
}

static void two_million_samples_and_a_hundred_thousand_launchers_take_no_time(void **state)
{
	(void)state;
	expect_fast(false, MANY_OPS);
}

static void a_hundred_thousand_kernels_beside_a_long_one_take_no_time(void **state)
{
	(void)state;
	expect_fast(true, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_while_a_kernel_runs_is_inside_it),
		cmocka_unit_test(a_run_in_long_samples_is_the_kernel_that_begins_in_the_first),
		cmocka_unit_test(a_burst_after_a_kernel_belongs_to_the_one_that_ended_last),
		cmocka_unit_test(a_burst_before_any_operation_belongs_to_none),
		cmocka_unit_test(a_run_with_which_an_operation_begins_is_no_burst),
		cmocka_unit_test(a_burst_ends_where_the_next_traced_operation_begins),
		cmocka_unit_test(blocks_beyond_those_of_the_traced_kernel_are_a_burst_beside_it),
		cmocka_unit_test(a_block_for_each_dispatch_is_what_launching_takes),
		cmocka_unit_test(nodes_of_a_graph_of_the_host_are_no_bursts),
		cmocka_unit_test(a_graph_of_the_device_owns_its_bursts_whatever_else_runs),
		cmocka_unit_test(a_kernel_that_runs_long_is_found_behind_those_that_ended),
		cmocka_unit_test(
			launchers_add_up_bursts_and_count_launches_that_were_sampled_whole),
		cmocka_unit_test(
			a_launch_counts_for_what_came_inside_it_and_for_what_came_after_it),
		cmocka_unit_test(nodes_of_one_launch_of_a_graph_are_one_launch),
		cmocka_unit_test(
			every_device_has_its_own_bursts_and_launches_of_one_kernel_are_added_up),
		cmocka_unit_test(without_samples_nothing_is_found),
		cmocka_unit_test(two_million_samples_and_a_hundred_thousand_launchers_take_no_time),
		cmocka_unit_test(a_hundred_thousand_kernels_beside_a_long_one_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
