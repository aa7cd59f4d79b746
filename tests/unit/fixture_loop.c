#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"
#include "techniques/shared/readbacks.h"

#define DEVICE 3
#define LONG_NS 200000 /* what no launch takes */
#define STEP_NS 10000  /* of an interpreter */

static int64_t now_ns; /* of the host of the loop that is being made */

/* Calls of 10, operations 5 after them that take 100. */
static uint32_t call(struct builder *b, const char *name, enum profile_call_class class)
{
	now_ns += 20;
	return builder_call(b, 0, name, class, now_ns - 10, now_ns);
}

static void copy(struct builder *b, const char *name, uint32_t kind, uint64_t bytes,
		 uint32_t memory, int64_t length_ns)
{
	const struct profile_copy what = {.bytes = bytes,
					  .kind = kind,
					  .src_memory = kind == 1 ? memory : DEVICE,
					  .dst_memory = kind == 2 ? memory : DEVICE,
					  .is_async = strcmp(name, "cudaMemcpy") != 0};
	uint32_t by = call(b, name, CALL_COPY);

	builder_copy(b, 0, what, now_ns + 5, now_ns + 5 + length_ns, by);
	if (!strcmp(name, "cudaMemcpy")) {
		now_ns += 10 + length_ns;
		b->calls[by].end_ns = now_ns;
	}
}

static void add(struct builder *b, char letter)
{
	static uint32_t grid = 1;
	uint32_t signature;
	uint32_t by;

	switch (letter) {
	case 'k':
		builder_kernel(b, 0, "k", now_ns + 25, now_ns + 125,
			       call(b, "cudaLaunchKernel", CALL_LAUNCH));
		break;
	case 'v':
		builder_kernel(b, 0, "v", now_ns + 25, now_ns + 125,
			       call(b, "cudaLaunchKernel", CALL_LAUNCH));
		break;
	case 'K':
		grid = 1 + grid % 3;
		signature = builder_signature(b, "K", grid);
		builder_op(b, OP_KERNEL, 0, signature, now_ns + 25, now_ns + 125,
			   call(b, "cudaLaunchKernel", CALL_LAUNCH));
		break;
	case 'w':
		call(b, "cudaStreamSynchronize", CALL_SYNC);
		break;
	case 'r':
		copy(b, "cudaMemcpyAsync", 2, 4, PINNED, 100);
		break;
	case 'R':
		copy(b, "cudaMemcpy", 2, GAP_DECISION_BYTES, PINNED, 100);
		break;
	case 'f':
		copy(b, "cudaMemcpy", 1, GAP_DECISION_BYTES, PAGEABLE, 100);
		break;
	case 'i':
		copy(b, "cudaMemcpyAsync", 1, 1 << 20, PINNED, 20000);
		break;
	case 'o':
		copy(b, "cudaMemcpyAsync", 2, 1 << 20, PINNED, 20000);
		break;
	case 'p':
		copy(b, "cudaMemcpyAsync", 1, 1 << 20, PAGEABLE, 20000);
		break;
	case 'c':
		copy(b, "cudaMemcpy", 1, 1 << 20, PINNED, 20000);
		break;
	case 'P':
		copy(b, "cudaMemcpy", 2, 1 << 20, PAGEABLE, 20000);
		break;
	case 's':
		copy(b, "cudaMemcpyAsync", 1, 64, PINNED, 1000);
		break;
	case 'n':
		copy(b, "cudaMemcpyAsync", 8, 64, DEVICE, 1000);
		break;
	case 'x':
		builder_copy(b, 0, (struct profile_copy){.bytes = 4, .kind = 1}, now_ns + 25,
			     now_ns + 125, call(b, "cudaNews", CALL_OTHER));
		break;
	case '0':
		builder_memset(b, 0, (struct profile_memset){.bytes = 64, .is_async = true},
			       now_ns + 25, now_ns + 75, call(b, "cudaMemsetAsync", CALL_COPY));
		break;
	case 'm':
		call(b, "cudaMalloc", CALL_MEMORY);
		break;
	case 'g':
		builder_kernel(b, 0, "k", now_ns + 25, now_ns + 125,
			       call(b, "cudaGraphLaunch", CALL_GRAPH_LAUNCH));
		break;
	case 'q':
		by = call(b, "cudaGraphLaunch", CALL_GRAPH_LAUNCH);
		builder_kernel(b, 0, "k", now_ns + 5, now_ns + 105, by);
		builder_kernel(b, 0, "k", now_ns + 110, now_ns + 210, by);
		break;
	case 'W':
		builder_graph(b, 0, 0, now_ns + 25, now_ns + 125,
			      call(b, "cudaGraphLaunch", CALL_GRAPH_LAUNCH));
		break;
	case 'I':
		call(b, "cudaGraphInstantiate", CALL_GRAPH_MANAGE);
		break;
	case 'U':
		call(b, "cudaGraphUpload", CALL_GRAPH_MANAGE);
		break;
	case 'D':
		call(b, "cudaGraphExecDestroy", CALL_GRAPH_MANAGE);
		break;
	case 'u':
		call(b, "cudaGraphExecUpdate", CALL_GRAPH_MANAGE);
		break;
	case 'j':
		b->calls[call(b, "cudaLibraryLoadData", CALL_MODULE)].end_ns += LONG_NS;
		now_ns += LONG_NS;
		break;
	case 'J':
		call(b, "cudaLibraryLoadData", CALL_MODULE);
		break;
	case 'L':
		now_ns += 20;
		builder_load(b, IMAGE_MACHINE_CODE, 1, now_ns - 10, now_ns);
		break;
	case 'z':
		call(b, "cuModuleUnload", CALL_MODULE);
		break;
	case 'h':
		now_ns += LONG_NS;
		break;
	case 't':
		now_ns += STEP_NS;
		break;
	case 'e':
		call(b, "cudaEventRecord", CALL_EVENT);
		break;
	default:
		call(b, "cudaGetLastError", CALL_OTHER);
	}
}

/* ---- the fixture ---- */

static struct ceilings *measured(void)
{
	static const enum ceiling_id rows[] = {CEILING_conditional_iteration,
					       CEILING_graph_node,
					       CEILING_device_graph_tail,
					       CEILING_child_tail,
					       CEILING_child_next,
					       CEILING_child_beside,
					       CEILING_child_return,
					       CEILING_launch_period,
					       CEILING_h2d_pinned,
					       CEILING_d2h_pinned,
					       CEILING_pinned_both};
	static const enum ceiling_id by_node[] = {CEILING_graph_instantiate,
						  CEILING_graph_first_launch, CEILING_graph_destroy,
						  CEILING_graph_update};
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = rows[i], .value = 1}),
				 0);
	for (size_t i = 0; i < sizeof(by_node) / sizeof(by_node[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &(struct ceiling){.id = by_node[i],
									  .parameter = 1,
									  .value = 1}),
				 0);
	assert_null(ceilings_sort(ceilings));
	return ceilings;
}

static void begin_application(struct application *application, const struct model *model)
{
	const struct profile *profile = model->profile;

	assert_int_equal(change_begin(&application->change, model, true), 0);
	assert_int_equal(change_begin_lanes(&application->change, model, 3), 0);
	application->end = ASSUMED_USUAL;
	application->is_first_like = true;
	application->is_changed = calloc(profile->call_count + 1, sizeof(bool));
	application->taken_by = calloc(profile->call_count + 1, 1);
	application->readback_kernels =
		calloc(profile->kernel_name_count + 1, sizeof(*application->readback_kernels));
	assert_non_null(application->is_changed);
	assert_non_null(application->taken_by);
	assert_non_null(application->readback_kernels);
}

struct loop_fixture loop_with(const char *usual, int iteration, const char *other)
{
	struct loop_fixture fixture = {.b = builder_new(1, 1), .ceilings = measured()};
	struct err err = {""};

	now_ns = 0;
	for (int i = 0; i < ITERATIONS; i++) {
		fixture.iterations[i] = (uint32_t)fixture.b->profile.call_count;
		for (const char *text = i == iteration ? other : usual; *text; text++)
			add(fixture.b, *text);
	}
	fixture.iterations[ITERATIONS] = (uint32_t)fixture.b->profile.call_count;
	builder_finish(fixture.b);
	assert_int_equal(model_build(&fixture.run.model, &fixture.b->profile, &err), 0);
	fixture.run.ceilings = fixture.ceilings;
	fixture.loop = (struct loop){.call_count = fixture.b->profile.call_count,
				     .iteration_count = ITERATIONS,
				     .kind_count = 1,
				     .period = strlen(usual)};
	begin_application(&fixture.application, fixture.run.model);
	return fixture;
}

struct loop_fixture loop_of(const char *usual)
{
	return loop_with(usual, -1, "");
}

void loop_free(struct loop_fixture *fixture)
{
	struct application *application = &fixture->application;

	change_free(&application->change);
	free(application->places);
	free(application->is_changed);
	free(application->taken_by);
	free(application->readback_kernels);
	model_free(fixture->run.model);
	ceilings_free(fixture->ceilings);
	free(fixture->b);
}

void loop_measure(struct loop_fixture *fixture, enum ceiling_id id, double value)
{
	for (size_t i = 0; i < fixture->ceilings->count; i++)
		if (fixture->ceilings->rows[i].id == id)
			fixture->ceilings->rows[i].value = value;
}

/* ---- techniques ---- */

struct application *loop_application(struct loop_fixture *fixture,
				     const struct technique *technique)
{
	fixture->loop.iterations = fixture->iterations;
	fixture->effect = (struct effect){.refusal = technique->refusal,
					  .is_assuming = technique->always_assumes};
	fixture->application.run = &fixture->run;
	fixture->application.effect = &fixture->effect;
	return &fixture->application;
}

/* As apply.c tries one. */
static const char *change_loop(struct loop_fixture *fixture, const struct technique *technique)
{
	struct application *application = &fixture->application;
	size_t call_count = fixture->b->profile.call_count;
	uint8_t *kept = malloc(call_count);
	const char *refusal;

	assert_non_null(kept);
	memcpy(kept, application->change.calls, call_count);
	refusal = technique->change_loop(application, &fixture->loop);
	if (refusal)
		memcpy(application->change.calls, kept, call_count);
	else
		fixture->effect.iteration_count = fixture->loop.iteration_count;
	free(kept);
	return refusal;
}

const char *loop_apply(struct loop_fixture *fixture, const struct technique *technique)
{
	struct application *application = loop_application(fixture, technique);
	size_t place_count = application->place_count;
	const char *refusal = technique->refusal;

	if (technique->change_loop)
		refusal = change_loop(fixture, technique);
	if (technique->change_run) {
		assert_int_equal(technique->change_run(application), 0);
		if (application->place_count > place_count)
			refusal = NULL;
		else if (!technique->change_loop)
			refusal = fixture->effect.refusal;
	}
	return refusal;
}

void loop_expect_refusal(const char *usual, const struct technique *technique, const char *refusal)
{
	struct loop_fixture fixture = loop_of(usual);
	const char *found = loop_apply(&fixture, technique);

	if (refusal) {
		assert_non_null(found);
		assert_string_equal(found, refusal);
		loop_expect_unchanged(&fixture);
	} else {
		assert_null(found);
	}
	loop_free(&fixture);
}

/* ---- what became of it ---- */

void loop_expect(const struct loop_fixture *fixture, int iteration, const char *expected)
{
	static const char letters[] = {[CALL_KEPT] = '.',	   [CALL_DROPPED] = 'd',
				       [CALL_AS_GRAPH] = 'G',	   [CALL_AS_UPDATED] = 'U',
				       [CALL_IN_GRAPH] = 'n',	   [CALL_AFTER_WORK] = 'h',
				       [CALL_IN_BODY] = 'b',	   [CALL_IN_ITERATION] = 'w',
				       [CALL_AFTER_SKIPPED] = 'k', [CALL_IN_LAUNCHED_GRAPH] = 'l',
				       [CALL_IN_KERNEL] = 's',	   [CALL_FUSED] = 'f',
				       [CALL_DEPENDENT] = 'p',	   [CALL_MADE_ASYNC] = 'a',
				       [CALL_PINNED_ASYNC] = 'A',  [CALL_PINNED] = 'B',
				       [CALL_READBACK_GONE] = 'q', [CALL_READ_GONE] = 'y',
				       [CALL_AS_CHILD] = 'c',	   [CALL_UPDATES] = 'u',
				       [CALL_AGAIN] = 'g',	   [USUAL_CHANGES_END] = '?'};
	const struct change *change = &fixture->application.change;
	uint32_t first = fixture->iterations[iteration];
	char found[32] = "";

	for (uint32_t i = first; i < fixture->iterations[iteration + 1]; i++)
		found[i - first] = letters[usual_change_of(change, i)];
	assert_string_equal(found, expected);
}

void loop_expect_unchanged(const struct loop_fixture *fixture)
{
	const struct change *change = &fixture->application.change;

	for (size_t i = 0; i < fixture->b->profile.call_count; i++)
		assert_int_equal(change->calls[i], CALL_KEPT);
	for (size_t i = 0; i < fixture->b->profile.op_count; i++) {
		assert_int_equal(change->op_ns[i], 0);
		assert_int_equal(change->lanes[i], LANE_NONE);
	}
}
