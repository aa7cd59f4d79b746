/* graphs.c - CUDA graphs by total time. */
#include "output/page.h"

GETTER(get_process, struct graph_statistics, graph,
       value_text(row->report->profile->processes[graph->process].folder));

static const struct column columns[] = {COMPUTED("process", get_process),
					FIELD(struct graph_statistics, graph),
					INLINE(struct graph_statistics, time, distribution_columns),
					FIELD(struct graph_statistics, launch_count),
					{FIELD_AS("operation_count", struct graph_statistics,
						  op_count)},
					FIELD(struct graph_statistics, node_count),
					FIELD(struct graph_statistics, node_ns),
					FIELD(struct graph_statistics, is_device_launched),
					INLINE(struct graph_statistics, split, split_columns),
					{0}};

ARRAY(graph_at, statistics, graphs, graph_count);

/* With its process where there are several. */
static struct value get_name(struct row *row, const void *from)
{
	const struct graph_statistics *graph = from;
	const struct profile *profile = row->report->profile;
	bool has_several = profile->process_count > 1;

	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%u%s%s", graph->graph,
		 has_several ? " of " : "",
		 has_several ? profile->processes[graph->process].folder : "");
	return value_text(row->scratch.bytes);
}

/* Not known of a graph that was recorded as a whole. */
GETTER(get_nodes, struct graph_statistics, graph,
       graph->node_count ? value_count(graph->node_count) : value_none());
GETTER(get_launched_from, struct graph_statistics, graph,
       value_text(graph->is_device_launched ? "device" : "host"));

static void print_graphs(struct page *page)
{
	static const struct text_column text_columns[] = {{"graph", -11, .get = get_name},
							  {"time", 9, .key = "total_ns"},
							  {"launches", 9, .key = "launch_count"},
							  {"nodes", 7, .get = get_nodes},
							  {"mean", 9, .key = "mean_ns"},
							  {"median", 9, .key = "p50_ns"},
							  {"p99", 9, .key = "p99_ns"},
							  {"from", 7, .get = get_launched_from},
							  {0}};

	page_table(page, &section_graphs, "time from the first node's start to the last's end",
		   text_columns);
}

const struct section section_graphs = {.key = "graphs",
				       .needs = {TABLES_STEADY, NEED_statistics},
				       .title = "CUDA graphs",
				       .columns = columns,
				       .at = graph_at,
				       .takes_order = true,
				       .print = print_graphs,
				       .empty = "no CUDA graph was launched"};
