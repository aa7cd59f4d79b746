/* Neighbors as one kernel: which they are, and what becomes of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "techniques/fuse.h"
#include "fixture_fusion.h"
#include "fixture_loop.h"

static const char not_alike[] = "no kernels of the same grid follow one another in an iteration";

static const char grid_wide[] =
	"by its counters no kernel just goes on with what the one before it wrote";

/* ---- without counters ---- */

static void expect_fused(const char *usual, const char *expected)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_null(loop_apply(&fixture, &technique_fuse));
	loop_expect(&fixture, 0, expected);
	loop_expect(&fixture, 1, expected);
	loop_free(&fixture);
}

static void test_fused(void **state)
{
	struct loop_fixture fixture = loop_of("kwk");

	(void)state;
	expect_fused("kk", ".f"); /* not with the next iteration's */
	expect_fused("kelkikk", "...f..f");
	loop_expect_refusal("k", &technique_fuse, not_alike);
	loop_expect_refusal("kwk", &technique_fuse, not_alike);
	loop_expect_refusal("kgk", &technique_fuse, not_alike);
	fixture.application.change.calls[1] = CALL_DROPPED; /* by another technique */
	assert_null(loop_apply(&fixture, &technique_fuse));
	loop_expect(&fixture, 0, ".df");
	loop_free(&fixture);
	fixture = loop_of("kk");
	fixture.b->profile.signatures[1] = fixture.b->profile.signatures[0];
	fixture.b->profile.signatures[1].grid[0] = 7;
	for (size_t i = 1; i < fixture.b->profile.op_count; i += 2)
		fixture.b->ops[i].detail = 1;
	assert_string_equal(loop_apply(&fixture, &technique_fuse), not_alike);
	/* PyTorch chose the grids */
	fixture.b->profile.signatures[0].name = "void at::native::elementwise_kernel<128, 2>(int)";
	fixture.b->profile.signatures[1].name = "void at::native::reduce_kernel<512, 1>(int)";
	assert_null(loop_apply(&fixture, &technique_fuse));
	loop_expect(&fixture, 1, ".f");
	loop_free(&fixture);
}

/* ---- with counters ---- */

/* A recording of the loop, and what fusing makes of it. */
struct run {
	struct builder *b;
	struct change change;
	struct effect effect;
	struct recorded_run recorded;
	struct fusion_kernel kernels[MOVING_KERNELS_MOST];
	uint32_t iterations[MOVING_ITERATIONS + 1];
	struct loop loop;
};

static void run_begin(struct run *run, struct builder *b, size_t kernel_count)
{
	struct err err = {""};

	*run = (struct run){.b = b};
	builder_finish(b);
	run->recorded.fusion = moving_fusion(b, run->kernels);
	for (size_t i = 0; i <= MOVING_ITERATIONS; i++)
		run->iterations[i] = (uint32_t)(i * (kernel_count + 1));
	run->loop = (struct loop){.kind_count = 1,
				  .call_count = b->profile.call_count,
				  .iteration_count = MOVING_ITERATIONS,
				  .iterations = run->iterations,
				  .period = kernel_count};
	assert_int_equal(model_build(&run->recorded.model, &b->profile, &err), 0);
	usual_changes_begin(&run->change, run->recorded.model, true);
}

static void run_end(struct run *run)
{
	change_free(&run->change);
	model_free(run->recorded.model);
	free(run->b);
}

static const char *run_fuse(struct run *run, enum assumed_end end)
{
	return change_loop_with(&technique_fuse, &run->change, &run->effect, &run->recorded,
				&run->loop, end);
}

/* What it would change, of which nothing is kept. */
static struct fused_kernels run_look(struct run *run, bool is_least)
{
	const struct loops loops = {.items = &run->loop, .count = 1};

	run->recorded.fusion.is_least = is_least;
	return fuse_find(&run->recorded, &loops);
}

static void expect_lengths(const struct run *run, const int64_t *lengths_ns, size_t count)
{
	for (size_t i = 0; i < run->b->profile.op_count; i++)
		assert_int_equal(run->change.op_ns[i], lengths_ns[i % count]);
}

/* Without counters at most all that the others read and write passes through the longest one. */
static void test_uncounted(void **state)
{
	static const int64_t most_ns[] = {0, 1, 1}, all_ns[] = {0, 0, 0};
	struct run run;

	(void)state;
	for (enum assumed_end end = ASSUMED_USUAL; end <= ASSUMED_MOST; end++) {
		run_begin(&run, moving_loop(chain, 3, 0), 3);
		run.recorded.fusion.kernels = NULL;
		assert_null(run_fuse(&run, end));
		expect_lengths(&run, end == ASSUMED_MOST ? most_ns : all_ns, 3);
		run_end(&run);
	}
}

/* Kernels of CuPy, each of so many ns and blocks, without counters. */
struct ufunc {
	const char *name;
	int64_t ns;
	uint32_t blocks;
};

static struct builder *ufunc_loop(const struct ufunc *ufuncs, size_t count)
{
	struct moved parts[MOVING_KERNELS_MOST];
	struct builder *b;

	for (size_t i = 0; i < count; i++)
		parts[i] = (struct moved){ufuncs[i].name, 0, 0, 0};
	b = moving_loop(parts, count, 0);
	for (size_t i = 0; i < count; i++)
		b->signatures[i].grid[0] = ufuncs[i].blocks;
	for (size_t i = 0; i < b->profile.op_count; i++)
		b->ops[i].end_ns = b->ops[i].start_ns + ufuncs[i % count].ns;
	return b;
}

static void expect_rows(const struct ufunc *ufuncs, size_t count, enum assumed_end end,
			const int64_t *lengths_ns, const char *changed)
{
	struct run run;

	run_begin(&run, ufunc_loop(ufuncs, count), count);
	run.recorded.fusion.kernels = NULL;
	run.recorded.fusion.is_least = end == ASSUMED_LEAST;
	assert_null(run_fuse(&run, end));
	expect_lengths(&run, lengths_ns, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(usual_change_of(&run.change, i),
				 changed[i] == 'f' ? CALL_FUSED : CALL_KEPT);
	assert_true(run.effect.is_assuming);
	assert_true(run.effect.keeps_results);
	run_end(&run);
}

/* All take as long as one, and what others take beyond the shortest; also where that comes last. */
static void test_rows(void **state)
{
	static const struct ufunc row[] = {{"cupy_a__float32_float32", 50000, 100},
					   {"cupy_b__float32_float32", 70000, 100},
					   {"cupy_c__float32_float32", 40000, 100},
					   {"cupy_d__float32_float32", 40000, 99},
					   {"gemm", 40000, 99}};
	static const int64_t usual_ns[] = {0, 20000, 10000, 0, 0}, least_ns[] = {0, 0, 0, 0, 0},
			     most_ns[] = {0, 20000, 1, 0, 0};
	struct fused_kernels found;
	struct run run;

	(void)state;
	expect_rows(row, 5, ASSUMED_USUAL, usual_ns, ".ff..");
	expect_rows(row, 5, ASSUMED_LEAST, least_ns, ".ff..");
	expect_rows(row, 5, ASSUMED_MOST, most_ns, ".ff..");
	run_begin(&run, ufunc_loop(row, 5), 5);
	run.recorded.fusion.kernels = NULL;
	found = fuse_find(&run.recorded, &(struct loops){.items = &run.loop, .count = 1});
	assert_float_equal(found.saved_ns, MOVING_ITERATIONS * 80000, 1e-3);
	assert_int_equal(found.row.count, 3);
	assert_float_equal(found.row.all_ns, 160000, 1e-3);
	assert_float_equal(found.row.longest_ns, 70000, 1e-3);
	assert_float_equal(found.row.saved_ns, 80000, 1e-3);
	assert_string_equal(run.b->signatures[found.row.first].name, "cupy_a__float32_float32");
	run_end(&run);
}

/* PyTorch's templates give a thread one, two or more elements; those of one template as many. */
static void test_as_many_elements(void **state)
{
	static const struct ufunc row[] = {
		{"void at::native::elementwise_kernel<128, 2, mul>(int)", 50000, 400},
		{"void at::native::vectorized_elementwise_kernel<4, add>(int)", 50000, 100},
		{"void at::native::vectorized_elementwise_kernel<4, div>(int)", 50000, 50},
		{"void at::native::vectorized_elementwise_kernel<4, sub>(int)", 50000, 50}};
	static const int64_t usual_ns[] = {0, 1, 0, 1};

	(void)state;
	expect_rows(row, 4, ASSUMED_USUAL, usual_ns, ".f.f");
}

/* Three take as long as one did: the first only reads, the second does neither, the third only writes. */
static void test_chain(void **state)
{
	static const int64_t all_ns[] = {50000, 1, 50000}, least_ns[] = {0, 50000, 50000};
	struct fused_kernels found;
	struct run run;

	(void)state;
	run_begin(&run, moving_loop(chain, 3, 0), 3);
	assert_null(run_fuse(&run, ASSUMED_USUAL));
	expect_lengths(&run, all_ns, 3);
	assert_int_equal(usual_change_of(&run.change, 0), CALL_KEPT);
	assert_int_equal(usual_change_of(&run.change, 1), CALL_FUSED);
	assert_int_equal(usual_change_of(&run.change, 2), CALL_FUSED);
	assert_true(run.effect.is_assuming);
	assert_int_equal(run.effect.changed_count, 2 * MOVING_ITERATIONS);
	assert_float_equal(run.effect.vanished_bytes, MOVING_ITERATIONS * 720 * MB, 1);
	found = run_look(&run, false);
	assert_int_equal(found.kernel_count, 2 * MOVING_ITERATIONS);
	assert_int_equal(found.handed_count, 2 * MOVING_ITERATIONS);
	assert_float_equal(found.vanished_bytes, MOVING_ITERATIONS * 720 * MB, 1);
	assert_float_equal(found.saved_ns, MOVING_ITERATIONS * 2e5, 1e-3);
	assert_string_equal(run.b->signatures[found.first].name, "gelu");
	assert_string_equal(run.b->signatures[found.second].name, "dropout");
	assert_int_equal(found.chain_count, 3);
	assert_string_equal(run.b->signatures[found.chain[0]].name, "gelu");
	run_end(&run);

	run_begin(&run, moving_loop(chain, 3, 0), 3);
	assert_null(run_fuse(&run, ASSUMED_LEAST));
	expect_lengths(&run, least_ns, 3);
	assert_float_equal(run.effect.vanished_bytes, MOVING_ITERATIONS * 360 * MB, 1);
	found = run_look(&run, true);
	assert_float_equal(found.vanished_bytes, MOVING_ITERATIONS * 360 * MB, 1);
	assert_float_equal(found.saved_ns, MOVING_ITERATIONS * 1e5, 1e-3);
	run_end(&run);
}

/* Eight values for each thread, where each kernel may need those of other threads: of three a thread would hold 512. */
static void test_too_many_values(void **state)
{
	static const int64_t usual_ns[] = {50000, 50000, 0}, most_ns[] = {50000, 1, 50000};
	struct fused_kernels found;
	struct run run;

	(void)state;
	for (enum assumed_end end = ASSUMED_USUAL; end <= ASSUMED_MOST; end++) {
		run_begin(&run, moving_loop(chain, 3, 0), 3);
		for (size_t i = 0; i < 3; i++) {
			struct profile_signature *launch = &run.b->signatures[i];

			launch->registers_per_thread = 22;
			launch->grid[0] = (uint32_t)(180 * MB / (8 * 4 * 250));
			launch->block[0] = 250;
		}
		assert_null(run_fuse(&run, end));
		expect_lengths(&run, end == ASSUMED_MOST ? most_ns : usual_ns, 3);
		assert_int_equal(usual_change_of(&run.change, 1), CALL_FUSED);
		assert_int_equal(usual_change_of(&run.change, 2),
				 end == ASSUMED_MOST ? CALL_FUSED : CALL_KEPT);
		found = run_look(&run, false);
		assert_int_equal(found.chain_count, 2);
		assert_float_equal(found.apart_values, 512, 1e-6);
		assert_string_equal(run.b->signatures[found.apart].name, "scale");
		/* PyTorch's of elements need no other thread's */
		for (size_t i = 0; i < 3; i++)
			run.b->signatures[i].name =
				"void at::native::elementwise_kernel<128, 2>(int)";
		assert_int_equal(run_look(&run, false).chain_count, 3);
		run_end(&run);
	}
}

/* The second reads an array of its own as well: that much is left of its time. */
static void test_other_array(void **state)
{
	static const struct moved parts[] = {{"narrow", 180 * MB, 90 * MB, 0},
					     {"residual", 180 * MB, 90 * MB, 0}};
	static const int64_t expected_ns[] = {66666, 66666};
	struct run run;

	(void)state;
	run_begin(&run, moving_loop(parts, 2, 0), 2);
	assert_null(run_fuse(&run, ASSUMED_USUAL));
	expect_lengths(&run, expected_ns, 2);
	run_end(&run);
}

static void test_looked_at(void **state)
{
	static const int64_t kept_ns[] = {0, 0, 0};
	struct run run;

	(void)state;
	run_begin(&run, moving_loop(chain, 3, 0), 3);
	assert_float_equal(run_look(&run, false).saved_ns, MOVING_ITERATIONS * 2e5, 1e-3);
	expect_lengths(&run, kept_ns, 3);
	assert_int_equal(usual_change_of(&run.change, 1), CALL_KEPT);
	run_end(&run);
}

/* Another technique has made the kernels half as long before: it is from that what vanishes is taken. */
static void test_changed_before(void **state)
{
	static const int64_t expected_ns[] = {25000, 1, 25000};
	struct builder *b = moving_loop(chain, 3, 0);
	struct run run;

	(void)state;
	run_begin(&run, b, 3);
	for (size_t i = 0; i < b->profile.op_count; i++)
		run.change.op_ns[i] = KERNEL_NS / 2;
	run.recorded.fusion.dram_byte_per_s = 1e13;
	assert_null(run_fuse(&run, ASSUMED_USUAL));
	expect_lengths(&run, expected_ns, 3);
	run_end(&run);
}

/* A kernel that reduced, and one that goes on with something else. */
static void test_grid_wide(void **state)
{
	static const struct moved parts[] = {{"total", 360 * MB, 30 * MB, 361 * MB},
					     {"divide", 180 * MB, 180 * MB, 360 * MB},
					     {"gather", 150 * MB, 180 * MB, 330 * MB}};
	static const int64_t kept_ns[] = {0, 0, 0};
	struct run run;

	(void)state;
	run_begin(&run, moving_loop(parts, 3, 0), 3);
	assert_string_equal(run_fuse(&run, ASSUMED_USUAL), grid_wide);
	expect_lengths(&run, kept_ns, 3);
	for (size_t i = 0; i < run.b->profile.call_count; i++)
		assert_int_equal(run.change.calls[i], CALL_KEPT);
	assert_int_equal(run.effect.changed_count, 0);
	assert_int_equal(run_look(&run, false).kernel_count, 0);
	run_end(&run);
}

/* Behind a product on tensor cores what makes as many bytes of its sums needs no grid like its own; a reduction, or
 * what reads something else as well, does. */
static void test_epilogue(void **state)
{
	static const struct moved behind[] = {{"gelu", 180 * MB, 180 * MB, 360 * MB},
					      {"total", 180 * MB, 90 * MB, 270 * MB},
					      {"residual", 240 * MB, 240 * MB, 480 * MB}};
	struct moved parts[2] = {{"product", 180 * MB, 180 * MB, 360 * MB}};
	struct run run;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (int is_product = 0; is_product < 2; is_product++) {
			parts[1] = behind[i];
			run_begin(&run, moving_loop(parts, 2, 0), 2);
			run.b->profile.signatures[1].grid[0] += 7;
			run.kernels[0].tensor_share = is_product ? 0.8 : 0;
			if (is_product && i == 0)
				assert_null(run_fuse(&run, ASSUMED_USUAL));
			else
				assert_string_equal(run_fuse(&run, ASSUMED_USUAL), not_alike);
			run_end(&run);
		}
}

/* Small ones: as without counters. */
static void test_small(void **state)
{
	static const struct moved parts[] = {{"add", 2 * MB, MB, 3 * MB}, {"scale", 0, MB, 2 * MB}};
	static const int64_t kept_ns[] = {0, 0};
	struct run run;

	(void)state;
	run_begin(&run, moving_loop(parts, 2, 0), 2);
	assert_null(run_fuse(&run, ASSUMED_USUAL));
	expect_lengths(&run, kept_ns, 2);
	assert_int_equal(run.effect.changed_count, MOVING_ITERATIONS);
	assert_false(run.effect.is_assuming);
	assert_int_equal(run_look(&run, false).handed_count, 0);
	run_end(&run);
}

/* What kernels were given, by turns: of each launch what is read, and what is changed. */
struct given {
	struct kernel_access items[6];
	struct access_list lists[3];
	uint32_t of_op[3 * MOVING_ITERATIONS];
	struct accesses accesses;
	struct report report;
	struct profile_allocation allocations[4];
};

/* read[i], changed[i]: the allocation of the i-th kernel of an iteration. */
static void give(struct given *given, struct run *run, size_t count, const uint32_t *read,
		 const uint32_t *changed, const double *bytes)
{
	*given = (struct given){.accesses = {.of_op = given->of_op,
					     .lists = given->lists,
					     .items = given->items},
				.report = {.accesses = &given->accesses}};
	for (uint32_t i = 0; i < count; i++) {
		given->items[2 * i] = (struct kernel_access){0, read[i], ACCESS_READ};
		given->items[2 * i + 1] = (struct kernel_access){0, changed[i], ACCESS_CHANGED};
		given->lists[i] =
			(struct access_list){.first = 2 * i, .count = 2, .is_whole = true};
	}
	for (size_t i = 0; i < count * MOVING_ITERATIONS; i++)
		given->of_op[i] = (uint32_t)(i % count);
	for (size_t i = 0; i < 4; i++)
		given->allocations[i].bytes = (uint64_t)bytes[i];
	run->b->profile.allocations = given->allocations;
	run->b->profile.allocation_count = 4;
	run->recorded.report = &given->report;
}

/* None was given what the one before wrote, and each reads another array: one kernel, and all are still read. */
static void test_given_other(void **state)
{
	static const uint32_t read[] = {0, 1, 0}, changed[] = {2, 3, 2};
	static const double bytes[] = {180 * MB, 180 * MB, 180 * MB, 180 * MB};
	static const int64_t kept_ns[] = {0, 0, 0};
	struct given given;
	struct run run;

	(void)state;
	run_begin(&run, moving_loop(chain, 3, 0), 3);
	give(&given, &run, 3, read, changed, bytes);
	assert_null(run_fuse(&run, ASSUMED_USUAL));
	expect_lengths(&run, kept_ns, 3);
	assert_int_equal(run.effect.changed_count, 2 * MOVING_ITERATIONS);
	assert_false(run.effect.is_assuming);
	run_end(&run);
}

/* All read one array, of which one kernel reads as much once: at the low end as well, as arguments tell. */
static void test_read_once(void **state)
{
	static const uint32_t read[] = {0, 0, 0}, changed[] = {1, 2, 3};
	static const double bytes[] = {90 * MB, 180 * MB, 180 * MB, 180 * MB};
	static const int64_t once_ns[] = {0, 75000, 75000};
	struct given given;
	struct run run;

	(void)state;
	for (enum assumed_end end = ASSUMED_LEAST; end <= ASSUMED_USUAL; end++) {
		run_begin(&run, moving_loop(chain, 3, 0), 3);
		give(&given, &run, 3, read, changed, bytes);
		assert_null(run_fuse(&run, end));
		expect_lengths(&run, once_ns, 3);
		assert_float_equal(run.effect.vanished_bytes, MOVING_ITERATIONS * 180 * MB, 1);
		run_end(&run);
	}
}

/* One that stores little has a result for each block of the next one, or a single one. */
static void test_results_of_blocks(void **state)
{
	static const struct moved parts[] = {{"maxima", 360 * MB, 1 * MB, 361 * MB},
					     {"exp", 180 * MB, 180 * MB, 360 * MB}};
	static const uint32_t read[] = {0, 1}, changed[] = {1, 2};
	struct given given;
	struct run run;

	(void)state;
	for (int is_enough = 0; is_enough < 2; is_enough++) {
		const double bytes[] = {360 * MB, is_enough ? 4 * 1000 : 4 * 999, 180 * MB, 0};

		run_begin(&run, moving_loop(parts, 2, 0), 2);
		give(&given, &run, 2, read, changed, bytes);
		if (is_enough)
			assert_null(run_fuse(&run, ASSUMED_USUAL));
		else
			assert_string_equal(run_fuse(&run, ASSUMED_USUAL), grid_wide);
		assert_int_equal(run.effect.changed_count, is_enough ? MOVING_ITERATIONS : 0);
		run_end(&run);
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("neighbors with the same grid become one kernel", test_fused),
		SENTENCE("without counters a kernel is at most as long as the longest in it",
			 test_uncounted),
		SENTENCE("without counters a framework's kernels over as many elements are one",
			 test_rows),
		SENTENCE("names and grids show which kernels go through as many elements",
			 test_as_many_elements),
		SENTENCE("what a chain of kernels hands on vanishes, at the low end its reading",
			 test_chain),
		SENTENCE("what may spill is left apart, but at the high end", test_too_many_values),
		SENTENCE("what the second reads besides is still read", test_other_array),
		SENTENCE("looking changes nothing", test_looked_at),
		SENTENCE("kernels that another technique changed are shortened from that",
			 test_changed_before),
		SENTENCE("neighbors with a dependency across the grid are refused", test_grid_wide),
		SENTENCE(
			"what touches up a product's sums goes into its epilogue, whatever its grid",
			test_epilogue),
		SENTENCE("of neighbors that were given other memory no bytes vanish",
			 test_given_other),
		SENTENCE("what both are known to read is read once", test_read_once),
		SENTENCE("a kernel that reduces in blocks goes into the next one of as many",
			 test_results_of_blocks),
		SENTENCE("of small neighbors only launches and gaps go", test_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
