#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "replay/costs.h"

struct row {
	enum ceiling_id id;
	double value;
	uint64_t parameter;
};

/* What every prediction needs, and up to three rows more. */
static struct ceilings *ceilings_with(const struct row more[3])
{
	static const struct row rows[] = {
		{CEILING_launch_call, 3000, 0},	   {CEILING_launch_to_start, 5000, 0},
		{CEILING_synchronize, 2500, 0},	   {CEILING_graph_launch, 1000, 0},
		{CEILING_graph_to_start, 3500, 0}, {CEILING_kernel_gap, 1500, 0},
		{CEILING_graph_node_gap, 800, 0},  {CEILING_graph_gap, 1700, 0},
		{CEILING_grid_barrier, 1100, 0}};
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));
	const size_t count = sizeof(rows) / sizeof(rows[0]);

	assert_non_null(ceilings);
	for (size_t i = 0; i < count + 3; i++) {
		const struct row *row = i < count ? &rows[i] : &more[i - count];

		if (row->value > 0)
			assert_int_equal(ceilings_add(ceilings,
						      &(struct ceiling){.id = row->id,
									.parameter = row->parameter,
									.value = row->value,
									.low = row->value,
									.high = row->value}),
					 0);
	}
	assert_null(ceilings_sort(ceilings));
	return ceilings;
}

static struct costs costs_with(const struct row more[3], const struct recorded_latencies *recorded)
{
	struct ceilings *ceilings = ceilings_with(more);
	struct costs costs;

	assert_true(costs_of(&costs, ceilings, recorded, COSTS_MIDDLE));
	ceilings_free(ceilings);
	return costs;
}

static const struct row no_more[3];

/* At least 0.2 and at most 0.7 of a launch, and half as much to a call that submits nothing; as long as a graph's launch
 * and at most 63% of the recorded one; 0.2 to 1.5 of its start. */
static void test_added(void **state)
{
	static const struct {
		int64_t launch_call_ns, graph_call_ns, graph_start_ns;
		int64_t launch_ns, graph_launch_ns, start_ns; /* added */
	} cases[] = {
		{4000, 2200, 5000, 1000, 1200, 1500}, {3100, 1500, 3600, 600, 1000, 700},
		{2000, 900, 3000, 600, 1000, 700},    {9000, 9000, 9000, 2100, 5670, 5250},
		{0, 0, 0, 1350, 1351, 2975}, /* unknown: the middle */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct recorded_latencies recorded = {
			.launch_call_ns = cases[i].launch_call_ns,
			.graph_call_ns = cases[i].graph_call_ns,
			.graph_start_ns = cases[i].graph_start_ns,
		};
		struct costs costs = costs_with(no_more, &recorded);

		assert_int_equal(costs.trace_launch_ns, cases[i].launch_ns);
		assert_int_equal(costs.trace_call_ns, cases[i].launch_ns / 2);
		assert_int_equal(costs.trace_graph_launch_ns, cases[i].graph_launch_ns);
		assert_int_equal(costs.trace_graph_start_ns, cases[i].start_ns);
	}
}

/* kernel_gap is 1500, and 1000 as CUPTI sees it, of which 200 are recording's: every gap is 700 shorter there. */
static void test_copies(void **state)
{
	static const struct row more[3] = {{CEILING_graph_copy, 7500, 0},
					   {CEILING_graph_copy_to_start, 12000, 0},
					   {CEILING_graph_set_params, 1450, 0}};
	const struct recorded_latencies recorded = {0};
	struct costs costs = costs_with(more, &recorded);

	(void)state;
	assert_int_equal(costs.graph_node_gap_ns, 100);
	assert_int_equal(costs.graph_copy_gap_ns, (7500 - 1400 + 100) / 2);
	assert_int_equal(costs.graph_copy_to_start_ns, 12000 - 1400 - 3100);
	assert_int_equal(costs.node_update_ns, 1450);
}

/* A kernel that takes 700 less from start to start as a node, and 600 less behind a barrier, than in a stream. */
static void test_steps(void **state)
{
	static const struct row more[3] = {{CEILING_kernel_step, 1800, 0},
					   {CEILING_graph_step, 1100, 0},
					   {CEILING_barrier_step, 1200, 0}};
	static const struct row close[3] = {{CEILING_kernel_step, 1900, 0},
					    {CEILING_graph_step, 1099, 0}};
	const struct recorded_latencies recorded = {0}, longer = {.kernel_gap_ns = 1700},
					children = {.kernel_gap_ns = 30000};
	struct costs costs = costs_with(more, &recorded);

	(void)state;
	assert_int_equal(costs.graph_node_gap_ns, 800 - 700);
	assert_int_equal(costs.barrier_ns, 800 - 600);
	assert_int_equal(costs_with(close, &recorded).graph_node_gap_ns, 0); /* none is below 0 */
	/* gaps of a stream are not those of a graph, unless something runs in them */
	assert_int_equal(costs_with(more, &longer).graph_node_gap_ns, 800 - 700);
	assert_int_equal(costs_with(more, &children).graph_node_gap_ns, 30000 - 200 - 700);
}

/* Of 1300 to give a kernel another grid and to launch it 800 are the launch's. */
static void test_updated(void **state)
{
	static const struct row more[3] = {{CEILING_graph_set_params, 1300, 0},
					   {CEILING_graph_updated_launch, 800, 0}};
	static const struct row older[3] = {{CEILING_graph_set_params, 1300, 0}};
	const struct recorded_latencies recorded = {0};

	(void)state;
	assert_int_equal(costs_with(more, &recorded).updated_node_ns, 800);
	assert_int_equal(costs_with(older, &recorded).updated_node_ns, 1300);
}

/* The host takes 4500 for a launch, half as long again as that of the ceilings. */
static void test_slow_host(void **state)
{
	static const struct row more[3] = {{CEILING_graph_set_params, 1300, 0},
					   {CEILING_graph_updated_launch, 800, 0},
					   {CEILING_stream_wait, 1000, 0}};
	const struct recorded_latencies recorded = {.untraced_call_ns = 4500};
	struct costs costs = costs_with(more, &recorded);

	(void)state;
	assert_int_equal(costs.launch_call_ns, 4500);
	assert_int_equal(costs.graph_launch_ns, 1500);
	assert_int_equal(costs.node_update_ns, 1950);
	assert_int_equal(costs.updated_node_ns, 1200);
	assert_int_equal(costs.stream_wait_ns, 1500);
	assert_int_equal(costs.synchronize_ns, 2500); /* most of it is the GPU's */
}

/* A launch of a graph takes 1000, of eight branches 2000, and half as long again on a slow host. */
static void test_branches(void **state)
{
	static const struct row more[3] = {{CEILING_graph_branches, 2000, 8},
					   {CEILING_graph_branches, 6000, 40}};
	static const struct {
		int64_t untraced_call_ns;
		uint64_t node_count;
		int64_t longer_ns;
	} cases[] = {{0, 8, 1000}, {0, 40, 5000}, {4500, 8, 1500}, {0, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct recorded_latencies recorded = {.untraced_call_ns =
								    cases[i].untraced_call_ns};
		struct ceilings *ceilings = ceilings_with(more);
		struct costs costs;

		assert_true(costs_of(&costs, ceilings, &recorded, COSTS_MIDDLE));
		assert_int_equal(costs_branches_ns(&costs, cases[i].node_count),
				 cases[i].longer_ns);
		ceilings_free(ceilings);
	}
}

static void test_older_ceilings(void **state)
{
	static const struct row old[3] = {{CEILING_graph_update, 5000, 10},
					  {CEILING_graph_update, 40000, 100}};
	const struct recorded_latencies recorded = {0};
	struct costs costs = costs_with(old, &recorded);
	struct ceilings *ceilings = ceilings_with(old);

	(void)state;
	assert_int_equal(costs.graph_copy_gap_ns, costs.graph_node_gap_ns);
	assert_int_equal(costs.graph_copy_to_start_ns, costs.graph_to_start_ns);
	assert_int_equal(costs.node_update_ns, 400); /* of each of 100 kernels */
	ceilings->is_datasheet = true;
	assert_false(costs_of(&costs, ceilings, &recorded, COSTS_MIDDLE));
	ceilings_free(ceilings);
}

#define SENTENCE(text, function)                     \
	{                                            \
		(text), (function), NULL, NULL, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SENTENCE(
			"what recording added is what calls took longer, within what was measured of it",
			test_added),
		SENTENCE("a copy in a graph is its length and the gaps beside it", test_copies),
		SENTENCE(
			"nodes and barriers lie as much closer as a kernel's period is shorter there",
			test_steps),
		SENTENCE("calls take as much longer as a launch does without recording",
			 test_slow_host),
		SENTENCE("branches of a graph make its launch longer", test_branches),
		SENTENCE("updated nodes make the launch longer, not the update", test_updated),
		SENTENCE(
			"older ceilings tell of copies as of other nodes and of updates by whole graphs, a datasheet tells no costs",
			test_older_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
