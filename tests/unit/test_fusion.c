/* Neighbours as one kernel: what counters tell of the bytes between them, and what becomes of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "advice/advice.h"
#include "techniques/fusing.h"
#include "advice/rules/rules.h"
#include "fixture_roofs.h"
#include "techniques/changes.h"

#define MB 1e6
#define L2_BYTES 60000000
#define KERNEL_NS 100000 /* at 90% of 4 TB/s 360 MB */
#define ITERATIONS 20

/* A kernel of a loop, and what one launch of it moves; 0 of L1: not counted. */
struct moved {
	const char *name;
	double read, written, l1;
};

static const struct moved chain[] = {{"gelu", 180 * MB, 180 * MB, 360 * MB},
				     {"dropout", 180 * MB, 180 * MB, 360 * MB},
				     {"scale", 180 * MB, 180 * MB, 360 * MB}};

/* Iterations of these kernels, queued one behind the other 1 us apart, and then a pause of the host. */
static struct builder *loop_of(const struct moved *parts, size_t count, int64_t pause_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0, gpu = 0;

	b->devices[0].l2_bytes = L2_BYTES;
	for (size_t i = 0; i < count; i++) {
		uint32_t signature = builder_signature(b, parts[i].name, 1000);

		builder_counter(b, false, signature, METRIC_dram_read_bytes, 3, parts[i].read);
		builder_counter(b, false, signature, METRIC_dram_write_bytes, 3, parts[i].written);
		if (parts[i].l1 > 0)
			builder_counter(b, false, signature, METRIC_l1_bytes, 3, parts[i].l1);
	}
	for (int i = 0; i < ITERATIONS; i++) {
		for (size_t j = 0; j < count; j++, now += 4000) {
			gpu = gpu + 1000 > now + 5000 ? gpu + 1000 : now + 5000;
			builder_op(b, OP_KERNEL, 0, builder_signature(b, parts[j].name, 1000), gpu,
				   gpu + KERNEL_NS, builder_launch(b, 0, now, now + 4000));
			gpu += KERNEL_NS;
		}
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now, gpu + 3000);
		now = gpu + 3000 + pause_ns;
	}
	return b;
}

/* ---- one kernel ---- */

static void expect_bytes(const struct fusion_kernel *kernel, double read, double written,
			 double stored)
{
	assert_true(kernel->is_known);
	assert_float_equal(kernel->read_bytes, read, 0);
	assert_float_equal(kernel->written_bytes, written, 0);
	assert_float_equal(kernel->stored_bytes, stored, 0);
}

static void test_counted(void **state)
{
	static const struct moved parts[] =
		{
			{"elementwise", 100, 100, 200},
			{"evicts", 100, 130, 201}, /* of what the one before stored */
			{"rereads", 100, 90, 400},
			{"past_l1", 100, 80, 60},
			{"no_l1", 100, 70, 0},
		};
	struct builder *b = loop_of(parts, 5, 0);
	uint32_t parted = builder_signature(b, "parted", 1), half = builder_signature(b, "half", 1);
	struct fusion_kernel kernel;

	(void)state;
	for (uint32_t i = 0; i <= half; i++) /* of graphs, of which as many were counted */
		for (int j = 0; j < 10; j++)
			builder_counter(b, true, i, METRIC_dram_write_bytes, 3, 7);
	builder_counter(b, false, half, METRIC_dram_read_bytes, 3, 5);
	builder_counter(b, false, parted, METRIC_dram_read_bytes, 3, 5);
	builder_counter(b, false, parted, METRIC_dram_write_bytes, 3, 6);
	b->counters[b->profile.counter_count++] =
		(struct profile_counter){.subject = parted,
					 .metric = builder_metric(b, "another",
								  METRIC_dram_read_bytes),
					 .sample_count = 3,
					 .mean = 20};
	builder_finish(b);
	kernel = fusion_counted(&b->profile, 0);
	expect_bytes(&kernel, 100, 100, 100);
	kernel = fusion_counted(&b->profile, 1);
	expect_bytes(&kernel, 100, 130, 101);
	kernel = fusion_counted(&b->profile, 2);
	expect_bytes(&kernel, 100, 90, 90);
	kernel = fusion_counted(&b->profile, 3);
	expect_bytes(&kernel, 100, 80, 80);
	kernel = fusion_counted(&b->profile, 4);
	expect_bytes(&kernel, 100, 70, 70);
	assert_false(fusion_counted(&b->profile, half).is_known);
	kernel = fusion_counted(&b->profile, parted);
	expect_bytes(&kernel, 25, 6, 6);
	free(b);
}

/* Numbers of signatures and of graphs have nothing to do with each other. */
static void test_graph_counters(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_counter(b, false, builder_signature(b, "k", 1), METRIC_dram_read_bytes, 3, 5);
	builder_counter(b, true, 0, METRIC_dram_write_bytes, 3, 7);
	builder_finish(b);
	assert_false(fusion_counted(&b->profile, 0).is_known);
	free(b);
}

static void test_time(void **state)
{
	struct fusion fusion = {.dram_byte_per_s = 4e12};
	struct fusion_kernel kernel = {.is_known = true,
				       .read_bytes = 180 * MB,
				       .written_bytes = 180 * MB};

	(void)state;
	/* half of the bytes, all of them, none; at the low end what is handed on is still written */
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 180 * MB, 0), 5e4, 1e-6);
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 0, 90 * MB), 7.5e4, 1e-6);
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 180 * MB, 180 * MB), 0, 1e-6);
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 0, 0), 1e5, 0);
	fusion.is_least = true;
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 90 * MB, 180 * MB), 7.5e4, 1e-6);
	fusion.is_least = false;
	/* 360 MB take 90 us at the roof: half of a kernel of 180 us; of longer ones the rest is not theirs */
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 180000, 180 * MB, 0), 90000, 1e-6);
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 900000, 180 * MB, 0), 810000, 1e-6);
	/* within the roof, also where counters and clock do not agree */
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 8e4, 180 * MB, 0), 4.5e4, 1e-6);
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 4e4, 180 * MB, 0), 4e4, 0);
	/* the arithmetic of both is still to be done */
	kernel.arithmetic_share = 0.6;
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 180 * MB, 0), 6e4, 1e-6);
	fusion.dram_byte_per_s = 0;
	assert_float_equal(fusion_time_ns(&fusion, &kernel, 1e5, 180 * MB, 0), 1e5, 0);
}

/* ---- two kernels ---- */

static struct fusion fusion_of(const struct builder *b, struct fusion_kernel *kernels)
{
	for (size_t i = 0; i < b->profile.signature_count; i++)
		kernels[i] = fusion_counted(&b->profile, (uint32_t)i);
	return (struct fusion){.kernels = kernels,
			       .dram_byte_per_s = 4e12,
			       .l2_bytes = (double)L2_BYTES};
}

static enum fusion_verdict judged(double first_read, double first_written, double second_read)
{
	const struct moved parts[] = {{"first", first_read, first_written, 0},
				      {"second", second_read, MB, 0}};
	struct builder *b = loop_of(parts, 2, 0);
	struct fusion_kernel kernels[2];
	struct fusion fusion;
	enum fusion_verdict verdict;

	builder_finish(b);
	fusion = fusion_of(b, kernels);
	verdict = fusion_judge(&fusion, &b->profile, 0, 1);
	free(b);
	return verdict;
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_int_equal(judged(100 * MB, 100 * MB, 100 * MB), FUSION_HANDS_ON);
	assert_int_equal(judged(100 * MB, 100 * MB, 300 * MB), FUSION_HANDS_ON);
	assert_int_equal(judged(0, 100 * MB, 100 * MB), FUSION_HANDS_ON);
	/* it reads nearly all of it, or not */
	assert_int_equal(judged(100 * MB, 100 * MB, 90.1 * MB), FUSION_HANDS_ON);
	assert_int_equal(judged(100 * MB, 100 * MB, 89.9 * MB), FUSION_GRID_WIDE);
	/* a hundredth of what was read, and less */
	assert_int_equal(judged(7000 * MB, 70.1 * MB, 100 * MB), FUSION_HANDS_ON);
	assert_int_equal(judged(100 * MB, 1.1 * MB, 100 * MB), FUSION_UNTOLD);
	assert_int_equal(judged(100 * MB, 0.9 * MB, 100 * MB), FUSION_GRID_WIDE);
	assert_int_equal(judged(7000 * MB, 69.9 * MB, 100 * MB), FUSION_GRID_WIDE);
	/* what L2 holds */
	assert_int_equal(judged(60 * MB, 0, 100 * MB), FUSION_UNTOLD);
	assert_int_equal(judged(100 * MB, 60 * MB, 0), FUSION_UNTOLD);
	assert_int_equal(judged(100 * MB, 60.1 * MB, 0), FUSION_GRID_WIDE);
}

static void test_untold(void **state)
{
	struct builder *b = loop_of(chain, 3, 0);
	struct fusion_kernel kernels[4];
	struct fusion fusion, nothing = {0};
	uint32_t other = builder_signature(b, "gelu", 7);

	(void)state;
	builder_finish(b);
	fusion = fusion_of(b, kernels);
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, 1), FUSION_HANDS_ON);
	assert_int_equal(fusion_judge(&nothing, &b->profile, 0, 1), FUSION_UNTOLD);
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, other), FUSION_UNTOLD);
	kernels[other] = kernels[0]; /* counted, but the same kernel */
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, other), FUSION_UNTOLD);
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, 0), FUSION_UNTOLD);
	assert_int_equal(fusion_judge(&fusion, &b->profile, other, 1), FUSION_HANDS_ON);
	free(b);
}

/* ---- a run ---- */

struct run {
	struct builder *b;
	struct model *model;
	struct change change;
	struct fusion fusion;
	struct fusion_kernel kernels[8];
	uint32_t iterations[ITERATIONS + 1];
	struct loop loop;
	struct fused fused;
};

static void run_begin(struct run *run, struct builder *b, size_t kernel_count)
{
	struct err err = {""};

	*run = (struct run){.b = b};
	builder_finish(b);
	run->fusion = fusion_of(b, run->kernels);
	for (size_t i = 0; i <= ITERATIONS; i++)
		run->iterations[i] = (uint32_t)(i * (kernel_count + 1));
	run->loop = (struct loop){.call_count = b->profile.call_count,
				  .iteration_count = ITERATIONS,
				  .iterations = run->iterations,
				  .period = kernel_count};
	assert_int_equal(model_build(&run->model, &b->profile, &err), 0);
	assert_int_equal(change_begin(&run->change, run->model, true), 0);
}

static void run_end(struct run *run)
{
	change_free(&run->change);
	model_free(run->model);
	free(run->b);
}

static enum refusal run_fuse(struct run *run, struct change *change)
{
	run->fused = (struct fused){0};
	return change_to_fused(change, run->model, &run->loop, &run->fusion, &run->fused);
}

static void expect_lengths(const struct run *run, const int64_t *lengths_ns, size_t count)
{
	for (size_t i = 0; i < run->b->profile.op_count; i++)
		assert_int_equal(run->change.op_ns[i], lengths_ns[i % count]);
}

/* Three take as long as one did: the first only reads, the second does neither, the third only writes. */
static void test_chain(void **state)
{
	static const int64_t all_ns[] = {50000, 1, 50000}, least_ns[] = {-1, 50000, 50000};
	struct run run;

	(void)state;
	run_begin(&run, loop_of(chain, 3, 0), 3);
	assert_int_equal(run_fuse(&run, &run.change), REFUSED_NONE);
	expect_lengths(&run, all_ns, 3);
	assert_int_equal(run.change.calls[0], CALL_KEPT);
	assert_int_equal(run.change.calls[1], CALL_FUSED);
	assert_int_equal(run.change.calls[2], CALL_FUSED);
	assert_int_equal(run.fused.kernel_count, 2 * ITERATIONS);
	assert_int_equal(run.fused.handed_count, 2 * ITERATIONS);
	assert_float_equal(run.fused.vanished_bytes, ITERATIONS * 720 * MB, 1);
	assert_float_equal(run.fused.saved_ns, ITERATIONS * 2e5, 1e-3);
	assert_string_equal(run.b->signatures[run.fused.first].name, "gelu");
	assert_string_equal(run.b->signatures[run.fused.second].name, "dropout");
	run_end(&run);

	run_begin(&run, loop_of(chain, 3, 0), 3);
	run.fusion.is_least = true;
	assert_int_equal(run_fuse(&run, &run.change), REFUSED_NONE);
	expect_lengths(&run, least_ns, 3);
	assert_float_equal(run.fused.vanished_bytes, ITERATIONS * 360 * MB, 1);
	assert_float_equal(run.fused.saved_ns, ITERATIONS * 1e5, 1e-3);
	run_end(&run);
}

/* The second reads an array of its own as well: that much is left of its time. */
static void test_other_array(void **state)
{
	static const struct moved parts[] = {{"narrow", 180 * MB, 90 * MB, 0},
					     {"residual", 180 * MB, 90 * MB, 0}};
	static const int64_t expected_ns[] = {66666, 66666};
	struct run run;

	(void)state;
	run_begin(&run, loop_of(parts, 2, 0), 2);
	assert_int_equal(run_fuse(&run, &run.change), REFUSED_NONE);
	expect_lengths(&run, expected_ns, 2);
	run_end(&run);
}

static void test_looked_at(void **state)
{
	static const int64_t kept_ns[] = {-1, -1, -1};
	struct run run;

	(void)state;
	run_begin(&run, loop_of(chain, 3, 0), 3);
	assert_int_equal(run_fuse(&run, NULL), REFUSED_NONE);
	assert_float_equal(run.fused.saved_ns, ITERATIONS * 2e5, 1e-3);
	expect_lengths(&run, kept_ns, 3);
	assert_int_equal(run.change.calls[1], CALL_KEPT);
	run_end(&run);
}

/* Another strategy has made the kernels half as long before: it is from that what vanishes is taken. */
static void test_changed_before(void **state)
{
	static const int64_t expected_ns[] = {25000, 1, 25000};
	struct builder *b = loop_of(chain, 3, 0);
	struct run run;

	(void)state;
	run_begin(&run, b, 3);
	for (size_t i = 0; i < b->profile.op_count; i++)
		run.change.op_ns[i] = KERNEL_NS / 2;
	run.fusion.dram_byte_per_s = 1e13;
	assert_int_equal(run_fuse(&run, &run.change), REFUSED_NONE);
	expect_lengths(&run, expected_ns, 3);
	run_end(&run);
}

/* A kernel that reduced, and one that goes on with something else. */
static void test_grid_wide(void **state)
{
	static const struct moved parts[] = {{"total", 360 * MB, 30 * MB, 361 * MB},
					     {"divide", 180 * MB, 180 * MB, 360 * MB},
					     {"gather", 150 * MB, 180 * MB, 330 * MB}};
	static const int64_t kept_ns[] = {-1, -1, -1};
	struct run run;

	(void)state;
	run_begin(&run, loop_of(parts, 3, 0), 3);
	assert_int_equal(run_fuse(&run, &run.change), REFUSED_GRID_WIDE);
	expect_lengths(&run, kept_ns, 3);
	for (size_t i = 0; i < run.b->profile.call_count; i++)
		assert_int_equal(run.change.calls[i], CALL_KEPT);
	assert_int_equal(run.fused.kernel_count, 0);
	run_end(&run);
}

/* Small ones: as without counters. */
static void test_small(void **state)
{
	static const struct moved parts[] = {{"add", 2 * MB, MB, 3 * MB}, {"scale", 0, MB, 2 * MB}};
	static const int64_t kept_ns[] = {-1, -1};
	struct run run;

	(void)state;
	run_begin(&run, loop_of(parts, 2, 0), 2);
	assert_int_equal(run_fuse(&run, &run.change), REFUSED_NONE);
	expect_lengths(&run, kept_ns, 2);
	assert_int_equal(run.fused.kernel_count, ITERATIONS);
	assert_int_equal(run.fused.handed_count, 0);
	run_end(&run);
}

/* ---- a report ---- */

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
	report->timeline = it->placed.timeline;
	report->counted = it->placed.counted;
	report->roofline = it->placed.roofline;
	report->atomics = it->placed.atomics;
	assert_int_equal(statistics_collect(&report->statistics, report->profile, &err), 0);
	assert_int_equal(gaps_analyze(&report->gaps, report->profile, report->timeline, 10, &err),
			 0);
	assert_int_equal(collectives_build(&report->collectives, report->profile, &err), 0);
	assert_int_equal(device_graphs_build(&report->device_graphs, report->profile, &err), 0);
	assert_int_equal(advice_find(&it->advice, report, NULL, &err), 0);
}

static void advised_free(struct advised *it)
{
	advice_free(it->advice);
	device_graphs_free(it->report.device_graphs);
	collectives_free(it->report.collectives);
	gaps_free(it->report.gaps);
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
	advise(&it, loop_of(chain, 3, 0));
	item = recommended(&it, "fuse_neighbors");
	assert_non_null(item);
	assert_string_equal(item->strategy, "fuse");
	assert_true(item->is_supposed);
	/* three kernels and their gaps become one; at the low end two, and a quarter of that as margin */
	assert_in_range((uint64_t)(1000 * item->place.speedup), 2800, 3100);
	assert_in_range((uint64_t)(1000 * item->place.low), 1150, 1250);
	assert_string_equal(
		item->evidence[0],
		"gelu writes 172 MiB a launch, and dropout right after it reads 172 MiB");
	assert_string_equal(item->evidence[1],
			    "40 launches go on with what the one before them wrote: 13.4 GiB "
			    "vanish, 67% of what all kernels move through DRAM");
	assert_non_null(strstr(item->evidence[2], "supposed: "));
	assert_null(recommended(&it, "memory_roof")); /* which would say the same */
	advised_free(&it);
}

static void test_not_advised(void **state)
{
	static const struct moved same[] = {{"triad", 180 * MB, 180 * MB, 360 * MB}};
	struct advised it;

	(void)state;
	advise(&it, loop_of(chain, 3, 2500000)); /* 200 us of 2.8 ms */
	assert_null(recommended(&it, "fuse_neighbors"));
	assert_non_null(recommended(&it, "memory_roof"));
	advised_free(&it);
	advise(&it, loop_of(chain, 3, 1500000)); /* 200 us of 1.8 ms */
	assert_non_null(recommended(&it, "fuse_neighbors"));
	advised_free(&it);
	advise(&it, loop_of(same, 1, 0));
	assert_null(recommended(&it, "fuse_neighbors"));
	advised_free(&it);
}

/* What the report's counters and roofs are to fusing. */
static void test_collected(void **state)
{
	struct builder *b = loop_of(chain, 3, 0);
	struct advised it;
	struct fusion fusion;

	(void)state;
	builder_counter(b, false, 0, METRIC_fp32_fma, 3,
			15e8); /* 3 GFLOP in 100 us: half the roof */
	builder_counter(b, false, 0, METRIC_fp32_add, 3, 0);
	builder_counter(b, false, 0, METRIC_fp32_mul, 3, 0);
	advise(&it, b);
	assert_int_equal(fusing_collect(&fusion, &it.report), 0);
	assert_non_null(fusion.kernels);
	assert_float_equal(fusion.dram_byte_per_s, 4e12, 0);
	assert_float_equal(fusion.l2_bytes, L2_BYTES, 0);
	assert_float_equal(fusion.kernels[0].arithmetic_share, 0.5, 1e-9);
	assert_float_equal(fusion.kernels[1].arithmetic_share, 0, 0);
	assert_float_equal(fusion.kernels[2].read_bytes, 180 * MB, 0);
	free(fusion.kernels);
	b->profile.device_count = 2; /* counters are of both together */
	assert_int_equal(fusing_collect(&fusion, &it.report), 0);
	assert_null(fusion.kernels);
	b->profile.device_count = 1;
	b->profile.counter_count = 0;
	assert_int_equal(fusing_collect(&fusion, &it.report), 0);
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
		SENTENCE("what a kernel stored is not what L2 held of the ones before it",
			 test_counted),
		SENTENCE("counters of a graph are no kernel's", test_graph_counters),
		SENTENCE("bytes that vanish save time within the roofs, of kernels that DRAM binds",
			 test_time),
		SENTENCE("counters tell against neighbours that do not hand arrays on",
			 test_verdicts),
		SENTENCE("of what was not counted, and of a kernel after itself, nothing is told",
			 test_untold),
		SENTENCE("what a chain of kernels hands on vanishes, at the low end its reading",
			 test_chain),
		SENTENCE("what the second reads besides is still read", test_other_array),
		SENTENCE("looking changes nothing", test_looked_at),
		SENTENCE("kernels that another strategy changed are shortened from that",
			 test_changed_before),
		SENTENCE("neighbours with a dependency across the grid are refused",
			 test_grid_wide),
		SENTENCE("of small neighbours only launches and gaps go", test_small),
		SENTENCE("neighbours that hand arrays on are advised to be one kernel",
			 test_advised),
		SENTENCE("neighbours with little to gain are not", test_not_advised),
		SENTENCE("counters and roofs of a report are those of fusing", test_collected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
