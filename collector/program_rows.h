/*
 * program_rows.h - rows that are made in CUPTI's callbacks, on the program's threads: calls, memory, code, arguments,
 * parts of graphs.
 */
#ifndef ROOFLINE_PROGRAM_ROWS_H
#define ROOFLINE_PROGRAM_ROWS_H

#include "cupti_api.h"
#include "roofline/trace_schema.h"

/* wake: has our thread come before its time. */
void program_rows_init(const struct cupti_api *cupti, void (*wake)(void));

/* On any thread; the row is copied.  Without room it is lost, and counted. */
void program_rows_put_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			   const struct trace_api_row *row); /* its name is set later */
void program_rows_put_event_call(const struct trace_event_calls_row *row);
void program_rows_put_launch(const struct trace_launch_attributes_row *row);
void program_rows_put_load(const struct trace_loads_row *row);
void program_rows_put_module(const struct trace_modules_row *row);
void program_rows_put_delivery(const struct trace_overheads_row *row); /* its name is set later */
void program_rows_put_arguments(const struct trace_arguments_row *row);
void program_rows_put_launch_arguments(const struct trace_launch_arguments_row *row);
void program_rows_put_collective(const struct trace_collectives_row *row); /* its text is static */
void program_rows_put_communicator(const struct trace_communicators_row *row);
void program_rows_put_graph_node(const struct trace_graph_nodes_row *row);
void program_rows_put_allocation(const struct trace_allocations_row *row);
void program_rows_put_graph_edge(const struct trace_graph_edges_row *row);

/* Writes what there is.  On our thread. */
void program_rows_write(void);

/* The same before the recording is sealed; rows that a signal handler left half put are counted as lost. */
void program_rows_write_last(void);

#endif
