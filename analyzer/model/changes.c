#include "model/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COPY_TO_DEVICE 1 /* CUPTI_ACTIVITY_MEMCPY_KIND_HTOD */
#define COPY_TO_HOST 2	 /* CUPTI_ACTIVITY_MEMCPY_KIND_DTOH */
#define MEMORY_PAGEABLE 1

#define REFUSAL_TEXT(constant, text) [REFUSED_##constant] = (text),
static const char *const refusals[] = {REFUSALS(REFUSAL_TEXT)};
#undef REFUSAL_TEXT

const char *refusal_text(enum refusal refusal)
{
	return refusals[refusal];
}

int change_begin(struct change *change, const struct model *model, bool with_ops)
{
	const struct profile *profile = model->profile;

	*change = (struct change){.calls = calloc(profile->call_count + 1, 1)};
	if (with_ops) {
		change->op_ns = malloc((profile->op_count + 1) * sizeof(*change->op_ns));
		if (change->op_ns)
			memset(change->op_ns, 0xff, profile->op_count * sizeof(*change->op_ns));
	}
	return change->calls && (change->op_ns || !with_ops) ? 0 : -ENOMEM;
}

void change_free(struct change *change)
{
	free(change->calls);
	free(change->op_ns);
	free(change->lanes);
	*change = (struct change){0};
}

static enum profile_call_class class_of(const struct model *model, size_t call)
{
	const struct profile *profile = model->profile;

	return profile->call_names[profile->calls[call].name].call_class;
}

/* The operation that a call submitted, of a kind; NULL when there is none. */
static const struct profile_op *op_of(const struct model *model, size_t call, unsigned int kind)
{
	const struct submitted *submitted = &model->submitted;

	for (uint32_t i = submitted->first[call]; i < submitted->first[call + 1]; i++)
		if (model->profile->ops[submitted->ops[i]].kind == kind)
			return &model->profile->ops[submitted->ops[i]];
	return NULL;
}

static bool copies_to_host(const struct model *model, size_t call)
{
	const struct profile_op *op = op_of(model, call, OP_COPY);

	return op && model->profile->copies[op->detail].kind == COPY_TO_HOST;
}

/* ---- waits ---- */

size_t change_drop_waits(struct change *change, const struct model *model, size_t first, size_t end)
{
	size_t dropped_count = 0, last = end;
	bool is_read = false;

	while (last > first && class_of(model, last - 1) != CALL_SYNC)
		last--;
	for (size_t i = first; i + 1 < last; i++) {
		is_read = is_read || copies_to_host(model, i);
		if (class_of(model, i) != CALL_SYNC)
			continue;
		if (!is_read && change->calls[i] == CALL_KEPT) {
			change->calls[i] = CALL_DROPPED;
			dropped_count++;
		}
		is_read = false;
	}
	return dropped_count;
}

/* ---- graphs ---- */

static bool is_submitting(const struct model *model, size_t call)
{
	enum profile_call_class class = class_of(model, call);

	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH || class == CALL_COPY;
}

static bool is_capturable_copy(const struct model *model, size_t call)
{
	const struct profile_op *op = op_of(model, call, OP_COPY);
	const struct profile_copy *copy;

	if (!op)
		return true;
	copy = &model->profile->copies[op->detail];
	return model->behaviour[call] != CALL_WAITS_OWN && copy->src_memory != MEMORY_PAGEABLE &&
	       copy->dst_memory != MEMORY_PAGEABLE;
}

/* Why the calls [first, end) cannot be captured; submitting ones follow at both ends. */
static enum refusal why_not_captured(const struct model *model, size_t first, size_t end)
{
	bool is_read = false;

	for (size_t i = first; i < end; i++) {
		enum profile_call_class class = class_of(model, i);

		if (class == CALL_GRAPH_LAUNCH || class == CALL_GRAPH_MANAGE)
			return REFUSED_HAS_GRAPHS;
		if (class == CALL_MEMORY)
			return REFUSED_ALLOCATES;
		if (class == CALL_COPY && !is_capturable_copy(model, i))
			return REFUSED_BLOCKING_COPY;
		is_read = is_read || copies_to_host(model, i);
		if (class == CALL_SYNC && is_read)
			return REFUSED_READS_BACK;
	}
	return REFUSED_NONE;
}

/* One iteration: its submitting calls and all between them are the graph.  A wait after them stays
 * when the host reads what was copied to it. */
static enum refusal capture(struct change *change, const struct model *model, size_t first,
			    size_t end, uint64_t *node_count)
{
	size_t last = end;
	uint64_t nodes = 0;
	enum refusal refusal;
	bool is_read = false;

	while (last > first + 1 && !is_submitting(model, last - 1))
		last--;
	refusal = why_not_captured(model, first, last);
	if (refusal != REFUSED_NONE)
		return refusal;
	for (size_t i = first; i < last; i++) {
		change->calls[i] = i == first ? CALL_AS_GRAPH : CALL_IN_GRAPH;
		nodes += submitted_count(&model->submitted, i);
		is_read = is_read || copies_to_host(model, i);
	}
	for (size_t i = last; i < end; i++)
		if (class_of(model, i) == CALL_SYNC && !is_read)
			change->calls[i] = CALL_DROPPED;
	*node_count = nodes > *node_count ? nodes : *node_count;
	return REFUSED_NONE;
}

/* The last wait of a sequence stays: somebody reads the results in the end. */
static void keep_last_wait(struct change *change, const struct model *model,
			   const struct sequence *sequence)
{
	size_t end = sequence->iterations[sequence->iteration_count];

	for (size_t i = end; i-- > sequence->iterations[sequence->iteration_count - 1];)
		if (class_of(model, i) == CALL_SYNC) {
			if (change->calls[i] == CALL_DROPPED)
				change->calls[i] = CALL_KEPT;
			return;
		}
}

enum refusal change_to_graph(struct change *change, const struct model *model,
			     const struct sequence *sequence, uint64_t *node_count)
{
	size_t captured_count = 0;
	enum refusal refusal = REFUSED_NOTHING, found;

	*node_count = 0;
	for (size_t i = 0; i < sequence->iteration_count; i++) {
		found = capture(change, model, sequence->iterations[i], sequence->iterations[i + 1],
				node_count);
		captured_count += found == REFUSED_NONE;
		if (found != REFUSED_NONE)
			refusal = found;
	}
	if (2 * captured_count < sequence->iteration_count)
		return refusal;
	keep_last_wait(change, model, sequence);
	return REFUSED_NONE;
}

/* ---- pinned memory ---- */

size_t change_to_pinned(struct change *change, const struct model *model, size_t device,
			double to_device, double to_host)
{
	const struct profile *profile = model->profile;
	const struct profile_device *where = &profile->devices[device];
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_copy *copy;
		double rate;

		if (op->kind != OP_COPY)
			continue;
		copy = &profile->copies[op->detail];
		if (copy->src_memory != MEMORY_PAGEABLE && copy->dst_memory != MEMORY_PAGEABLE)
			continue;
		rate = copy->kind == COPY_TO_DEVICE ? to_device : to_host;
		if (rate <= 0 ||
		    (double)copy->bytes / rate * 1e9 >= (double)(op->end_ns - op->start_ns))
			continue;
		change->op_ns[i] = (int64_t)((double)copy->bytes / rate * 1e9);
		changed_count++;
	}
	return changed_count;
}
