#include "graph_events.h"

#include "driver.h"

unsigned graph_events_nodes(node_set set, unsigned bits, const CUgraphNode *nodes,
			    CUgraphNode *found)
{
	unsigned count = 0;

	for (unsigned bit = 0; bit < bits; bit++)
		if (set & forks_bit(bit))
			found[count++] = nodes[bit];
	return count;
}

static bool create(CUevent *event)
{
	if (driver_open()->event_create(event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
		return true;
	*event = NULL;
	return false;
}

bool graph_events_begin(struct graph_events *events, const struct forks *forks, CUgraph graph,
			CUgraphNode *nodes)
{
	for (unsigned i = 1; i < forks->stream_count; i++) {
		const struct fork_stream *from = &forks->streams[i];
		struct graph_stream *stream = &events->streams[events->stream_count++];

		stream->stream = from->stream;
		if (!create(&stream->before) ||
		    driver_open()->add_wait(&nodes[from->bit], graph, NULL, 0, stream->before) !=
			    CUDA_SUCCESS)
			return false;
	}
	return true;
}

/* An event that stands for a set of nodes and what comes before them. */
static bool record_inside(CUevent event, node_set set, const struct forks *forks, CUgraph graph,
			  const CUgraphNode *nodes)
{
	CUgraphNode after[FORKS_BITS], added;
	unsigned count = graph_events_nodes(forks_last(forks, set), forks->bits, nodes, after);

	return driver_open()->add_record(&added, graph, after, count, event) == CUDA_SUCCESS;
}

static bool add_event(struct graph_events *events, CUevent event, node_set set,
		      const struct forks *forks, CUgraph graph, const CUgraphNode *nodes)
{
	enum event_place place = set == forks->all ? BEHIND : set ? INSIDE : IN_FRONT;

	events->events[events->event_count++] = (struct graph_event){event, place};
	return place != INSIDE || record_inside(event, set, forks, graph, nodes);
}

/* Whether none that follows records it again. */
static bool is_last_record(const struct item *items, unsigned i, unsigned count)
{
	if (!forks_is_record(&items[i]))
		return false;
	for (unsigned j = i + 1; j < count; j++)
		if (forks_is_record(&items[j]) && items[j].kernel->event == items[i].kernel->event)
			return false;
	return true;
}

/* The event of the program that stands for just what the stream did, or one of ours. */
static bool find_after(struct graph_events *events, struct graph_stream *stream, node_set set,
		       const struct forks *forks, const struct item *items, CUgraph graph,
		       const CUgraphNode *nodes)
{
	for (unsigned i = 0; i < forks->items; i++)
		if (forks->before[i] == set && is_last_record(items, i, forks->items)) {
			stream->after = items[i].kernel->event;
			return true;
		}
	stream->is_after_own = true;
	return create(&stream->after) && add_event(events, stream->after, set, forks, graph, nodes);
}

bool graph_events_end(struct graph_events *events, const struct forks *forks,
		      const struct item *items, CUgraph graph, const CUgraphNode *nodes)
{
	for (unsigned i = 0; i < forks->items; i++)
		if (is_last_record(items, i, forks->items) &&
		    !add_event(events, items[i].kernel->event, forks->before[i], forks, graph,
			       nodes))
			return false;
	for (unsigned i = 0; i < events->stream_count; i++)
		if (!find_after(events, &events->streams[i], forks->streams[i + 1].after, forks,
				items, graph, nodes))
			return false;
	return true;
}

static void note(CUresult *first, CUresult result)
{
	if (*first == CUDA_SUCCESS)
		*first = result;
}

static CUresult record_at(const struct graph_events *events, enum event_place place,
			  CUstream stream)
{
	CUresult first = CUDA_SUCCESS;

	for (unsigned i = 0; i < events->event_count; i++)
		if (events->events[i].place == place)
			note(&first, driver_open()->event_record(events->events[i].event, stream));
	return first;
}

CUresult graph_events_before_launch(const struct graph_events *events, CUstream stream)
{
	CUresult first = record_at(events, IN_FRONT, stream);

	for (unsigned i = 0; i < events->stream_count; i++)
		note(&first, driver_open()->event_record(events->streams[i].before,
							 events->streams[i].stream));
	return first;
}

CUresult graph_events_after_launch(const struct graph_events *events, CUstream stream)
{
	const struct driver *driver = driver_open();
	CUresult first = record_at(events, BEHIND, stream);

	for (unsigned i = 0; i < events->stream_count; i++)
		note(&first,
		     driver->wait_event(events->streams[i].stream, events->streams[i].after, 0));
	return first;
}

bool graph_events_has(const struct graph_events *events, CUevent event)
{
	for (unsigned i = 0; i < events->event_count; i++)
		if (events->events[i].event == event)
			return true;
	return false;
}

void graph_events_free(struct graph_events *events)
{
	const struct driver *driver = driver_open();

	for (unsigned i = 0; i < events->stream_count; i++) {
		if (events->streams[i].before)
			driver->event_destroy(events->streams[i].before);
		if (events->streams[i].is_after_own && events->streams[i].after)
			driver->event_destroy(events->streams[i].after);
	}
	events->stream_count = events->event_count = 0;
}
