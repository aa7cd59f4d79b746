/* json_sampled.c - what samples of the whole GPU show. */
#include "output/json_values.h"

static json_t *differences_of(const struct sm_activity_device *row)
{
	json_t *object = json_object();

	for (int i = 0; i < SM_DIFFERENCE_COUNT; i++)
		set_integer(object, sm_difference_key(i), row->difference_ns[i]);
	return object;
}

static json_t *sampling_of(const struct profile *profile, size_t number,
			   const struct sm_activity_device *row)
{
	json_t *item = json_object();

	set_integer(item, "device", (int64_t)number);
	set_text(item, "name", profile->devices[number].name);
	set_count(item, "interval_ns", row->interval_ns);
	set_count(item, "sample_count", row->sample_count);
	set_count(item, "window_count", row->window_count);
	set_integer(item, "sampled_ns", row->sampled_ns);
	set_bool(item, "has_sms", row->has_sms);
	set_integer(item, "traced_ns", row->traced_ns);
	set_integer(item, "active_ns", row->active_ns);
	set_integer(item, "both_ns", row->both_ns);
	set_integer(item, "neither_ns", row->neither_ns);
	json_object_set_new(item, "differences_ns", differences_of(row));
	set_real(item, "mean_sms", row->mean_sms);
	set_real(item, "mean_active_sms", row->mean_active_sms);
	set_real(item, "dram_bytes", row->dram_bytes);
	set_real(item, "l2_bytes", row->l2_bytes);
	set_real(item, "atomic_bytes", row->atomic_bytes);
	set_real(item, "pcie_read_bytes", row->pcie_read_bytes);
	set_real(item, "pcie_write_bytes", row->pcie_write_bytes);
	set_real(item, "nvlink_rx_bytes", row->nvlink_rx_bytes);
	set_real(item, "nvlink_tx_bytes", row->nvlink_tx_bytes);
	set_real(item, "pcie_own_bytes", row->pcie_own_bytes);
	return item;
}

json_t *json_section_sampling(const struct json_report *json)
{
	const struct sm_activity *activity = json->report->sm_activity;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, activity->device_count); i++)
		if (activity->devices[i].sampled_ns)
			json_array_append_new(array, sampling_of(json->report->profile, i,
								 &activity->devices[i]));
	return array;
}

json_t *json_section_sm_activity(const struct json_report *json)
{
	const struct sm_activity *activity = json->report->sm_activity;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, activity->kernel_count); i++) {
		const struct sm_activity_kernel *row = &activity->kernels[i];
		json_t *item = json_object();

		set_text(item, "name", json->report->profile->kernel_names[row->kernel]);
		set_count(item, "launch_count", row->launch_count);
		set_integer(item, "span_ns", row->span_ns);
		set_real(item, "sms", row->sms);
		set_real(item, "least_sm", row->least_sm);
		set_real(item, "busiest_sm", row->busiest_sm);
		set_integer(item, "tail_ns", row->tail_ns);
		set_real(item, "tensor", row->tensor);
		set_real(item, "dram_byte_per_s", row->dram_byte_per_s);
		json_array_append_new(array, item);
	}
	return array;
}

static json_t *launcher_of(const struct profile *profile, const struct launcher *row)
{
	json_t *item = json_object();

	set_text(item, "kernel",
		 row->kernel == PROFILE_NONE ? NULL : profile->kernel_names[row->kernel]);
	set_text(item, "process", row->is_graph ? profile->processes[row->process].folder : NULL);
	set_integer(item, "graph", row->graph);
	set_bool(item, "is_inside", row->is_inside);
	set_count(item, "launch_count", row->launch_count);
	set_count(item, "dispatch_count", row->dispatch_count);
	set_count(item, "block_count", row->block_count);
	set_real(item, "dram_bytes", row->dram_bytes);
	set_integer(item, "span_ns", row->span_ns);
	set_integer(item, "own_ns", row->own_ns);
	set_integer(item, "quiet_ns", row->quiet_ns);
	set_time(item, &row->time);
	return item;
}

json_t *json_section_device_work(const struct json_report *json)
{
	const struct device_work *work = json->report->device_work;
	json_t *object = json_object(), *launchers = json_array();

	for (size_t i = 0; i < row_count(json, work->launcher_count); i++)
		json_array_append_new(launchers,
				      launcher_of(json->report->profile, &work->launchers[i]));
	set_count(object, "burst_count", work->burst_count);
	set_count(object, "single_block_count", work->single_block_count);
	json_object_set_new(object, "launchers", launchers);
	return object;
}

json_t *json_section_bursts(const struct json_report *json)
{
	const struct device_work *work = json->report->device_work;
	json_t *array = json_array();

	for (size_t i = 0; i < row_count(json, work->burst_count); i++) {
		const struct burst *row = &work->bursts[i];
		json_t *item = json_object();

		set_integer(item, "device", row->device);
		set_integer(item, "start_ns", row->start_ns);
		set_integer(item, "end_ns", row->end_ns);
		set_count(item, "dispatch_count", row->dispatch_count);
		set_count(item, "block_count", row->block_count);
		set_real(item, "dram_bytes", row->dram_bytes);
		set_bool(item, "is_inside", row->is_inside);
		set_bool(item, "is_beside", row->is_beside);
		json_array_append_new(array, item);
	}
	return array;
}
