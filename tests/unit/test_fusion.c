/* Neighbors as one kernel: what counters tell of the bytes between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_fusion.h"

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
	struct builder *b = moving_loop(parts, 5, 0);
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

static enum fusion_verdict judged(double first_read, double first_written, double second_read)
{
	const struct moved parts[] = {{"first", first_read, first_written, 0},
				      {"second", second_read, MB, 0}};
	struct builder *b = moving_loop(parts, 2, 0);
	struct fusion_kernel kernels[2];
	struct fusion fusion;
	enum fusion_verdict verdict;

	builder_finish(b);
	fusion = moving_fusion(b, kernels);
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
	struct builder *b = moving_loop(chain, 3, 0);
	struct fusion_kernel kernels[4];
	struct fusion fusion, nothing = {0};
	uint32_t other = builder_signature(b, "gelu", 7);

	(void)state;
	builder_finish(b);
	fusion = moving_fusion(b, kernels);
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, 1), FUSION_HANDS_ON);
	assert_int_equal(fusion_judge(&nothing, &b->profile, 0, 1), FUSION_UNTOLD);
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, other), FUSION_UNTOLD);
	kernels[other] = kernels[0]; /* counted, but the same kernel */
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, other), FUSION_UNTOLD);
	assert_int_equal(fusion_judge(&fusion, &b->profile, 0, 0), FUSION_UNTOLD);
	assert_int_equal(fusion_judge(&fusion, &b->profile, other, 1), FUSION_HANDS_ON);
	free(b);
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
		SENTENCE("counters tell against neighbors that do not hand arrays on",
			 test_verdicts),
		SENTENCE("of what was not counted, and of a kernel after itself, nothing is told",
			 test_untold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
