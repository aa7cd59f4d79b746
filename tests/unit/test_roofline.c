/* Where kernels, graphs and the application stand under their roofs, by numbers worked out by hand. */
#define _GNU_SOURCE

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture_roofs.h"

#define assert_near(value, expected) assert_near_at(value, expected, __LINE__)

static void assert_near_at(double value, double expected, int line)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1e-300, fabs(expected))))
		fail_msg("line %d: %.17g is not %.17g", line, value, expected);
}

/* One process, one device; kernels follow each other with nothing between them. */
struct scene {
	struct builder *b;
	struct ceilings *ceilings;
	struct placed placed;
	int64_t now_ns;
};

static struct scene scene_new(void)
{
	return (struct scene){.b = builder_new(1, 1),
			      .ceilings = fixture_ceilings(),
			      .now_ns = 1000000};
}

static struct profile_op *scene_kernel(struct scene *scene, uint32_t signature, int64_t ns)
{
	struct profile_op *op = builder_op(scene->b, OP_KERNEL, 0, signature, scene->now_ns,
					   scene->now_ns + ns, PROFILE_NONE);

	scene->now_ns += ns;
	return op;
}

static void scene_count(struct scene *scene, uint32_t signature, enum metric_role role,
			double value)
{
	builder_counter(scene->b, false, signature, role, 1, value);
}

static const struct roofline *scene_place(struct scene *scene)
{
	fixture_placed_free(&scene->placed);
	scene->placed = fixture_place(builder_finish(scene->b), scene->ceilings);
	return scene->placed.roofline;
}

static void scene_free(struct scene *scene)
{
	fixture_placed_free(&scene->placed);
	ceilings_free(scene->ceilings);
	free(scene->b);
}

/* ---- quantities ---- */

static void test_weights(void **state)
{
	static const struct {
		enum metric_role role;
		double value;
	} counts[] = {
		{METRIC_fp64_add, 1},		{METRIC_fp64_mul, 2},
		{METRIC_fp64_fma, 3},		{METRIC_fp32_add, 10},
		{METRIC_fp32_mul, 20},		{METRIC_fp32_fma, 30},
		{METRIC_fp16_add, 100},		{METRIC_fp16_mul, 200},
		{METRIC_fp16_fma, 300},		{METRIC_tensor_fp64_ops, 1000},
		{METRIC_tensor_tf32_ops, 2000}, {METRIC_tensor_bf16_ops, 3000},
		{METRIC_tensor_fp16_ops, 4000}, {METRIC_tensor_fp8_ops, 5000},
		{METRIC_tensor_int8_ops, 6000}, {METRIC_dram_read_bytes, 100},
		{METRIC_dram_write_bytes, 50},	{METRIC_l2_bytes, 400},
		{METRIC_l1_bytes, 700},		{METRIC_shared_bytes, 900},
	};
	static const double totals[] = {
		[ROOF_dram] = 150,	   [ROOF_l2] = 400,	      [ROOF_l1] = 700,
		[ROOF_shared] = 900,	   [ROOF_fp64] = 9,	      [ROOF_fp32] = 90,
		[ROOF_fp16] = 1800,	   [ROOF_tensor_fp64] = 1000, [ROOF_tensor_tf32] = 2000,
		[ROOF_tensor_bf16] = 3000, [ROOF_tensor_fp16] = 4000, [ROOF_tensor_fp8] = 5000,
		[ROOF_tensor_int8] = 6000};
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	struct profile_machine_code code = {.kernel = scene.b->signatures[signature].kernel,
					    .sm = 90,
					    .half_arithmetic_count = 1};
	const struct roofline_point *point;

	(void)state;
	scene.b->devices[0].compute_major = 9;
	scene.b->profile.machine_codes = &code;
	scene.b->profile.machine_code_count = 1;
	scene_kernel(&scene, signature, 1000);
	scene_kernel(&scene, signature, 3000);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		scene_count(&scene, signature, counts[i].role, counts[i].value);
	point = scene_place(&scene)->kernels;
	for (int i = 0; i < ROOF_COMPUTE_END; i++) {
		assert_int_equal(point->quantities[i].state, ROOFLINE_KNOWN);
		assert_near(point->quantities[i].per_launch, totals[i]);
		assert_near(point->quantities[i].total, 2 * totals[i]);
		assert_near(point->quantities[i].per_s, 2 * totals[i] / 4e-6);
	}
	assert_near(point->flops, 2 * 22899);
	assert_near(point->flop_per_s, 2 * 22899 / 4e-6);
	assert_near(point->intensity[ROOF_dram], 22899 / 150.);
	assert_near(point->intensity[ROOF_l1], 22899 / 700.);
	assert_near(point->intensity[ROOF_l2], 22899 / 400.);
	assert_true(point->is_counted && point->has_flops && !point->has_uncounted_tensor);
	assert_int_equal(scene.placed.roofline->counted_kernel_count, 1);
	scene_free(&scene);
}

static void test_signatures(void **state)
{
	struct scene scene = scene_new();
	uint32_t small = builder_signature(scene.b, "k", 1);
	uint32_t large = builder_signature(scene.b, "k", 2);
	uint32_t other = builder_signature(scene.b, "other", 1);
	const struct roofline_point *point;

	(void)state;
	for (int i = 0; i < 3; i++)
		scene_kernel(&scene, small, 100);
	scene_kernel(&scene, large, 700);
	scene_kernel(&scene, other, 100);
	builder_counter(scene.b, false, small, METRIC_l2_bytes, 5, 10);
	builder_counter(scene.b, false, large, METRIC_l2_bytes, 1, 100);
	builder_counter(scene.b, false, other, METRIC_l2_bytes, 1, 4);
	builder_counter(scene.b, false, large, METRIC_shared_bytes, 2, 7);
	scene_place(&scene);
	point = fixture_point(&scene.placed, "k");
	assert_int_equal(point->launch_count, 4);
	assert_near(point->time_ns, 1000);
	assert_near(point->quantities[ROOF_l2].total, 130);
	assert_near(point->quantities[ROOF_l2].per_launch, 32.5);
	/* shared memory was seen in 700 of 1000 ns: the rest is taken to go on like that */
	assert_near(point->quantities[ROOF_shared].total, 10);
	assert_near(point->covered_share, 0.7);
	assert_int_equal(point->least_sample_count, 2);
	assert_int_equal(point->most_sample_count, 6);
	assert_near(scene.placed.roofline->application.quantities[ROOF_l2].total, 134);
	assert_near(scene.placed.roofline->application.time_ns, 1100);
	assert_int_equal(scene.placed.roofline->application.launch_count, 5);
	scene_free(&scene);
}

static void test_two_metrics_of_a_role(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, signature, 100);
	builder_counter(scene.b, false, signature, METRIC_l2_bytes, 1, 100);
	builder_counter(scene.b, false, signature, METRIC_l2_bytes, 3, 200)->metric =
		builder_metric(scene.b, "the other part", METRIC_l2_bytes);
	point = scene_place(&scene)->kernels;
	assert_near(point->quantities[ROOF_l2].total, 300);
	assert_int_equal(point->most_sample_count, 1);
	scene_free(&scene);
}

static void test_timed_launches(void **state)
{
	struct scene scene = scene_new();
	uint32_t plain = builder_signature(scene.b, "plain", 1);
	uint32_t counted = builder_signature(scene.b, "counted", 1);
	uint32_t patched = builder_signature(scene.b, "patched", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, plain, 100);
	scene_kernel(&scene, plain, 300);
	scene_kernel(&scene, plain, 5000)->counted = COUNTED;
	scene_kernel(&scene, plain, 90000)->counted = COUNTED_PATCHED;
	scene_kernel(&scene, counted, 5000)->counted = COUNTED;
	scene_kernel(&scene, counted, 90000)->counted = COUNTED_PATCHED;
	scene_kernel(&scene, patched, 90000)->counted = COUNTED_PATCHED;
	scene_count(&scene, plain, METRIC_l2_bytes, 100);
	scene_count(&scene, patched, METRIC_l2_bytes, 100);
	scene_place(&scene);
	point = fixture_point(&scene.placed, "plain");
	assert_near(point->time_ns, 800);
	assert_int_equal(point->timed_count, 2);
	assert_int_equal(point->launch_count, 4);
	assert_near(point->quantities[ROOF_l2].per_s, 400 / 800e-9);
	point = fixture_point(&scene.placed, "counted");
	assert_near(point->time_ns, 10000);
	assert_int_equal(point->timed_count, 1);
	point = fixture_point(&scene.placed, "patched");
	assert_int_equal(point->timed_count, 0);
	assert_true(point->time_ns == 0 && point->quantities[ROOF_l2].per_s == 0);
	assert_near(point->quantities[ROOF_l2].total, 100);
	assert_int_equal(point->binding, ROOF_NONE);
	scene_free(&scene);
}

/* A signature without timed launches takes the mean of its kernel. */
static void test_untimed_signature(void **state)
{
	struct scene scene = scene_new();
	uint32_t timed = builder_signature(scene.b, "k", 1);
	uint32_t patched = builder_signature(scene.b, "k", 2);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, timed, 100);
	scene_kernel(&scene, timed, 100);
	scene_kernel(&scene, patched, 90000)->counted = COUNTED_PATCHED;
	scene_count(&scene, timed, METRIC_l2_bytes, 10);
	scene_count(&scene, patched, METRIC_l2_bytes, 1000000);
	point = scene_place(&scene)->kernels;
	assert_near(point->time_ns, 300);
	assert_near(point->quantities[ROOF_l2].per_s, 10 / 100e-9);
	assert_near(point->covered_share, 2 / 3.);
	scene_free(&scene);
}

static void test_states(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	uint32_t other = builder_signature(scene.b, "other", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, signature, 100);
	scene_kernel(&scene, other, 100);
	scene_count(&scene, signature, METRIC_dram_read_bytes, 10);
	scene_count(&scene, other, METRIC_dram_write_bytes, 10);
	scene_count(&scene, signature, METRIC_fp32_add, 10);
	scene_count(&scene, signature, METRIC_fp32_mul, 10);
	builder_metric(scene.b, "", METRIC_fp32_fma);
	builder_metric(scene.b, "", METRIC_l1_bytes);
	scene_count(&scene, signature, METRIC_l2_bytes, 0);
	scene_place(&scene);
	point = fixture_point(&scene.placed, "k");
	assert_int_equal(point->quantities[ROOF_dram].state, ROOFLINE_NOT_SAMPLED);
	assert_true(point->quantities[ROOF_dram].total == 0);
	assert_int_equal(point->quantities[ROOF_fp32].state, ROOFLINE_NOT_ON_CHIP);
	assert_true(point->quantities[ROOF_fp32].total == 0 && !point->has_flops);
	assert_int_equal(point->quantities[ROOF_l1].state, ROOFLINE_NOT_ON_CHIP);
	assert_int_equal(point->quantities[ROOF_shared].state, ROOFLINE_NOT_ASKED);
	assert_int_equal(point->quantities[ROOF_l2].state, ROOFLINE_KNOWN);
	assert_int_equal(point->regime, ROOFLINE_UNKNOWN_BOUND);
	scene_free(&scene);
}

static void test_unrecorded(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, signature, 100);
	scene_kernel(&scene, signature, 100);
	scene_count(&scene, signature, METRIC_dram_read_bytes, 10);
	fixture_count_nothing_else(scene.b, signature, 1);
	scene.b->profile.signatures[signature].unrecorded_count = 3;
	point = scene_place(&scene)->kernels;
	assert_int_equal(point->launch_count, 5);
	assert_near(point->time_ns, 500);
	assert_near(point->quantities[ROOF_dram].total, 50);
	assert_int_equal(scene.placed.roofline->application.launch_count, 5);
	scene_free(&scene);
}

static void test_uncounted_tensor(void **state)
{
	struct scene scene = scene_new();
	uint32_t hidden = builder_signature(scene.b, "hidden", 1);
	uint32_t seen = builder_signature(scene.b, "seen", 1);
	uint32_t constants = builder_signature(scene.b, "constants", 1);

	(void)state;
	scene_kernel(&scene, hidden, 100);
	scene_kernel(&scene, seen, 100);
	scene_count(&scene, hidden, METRIC_tensor_instructions, 10);
	scene_count(&scene, hidden, METRIC_fp16_fma, 32); /* one HFMA2.MMA explains one of them */
	scene_count(&scene, hidden, METRIC_tensor_bf16_ops, 0);
	scene_kernel(&scene, constants, 100);
	scene_count(&scene, constants, METRIC_tensor_instructions, 10);
	scene_count(&scene, constants, METRIC_fp16_fma, 320);
	scene_count(&scene, seen, METRIC_tensor_instructions, 10);
	scene_count(&scene, seen, METRIC_tensor_bf16_ops, 10);
	scene_place(&scene);
	assert_true(fixture_point(&scene.placed, "hidden")->has_uncounted_tensor);
	assert_false(fixture_point(&scene.placed, "seen")->has_uncounted_tensor);
	assert_false(fixture_point(&scene.placed, "constants")->has_uncounted_tensor);
	scene_free(&scene);
}

/* The types are added to a rotation when a kernel was seen to need them, and that may be too late. */
static void test_tensor_types_without_a_pass(void **state)
{
	struct scene scene = scene_new();
	uint32_t hidden = builder_signature(scene.b, "hidden", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, hidden, 100);
	scene_count(&scene, hidden, METRIC_tensor_instructions, 10);
	scene_count(&scene, hidden, METRIC_fp16_fma, 32);
	scene_place(&scene);
	point = fixture_point(&scene.placed, "hidden");
	assert_int_equal(point->quantities[ROOF_tensor_bf16].state, ROOFLINE_NOT_SAMPLED);
	assert_int_equal(point->quantities[ROOF_shared].state, ROOFLINE_NOT_ASKED);
	scene_free(&scene);
}

/* ---- shares ---- */

/* A kernel of 1 ms that reads so many bytes. */
static const struct roofline_point *read_bytes(struct scene *scene, double bytes)
{
	uint32_t signature = builder_signature(scene->b, "k", 1);

	scene_kernel(scene, signature, 1000000);
	scene_count(scene, signature, METRIC_dram_read_bytes, bytes);
	fixture_count_nothing_else(scene->b, signature, 1);
	return scene_place(scene)->kernels;
}

static void test_wrong(void **state)
{
	struct scene right = scene_new(), wrong = scene_new();
	const struct roofline_point *point = read_bytes(&right, 4.07e9);

	(void)state;
	assert_near(point->binding_share, 1.0175);
	assert_false(point->is_wrong || right.placed.roofline->has_wrong);
	point = read_bytes(&wrong, 4.09e9);
	assert_near(point->binding_share, 1.0225);
	assert_int_equal(point->binding, ROOF_dram);
	assert_true(point->is_wrong && wrong.placed.roofline->has_wrong);
	assert_true(wrong.placed.roofline->application.is_wrong);
	assert_true(roofline_is_at_roof(right.placed.roofline->kernels));
	assert_true(roofline_is_at_dram(right.placed.roofline->kernels));
	assert_false(roofline_is_at_roof(point));
	assert_false(roofline_is_at_dram(point));
	scene_free(&right);
	scene_free(&wrong);
}

static void test_binding(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, signature, 1000000);
	scene_count(&scene, signature, METRIC_dram_read_bytes, 2e9);   /* 0.5 */
	scene_count(&scene, signature, METRIC_l2_bytes, 5.6e9);	       /* 0.7 */
	scene_count(&scene, signature, METRIC_fp64_fma, 9e9);	       /* 0.6 */
	scene_count(&scene, signature, METRIC_fp32_fma, 18e9);	       /* 0.6: no sum with FP64 */
	scene_count(&scene, signature, METRIC_tensor_bf16_ops, 400e9); /* 0.4, and in all */
	scene_count(&scene, signature, METRIC_tensor_fp8_ops, 700e9);  /* 0.35: 0.75 */
	scene_count(&scene, signature, METRIC_tensor_int8_ops, 1e15);  /* has no ceiling */
	fixture_count_nothing_else(scene.b, signature, 1);
	point = scene_place(&scene)->kernels;
	assert_near(point->quantities[ROOF_l2].share, 0.7);
	assert_near(point->quantities[ROOF_fp64].share, 0.6);
	assert_near(point->quantities[ROOF_fp32].share, 0.6);
	assert_near(point->tensor_share, 0.75);
	assert_true(point->quantities[ROOF_tensor_int8].share == 0);
	assert_int_equal(point->binding, ROOF_tensor_bf16);
	assert_near(point->binding_share, 0.75);
	assert_int_equal(point->regime, ROOFLINE_COMPUTE_BOUND);
	scene_free(&scene);
}

static void test_no_ceilings(void **state)
{
	struct scene scene = scene_new();
	const struct roofline_point *point;

	(void)state;
	ceilings_free(scene.ceilings);
	scene.ceilings = NULL;
	point = read_bytes(&scene, 4e9);
	assert_near(point->quantities[ROOF_dram].per_s, 4e12);
	assert_true(point->quantities[ROOF_dram].share == 0);
	assert_int_equal(point->binding, ROOF_NONE);
	assert_false(scene.placed.roofline->has_ceilings);
	assert_int_equal(point->regime, ROOFLINE_UNKNOWN_BOUND);
	assert_true(point->launch.roof_share == 0 && point->launch.achieved_share == 0);
	assert_near(point->launch.busy_share, 1);
	scene_free(&scene);
}

/* Kernels that start every period_ns.  The launching thread is inside launch calls all the time, or
 * only for the last 100 ns before the kernel starts. */
static uint32_t run_with_gaps(struct scene *scene, int count, int64_t duration_ns,
			      int64_t period_ns, bool is_launching)
{
	uint32_t signature = builder_signature(scene->b, "k", 1);

	for (int i = 0; i < count; i++) {
		int64_t start_ns = scene->now_ns + i * period_ns;
		int64_t call_ns =
			is_launching ? start_ns - period_ns + duration_ns : start_ns - 100;
		uint32_t call = builder_launch(scene->b, 0, call_ns, start_ns - 10);

		builder_op(scene->b, OP_KERNEL, 0, signature, start_ns, start_ns + duration_ns,
			   call);
	}
	scene->now_ns += count * period_ns;
	return signature;
}

/* ---- half precision ---- */

/* A kernel for which FMAs of FP32 and of half precision were counted. */
static uint32_t count_halves(struct scene *scene)
{
	uint32_t signature = run_with_gaps(scene, 4, 1000, 5000, true);

	scene_count(scene, signature, METRIC_fp32_fma, 1000);
	scene_count(scene, signature, METRIC_fp16_fma, 5000);
	scene_count(scene, signature, METRIC_dram_read_bytes, 1000);
	fixture_count_nothing_else(scene->b, signature, 1);
	scene->b->devices[0].compute_major = 9;
	return signature;
}

/* The same with machine code that has so many instructions of half precision; places it. */
static const struct roofline_point *place_halves(struct scene *scene, uint32_t constant_count,
						 uint32_t arithmetic_count)
{
	static struct profile_machine_code code;

	*scene = scene_new();
	code = (struct profile_machine_code){
		.kernel = scene->b->signatures[count_halves(scene)].kernel,
		.sm = 90,
		.half_constant_count = constant_count,
		.half_arithmetic_count = arithmetic_count,
	};
	scene->b->profile.machine_codes = &code;
	scene->b->profile.machine_code_count = 1;
	return scene_place(scene)->kernels;
}

static void test_constants_are_no_operations(void **state)
{
	struct scene scene;
	const struct roofline_point *point = place_halves(&scene, 3, 0);

	(void)state;
	assert_int_equal(point->quantities[ROOF_fp16].state, ROOFLINE_KNOWN);
	assert_near(point->quantities[ROOF_fp16].total, 0);
	assert_near(point->flops, 4 * 2000);
	assert_near(point->intensity[ROOF_dram], 2);
	assert_near(scene.placed.roofline->application.flops, 4 * 2000);
	assert_near(scene.placed.roofline->application.quantities[ROOF_fp16].total, 0);
	/* HFMA2.MMA runs in the tensor cores, which is no work of theirs */
	assert_false(point->has_uncounted_tensor);
	scene_free(&scene);
}

static void test_half_arithmetic(void **state)
{
	struct scene scene;
	const struct roofline_point *point = place_halves(&scene, 0, 7);

	(void)state;
	assert_near(point->quantities[ROOF_fp16].total, 4 * 20000);
	assert_near(point->quantities[ROOF_fp16].at_most, 0);
	assert_near(point->flops, 4 * 22000);
	scene_free(&scene);
	point = place_halves(&scene, 1, 7); /* not all of it */
	assert_near(point->quantities[ROOF_fp16].total, 4 * 20000);
	assert_near(point->quantities[ROOF_fp16].at_most, 4 * 20000);
	scene_free(&scene);
}

static void test_half_without_code(void **state)
{
	struct scene scene = scene_new();
	const struct roofline_point *point;

	(void)state;
	count_halves(&scene);
	point = scene_place(&scene)->kernels;
	assert_int_equal(point->quantities[ROOF_fp16].state, ROOFLINE_NOT_TRUSTED);
	assert_near(point->quantities[ROOF_fp16].total, 0);
	assert_near(point->quantities[ROOF_fp16].at_most, 4 * 20000);
	assert_near(point->flops, 4 * 2000);
	assert_near(point->intensity[ROOF_dram], 2);
	assert_int_equal(scene.placed.roofline->application.quantities[ROOF_fp16].state,
			 ROOFLINE_NOT_TRUSTED);
	assert_near(scene.placed.roofline->application.intensity[ROOF_dram], 2);
	scene_free(&scene);
}

/* ---- launches ---- */

static void test_launch_roof(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = run_with_gaps(&scene, 4, 1000, 5000, true);
	const struct roofline_launch *launch;

	(void)state;
	scene_count(&scene, signature, METRIC_fp32_fma, 6000);
	scene_count(&scene, signature, METRIC_dram_read_bytes, 1000);
	fixture_count_nothing_else(scene.b, signature, 1);
	launch = &scene_place(&scene)->kernels[0].launch;
	assert_int_equal(launch->launch_count, 4);
	assert_near(launch->duration_ns, 1000);
	assert_near(launch->idle_ns, 3000); /* three gaps after four launches */
	assert_near(launch->launch_idle_ns, 3000);
	assert_near(launch->busy_share, 0.25);
	assert_near(launch->roof_share, 0.4); /* 1000 by 2500 */
	assert_near(launch->achieved_share, 0.625);
	assert_near(launch->lost_ns, 12000);
	assert_near(launch->flop_per_s, 12000 / 1e-6 / 4);
	assert_near(launch->dram_byte_per_s, 1000 / 1e-6 / 4);
	assert_near(launch->binding_share, 1e9 / 4e12 / 4); /* DRAM binds */
	assert_near(scene.placed.roofline->application.launch.busy_share, 0.25);
	assert_near(scene.placed.roofline->application.launch.roof_share, 0.4);
	scene_free(&scene);
}

/* Kernels of 1000 ns every 20000, and behind each a copy of 9000: idle for half of the time, and 100 ns of launching
 * before each kernel. */
static void test_copies_beside_the_launch_roof(void **state)
{
	struct scene scene = scene_new();
	static const struct profile_copy copy = {.bytes = 1 << 20, .kind = COPY_TO_DEVICE};
	const struct roofline_launch *launch;

	(void)state;
	for (int i = 0; i < 5; i++) {
		int64_t now = INT64_C(20000) * i;

		builder_kernel(scene.b, 0, "k", now, now + 1000,
			       builder_launch(scene.b, 0, now - 100, now));
		builder_copy(scene.b, 0, copy, now + 1000, now + 10000, PROFILE_NONE);
	}
	scene_place(&scene);
	launch = &scene.placed.roofline->application.launch;
	assert_near(launch->busy_share, 5000 / 90000.);
	/* not one nanosecond more than there was */
	assert_near(launch->lost_ns, 40000);
	assert_near(launch->launch_lost_ns, 400);
	assert_near(launch->period_ns, 1000 / launch->busy_share);
	scene_free(&scene);
}

static void test_long_kernels_and_the_launch_roof(void **state)
{
	struct scene scene = scene_new();

	(void)state;
	run_with_gaps(&scene, 2, 10000, 10000, true);
	scene_place(&scene);
	assert_near(scene.placed.roofline->kernels[0].launch.roof_share, 1);
	assert_near(scene.placed.roofline->kernels[0].launch.busy_share, 1);
	assert_int_equal(scene.placed.roofline->counted_kernel_count, 0);
	scene_free(&scene);
}

static void test_counted_gaps(void **state)
{
	struct scene scene = scene_new();
	const struct roofline_launch *launch;

	(void)state;
	run_with_gaps(&scene, 6, 1000, 5000, true);
	scene.b->ops[2].counted = COUNTED; /* the gaps before and after it are left out */
	scene.b->ops[2].end_ns = scene.b->ops[2].start_ns + 100;
	launch = &scene_place(&scene)->kernels[0].launch;
	assert_int_equal(launch->launch_count, 4); /* 0, 3, 4 and 5; three gaps of 4000 */
	assert_near(launch->idle_ns, 2 * 4000 / 4. + 4000 / 4.);
	scene_free(&scene);
}

static void test_profiler_gaps(void **state)
{
	struct scene scene = scene_new();
	const struct roofline_launch *launch;

	(void)state;
	run_with_gaps(&scene, 2, 1000, 5000, true);
	builder_overhead(scene.b, 0, 0, true, scene.now_ns - 8000, scene.now_ns - 6000);
	launch = &scene_place(&scene)->kernels[0].launch;
	assert_near(launch->idle_ns, 1000); /* 4000 without the 2000, over two launches */
	scene_free(&scene);
}

static void test_all_counted(void **state)
{
	struct scene scene = scene_new();
	const struct roofline_point *point;

	(void)state;
	run_with_gaps(&scene, 3, 100, 90000, true);
	for (int i = 0; i < 3; i++)
		scene.b->ops[i].counted = COUNTED;
	point = scene_place(&scene)->kernels;
	assert_int_equal(point->launch.launch_count, 0);
	assert_true(point->launch.busy_share == 0 && point->launch.idle_ns == 0);
	assert_int_equal(point->regime, ROOFLINE_LAUNCH_BOUND); /* 2500 ns a launch at least */
	scene_free(&scene);
}

static void test_node_period(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = run_with_gaps(&scene, 4, 100, 100, true);

	(void)state;
	(void)signature;
	for (int i = 0; i < 2; i++) {
		builder_ids(scene.b, &scene.b->ops[i])->graph = 3;
		builder_ids(scene.b, &scene.b->ops[i])->graph_node = (uint64_t)i + 1;
	}
	scene_place(&scene);
	assert_near(scene.placed.roofline->kernels[0].launch.roof_period_ns, (2500 + 800) / 2.);
	scene_free(&scene);
}

/* ---- regimes ---- */

static enum roofline_regime regime_of(enum metric_role role, double value, int64_t duration_ns,
				      int64_t period_ns, bool is_launching)
{
	struct scene scene = scene_new();
	uint32_t signature = run_with_gaps(&scene, 20, duration_ns, period_ns, is_launching);
	const struct roofline *roofline;
	enum roofline_regime regime;

	scene_count(&scene, signature, role, value);
	if (role == METRIC_atomic_unit_cycles_max) {
		scene_count(&scene, signature, METRIC_l2_cycles, 1e6);
		scene_count(&scene, signature, METRIC_range_ns, 1e6);
	}
	fixture_count_nothing_else(scene.b, signature, 3);
	roofline = scene_place(&scene);
	regime = roofline->kernels[0].regime;
	assert_int_equal(roofline->application.regime, regime);
	scene_free(&scene);
	return regime;
}

static void test_regimes(void **state)
{
	(void)state;
	/* 1 ms each, 1 us apart: FP32 at 80% of 60 TFLOP/s, DRAM at 90% of 4 TB/s, either at 40% */
	assert_int_equal(regime_of(METRIC_fp32_fma, 24e9, 1000000, 1001000, true),
			 ROOFLINE_COMPUTE_BOUND);
	assert_int_equal(regime_of(METRIC_dram_read_bytes, 3.6e9, 1000000, 1001000, true),
			 ROOFLINE_MEMORY_BOUND);
	assert_int_equal(regime_of(METRIC_shared_bytes, 12e9, 1000000, 1001000, true),
			 ROOFLINE_MEMORY_BOUND);
	assert_int_equal(regime_of(METRIC_dram_read_bytes, 1.6e9, 1000000, 1001000, true),
			 ROOFLINE_LATENCY_BOUND);
	assert_int_equal(regime_of(METRIC_atomic_unit_cycles_max, 9e5, 1000000, 1001000, true),
			 ROOFLINE_ATOMIC_BOUND);
	/* 2 us each, 8 us between: whatever the kernel does meanwhile */
	assert_int_equal(regime_of(METRIC_dram_read_bytes, 7.2e6, 2000, 10000, true),
			 ROOFLINE_LAUNCH_BOUND);
	assert_int_equal(regime_of(METRIC_dram_read_bytes, 7.2e6, 2000, 10000, false),
			 ROOFLINE_HOST_BOUND);
	/* 10 us each, 8 us between: the kernel's own 9 us at the roof are more */
	assert_int_equal(regime_of(METRIC_dram_read_bytes, 36e6, 10000, 18000, true),
			 ROOFLINE_MEMORY_BOUND);
}

/* Without memory counters a low share of arithmetic says nothing about latency. */
static void test_incomplete_regime(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = run_with_gaps(&scene, 20, 1000000, 1001000, true);

	(void)state;
	scene_count(&scene, signature, METRIC_fp32_add, 0);
	scene_count(&scene, signature, METRIC_fp32_mul, 0);
	scene_count(&scene, signature, METRIC_fp32_fma, 3e9); /* 10% */
	assert_int_equal(scene_place(&scene)->kernels[0].regime, ROOFLINE_UNKNOWN_BOUND);
	scene_free(&scene);
}

/* ---- graphs ---- */

/* A graph of two kernels launched three times, once counted; one of the kernels also runs alone. */
static void test_graphs(void **state)
{
	struct scene scene = scene_new();
	uint32_t a = builder_signature(scene.b, "a", 1), b = builder_signature(scene.b, "b", 1);
	uint32_t graph = builder_counted_graph(scene.b, 0, 9);
	const struct roofline_point *point;

	(void)state;
	for (int launch = 0; launch < 3; launch++) {
		int64_t start_ns = scene.now_ns + launch * 10000;
		uint32_t call = builder_call(scene.b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH,
					     start_ns - 5000, start_ns - 100);

		for (uint64_t node = 1; node <= 2; node++) {
			int64_t node_ns = start_ns + (node == 2 ? 1500 : 0);
			struct profile_op *op = builder_op(scene.b, OP_KERNEL, 0, node == 1 ? a : b,
							   node_ns, node_ns + 1000, call);

			builder_ids(scene.b, op)->graph = 9;
			builder_ids(scene.b, op)->graph_node = node;
			if (launch == 2) {
				op->counted = COUNTED_PATCHED;
				op->end_ns += 400;
			}
		}
	}
	scene.now_ns += 40000;
	scene_kernel(&scene, a, 1000);
	builder_counter(scene.b, true, graph, METRIC_l2_bytes, 1, 5000);
	builder_counter(scene.b, false, a, METRIC_l2_bytes, 1, 300);
	scene_place(&scene);
	assert_int_equal(scene.placed.roofline->graph_count, 1);
	point = &scene.placed.roofline->graphs[0];
	assert_int_equal(point->launch_count, 3);
	assert_int_equal(point->timed_count, 2);
	assert_near(point->time_ns, 7500); /* 2500 each, the counted one as the others */
	assert_near(point->quantities[ROOF_l2].total, 15000);
	assert_int_equal(point->launch.launch_count, 1); /* the next of the second is counted */
	assert_near(point->launch.idle_ns, 7500);
	assert_near(point->launch.roof_share, 0.5); /* graph_launch: 2500 by 5000 */
	point = fixture_point(&scene.placed, "a");
	assert_int_equal(point->launch_count, 4);
	assert_near(point->quantities[ROOF_l2].total, 1200);
	/* the application counts what runs in the graph once */
	point = &scene.placed.roofline->application;
	assert_int_equal(point->launch_count, 4);
	assert_near(point->time_ns, 8500);
	assert_near(point->quantities[ROOF_l2].total, 15300);
	scene_free(&scene);
}

static void test_whole_graphs(void **state)
{
	struct scene scene = scene_new();
	uint32_t graph = builder_counted_graph(scene.b, 0, 9);
	const struct roofline_point *point;

	(void)state;
	for (int launch = 0; launch < 4; launch++) {
		int64_t start_ns = scene.now_ns + launch * 3000;
		struct profile_op *op = builder_graph(scene.b, 0, launch < 2 ? 0 : 1, start_ns,
						      start_ns + 2000, PROFILE_NONE);

		builder_ids(scene.b, op)->graph = 9;
		builder_ids(scene.b, op)->correlation =
			launch < 2 ? (uint32_t)launch + 50 : 0; /* 0: by the device */
	}
	builder_counter(scene.b, true, graph, METRIC_l2_bytes, 1, 10);
	point = scene_place(&scene)->graphs;
	assert_int_equal(point->launch_count, 4);
	assert_near(point->time_ns, 8000);
	assert_near(point->quantities[ROOF_l2].total, 40);
	assert_near(point->launch.idle_ns, 750);
	scene_free(&scene);
}

/* ---- extremes ---- */

static void assert_sound(const struct roofline_point *point)
{
	assert_true(isfinite(point->time_ns) && point->time_ns >= 0);
	assert_true(isfinite(point->flop_per_s) && isfinite(point->binding_share));
	assert_true(isfinite(point->launch.busy_share) && isfinite(point->launch.achieved_share));
	for (int i = 0; i < ROOF_COUNT; i++) {
		assert_true(isfinite(point->quantities[i].total));
		assert_true(isfinite(point->quantities[i].per_s));
		assert_true(isfinite(point->quantities[i].share));
	}
	for (int i = 0; i < ROOF_MEMORY_END; i++)
		assert_true(isfinite(point->intensity[i]));
}

static void test_zero_time(void **state)
{
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	const struct roofline_point *point;

	(void)state;
	scene_kernel(&scene, signature, 0);
	scene_kernel(&scene, signature, 0);
	scene_count(&scene, signature, METRIC_fp32_fma, 5);
	fixture_count_nothing_else(scene.b, signature, 1);
	point = scene_place(&scene)->kernels;
	assert_sound(point);
	assert_sound(&scene.placed.roofline->application);
	assert_near(point->quantities[ROOF_fp32].total, 20);
	assert_true(point->flop_per_s == 0);
	assert_int_equal(point->binding, ROOF_NONE);
	scene_free(&scene);
}

static void test_nothing(void **state)
{
	struct scene scene = scene_new();

	(void)state;
	assert_int_equal(scene_place(&scene)->kernel_count, 0);
	assert_sound(&scene.placed.roofline->application);
	assert_int_equal(scene.placed.roofline->application.regime, ROOFLINE_UNKNOWN_BOUND);
	assert_int_equal(scene.placed.atomics->kernel_count, 0);
	scene_free(&scene);
}

/* 4096 operations of 30 days each are more nanoseconds than 63 bits hold. */
static void test_overflow(void **state)
{
	const int64_t month_ns = (int64_t)30 * 24 * 3600 * 1000000000;
	struct scene scene = scene_new();
	uint32_t signature = builder_signature(scene.b, "k", 1);
	const struct roofline_point *point;

	(void)state;
	for (int i = 0; i < BUILDER_ROOM; i++)
		builder_op(scene.b, OP_KERNEL, 0, signature, 1, 1 + month_ns, PROFILE_NONE);
	scene_count(&scene, signature, METRIC_l2_bytes, 1e300);
	point = scene_place(&scene)->kernels;
	assert_sound(point);
	assert_near(point->time_ns, (double)INT64_MAX);
	scene_free(&scene);
}

/* Twice the work in the same time is twice the rate at the same intensity; all of it in three times
 * the time a third of the rate. */
static void test_scaling(void **state)
{
	static const double factors[][2] = {{1, 1}, {2, 1}, {1, 3}, {7, 5}, {0.25, 1}};
	double flop_per_s = 0, intensity = 0, share = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		double work = factors[i][0], time = factors[i][1];
		struct scene scene = scene_new();
		uint32_t signature = run_with_gaps(&scene, 10, (int64_t)(1000 * time),
						   (int64_t)(3000 * time), true);
		const struct roofline_point *point;

		scene_count(&scene, signature, METRIC_fp32_fma, 4e6 * work);
		scene_count(&scene, signature, METRIC_dram_write_bytes, 5e5 * work);
		fixture_count_nothing_else(scene.b, signature, 1);
		point = scene_place(&scene)->kernels;
		if (i == 0) {
			flop_per_s = point->flop_per_s;
			intensity = point->intensity[ROOF_dram];
			share = point->binding_share;
		}
		assert_near(point->flop_per_s, flop_per_s * work / time);
		assert_near(point->intensity[ROOF_dram], intensity);
		assert_near(point->binding_share, share * work / time);
		assert_near(point->launch.busy_share, 1000 / 2800.);
		scene_free(&scene);
	}
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(roofline_roof_key(ROOF_tensor_bf16), "tensor_bf16");
	assert_string_equal(roofline_roof_title(ROOF_shared), "shared memory");
	assert_string_equal(roofline_roof_title(ROOF_atomic_unit), "L2 atomic unit");
	assert_string_equal(roofline_roof_key(ROOF_NONE), "none");
	assert_string_equal(roofline_regime_key(ROOFLINE_LATENCY_BOUND), "latency");
	assert_string_equal(roofline_state_key(ROOFLINE_NOT_ON_CHIP), "not_on_chip");
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("instructions count as many operations as they do", test_weights),
		SENTENCE("signatures weigh by their launches", test_signatures),
		SENTENCE("two metrics of one role are its parts", test_two_metrics_of_a_role),
		SENTENCE("times of patched launches are left out, of counted ones where they can",
			 test_timed_launches),
		SENTENCE("a signature without times does not bend the rate",
			 test_untimed_signature),
		SENTENCE("what is missing says why", test_states),
		SENTENCE("launches that left no record count with the mean of the others",
			 test_unrecorded),
		SENTENCE("tensor instructions without counted operations are told",
			 test_uncounted_tensor),
		SENTENCE("tensor operations by type without a pass of theirs are not sampled",
			 test_tensor_types_without_a_pass),
		SENTENCE("above its roof by more than 2% is wrong data", test_wrong),
		SENTENCE("the largest share binds, tensor types together", test_binding),
		SENTENCE("without ceilings there are rates and no shares", test_no_ceilings),
		SENTENCE("the launch roof is the duration by the launch period", test_launch_roof),
		SENTENCE("constants in half precision are no operations",
			 test_constants_are_no_operations),
		SENTENCE("arithmetic in half precision counts, and says what is mixed in",
			 test_half_arithmetic),
		SENTENCE("without machine code half precision is not trusted",
			 test_half_without_code),
		SENTENCE("copies are no kernels, and launching costs no more than there was",
			 test_copies_beside_the_launch_roof),
		SENTENCE("long kernels have no launch roof below 1",
			 test_long_kernels_and_the_launch_roof),
		SENTENCE("gaps beside counted launches are left out", test_counted_gaps),
		SENTENCE("idle time that tracing took is left out", test_profiler_gaps),
		SENTENCE("where every launch was counted the launch roof decides",
			 test_all_counted),
		SENTENCE("nodes of graphs have a launch period of their own", test_node_period),
		SENTENCE("every regime is where its time goes", test_regimes),
		SENTENCE("latency is not claimed of what was not counted", test_incomplete_regime),
		SENTENCE("a counted graph is one point, and once in the application", test_graphs),
		SENTENCE("graphs recorded whole are launches, too", test_whole_graphs),
		SENTENCE("kernels that took no time have no rate", test_zero_time),
		SENTENCE("nothing is nothing", test_nothing),
		SENTENCE("sums of absurd times stop at the largest", test_overflow),
		SENTENCE("rates go with work and against time", test_scaling),
		SENTENCE("roofs, states and regimes have names", test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
