/* json_roofline.c - rooflines, atomics and counters for programs; what is not known is null. */
#include "output/json_values.h"
#include "output/points.h"

#include "analysis/counters/atomics.h"

static void set_known(json_t *object, const char *key, double value, bool is_known)
{
	json_object_set_new(object, key, is_known ? json_real(value) : json_null());
}

/* ---- points ---- */

static json_t *ceilings_of(const struct report *report)
{
	const struct ceilings *ceilings = report->ceilings;
	const struct roofline *roofline = report->roofline;
	json_t *item = json_object(), *roofs = json_object();

	set_text(item, "note", report->ceilings_note);
	set_bool(item, "is_datasheet", roofline->is_datasheet);
	set_text(item, "gpu", ceilings ? ceilings->gpu : NULL);
	set_text(item, "driver", ceilings ? ceilings->driver : NULL);
	set_text(item, "date", ceilings ? ceilings->date : NULL);
	set_text(item, "path", ceilings ? ceilings->path : NULL);
	for (int i = 0; i < ROOF_COMPUTE_END; i++)
		set_known(roofs, roofline_roof_key((enum roofline_roof)i), roofline->roofs[i],
			  roofline->roofs[i] > 0);
	json_object_set_new(item, "roofs", roofs);
	set_known(item, "launch_period_ns", roofline->launch_period_ns,
		  roofline->launch_period_ns > 0);
	set_known(item, "graph_node_ns", roofline->graph_node_ns, roofline->graph_node_ns > 0);
	set_known(item, "graph_launch_ns", roofline->graph_launch_ns,
		  roofline->graph_launch_ns > 0);
	return item;
}

static json_t *point_head(const struct report *report, const struct roofline_point *point)
{
	enum point_kind kind = point_kind(report, point);
	json_t *item = json_object();

	if (kind == POINT_KERNEL)
		set_text(item, "name", point->name);
	if (kind == POINT_GRAPH) {
		const struct profile_counted_graph *graph = point_graph(report, point);

		set_text(item, "process", report->profile->processes[graph->process].folder);
		set_integer(item, "graph", graph->graph);
	}
	set_count(item, "launch_count", point->launch_count);
	set_count(item, "timed_count", point->timed_count);
	set_real(item, "time_ns", point->time_ns);
	return item;
}

static json_t *quantities_of(const struct roofline_point *point)
{
	json_t *quantities = json_object();

	for (int i = 0; i < ROOF_COUNT; i++) {
		const struct roofline_quantity *quantity = &point->quantities[i];
		bool is_known = quantity->state == ROOFLINE_KNOWN;
		json_t *item = json_object();

		set_text(item, "state", roofline_state_key(quantity->state));
		set_known(item, "total", quantity->total, is_known);
		set_known(item, "per_launch", quantity->per_launch, is_known);
		set_known(item, "per_s", quantity->per_s, is_known && point->time_ns > 0);
		set_known(item, "share", quantity->share, quantity->share > 0);
		json_object_set_new(quantities, roofline_roof_key((enum roofline_roof)i), item);
	}
	return quantities;
}

static json_t *intensities_of(const struct roofline_point *point)
{
	json_t *item = json_object();

	for (int i = 0; i < ROOF_MEMORY_END; i++)
		set_known(item, roofline_roof_key((enum roofline_roof)i), point->intensity[i],
			  point->has_flops && point->quantities[i].total > 0);
	return item;
}

static json_t *point_of(const struct report *report, const struct roofline_point *point)
{
	json_t *item = point_head(report, point);
	bool is_bound = point->binding != ROOF_NONE;

	set_bool(item, "is_counted", point->is_counted);
	set_count(item, "least_sample_count", point->least_sample_count);
	set_count(item, "most_sample_count", point->most_sample_count);
	set_known(item, "covered_share", point->covered_share, point->is_counted);
	json_object_set_new(item, "quantities", quantities_of(point));
	set_known(item, "flops", point->flops, point->has_flops);
	set_known(item, "flop_per_s", point->flop_per_s, point->has_flops && point->time_ns > 0);
	json_object_set_new(item, "intensity", intensities_of(point));
	set_bool(item, "has_uncounted_tensor", point->has_uncounted_tensor);
	set_known(item, "tensor_share", point->tensor_share, point->tensor_share > 0);
	set_text(item, "binding", is_bound ? roofline_roof_key(point->binding) : NULL);
	set_known(item, "binding_share", point->binding_share, is_bound);
	set_bool(item, "is_wrong", point->is_wrong);
	set_text(item, "regime", roofline_regime_key(point->regime));
	return item;
}

static json_t *launch_of(const struct report *report, const struct roofline_point *point)
{
	const struct roofline_launch *launch = &point->launch;
	bool is_known = launch->launch_count > 0, has_roof = launch->roof_period_ns > 0;
	json_t *item = point_head(report, point);

	set_count(item, "looked_at_count", launch->launch_count);
	set_known(item, "duration_ns", launch->duration_ns, point->time_ns > 0);
	set_known(item, "idle_ns", launch->idle_ns, is_known);
	set_known(item, "launch_idle_ns", launch->launch_idle_ns, is_known);
	set_known(item, "period_ns", launch->period_ns, is_known);
	set_known(item, "busy_share", launch->busy_share, is_known);
	set_known(item, "roof_period_ns", launch->roof_period_ns, has_roof);
	set_known(item, "roof_share", launch->roof_share, has_roof);
	set_known(item, "achieved_share", launch->achieved_share, launch->achieved_share > 0);
	set_known(item, "lost_ns", launch->lost_ns, is_known);
	set_known(item, "launch_lost_ns", launch->launch_lost_ns, is_known);
	set_known(item, "flop_per_s", launch->flop_per_s, is_known && point->has_flops);
	set_known(item, "dram_byte_per_s", launch->dram_byte_per_s,
		  is_known && point->quantities[ROOF_dram].state == ROOFLINE_KNOWN);
	set_known(item, "binding_share", launch->binding_share,
		  is_known && point->binding != ROOF_NONE);
	set_text(item, "regime", roofline_regime_key(point->regime));
	return item;
}

/* ceilings, application, kernels, graphs: the same for both rooflines. */
static json_t *points_of(const struct json_report *json,
			 json_t *(*build)(const struct report *report,
					  const struct roofline_point *point))
{
	const struct roofline *roofline = json->report->roofline;
	json_t *item = json_object(), *kernels = json_array(), *graphs = json_array();

	json_object_set_new(item, "ceilings", ceilings_of(json->report));
	json_object_set_new(item, "application", build(json->report, &roofline->application));
	for (size_t i = 0; i < row_count(json, roofline->kernel_count); i++)
		json_array_append_new(kernels, build(json->report, &roofline->kernels[i]));
	for (size_t i = 0; i < row_count(json, roofline->graph_count); i++)
		json_array_append_new(graphs, build(json->report, &roofline->graphs[i]));
	json_object_set_new(item, "kernels", kernels);
	json_object_set_new(item, "graphs", graphs);
	return item;
}

json_t *json_section_roofline(const struct json_report *json)
{
	json_t *item = points_of(json, point_of);

	set_integer(item, "counted_kernel_count",
		    (int64_t)json->report->roofline->counted_kernel_count);
	set_bool(item, "has_wrong", json->report->roofline->has_wrong);
	return item;
}

json_t *json_section_launch_roofline(const struct json_report *json)
{
	return points_of(json, launch_of);
}

/* ---- atomics ---- */

static json_t *atomics_of(const struct atomics_kernel *kernel)
{
	const struct {
		const char *key;
		double value;
	} numbers[] = {
		{"duration_ns", kernel->duration_ns},
		{"global_instructions", kernel->global_instructions},
		{"shared_instructions", kernel->shared_instructions},
		{"requests", kernel->requests},
		{"sectors", kernel->sectors},
		{"sectors_per_request", kernel->sectors_per_request},
		{"requests_per_instruction", kernel->requests_per_instruction},
		{"cas_share", kernel->cas_share},
		{"unit_share", kernel->unit_share},
		{"hottest_share", kernel->hottest_share},
		{"slice_ratio", kernel->slice_ratio},
		{"busy_slices", kernel->busy_slices},
		{"explained_ns", kernel->explained_ns},
		{"ceiling_ns", kernel->ceiling_ns},
		{"other_ns", kernel->other_ns},
	};
	json_t *item = json_object();

	set_text(item, "name", kernel->name);
	set_count(item, "launch_count", kernel->launch_count);
	set_real(item, "time_ns", kernel->time_ns);
	set_count(item, "least_sample_count", kernel->least_sample_count);
	set_count(item, "most_sample_count", kernel->most_sample_count);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		set_known(item, numbers[i].key, numbers[i].value, numbers[i].value >= 0);
	json_object_set_new(item, "batch",
			    kernel->batch ? json_integer((json_int_t)kernel->batch) : json_null());
	set_bool(item, "is_bottleneck", kernel->is_bottleneck);
	return item;
}

json_t *json_section_atomics(const struct json_report *json)
{
	const struct atomics *atomics = json->report->atomics;
	json_t *item = json_object(), *kernels = json_array();

	for (size_t i = 0; i < row_count(json, atomics->kernel_count); i++)
		json_array_append_new(kernels, atomics_of(&atomics->kernels[i]));
	set_bool(item, "is_asked", atomics->is_asked);
	json_object_set_new(item, "kernels", kernels);
	return item;
}

/* ---- counters ---- */

static json_t *counter_of(const struct profile *profile, const struct profile_counter *counter)
{
#define ROLE_KEY(role, set, meaning) #role,
	static const char *const roles[] = {METRICS(ROLE_KEY)};
#undef ROLE_KEY
	const struct profile_metric *metric = &profile->metrics[counter->metric];
	json_t *item = json_object();

	if (counter->is_graph) {
		const struct profile_counted_graph *graph =
			&profile->counted_graphs[counter->subject];

		set_text(item, "process", profile->processes[graph->process].folder);
		set_integer(item, "graph", graph->graph);
	} else {
		const struct profile_signature *signature = &profile->signatures[counter->subject];

		set_text(item, "name", signature->name);
		json_object_set_new(item, "grid", dimensions_of(signature->grid));
		json_object_set_new(item, "block", dimensions_of(signature->block));
		json_object_set_new(item, "cluster", dimensions_of(signature->cluster));
	}
	set_text(item, "role", metric->role < METRIC_ROLE_COUNT ? roles[metric->role] : NULL);
	set_text(item, "metric", metric->name);
	set_count(item, "sample_count", counter->sample_count);
	set_real(item, "mean", counter->mean);
	set_real(item, "min", counter->min);
	set_real(item, "max", counter->max);
	return item;
}

json_t *json_section_counters(const struct json_report *json)
{
	const struct profile *profile = json->report->profile;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, profile->counter_count); i++)
		json_array_append_new(array, counter_of(profile, &profile->counters[i]));
	return array;
}
