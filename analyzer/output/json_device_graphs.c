/* json_device_graphs.c - graphs that the device launched, and the two runs of --graphs=both. */
#include "output/json_values.h"

static void set_graph_or_null(json_t *object, const char *key, const struct graph_pair *pair)
{
	json_object_set_new(object, key, pair ? json_integer(pair->graph) : json_null());
}

static const char *kernel_of(const struct report *report, const struct graph_pair *pair)
{
	if (!pair || pair->signature == PROFILE_NONE)
		return NULL;
	return report->profile->signatures[pair->signature].name;
}

static json_t *launches_of(const struct report *report, const struct device_launches *row)
{
	const struct graph_join *join = report->graph_join;
	const struct graph_pair *launcher =
		graph_join_find(join, row->process, row->launcher_graph);
	json_t *item = json_object(), *latency = json_object();

	set_text(item, "process", report->device_graphs->profile->processes[row->process].folder);
	set_integer(item, "launcher_graph", row->launcher_graph);
	set_integer(item, "graph", row->graph);
	set_graph_or_null(item, "first_run_launcher_graph", launcher);
	set_graph_or_null(item, "first_run_graph", graph_join_find(join, row->process, row->graph));
	set_text(item, "launcher_kernel", kernel_of(report, launcher));
	set_text(item, "mode", device_graphs_mode_key(row->launch_mode));
	set_bool(item, "is_host_launched", row->is_host_launched);
	set_time(item, &row->time);
	set_time(latency, &row->latency);
	json_object_set_new(item, "latency", latency);
	return item;
}

static json_t *pairs_of(const struct report *report)
{
	const struct graph_join *join = report->graph_join;
	json_t *array = json_array();

	for (size_t i = 0; join && i < join->pair_count; i++) {
		const struct graph_pair *pair = &join->pairs[i];
		json_t *item = json_object();

		set_text(item, "process", report->profile->processes[pair->process].folder);
		set_integer(item, "graph", pair->graph);
		set_text(item, "second_run_process",
			 report->profile->graph_run->processes[pair->run_process].folder);
		set_integer(item, "second_run_graph", pair->run_graph);
		set_count(item, "launch_count", pair->launch_count);
		set_integer(item, "node_count", pair->node_count);
		set_text(item, "kernel", kernel_of(report, pair));
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_device_graphs(const struct json_report *json)
{
	const struct report *report = json->report;
	const struct device_graphs *graphs = report->device_graphs;
	const struct graph_join *join = report->graph_join;
	json_t *object = json_object(), *launches = json_array();

	for (size_t i = 0; i < row_count(json, graphs->count); i++)
		json_array_append_new(launches, launches_of(report, &graphs->launches[i]));
	set_bool(object, "is_second_run", join != NULL);
	json_object_set_new(object, "is_joined",
			    join ? json_boolean(!join->difference[0]) : json_null());
	set_text(object, "difference", join && join->difference[0] ? join->difference : NULL);
	json_object_set_new(object, "second_run_losses",
			    join ? losses_of(report->profile->graph_run) : json_object());
	json_object_set_new(object, "joined_graphs", pairs_of(report));
	json_object_set_new(object, "launches", launches);
	return object;
}
