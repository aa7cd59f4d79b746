/* From the tables of samples to struct profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_profile.h"

#define SAMPLES_HEADER \
	"start_ns,length_ns,device,sample_count,dispatches,sm_cycles,sm_elapsed_cycles\n"

static void samples_are_shares_and_bytes(void **state)
{
	struct profile *profile = fixture_load(*state);
	const struct profile_sample *sample = profile->samples;
	const struct profile_device *device = profile->devices;

	assert_int_equal(profile->sample_count, 2);
	assert_int_equal(device->first_sample, 0);
	assert_int_equal(device->sample_count, 2);
	assert_int_equal(sample->start_ns, 2000);
	assert_int_equal(sample->length_ns, 1000);
	assert_float_equal(sample->dispatches, 1, 0);
	assert_float_equal(sample->blocks, 64, 0);
	assert_float_equal(sample->compute, 0.5, 1e-6);
	assert_float_equal(sample->sm, 0.25, 1e-6); /* 65340 of 132 SMs' 1980 cycles */
	assert_float_equal(sample->sm_min, 0.25, 1e-6);
	assert_float_equal(sample->sm_max, 1, 1e-6);
	assert_float_equal(sample->tensor, 0.05, 1e-6);
	assert_float_equal(sample->dram_write_bytes, 200, 0);
	assert_float_equal(sample->l2_bytes, 320, 0);
	assert_float_equal(sample->atomic_bytes, 160, 0);
	profile_free(profile);
}

static void a_device_knows_what_was_sampled_of_it(void **state)
{
	struct profile *profile = fixture_load(*state);

	assert_int_equal(profile->devices[0].sampled,
			 1u << SAMPLED_dispatches | 1u << SAMPLED_sm_cycles);
	profile_free(profile);
}

static void spans_that_touch_are_one(void **state)
{
	struct profile *profile = fixture_load_with(*state, "sampled_spans.csv",
						    "device,start_ns,end_ns,interval_ns\n"
						    "0,5000,6000,1000\n"
						    "0,2000,3000,1000\n"
						    "0,3000,4000,1000\n");

	assert_int_equal(profile->sampled_span_count, 2);
	assert_int_equal(profile->devices[0].span_count, 2);
	assert_int_equal(profile->sampled_spans[0].start_ns, 2000);
	assert_int_equal(profile->sampled_spans[0].end_ns, 4000);
	assert_int_equal(profile->sampled_spans[1].start_ns, 5000);
	profile_free(profile);
}

static void a_gpu_that_two_processes_sample_is_counted_once(void **state)
{
	struct profile *profile = fixture_load_with(*state, "samples.csv",
						    SAMPLES_HEADER "3000,1000,0,1,2,0,1980\n"
								   "2000,1000,0,1,1,0,1980\n"
								   "2500,1000,0,1,1,0,1980\n");

	assert_int_equal(profile->sample_count, 2);
	assert_int_equal(profile->samples[0].start_ns, 2000);
	assert_int_equal(profile->samples[1].start_ns, 3000);
	profile_free(profile);
}

static void damaged_samples_are_counted_and_skipped(void **state)
{
	struct profile *profile =
		fixture_load_with(*state, "samples.csv",
				  SAMPLES_HEADER "2000,18446744073709551615,0,1,1,0,1980\n"
						 "0,1000,0,1,1,0,1980\n"
						 "2000,1000,9,1,1,0,1980\n"
						 "2000,1000,0,1,1,1e9,1980\n"
						 "4000,1000,0,0,1,999999999,1980\n");

	assert_int_equal(profile->sample_count, 1);
	assert_float_equal(profile->samples[0].sm, 1, 0); /* never more than all */
	assert_int_equal(profile->samples[0].sample_count, 1);
	assert_int_equal(find_loss(profile, 0, "invalid_times")->count, 2);
	assert_int_equal(find_loss(profile, 0, "orphan_ids")->count, 1);
	assert_int_equal(find_loss(profile, 0, "unreadable_rows")->count, 1);
	profile_free(profile);
}

/* A kernel may be of such a device, and is resolved at another time than samples are read: of these not one is kept,
 * however many there are. */
static void samples_of_a_device_that_nothing_describes_are_skipped(void **state)
{
	static const char row[] = "2000,1000,7,1,1,0,1980\n";
	const size_t row_count = 100000, length = sizeof(row) - 1;
	char *text = malloc(sizeof(SAMPLES_HEADER) + row_count * length);
	struct profile *profile;

	assert_non_null(text);
	memcpy(text, SAMPLES_HEADER, sizeof(SAMPLES_HEADER));
	for (size_t i = 0; i < row_count; i++)
		memcpy(text + sizeof(SAMPLES_HEADER) - 1 + i * length, row, sizeof(row));
	fixture_write(
		*state, FIXTURE_PROCESS, "kernels.csv",
		"start_ns,end_ns,signature,device,context,stream,correlation,graph,graph_node\n"
		"2000,2500,1,7,1,7,101,0,0\n");
	profile = fixture_load_with(*state, "samples.csv", text);
	assert_int_equal(profile->sample_count, 0);
	assert_true(loss_count(profile, "orphan_ids") >= row_count);
	profile_free(profile);
	free(text);
}

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("samples are shares and bytes", samples_are_shares_and_bytes),
		TEST("a device knows what was sampled of it",
		     a_device_knows_what_was_sampled_of_it),
		TEST("sampled spans that touch are one", spans_that_touch_are_one),
		TEST("a GPU that two processes sample is counted once",
		     a_gpu_that_two_processes_sample_is_counted_once),
		TEST("damaged samples are counted and skipped",
		     damaged_samples_are_counted_and_skipped),
		TEST("samples of a device that nothing describes are skipped, all of them",
		     samples_of_a_device_that_nothing_describes_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
