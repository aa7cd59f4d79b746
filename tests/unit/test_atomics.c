/* What atomics cost, by numbers worked out by hand and by three kernels that an H200 ran. */
#define _GNU_SOURCE

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/report.h"
#include "fixture.h"
#include "fixture_roofs.h"

#define assert_near(value, expected) assert_near_at(value, expected, 1e-9, __LINE__)
#define assert_about(value, expected, tolerance) \
	assert_near_at(value, expected, tolerance, __LINE__)

static void assert_near_at(double value, double expected, double tolerance, int line)
{
	if (!(fabs(value - expected) <= tolerance * fmax(1e-300, fabs(expected))))
		fail_msg("line %d: %.17g is not %.17g", line, value, expected);
}

/* Counters of one launch of a kernel with atomics. */
struct counts {
	int64_t duration_ns;
	double atom_instructions, red_instructions, shared_instructions;
	double atom_requests, red_requests, cas_requests, atom_sectors, red_sectors;
	double unit_cycles, unit_max, unit_mean, l2_cycles;
	double dram_bytes, l2_bytes;
};

static struct placed place(struct builder *b, const struct counts *counts, int launch_count,
			   const struct ceilings *ceilings)
{
	uint32_t signature = builder_signature(b, "k", 1);
	const struct {
		enum metric_role role;
		double value;
	} values[] = {
		{METRIC_global_atom_instructions, counts->atom_instructions},
		{METRIC_global_red_instructions, counts->red_instructions},
		{METRIC_shared_atom_instructions, counts->shared_instructions},
		{METRIC_l2_atom_requests, counts->atom_requests},
		{METRIC_l2_red_requests, counts->red_requests},
		{METRIC_l2_cas_requests, counts->cas_requests},
		{METRIC_l2_atom_sectors, counts->atom_sectors},
		{METRIC_l2_red_sectors, counts->red_sectors},
		{METRIC_atomic_unit_cycles, counts->unit_cycles},
		{METRIC_atomic_unit_cycles_max, counts->unit_max},
		{METRIC_atomic_unit_cycles_mean, counts->unit_mean},
		/* a range lasts longer than its launch */
		{METRIC_l2_cycles, counts->l2_cycles * 3},
		{METRIC_range_ns, (double)counts->duration_ns * 3},
		{METRIC_dram_read_bytes, counts->dram_bytes},
		{METRIC_l2_bytes, counts->l2_bytes},
	};

	for (int i = 0; i < launch_count; i++)
		builder_op(b, OP_KERNEL, 0, signature, 1000 + i * counts->duration_ns,
			   1000 + (i + 1) * counts->duration_ns, PROFILE_NONE);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		builder_counter(b, false, signature, values[i].role, i + 1, values[i].value);
	fixture_count_nothing_else(b, signature, 1);
	return fixture_place(builder_finish(b), ceilings);
}

/* 2^20 reductions: to one address, to 64 neighbors, to 2^20 addresses over all of 96 slices. */
static const struct counts one_address = {.duration_ns = 860000,
					  .red_instructions = 32768,
					  .red_requests = 1048576,
					  .red_sectors = 1048576,
					  .unit_cycles = 1048576,
					  .unit_max = 1048576,
					  .unit_mean = 1048576 / 96.,
					  .l2_cycles = 1228571};
static const struct counts neighbors = {.duration_ns = 200000,
					.red_instructions = 32768,
					.red_requests = 65536,
					.red_sectors = 262144,
					.unit_cycles = 262144,
					.unit_max = 262144,
					.unit_mean = 262144 / 96.,
					.l2_cycles = 290000};
static const struct counts spread = {.duration_ns = 14000,
				     .red_instructions = 32768,
				     .red_requests = 1048576,
				     .red_sectors = 1048576,
				     .unit_cycles = 1048576,
				     .unit_max = 11000,
				     .unit_mean = 1048576 / 96.,
				     .l2_cycles = 28000};

/* Of all SMs, on one word of each block and on 64. */
static const struct ceiling shared_rows[] = {
	{.id = CEILING_atomic_shared_add, .parameter = 1, .value = 250e9},
	{.id = CEILING_atomic_shared_add, .parameter = 64, .value = 6000e9},
	{.id = CEILING_atomic_shared_cas, .parameter = 1, .value = 125e9},
};

static void test_counts(void **state)
{
	const struct counts counts = {.duration_ns = 1000,
				      .atom_instructions = 30,
				      .red_instructions = 70,
				      .shared_instructions = 5,
				      .atom_requests = 300,
				      .red_requests = 100,
				      .cas_requests = 100,
				      .atom_sectors = 600,
				      .red_sectors = 400,
				      .unit_cycles = 1200,
				      .unit_max = 400,
				      .unit_mean = 100,
				      .l2_cycles = 1600};
	struct builder *b = builder_new(1, 1);
	struct placed placed = place(b, &counts, 3, NULL);
	const struct atomics_kernel *kernel = placed.atomics->kernels;

	(void)state;
	assert_int_equal(placed.atomics->kernel_count, 1);
	assert_true(placed.atomics->is_asked);
	assert_string_equal(kernel->name, "k");
	assert_int_equal(kernel->launch_count, 3);
	assert_near(kernel->duration_ns, 1000);
	assert_near(kernel->global_instructions, 100);
	assert_near(kernel->returned_share, 0.3);
	assert_near(kernel->shared_instructions, 5);
	assert_near(kernel->requests, 400);
	assert_near(kernel->sectors, 1000);
	assert_near(kernel->sectors_per_request, 2.5);
	assert_near(kernel->requests_per_instruction, 4);
	assert_near(kernel->cas_share, 0.25);
	assert_near(kernel->unit_share, 0.0625);
	assert_near(kernel->hottest_share, 0.25);
	assert_near(kernel->slice_ratio, 4);
	assert_near(kernel->busy_slices, 3);
	assert_near(kernel->explained_ns, 250);
	assert_true(kernel->ceiling_ns == ATOMICS_UNKNOWN);
	assert_near(kernel->other_ns, 750);
	assert_int_equal(kernel->batch, 1);
	assert_false(kernel->is_bottleneck);
	assert_int_equal(kernel->least_sample_count, 1);
	assert_int_equal(kernel->most_sample_count, 12);
	fixture_placed_free(&placed);
	free(b);
}

static void test_measured(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	const struct counts *const counts[] = {&one_address, &neighbors, &spread};
	/* 1.25e9 sectors/s a slice; the third is 95.3 slices at once, but no more than 80e9/s */
	static const double ceiling_ns[] = {838861, 209715, 13107};
	static const double sectors_per_request[] = {1, 4, 1};
	static const double busy_slices[] = {1, 1, 95.325};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct builder *b = builder_new(1, 1);
		struct placed placed = place(b, counts[i], 1, ceilings);
		const struct atomics_kernel *kernel = placed.atomics->kernels;

		assert_about(kernel->ceiling_ns, ceiling_ns[i], 1e-4);
		assert_near(kernel->sectors_per_request, sectors_per_request[i]);
		assert_about(kernel->busy_slices, busy_slices[i], 1e-4);
		assert_int_equal(kernel->is_bottleneck, i != 2);
		fixture_placed_free(&placed);
		free(b);
	}
	ceilings_free(ceilings);
}

/* By cycles 734,003 ns of 860,000 are explained, by the ceiling of one address 838,861.  With a result, the other
 * 21,139 are reached at 1/64 of the atomics. */
static void test_batch(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	const struct atomics_kernel *kernel;
	struct placed placed;

	(void)state;
	counts.atom_instructions = counts.red_instructions;
	counts.red_instructions = 0;
	placed = place(b, &counts, 1, ceilings);
	kernel = placed.atomics->kernels;
	assert_about(kernel->explained_ns, 838861, 1e-5);
	assert_about(kernel->other_ns, 21139, 1e-4);
	assert_int_equal(kernel->batch, 64);
	assert_true(kernel->is_bottleneck);
	assert_int_equal(placed.roofline->kernels[0].regime, ROOFLINE_ATOMIC_BOUND);
	assert_int_equal(placed.roofline->kernels[0].binding, ROOF_atomic_unit);
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

/* Reductions that bind a kernel run as long as it does: beside them nothing but an empty kernel's 800 ns is known.
 * What the ceiling does not explain is the rest's at the low end. */
static void test_batch_of_reductions(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct placed placed = place(b, &one_address, 1, ceilings);
	const struct atomics_kernel *kernel = placed.atomics->kernels;

	(void)state;
	assert_about(kernel->explained_ns, 838861, 1e-5);
	assert_near(kernel->other_ns, 800);
	assert_near(kernel->least_other_ns, 800);
	assert_about(kernel->most_other_ns, 21139, 1e-4);
	assert_int_equal(kernel->batch, 2048);
	for (int i = 0; i < 2; i++) {
		const enum atomics_merging where = i ? ATOMICS_IN_BLOCKS : ATOMICS_IN_THREADS;

		assert_near(atomics_merged_ns(kernel, where, 64, ATOMICS_MIDDLE), 860000. / 64);
		assert_near(atomics_merged_ns(kernel, where, 2048, ATOMICS_MIDDLE), 800);
		assert_near(atomics_merged_ns(kernel, where, 64, ATOMICS_LEAST), 860000. / 32);
		assert_about(atomics_merged_ns(kernel, where, 2048, ATOMICS_LEAST), 21139, 1e-4);
		assert_near(atomics_merged_ns(kernel, where, 2048, ATOMICS_MOST), 800);
	}
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

/* 80 blocks of 256 threads, of which two SMs of 64 warps hold 16: four waves after the first.  Of smaller blocks than any
 * that was measured each wave takes what an empty kernel does. */
static void test_waves_of_blocks(void **state)
{
	static const struct ceiling rows[] = {
		{.id = CEILING_block_wave, .parameter = 128, .value = 600},
		{.id = CEILING_block_wave, .parameter = 512, .value = 150}};
	struct ceilings *ceilings = fixture_ceilings();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &rows[i]), 0);
	for (uint32_t threads = 64; threads <= 256; threads *= 4) {
		struct builder *b = builder_new(1, 1);
		struct profile_device *device = &b->devices[0];
		struct profile_signature *launch = &b->signatures[builder_signature(b, "k", 1)];
		struct placed placed;

		device->compute_major = 9;
		device->sm_count = 2;
		device->max_warps_per_sm = 64;
		device->max_blocks_per_sm = 8;
		device->max_registers_per_sm = 65536;
		device->max_shared_bytes_per_sm = 233472;
		launch->grid[1] = 80;
		launch->block[0] = threads;
		placed = place(b, &one_address, 1, ceilings);
		assert_near(placed.atomics->kernels[0].other_ns,
			    800 + 4 * (threads < 128 ? 800 : 600));
		assert_near(placed.atomics->kernels[0].least_other_ns, 800);
		fixture_placed_free(&placed);
		free(b);
	}
	ceilings_free(ceilings);
}

/* Half of both: half of the 21,139 ns that are not explained is the rest's. */
static void test_batch_of_both(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	const struct atomics_kernel *kernel;
	struct placed placed;

	(void)state;
	counts.atom_instructions = counts.red_instructions;
	placed = place(b, &counts, 1, ceilings);
	kernel = placed.atomics->kernels;
	assert_near(kernel->returned_share, 0.5);
	assert_about(kernel->other_ns, 21139 / 2., 1e-4);
	assert_int_equal(kernel->batch, 128);
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

/* Reductions that do not bind a kernel run beside what takes all the time. */
static void test_reductions_beside(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	struct placed placed;

	(void)state;
	counts.unit_max = 0.4 * counts.l2_cycles;
	placed = place(b, &counts, 1, NULL);
	assert_false(placed.atomics->kernels[0].is_bottleneck);
	assert_near(placed.atomics->kernels[0].other_ns, 0.6 * 860000);
	fixture_placed_free(&placed);
	free(b);
}

/* 64 MiB of L2, of which atomics' sectors are a half: at its roof each takes as long.  Merged in blocks, N times fewer
 * are left of that half. */
static void test_other_without_sectors(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	const struct atomics_kernel *kernel;
	struct placed placed;

	(void)state;
	counts.l2_bytes = 2 * 32 * counts.red_sectors;
	placed = place(b, &counts, 1, ceilings);
	kernel = placed.atomics->kernels;
	assert_near(kernel->other_ns, counts.l2_bytes / placed.roofline->roofs[ROOF_l2] * 1e9);
	assert_near(kernel->least_other_ns, kernel->other_ns / 2);
	assert_near(atomics_merged_ns(kernel, ATOMICS_IN_THREADS, 1024, ATOMICS_MIDDLE),
		    kernel->other_ns);
	assert_near(atomics_merged_ns(kernel, ATOMICS_IN_BLOCKS, 1024, ATOMICS_MIDDLE),
		    kernel->other_ns * (0.5 + 0.5 / 1024));
	assert_int_equal(kernel->batch, 256); /* 860,000 / 128 are still more than the rest then */
	assert_int_equal(kernel->most_batch, 256);
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

/* Another roof that needs 200,000 ns leaves room for an eighth of the atomics. */
static void test_batch_beside_memory(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	struct placed placed;

	(void)state;
	counts.dram_bytes = 8e8;
	placed = place(b, &counts, 1, ceilings);
	assert_about(placed.atomics->kernels[0].other_ns, 200000, 1e-9);
	assert_int_equal(placed.atomics->kernels[0].batch, 8);
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

static void test_memory_first(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	struct placed placed;

	(void)state;
	counts.dram_bytes = 4e12 * 860e-6 * 0.99; /* of DRAM, 98% of the atomic unit */
	placed = place(b, &counts, 1, ceilings);
	assert_false(placed.atomics->kernels[0].is_bottleneck);
	assert_int_equal(placed.atomics->kernels[0].batch, 1);
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

/* All of the time explained: an empty kernel's time is what is left, and without it nothing is said. */
static void test_batch_without_rest(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1), *other = builder_new(1, 1);
	struct counts counts = one_address;
	struct placed placed;

	(void)state;
	counts.unit_max = counts.l2_cycles * 1.5; /* rounding and passes apart: at most all of it */
	placed = place(b, &counts, 1, ceilings);
	assert_near(placed.atomics->kernels[0].hottest_share, 1);
	assert_near(placed.atomics->kernels[0].other_ns, 800);
	assert_int_equal(placed.atomics->kernels[0].batch, 2048);
	fixture_placed_free(&placed);
	placed = place(other, &counts, 1, NULL);
	assert_near(placed.atomics->kernels[0].other_ns, 0);
	assert_int_equal(placed.atomics->kernels[0].batch, 0);
	fixture_placed_free(&placed);
	free(b);
	free(other);
	ceilings_free(ceilings);
}

static void test_cas(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	struct counts counts = one_address;
	struct placed placed;

	(void)state;
	counts.red_requests = counts.red_sectors = 0;
	counts.atom_requests = counts.atom_sectors = 1e6;
	counts.unit_cycles = counts.unit_max = 1e6;
	counts.cas_requests = 5e5;
	placed = place(b, &counts, 1, ceilings);
	/* half at 1.25e9/s, half at 1e9/s */
	assert_near(placed.atomics->kernels[0].ceiling_ns, 1e9 * (0.5e6 / 1.25e9 + 0.5e6 / 1e9));
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

static void test_unknown(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct builder *b = builder_new(1, 1);
	uint32_t signature = builder_signature(b, "k", 1), none = builder_signature(b, "none", 1);
	const struct atomics_kernel *kernel;
	struct placed placed;

	(void)state;
	builder_op(b, OP_KERNEL, 0, signature, 1000, 2000, PROFILE_NONE)->counted = COUNTED_PATCHED;
	builder_op(b, OP_KERNEL, 0, none, 3000, 4000, PROFILE_NONE);
	builder_counter(b, false, signature, METRIC_shared_atom_instructions, 1, 10);
	builder_counter(b, false, signature, METRIC_l2_atom_requests, 1, 10);
	builder_counter(b, false, none, METRIC_shared_atom_instructions, 1, 0);
	placed = fixture_place(builder_finish(b), ceilings);
	assert_int_equal(placed.atomics->kernel_count, 1); /* no atomics, no row */
	kernel = placed.atomics->kernels;
	assert_near(kernel->shared_instructions, 10);
	assert_true(kernel->duration_ns == ATOMICS_UNKNOWN);
	assert_true(kernel->returned_share == ATOMICS_UNKNOWN);
	assert_true(kernel->requests == ATOMICS_UNKNOWN && kernel->sectors == ATOMICS_UNKNOWN);
	assert_true(kernel->sectors_per_request == ATOMICS_UNKNOWN);
	assert_true(kernel->cas_share == ATOMICS_UNKNOWN);
	assert_true(kernel->hottest_share == ATOMICS_UNKNOWN);
	assert_true(kernel->explained_ns == ATOMICS_UNKNOWN);
	assert_true(kernel->ceiling_ns == ATOMICS_UNKNOWN && kernel->other_ns == ATOMICS_UNKNOWN);
	assert_int_equal(kernel->batch, 0);
	assert_true(atomics_merged_ns(kernel, ATOMICS_IN_BLOCKS, 8, ATOMICS_MIDDLE) ==
		    ATOMICS_UNKNOWN);
	assert_false(kernel->is_bottleneck);
	fixture_placed_free(&placed);
	free(b);
	ceilings_free(ceilings);
}

static void test_not_asked(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct placed placed;

	(void)state;
	builder_metric(b, "counter", METRIC_l2_bytes);
	builder_metric(b, "", METRIC_l2_atom_requests);
	placed = fixture_place(builder_finish(b), NULL);
	assert_false(placed.atomics->is_asked);
	fixture_placed_free(&placed);
	free(b);
}

/* The batch grows with the atomics and never falls: twice as many need at most twice the batch. */
static void test_batch_grows(void **state)
{
	uint64_t before = 0;

	(void)state;
	for (int i = 1; i <= 10; i++) {
		struct builder *b = builder_new(1, 1);
		struct counts counts = {.duration_ns = 10000 + 10000 * (1 << i),
					.atom_instructions = 1,
					.red_requests = 1,
					.red_sectors = 1,
					.unit_cycles = 1 << i,
					.unit_max = 1 << i,
					.unit_mean = 1,
					.l2_cycles = 1 + (1 << i)};
		struct placed placed = place(b, &counts, 1, NULL);
		uint64_t batch = placed.atomics->kernels[0].batch;

		assert_true(batch == (uint64_t)1 << i || batch == (uint64_t)2 << i);
		assert_true(batch > before);
		before = batch;
		fixture_placed_free(&placed);
		free(b);
	}
}

/* ---- merged ---- */

/* In threads, in blocks, where the rest takes 100 of 1000 ns. */
static double merged_ns(enum atomics_merging where, double returned_share, uint64_t batch)
{
	const struct atomics_kernel kernel = {.duration_ns = 1000,
					      .explained_ns = 960,
					      .other_ns = 100,
					      .kept_other_ns = 100,
					      .is_bottleneck = true,
					      .returned_share = returned_share};

	return atomics_merged_ns(&kernel, where, batch, ATOMICS_MIDDLE);
}

/* Of 1000 ns 960 are explained by atomics that return a result, all by reductions. */
static void test_merged(void **state)
{
	(void)state;
	assert_near(merged_ns(ATOMICS_IN_THREADS, 0, 8), 125);
	assert_near(merged_ns(ATOMICS_IN_THREADS, 0, 16), 100); /* the rest is left */
	assert_near(merged_ns(ATOMICS_IN_THREADS, 0, ATOMICS_BATCH_MOST), 100);
	assert_near(merged_ns(ATOMICS_IN_THREADS, 1, 8), 220);
	assert_near(merged_ns(ATOMICS_IN_THREADS, 1, 16), 160);
	assert_near(merged_ns(ATOMICS_IN_THREADS, 0.25, 8), 990 / 8. + 25);
	assert_near(merged_ns(ATOMICS_IN_THREADS, 0.25, 16), 100 + 990 / 64.);
}

/* While a leader waits for the result other warps run. */
static void test_merged_in_blocks(void **state)
{
	(void)state;
	assert_near(merged_ns(ATOMICS_IN_BLOCKS, 0, 8), 125);
	assert_near(merged_ns(ATOMICS_IN_BLOCKS, 1, 8), 120);
	assert_near(merged_ns(ATOMICS_IN_BLOCKS, 0.25, 8), 990 / 8.);
	assert_near(merged_ns(ATOMICS_IN_BLOCKS, 1, 16), 100);
}

static void test_merged_unknown(void **state)
{
	(void)state;
	assert_near(merged_ns(ATOMICS_IN_THREADS, ATOMICS_UNKNOWN, 8), 220);
}

/* Adds in shared memory take 300 of 1000 ns on one word, 60 where lanes differ; what is left of the others is beside them. */
static void test_merged_in_shared(void **state)
{
	struct atomics_kernel kernel = {.duration_ns = 1000,
					.explained_ns = 960,
					.other_ns = 100,
					.kept_other_ns = 100,
					.least_other_ns = 50,
					.most_other_ns = 150,
					.shared_ns = 300,
					.least_shared_ns = 60,
					.is_bottleneck = true};

	(void)state;
	assert_near(atomics_merged_ns(&kernel, ATOMICS_IN_SHARED, 2, ATOMICS_MIDDLE), 500);
	assert_near(atomics_merged_ns(&kernel, ATOMICS_IN_SHARED, 8, ATOMICS_MIDDLE), 300);
	/* four in one, or the rest, and nothing beside the adds: at most what it took */
	assert_near(atomics_merged_ns(&kernel, ATOMICS_IN_SHARED, 8, ATOMICS_LEAST), 300 + 250);
	assert_near(atomics_merged_ns(&kernel, ATOMICS_IN_SHARED, 2, ATOMICS_LEAST), 1000);
	assert_near(atomics_merged_ns(&kernel, ATOMICS_IN_SHARED, 100, ATOMICS_MOST), 60);
	kernel.shared_ns = ATOMICS_UNKNOWN;
	assert_true(atomics_merged_ns(&kernel, ATOMICS_IN_SHARED, 8, ATOMICS_MIDDLE) ==
		    ATOMICS_UNKNOWN);
	assert_near(atomics_merged_ns(&kernel, ATOMICS_IN_BLOCKS, 8, ATOMICS_MIDDLE), 125);
}

/* What they take in shared memory, and what at best. */
static void expect_shared(const struct counts *counts, const struct ceilings *ceilings,
			  double shared_ns, double least_ns)
{
	struct builder *b = builder_new(1, 1);
	struct placed placed = place(b, counts, 1, ceilings);

	assert_near(placed.atomics->kernels[0].shared_ns, shared_ns);
	assert_near(placed.atomics->kernels[0].least_shared_ns, least_ns);
	fixture_placed_free(&placed);
	free(b);
}

/* 2^20 adds; those that keep 95 slices busy go to more than 64 words. */
static void test_shared_ceilings(void **state)
{
	struct ceilings *ceilings = fixture_ceilings();
	struct counts swaps = one_address;

	(void)state;
	expect_shared(&one_address, ceilings, ATOMICS_UNKNOWN, ATOMICS_UNKNOWN);
	for (size_t i = 0; i < sizeof(shared_rows) / sizeof(shared_rows[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &shared_rows[i]), 0);
	expect_shared(&one_address, ceilings, 1048576 / 250., 1048576 / 6000.);
	expect_shared(&spread, ceilings, 1048576 / 6000., 1048576 / 6000.);
	/* half of them compare and swap, at the rate of one word */
	swaps.cas_requests = swaps.red_requests / 2;
	expect_shared(&swaps, ceilings, 524288 / 250. + 524288 / 125.,
		      524288 / 6000. + 524288 / 125.);
	expect_shared(&one_address, NULL, ATOMICS_UNKNOWN, ATOMICS_UNKNOWN);
	ceilings_free(ceilings);
}

/* However atomics and the rest overlapped, no launch gets longer. */
static void test_merged_most(void **state)
{
	double before = 1000;

	(void)state;
	assert_near(merged_ns(ATOMICS_IN_THREADS, 1, 1), 1000);
	for (uint64_t batch = 2; batch <= ATOMICS_BATCH_MOST; batch *= 2) {
		double now = merged_ns(ATOMICS_IN_THREADS, 0.5, batch);

		assert_true(now <= before && now >= 100);
		before = now;
	}
}

/* ---- in a report ---- */

static void test_report(void **state)
{
	struct fixture fixture;
	struct report *report = NULL;
	struct err err = {""};

	(void)state;
	fixture_small(&fixture);
	if (report_build(&report, fixture.path, &err) < 0)
		fail_msg("%s", err.text);
	assert_non_null(report->roofline);
	assert_non_null(report->atomics);
	assert_null(report->ceilings);
	assert_false(report->roofline->has_ceilings);
	assert_int_equal(report->roofline->graph_count, 1);
	assert_int_equal(report_set_ceilings(report, fixture_ceilings(), &err), 0);
	assert_true(report->roofline->has_ceilings);
	assert_near(report->roofline->roofs[ROOF_dram], 4e12);
	assert_int_equal(report_set_ceilings(report, NULL, &err), 0);
	assert_false(report->roofline->has_ceilings);
	report_free(report);
	fixture_remove(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("counts, shares and spread of atomics", test_counts),
		SENTENCE("ceilings explain what an H200 measured", test_measured),
		SENTENCE("a batch makes room for the rest of the kernel", test_batch),
		SENTENCE("the time of reductions that bind a kernel is theirs alone",
			 test_batch_of_reductions),
		SENTENCE("each wave of its blocks takes what ceilings measured of empty ones",
			 test_waves_of_blocks),
		SENTENCE("a kernel of both sorts lies between, in proportion", test_batch_of_both),
		SENTENCE(
			"reductions that do not bind a kernel leave it all that they do not explain",
			test_reductions_beside),
		SENTENCE("at best the bytes of atomics' own sectors go with them",
			 test_other_without_sectors),
		SENTENCE("a roof beside the atomics limits the batch", test_batch_beside_memory),
		SENTENCE("atomics below another roof are no bottleneck", test_memory_first),
		SENTENCE("a kernel of nothing but atomics is left an empty kernel's time",
			 test_batch_without_rest),
		SENTENCE("compare-and-swap has a ceiling of its own", test_cas),
		SENTENCE("what was not counted is unknown and never guessed", test_unknown),
		SENTENCE("counters that are not of atomics ask for none", test_not_asked),
		SENTENCE("more atomics need a larger batch", test_batch_grows),
		SENTENCE("merged reductions run beside the rest, what returns a result before it",
			 test_merged),
		SENTENCE("merged in blocks both run beside the rest", test_merged_in_blocks),
		SENTENCE("adds in shared memory take their own time, beside which the rest runs",
			 test_merged_in_shared),
		SENTENCE("adds in shared memory take what ceilings measured of as many words",
			 test_shared_ceilings),
		SENTENCE("what is not known to be a reduction is waited for", test_merged_unknown),
		SENTENCE("a larger batch never takes longer, and none longer than before",
			 test_merged_most),
		SENTENCE("a report takes ceilings and gives them back", test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
