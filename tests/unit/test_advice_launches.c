/* What becomes of loops of short kernels beside a graph: one kernel that stays, and dependent launches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"
#include "techniques/techniques.h"

#define COUNT 200

/* Kernels of kernel_ns in turn, gap_ns apart, launched launch_ns apart. */
static struct builder *queued(const char *first, const char *second, int64_t launch_ns,
			      int64_t kernel_ns, int64_t gap_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t step_ns = launch_ns > kernel_ns + gap_ns ? launch_ns : kernel_ns + gap_ns;

	advised_set_device(b);
	b->devices[0].compute_major = 9;
	for (int i = 0; i < COUNT; i++) {
		uint32_t call =
			builder_launch(b, 0, i * launch_ns, i * launch_ns + launch_ns - 100);

		builder_kernel(b, 0, i % 2 ? second : first, 5000 + i * step_ns,
			       5000 + i * step_ns + kernel_ns, call);
	}
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, COUNT * launch_ns,
		     5000 + COUNT * step_ns + 5000);
	return b;
}

/* A gap of so much, where launches are dependent: 0: the ceilings do not tell. */
static void advise(struct advised *it, struct builder *b, double dependent_gap_ns)
{
	struct ceilings *ceilings = predicted_ceilings(0);

	if (dependent_gap_ns > 0)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = CEILING_dependent_gap,
								.value = dependent_gap_ns,
								.low = dependent_gap_ns,
								.high = dependent_gap_ns}),
				 0);
	assert_null(ceilings_sort(ceilings));
	advised_begin_by(it, b, (struct device_work){0}, ceilings);
}

static const struct rejection *rejected(const struct advised *it, const char *rule)
{
	for (size_t i = 0; i < it->advice->rejection_count; i++)
		if (!strcmp(it->advice->rejections[i].id, rule))
			return &it->advice->rejections[i];
	return NULL;
}

/* Launching takes 4 us, the kernels 300 ns; their grids vary, so that no graph has several iterations. */
static void test_persistent(void **state)
{
	struct builder *b = queued("a", "b", 4000, 300, 1000);
	const struct recommendation *item;
	struct advised it;

	(void)state;
	for (uint32_t i = 0; i < b->profile.op_count; i++) {
		uint32_t drawn = (i + 1) * 2654435769U; /* in no order */

		drawn = (drawn ^ drawn >> 15) * 2246822519U;
		b->ops[i].detail = builder_signature(b, i % 2 ? "b" : "a", 1 + (drawn >> 13) % 7);
	}
	advise(&it, b, 0);
	item = advised_item(&it, "persistent_kernel");
	assert_non_null(item);
	assert_string_equal(item->strategy, "persistent_kernel");
	assert_true(advised_says(item, "kernels with nothing but launches between them"));
	assert_true(advised_says(item, "a barrier for the grid takes 1.30 us"));
	assert_true(item->gain.program.speedup > 1.25);
	advised_end(&it);
}

/* Kernels of 10 us: the barrier brings what a graph does. */
static void test_graph_does_as_much(void **state)
{
	const struct rejection *item;
	struct advised it;

	(void)state;
	advise(&it, queued("a", "b", 16000, 10000, 1000), 0);
	assert_non_null(advised_item(&it, "launch_bound_graph"));
	assert_null(advised_item(&it, "persistent_kernel"));
	item = rejected(&it, "persistent_kernel");
	assert_non_null(item);
	assert_non_null(strstr(item->reason, "by cuda_graph, which is less to change"));
	for (size_t i = 0; i < it.advice->plan_count; i++)
		assert_string_not_equal(it.advice->plan[i].strategy, "persistent_kernel");
	advised_end(&it);
}

static void test_library(void **state)
{
	const struct rejection *item;
	struct advised it;

	(void)state;
	advise(&it, queued("ncclKernel_a", "b", 4000, 300, 1000), 500);
	item = rejected(&it, "persistent_kernel");
	assert_non_null(item);
	assert_non_null(strstr(item->reason, "a library's"));
	advised_end(&it);
}

/* The GPU goes from kernel to kernel by itself, which takes it two fifths of the time. */
static void test_dependent(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advise(&it, queued("a", "b", 1000, 1500, 1000), 100);
	item = advised_item(&it, "dependent_launch");
	assert_non_null(item);
	assert_string_equal(item->strategy, "dependent_launch");
	assert_true(advised_says(item, "199 kernels follow another one in their stream") ||
		    advised_says(item, "198 kernels follow another one in their stream"));
	assert_true(advised_says(item, "the gap between two kernels is 800 ns, and 100 ns"));
	assert_true(item->gain.program.speedup > 1.1);
	advised_end(&it);
	/* nobody measured it, and a GPU that cannot */
	advise(&it, queued("a", "b", 1000, 1500, 1000), 0);
	assert_null(advised_item(&it, "dependent_launch"));
	advised_end(&it);
}

/* Half of their loads stand above the wait: kernels of 1.5 us take half of that behind one another. */
static void test_early_loads(void **state)
{
	struct builder *b = queued("a", "b", 1000, 1500, 1000);
	struct profile_machine_code codes[2];
	const struct recommendation *item;
	double gap_alone;
	struct advised it;

	(void)state;
	advise(&it, queued("a", "b", 1000, 1500, 1000), 100);
	item = advised_item(&it, "dependent_launch");
	assert_true(
		advised_says(item, "what they can do before they need results of it comes on top"));
	gap_alone = item->gain.program.speedup;
	advised_end(&it);
	for (uint32_t i = 0; i < 2; i++)
		codes[i] = (struct profile_machine_code){.kernel = b->signatures[i].kernel,
							 .sm = 90,
							 .dependency_wait_count = 1,
							 .dependent_launch_count = 1,
							 .load_count = 4,
							 .load_before_wait_count = 2};
	b->profile.machine_codes = codes;
	b->profile.machine_code_count = 2;
	advise(&it, b, 100);
	item = advised_item(&it, "dependent_launch");
	assert_true(advised_says(item, "what loads they have above that wait"));
	assert_true(item->gain.program.speedup > gap_alone + 0.5);
	advised_end(&it);
}

/* A gap of 1 us behind 4 us is as much as a prediction may be off. */
static void test_doubtful(void **state)
{
	const struct rejection *item;
	struct advised it;

	(void)state;
	advise(&it, queued("a", "b", 1000, 4000, 1000), 100);
	item = rejected(&it, "dependent_launch");
	assert_non_null(item);
	assert_non_null(strstr(item->reason, "but that may be none"));
	for (size_t i = 0; i < it.advice->plan_count; i++)
		assert_string_not_equal(it.advice->plan[i].strategy, "dependent_launch");
	advised_end(&it);
}

static void test_dependent_needs_hopper(void **state)
{
	struct builder *b = queued("a", "b", 1000, 1500, 1000);
	struct advised it;

	(void)state;
	b->devices[0].compute_major = 8;
	advise(&it, b, 100);
	assert_null(advised_item(&it, "dependent_launch"));
	advised_end(&it);
}

/* Launches of 4 us for kernels of 2 us, and the host waits for each. */
static struct builder *waited(void)
{
	struct builder *b = builder_new(1, 1);

	advised_set_device(b);
	for (int i = 0; i < COUNT; i++) {
		int64_t at_ns = 1000 + i * 12500;
		uint32_t call = builder_launch(b, 0, at_ns, at_ns + 4000);

		builder_kernel(b, 0, "k", at_ns + 5000, at_ns + 7000, call);
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, at_ns + 4100, at_ns + 12000);
	}
	return b;
}

/* A graph holds no waits: they go first, and what the graph brings beside that is the next step. */
static void test_parts_first(void **state)
{
	struct advised it;

	(void)state;
	advise(&it, waited(), 0);
	assert_true(it.advice->count >= 2 && it.advice->plan_count >= 1);
	assert_string_equal(it.advice->items[0].strategy, "remove_syncs");
	assert_non_null(advised_item(&it, "launch_bound_graph"));
	assert_true(advised_item(&it, "launch_bound_graph")->expected_speedup >
		    it.advice->items[0].expected_speedup);
	assert_string_equal(it.advice->plan[0].strategy, "remove_syncs");
	assert_true(technique_contains(&technique_cuda_graph, &technique_remove_syncs));
	assert_false(technique_contains(&technique_remove_syncs, &technique_cuda_graph));
	advised_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"what has to be done for a change anyhow comes first where it brings most of the gain",
			test_parts_first),
		SENTENCE("a loop of tiny kernels is advised to be one kernel that stays",
			 test_persistent),
		SENTENCE(
			"where a graph does as much, a kernel that stays is neither advised nor planned",
			test_graph_does_as_much),
		SENTENCE("nobody is told to write a library's kernels as one", test_library),
		SENTENCE(
			"kernels that follow one another at once are advised to be launched dependently",
			test_dependent),
		SENTENCE("where that may gain nothing, kernels are not written anew for it",
			 test_doubtful),
		SENTENCE("what kernels load before they wait runs beside the one before",
			 test_early_loads),
		SENTENCE("a GPU that cannot launch dependently is not told to",
			 test_dependent_needs_hopper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
