/*
 * check_every.c - a loop that goes on for as long as the host reads a flag reads it after every k-th iteration only.
 *
 * Iterations in between neither copy the flag nor wait for it, so that the host launches ahead.  When the flag says that it
 * is done up to k - 1 iterations too many are under way, half of that on average, which counts as well.
 */
#include "techniques/check_every.h"

#include <math.h>

#include "replay/calls.h"
#include "techniques/shared/flag_loops.h"
#include "techniques/techniques.h"

static const char no_flag[] =
	"no loop of equal iterations has the host read a few bytes after each of them";
static const char has_input[] =
	"each iteration copies something in, so it need not be what a flag decides on";
static const char cheap_flag[] = "reading the flag takes next to nothing of an iteration";

/* A copy that is gone, and the host's call for it; what follows in its stream still waits for what came before. */
static const struct call_change gone_read = {.host = COST_NONE};

/* ---- how often ---- */

/* A call that copies nothing but the flag. */
static bool is_read(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);

	return op && flag_loops_is_flag(model->profile, op) &&
	       submissions_count(&model->submissions, call) == 1;
}

static double busy_ns(const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;
	double sum_ns = 0;

	for (uint32_t i = submissions_first(submissions, call);
	     i < submissions_first(submissions, call + 1); i++) {
		const struct profile_op *op = &model->profile->ops[submissions_op(submissions, i)];

		sum_ns += (double)(op->end_ns - op->start_ns);
	}
	return sum_ns;
}

/* The last iteration reads in any case, and what follows it is not the loop's. */
static void measure(struct checked_loop *found, const struct model *model, const struct loop *loop)
{
	const struct profile_call *calls = model->profile->calls;
	size_t first = loop->iterations[0], end = loop->iterations[loop->iteration_count - 1];
	double count = (double)(loop->iteration_count - 1), gpu_ns = 0, host_ns = 0;

	for (size_t i = first; i < end; i++) {
		if (model_call_class(model, i) == CALL_SYNC || is_read(model, i))
			continue;
		gpu_ns += busy_ns(model, i);
		host_ns += (double)(calls[i].end_ns - calls[i].start_ns);
		host_ns += i > first ? (double)call_pause_ns(model, i) : 0;
	}
	found->iteration_ns = fmax(gpu_ns, host_ns) / count;
	found->check_ns =
		(double)(calls[end].start_ns - calls[first].start_ns) / count - found->iteration_ns;
}

struct checked_loop check_every_of(const struct recorded_run *run, const struct loop *loop)
{
	struct checked_loop found = {.every = 1};
	double best;

	if (loop->iteration_count < 4)
		return found;
	measure(&found, run->model, loop);
	if (found.iteration_ns <= 0 || found.check_ns <= 0)
		return found;
	best = sqrt(2 * (double)loop->iteration_count * found.check_ns / found.iteration_ns);
	best = fmin(best, (double)loop->iteration_count / 2);
	found.every = best > 1 ? (size_t)best : 1;
	return found;
}

/* ---- what becomes of it ---- */

/* Results of one input after another look the same. */
static bool copies_in(const struct model *model, const struct loop *loop)
{
	for (size_t i = loop->iterations[1]; i < loop->iterations[2]; i++) {
		const struct profile_op *op = call_op(model, i, OP_COPY);

		if (op && model->profile->copies[op->detail].kind == COPY_TO_DEVICE)
			return true;
	}
	return false;
}

/* Reads of an iteration, and the waits for them.  Returns whether there were some. */
static bool drop_check(struct change *change, const struct model *model, size_t first, size_t end)
{
	bool is_dropped = false;

	for (size_t i = first; i < end; i++) {
		if (model_call_class(model, i) != CALL_SYNC && !is_read(model, i))
			continue;
		change->calls[i] = CALL_DROPPED;
		is_dropped = true;
		if (!is_read(model, i))
			continue;
		change->calls[i] = change_number(change, &gone_read);
		change->op_ns[call_op(model, i, OP_COPY) - model->profile->ops] = OP_GONE;
	}
	return is_dropped;
}

/* Iterations too many, on average, or at most. */
static double wasted_ns(const struct checked_loop *found, enum assumed_end end)
{
	double count = (double)(found->every - 1);

	return (end == ASSUMED_LEAST ? count : count / 2) * found->iteration_ns;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	const struct checked_loop found = check_every_of(application->run, loop);

	if (!flag_loops_is_one(model, loop))
		return no_flag;
	if (found.every < 2)
		return cheap_flag;
	if (copies_in(model, loop))
		return has_input;
	for (size_t i = 0; i + 1 < loop->iteration_count; i++)
		if ((i + 1) % found.every)
			application->effect->changed_count +=
				drop_check(&application->change, model, loop->iterations[i],
					   loop->iterations[i + 1]);
	application->setup_ns += wasted_ns(&found, application->end);
	return NULL;
}

const struct technique technique_check_every = {
	.id = "check_every",
	.option = "check-every",
	.argument = ARGUMENT_RANGE,
	.help = "a loop that the host ends by a flag reads it only after several iterations",
	.effect =
		"A loop of equal iterations, after each of which the host reads a few bytes to decide whether it "
		"goes on, reads them after every k-th one only; k is what costs least, with half of k iterations "
		"too many at the end.",
	.changed = "iterations are not checked",
	.assumes = "iterations too many do no harm; at the low end all that there can be are",
	.refusal = no_flag,
	.always_assumes = true,
	.has_ops = true,
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_READS,
	.spread = SPREAD_HOST,
	.change_loop = change_loop,
};
