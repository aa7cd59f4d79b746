/* From the tables of a whole recording to struct profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_profile.h"

static void test_process(void **state)
{
	struct profile *profile = fixture_load(*state);
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
	assert_int_equal(process->heard_ns, 600);
	assert_int_equal(process->rank, 3);
	assert_false(process->is_graph_level);
	assert_false(process->is_filtered);
	assert_string_equal(profile_property(process, "collector", "?"), "0.1.0");
	assert_string_equal(profile_property(process, "driver", "?"), "?");
	profile_free(profile);
}

static void test_device(void **state)
{
	struct profile *profile = fixture_load(*state);
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

static void test_launches(void **state)
{
	struct profile *profile = fixture_load(*state);
	const struct profile_launch *launch = profile_launch_of(profile, profile->ops[0].call);

	assert_int_equal(profile->launch_count, 2);
	assert_non_null(launch);
	assert_true(launch->is_dependent && launch->has_priority && !launch->has_event);
	assert_int_equal(launch->priority, -3);
	assert_true(launch->is_cooperative);
	assert_null(profile_launch_of(profile, profile->ops[1].call));
	assert_null(profile_launch_of(profile, PROFILE_NONE));
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
	struct profile *profile = fixture_load(*state);

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct profile_op *op = &profile->ops[i];

		assert_int_equal(op->start_ns, expected[i].start_ns);
		assert_int_equal(op->kind, expected[i].kind);
		assert_int_equal(profile->streams[op->stream].stream, expected[i].stream);
		assert_int_equal(profile_op_graph(profile, op), expected[i].graph);
	}
	assert_int_equal(profile_op_node(profile, &profile->ops[1]), 77);
	assert_int_equal(profile->copies[0].bytes, 4096);
	assert_int_equal(profile->copies[0].kind, 1);
	assert_int_equal(profile->copies[0].src_memory, 2);
	assert_int_equal(profile->copies[0].dst_memory, 3);
	assert_true(profile->copies[0].is_async);
	assert_int_equal(profile->memsets[0].bytes, 64);
	assert_int_equal(profile->memsets[0].memory, 3);
	assert_int_equal(profile->graph_launches[0].launch_mode, 2);
	assert_int_equal(profile->graph_launches[0].launcher_graph, 5);
	profile_free(profile);
}

static void test_signatures(void **state)
{
	struct profile *profile = fixture_load(*state);
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

static void test_machine_code(void **state)
{
	struct profile *profile = fixture_load(*state);
	uint32_t axpy = profile->signatures[profile->ops[0].detail].kernel;
	uint32_t plain = profile->signatures[profile->ops[1].detail].kernel;
	const struct profile_machine_code *code = profile_machine_code(profile, axpy, 90);

	assert_int_equal(profile->machine_code_count, 3);
	assert_int_equal(code->instruction_count, 128);
	assert_int_equal(code->half_constant_count, 3);
	assert_int_equal(code->half_conversion_count, 2);
	assert_int_equal(code->half_arithmetic_count, 0);
	assert_int_equal(code->dependency_wait_count, 1);
	assert_int_equal(code->dependent_launch_count, 0);
	assert_int_equal(code->load_count, 12);
	assert_int_equal(code->load_before_wait_count, 5);
	assert_int_equal(profile_machine_code(profile, axpy, 80)->half_arithmetic_count, 1);
	code = profile_machine_code(profile, plain, 90);
	assert_int_equal(code->instruction_count, 64);
	assert_int_equal(code->half_constant_count, 1);
	assert_int_equal(code->half_conversion_count, 2);
	assert_int_equal(code->half_arithmetic_count, 5);
	assert_int_equal(code->dependent_launch_count, 2);
	assert_int_equal(code->load_count, 9);
	assert_null(profile_machine_code(profile, plain, 80));
	profile_free(profile);
}

static void test_loads(void **state)
{
	struct profile *profile = fixture_load(*state);

	assert_int_equal(profile->load_count, 2);
	assert_int_equal(profile->loads[0].image, IMAGE_FAT_BINARY);
	assert_true(profile->loads[0].is_embedded);
	assert_int_equal(profile->loads[1].image, IMAGE_PTX);
	assert_false(profile->loads[1].is_embedded);
	assert_ptr_equal(profile_load_of(profile, profile->loads[1].call), &profile->loads[1]);
	assert_null(profile_load_of(profile, profile->ops[0].call));
	profile_free(profile);
}

static void test_modules(void **state)
{
	struct profile *profile = fixture_load(*state);
	const struct profile_module_kernel *kernels = profile->module_kernels;
	uint32_t axpy = profile->signatures[profile->ops[0].detail].kernel;

	assert_int_equal(profile->module_count, 2);
	assert_int_equal(profile->modules[0].time_ns, 1800);
	assert_int_equal(profile->modules[0].code, 5);
	assert_int_equal(profile->modules[0].bytes, 1600);
	assert_int_equal(profile->modules[1].sm, 90);
	assert_int_equal(profile->threads[profile->modules[1].thread].thread, 100);
	assert_int_equal(profile->module_kernel_count, 4);
	assert_int_equal(kernels[0].code, 5);
	assert_int_equal(kernels[1].code, 5);
	assert_int_equal(kernels[2].code, 7);
	assert_true(kernels[3].code == UINT64_MAX);
	assert_int_equal(kernels[3].kernel, axpy);
	profile_free(profile);
}

static void test_streams(void **state)
{
	struct profile *profile = fixture_load(*state);

	assert_int_equal(profile->stream_count, 2);
	assert_true(profile->streams[0].is_null);
	assert_false(profile->streams[1].is_null);
	assert_int_equal(profile->streams[1].priority, UINT32_MAX);
	assert_int_equal(profile->streams[1].flag, 2);
	profile_free(profile);
}

static void test_calls(void **state)
{
	struct profile *profile = fixture_load(*state);

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
	struct profile *profile = fixture_load(*state);
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
	struct profile *profile = fixture_load(*state);
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

static void test_operators(void **state)
{
	struct profile *profile = fixture_load_with(
		*state, "names.csv",
		"id,text\n8,\"aten::add_, seq = 12, sizes = [[64], []]\"\n9,aten::mul\n10,domain\n");
	const char *name = NULL, *recorded = NULL;

	for (size_t i = 0; i < profile->range_count; i++)
		if (profile->ranges[i].start_ns == 950) {
			name = profile->ranges[i].name;
			recorded = profile->ranges[i].recorded_name;
		} else if (profile->ranges[i].start_ns == 1100) {
			assert_string_equal(profile->ranges[i].name, "aten::mul");
			assert_null(profile->ranges[i].recorded_name);
		}
	assert_string_equal(name, "aten::add_");
	assert_string_equal(recorded, "aten::add_, seq = 12, sizes = [[64], []]");
	profile_free(profile);
}

static void test_events(void **state)
{
	struct profile *profile = fixture_load(*state);

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

static void test_nccl(void **state)
{
	struct profile *profile = fixture_load(*state);
	const struct profile_nccl_call *call = profile->nccl_calls;
	const struct profile_communicator *made = profile->communicators;

	assert_int_equal(profile->nccl_call_count, 2);
	assert_int_equal(call->time_ns, 990);
	assert_string_equal(call->operation, "AllReduce");
	assert_int_equal(call->communicator, 66);
	assert_int_equal(call->bytes, 4096);
	assert_int_equal(call->peer, PROFILE_NONE);
	assert_int_equal(call->reduction, 2);
	assert_int_equal(profile->threads[call->thread].thread, 100);
	assert_string_equal(call[1].operation, "Broadcast");
	assert_int_equal(call[1].peer, 3);
	assert_int_equal(profile->communicator_count, 2);
	assert_int_equal(made->communicator, 66);
	assert_int_equal(made->rank, 1);
	assert_int_equal(made->rank_count, 4);
	assert_int_equal(made->device, 0);
	assert_int_equal(made[1].rank, PROFILE_NONE);
	assert_int_equal(made[1].device, PROFILE_NONE);
	profile_free(profile);
}

static void test_losses(void **state)
{
	struct profile *profile = fixture_load(*state);

	assert_int_equal(profile->loss_count, 1);
	assert_loss(profile, "dropped_records", 12, "first");
	profile_free(profile);
}

static void test_newer_schema(void **state)
{
	struct profile *profile = fixture_load_with(*state, "process.csv", "key,value\nschema,2\n");
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
		profile = fixture_load_with(*state, "process.csv", text);
		assert_true(profile->processes[0].is_filtered);
		assert_true(profile->processes[0].is_graph_level);
		profile_free(profile);
	}
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

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

/* Of a launch by its number, of a node by the one that it is a clone of. */
static void test_arguments(void **state)
{
	struct profile *profile = fixture_load(*state);
	const struct profile_given *launched = profile_given_to(profile, &profile->ops[0]);
	const struct profile_given *node = profile_given_to(profile, &profile->ops[1]);
	const struct profile_argument_set *set = &profile->argument_sets[node->set];

	assert_int_equal(profile_op_node(profile, &profile->ops[1]), 77);
	assert_int_equal(launched->others, 7);
	assert_int_equal(profile->argument_sets[launched->set].count, 0);
	assert_true(profile->argument_sets[launched->set].is_whole);
	assert_int_equal(node->others, 9);
	assert_true(set->is_whole);
	assert_int_equal(set->count, 2);
	assert_int_equal(profile->arguments[set->first].address, 65536);
	assert_int_equal(profile->arguments[set->first + 1].offset, 8);
	assert_null(profile_given_to(profile, &profile->ops[2]));
	profile_free(profile);
	profile = fixture_load_with(*state, "arguments.csv",
				    "id,address_count,parameter,offset,address\n"
				    "1,2,0,0,65536\n");
	node = profile_given_to(profile, &profile->ops[1]);
	assert_false(profile->argument_sets[node->set].is_whole);
	profile_free(profile);
	profile = fixture_load_with(*state, "arguments.csv", "");
	node = profile_given_to(profile, &profile->ops[1]);
	assert_false(profile->argument_sets[node->set].is_whole);
	profile_free(profile);
	profile = fixture_load_with(*state, "launch_arguments.csv",
				    "correlation,node,arguments,others\n"
				    "0,76,4294967295,0\n"
				    "0,76,1,9\n");
	assert_int_equal(profile_given_to(profile, &profile->ops[1])->set, PROFILE_NONE);
	assert_null(profile_given_to(profile, &profile->ops[0]));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("facts of the process are found", test_process),
		TEST("a device has all its properties", test_device),
		TEST("attributes of a launch belong to its call", test_launches),
		TEST("operations of all kinds come in time order", test_ops),
		TEST("a kernel has what it was given, of a node its original", test_arguments),
		TEST("a kernel has its shape and demangled name", test_signatures),
		TEST("what several kernels of one name have of machine code is the most of each",
		     test_machine_code),
		TEST("what a load was given belongs to its call", test_loads),
		TEST("modules have their code, and the kernels of it that ran", test_modules),
		TEST("streams know whether they are the default stream", test_streams),
		TEST("nested calls are dropped and their operations go to the parent", test_calls),
		TEST("threads have names, calls and ranges", test_threads),
		TEST("markers become nested ranges", test_ranges),
		TEST("what PyTorch adds to the name of an operator is no part of its name",
		     test_operators),
		TEST("waits, overheads and JIT find their call, stream and thread", test_events),
		TEST("NCCL's calls have their thread, communicators their GPU", test_nccl),
		TEST("losses of one kind are added up", test_losses),
		TEST("a newer schema is read and told", test_newer_schema),
		TEST("a recording knows that it was filtered", test_filters),
		TEST("kinds of copies and memory have names", test_kind_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
