#include "techniques/shared/graph_bodies.h"

bool graph_bodies_launch_graphs(const struct model *model, const struct loop *loop)
{
	for (size_t i = loop->iterations[0]; i < loop->iterations[1]; i++)
		if (model_call_class(model, i) == CALL_GRAPH_LAUNCH)
			return true;
	return false;
}

const char *graph_bodies_refuse_call(const struct application *application, size_t call)
{
	if (application->change.calls[call] == CALL_DROPPED)
		return NULL;
	switch (model_call_class(application->run->model, call)) {
	case CALL_MEMORY:
		return refused_allocates;
	case CALL_GRAPH_MANAGE:
		return refused_has_graphs;
	default:
		return NULL;
	}
}

const char *graph_bodies_refuse_calls(const struct application *application, size_t first,
				      size_t end)
{
	const char *refusal = NULL;

	for (size_t i = first; !refusal && i < end; i++)
		refusal = graph_bodies_refuse_call(application, i);
	return refusal;
}
