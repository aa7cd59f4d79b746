#include "program_rows.h"

#include "api_choice.h"
#include "progress.h"
#include "writer/row_queue.h"
#include "writer/trace_writer.h"

#define QUEUE_ROWS 65536

struct program_row {
	enum {
		CALL,
		EVENT_CALL,
		LAUNCH,
		LOAD,
		MODULE,
		DELIVERY,
		ARGUMENTS,
		LAUNCH_ARGUMENTS,
		GRAPH_NODE,
		GRAPH_EDGE,
		ALLOCATION,
		COLLECTIVE,
		COMMUNICATOR
	} kind;
	CUpti_CallbackDomain domain; /* of a call */
	CUpti_CallbackId id;
	union {
		struct trace_api_row call;
		struct trace_event_calls_row event_call;
		struct trace_launch_attributes_row launch;
		struct trace_loads_row load;
		struct trace_modules_row module;
		struct trace_overheads_row delivery;
		struct trace_arguments_row arguments;
		struct trace_launch_arguments_row launch_arguments;
		struct trace_graph_nodes_row node;
		struct trace_graph_edges_row edge;
		struct trace_allocations_row allocation;
		struct trace_collectives_row collective;
		struct trace_communicators_row communicator;
	};
};

static struct row_queue queue = ROW_QUEUE_INITIALIZER;
static const struct cupti_api *cupti;

void program_rows_init(const struct cupti_api *api, void (*wake)(void))
{
	cupti = api;
	row_queue_init(&queue, sizeof(struct program_row), QUEUE_ROWS, wake);
}

static void put(const struct program_row *row)
{
	if (!row_queue_put(&queue, row))
		trace_loss_add(LOSS_unwritten_rows, 1);
}

void program_rows_put_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			   const struct trace_api_row *row)
{
	put(&(struct program_row){.kind = CALL, .domain = domain, .id = id, .call = *row});
}

void program_rows_put_event_call(const struct trace_event_calls_row *row)
{
	put(&(struct program_row){.kind = EVENT_CALL, .event_call = *row});
}

void program_rows_put_launch(const struct trace_launch_attributes_row *row)
{
	put(&(struct program_row){.kind = LAUNCH, .launch = *row});
}

void program_rows_put_load(const struct trace_loads_row *row)
{
	put(&(struct program_row){.kind = LOAD, .load = *row});
}

void program_rows_put_module(const struct trace_modules_row *row)
{
	put(&(struct program_row){.kind = MODULE, .module = *row});
}

void program_rows_put_delivery(const struct trace_overheads_row *row)
{
	put(&(struct program_row){.kind = DELIVERY, .delivery = *row});
}

void program_rows_put_arguments(const struct trace_arguments_row *row)
{
	put(&(struct program_row){.kind = ARGUMENTS, .arguments = *row});
}

void program_rows_put_launch_arguments(const struct trace_launch_arguments_row *row)
{
	put(&(struct program_row){.kind = LAUNCH_ARGUMENTS, .launch_arguments = *row});
}

void program_rows_put_graph_node(const struct trace_graph_nodes_row *row)
{
	put(&(struct program_row){.kind = GRAPH_NODE, .node = *row});
}

void program_rows_put_graph_edge(const struct trace_graph_edges_row *row)
{
	put(&(struct program_row){.kind = GRAPH_EDGE, .edge = *row});
}

void program_rows_put_allocation(const struct trace_allocations_row *row)
{
	put(&(struct program_row){.kind = ALLOCATION, .allocation = *row});
}

void program_rows_put_collective(const struct trace_collectives_row *row)
{
	put(&(struct program_row){.kind = COLLECTIVE, .collective = *row});
}

void program_rows_put_communicator(const struct trace_communicators_row *row)
{
	put(&(struct program_row){.kind = COMMUNICATOR, .communicator = *row});
}

static void write_row(void *rows, void *queued)
{
	struct trace_rows *out = rows;
	struct program_row *row = queued;

	switch (row->kind) {
	case CALL:
		row->call.name = api_choice_name(cupti, row->domain, row->id);
		progress_add_call();
		trace_write_api(out, &row->call);
		break;
	case EVENT_CALL:
		trace_write_event_calls(out, &row->event_call);
		break;
	case LAUNCH:
		trace_write_launch_attributes(out, &row->launch);
		break;
	case LOAD:
		trace_write_loads(out, &row->load);
		break;
	case MODULE:
		trace_write_modules(out, &row->module);
		break;
	case DELIVERY:
		row->delivery.name = trace_name("records of unloaded code");
		trace_write_overheads(out, &row->delivery);
		break;
	case ARGUMENTS:
		trace_write_arguments(out, &row->arguments);
		break;
	case LAUNCH_ARGUMENTS:
		trace_write_launch_arguments(out, &row->launch_arguments);
		break;
	case GRAPH_NODE:
		trace_write_graph_nodes(out, &row->node);
		break;
	case GRAPH_EDGE:
		trace_write_graph_edges(out, &row->edge);
		break;
	case ALLOCATION:
		trace_write_allocations(out, &row->allocation);
		break;
	case COLLECTIVE:
		trace_write_collectives(out, &row->collective);
		break;
	case COMMUNICATOR:
		trace_write_communicators(out, &row->communicator);
		break;
	}
}

void program_rows_write(void)
{
	struct trace_rows *out = trace_rows_get();

	row_queue_take(&queue, write_row, out);
	trace_rows_put(out);
}

void program_rows_write_last(void)
{
	struct trace_rows *out = trace_rows_get();

	trace_loss_add(LOSS_unwritten_rows, row_queue_take_last(&queue, write_row, out));
	trace_rows_put(out);
}
