/* When neighbors are advised to be one kernel, and what a report tells of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "advice/advice.h"
#include "advice/rules/rules.h"
#include "fixture_fusion.h"
#include "fixture_roofs.h"

static const struct ceiling roofs[] = {
	{.id = CEILING_launch_call, .value = 4000},
	{.id = CEILING_launch_to_start, .value = 5000},
	{.id = CEILING_synchronize, .value = 3000},
	{.id = CEILING_graph_launch, .value = 4000},
	{.id = CEILING_graph_to_start, .value = 6000},
	{.id = CEILING_kernel_gap, .value = 1000},
	{.id = CEILING_graph_node_gap, .value = 900},
	{.id = CEILING_graph_gap, .value = 1200},
	{.id = CEILING_grid_barrier, .value = 1300},
	{.id = CEILING_dram_read, .value = 4e12},
	{.id = CEILING_fp32_fma, .value = 60e12},
};

struct advised {
	struct builder *b;
	struct placed placed;
	struct ceilings *ceilings;
	struct report report;
	struct device_work device_work;
	struct advice *advice;
};

static struct ceilings *measured(void)
{
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(roofs) / sizeof(roofs[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &roofs[i]), 0);
	assert_null(ceilings_sort(ceilings));
	return ceilings;
}

static void advise(struct advised *it, struct builder *b)
{
	struct report *report = &it->report;
	struct err err = {""};

	*it = (struct advised){.b = b, .ceilings = measured()};
	builder_finish(b);
	*report = (struct report){.profile = &b->profile,
				  .device_work = &it->device_work,
				  .ceilings = it->ceilings};
	it->placed = fixture_place(report->profile, it->ceilings);
	assert_int_equal(timeline_build(&report->timeline, report->profile, &err), 0);
	report->counted = it->placed.counted;
	report->roofline = it->placed.roofline;
	report->atomics = it->placed.atomics;
	assert_int_equal(statistics_collect(&report->statistics, report->profile, NULL, &err), 0);
	assert_int_equal(jit_build(&report->jit, report->profile, &err), 0);
	assert_int_equal(gaps_analyze(&report->gaps, report->profile, report->timeline, 10, &err),
			 0);
	assert_int_equal(collectives_build(&report->collectives, report->profile, &err), 0);
	assert_int_equal(managed_memory_build(&report->managed_memory, report->profile, &err), 0);
	assert_int_equal(device_graphs_build(&report->device_graphs, report->profile, &err), 0);
	assert_int_equal(advice_find(&it->advice, report, NULL, &err), 0);
}

static void advised_free(struct advised *it)
{
	advice_free(it->advice);
	device_graphs_free(it->report.device_graphs);
	collectives_free(it->report.collectives);
	jit_free(it->report.jit);
	managed_memory_free(it->report.managed_memory);
	gaps_free(it->report.gaps);
	timeline_free(it->report.timeline);
	statistics_free(it->report.statistics);
	fixture_placed_free(&it->placed);
	ceilings_free(it->ceilings);
	free(it->b);
}

static const struct recommendation *recommended(const struct advised *it, const char *id)
{
	for (size_t i = 0; i < it->advice->count; i++)
		if (!strcmp(it->advice->items[i].id, id))
			return &it->advice->items[i];
	return NULL;
}

static void test_advised(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advise(&it, moving_loop(chain, 3, 0));
	item = recommended(&it, "fuse_neighbors");
	assert_non_null(item);
	assert_string_equal(item->strategy, "fuse");
	assert_true(item->gain.is_assuming);
	/* three kernels and their gaps become one; at the low end two, and the spread of that as margin */
	assert_in_range((uint64_t)(1000 * item->gain.place.speedup), 2800, 3100);
	assert_in_range((uint64_t)(1000 * item->gain.place.low), 1290, 1360);
	assert_string_equal(
		item->evidence[0],
		"gelu writes 172 MiB a launch, and dropout right after it reads 172 MiB");
	assert_string_equal(item->evidence[1],
			    "40 launches go on with what the one before them wrote: 13.4 GiB "
			    "vanish, 67% of what all kernels move through DRAM");
	assert_non_null(strstr(item->evidence[2], "assumes: "));
	assert_null(recommended(&it, "memory_roof")); /* which would say the same */
	advised_free(&it);
}

static void test_not_advised(void **state)
{
	static const struct moved same[] = {{"triad", 180 * MB, 180 * MB, 360 * MB}};
	struct advised it;

	(void)state;
	advise(&it, moving_loop(chain, 3, 2500000)); /* 200 us of 2.8 ms */
	assert_null(recommended(&it, "fuse_neighbors"));
	assert_non_null(recommended(&it, "memory_roof"));
	advised_free(&it);
	advise(&it, moving_loop(chain, 3, 1500000)); /* 200 us of 1.8 ms */
	assert_non_null(recommended(&it, "fuse_neighbors"));
	advised_free(&it);
	advise(&it, moving_loop(same, 1, 0));
	assert_null(recommended(&it, "fuse_neighbors"));
	advised_free(&it);
}

/* Without counters, kernels whose names show that they are of elements. */
static void test_uncounted(void **state)
{
	static const struct moved own[] = {{"a", 0, 0, 0}, {"b", 0, 0, 0}, {"c", 0, 0, 0}};
	static const struct moved ufuncs[] = {{"cupy_a__float32_float32", 0, 0, 0},
					      {"cupy_b__float32_float32", 0, 0, 0},
					      {"cupy_c__float32_float32", 0, 0, 0}};
	const struct recommendation *item;
	struct advised it;
	struct builder *b;

	(void)state;
	b = moving_loop(own, 3, 0);
	b->profile.counter_count = 0;
	advise(&it, b);
	assert_null(recommended(&it, "fuse_neighbors"));
	advised_free(&it);
	b = moving_loop(ufuncs, 3, 0);
	b->profile.counter_count = 0;
	advise(&it, b);
	item = recommended(&it, "fuse_neighbors");
	assert_non_null(item);
	assert_true(item->gain.is_up_to && item->gain.keeps_results);
	assert_in_range((uint64_t)(1000 * item->gain.place.speedup), 2700, 3100);
	assert_true(item->gain.place.low <= 1.01);
	assert_string_equal(item->evidence[0],
			    "cupy_a__float32_float32 and 2 kernels right behind it each go through "
			    "as many elements: 300 us together, the longest takes 100 us");
	advised_free(&it);
}

/* What the report's counters and roofs are to fusing. */
static void test_collected(void **state)
{
	struct builder *b = moving_loop(chain, 3, 0);
	struct advised it;
	struct fusion fusion;

	(void)state;
	builder_counter(b, false, 0, METRIC_fp32_fma, 3,
			15e8); /* 3 GFLOP in 100 us: half the roof */
	builder_counter(b, false, 0, METRIC_fp32_add, 3, 0);
	builder_counter(b, false, 0, METRIC_fp32_mul, 3, 0);
	advise(&it, b);
	assert_int_equal(fusion_collect(&fusion, &it.report), 0);
	assert_non_null(fusion.kernels);
	assert_float_equal(fusion.dram_byte_per_s, 4e12, 0);
	assert_float_equal(fusion.l2_bytes, L2_BYTES, 0);
	assert_float_equal(fusion.kernels[0].arithmetic_share, 0.5, 1e-9);
	assert_float_equal(fusion.kernels[1].arithmetic_share, 0, 0);
	assert_float_equal(fusion.kernels[2].read_bytes, 180 * MB, 0);
	free(fusion.kernels);
	b->profile.device_count = 2; /* nothing ran on the other one */
	assert_int_equal(fusion_collect(&fusion, &it.report), 0);
	assert_non_null(fusion.kernels);
	free(fusion.kernels);
	b->devices[1].op_count = 1; /* counters are of both together */
	assert_int_equal(fusion_collect(&fusion, &it.report), 0);
	assert_null(fusion.kernels);
	b->profile.device_count = 1;
	b->profile.counter_count = 0;
	assert_int_equal(fusion_collect(&fusion, &it.report), 0);
	assert_null(fusion.kernels);
	advised_free(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("neighbors that hand arrays on are advised to be one kernel",
			 test_advised),
		SENTENCE("neighbors with little to gain are not", test_not_advised),
		SENTENCE("a framework's kernels of elements are advised to be one without counters",
			 test_uncounted),
		SENTENCE("counters and roofs of a report are those of fusing", test_collected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
