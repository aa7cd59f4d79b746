/* The counters of one run of a program, for what its first run launched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/report.h"
#include "fixture.h"
#include "trace/profile.h"

#define KERNELS_HEAD \
	"start_ns,end_ns,signature,device,context,stream,correlation,graph,graph_node\n"

static const char *const counter_tables[] = {"metrics.csv", "counted.csv", "counters.csv"};

/* host.100 is the first run, without counters; host.200 that with them. */
static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture_small(fixture);
	fixture_add_process(fixture, "host.200");
	fixture_write(fixture, FIXTURE_PROCESS, "process.csv", "key,value\nrun,1\n");
	fixture_write(fixture, "host.200", "process.csv", "key,value\nrun,3\n");
	for (size_t i = 0; i < sizeof(counter_tables) / sizeof(counter_tables[0]); i++)
		fixture_write(fixture, FIXTURE_PROCESS, counter_tables[i], "");
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	fixture_remove(*state);
	free(*state);
	return 0;
}

static struct profile *load(const struct fixture *fixture)
{
	struct profile *profile = NULL;
	struct err err = {""};

	if (profile_load(&profile, fixture->path, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

static void test_joined(void **state)
{
	struct profile *profile = load(*state);

	assert_int_equal(profile->process_count, 1);
	assert_int_equal(profile->op_count, 5);
	assert_int_equal(profile->metric_count, 3);
	assert_string_equal(profile->metrics[0].name, "dram__bytes_read.sum");
	assert_int_equal(profile->counter_count, 2);
	assert_false(profile->counters[0].is_graph);
	assert_string_equal(profile->signatures[profile->counters[0].subject].mangled, "_Z4axpyPf");
	assert_true(profile->counters[0].mean == 4096);
	for (size_t i = 0; i < profile->op_count; i++)
		assert_int_equal(profile->ops[i].counted, NOT_COUNTED);
	profile_free(profile);
}

/* The ids of graphs differ from run to run. */
static void test_graphs(void **state)
{
	struct profile *profile;

	fixture_write(*state, FIXTURE_PROCESS, "kernels.csv",
		      KERNELS_HEAD "2000,2500,1,0,1,7,101,0,0\n"
				   "3000,3700,2,0,1,13,103,8,77\n");
	profile = load(*state);
	assert_int_equal(profile->counted_graph_count, 1);
	assert_int_equal(profile->counted_graphs[0].graph, 8);
	assert_true(profile->counters[1].is_graph && profile->counters[1].mean == 12.5);
	profile_free(profile);
}

static void test_other_shape(void **state)
{
	struct profile *profile;

	fixture_write(*state, FIXTURE_PROCESS, "kernels.csv",
		      KERNELS_HEAD "3000,3700,2,0,1,13,103,5,77\n"
				   "3800,3900,2,0,1,13,103,6,77\n");
	fixture_write(*state, FIXTURE_PROCESS, "signatures.csv",
		      "id,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,cluster_x,cluster_y,"
		      "cluster_z,registers_per_thread,static_shared_bytes,dynamic_shared_bytes,"
		      "local_bytes_per_thread,launch_type\n"
		      "1,1,11,2,3,128,4,5,6,7,8,40,1024,2048,16,1\n"
		      "2,2,1,1,1,32,1,1,0,0,0,16,0,0,0,0\n");
	profile = load(*state);
	assert_int_equal(profile->counter_count, 0);
	assert_int_equal(profile->counted_graph_count, 0);
	profile_free(profile);
}

static void test_deleted(void **state)
{
	struct profile *profile;

	fixture_write(*state, FIXTURE_PROCESS, "process.csv", "key,value\nrun,3\n");
	profile = load(*state);
	assert_int_equal(profile->process_count, 2);
	assert_int_equal(profile->op_count, 10);
	assert_null(profile->counter_run);
	profile_free(profile);
}

/* Time is the first run's, so that work by time is a rate that counting did not disturb. */
static void test_rates(void **state)
{
	const struct counted_work *work;
	struct profile *profile;
	struct report *report;
	struct err err = {""};

	fixture_write(*state, "host.200", "kernels.csv",
		      KERNELS_HEAD "2000,9500,1,0,1,7,101,0,0\n");
	profile = load(*state);
	assert_int_equal(report_of_profile(&report, profile, &err), 0);
	work = &report->counted->kernels[profile->signatures[profile->counters[0].subject].kernel];
	assert_true(work->roles[METRIC_dram_read_bytes].total == 4096);
	assert_true(work->time_ns == 500);
	report_free(report);
}

/* A run with samples has a report of its own, and what its SMs did is known of the first run's kernels. */
static void test_samples(void **state)
{
	struct profile *profile;
	struct report *report;
	struct err err = {""};

	fixture_write(*state, "host.200", "process.csv", "key,value\nrun,4\n");
	fixture_write(*state, FIXTURE_PROCESS, "samples.csv", "");
	fixture_write(*state, FIXTURE_PROCESS, "sampled_spans.csv", "");
	profile = load(*state);
	assert_non_null(profile->sample_run);
	assert_int_equal(profile->sample_count, 0);
	assert_int_equal(report_of_profile(&report, profile, &err), 0);
	assert_non_null(report->sampled);
	assert_ptr_equal(report_with_samples(report), report->sampled);
	assert_true(report->sampled->profile->sample_count > 0);
	assert_int_equal(report->sm_activity->device_count, report->profile->device_count);
	assert_int_equal(report->sm_activity->devices[0].sampled_ns,
			 report->sampled->sm_activity->devices[0].sampled_ns);
	report_free(report);
}

#define TEST(name, function)                            \
	{                                               \
		name, function, set_up, tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("counters of another run are those of launches of the same shape",
		     test_joined),
		TEST("graphs of two runs are the same in the order of their launches", test_graphs),
		TEST("what only one of the runs launched is left out", test_other_shape),
		TEST("without the first run another one is a recording", test_deleted),
		TEST("work is by the time that counting did not disturb", test_rates),
		TEST("samples of another run have a report of their own", test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
