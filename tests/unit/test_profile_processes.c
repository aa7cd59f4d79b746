/* Several processes and runs in one struct profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_profile.h"

static void test_one_process_folder(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;
	struct err err = {""};
	char path[128];

	snprintf(path, sizeof(path), "%s/" FIXTURE_PROCESS, fixture->path);
	assert_int_equal(profile_load(&profile, path, &err), 0);
	assert_string_equal(profile->processes[0].folder, FIXTURE_PROCESS);
	assert_string_equal(profile->path, path);
	assert_int_equal(profile->op_count, 5);
	profile_free(profile);
}

/* ---- several processes ---- */

static void test_two_processes(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_add_process(fixture, "host.99");
	/* the same GPU under another ordinal, as CUDA_VISIBLE_DEVICES makes it */
	fixture_write(fixture, "host.99", "devices.csv",
		      "device,name,uuid\n0,Other GPU,GPU-bb\n1,NVIDIA Test GPU,GPU-aa\n");
	fixture_write(fixture, "host.99", "contexts.csv", "context,device,null_stream\n1,1,7\n");
	fixture_write(fixture, "host.99", "kernels.csv",
		      "start_ns,end_ns,signature,device,context,stream,correlation\n"
		      "2100,2200,1,1,1,7,101\n");
	profile = fixture_load(fixture);
	assert_consistent(profile);
	assert_int_equal(profile->process_count, 2);
	assert_string_equal(profile->processes[0].folder, "host.99"); /* numbers by value */
	assert_int_equal(profile->device_count, 2);
	assert_int_equal(profile->devices[1].op_count, 6); /* host.99's copies name GPU-bb */
	assert_int_equal(profile->devices[0].op_count, 3);
	for (size_t i = 1; i < 3; i++) { /* whatever device their context is on */
		const struct profile_stream *last = &profile->streams[profile->ops[i - 1].stream];
		const struct profile_stream *stream = &profile->streams[profile->ops[i].stream];

		assert_int_equal(stream == last, stream->stream == last->stream);
	}
	assert_int_equal(profile->signature_count, 2); /* the same in both */
	assert_int_equal(profile->kernel_name_count, 2);
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL)
			continue;
		assert_int_equal(profile->threads[profile->calls[op->call].thread].process,
				 profile_op_process(profile, op));
	}
	profile_free(profile);
}

static void test_devices_without_uuid(void **state)
{
	static const char devices[] = "device,name\n0,GPU\n1,GPU\n";
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_add_process(fixture, "host.101");
	fixture_write(fixture, "host.101", "devices.csv", devices);
	profile = fixture_load_with(fixture, "devices.csv", devices);
	assert_int_equal(profile->device_count, 2);
	profile_free(profile);
}

static void test_unreadable_neighbor(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_write(fixture, "host.101", "x", "");
	fixture_write(fixture, "host.101/kernels.csv", "x", ""); /* a folder, not a table */
	profile = fixture_load(fixture);
	assert_int_equal(profile->process_count, 1);
	assert_int_equal(profile->loss_count, 1);
	profile_free(profile);
}

/* Two processes of a second run, which hold what the first has. */
static void add_second_run(const struct fixture *fixture)
{
	fixture_write(fixture, FIXTURE_PROCESS, "process.csv", "key,value\nrun,1\ngraphs,node\n");
	fixture_add_process(fixture, "host.200");
	fixture_add_process(fixture, "host.99");
	fixture_write(fixture, "host.200", "process.csv", "key,value\nrun,2\ngraphs,graph\n");
	fixture_write(fixture, "host.99", "process.csv", "key,value\nrun,2\ngraphs,graph\n");
}

static void test_two_runs(void **state)
{
	struct profile *profile;

	add_second_run(*state);
	profile = fixture_load(*state);
	assert_consistent(profile);
	assert_int_equal(profile->process_count, 1);
	assert_string_equal(profile->processes[0].folder, FIXTURE_PROCESS);
	assert_int_equal(profile->processes[0].run, 1);
	assert_int_equal(profile->op_count, 5);
	assert_non_null(profile->graph_run);
	assert_consistent(profile->graph_run);
	assert_int_equal(profile->graph_run->process_count, 2);
	assert_int_equal(profile->graph_run->processes[0].run, 2);
	assert_true(profile->graph_run->processes[0].is_graph_level);
	assert_int_equal(profile->graph_run->op_count, 10);
	assert_null(profile->graph_run->graph_run);
	profile_free(profile);
}

static void test_second_run_alone(void **state)
{
	const struct fixture *fixture = *state;
	char path[128];
	struct profile *profile = NULL;
	struct err err = {""};

	add_second_run(fixture);
	snprintf(path, sizeof(path), "%s/host.99", fixture->path);
	assert_int_equal(profile_load(&profile, path, &err), 0);
	assert_int_equal(profile->process_count, 1);
	assert_int_equal(profile->op_count, 5);
	assert_null(profile->graph_run);
	profile_free(profile);
	fixture_write(fixture, FIXTURE_PROCESS, "process.csv", "key,value\nrun,2\n");
	profile = fixture_load(fixture);
	assert_int_equal(profile->process_count, 3);
	assert_int_equal(profile->op_count, 15);
	assert_null(profile->graph_run);
	profile_free(profile);
}

static void test_one_run(void **state)
{
	struct profile *profile = fixture_load(*state);

	assert_int_equal(profile->processes[0].run, 0);
	assert_null(profile->graph_run);
	profile_free(profile);
}

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("one process folder is a recording too", test_one_process_folder),
		TEST("two processes on one GPU share the device", test_two_processes),
		TEST("devices without UUID are told apart by ordinal", test_devices_without_uuid),
		TEST("a process that cannot be read does not hide the others",
		     test_unreadable_neighbor),
		TEST("the second run of two is a profile of its own", test_two_runs),
		TEST("a second run alone is an ordinary recording", test_second_run_alone),
		TEST("a program that ran once has no second run", test_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
