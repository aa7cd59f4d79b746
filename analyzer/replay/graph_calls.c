#include "replay/graph_calls.h"

#include <string.h>

enum graph_call graph_call_of_name(const struct profile_call_name *name)
{
	if (name->call_class == CALL_GRAPH_LAUNCH)
		return GRAPH_CALL_LAUNCHES;
	if (name->call_class != CALL_GRAPH_MANAGE)
		return GRAPH_CALL_NONE;
	if (strstr(name->text, "GraphInstantiate"))
		return GRAPH_CALL_INSTANTIATES;
	if (strstr(name->text, "GraphExecUpdate"))
		return GRAPH_CALL_UPDATES;
	if (strstr(name->text, "GraphExec") && strstr(name->text, "SetParams"))
		return GRAPH_CALL_SETS_NODE;
	if (strstr(name->text, "GraphUpload"))
		return GRAPH_CALL_UPLOADS;
	return strstr(name->text, "GraphExecDestroy") ? GRAPH_CALL_DESTROYS : GRAPH_CALL_NONE;
}

enum graph_call graph_call_of(const struct model *model, size_t call)
{
	const struct profile_call *what = &model->profile->calls[call];

	return what->result ? GRAPH_CALL_NONE : (enum graph_call)model->graph_calls[what->name];
}

#define KIND(call) (1U << GRAPH_CALL_##call)

/* The last call of these kinds before a call of its thread; PROFILE_NONE: there is none. */
static uint32_t last_before(const struct model *model, size_t call, unsigned int kinds)
{
	const struct profile *profile = model->profile;
	size_t first = profile->threads[profile->calls[call].thread].first_call;

	for (size_t i = call; i > first; i--)
		if (kinds & (1U << graph_call_of(model, i - 1)))
			return (uint32_t)(i - 1);
	return PROFILE_NONE;
}

static uint32_t next_launch(const struct model *model, size_t call)
{
	const struct profile_thread *thread =
		&model->profile->threads[model->profile->calls[call].thread];

	for (size_t i = call + 1; i < thread->first_call + thread->call_count; i++) {
		enum graph_call what = graph_call_of(model, i);

		if (what == GRAPH_CALL_LAUNCHES)
			return (uint32_t)i;
		if (what == GRAPH_CALL_INSTANTIATES)
			break;
	}
	return PROFILE_NONE;
}

uint32_t graph_call_launch(const struct model *model, size_t call)
{
	uint32_t before;

	switch (graph_call_of(model, call)) {
	case GRAPH_CALL_LAUNCHES:
		return (uint32_t)call;
	case GRAPH_CALL_INSTANTIATES:
	case GRAPH_CALL_UPDATES:
		return next_launch(model, call);
	case GRAPH_CALL_DESTROYS:
		before = last_before(model, call, KIND(LAUNCHES) | KIND(DESTROYS));
		return before != PROFILE_NONE && graph_call_of(model, before) == GRAPH_CALL_LAUNCHES
			       ? before
			       : PROFILE_NONE;
	default:
		return PROFILE_NONE;
	}
}

enum graph_call graph_call_before(const struct model *model, size_t launch)
{
	uint32_t before = last_before(model, launch,
				      KIND(LAUNCHES) | KIND(INSTANTIATES) | KIND(UPDATES) |
					      KIND(SETS_NODE) | KIND(UPLOADS));

	return before == PROFILE_NONE ? GRAPH_CALL_NONE : graph_call_of(model, before);
}

uint64_t graph_call_node_count(const struct model *model, size_t launch)
{
	const struct submissions *submissions = &model->submissions;
	size_t count = submissions_count(submissions, launch);

	return count && model->profile->ops[submissions_op(submissions,
							   submissions_first(submissions, launch))]
					       .kind == OP_GRAPH
		       ? 0
		       : count;
}
