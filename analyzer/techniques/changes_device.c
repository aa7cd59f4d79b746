/* changes_device.c - strategies by which the device decides what runs next. */
#include "techniques/changes.h"

#include <string.h>

#include "replay/calls.h"

/* ---- what the host asks for, and launches then ---- */

/* A copy to the host that is waited for before anything else is submitted: its operation, or NULL. */
static const struct profile_op *question(const struct model *model, size_t call, size_t end)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);
	const struct profile *profile = model->profile;

	if (!op || model_call_class(model, call) != CALL_COPY ||
	    profile->copies[op->detail].kind != COPY_TO_HOST ||
	    profile->copies[op->detail].bytes > QUESTION_BYTES)
		return NULL;
	if (model->behavior[call] == CALL_WAITS_OWN)
		return op;
	for (size_t i = call + 1; i < end; i++) {
		if (model_call_class(model, i) == CALL_SYNC)
			return op;
		if (submissions_count(&model->submissions, i))
			return NULL;
	}
	return NULL;
}

/* The kernel that a call launched outside of graphs; NULL for any other call. */
static const struct profile_op *launched_kernel(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_KERNEL);

	return op && model_call_class(model, call) == CALL_LAUNCH ? op : NULL;
}

/* Going through a loop from question to question.  Whatever is no kernel ends what follows from an answer. */
struct asking {
	const struct model *model;
	size_t end;
	struct asked_kernel *kernels; /* by kernel */
	bool is_answered;	      /* what is launched now may follow from an answer */
	uint32_t round;		      /* 1 after the first question */
};

/* Takes in the next call; the kernel that may follow from what was asked, or NULL. */
static const struct profile_op *ask(struct asking *asking, size_t call)
{
	const struct profile_op *op;

	if (question(asking->model, call, asking->end)) {
		asking->is_answered = true;
		asking->round++;
		return NULL;
	}
	op = launched_kernel(asking->model, call);
	if (!op && submissions_count(&asking->model->submissions, call))
		asking->is_answered = false;
	return asking->is_answered ? op : NULL;
}

static uint64_t blocks_of(const struct profile *profile, const struct profile_op *op)
{
	const uint32_t *grid = profile->signatures[op->detail].grid;

	return (uint64_t)grid[0] * grid[1] * grid[2];
}

/* Closes the round that a kernel was launched in last: as often as in the round before, in which it was? */
static void close_round(struct asked_kernel *kernel)
{
	if (kernel->usual_count && kernel->count != kernel->usual_count)
		kernel->varies = true;
	kernel->usual_count = kernel->count;
	kernel->count = 0;
}

static void take_kernel(struct asking *asking, const struct profile_op *op)
{
	const struct profile *profile = asking->model->profile;
	struct asked_kernel *kernel = &asking->kernels[profile->signatures[op->detail].kernel];
	uint64_t blocks = blocks_of(profile, op);

	if (kernel->round && kernel->round != asking->round) {
		close_round(kernel);
		kernel->varies |= asking->round > kernel->round + 1 && kernel->usual_count > 1;
	}
	kernel->grid_varies |= kernel->blocks && kernel->blocks != blocks;
	kernel->varies |= kernel->grid_varies;
	kernel->blocks = blocks;
	kernel->round = asking->round;
	kernel->count++;
}

static void take_rounds(struct asking *asking, size_t first)
{
	memset(asking->kernels, 0,
	       asking->model->profile->kernel_name_count * sizeof(*asking->kernels));
	for (size_t i = first; i < asking->end; i++) {
		const struct profile_op *op = ask(asking, i);

		if (op)
			take_kernel(asking, op);
	}
	asking->is_answered = false;
	asking->round = 0;
}

static bool has_varying_grid(const struct asking *asking)
{
	for (size_t i = 0; i < asking->model->profile->kernel_name_count; i++)
		if (asking->kernels[i].grid_varies)
			return true;
	return false;
}

/* ---- conditional nodes, and graphs that launch each other ---- */

/* A small copy to the host: its operation, or NULL. */
static const struct profile_op *small_read(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);

	return op && model->profile->copies[op->detail].kind == COPY_TO_HOST &&
			       model->profile->copies[op->detail].bytes <= DECISION_BYTES
		       ? op
		       : NULL;
}

/* Why the device could not go through all these calls alone. */
static enum refusal why_not_decided(const struct change *change, const struct model *model,
				    size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		enum profile_call_class class = model_call_class(model, i);

		if (change->calls[i] == CALL_DROPPED)
			continue;
		if (class == CALL_MEMORY)
			return REFUSED_ALLOCATES;
		if (class == CALL_GRAPH_MANAGE)
			return REFUSED_HAS_GRAPHS;
		if (class == CALL_COPY && !small_read(model, i) &&
		    !call_is_capturable_copy(model, i))
			return REFUSED_BLOCKING_COPY;
	}
	return REFUSED_NONE;
}

/* Going through a sequence call by call. */
struct deciding {
	bool is_read;	   /* the host has read something small and not launched since */
	bool is_waited;	   /* and has waited for it */
	bool is_outside;   /* of any graph: the next launch is that of one */
	bool is_in_branch; /* what was launched last is not what iterations begin with, but decided */
	size_t iteration;  /* that the call belongs to */
	size_t start_call; /* the first one of it that submits anything, as far as was looked */
	uint64_t decision_count;
};

/* Whether a call is the first of its iteration that submits anything. */
static bool is_iteration_start(struct deciding *deciding, const struct model *model,
			       const struct loop *loop, size_t call)
{
	size_t *at = &deciding->iteration, *start = &deciding->start_call;

	while (*at + 1 < loop->iteration_count && loop->iterations[*at + 1] <= call)
		++*at;
	if (*start < loop->iterations[*at])
		*start = loop->iterations[*at];
	while (*start < call && !submissions_count(&model->submissions, *start))
		++*start;
	return *start == call;
}

/* The body of an IF node is entered, and left before the next iteration begins; that of a WHILE node, with which
 * each iteration begins, is only entered.  A graph that was launched by the host stays one, and is launched by the
 * one before it. */
static enum call_change decide_launch(struct deciding *deciding, bool is_start, bool is_graph)
{
	bool is_transition = deciding->is_read || is_graph || (is_start && deciding->is_in_branch);

	deciding->decision_count += deciding->is_read;
	deciding->is_in_branch =
		!deciding->is_outside && !is_start && (deciding->is_read || deciding->is_in_branch);
	deciding->is_read = false;
	if (!deciding->is_outside)
		return is_transition ? CALL_IN_BODY : CALL_IN_GRAPH;
	deciding->is_outside = false;
	return CALL_AS_GRAPH;
}

/* A wait for nothing that was read is not the loop's: it stays, and a graph ends before it. */
static enum call_change decide_call(struct deciding *deciding, const struct model *model,
				    const struct loop *loop, size_t call)
{
	if (model_call_class(model, call) == CALL_SYNC) {
		if (!deciding->is_read || deciding->is_waited) {
			deciding->is_outside = true;
			return CALL_KEPT;
		}
		deciding->is_waited = true;
	} else if (small_read(model, call)) {
		deciding->is_read = true;
		deciding->is_waited = model->behavior[call] == CALL_WAITS_OWN;
	} else if (submissions_count(&model->submissions, call)) {
		return decide_launch(deciding, is_iteration_start(deciding, model, loop, call),
				     model_call_class(model, call) == CALL_GRAPH_LAUNCH);
	}
	return deciding->is_outside ? CALL_KEPT : CALL_IN_GRAPH;
}

enum refusal change_to_decided(struct change *change, const struct model *model,
			       const struct loop *loop, int64_t decision_ns,
			       struct asked_kernel *kernels, uint64_t *decision_count)
{
	size_t first = loop->first_call, last = first + loop->call_count;
	struct deciding deciding = {.is_outside = true};
	struct asking asking = {.model = model, .end = last, .kernels = kernels};
	enum refusal refusal;
	uint64_t found_count = 0;

	while (last > first + 1 && !call_is_submitting(model, last - 1))
		last--;
	for (size_t i = first; i < last; i++)
		found_count += small_read(model, i) != NULL;
	if (2 * found_count < loop->iteration_count)
		return REFUSED_NO_DECISION;
	refusal = why_not_decided(change, model, first, last);
	if (refusal != REFUSED_NONE)
		return refusal;
	take_rounds(&asking, first);
	if (has_varying_grid(&asking))
		return REFUSED_GRID_VARIES;
	change->decision_ns = decision_ns;
	for (size_t i = first; i < last; i++) {
		const struct profile_op *read = small_read(model, i);

		if (change->calls[i] == CALL_DROPPED)
			continue;
		change->calls[i] = (uint8_t)decide_call(&deciding, model, loop, i);
		if (read && change->calls[i] != CALL_KEPT)
			change->op_ns[read - model->profile->ops] = OP_GONE;
	}
	*decision_count = deciding.decision_count;
	return REFUSED_NONE;
}

/* ---- kernels that launch kernels ---- */

static bool is_by_device(const struct asking *asking, const struct profile_op *op)
{
	return asking->kernels[asking->model->profile->signatures[op->detail].kernel].varies;
}

/* Takes in the next call; the kernel of it that is the device's, or NULL.  Any other one ends what follows from an
 * answer. */
static const struct profile_op *ask_for_child(struct asking *asking, size_t call)
{
	const struct profile_op *op = ask(asking, call);

	if (!op || is_by_device(asking, op))
		return op;
	asking->is_answered = false;
	return NULL;
}

static uint64_t count_launches(struct asking asking, size_t first)
{
	uint64_t launched_count = 0;

	for (size_t i = first; i < asking.end; i++)
		launched_count += ask_for_child(&asking, i) != NULL;
	return 2 * launched_count >= asking.round ? launched_count : 0;
}

/* What is asked for, and the waits for it, are gone; what varies with the answer is the device's. */
static void take_launches(struct change *change, struct asking *asking, size_t first)
{
	const struct profile_op *ops = asking->model->profile->ops;
	bool is_asked = false; /* and not waited for since */

	for (size_t i = first; i < asking->end; i++) {
		const struct profile_op *read = question(asking->model, i, asking->end);
		const struct profile_op *child = ask_for_child(asking, i);

		if (read) {
			change->calls[i] = CALL_ASKS;
			change->op_ns[read - ops] = OP_GONE;
			is_asked = true;
		} else if (is_asked && model_call_class(asking->model, i) == CALL_SYNC) {
			change->calls[i] = CALL_ASKS;
			is_asked = false;
		} else if (child) {
			change->calls[i] = CALL_BY_DEVICE;
			change->fill[child - ops] =
				(uint8_t)call_fill(asking->model->profile, child);
		}
	}
}

enum refusal change_to_launched(struct change *change, const struct model *model,
				const struct loop *loop, bool is_least,
				struct asked_kernel *kernels, uint64_t *launched_count)
{
	size_t first = loop->first_call, last = first + loop->call_count;
	struct asking asking = {.model = model, .end = last, .kernels = kernels};

	for (size_t i = first; i < last; i++)
		if (model_call_class(model, i) == CALL_MEMORY && change->calls[i] != CALL_DROPPED)
			return REFUSED_ALLOCATES;
	take_rounds(&asking, first);
	*launched_count = count_launches(asking, first);
	if (!*launched_count)
		return REFUSED_NO_CHILDREN;
	take_launches(change, &asking, first);
	change->are_beside = !is_least;
	return REFUSED_NONE;
}
