#include "replay/loop_steps.h"

#include <stdlib.h>

#include "replay/calls.h"

/* So many iterations tell as much as all. */
#define SAMPLES 512
/* Steps that are seen at least. */
#define STEPS_LEAST 16
/* The pause before a step is so many times as long as those within: 1.35 before the step of an encoder, whose layers
 * repeat (tests/gpu/torch_programs.py). */
#define LONGER 1.2

struct pauses {
	int64_t ns[SAMPLES]; /* before each iteration */
	size_t count;
	int64_t sorted[SAMPLES]; /* some of them */
};

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* Of every length-th pause from the first one on: the one below which that share of them lies. */
static int64_t quantile_ns(struct pauses *pauses, size_t first, size_t length, double share)
{
	size_t count = 0;

	for (size_t i = first; i < pauses->count; i += length)
		pauses->sorted[count++] = pauses->ns[i];
	qsort(pauses->sorted, count, sizeof(*pauses->sorted), compare_ns);
	return pauses->sorted[(size_t)(share * (double)count)];
}

/* The first iteration of a loop may be the first call of its thread. */
static void add_pauses(struct pauses *pauses, const struct model *model, const struct loop *loop)
{
	size_t count = loop->iteration_count - 1;

	pauses->count = count < SAMPLES ? count : SAMPLES;
	for (size_t i = 0; i < pauses->count; i++)
		pauses->ns[i] = call_pause_ns(model, loop->iterations[i + 1]);
}

static bool has_wait(const struct model *model, const struct loop *loop, size_t iteration)
{
	for (size_t i = loop->iterations[iteration]; i < loop->iterations[iteration + 1]; i++)
		if (model_call_class(model, i) == CALL_SYNC)
			return true;
	return false;
}

/* As often as once in the longest step: then waits part the steps, and not pauses. */
static bool has_waits(const struct model *model, const struct loop *loop, size_t count)
{
	size_t waiting_count = 0;

	for (size_t i = 0; i < count; i++)
		waiting_count += has_wait(model, loop, i + 1);
	return waiting_count * LOOP_STEP_MOST > count;
}

/* Whether the pauses at one place in steps of that length stand out, also the shorter ones of them, and where. */
static bool stands_out(struct pauses *pauses, size_t length, size_t *place)
{
	int64_t longest_ns = -1, second_ns = -1;

	*place = 0;
	for (size_t i = 0; i < length; i++) {
		int64_t ns = quantile_ns(pauses, i, length, 0.5);

		if (ns > longest_ns) {
			second_ns = longest_ns;
			longest_ns = ns;
			*place = i;
		} else if (ns > second_ns) {
			second_ns = ns;
		}
	}
	return (double)quantile_ns(pauses, *place, length, 0.25) > LONGER * (double)second_ns;
}

struct loop_step loop_step_of(const struct model *model, const struct loop *loop)
{
	struct loop_step loop_step = {.iteration_count = 1};
	struct pauses pauses = {.count = 0};
	size_t place;

	if (loop->iteration_count <= 2 * STEPS_LEAST)
		return loop_step;
	add_pauses(&pauses, model, loop);
	if (has_waits(model, loop, pauses.count))
		return loop_step;
	for (size_t length = 2; length <= LOOP_STEP_MOST && length * STEPS_LEAST <= pauses.count;
	     length++)
		if (stands_out(&pauses, length, &place))
			return (struct loop_step){length, (place + 1) % length};
	return loop_step;
}

/* ---- sizes ---- */

/* Sizes that are those of so many iterations before nearly always, as of an iteration's tokens in a loop. */
#define LEAST_ALIKE 0.9

static bool is_same_size(const struct profile *profile, uint32_t left, uint32_t right)
{
	const struct profile_op *a = &profile->ops[left], *b = &profile->ops[right];

	if (a->kind != b->kind)
		return false;
	if (a->kind == OP_COPY)
		return profile->copies[a->detail].bytes == profile->copies[b->detail].bytes;
	if (a->kind == OP_MEMSET)
		return profile->memsets[a->detail].bytes == profile->memsets[b->detail].bytes;
	return a->kind != OP_KERNEL || a->detail == b->detail;
}

/* Of two iterations. */
static bool are_sizes_same(const struct model *model, const struct loop *loop, size_t a, size_t b)
{
	const struct submissions *submissions = &model->submissions;
	uint32_t left = submissions_first(submissions, loop->iterations[a]),
		 right = submissions_first(submissions, loop->iterations[b]);
	uint32_t count = submissions_first(submissions, loop->iterations[a + 1]) - left;

	if (submissions_first(submissions, loop->iterations[b + 1]) - right != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!is_same_size(model->profile, submissions_op(submissions, left + i),
				  submissions_op(submissions, right + i)))
			return false;
	return true;
}

static bool do_sizes_repeat(const struct model *model, const struct loop *loop, size_t length)
{
	size_t end = loop->iteration_count < SAMPLES ? loop->iteration_count : SAMPLES;
	size_t same_count = 0;

	if (end < 2 * length)
		return false;
	for (size_t i = length; i < end; i++)
		same_count += are_sizes_same(model, loop, i - length, i);
	return (double)same_count >= LEAST_ALIKE * (double)(end - length);
}

size_t loop_sizes_repeat(const struct model *model, const struct loop *loop)
{
	if (do_sizes_repeat(model, loop, 1))
		return 0;
	for (size_t length = 2; length <= LOOP_STEP_MOST; length++)
		if (do_sizes_repeat(model, loop, length))
			return length;
	return 0;
}

size_t loop_step_next(const struct loop_step *loop_step, const struct loop *loop, size_t iteration)
{
	size_t length = loop_step->iteration_count;
	size_t into = (iteration + length - loop_step->first) % length,
	       next = iteration + length - into;

	return next < loop->iteration_count ? next : loop->iteration_count;
}
