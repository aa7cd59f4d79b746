/* What the SMs did beside the trace: differences that add up, and kernels over their lives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "analysis/samples/sm_activity.h"
#include "profile_builder.h"

static struct builder *device_new(void)
{
	struct builder *b = builder_new(1, 1);

	b->devices[0].sm_count = 100;
	b->devices[0].sampled = 1u << SAMPLED_sm_cycles;
	return b;
}

/* A sample of a microsecond in which the busiest SM worked for a part of the time. */
static struct profile_sample *sample(struct builder *b, int number, float busiest)
{
	struct profile_sample *added = builder_sample(b, 0, 1000 * (int64_t)number, 1000);

	added->sm = added->sm_max = busiest;
	return added;
}

static void samples(struct builder *b, int first, int last, float busiest)
{
	for (int i = first; i <= last; i++)
		sample(b, i, busiest);
}

static struct sm_activity *build(struct builder *b)
{
	struct sm_activity *activity = NULL;
	struct err err = {""};

	assert_int_equal(sm_activity_build(&activity, builder_finish(b), &err), 0);
	return activity;
}

static void done(struct builder *b, struct sm_activity *activity)
{
	sm_activity_free(activity);
	free(b);
}

static void expect_sum(const struct sm_activity_device *device)
{
	int64_t sum_ns = device->both_ns + device->neither_ns;

	assert_true(device->both_ns >= 0 && device->neither_ns >= 0);
	for (int i = 0; i < SM_DIFFERENCE_COUNT; i++) {
		assert_true(device->difference_ns[i] >= 0);
		sum_ns += device->difference_ns[i];
	}
	assert_int_equal(sum_ns, device->sampled_ns);
	assert_int_equal(device->traced_ns - device->both_ns,
			 device->difference_ns[SM_COPY] + device->difference_ns[SM_INSIDE]);
	assert_int_equal(device->active_ns - device->both_ns,
			 device->difference_ns[SM_EDGE] + device->difference_ns[SM_UNTRACED]);
}

/* ---- devices ---- */

static void each_difference_between_trace_and_sms_has_its_reason(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;
	const struct sm_activity_device *device;

	(void)state;
	builder_span(b, 0, 0, 40000);
	builder_copy(b, 0, (struct profile_copy){.kind = 1}, 2000, 4000, PROFILE_NONE);
	builder_kernel(b, 0, "k", 10000, 20000, PROFILE_NONE);
	samples(b, 0, 9, 0);
	samples(b, 10, 15, 1);
	samples(b, 16, 19, 0);	  /* inside the kernel, and nothing works */
	samples(b, 20, 21, 0.5f); /* within 2 us of it */
	samples(b, 22, 29, 0);
	samples(b, 30, 32, 1); /* of nothing in the trace */
	samples(b, 33, 39, 0);
	activity = build(b);
	device = &activity->devices[0];
	assert_int_equal(device->sampled_ns, 40000);
	assert_int_equal(device->traced_ns, 12000);
	assert_int_equal(device->active_ns, 10000);
	assert_int_equal(device->both_ns, 6000);
	assert_int_equal(device->difference_ns[SM_COPY], 2000);
	assert_int_equal(device->difference_ns[SM_INSIDE], 4000);
	assert_int_equal(device->difference_ns[SM_EDGE], 1000);
	assert_int_equal(device->difference_ns[SM_UNTRACED], 3000);
	assert_int_equal(device->neither_ns, 24000);
	assert_float_equal(device->mean_sms, 0.25, 1e-6);
	assert_float_equal(device->mean_active_sms, 1, 1e-6);
	assert_int_equal(device->interval_ns, 1000);
	assert_int_equal(device->window_count, 1);
	assert_int_equal(device->sample_count, 40);
	expect_sum(device);
	done(b, activity);
}

static void what_lies_outside_of_sampled_time_is_never_counted(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;
	const struct sm_activity_device *device;

	(void)state;
	builder_span(b, 0, 10000, 20000);
	builder_span(b, 0, 30000, 30500); /* half of a sample */
	builder_kernel(b, 0, "k", 0, 40000, PROFILE_NONE);
	samples(b, 5, 19, 1);
	sample(b, 30, 1)->dram_read_bytes = 100;
	sample(b, 31, 1)->dram_read_bytes = 1000;
	activity = build(b);
	device = &activity->devices[0];
	assert_int_equal(device->sampled_ns, 10500);
	assert_int_equal(device->both_ns, 10500);
	assert_int_equal(device->traced_ns, 10500);
	assert_int_equal(device->sample_count, 11);
	assert_int_equal(device->window_count, 2);
	assert_float_equal(device->dram_bytes, 50, 1e-3);
	expect_sum(device);
	done(b, activity);
}

static void a_span_whose_samples_are_missing_is_not_sampled(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;

	(void)state;
	builder_span(b, 0, 0, 20000);
	samples(b, 0, 9, 0);
	activity = build(b);
	assert_int_equal(activity->devices[0].sampled_ns, 10000);
	assert_int_equal(activity->devices[0].neither_ns, 10000);
	done(b, activity);
}

static int64_t random_below(int64_t limit)
{
	return rand() % limit;
}

/* Samples of odd lengths with holes, quiet rows of many, operations over each other, several windows. */
static struct builder *random_device(void)
{
	struct builder *b = device_new();
	int64_t time_ns = random_below(5000);

	for (int i = 0; i < 300; i++) {
		bool is_quiet = random_below(4) == 0;
		uint64_t length_ns =
			(uint64_t)(is_quiet ? random_below(90000) : random_below(1500));
		struct profile_sample *added = builder_sample(b, 0, time_ns, length_ns + 1);

		added->sample_count = is_quiet ? 50 : 1;
		added->sm_max = is_quiet ? 0 : (float)random_below(1001) / 1000;
		time_ns += (int64_t)length_ns + 1 + (random_below(8) ? 0 : random_below(3000));
	}
	for (int i = 0; i < 200; i++) {
		int64_t start_ns = random_below(time_ns + 5000), length_ns = random_below(20000);

		if (random_below(3))
			builder_kernel(b, 0, "k", start_ns, start_ns + length_ns, PROFILE_NONE);
		else
			builder_copy(b, 0, (struct profile_copy){.kind = 1}, start_ns,
				     start_ns + length_ns, PROFILE_NONE);
	}
	for (int64_t start_ns = random_below(9000); start_ns < time_ns;) {
		int64_t length_ns = 1 + random_below(time_ns / 8);

		builder_span(b, 0, start_ns, start_ns + length_ns);
		start_ns += length_ns + 1 + random_below(time_ns / 20);
	}
	return b;
}

/* As slowly and simply as it can be. */
static int64_t sampled_ns_of(const struct profile *profile)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		for (size_t k = 0; k < profile->sampled_span_count; k++) {
			const struct profile_sample *a = &profile->samples[i];
			const struct profile_sampled_span *span = &profile->sampled_spans[k];
			int64_t end_ns = a->start_ns + (int64_t)a->length_ns, from_ns = a->start_ns;

			end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
			from_ns = from_ns > span->start_ns ? from_ns : span->start_ns;
			sum_ns += end_ns > from_ns ? end_ns - from_ns : 0;
		}
	return sum_ns;
}

static void both_and_neither_and_differences_add_up_to_the_sampled_time(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 200; seed++) {
		struct builder *b;
		struct sm_activity *activity;

		srand(seed);
		b = random_device();
		activity = build(b);
		expect_sum(&activity->devices[0]);
		assert_int_equal(activity->devices[0].sampled_ns, sampled_ns_of(&b->profile));
		assert_true(activity->devices[0].sampled_ns > 0);
		done(b, activity);
	}
}

static void a_device_whose_sms_were_not_sampled_has_its_traffic_and_its_time(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;

	(void)state;
	b->devices[0].sampled = 1u << SAMPLED_pcie_read_bytes;
	builder_span(b, 0, 0, 20000);
	builder_kernel(b, 0, "k", 0, 20000, PROFILE_NONE);
	for (int i = 0; i < 20; i++)
		sample(b, i, 0)->pcie_read_bytes = 10;
	activity = build(b);
	assert_false(activity->devices[0].has_sms);
	assert_int_equal(activity->devices[0].sampled_ns, 20000);
	assert_int_equal(activity->devices[0].neither_ns, 0);
	assert_float_equal(activity->devices[0].pcie_read_bytes, 200, 1e-3);
	assert_int_equal(activity->kernel_count, 0);
	done(b, activity);
}

static void pcie_traffic_of_sampling_itself_is_that_of_the_median_quiet_row(void **state)
{
	static const float quiet_bytes[] = {1000, 2000, 90000};
	struct builder *b = device_new();
	struct sm_activity *activity;

	(void)state;
	builder_span(b, 0, 0, 40000);
	for (int i = 0; i < 3; i++) {
		struct profile_sample *quiet = builder_sample(b, 0, 10000 * i, 10000);

		quiet->sample_count = 10;
		quiet->pcie_write_bytes = quiet_bytes[i];
	}
	samples(b, 30, 39, 1); /* without any: it is never more than there was */
	activity = build(b);
	assert_float_equal(activity->devices[0].pcie_write_bytes, 93000, 0.1);
	assert_float_equal(activity->devices[0].pcie_own_bytes, 8000, 0.1);
	done(b, activity);
}

static void without_a_quiet_row_the_traffic_of_sampling_is_not_known(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;

	(void)state;
	builder_span(b, 0, 0, 1000);
	sample(b, 0, 1)->pcie_write_bytes = 5000;
	activity = build(b);
	assert_float_equal(activity->devices[0].pcie_write_bytes, 5000, 0.1);
	assert_float_equal(activity->devices[0].pcie_own_bytes, 0, 0);
	done(b, activity);
}

/* ---- kernels ---- */

static void a_kernel_has_the_shares_of_its_sms_and_its_tail(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;
	const struct sm_activity_kernel *kernel;

	(void)state;
	builder_span(b, 0, 0, 40000);
	builder_kernel(b, 0, "k", 10000, 20000, PROFILE_NONE);
	samples(b, 0, 9, 0);
	for (int i = 10; i < 20; i++) {
		struct profile_sample *added = sample(b, i, 1);

		added->sm = i < 17 ? 1 : 0.5f;
		added->sm_min = i < 17 ? 1 : 0;
		added->tensor = 0.25f;
		added->dram_write_bytes = 1000;
	}
	samples(b, 20, 39, 0);
	activity = build(b);
	assert_int_equal(activity->kernel_count, 1);
	kernel = &activity->kernels[0];
	assert_int_equal(kernel->launch_count, 1);
	assert_int_equal(kernel->span_ns, 10000);
	assert_float_equal(kernel->sms, 0.85, 1e-6);
	assert_float_equal(kernel->least_sm, 0.7, 1e-6);
	assert_float_equal(kernel->busiest_sm, 1, 1e-6);
	assert_float_equal(kernel->tensor, 0.25, 1e-6);
	assert_float_equal(kernel->dram_byte_per_s, 1e9, 1);
	assert_int_equal(kernel->tail_ns, 3000);
	done(b, activity);
}

static void add_filling(struct builder *b, uint32_t blocks, int first, float sm)
{
	builder_op(b, OP_KERNEL, 0, builder_signature(b, "k", blocks), 1000 * first,
		   1000 * (first + 10), PROFILE_NONE);
	for (int i = first; i < first + 10; i++)
		sample(b, i, 1)->sm = i < first + 5 ? 1 : sm;
}

/* Of 100 SMs; those with fewer than 200 blocks leave some empty whatever their blocks do. */
static void launches_with_blocks_for_all_sms_have_shares_of_their_own(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;
	const struct sm_activity_kernel *kernel;

	(void)state;
	builder_span(b, 0, 0, 70000);
	samples(b, 0, 9, 0);
	add_filling(b, 199, 10, 0);
	samples(b, 20, 29, 0);
	add_filling(b, 200, 30, 0.5f);
	samples(b, 40, 69, 0);
	builder_op(b, OP_KERNEL, 0, builder_signature(b, "k", 200), 80000, 82000, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 0, builder_signature(b, "k", 199), 90000, 91000, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 0, builder_signature(b, "never sampled", 200), 92000, 93000,
		   PROFILE_NONE);
	activity = build(b);
	assert_int_equal(activity->kernel_count, 1);
	kernel = &activity->kernels[0];
	assert_int_equal(kernel->span_ns, 20000);
	assert_int_equal(kernel->tail_ns, 10000);
	assert_float_equal(kernel->sms, 0.625, 1e-6);
	assert_int_equal(kernel->filled.span_ns, 10000);
	assert_int_equal(kernel->filled.tail_ns, 5000);
	assert_float_equal(kernel->filled.sms, 0.75, 1e-6);
	assert_float_equal(kernel->filled.busiest_sm, 1, 1e-6);
	assert_int_equal(kernel->filled.all_ns, 10000 + 2000);
	done(b, activity);
}

static void tails_of_a_device_are_those_of_its_own_kernels(void **state)
{
	struct builder *b = builder_new(1, 3);
	struct sm_activity *activity;

	(void)state;
	for (uint32_t device = 0; device < 3; device++) {
		b->devices[device].sampled = 1u << SAMPLED_sm_cycles;
		builder_span(b, device, 0, 40000);
		for (int i = 0; i < 40; i++)
			builder_sample(b, device, 1000 * i, 1000)->sm = i % 20 < 17 ? 1 : 0.5f;
	}
	for (int64_t start_ns = 10000; start_ns < 40000; start_ns += 20000) {
		builder_kernel(b, 0, "k", start_ns, start_ns + 10000, PROFILE_NONE);
		builder_kernel(b, 0, "l", start_ns - 10000, start_ns - 3000, PROFILE_NONE);
	}
	builder_kernel(b, 1, "k", 10000, 20000, PROFILE_NONE);
	builder_kernel(b, 2, "k", 10000, 12000, PROFILE_NONE); /* too short to tell */
	activity = build(b);
	assert_int_equal(activity->devices[0].kernel_launch_count, 4);
	assert_int_equal(activity->devices[0].kernel_tail_ns, 6000);
	assert_int_equal(activity->devices[1].kernel_launch_count, 1);
	assert_int_equal(activity->devices[1].kernel_tail_ns, 3000);
	assert_int_equal(activity->devices[2].kernel_launch_count, 0);
	done(b, activity);
}

static void no_share_exceeds_the_whole_where_samples_reach_beyond_the_record(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;
	const struct sm_activity_kernel *kernel;

	(void)state;
	builder_span(b, 0, 0, 40000);
	builder_kernel(b, 0, "k", 10900, 15100, PROFILE_NONE);
	for (int i = 0; i < 40; i++) {
		struct profile_sample *added = sample(b, i, i >= 10 && i <= 15);

		added->sm_min = added->tensor = added->sm;
	}
	activity = build(b);
	assert_int_equal(activity->kernel_count, 1);
	kernel = &activity->kernels[0];
	assert_float_equal(kernel->sms, 1, 1e-9);
	assert_float_equal(kernel->least_sm, 1, 1e-9);
	assert_float_equal(kernel->busiest_sm, 1, 1e-9);
	assert_float_equal(kernel->tensor, 1, 1e-9);
	assert_int_equal(kernel->tail_ns, 0);
	done(b, activity);
}

static void launches_of_a_kernel_are_added_up_and_the_longest_comes_first(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;

	(void)state;
	builder_span(b, 0, 0, 60000);
	samples(b, 0, 59, 1);
	builder_kernel(b, 0, "short", 2000, 12000, PROFILE_NONE);
	builder_kernel(b, 0, "long", 15000, 25000, PROFILE_NONE);
	builder_kernel(b, 0, "long", 30000, 40000, PROFILE_NONE);
	activity = build(b);
	assert_int_equal(activity->kernel_count, 2);
	assert_string_equal(b->kernel_names[activity->kernels[0].kernel], "long");
	assert_int_equal(activity->kernels[0].launch_count, 2);
	assert_int_equal(activity->kernels[0].span_ns, 20000);
	assert_int_equal(activity->kernels[1].launch_count, 1);
	done(b, activity);
}

static void only_kernels_alone_and_wholly_sampled_are_told(void **state)
{
	struct builder *b = device_new();
	struct sm_activity *activity;

	(void)state;
	builder_span(b, 0, 10000, 90000);
	samples(b, 10, 59, 1);
	samples(b, 62, 89, 1); /* two were lost */
	builder_kernel(b, 0, "before the samples", 8000, 16000, PROFILE_NONE);
	builder_kernel(b, 0, "beside", 20000, 30000, PROFILE_NONE);
	builder_copy(b, 0, (struct profile_copy){.kind = 1}, 29000, 34000, PROFILE_NONE);
	builder_kernel(b, 0, "beside the copy", 33000, 40000, PROFILE_NONE);
	builder_kernel(b, 0, "of four samples", 42000, 46000, PROFILE_NONE);
	builder_kernel(b, 0, "over the hole", 55000, 70000, PROFILE_NONE);
	builder_kernel(b, 0, "alone", 72000, 80000, PROFILE_NONE);
	builder_kernel(b, 0, "beyond the samples", 84000, 95000, PROFILE_NONE);
	activity = build(b);
	assert_int_equal(activity->kernel_count, 1);
	assert_string_equal(b->kernel_names[activity->kernels[0].kernel], "alone");
	done(b, activity);
}

/* ---- imbalance ---- */

static bool is_imbalanced(double sms, double busiest_sm, int64_t tail_ns)
{
	const struct sm_activity_kernel kernel = {.filled = {.span_ns = 1000,
							     .sms = sms,
							     .busiest_sm = busiest_sm,
							     .tail_ns = tail_ns}};

	return sm_activity_is_imbalanced(&kernel);
}

static void sms_are_unequal_by_the_busiest_one_s_share_not_by_their_life_s(void **state)
{
	(void)state;
	assert_true(is_imbalanced(0.4, 1, 500));
	assert_true(is_imbalanced(0.4, 0.6, 500));
	assert_false(is_imbalanced(0.4, 0.5, 500)); /* none is active for long */
	assert_false(is_imbalanced(0.9, 1, 500));
	assert_false(is_imbalanced(0, 0, 500)); /* was not sampled at work */
}

static void without_a_tail_there_is_no_imbalance_that_a_queue_would_remove(void **state)
{
	(void)state;
	assert_true(is_imbalanced(0.4, 1, 300));
	assert_false(is_imbalanced(0.4, 1, 290)); /* unequal all the time, not at the end */
}

/* As the first levels of a refinement, whose blocks are too few. */
static void launches_of_too_few_blocks_for_all_sms_are_no_imbalance(void **state)
{
	const struct sm_activity_kernel kernel = {.span_ns = 1000,
						  .sms = 0.4,
						  .busiest_sm = 1,
						  .tail_ns = 500};

	(void)state;
	assert_false(sm_activity_is_imbalanced(&kernel));
}

/* ---- size ---- */

#define MANY_SAMPLES 2000000
#define MANY_OPS 100000

static void two_million_samples_and_a_hundred_thousand_operations_take_no_time(void **state)
{
	struct builder *b = device_new();
	struct profile *p = &b->profile;
	struct sm_activity *activity = NULL;
	struct err err = {""};
	clock_t start;

	(void)state;
	builder_signature(b, "k", 1);
	p->samples = calloc(MANY_SAMPLES, sizeof(*p->samples));
	p->ops = calloc(MANY_OPS, sizeof(*p->ops));
	assert_true(p->samples && p->ops);
	for (int64_t i = 0; i < MANY_SAMPLES; i++)
		p->samples[i] = (struct profile_sample){.start_ns = 1000 * i,
							.length_ns = 1000,
							.sample_count = 1,
							.sm = 1,
							.sm_max = 1};
	for (int64_t i = 0; i < MANY_OPS; i++)
		p->ops[i] = (struct profile_op){.start_ns = 20000 * i,
						.end_ns = 20000 * i + 18000,
						.kind = OP_KERNEL};
	b->devices[0].op_count = p->op_count = MANY_OPS;
	b->devices[0].sample_count = p->sample_count = MANY_SAMPLES;
	builder_span(b, 0, 0, MANY_SAMPLES * INT64_C(1000));
	b->devices[0].span_count = 1;
	start = clock();
	assert_int_equal(sm_activity_build(&activity, p, &err), 0);
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC <
		    5); /* of which a sanitizer takes most */
	assert_int_equal(activity->kernels[0].launch_count, MANY_OPS);
	assert_int_equal(activity->devices[0].both_ns, MANY_OPS * INT64_C(18000));
	expect_sum(&activity->devices[0]);
	free(p->samples);
	free(p->ops);
	done(b, activity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_difference_between_trace_and_sms_has_its_reason),
		cmocka_unit_test(what_lies_outside_of_sampled_time_is_never_counted),
		cmocka_unit_test(a_span_whose_samples_are_missing_is_not_sampled),
		cmocka_unit_test(both_and_neither_and_differences_add_up_to_the_sampled_time),
		cmocka_unit_test(a_device_whose_sms_were_not_sampled_has_its_traffic_and_its_time),
		cmocka_unit_test(pcie_traffic_of_sampling_itself_is_that_of_the_median_quiet_row),
		cmocka_unit_test(without_a_quiet_row_the_traffic_of_sampling_is_not_known),
		cmocka_unit_test(a_kernel_has_the_shares_of_its_sms_and_its_tail),
		cmocka_unit_test(launches_with_blocks_for_all_sms_have_shares_of_their_own),
		cmocka_unit_test(tails_of_a_device_are_those_of_its_own_kernels),
		cmocka_unit_test(no_share_exceeds_the_whole_where_samples_reach_beyond_the_record),
		cmocka_unit_test(launches_of_a_kernel_are_added_up_and_the_longest_comes_first),
		cmocka_unit_test(only_kernels_alone_and_wholly_sampled_are_told),
		cmocka_unit_test(sms_are_unequal_by_the_busiest_one_s_share_not_by_their_life_s),
		cmocka_unit_test(without_a_tail_there_is_no_imbalance_that_a_queue_would_remove),
		cmocka_unit_test(launches_of_too_few_blocks_for_all_sms_are_no_imbalance),
		cmocka_unit_test(
			two_million_samples_and_a_hundred_thousand_operations_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
