/* From the files of a recording to struct profile, whole and damaged. */
#define _GNU_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "trace/profile.h"
#include "trace/reader.h"

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture_small(fixture);
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

/* Replaces one table of the small recording and loads it. */
static struct profile *load_with(const struct fixture *fixture, const char *file, const char *text)
{
	fixture_write(fixture, FIXTURE_PROCESS, file, text);
	return load(fixture);
}

static const struct profile_loss *find_loss(const struct profile *profile, uint32_t process,
					    const char *kind)
{
	for (size_t i = 0; i < profile->loss_count; i++)
		if (profile->losses[i].process == process && !strcmp(profile->losses[i].kind, kind))
			return &profile->losses[i];
	return NULL;
}

static void assert_loss(const struct profile *profile, const char *kind, uint64_t count,
			const char *detail)
{
	const struct profile_loss *loss = find_loss(profile, 0, kind);

	assert_non_null(loss);
	assert_int_equal(loss->count, count);
	assert_string_equal(loss->detail, detail);
}

static uint64_t loss_count(const struct profile *profile, const char *kind)
{
	const struct profile_loss *loss = find_loss(profile, 0, kind);

	return loss ? loss->count : 0;
}

/* Everything that profile.h promises about indexes and order. */
static void assert_consistent(const struct profile *profile)
{
	size_t op_sum = 0, call_sum = 0, range_sum = 0;

	for (size_t i = 0; i < profile->stream_count; i++) {
		assert_true(profile->streams[i].process < profile->process_count);
		assert_true(profile->streams[i].device < profile->device_count);
	}
	for (size_t i = 0; i < profile->signature_count; i++)
		assert_ptr_equal(profile->signatures[i].name,
				 profile->kernel_names[profile->signatures[i].kernel]);
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const size_t limits[] = {profile->signature_count, profile->copy_count,
					 profile->memset_count, profile->graph_launch_count};

		assert_true(op->start_ns > 0 && op->start_ns <= op->end_ns);
		assert_true(op->stream < profile->stream_count);
		assert_true(op->device < profile->device_count);
		assert_true(op->detail < limits[op->kind]);
		assert_true(op->call == PROFILE_NONE || op->call < profile->call_count);
		if (i > 0 && op[-1].device == op->device)
			assert_true(op[-1].start_ns <= op->start_ns);
	}
	for (size_t i = 0; i < profile->device_count; i++) {
		assert_int_equal(profile->devices[i].first_op, op_sum);
		op_sum += profile->devices[i].op_count;
	}
	for (size_t i = 0; i < profile->call_count; i++)
		assert_true(profile->calls[i].name < profile->call_name_count);
	for (size_t i = 0; i < profile->thread_count; i++) {
		assert_true(profile->threads[i].process < profile->process_count);
		assert_int_equal(profile->threads[i].first_call, call_sum);
		assert_int_equal(profile->threads[i].first_range, range_sum);
		call_sum += profile->threads[i].call_count;
		range_sum += profile->threads[i].range_count;
	}
	for (size_t i = 0; i < profile->sync_count; i++)
		assert_true(profile->syncs[i].stream == PROFILE_NONE ||
			    profile->syncs[i].stream < profile->stream_count);
	for (size_t i = 0; i < profile->copy_count; i++)
		assert_true(profile->copies[i].src_device < profile->device_count &&
			    profile->copies[i].dst_device < profile->device_count);
	for (size_t i = 0; i < profile->counter_count; i++) {
		const struct profile_counter *counter = &profile->counters[i];

		assert_true(counter->subject < (counter->is_graph ? profile->counted_graph_count
								  : profile->signature_count));
		assert_true(counter->metric < profile->metric_count);
		assert_true(counter->sample_count > 0);
	}
	assert_int_equal(op_sum, profile->op_count);
	assert_int_equal(call_sum, profile->call_count);
	assert_int_equal(range_sum, profile->range_count);
}

/* ---- a whole recording ---- */

static void test_process(void **state)
{
	struct profile *profile = load(*state);
	const struct profile_process *process = profile->processes;

	assert_int_equal(profile->process_count, 1);
	assert_string_equal(process->folder, FIXTURE_PROCESS);
	assert_string_equal(process->host, "host");
	assert_string_equal(process->command, "app \"quoted\", with a comma");
	assert_int_equal(process->pid, 100);
	assert_int_equal(process->start_ns, 500);
	assert_int_equal(process->sealed_ns, 9000);
	assert_int_equal(process->first_ns, 800);
	assert_int_equal(process->last_ns, 7100);
	assert_int_equal(process->rank, 3);
	assert_false(process->is_graph_level);
	assert_false(process->is_filtered);
	assert_string_equal(profile_property(process, "collector", "?"), "0.1.0");
	assert_string_equal(profile_property(process, "driver", "?"), "?");
	profile_free(profile);
}

static void test_device(void **state)
{
	struct profile *profile = load(*state);
	const struct profile_device *device = profile->devices;

	assert_int_equal(profile->device_count, 1);
	assert_string_equal(device->name, "NVIDIA Test GPU");
	assert_string_equal(device->uuid, "GPU-aa");
	assert_int_equal(device->compute_major, 9);
	assert_int_equal(device->sm_count, 132);
	assert_int_equal(device->sm_clock_khz, 1980000);
	assert_int_equal(device->memory_bytes, 150000000000);
	assert_int_equal(device->memory_byte_per_s, 4800000000000);
	assert_int_equal(device->l2_bytes, 62914560);
	assert_int_equal(device->max_warps_per_sm, 64);
	assert_int_equal(device->max_blocks_per_sm, 32);
	assert_int_equal(device->max_registers_per_sm, 65536);
	assert_int_equal(device->max_shared_bytes_per_sm, 233472);
	assert_int_equal(device->op_count, 5);
	profile_free(profile);
}

static void test_ops(void **state)
{
	static const struct {
		int64_t start_ns;
		enum profile_op_kind kind;
		uint32_t stream, graph;
	} expected[] = {{2000, OP_KERNEL, 7, 0},
			{3000, OP_KERNEL, 13, 5},
			{4000, OP_COPY, 7, 0},
			{4500, OP_MEMSET, 7, 0},
			{5000, OP_GRAPH, 13, 9}};
	struct profile *profile = load(*state);

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct profile_op *op = &profile->ops[i];

		assert_int_equal(op->start_ns, expected[i].start_ns);
		assert_int_equal(op->kind, expected[i].kind);
		assert_int_equal(profile->streams[op->stream].stream, expected[i].stream);
		assert_int_equal(op->graph, expected[i].graph);
	}
	assert_int_equal(profile->ops[1].graph_node, 77);
	assert_int_equal(profile->copies[0].bytes, 4096);
	assert_int_equal(profile->copies[0].kind, 1);
	assert_int_equal(profile->copies[0].src_memory, 2);
	assert_int_equal(profile->copies[0].dst_memory, 3);
	assert_int_equal(profile->copies[0].copy_count, 1);
	assert_true(profile->copies[0].is_async);
	assert_int_equal(profile->memsets[0].bytes, 64);
	assert_int_equal(profile->memsets[0].memory, 3);
	assert_int_equal(profile->graph_launches[0].launch_mode, 2);
	assert_int_equal(profile->graph_launches[0].launcher_graph, 5);
	profile_free(profile);
}

static void test_signatures(void **state)
{
	struct profile *profile = load(*state);
	const struct profile_signature *axpy = &profile->signatures[profile->ops[0].detail];
	const struct profile_signature *plain = &profile->signatures[profile->ops[1].detail];

	assert_string_equal(axpy->mangled, "_Z4axpyPf");
	assert_string_equal(axpy->name, "axpy(float*)");
	assert_string_equal(plain->name, "plain_kernel");
	assert_memory_equal(axpy->grid, ((uint32_t[]){10, 2, 3}), 12);
	assert_memory_equal(axpy->block, ((uint32_t[]){128, 4, 5}), 12);
	assert_memory_equal(axpy->cluster, ((uint32_t[]){6, 7, 8}), 12);
	assert_int_equal(axpy->registers_per_thread, 40);
	assert_int_equal(axpy->static_shared_bytes, 1024);
	assert_int_equal(axpy->dynamic_shared_bytes, 2048);
	assert_int_equal(axpy->local_bytes_per_thread, 16);
	assert_int_equal(axpy->launch_type, 1);
	assert_int_equal(profile->kernel_name_count, 2);
	profile_free(profile);
}

static void test_streams(void **state)
{
	struct profile *profile = load(*state);

	assert_int_equal(profile->stream_count, 2);
	assert_true(profile->streams[0].is_null);
	assert_false(profile->streams[1].is_null);
	assert_int_equal(profile->streams[1].priority, UINT32_MAX);
	assert_int_equal(profile->streams[1].flag, 2);
	profile_free(profile);
}

static const char *call_text(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].text;
}

static void test_calls(void **state)
{
	struct profile *profile = load(*state);

	assert_int_equal(profile->call_count, 4); /* cuLaunchKernel was inside another call */
	for (size_t i = 1; i < 3; i++)
		assert_true(profile->calls[i - 1].thread != profile->calls[i].thread ||
			    profile->calls[i - 1].start_ns <= profile->calls[i].start_ns);
	assert_string_equal(call_text(profile, profile->ops[0].call), "cudaLaunchKernel");
	assert_int_equal(profile->calls[profile->ops[0].call].start_ns, 1000);
	/* correlation 103 was the nested call's: its parent launched the kernel */
	assert_int_equal(profile->calls[profile->ops[1].call].start_ns, 1600);
	assert_string_equal(call_text(profile, profile->ops[2].call), "cudaMemcpyAsync");
	assert_int_equal(profile->calls[profile->ops[2].call].result, 1);
	assert_true(profile->ops[3].call == PROFILE_NONE);
	profile_free(profile);
}

static void test_threads(void **state)
{
	struct profile *profile = load(*state);
	bool has_named = false;

	assert_int_equal(profile->thread_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		if (thread->thread == 100)
			assert_null(thread->name);
		if (thread->thread != 200)
			continue;
		has_named = true;
		assert_string_equal(thread->name, "loader thread");
		assert_int_equal(thread->call_count, 1);
		assert_int_equal(thread->range_count, 1);
	}
	assert_true(has_named);
	profile_free(profile);
}

static void test_ranges(void **state)
{
	struct profile *profile = load(*state);
	const struct profile_range *outer = NULL, *inner = NULL, *open = NULL;

	assert_int_equal(profile->range_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_range *range = &profile->ranges[i];

		if (range->start_ns == 950)
			outer = range;
		if (range->start_ns == 1100)
			inner = range;
		if (range->start_ns == 7100)
			open = range;
	}
	assert_true(outer && inner && open);
	assert_true(outer < inner);
	assert_string_equal(outer->name, "outer");
	assert_string_equal(outer->domain, "");
	assert_int_equal(outer->end_ns, 7000);
	assert_int_equal(outer->depth, 0);
	assert_string_equal(inner->name, "inner, \"quoted\"");
	assert_string_equal(inner->domain, "domain");
	assert_int_equal(inner->end_ns, 1300);
	assert_int_equal(inner->depth, 1);
	assert_true(inner->is_push_pop && !inner->is_open);
	assert_true(open->is_open && !open->is_push_pop);
	assert_int_equal(open->end_ns, 7100);
	profile_free(profile);
}

static void test_events(void **state)
{
	struct profile *profile = load(*state);

	assert_int_equal(profile->sync_count, 2);
	assert_int_equal(profile->syncs[0].start_ns, 2550);
	assert_int_equal(profile->streams[profile->syncs[0].stream].stream, 13);
	assert_true(profile->syncs[1].stream == PROFILE_NONE);
	assert_int_equal(profile->syncs[1].kind, 4);
	assert_string_equal(call_text(profile, profile->syncs[1].call), "cudaDeviceSynchronize");
	assert_int_equal(profile->overhead_count, 1);
	assert_string_equal(profile->overheads[0].name, "buffer flush");
	assert_true(profile->overheads[0].is_profiler);
	assert_true(profile->overheads[0].thread == PROFILE_NONE);
	assert_int_equal(profile->jit_count, 1);
	assert_int_equal(profile->jits[0].cache_bytes, 12345);
	assert_int_equal(profile->jits[0].operation, 3);
	assert_int_equal(profile->threads[profile->jits[0].thread].thread, 100);
	profile_free(profile);
}

static void test_losses(void **state)
{
	struct profile *profile = load(*state);

	assert_int_equal(profile->loss_count, 1);
	assert_loss(profile, "dropped_records", 12, "first");
	profile_free(profile);
}

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
	profile = load(fixture);
	assert_consistent(profile);
	assert_int_equal(profile->process_count, 2);
	assert_string_equal(profile->processes[0].folder, "host.99"); /* numbers by value */
	assert_int_equal(profile->device_count, 2);
	assert_int_equal(profile->devices[1].op_count, 6); /* host.99's copies name GPU-bb */
	assert_int_equal(profile->devices[0].op_count, 3);
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
	profile = load_with(fixture, "devices.csv", devices);
	assert_int_equal(profile->device_count, 2);
	profile_free(profile);
}

static void test_unreadable_neighbour(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_write(fixture, "host.101", "x", "");
	fixture_write(fixture, "host.101/kernels.csv", "x", ""); /* a folder, not a table */
	profile = load(fixture);
	assert_int_equal(profile->process_count, 1);
	assert_int_equal(profile->loss_count, 1);
	profile_free(profile);
}

/* ---- damage ---- */

static void test_no_recording(void **state)
{
	struct profile *profile;
	struct fixture empty = {0};
	struct err err = {""};

	(void)state;
	fixture_create(&empty);
	assert_int_equal(profile_load(&profile, empty.path, &err), -ENOENT);
	assert_non_null(strstr(err.text, empty.path));
	assert_non_null(strstr(err.text, "rooflinectl record"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(profile_load(&profile, "/nonexistent/folder", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/folder: No such file or directory");
	memset(&err, 0, sizeof(err));
	fixture_write(&empty, "host.1", "x", "");
	fixture_write(&empty, "host.1/kernels.csv", "x", "");
	assert_int_equal(profile_load(&profile, empty.path, &err), -EIO);
	assert_non_null(strstr(err.text, "host.1/kernels.csv: Is a directory"));
	fixture_remove(&empty);
}

static void test_unreadable_table(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;
	char path[128];

	snprintf(path, sizeof(path), "%s/" FIXTURE_PROCESS "/copies.csv", fixture->path);
	assert_int_equal(unlink(path), 0);
	fixture_write(fixture, FIXTURE_PROCESS "/copies.csv", "x", "");
	profile = load(fixture);
	assert_int_equal(profile->op_count, 4);
	assert_loss(profile, "unreadable_rows", 1,
		    "host.100/copies.csv: the table cannot be read: Is a directory");
	profile_free(profile);
}

static void test_invalid_times(void **state)
{
	struct profile *profile =
		load_with(*state, "kernels.csv",
			  "start_ns,end_ns,signature,device,context,stream\n"
			  "0,10,1,0,1,7\n10,0,1,0,1,7\n20,10,1,0,1,7\n-5,10,1,0,1,7\n"
			  "1,9223372036854775807,1,0,1,7\n30,30,1,0,1,7\n");

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 4); /* one kernel is good */
	assert_loss(profile, "invalid_times", 5, "host.100/kernels.csv:2: start 0, end 10");
	profile_free(profile);
}

static void test_orphans(void **state)
{
	struct profile *profile =
		load_with(*state, "kernels.csv",
			  "start_ns,end_ns,signature,device,context,stream,correlation\n"
			  "2000,2100,99,0,1,7,101\n"
			  "2200,2300,1,6,1,7,4294967295\n"
			  "2400,2500,1,0,4294967295,4294967295,999\n"
			  "2600,2700,4000000000,70000,55,66,1\n");
	const struct profile_op *ops = profile->ops;

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 7);
	assert_int_equal(profile->device_count, 3);
	/* the four kernels, and the counted graph launch that is gone */
	assert_loss(profile, "orphan_ids", 5,
		    "host.100/kernels.csv:2: signature 99 is not in signatures.csv");
	assert_string_equal(profile->signatures[ops[0].detail].name, "unknown kernel");
	assert_int_equal(profile->calls[ops[0].call].start_ns, 1000);
	assert_string_equal(profile->devices[1].name, "unknown GPU");
	profile_free(profile);
}

static void test_orphan_names(void **state)
{
	struct profile *profile = load_with(*state, "names.csv", "id,text\n");

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 5);
	assert_string_equal(profile->kernel_names[0], "unknown kernel");
	assert_string_equal(call_text(profile, 0), "unknown call");
	assert_string_equal(profile->overheads[0].name, "unknown overhead");
	assert_string_equal(profile->ranges[0].name, "unknown range");
	assert_true(loss_count(profile, "orphan_ids") >= 9);
	profile_free(profile);
}

static void test_only_kernels(void **state)
{
	struct fixture fixture = {0};
	struct profile *profile;

	(void)state;
	fixture_create(&fixture);
	fixture_write(
		&fixture, "h.7", "kernels.csv",
		"start_ns,end_ns,signature,device,context,stream\n5,9,1,2,1,7\n5,8,1,3,1,7\n");
	profile = load(&fixture);
	assert_consistent(profile);
	assert_int_equal(profile->op_count, 2);
	assert_int_equal(profile->device_count, 2);
	assert_int_equal(profile->processes[0].pid, 7);
	assert_string_equal(profile->processes[0].command, "");
	assert_int_equal(profile->processes[0].rank, -1);
	assert_int_equal(profile->processes[0].sealed_ns, 0);
	assert_int_equal(loss_count(profile, "orphan_ids"), 2);
	profile_free(profile);
	fixture_remove(&fixture);
}

static void test_unused_stream(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_write(fixture, FIXTURE_PROCESS, "contexts.csv", "");
	profile = load_with(fixture, "streams.csv", "context,stream,flag\n9,50,3\n");
	assert_consistent(profile); /* its device is a real index */
	assert_true(profile->streams[0].is_null);
	profile_free(profile);
}

static void test_newer_schema(void **state)
{
	struct profile *profile = load_with(*state, "process.csv", "key,value\nschema,2\n");
	const struct profile_loss *loss = find_loss(profile, 0, "newer_schema");

	assert_non_null(loss);
	assert_non_null(strstr(loss->detail, "host.100/process.csv:2: schema 2 is newer than 1"));
	assert_int_equal(profile->op_count, 5);
	profile_free(profile);
}

static void test_filters(void **state)
{
	static const char *const rows[] = {"filter_kernels,x", "delay_ns,5", "duration_ns,7",
					   "profiler_api,1"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile *profile;
		char text[128];

		snprintf(text, sizeof(text), "key,value\n%s\ngraphs,graph\n", rows[i]);
		profile = load_with(*state, "process.csv", text);
		assert_true(profile->processes[0].is_filtered);
		assert_true(profile->processes[0].is_graph_level);
		profile_free(profile);
	}
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
	profile = load(*state);
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
	profile = load(fixture);
	assert_int_equal(profile->process_count, 3);
	assert_int_equal(profile->op_count, 15);
	assert_null(profile->graph_run);
	profile_free(profile);
}

static void test_one_run(void **state)
{
	struct profile *profile = load(*state);

	assert_int_equal(profile->processes[0].run, 0);
	assert_null(profile->graph_run);
	profile_free(profile);
}

static void test_far_correlations(void **state)
{
	struct profile *profile;

	fixture_write(*state, FIXTURE_PROCESS, "api.csv",
		      "start_ns,end_ns,name,thread,correlation\n"
		      "1000,1100,3,100,4000000000\n1200,1300,3,100,7\n1210,1220,4,100,8\n");
	profile = load_with(*state, "kernels.csv",
			    "start_ns,end_ns,signature,device,context,stream,correlation\n"
			    "2000,2010,1,0,1,7,4000000000\n2020,2030,1,0,1,7,8\n"
			    "2040,2050,1,0,1,7,9\n");
	assert_int_equal(profile->calls[profile->ops[0].call].start_ns, 1000);
	assert_int_equal(profile->calls[profile->ops[1].call].start_ns, 1200);
	assert_true(profile->ops[2].call == PROFILE_NONE);
	profile_free(profile);
}

static void test_unordered(void **state)
{
	struct profile *profile;
	char text[200 * 64], *to = text;

	to += sprintf(to, "start_ns,end_ns,signature,device,context,stream\n");
	for (int i = 0; i < 150; i++) {
		int start = 1000 + i * 37 % 150;

		to += sprintf(to, "%d,%d,1,0,1,7\n", start, start + i % 5);
	}
	profile = load_with(*state, "kernels.csv", text);
	assert_int_equal(profile->op_count, 153);
	assert_consistent(profile);
	profile_free(profile);
}

static void test_nested_threads(void **state)
{
	struct profile *profile =
		load_with(*state, "api.csv",
			  "start_ns,end_ns,name,thread,correlation\n"
			  "1100,1200,4,1,1\n" /* inside the next, written before it */
			  "1000,2000,3,1,2\n"
			  "1300,1400,4,1,3\n"
			  "1350,1380,4,1,4\n"	/* inside a dropped one */
			  "1950,2050,4,2,5\n"	/* another thread */
			  "1900,2100,4,1,6\n"	/* overlaps, is not inside */
			  "1000,2000,4,1,7\n"); /* exactly as long as the outer */

	assert_int_equal(profile->call_count, 3);
	assert_int_equal(profile->calls[0].correlation, 2);
	profile_free(profile);
}

static void test_marker_ends(void **state)
{
	struct profile *profile = load_with(*state, "markers.csv",
					    "time_ns,id,phase,is_thread,thread,domain,name\n"
					    "1000,1,2,1,100,0,0\n" /* started before recording */
					    "1100,2,1,1,100,0,8\n"
					    "1200,2,2,1,100,0,0\n"
					    "1200,2,1,1,100,0,9\n" /* the id again */
					    "1300,2,2,1,100,0,0\n"
					    "1400,3,1,1,100,0,8\n"); /* never ends */

	assert_int_equal(profile->range_count, 3);
	assert_int_equal(profile->ranges[1].start_ns, 1200);
	assert_int_equal(profile->ranges[1].end_ns, 1300);
	assert_int_equal(profile->ranges[1].depth, 0);
	assert_true(profile->ranges[2].is_open);
	assert_int_equal(profile->ranges[2].end_ns, profile->processes[0].last_ns);
	assert_loss(profile, "orphan_ids", 1,
		    "host.100/markers.csv: marker 1 ends without a start");
	profile_free(profile);
}

static void test_loss_overflow(void **state)
{
	struct profile *profile = load_with(*state, "losses.csv",
					    "time_ns,kind,count,detail\n"
					    "1,dropped_records,18446744073709551615,a\n"
					    "1,dropped_records,1,b\n");

	assert_loss(profile, "dropped_records", UINT64_MAX, "a");
	profile_free(profile);
}

/* Every table, cut off at every byte: never a crash, and the loss is told. */
static void test_cut_everywhere(void **state)
{
	const struct fixture *fixture = *state;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		const char *text = fixture_table((enum trace_table)table);
		char file[64];

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (size_t length = 0; text[length]; length++) {
			struct profile *profile;
			bool is_cut = length > 0 && text[length - 1] != '\n';

			fixture_write_bytes(fixture, FIXTURE_PROCESS, file, text, length);
			profile = load(fixture);
			assert_consistent(profile);
			if (loss_count(profile, "cut_off_rows") != (is_cut ? 1 : 0))
				fail_msg("%s cut after %zu bytes: %" PRIu64 " cut_off_rows", file,
					 length, loss_count(profile, "cut_off_rows"));
			profile_free(profile);
		}
		fixture_write(fixture, FIXTURE_PROCESS, file, text);
	}
}

/* Copies CSV text without its column-th column; returns false when there is none such. */
static bool drop_column(char *to, const char *text, unsigned column)
{
	unsigned at = 0;
	bool is_quoted = false, was_there = false, is_first = true;

	for (; *text; text++) {
		if (*text == '"')
			is_quoted = !is_quoted;
		if (!is_quoted && (*text == ',' || *text == '\n')) {
			at = *text == ',' ? at + 1 : 0;
			if (*text == '\n')
				is_first = true;
			if (*text == '\n' || (at != column && !is_first))
				*to++ = *text;
			continue;
		}
		if (at == column) {
			was_there = true;
			continue;
		}
		*to++ = *text;
		is_first = false;
	}
	*to = '\0';
	return was_there;
}

static void test_missing_columns(void **state)
{
	const struct fixture *fixture = *state;
	unsigned tried = 0;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		const char *text = fixture_table((enum trace_table)table);
		char file[64], less[4096];

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (unsigned column = 0; drop_column(less, text, column); column++) {
			struct profile *profile = load_with(fixture, file, less);

			assert_consistent(profile);
			assert_int_equal(loss_count(profile, "unreadable_rows"), 0);
			assert_int_equal(loss_count(profile, "cut_off_rows"), 0);
			profile_free(profile);
			tried++;
		}
		fixture_write(fixture, FIXTURE_PROCESS, file, text);
	}
#define COUNT_COLUMN(type, name, meaning) +1
#define COUNT_TABLE(table, columns) columns(COUNT_COLUMN)
	assert_int_equal(tried, TRACE_TABLES(COUNT_TABLE));
}

/* Every byte of every table replaced by what hurts a parser most. */
static void test_damage_everywhere(void **state)
{
	static const char bad[] = {'\0', '"', ',', '\n', '9', '-'};
	const struct fixture *fixture = *state;
	unsigned turn = 0;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		const char *text = fixture_table((enum trace_table)table);
		size_t length = strlen(text);
		char file[64], damaged[4096];

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (size_t at = 0; at < length; at++) {
			struct profile *profile;

			memcpy(damaged, text, length);
			damaged[at] = bad[turn++ % sizeof(bad)];
			fixture_write_bytes(fixture, FIXTURE_PROCESS, file, damaged, length);
			profile = load(fixture);
			assert_consistent(profile);
			profile_free(profile);
		}
		fixture_write(fixture, FIXTURE_PROCESS, file, text);
	}
}

static void test_cr_lf(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		char file[64], converted[8192], *to = converted;

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (const char *text = fixture_table((enum trace_table)table); *text; text++) {
			if (*text == '\n')
				*to++ = '\r';
			*to++ = *text;
		}
		fixture_write_bytes(fixture, FIXTURE_PROCESS, file, converted,
				    (size_t)(to - converted));
	}
	profile = load(fixture);
	assert_int_equal(profile->op_count, 5);
	assert_int_equal(profile->loss_count, 1);
	profile_free(profile);
}

static void test_kind_names(void **state)
{
	(void)state;
	assert_string_equal(profile_copy_kind_name(1), "HtoD");
	assert_string_equal(profile_copy_kind_name(8), "DtoD");
	assert_string_equal(profile_copy_kind_name(10), "PtoP");
	assert_string_equal(profile_copy_kind_name(0), "other");
	assert_string_equal(profile_copy_kind_name(UINT32_MAX), "other");
	assert_string_equal(profile_memory_kind_name(1), "pageable");
	assert_string_equal(profile_memory_kind_name(5), "managed");
	assert_string_equal(profile_memory_kind_name(99), "other");
	profile_free(NULL);
}

#define TEST(name, function)                            \
	{                                               \
		name, function, set_up, tear_down, NULL \
	}

/* ---- samples ---- */

#define SAMPLES_HEADER \
	"start_ns,length_ns,device,sample_count,dispatches,sm_cycles,sm_elapsed_cycles\n"

static void samples_are_shares_and_bytes(void **state)
{
	struct profile *profile = load(*state);
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
	struct profile *profile = load(*state);

	assert_int_equal(profile->devices[0].sampled,
			 1u << SAMPLED_dispatches | 1u << SAMPLED_sm_cycles);
	profile_free(profile);
}

static void spans_that_touch_are_one(void **state)
{
	struct profile *profile = load_with(*state, "sampled_spans.csv",
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
	struct profile *profile = load_with(*state, "samples.csv",
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
		load_with(*state, "samples.csv",
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
	profile = load_with(*state, "samples.csv", text);
	assert_int_equal(profile->sample_count, 0);
	assert_true(loss_count(profile, "orphan_ids") >= row_count);
	profile_free(profile);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("facts of the process are found", test_process),
		TEST("a device has all its properties", test_device),
		TEST("operations of all kinds come in time order", test_ops),
		TEST("a kernel has its shape and demangled name", test_signatures),
		TEST("streams know whether they are the default stream", test_streams),
		TEST("nested calls are dropped and their operations go to the parent", test_calls),
		TEST("threads have names, calls and ranges", test_threads),
		TEST("markers become nested ranges", test_ranges),
		TEST("waits, overheads and JIT find their call, stream and thread", test_events),
		TEST("losses of one kind are added up", test_losses),
		TEST("one process folder is a recording too", test_one_process_folder),
		TEST("two processes on one GPU share the device", test_two_processes),
		TEST("devices without UUID are told apart by ordinal", test_devices_without_uuid),
		TEST("a process that cannot be read does not hide the others",
		     test_unreadable_neighbour),
		TEST("a folder without a recording is a clear message", test_no_recording),
		TEST("a table that cannot be read is a counted loss", test_unreadable_table),
		TEST("zero, reversed and absurd times are counted", test_invalid_times),
		TEST("operations that refer to nothing are kept and counted", test_orphans),
		TEST("missing names get a name", test_orphan_names),
		TEST("kernels alone are a recording", test_only_kernels),
		TEST("a stream that nothing describes has a device", test_unused_stream),
		TEST("a newer schema is read and told", test_newer_schema),
		TEST("a recording knows that it was filtered", test_filters),
		TEST("the second run of two is a profile of its own", test_two_runs),
		TEST("a second run alone is an ordinary recording", test_second_run_alone),
		TEST("a program that ran once has no second run", test_one_run),
		TEST("correlation ids that lie far apart are found", test_far_correlations),
		TEST("rows out of order are sorted", test_unordered),
		TEST("calls are nested per thread only", test_nested_threads),
		TEST("ends without starts and starts without ends are told", test_marker_ends),
		TEST("counts of losses cannot overflow", test_loss_overflow),
		TEST("every table may be cut off at every byte", test_cut_everywhere),
		TEST("every column may be missing", test_missing_columns),
		TEST("every byte may be damaged", test_damage_everywhere),
		TEST("CR LF in every table changes nothing", test_cr_lf),
		TEST("kinds of copies and memory have names", test_kind_names),
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
