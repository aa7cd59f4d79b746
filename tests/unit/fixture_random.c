#include "fixture_random.h"

#include <stdio.h>

#include "fixture_change.h"

#define STEPS 300
#define STREAMS_MOST 3 /* of a process on a device */
#define THREADS_MOST 2 /* of a process */
#define NODES_MOST 6

const struct costs random_costs = {
	.launch_call_ns = 2000,
	.launch_to_start_ns = 4500,
	.synchronize_ns = 5000,
	.graph_launch_ns = 4000,
	.graph_to_start_ns = 6000,
	.graph_gap_ns = 1200,
	.graph_node_gap_ns = 700,
	.graph_copy_gap_ns = 3000,
	.graph_copy_in_gap_ns = 3000,
	.graph_copy_to_start_ns = 9000,
	.graph_copy_in_to_start_ns = 9000,
	.node_update_ns = 800,
	.conditional_ns = 900,
	.trace_launch_ns = 750,
	.trace_call_ns = 375,
	.trace_graph_launch_ns = 750,
	.trace_graph_start_ns = 750,
	.trace_node_ns = 535,
};

struct random random_of(uint64_t seed)
{
	return (struct random){seed * 0x9e3779b97f4a7c15u + 88172645463325252u};
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return (random->state >> 16) % limit;
}

bool random_hits(struct random *random, unsigned int percent)
{
	return random_below(random, 100) < percent;
}

/* ---- profiles ---- */

/* Times are counted in units until they are written down. */
struct world {
	struct builder *b;
	struct random random;
	int64_t unit_ns;
	int64_t host[BUILDER_SMALL];   /* by thread */
	int64_t stream[BUILDER_SMALL]; /* by stream: its last operation's end */
};

static void add_streams(struct world *world)
{
	struct builder *b = world->b;
	size_t pairs = b->profile.stream_count;

	for (size_t i = 0; i < pairs; i++) {
		struct profile_stream stream = b->streams[i];

		b->streams[i].is_null = random_hits(&world->random, 70);
		stream.stream = 1;
		for (uint64_t more = random_below(&world->random, STREAMS_MOST); more > 0; more--) {
			stream.flag = random_hits(&world->random, 50) ? 2 : 1;
			b->streams[b->profile.stream_count++] = stream;
		}
	}
}

/* From nothing to long, most of it short. */
static int64_t some_time(struct world *world)
{
	switch (random_below(&world->random, 8)) {
	case 0:
		return 0;
	case 1:
		return (int64_t)random_below(&world->random, 100000);
	default:
		return (int64_t)random_below(&world->random, 8000);
	}
}

static uint32_t some_stream(struct world *world, uint32_t thread)
{
	const struct builder *b = world->b;
	uint32_t stream;

	do
		stream = (uint32_t)random_below(&world->random, b->profile.stream_count);
	while (b->streams[stream].process != b->threads[thread].process);
	return stream;
}

static uint32_t add_call(struct world *world, uint32_t thread, const char *name,
			 enum profile_call_class class, int64_t length)
{
	int64_t start = world->host[thread];

	world->host[thread] += length;
	return builder_call(world->b, thread, name, class, start * world->unit_ns,
			    (start + length) * world->unit_ns);
}

/* After the moment, and mostly after what is before it in the stream. */
static void add_op(struct world *world, uint32_t stream, uint32_t call, int64_t after)
{
	const struct profile_copy copy = {
		.bytes = random_hits(&world->random, 30)
				 ? 4
				 : (uint64_t)1 << random_below(&world->random, 30),
		.kind = 1 + (uint32_t)random_below(&world->random, 9),
		.src_memory = 1 + (uint32_t)random_below(&world->random, 3),
		.dst_memory = 1 + (uint32_t)random_below(&world->random, 3),
		.is_async = random_hits(&world->random, 50)};
	const struct profile_memset memset_ = {.bytes = 64, .memory = 3};
	int64_t start = after + some_time(world) / 4, end;

	if (start < world->stream[stream] && random_hits(&world->random, 90))
		start = world->stream[stream] + some_time(world) / 8;
	end = start + some_time(world);
	world->stream[stream] = end > world->stream[stream] ? end : world->stream[stream];
	start *= world->unit_ns;
	end *= world->unit_ns;
	switch (random_below(&world->random, 4)) {
	case 0:
		builder_copy(world->b, stream, copy, start, end, call);
		break;
	case 1:
		builder_memset(world->b, stream, memset_, start, end, call);
		break;
	default:
		builder_kernel(world->b, stream, random_hits(&world->random, 50) ? "a" : "b", start,
			       end, call);
	}
}

static void launch(struct world *world, uint32_t thread)
{
	int64_t start = world->host[thread];
	uint32_t call = add_call(world, thread, "cudaLaunchKernel", CALL_LAUNCH, some_time(world));

	if (random_hits(&world->random, 10))
		world->b->calls[call].result = 2;
	else
		add_op(world, some_stream(world, thread), call, start);
}

static void launch_graph(struct world *world, uint32_t thread)
{
	int64_t start = world->host[thread];
	uint32_t stream = some_stream(world, thread), other = some_stream(world, thread);
	uint32_t call =
		add_call(world, thread, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, some_time(world));

	for (uint64_t nodes = 1 + random_below(&world->random, NODES_MOST); nodes > 0; nodes--) {
		add_op(world, random_hits(&world->random, 70) ? stream : other, call, start);
		builder_ids(world->b, &world->b->ops[world->b->profile.op_count - 1])->graph = 1;
		builder_ids(world->b, &world->b->ops[world->b->profile.op_count - 1])->graph_node =
			nodes;
	}
}

/* A blocking one returns after its operation. */
static void copy(struct world *world, uint32_t thread)
{
	bool is_blocking = random_hits(&world->random, 50);
	int64_t start = world->host[thread];
	uint32_t stream = some_stream(world, thread);
	uint32_t call = add_call(world, thread, is_blocking ? "cudaMemcpy" : "cudaMemcpyAsync",
				 CALL_COPY, some_time(world));

	add_op(world, stream, call, start);
	if (!is_blocking || world->host[thread] > world->stream[stream])
		return;
	world->host[thread] = world->stream[stream] + some_time(world) / 8;
	world->b->calls[call].end_ns = world->host[thread] * world->unit_ns;
}

/* For one of its streams, or for nothing that is known. */
static void wait_for(struct world *world, uint32_t thread)
{
	uint32_t stream = some_stream(world, thread);
	int64_t length = world->stream[stream] - world->host[thread];

	if (length < 0 || random_hits(&world->random, 20))
		length = 0;
	add_call(world, thread,
		 random_hits(&world->random, 50) ? "cudaStreamSynchronize"
						 : "cudaDeviceSynchronize",
		 CALL_SYNC, length + some_time(world) / 8);
}

static void do_something(struct world *world, uint32_t thread)
{
	uint64_t what = random_below(&world->random, 100);

	world->host[thread] += some_time(world) / 4;
	if (what < 40)
		launch(world, thread);
	else if (what < 50)
		launch_graph(world, thread);
	else if (what < 65)
		copy(world, thread);
	else if (what < 80)
		wait_for(world, thread);
	else if (what < 85)
		add_call(world, thread, "cudaStreamWaitEvent", CALL_EVENT, some_time(world));
	else if (what < 90)
		add_call(world, thread, what < 88 ? "cudaMalloc" : "cudaFree", CALL_MEMORY,
			 some_time(world));
	else if (what < 95)
		add_call(world, thread, "cudaGetLastError", CALL_OTHER, 0);
	else
		add_op(world, some_stream(world, thread), PROFILE_NONE, world->host[thread]);
}

struct builder *random_profile(uint64_t seed, int64_t unit_ns)
{
	struct world world = {.random = random_of(seed), .unit_ns = unit_ns};
	uint32_t process_count = 1 + (uint32_t)random_below(&world.random, 3);

	world.b = builder_new(process_count, 1 + random_below(&world.random, 2));
	add_streams(&world);
	for (uint32_t i = 0; i < process_count; i++)
		for (uint64_t more = random_below(&world.random, THREADS_MOST); more > 0; more--)
			builder_thread(world.b, i);
	for (int step = 0; step < STEPS; step++) {
		size_t thread_count = world.b->profile.thread_count;
		uint32_t thread = (uint32_t)random_below(&world.random, thread_count);

		/* the one that is behind, so that clocks stay together */
		for (uint32_t i = 0; i < thread_count; i++)
			if (world.host[i] < world.host[thread] && random_hits(&world.random, 90))
				thread = i;
		do_something(&world, thread);
	}
	builder_finish(world.b);
	return world.b;
}

/* ---- changes ---- */

/* has_graph: of the call's thread; its next calls may belong to it. */
static int some_change(struct random *random, const struct model *model, size_t call,
		       bool *has_graph)
{
	const struct profile *profile = model->profile;
	uint64_t what = random_below(random, 10);

	if (submissions_count(&model->submissions, call) == 0) {
		bool is_wait =
			profile->call_names[profile->calls[call].name].call_class == CALL_SYNC;

		return is_wait && what < 3		    ? CALL_DROPPED
		       : *has_graph && !is_wait && what < 7 ? CALL_IN_GRAPH
							    : CALL_KEPT;
	}
	if (*has_graph && what < 6)
		return what == 0 ? CALL_IN_KERNEL : what == 1 ? CALL_IN_BODY : CALL_IN_GRAPH;
	*has_graph = what == 9;
	if (what == 7 && random_hits(random, 50))
		return random_hits(random, 50) ? CALL_FUSED : CALL_DEPENDENT;
	return what == 9   ? (random_hits(random, 30) ? CALL_AS_UPDATED : CALL_AS_GRAPH)
	       : what == 8 ? CALL_MADE_ASYNC
			   : CALL_KEPT;
}

struct change random_change(uint64_t seed, const struct model *model, bool with_lanes)
{
	const struct profile *profile = model->profile;
	struct random random = random_of(seed);
	bool has_graph[BUILDER_SMALL] = {false};
	struct change change;

	usual_changes_begin(&change, model, true);
	if (with_lanes && change_begin_lanes(&change, model, 3) < 0)
		abort();
	for (size_t i = 0; i < profile->call_count; i++)
		change.calls[i] = (uint8_t)some_change(&random, model, i,
						       &has_graph[profile->calls[i].thread]);
	for (size_t i = 0; i < profile->op_count; i++) {
		if (random_hits(&random, 20))
			change.op_ns[i] = (int64_t)random_below(&random, 50000);
		if (random_hits(&random, 5))
			change.op_ns[i] = OP_GONE;
		if (!with_lanes || profile->ops[i].call == PROFILE_NONE || random_hits(&random, 50))
			continue;
		change.lanes[i] = (uint8_t)random_below(&random, change.lane_count);
		if (random_hits(&random, 20))
			change.lanes[i] |= LANE_JOINED;
		change.fill[i] = (uint8_t)random_below(&random, 101);
	}
	return change;
}
