/* Streams that wait for events, in recordings that tell which: struct model's cross_stream, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_profile.h"
#include "fixture_two_gpus.h"
#include "profile_builder.h"
#include "replay/model.h"

#define ROOM 32
#define EVENT UINT64_C(0x7f00)
#define OTHER_EVENT UINT64_C(0x7f40)

/* A thread with four streams that do not block each other. */
struct story {
	struct builder *b;
	struct profile_event_call rows[ROOM];
	int64_t now_ns; /* of the next call */
	struct model *model;
	uint32_t others[ROOM]; /* by operation: what it waits for in another stream */
};

static void begin(struct story *story)
{
	*story = (struct story){.b = builder_new(1, 1)};
	for (uint32_t i = 0; i < 4; i++)
		story->b->streams[i] = (struct profile_stream){.flag = STREAM_NON_BLOCKING};
	story->b->profile.stream_count = 4;
	story->b->profile.event_calls = story->rows;
}

static uint32_t call(struct story *story, const char *name, enum profile_call_class class)
{
	story->now_ns += 10;
	return builder_call(story->b, 0, name, class, story->now_ns, story->now_ns + 5);
}

static struct profile_op *kernel(struct story *story, uint32_t stream, int64_t start_ns,
				 int64_t end_ns)
{
	return builder_kernel(story->b, stream, "k", start_ns, end_ns,
			      call(story, "cudaLaunchKernel", CALL_LAUNCH));
}

static void add_row(struct story *story, const char *name, uint32_t kind, uint32_t stream,
		    uint64_t event)
{
	size_t i = story->b->profile.event_call_count++;

	assert_true(i < ROOM);
	story->rows[i] = (struct profile_event_call){.call = call(story, name, CALL_EVENT),
						     .kind = kind,
						     .stream = stream,
						     .event = event};
}

static void record(struct story *story, uint32_t stream, uint64_t event)
{
	add_row(story, "cudaEventRecord", EVENT_RECORDED, stream, event);
}

static void wait_for(struct story *story, uint32_t stream, uint64_t event)
{
	add_row(story, "cudaStreamWaitEvent", EVENT_AWAITED_BY_STREAM, stream, event);
}

/* What operations wait for in other streams, by their starts. */
static const uint32_t *build(struct story *story)
{
	struct err err = {""};

	assert_int_equal(model_build(&story->model, builder_finish(story->b), &err), 0);
	for (size_t i = 0; i < story->b->profile.op_count; i++)
		story->others[i] = model_cross_stream(story->model, i);
	return story->others;
}

static void end(struct story *story)
{
	model_free(story->model);
	free(story->b);
}

static void test_event(void **state)
{
	struct story story;
	const uint32_t *cross;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 0, EVENT);
	kernel(&story, 0, 210, 250); /* behind the event */
	kernel(&story, 2, 220, 290); /* another stream's, ends last */
	wait_for(&story, 1, EVENT);
	kernel(&story, 1, 300, 400);
	kernel(&story, 1, 410, 500);
	cross = build(&story);
	assert_int_equal(cross[3], 0);
	assert_int_equal(cross[4], PROFILE_NONE); /* behind the one that waits */
	end(&story);
}

static void test_stream(void **state)
{
	struct story story;
	const uint32_t *cross;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 0, EVENT);
	wait_for(&story, 1, EVENT);
	kernel(&story, 2, 300, 400); /* the thread's next, but not of that stream */
	kernel(&story, 1, 310, 410);
	cross = build(&story);
	assert_int_equal(cross[1], PROFILE_NONE);
	assert_int_equal(cross[2], 0);
	end(&story);
}

static void test_chain(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 0, EVENT);
	wait_for(&story, 1, EVENT);
	record(&story, 1, OTHER_EVENT); /* nothing else is in that stream */
	wait_for(&story, 2, OTHER_EVENT);
	kernel(&story, 2, 300, 400);
	assert_int_equal(build(&story)[1], 0);
	end(&story);
}

static void test_again(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 0, EVENT);
	kernel(&story, 3, 110, 210);
	record(&story, 3, EVENT);
	wait_for(&story, 1, EVENT);
	kernel(&story, 0, 220, 230);
	record(&story, 0, EVENT);
	kernel(&story, 1, 300, 400);
	assert_int_equal(build(&story)[3], 1);
	end(&story);
}

static void test_several(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 250);
	record(&story, 0, EVENT);
	kernel(&story, 2, 110, 210);
	record(&story, 2, OTHER_EVENT);
	wait_for(&story, 1, EVENT);
	wait_for(&story, 1, OTHER_EVENT);
	kernel(&story, 1, 300, 400);
	assert_int_equal(build(&story)[2], 0);
	end(&story);
}

static void test_idle_stream(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 3, EVENT); /* in a stream without work */
	wait_for(&story, 1, EVENT);
	kernel(&story, 1, 300, 400);
	assert_int_equal(build(&story)[1], PROFILE_NONE);
	end(&story);
}

static void test_unknown(void **state)
{
	struct story story;
	const uint32_t *cross;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	wait_for(&story, 1, EVENT); /* recorded before the recording began */
	kernel(&story, 1, 300, 400);
	kernel(&story, 0, 410, 420);
	call(&story, "cudaStreamWaitEvent", CALL_EVENT); /* no row of it */
	kernel(&story, 1, 500, 600);
	cross = build(&story);
	assert_int_equal(cross[1], 0);
	assert_int_equal(cross[3], 2);
	end(&story);
}

static void test_capture(void **state)
{
	struct story story;
	const uint32_t *cross;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 0, EVENT);
	call(&story, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE);
	record(&story, 0, OTHER_EVENT);
	wait_for(&story, 1, OTHER_EVENT);
	call(&story, "cudaStreamEndCapture", CALL_GRAPH_MANAGE);
	kernel(&story, 1, 300, 400);
	wait_for(&story, 2, EVENT);
	kernel(&story, 2, 500, 600);
	cross = build(&story);
	assert_int_equal(cross[1], PROFILE_NONE);
	assert_int_equal(cross[2], 0);
	end(&story);
}

static void test_graph(void **state)
{
	struct story story;
	uint32_t launch;

	(void)state;
	begin(&story);
	launch = call(&story, "cudaGraphLaunch", CALL_GRAPH_LAUNCH);
	builder_ids(story.b, builder_kernel(story.b, 0, "short", 100, 200, launch))->graph = 4;
	builder_ids(story.b, builder_kernel(story.b, 3, "long", 110, 290, launch))->graph =
		4; /* a branch */
	record(&story, 0, EVENT);
	wait_for(&story, 1, EVENT);
	kernel(&story, 1, 300, 400);
	assert_int_equal(build(&story)[2], 1);
	end(&story);
}

/* The graph is launched in stream 1; a branch of it in another stream begins first. */
static void test_graph_waits(void **state)
{
	struct story story;
	uint32_t launch;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 200);
	record(&story, 0, EVENT);
	wait_for(&story, 1, EVENT);
	launch = call(&story, "cudaGraphLaunch", CALL_GRAPH_LAUNCH);
	builder_ids(story.b, builder_kernel(story.b, 3, "branch", 300, 310, launch))->graph = 4;
	builder_ids(story.b, builder_kernel(story.b, 1, "branch", 305, 320, launch))->graph = 4;
	assert_int_equal(build(&story)[1], 0);
	end(&story);
}

static void test_default_stream(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	story.b->streams[0] = (struct profile_stream){.is_null = true};
	story.b->streams[3].flag = 0; /* blocking */
	kernel(&story, 3, 100, 200);
	record(&story, 0, EVENT);
	wait_for(&story, 1, EVENT);
	kernel(&story, 1, 300, 400);
	assert_int_equal(build(&story)[1], 0);
	end(&story);
}

static void test_not_ended(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	kernel(&story, 0, 100, 350);
	record(&story, 0, EVENT);
	wait_for(&story, 1, EVENT);
	kernel(&story, 1, 300, 400); /* damaged times: it cannot have begun by then */
	assert_int_equal(build(&story)[1], PROFILE_NONE);
	end(&story);
}

static void test_recording(void **state)
{
	struct profile *profile = fixture_load(*state);
	const struct profile_event_call *calls = profile->event_calls;

	assert_int_equal(profile->event_call_count, 3);
	assert_int_equal(calls[0].kind, EVENT_RECORDED);
	assert_int_equal(calls[0].event, 4096);
	assert_int_equal(profile->calls[calls[0].call].correlation, 101);
	assert_int_equal(profile->streams[calls[0].stream].stream, 7);
	/* a call of the driver's belongs to the one of the runtime around it */
	assert_int_equal(profile->calls[calls[1].call].correlation, 102);
	assert_int_equal(profile->streams[calls[1].stream].stream, 13);
	assert_int_equal(calls[2].kind, EVENT_AWAITED_BY_HOST);
	assert_int_equal(calls[2].stream, PROFILE_NONE);
	profile_free(profile);
}

/* Threads of one GPU record events in streams of the other one, and the context that was current is told, not the stream's:
 * taken for its, it would be a stream that nothing ran in. */
static void test_other_context(void **state)
{
	struct two_gpus two;
	const struct profile *profile;

	(void)state;
	two_gpus_open(&two, "p2p_overlap.naive");
	profile = two.report->profile;
	assert_true(profile->event_call_count > 0);
	for (size_t i = 0; i < profile->stream_count; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(profile->streams[i].stream,
					     profile->streams[j].stream);
	two_gpus_close(&two);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a stream waits for what the event was recorded behind", test_event),
		SENTENCE("it is the stream that waits, not what the thread launches next",
			 test_stream),
		SENTENCE("an event recorded in a stream that waits stands behind the same",
			 test_chain),
		SENTENCE("a wait is for what was recorded last before it", test_again),
		SENTENCE("of several events the one that came last counts", test_several),
		SENTENCE("an event in a stream without work is no wait", test_idle_stream),
		SENTENCE("a wait for an unknown event is for what ended last, as without events",
			 test_unknown),
		SENTENCE("events in a capture order nodes, not operations", test_capture),
		SENTENCE("an event behind a graph stands behind all its branches", test_graph),
		SENTENCE("a graph in a stream that waits begins behind the event",
			 test_graph_waits),
		SENTENCE("an event in the default stream stands behind blocking streams",
			 test_default_stream),
		SENTENCE("nothing waits for what ended after it began", test_not_ended),
		SENTENCE("a call about a stream of another GPU is about that stream",
			 test_other_context),
		{"a recording's calls about events, by call", test_recording, fixture_set_up,
		 fixture_tear_down, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
