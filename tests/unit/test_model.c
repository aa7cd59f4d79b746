#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_random.h"

#define NON_BLOCKING 2

static struct model *build(struct builder *b)
{
	struct model *model = NULL;
	struct err err = {""};

	assert_int_equal(model_build(&model, builder_finish(b), &err), 0);
	return model;
}

static void done(struct builder *b, struct model *model)
{
	model_free(model);
	free(b);
}

/* A kernel launched just before it starts, on a stream. */
static void kernel(struct builder *b, uint32_t thread, uint32_t stream, int64_t start_ns,
		   int64_t end_ns)
{
	builder_kernel(b, stream, "k", start_ns, end_ns,
		       builder_launch(b, thread, start_ns - 20, start_ns - 10));
}

static uint32_t add_stream(struct builder *b, uint32_t like, uint32_t flag)
{
	struct profile_stream stream = b->streams[like];

	stream.flag = flag;
	stream.is_null = false;
	b->streams[b->profile.stream_count] = stream;
	return (uint32_t)b->profile.stream_count++;
}

static void test_stream_order(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = add_stream(b, 0, 0);
	struct model *model;

	(void)state;
	kernel(b, 0, 0, 100, 200);
	kernel(b, 0, other, 150, 260);
	kernel(b, 0, 0, 300, 400);
	kernel(b, 0, 0, 350, 500); /* beside the one before, like a branch of a graph */
	model = build(b);
	assert_int_equal(model_predecessor(model, 0), PROFILE_NONE);
	assert_int_equal(model_predecessor(model, 1), PROFILE_NONE);
	assert_int_equal(model_predecessor(model, 2), 0);
	assert_int_equal(model_predecessor(model, 3), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(model_cross_stream(model, i), PROFILE_NONE);
	assert_int_equal(model_ready_ns(model, 0), INT64_MIN);
	assert_int_equal(model_ready_ns(model, 2), 200);
	done(b, model);
}

/* A dependent launch starts while the kernel before it runs, and waits for no less than the one that had ended. */
static void test_dependent_launches(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 10; i++)
		kernel(b, 0, 0, 100 + 40 * i, 200 + 40 * i);
	model = build(b);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(model_predecessor(model, i), i < 3 ? PROFILE_NONE : i - 3);
	done(b, model);
}

static void test_default_stream(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t blocking = add_stream(b, 0, 1), second = add_stream(b, 0, 1);
	uint32_t free_one = add_stream(b, 0, NON_BLOCKING);
	struct model *model;

	(void)state;
	b->streams[0].is_null = true;
	kernel(b, 0, blocking, 100, 210); /* 0 */
	kernel(b, 0, free_one, 120, 220); /* 1 */
	kernel(b, 0, second, 130, 180);	  /* 2 */
	kernel(b, 0, 0, 300, 400);	  /* 3 waits for 0: 1 is not concerned, 2 ended before */
	kernel(b, 0, blocking, 500, 600); /* 4 waits for 3 */
	kernel(b, 0, free_one, 520, 620); /* 5 waits for none */
	model = build(b);
	assert_int_equal(model_cross_stream(model, 3), 0);
	assert_int_equal(model_cross_stream(model, 4), 3);
	assert_int_equal(model_cross_stream(model, 5), PROFILE_NONE);
	assert_int_equal(model_ready_ns(model, 4), 400);
	done(b, model);
}

static void test_default_stream_of_another(void **state)
{
	struct builder *b = builder_new(2, 2);
	uint32_t here = builder_stream(b, 0, 0), there = builder_stream(b, 0, 1);
	uint32_t elsewhere = builder_stream(b, 1, 0), blocking = add_stream(b, there, 1);
	struct model *model;

	(void)state;
	b->streams[here].is_null = true;
	kernel(b, 0, here, 100, 200);
	kernel(b, 0, blocking, 300, 400);  /* of another device */
	kernel(b, 1, elsewhere, 500, 600); /* of another process */
	model = build(b);
	for (int i = 0; i < 3; i++)
		assert_int_equal(model_cross_stream(model, i), PROFILE_NONE);
	done(b, model);
}

static void test_event(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = add_stream(b, 0, 0);
	struct model *model;

	(void)state;
	kernel(b, 0, 0, 100, 200);
	builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, 120, 130);
	kernel(b, 0, other, 300, 400); /* waits for the first */
	kernel(b, 0, other, 500, 600); /* the event was the one before's */
	model = build(b);
	assert_int_equal(model_cross_stream(model, 1), 0);
	assert_int_equal(model_cross_stream(model, 2), PROFILE_NONE);
	done(b, model);
}

/* Two branches of a graph, in streams of their own, twice; then another graph and a kernel, in the stream that it was
 * launched in. */
static void test_graph_again(void **state)
{
	static const uint32_t graphs[] = {4, 4, 5};
	struct builder *b = builder_new(1, 1);
	uint32_t branch = add_stream(b, 0, STREAM_NON_BLOCKING);
	struct model *model;

	(void)state;
	b->streams[0].flag = STREAM_NON_BLOCKING;
	for (int64_t i = 0; i < 3; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, i * 10,
					     i * 10 + 5);

		builder_ids(b, builder_kernel(b, branch, "short", 1000 * i, 1000 * i + 100, call))
			->graph = graphs[i];
		builder_ids(b, builder_kernel(b, 0, "long", 1000 * i + 10, 1000 * i + 500, call))
			->graph = graphs[i];
	}
	builder_kernel(b, branch, "after", 3000, 3100, builder_launch(b, 0, 30, 35));
	model = build(b);
	assert_int_equal(model_predecessor(model, 2), 0);
	assert_int_equal(model_cross_stream(model, 2), 1);
	assert_int_equal(model_ready_ns(model, 2), 500);
	assert_int_equal(model_cross_stream(model, 3), PROFILE_NONE); /* its own stream's */
	assert_int_equal(model_cross_stream(model, 4), 3);
	assert_int_equal(model_cross_stream(model, 6), 5);
	done(b, model);
}

static void test_device_launched(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = add_stream(b, 0, 0);
	struct model *model;

	(void)state;
	kernel(b, 0, 0, 100, 200);
	builder_kernel(b, 0, "child", 210, 250, PROFILE_NONE);
	builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, 260, 270);
	kernel(b, 0, other, 300, 400);
	builder_kernel(b, 0, "child", 410, 450, PROFILE_NONE);
	builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, 500, 510);
	model = build(b);
	assert_int_equal(model_predecessor(model, 1), PROFILE_NONE);
	assert_int_equal(model_cross_stream(model, 2), 0);
	assert_int_equal(model_awaited(model, 3), 2);
	done(b, model);
}

static void test_awaited(void **state)
{
	struct builder *b = builder_new(2, 1);
	uint32_t thread = builder_thread(b, 0);
	struct model *model;

	(void)state;
	kernel(b, 0, 0, 100, 200);
	kernel(b, 1, 1, 100, 290); /* another process */
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, 150, 300);
	builder_kernel(b, 0, "k", 210, 280, builder_launch(b, thread, 160, 170)); /* came later */
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, 310, 320);
	builder_call(b, 1, "cudaDeviceSynchronize", CALL_SYNC, 50, 60); /* for nothing */
	model = build(b);
	assert_int_equal(model_awaited(model, 1), 0);
	assert_int_equal(model->profile->ops[model_awaited(model, 2)].end_ns, 280);
	assert_int_equal(model->call_traits[1].behavior, CALL_WAITS);
	for (size_t i = 0; i < b->profile.call_count; i++)
		if (b->calls[i].start_ns == 50)
			assert_int_equal(model_awaited(model, i), PROFILE_NONE);
	done(b, model);
}

/* More calls than are looked through from the one that counts the waits before them. */
static void test_awaited_of_many(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 2 * MARKS_BLOCK; i++) {
		kernel(b, 0, 0, 100 + 100 * i, 150 + 100 * i);
		if (i % 3 == 0)
			builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, 110 + 100 * i,
				     160 + 100 * i);
	}
	model = build(b);
	for (size_t i = 1, kernel_count = 0; i < b->profile.call_count; i++) {
		bool waits = model->call_traits[i].behavior == CALL_WAITS;

		kernel_count += model->call_traits[i - 1].behavior == CALL_WORKS;
		assert_int_equal(model_awaited(model, i), waits ? kernel_count - 1 : PROFILE_NONE);
	}
	done(b, model);
}

/* Each call has its own, whether or not there is a list. */
static void expect_submissions(struct builder *b, bool is_listed)
{
	struct model *model = build(b);
	const struct submissions *submissions = &model->submissions;
	size_t count = 0;

	assert_int_equal(submissions->ops != NULL, is_listed);
	for (uint32_t call = 0; call < b->profile.call_count; call++)
		for (uint32_t i = submissions_first(submissions, call);
		     i < submissions_first(submissions, call + 1); i++) {
			assert_int_equal(b->ops[submissions_op(submissions, i)].call, call);
			count++;
		}
	assert_int_equal(count, 3);
	done(b, model);
}

static struct builder *three_kernels(int64_t second_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = add_stream(b, 0, 0);

	kernel(b, 0, 0, 100, 200);
	builder_kernel(b, other, "k", second_ns, second_ns + 10, builder_launch(b, 0, 110, 120));
	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 125, 130);
	kernel(b, 0, 0, 300, 400);
	return b;
}

static void test_submissions(void **state)
{
	struct builder *b;

	(void)state;
	expect_submissions(three_kernels(250), false);
	expect_submissions(three_kernels(350), true); /* the third starts before the second */
	b = three_kernels(250);
	builder_kernel(b, 0, "child", 260, 270, PROFILE_NONE);
	expect_submissions(b, true); /* no call is before it */
}

static enum call_behavior behavior_with(const char *name, enum profile_call_class class,
					struct profile_copy copy, int64_t copy_end_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, name, class, 100, 200);
	enum call_behavior found;
	struct model *model;

	if (copy_end_ns)
		builder_copy(b, 0, copy, 150, copy_end_ns, call);
	model = build(b);
	found = (enum call_behavior)model->call_traits[0].behavior;
	assert_int_equal(model_awaited(model, 0), found == CALL_WAITS_OWN ? 0 : PROFILE_NONE);
	done(b, model);
	return found;
}

static enum call_behavior behavior(const char *name, enum profile_call_class class,
				   int64_t copy_end_ns)
{
	return behavior_with(name, class, (struct profile_copy){.bytes = 4}, copy_end_ns);
}

/* Such a copy returns once it has ended, however it was called. */
static void test_pageable_read(void **state)
{
	struct profile_copy read = {.bytes = 4,
				    .kind = COPY_TO_HOST,
				    .dst_memory = MEMORY_PAGEABLE,
				    .is_async = true};

	(void)state;
	assert_int_equal(behavior_with("cudaMemcpyAsync", CALL_COPY, read, 190), CALL_WAITS_OWN);
	assert_int_equal(behavior_with("cudaMemcpyAsync", CALL_COPY, read, 210), CALL_WORKS);
	read.dst_memory = MEMORY_PINNED;
	assert_int_equal(behavior_with("cudaMemcpyAsync", CALL_COPY, read, 190), CALL_WORKS);
}

static void test_behavior(void **state)
{
	(void)state;
	assert_int_equal(behavior("cudaDeviceSynchronize", CALL_SYNC, 0), CALL_WAITS);
	assert_int_equal(behavior("cudaFree", CALL_MEMORY, 0), CALL_WAITS);
	assert_int_equal(behavior("cudaFreeAsync", CALL_MEMORY, 0), CALL_WORKS);
	assert_int_equal(behavior("cudaMalloc", CALL_MEMORY, 0), CALL_WORKS);
	assert_int_equal(behavior("cudaMemcpy", CALL_COPY, 190), CALL_WAITS_OWN);
	/* it returned before: staged */
	assert_int_equal(behavior("cudaMemcpy", CALL_COPY, 210), CALL_WORKS);
	assert_int_equal(behavior("cudaMemcpy", CALL_COPY, 0), CALL_WORKS); /* failed */
	assert_int_equal(behavior("cudaMemcpyAsync", CALL_COPY, 190), CALL_WORKS);
	assert_int_equal(behavior("cudaLaunchKernel", CALL_LAUNCH, 190), CALL_WORKS);
}

/* The same by going through everything, for profiles by chance. */
static void test_awaited_by_search(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct builder *b = random_profile(seed, 1);
		const struct profile *profile = &b->profile;
		struct model *model = NULL;
		struct err err = {""};

		assert_int_equal(model_build(&model, profile, &err), 0);
		for (size_t i = 0; i < profile->call_count; i++) {
			const struct profile_call *call = &profile->calls[i];
			int64_t last_ns = INT64_MIN;

			for (size_t j = 0; j < profile->op_count; j++) {
				const struct profile_op *op = &profile->ops[j];

				if (op->call != PROFILE_NONE && op->end_ns <= call->end_ns &&
				    op->end_ns > last_ns &&
				    profile->calls[op->call].start_ns < call->start_ns &&
				    profile_op_process(profile, op) ==
					    profile->threads[call->thread].process)
					last_ns = op->end_ns;
			}
			if (model->call_traits[i].behavior != CALL_WAITS)
				continue;
			assert_int_equal(model_awaited(model, i) == PROFILE_NONE
						 ? INT64_MIN
						 : profile->ops[model_awaited(model, i)].end_ns,
					 last_ns);
		}
		done(b, model);
	}
}

/* Calls of all threads by time, equal ones in their thread's order. */
static void test_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct builder *b = random_profile(seed, 1);
		struct model *model = NULL;
		struct err err = {""};

		assert_int_equal(model_build(&model, &b->profile, &err), 0);
		for (size_t i = 1; i < b->profile.call_count; i++) {
			int64_t before_ns = b->calls[model_call_at(model, i - 1)].start_ns;
			int64_t after_ns = b->calls[model_call_at(model, i)].start_ns;

			assert_true(before_ns <= after_ns);
			if (before_ns == after_ns)
				assert_true(model_call_at(model, i - 1) < model_call_at(model, i));
		}
		done(b, model);
	}
}

static void test_empty(void **state)
{
	struct builder *b = builder_new(0, 0);

	(void)state;
	done(b, build(b));
	model_free(NULL);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("an operation waits for the one before it in its stream that had ended",
			 test_stream_order),
		SENTENCE("a kernel that starts before others end waits for the last that had ended",
			 test_dependent_launches),
		SENTENCE("the default stream and blocking streams wait for each other",
			 test_default_stream),
		SENTENCE("a default stream concerns its own process and device only",
			 test_default_stream_of_another),
		SENTENCE("the first operation after a wait for an event waits for another stream",
			 test_event),
		SENTENCE("a graph waits for all branches of its launch before", test_graph_again),
		SENTENCE("nothing waits for what the device launched", test_device_launched),
		SENTENCE("a wait is for what ended last and had been submitted", test_awaited),
		SENTENCE("a search through everything finds the same awaited operations",
			 test_awaited_by_search),
		SENTENCE("among many calls each that waits has its own operation",
			 test_awaited_of_many),
		SENTENCE(
			"what calls submitted is listed only where it is in another order than they",
			test_submissions),
		SENTENCE("calls that wait are told from calls that work", test_behavior),
		SENTENCE("an asynchronous read into pageable memory waits for itself",
			 test_pageable_read),
		SENTENCE("calls of all threads come by time", test_order),
		SENTENCE("an empty recording has an empty model", test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
