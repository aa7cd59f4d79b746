/* json.c - the whole report for programs.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/json_values.h"

#include "analysis/counters/occupancy.h"
#include "output/check_command.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

json_t *json_section_processes(const struct json_report *json)
{
	const struct profile *profile = json->report->profile;
	json_t *array = json_array();

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		json_t *item = json_object(), *properties = json_object();

		set_text(item, "folder", process->folder);
		set_text(item, "host", process->host);
		set_count(item, "pid", process->pid);
		set_text(item, "command", process->command);
		json_object_set_new(item, "rank",
				    process->rank < 0 ? json_null() : json_integer(process->rank));
		set_integer(item, "start_ns", process->start_ns);
		set_integer(item, "first_ns", process->first_ns);
		set_integer(item, "last_ns", process->last_ns);
		set_bool(item, "is_cut_off", !process->sealed_ns);
		set_bool(item, "is_filtered", process->is_filtered);
		set_bool(item, "is_graph_level", process->is_graph_level);
		for (size_t j = 0; j < process->property_count; j++)
			set_text(properties, process->properties[j].key,
				 process->properties[j].value);
		json_object_set_new(item, "properties", properties);
		json_array_append_new(array, item);
	}
	return array;
}

static void set_gaps_of_device(json_t *item, const struct gap_device *gaps)
{
	json_t *counts = json_object();

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		set_count(counts, gap_cause_key(i), gaps->gap_count_by_cause[i]);
	json_object_set_new(item, "idle_by_cause", causes_of(gaps->by_cause_ns));
	set_count(item, "gap_count", gaps->gap_count);
	json_object_set_new(item, "gap_count_by_cause", counts);
}

/* null where the recording does not tell */
static json_t *inside_kernels_of(const struct report *report, size_t device)
{
	const struct sm_activity_device *sampled = &report->sm_activity->devices[device];
	const struct collective_device *collectives = &report->collectives->devices[device];
	json_t *item = json_object();

	json_object_set_new(item, "tail_ns",
			    sampled->kernel_launch_count ? json_integer(sampled->kernel_tail_ns)
							 : json_null());
	json_object_set_new(item, "collective_wait_ns",
			    collectives->is_known ? json_integer(collectives->wait_ns)
						  : json_null());
	return item;
}

json_t *json_section_devices(const struct json_report *json)
{
	const struct report *report = json->report;
	json_t *array = json_array();

	for (size_t i = 0; i < report->profile->device_count; i++) {
		const struct profile_device *device = &report->profile->devices[i];
		const struct timeline_device *times = &report->timeline->devices[i];
		json_t *item = json_object();

		set_text(item, "name", device->name);
		set_text(item, "uuid", device->uuid);
		set_integer(item, "compute_major", device->compute_major);
		set_integer(item, "compute_minor", device->compute_minor);
		set_integer(item, "sm_count", device->sm_count);
		set_count(item, "operation_count", device->op_count);
		set_integer(item, "first_ns", times->first_ns);
		set_integer(item, "last_ns", times->last_ns);
		set_integer(item, "wall_ns", times->wall_ns);
		set_integer(item, "busy_ns", times->busy_ns);
		set_integer(item, "idle_ns", times->idle_ns);
		set_integer(item, "kernel_ns", times->kernel_ns);
		set_integer(item, "kernel_total_ns", times->kernel_total_ns);
		set_integer(item, "kernel_shared_ns", times->kernel_shared_ns);
		set_integer(item, "copy_ns", times->copy_ns);
		set_integer(item, "memset_ns", times->memset_ns);
		set_integer(item, "copy_overlapped_ns", times->copy_overlapped_ns);
		set_gaps_of_device(item, &report->gaps->devices[i]);
		json_object_set_new(item, "inside_kernels", inside_kernels_of(report, i));
		json_array_append_new(array, item);
	}
	return array;
}

/* null where the recording does not tell */
static void set_occupancy(json_t *item, const struct profile_device *device,
			  const struct profile_signature *launch)
{
	struct occupancy occupancy;

	if (!occupancy_of(&occupancy, device, launch)) {
		json_object_set_new(item, "blocks_per_sm", json_null());
		json_object_set_new(item, "theoretical_occupancy", json_null());
		json_object_set_new(item, "waves", json_null());
		json_object_set_new(item, "occupancy_limit", json_null());
		return;
	}
	set_integer(item, "blocks_per_sm", occupancy.blocks_per_sm);
	set_real(item, "theoretical_occupancy", occupancy.warps_ratio);
	set_real(item, "waves", occupancy.waves);
	set_text(item, "occupancy_limit", occupancy_limit_name(occupancy.limit));
}

json_t *json_section_kernels(const struct json_report *json)
{
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->kernel_count); i++) {
		const struct kernel_statistics *kernel = &statistics->kernels[i];
		const struct profile_signature *shape =
			&json->report->profile->signatures[kernel->signature];
		json_t *item = json_object();

		set_text(item, "name", kernel->name);
		set_text(item, "mangled", shape->mangled);
		set_time(item, &kernel->time);
		json_object_set_new(item, "grid", dimensions_of(shape->grid));
		json_object_set_new(item, "block", dimensions_of(shape->block));
		json_object_set_new(item, "cluster", dimensions_of(shape->cluster));
		set_integer(item, "registers", shape->registers_per_thread);
		set_integer(item, "static_shared_bytes", shape->static_shared_bytes);
		set_integer(item, "dynamic_shared_bytes", shape->dynamic_shared_bytes);
		set_integer(item, "local_bytes_per_thread", shape->local_bytes_per_thread);
		set_occupancy(item, &json->report->profile->devices[kernel->device], shape);
		set_integer(item, "shape_count", kernel->signature_count);
		set_integer(item, "device_count", kernel->device_count);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_graphs(const struct json_report *json)
{
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->graph_count); i++) {
		const struct graph_statistics *graph = &statistics->graphs[i];
		json_t *item = json_object();

		set_text(item, "process", json->report->profile->processes[graph->process].folder);
		set_integer(item, "graph", graph->graph);
		set_time(item, &graph->time);
		set_count(item, "launch_count", graph->launch_count);
		set_count(item, "operation_count", graph->op_count);
		set_integer(item, "node_count", graph->node_count);
		set_integer(item, "node_ns", graph->node_ns);
		set_bool(item, "is_device_launched", graph->is_device_launched);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_copies(const struct json_report *json)
{
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->copy_count); i++) {
		const struct copy_statistics *copy = &statistics->copies[i];
		json_t *item = json_object();

		set_text(item, "kind", profile_copy_kind_name(copy->kind));
		set_text(item, "src_memory", profile_memory_kind_name(copy->src_memory));
		set_text(item, "dst_memory", profile_memory_kind_name(copy->dst_memory));
		set_bool(item, "is_async", copy->is_async);
		set_time(item, &copy->time);
		set_count(item, "bytes", copy->bytes);
		set_real(item, "byte_per_s", copy->byte_per_s);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_memsets(const struct json_report *json)
{
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->memset_count); i++) {
		const struct memset_statistics *memset = &statistics->memsets[i];
		json_t *item = json_object();

		set_text(item, "memory", profile_memory_kind_name(memset->memory));
		set_time(item, &memset->time);
		set_count(item, "bytes", memset->bytes);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_api(const struct json_report *json)
{
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->call_count); i++) {
		const struct call_statistics *call = &statistics->calls[i];
		json_t *item = json_object();

		set_text(item, "name", json->report->profile->call_names[call->name].text);
		set_time(item, &call->time);
		set_count(item, "failed_count", call->failed_count);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_ranges(const struct json_report *json)
{
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->range_count); i++) {
		const struct range_statistics *range = &statistics->ranges[i];
		json_t *item = json_object();

		set_text(item, "domain", range->domain);
		set_text(item, "name", range->name);
		set_time(item, &range->time);
		set_count(item, "operation_count", range->op_count);
		set_integer(item, "gpu_ns", range->gpu_ns);
		set_integer(item, "span_ns", range->span_ns);
		set_count(item, "open_count", range->open_count);
		json_array_append_new(array, item);
	}
	return array;
}

static json_t *op_of(const struct profile *profile, const struct profile_op *op)
{
	static const char *const kinds[] = {"kernel", "copy", "memset", "graph"};
	const char *name = NULL;
	json_t *item = json_object();

	if (op->kind == OP_KERNEL)
		name = profile->signatures[op->detail].name;
	else if (op->kind == OP_COPY)
		name = profile_copy_kind_name(profile->copies[op->detail].kind);
	set_text(item, "kind", kinds[op->kind]);
	set_text(item, "name", name);
	set_integer(item, "start_ns", op->start_ns);
	set_integer(item, "end_ns", op->end_ns);
	set_integer(item, "stream", profile->streams[op->stream].stream);
	set_integer(item, "graph", op->graph);
	return item;
}

json_t *json_section_gaps(const struct json_report *json)
{
	const struct profile *profile = json->report->profile;
	const struct gap_analysis *gaps = json->report->gaps;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, gaps->longest_count); i++) {
		const struct gap *gap = &gaps->longest[i];
		json_t *item = json_object();

		set_integer(item, "start_ns", gap->start_ns);
		set_integer(item, "end_ns", gap->end_ns);
		set_integer(item, "duration_ns", gap->end_ns - gap->start_ns);
		set_integer(item, "device", profile->ops[gap->after].device);
		set_text(item, "cause", gap_cause_key(gap->cause));
		json_object_set_new(item, "by_cause", causes_of(gap->by_cause_ns));
		json_object_set_new(item, "before", op_of(profile, &profile->ops[gap->before]));
		json_object_set_new(item, "after", op_of(profile, &profile->ops[gap->after]));
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_concurrency(const struct json_report *json)
{
	const struct timeline *timeline = json->report->timeline;
	json_t *array = json_array();

	for (size_t i = 0; i < timeline->device_count; i++) {
		json_t *item = json_object(), *times = json_array();

		for (int j = 0; j <= TIMELINE_MAX_CONCURRENCY; j++)
			json_array_append_new(times,
					      json_integer(timeline->devices[i].concurrency_ns[j]));
		set_count(item, "device", i);
		json_object_set_new(item, "time_ns", times);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_streams(const struct json_report *json)
{
	const struct profile *profile = json->report->profile;
	const struct statistics *statistics = json->report->statistics;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, statistics->stream_count); i++) {
		const struct stream_statistics *stream = &statistics->streams[i];
		const struct profile_stream *who = &profile->streams[stream->stream];
		json_t *item = json_object();

		set_text(item, "process", profile->processes[who->process].folder);
		set_integer(item, "device", who->device);
		set_integer(item, "context", who->context);
		set_integer(item, "stream", who->stream);
		set_integer(item, "priority", (int32_t)who->priority);
		set_bool(item, "is_null", who->is_null);
		set_count(item, "operation_count", stream->op_count);
		set_integer(item, "busy_ns", stream->busy_ns);
		json_array_append_new(array, item);
	}
	return array;
}

/* null where nothing is predicted: no figure is made up */
static void set_predicted(json_t *object, const struct predicted_speedup *predicted)
{
	bool is_predicted = predicted->speedup > 0;

	json_object_set_new(object, "speedup",
			    is_predicted ? json_real(predicted->speedup) : json_null());
	json_object_set_new(object, "low", is_predicted ? json_real(predicted->low) : json_null());
	json_object_set_new(object, "high",
			    is_predicted ? json_real(predicted->high) : json_null());
}

static void set_check_command(json_t *object, const struct json_report *json,
			      const struct recommendation *item)
{
	char *command = check_command(json->report, item, json->options->range);

	set_text(object, "verify", command);
	free(command);
}

static json_t *advice_item(const struct json_report *json, const struct recommendation *item)
{
	json_t *object = json_object(), *evidence = json_array(), *place;

	for (size_t i = 0; i < item->evidence_count; i++)
		json_array_append_new(evidence, text_of(item->evidence[i]));
	set_text(object, "id", item->id);
	set_text(object, "strategy", item->strategy);
	set_text(object, "title", item->title);
	set_text(object, "target", item->target);
	set_predicted(object, &item->program);
	json_object_set_new(object, "place", place = json_object());
	set_predicted(place, &item->place);
	set_integer(object, "at_stake_ns", item->at_stake_ns);
	set_real(object, "at_stake_ratio", item->at_stake_ratio);
	json_object_set_new(object, "evidence", evidence);
	set_text(object, "pattern", item->pattern);
	set_text(object, "risk", item->risk);
	set_text(object, "workload", item->workload);
	if (json->options->is_advice_only)
		set_check_command(object, json, item);
	return object;
}

json_t *json_section_advice(const struct json_report *json)
{
	const struct advice *advice = json->report->advice;
	json_t *array = json_array();

	for (size_t i = 0; advice && i < advice->count; i++)
		json_array_append_new(array, advice_item(json, &advice->items[i]));
	return array;
}

json_t *json_section_rejected(const struct json_report *json)
{
	const struct advice *advice = json->report->advice;
	json_t *array = json_array();

	for (size_t i = 0; advice && i < advice->rejection_count; i++) {
		const struct rejection *rejection = &advice->rejections[i];
		json_t *item = json_object();

		set_text(item, "id", rejection->id);
		set_text(item, "strategy", rejection->strategy);
		set_text(item, "title", rejection->title);
		set_text(item, "target", rejection->target);
		set_text(item, "reason", rejection->reason);
		json_array_append_new(array, item);
	}
	return array;
}

json_t *json_section_losses(const struct json_report *json)
{
	return losses_of(json->report->profile);
}

json_t *json_section_not_visible(const struct json_report *json)
{
	json_t *array = json_array();

	for (size_t i = 0; i < json->report->not_visible_count; i++)
		json_array_append_new(array, text_of(json->report->not_visible[i]));
	return array;
}

#define SECTION_ROW(name, title) {#name, json_section_##name},
static const struct {
	const char *key;
	json_t *(*build)(const struct json_report *json);
} sections[] = {SECTIONS(SECTION_ROW)};
#undef SECTION_ROW

int output_json(const struct report *report, FILE *out, const struct output_options *options,
		struct err *err)
{
	struct json_report json = {report, options};
	json_t *root = json_object();
	int rc;

	if (!root)
		return err_set(err, -ENOMEM, "out of memory for the JSON report");
	set_integer(root, "schema", OUTPUT_SCHEMA);
	set_text(root, "recording", report->profile->path);
	for (int i = 0; i < SECTION_COUNT; i++)
		if (output_wants_section(options, i))
			json_object_set_new(root, sections[i].key, sections[i].build(&json));
	rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(root);
	if (rc < 0 || fputc('\n', out) == EOF || fflush(out))
		return err_set(err, -EIO, "the report could not be written: %s", strerror(errno));
	return 0;
}
