#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_replay.h"

const struct profile_copy copy_in = {.bytes = 1 << 20, .kind = 1, .src_memory = 2, .dst_memory = 3};
const struct profile_copy copy_out = {.bytes = 1 << 20,
				      .kind = 2,
				      .src_memory = 3,
				      .dst_memory = 2};

static struct model *build(const struct profile *profile)
{
	struct model *model = NULL;
	struct err err = {""};

	assert_int_equal(model_build(&model, profile, &err), 0);
	return model;
}

struct replayed replayed_new(struct builder *b)
{
	return (struct replayed){.b = b, .profile = &b->profile, .model = build(&b->profile)};
}

void replayed_run(struct replayed *it, const struct change *change, const struct costs *costs)
{
	replay_free(&it->replay);
	assert_int_equal(replay_run(&it->replay, it->model, change, costs), 0);
}

void replayed_free(struct replayed *it)
{
	replay_free(&it->replay);
	model_free(it->model);
	free(it->b);
}

uint32_t wait_until(struct builder *b, int64_t start_ns, int64_t end_ns)
{
	return builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, start_ns, end_ns);
}

struct replayed replayed_loop(int launch_count)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0, gpu_ns;

	for (int i = 0; i < LOOPS; i++) {
		gpu_ns = now_ns + START_NS;
		for (int j = 0; j < launch_count; j++) {
			uint32_t call = builder_launch(b, 0, now_ns, now_ns + CALL_NS);

			builder_kernel(b, 0, "step", gpu_ns, gpu_ns + BUSY_NS, call);
			now_ns += CALL_NS;
			gpu_ns += BUSY_NS + 1000;
		}
		wait_until(b, now_ns, gpu_ns + 2000);
		now_ns = gpu_ns + 3000;
	}
	builder_finish(b);
	return replayed_new(b);
}

struct change same_every_time(const struct replayed *it, const uint8_t *calls, size_t count)
{
	struct change change;

	usual_changes_begin(&change, it->model, true);
	for (size_t i = 0; i < it->profile->call_count; i++)
		change.calls[i] = calls[i % count];
	return change;
}

int64_t replayed_wall_ns(const struct replayed *it)
{
	return replay_wall_ns(&it->replay, it->model, 0);
}
