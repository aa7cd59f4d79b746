/* What recording added to calls, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_random.h"
#include "replay/recording_overhead.h"

static int64_t added_to_ns(struct builder *b, const struct costs *costs, uint32_t call)
{
	const struct profile_call *what = &b->calls[call];
	struct model *model = NULL;
	struct err err = {""};
	int64_t added_ns;

	assert_int_equal(model_build(&model, builder_finish(b), &err), 0);
	added_ns = overhead_call_ns(model, costs, call, what->end_ns - what->start_ns);
	model_free(model);
	return added_ns;
}

/* A launch that a stream captures leaves a record of itself, and none of a kernel; of a short call a quarter stays. */
static void test_captured(void **state)
{
	static const struct {
		const char *name;
		enum profile_call_class call_class;
		int64_t own_ns, added_ns;
	} cases[] = {
		{"cudaLaunchKernel", CALL_LAUNCH, 1000, 375},
		{"cudaLaunchKernel", CALL_LAUNCH, 400, 300},
		{"cudaMemcpyAsync", CALL_COPY, 1000, 375},
		{"cudaEventRecord", CALL_EVENT, 1000, 375},
		{"cudaGraphExecKernelNodeSetParams", CALL_GRAPH_MANAGE, 1000, 375},
		{"cudaMalloc", CALL_MEMORY, 1000, 375},
		{"cudaDeviceSynchronize", CALL_SYNC, 1000, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct builder *b = builder_new(1, 1);
		uint32_t call = builder_call(b, 0, cases[i].name, cases[i].call_class, 100,
					     100 + cases[i].own_ns);

		assert_int_equal(added_to_ns(b, &random_costs, call), cases[i].added_ns);
		free(b);
	}
}

/* Of 2 us until a wait returned, and of so little that a quarter of it stays. */
static void test_waited(void **state)
{
	struct costs costs = random_costs;
	struct builder *b = builder_new(1, 1);
	struct model *model = NULL;
	struct err err = {""};
	uint32_t call = builder_launch(b, 0, 0, 2000);

	(void)state;
	costs.trace_wait_ns = 300;
	costs.trace_copy_wait_ns = 1600;
	builder_kernel(b, 0, "k", 5000, 6000, call);
	for (unsigned int kind = COPY_TO_DEVICE; kind <= COPY_TO_HOST; kind++) {
		int64_t now_ns = kind * 10000;

		call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns, now_ns + 2000);
		builder_copy(b, 0, (struct profile_copy){.kind = kind, .bytes = 4}, now_ns + 5000,
			     now_ns + 6000, call);
	}
	assert_int_equal(model_build(&model, builder_finish(b), &err), 0);
	assert_int_equal(overhead_wait_ns(model, &costs, 0, 2000), 300);
	assert_int_equal(overhead_wait_ns(model, &costs, 1, 2000), 300);
	assert_int_equal(overhead_wait_ns(model, &costs, 2, 2000), 1500);
	assert_int_equal(overhead_wait_ns(model, &costs, 2, 4000), 1600);
	assert_int_equal(overhead_wait_ns(model, NULL, 2, 4000), 0);
	assert_int_equal(overhead_wait_ns(model, &costs, 2, -10), 0);
	model_free(model);
	free(b);
}

static void test_submitted(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_launch(b, 0, 100, 4100);

	(void)state;
	builder_kernel(b, 0, "k", 5000, 6000, call);
	assert_int_equal(added_to_ns(b, &random_costs, call), 750);
	free(b);
}

/* An update of a graph of two nodes, which takes so long without recording. */
static int64_t added_to_update_ns(int64_t own_ns, double without_ns)
{
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));
	struct costs costs = random_costs;
	struct builder *b = builder_new(1, 1);
	uint32_t update =
		builder_call(b, 0, "cudaGraphExecUpdate", CALL_GRAPH_MANAGE, 100, 100 + own_ns);
	uint32_t launch = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 50000, 55000);
	int64_t added_ns;

	assert_non_null(ceilings);
	for (int i = 0; i < 2; i++)
		builder_ids(b,
			    builder_kernel(b, 0, "k", 60000 + 1000 * i, 60900 + 1000 * i, launch))
			->graph = 7;
	assert_int_equal(ceilings_add(ceilings, &(struct ceiling){.id = CEILING_graph_update,
								  .parameter = 2,
								  .value = without_ns}),
			 0);
	assert_null(ceilings_sort(ceilings));
	costs.ceilings = ceilings;
	added_ns = added_to_ns(b, &costs, update);
	ceilings_free(ceilings);
	free(b);
	return added_ns;
}

static void test_update(void **state)
{
	(void)state;
	assert_int_equal(added_to_update_ns(4000, 1500), 2500);
	assert_int_equal(added_to_update_ns(9000, 1500), 3 * 1500); /* the rest is its own */
	assert_int_equal(added_to_update_ns(1400, 1500), 375);	    /* for its record */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"a call that submits nothing is slowed by its own record alone, also where it is captured",
		 test_captured, NULL, NULL, NULL},
		{"a wait returns later, most of all that for a copy to the host", test_waited, NULL,
		 NULL, NULL},
		{"a call that submits work is slowed more", test_submitted, NULL, NULL, NULL},
		{"an update of a graph is slowed by what it takes longer than the ceilings of as many nodes, "
		 "at most three times that",
		 test_update, NULL, NULL, NULL},
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
