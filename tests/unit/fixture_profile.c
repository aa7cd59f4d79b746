#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_profile.h"

int fixture_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture_small(fixture);
	*state = fixture;
	return 0;
}

int fixture_tear_down(void **state)
{
	fixture_remove(*state);
	free(*state);
	return 0;
}

struct profile *fixture_load(const struct fixture *fixture)
{
	struct profile *profile = NULL;
	struct err err = {""};

	if (profile_load(&profile, fixture->path, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

struct profile *fixture_load_with(const struct fixture *fixture, const char *file, const char *text)
{
	fixture_write(fixture, FIXTURE_PROCESS, file, text);
	return fixture_load(fixture);
}

const struct profile_loss *find_loss(const struct profile *profile, uint32_t process,
				     const char *kind)
{
	for (size_t i = 0; i < profile->loss_count; i++)
		if (profile->losses[i].process == process && !strcmp(profile->losses[i].kind, kind))
			return &profile->losses[i];
	return NULL;
}

void assert_loss(const struct profile *profile, const char *kind, uint64_t count,
		 const char *detail)
{
	const struct profile_loss *loss = find_loss(profile, 0, kind);

	assert_non_null(loss);
	assert_int_equal(loss->count, count);
	assert_string_equal(loss->detail, detail);
}

uint64_t loss_count(const struct profile *profile, const char *kind)
{
	const struct profile_loss *loss = find_loss(profile, 0, kind);

	return loss ? loss->count : 0;
}

void assert_consistent(const struct profile *profile)
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
		assert_true(profile_op_device(profile, op) < profile->device_count);
		assert_true(op->detail < limits[op->kind]);
		assert_true(op->call == PROFILE_NONE || op->call < profile->call_count);
		if (i > 0 && profile_op_device(profile, &op[-1]) == profile_op_device(profile, op))
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

const char *call_text(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].text;
}
