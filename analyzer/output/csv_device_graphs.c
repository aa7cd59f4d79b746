/* csv_device_graphs.c - graphs that the device launched. */
#include "output/csv_values.h"

static void put_graph_or_nothing(struct sheet *sheet, const struct graph_pair *pair)
{
	if (pair)
		put_integer(sheet, pair->graph);
	else
		put_text(sheet, NULL);
}

static void put_launches(struct sheet *sheet, const struct device_launches *row)
{
	const struct report *report = sheet->report;
	const struct graph_join *join = report->graph_join;
	const struct graph_pair *launcher =
		graph_join_find(join, row->process, row->launcher_graph);
	bool has_kernel = launcher && launcher->signature != PROFILE_NONE;

	put_text(sheet, report->device_graphs->profile->processes[row->process].folder);
	put_integer(sheet, row->launcher_graph);
	put_integer(sheet, row->graph);
	put_graph_or_nothing(sheet, launcher);
	put_graph_or_nothing(sheet, graph_join_find(join, row->process, row->graph));
	put_text(sheet, has_kernel ? report->profile->signatures[launcher->signature].name : NULL);
	put_text(sheet, device_graphs_mode_key(row->launch_mode));
	put_integer(sheet, row->is_host_launched);
	put_time(sheet, &row->time);
	put_count(sheet, row->latency.count);
	put_real(sheet, row->latency.mean_ns);
	put_integer(sheet, row->latency.p50_ns);
	put_integer(sheet, row->latency.p99_ns);
	put_integer(sheet, row->latency.min_ns);
	put_integer(sheet, row->latency.max_ns);
	end_row(sheet);
}

void csv_section_device_graphs(struct sheet *sheet)
{
	const struct device_graphs *graphs = sheet->report->device_graphs;

	put_heads(sheet, "process,launcher_graph,graph,first_run_launcher_graph,first_run_graph,"
			 "launcher_kernel,mode,is_host_launched," TIME_HEADS
			 ",latency_count,latency_mean_ns,latency_p50_ns,latency_p99_ns,"
			 "latency_min_ns,latency_max_ns");
	for (size_t i = 0; i < row_count(sheet, graphs->count); i++)
		put_launches(sheet, &graphs->launches[i]);
}
