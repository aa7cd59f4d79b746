#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "advice/loop_text.h"
#include "profile_builder.h"

#define LOOPS 10
#define LOOP_NS 100000

/* Each iteration: a copy in, kernels of these names, and a copy out. */
static struct builder *loop(const char *const *names, size_t count)
{
	const struct profile_copy in = {.kind = 1, .bytes = 64}, out = {.kind = 2, .bytes = 64};
	struct builder *b = builder_new(1, 1);

	for (int64_t i = 0; i < LOOPS; i++) {
		int64_t now = 5000 + i * LOOP_NS;

		builder_copy(b, 0, in, now + 1000, now + 2000,
			     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now, now + 500));
		for (size_t j = 0; j < count; j++) {
			now += 5000;
			builder_kernel(b, 0, names[j], now + 1000, now + 2000,
				       builder_launch(b, 0, now, now + 500));
		}
		builder_copy(b, 0, out, now + 6000, now + 7000,
			     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now + 5000,
					  now + 5500));
	}
	return b;
}

static void expect(struct builder *b, size_t size, const char *expected)
{
	struct loops loops = {0};
	struct model *model = NULL;
	struct err err = {""};
	char text[512];

	assert_int_equal(model_build(&model, builder_finish(b), &err), 0);
	b->profile.kernel_labels = kernel_labels_create((const char *const *)b->kernel_names,
							b->profile.kernel_name_count);
	assert_int_equal(loops_find(&loops, &b->profile, &model->submissions), 0);
	assert_int_equal(loops.count, 1);
	loop_text(text, size, model, &loops.items[0], 0);
	assert_string_equal(text, expected);
	kernel_labels_free(b->profile.kernel_labels);
	loops_free(&loops);
	model_free(model);
	free(b);
}

static void test_names(void **state)
{
	static const char *const names[] = {"void add<float>(float *)", "scale(int)",
					    "void add<float>(float *)"};

	(void)state;
	expect(loop(names, 1), 512,
	       "copy to the device, add<float>, copy to the host, 10 times from 0 ns on");
	expect(loop(names, 3), 512,
	       "copy to the device, add<float>, scale and more, 10 times from 0 ns on");
	expect(loop(names, 1), 30, "copy to the device, add<float"); /* cut off, with its end */
}

/* The innermost range around all iterations; one around some of them says nothing. */
static void test_range(void **state)
{
	static const char *const names[] = {"add"};
	struct builder *b = loop(names, 1);

	(void)state;
	builder_range(b, 0, "program", 0, 2 * LOOPS * LOOP_NS);
	builder_range(b, 0, "run", 100, LOOPS * LOOP_NS + 100);
	builder_range(b, 0, "half", 200, LOOPS * LOOP_NS / 2);
	b->threads[0].range_count = 3;
	expect(b, 512,
	       "copy to the device, add, copy to the host, 10 times from 0 ns on, in NVTX range 'run'");
}

/* One of the operators around the call of a kernel is the innermost; several kernels of it are told once. */
static void test_operators(void **state)
{
	static const char *const names[] = {"gemm", "reduce", "relu"};
	struct builder *b = loop(names, 3);
	size_t count = 0;

	(void)state;
	for (int64_t i = 0; i < LOOPS; i++) {
		int64_t now = 5000 + i * LOOP_NS;

		builder_range(b, 0, "aten::linear", now + 4000, now + 11000);
		builder_range(b, 0, "aten::addmm", now + 4500, now + 10800);
		builder_range(b, 0, "my part", now + 14000, now + 16000);
		count += 3;
	}
	b->threads[0].range_count = count;
	expect(b, 512,
	       "copy to the device, aten::addmm (gemm), relu and more, 10 times from 0 ns on");
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a loop is named by what it submits, each once, and three at most",
			 test_names),
		SENTENCE("and by the innermost range that holds all of it", test_range),
		SENTENCE("a kernel is told with the operator of PyTorch that launched it, once",
			 test_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
