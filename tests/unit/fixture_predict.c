#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "fixture_predict.h"

struct ceilings *predicted_ceilings(double spread)
{
	static const struct {
		enum ceiling_id id;
		double value;
	} rows[] = {{CEILING_launch_call, 3250},    {CEILING_launch_to_start, 5000},
		    {CEILING_synchronize, 5000},    {CEILING_graph_launch, 4000},
		    {CEILING_graph_to_start, 6000}, {CEILING_kernel_gap, 800},
		    {CEILING_graph_node_gap, 700},  {CEILING_graph_gap, 1200},
		    {CEILING_grid_barrier, 1300},   {CEILING_conditional_iteration, 1600},
		    {CEILING_graph_node, 700},	    {CEILING_event_wait, 1500},
		    {CEILING_h2d_pinned, 50e9},	    {CEILING_d2h_pinned, 50e9}};
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = rows[i].id,
								.value = rows[i].value,
								.low = rows[i].value * (1 - spread),
								.high = rows[i].value *
									(1 + spread)}),
				 0);
	for (uint64_t nodes = 1; nodes <= 1024; nodes *= 1024)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = CEILING_graph_instantiate,
								.parameter = nodes,
								.value = SETUP_NS}),
				 0);
	assert_null(ceilings_sort(ceilings));
	return ceilings;
}

int64_t predicted_add_loop(struct builder *b, int64_t now_ns, uint32_t refusing)
{
	for (int i = 0; i < RUNS; i++) {
		int64_t gpu_ns = now_ns + 5000;

		for (int j = 0; j < 3; j++, now_ns += 4000, gpu_ns += 11000) {
			static const char *const names[] = {"a", "b", "c"};
			uint32_t call;

			if (refusing >> i & 1 && j == 2)
				builder_call(b, 0, "cudaGraphDestroy", CALL_GRAPH_MANAGE, now_ns,
					     now_ns);
			call = builder_launch(b, 0, now_ns, now_ns + 4000);
			builder_kernel(b, 0, names[j], gpu_ns, gpu_ns + 10000, call);
		}
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns, gpu_ns + 2000);
		now_ns = gpu_ns + 3000;
	}
	return now_ns;
}

struct builder *predicted_loop(void)
{
	struct builder *b = builder_new(1, 1);

	predicted_add_loop(b, 0, 0);
	return b;
}

void predicted_begin(struct predicted_run *it, struct builder *b, double spread, const char *range)
{
	*it = (struct predicted_run){.b = b, .ceilings = predicted_ceilings(spread)};
	builder_finish(b);
	assert_int_equal(what_ifs_open(&it->all, &b->profile, it->ceilings, range), 0);
	assert_true(it->all.predictor.is_usable);
}

void predicted_end(struct predicted_run *it)
{
	what_ifs_free(&it->all);
	ceilings_free(it->ceilings);
	free(it->b);
}

int64_t predicted_saved_ns(const struct what_if *found)
{
	return found->prediction.place_before_ns - found->prediction.place_after_ns;
}

void predicted_expect_ratio(double found, double before, double after)
{
	assert_float_equal(found, before / after, 1e-9);
}

void predicted_expect_interval(const struct predicted_ratio *found, uint64_t seed)
{
	if (!(found->low > 0 && found->low <= found->speedup && found->speedup <= found->high))
		fail_msg("seed %d: %g is not within %g .. %g", (int)seed, found->speedup,
			 found->low, found->high);
}
