#include <errno.h>
#include <string.h>

#include "trace/loader.h"
#include "base/stable_sort.h"
#include "trace/sample_file.h"
#include "trace/samples.h"

#define SECTOR_BYTES 32

static int find_role(const char *name)
{
	static const char *const names[] = {
#define ROLE_NAME(role, set, meaning) #role,
		SAMPLED_ROLES(ROLE_NAME)
#undef ROLE_NAME
	};

	for (int role = 0; role < SAMPLED_ROLE_COUNT; role++)
		if (!strcmp(names[role], name))
			return role;
	return -1;
}

int loader_add_sampled_metric(const union trace_row *row, const struct reader_place *place,
			      void *context)
{
	struct loader_task *task = context;
	uint32_t device = loader_device(task->owner, row->sampled_metrics.device);
	int role = find_role(row->sampled_metrics.role);

	(void)place;
	if (device == PROFILE_NONE)
		return -ENOMEM;
	if (role >= 0 && *row->sampled_metrics.name)
		task->owner->loader->profile->devices[device].sampled |= UINT32_C(1) << role;
	return 0;
}

/* PROFILE_NONE, counted, for a device that nothing describes: its SMs are not known. */
static uint32_t find_device(struct loader_task *task, uint32_t ordinal,
			    const struct reader_place *place)
{
	uint32_t device = id_map_get(&task->owner->devices, ordinal);

	if (device == PROFILE_NONE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "device %u is not in devices.csv", ordinal);
	return device;
}

/* Cycles of those that passed, at most all of them: the two are not counted at quite the same moment. */
static float share(uint64_t cycles, double passed)
{
	double ratio = passed > 0 ? (double)cycles / passed : 0;

	return (float)(ratio < 1 ? ratio : 1);
}

static void sample_fill(struct profile_sample *sample, const struct trace_samples_row *row,
			uint32_t sm_count)
{
	double sm_passed = (double)row->sm_elapsed_cycles;

	*sample = (struct profile_sample){
		.start_ns = row->start_ns,
		.length_ns = row->length_ns,
		.sample_count = row->sample_count ? row->sample_count : 1,
		.dispatches = (float)row->dispatches,
		.blocks = (float)row->blocks,
		.compute = share(row->compute_cycles, (double)row->front_cycles),
		.sm = share(row->sm_cycles, sm_passed * sm_count),
		.sm_min = share(row->sm_cycles_min, sm_passed),
		.sm_max = share(row->sm_cycles_max, sm_passed),
		.tensor = share(row->tensor_cycles, sm_passed * sm_count),
		.dram_read_bytes = (float)row->dram_read_bytes,
		.dram_write_bytes = (float)row->dram_write_bytes,
		.l2_bytes = (float)row->l2_sectors * SECTOR_BYTES,
		.atomic_bytes = (float)row->atomic_sectors * SECTOR_BYTES,
		.pcie_read_bytes = (float)row->pcie_read_bytes,
		.pcie_write_bytes = (float)row->pcie_write_bytes,
		.nvlink_rx_bytes = (float)row->nvlink_rx_bytes,
		.nvlink_tx_bytes = (float)row->nvlink_tx_bytes,
	};
}

static int compare_samples(const void *left, const void *right)
{
	const struct profile_sample *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Makes room for more: those that were read are a run of the file. */
static int move_into_file(struct profile *profile, struct err *err)
{
	int rc = stable_sort(profile->samples, profile->sample_count, sizeof(*profile->samples),
			     compare_samples);

	if (rc < 0)
		return rc;
	if (!profile->sample_file)
		rc = sample_file_create(&profile->sample_file, err);
	if (rc == 0)
		rc = sample_file_add(profile->sample_file, profile->samples, profile->sample_count,
				     err);
	profile->sample_count = 0;
	return rc;
}

static int add_sample(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	struct profile *profile = all->profile;
	int64_t end_ns;
	struct profile_sample *sample;
	uint32_t device;

	if (__builtin_add_overflow(row->samples.start_ns, row->samples.length_ns, &end_ns))
		end_ns = 0;
	if (!loader_check_times(task, row->samples.start_ns, end_ns, place))
		return 0;
	device = find_device(task, row->samples.device, place);
	if (device == PROFILE_NONE)
		return 0;
	if (profile->sample_count >= samples_in_memory) {
		int rc = move_into_file(profile, &task->err);

		if (rc < 0)
			return rc;
	}
	sample = ARRAY_NEXT(profile->samples, all->capacity.samples, profile->sample_count);
	if (!sample)
		return -ENOMEM;
	sample_fill(sample, &row->samples, profile->devices[device].sm_count);
	sample->device = device;
	profile->sample_count++;
	return 0;
}

static int add_span(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	struct profile *profile = all->profile;
	const struct trace_sampled_spans_row *from = &row->sampled_spans;
	struct profile_sampled_span *span;
	uint32_t device;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	device = find_device(task, from->device, place);
	if (device == PROFILE_NONE)
		return 0;
	span = ARRAY_NEXT(profile->sampled_spans, all->capacity.sampled_spans,
			  profile->sampled_span_count);
	if (!span)
		return -ENOMEM;
	*span = (struct profile_sampled_span){device, from->start_ns, from->end_ns,
					      from->interval_ns};
	profile->sampled_span_count++;
	return 0;
}

static int add_power(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	struct profile *profile = all->profile;
	const struct trace_power_row *from = &row->power;
	struct profile_power *power;
	uint32_t device;

	if (!loader_check_times(task, from->time_ns, from->time_ns, place))
		return 0;
	device = find_device(task, from->device, place);
	if (device == PROFILE_NONE)
		return 0;
	power = ARRAY_NEXT(profile->powers, all->capacity.powers, profile->power_count);
	if (!power)
		return -ENOMEM;
	*power = (struct profile_power){
		.time_ns = from->time_ns,
		.reasons = from->reasons,
		.device = device,
		.sm_clock_mhz = from->sm_clock_mhz,
		.memory_clock_mhz = from->memory_clock_mhz,
		.power_mw = from->power_mw,
		.temperature_c = from->temperature_c,
	};
	profile->power_count++;
	return 0;
}

int loader_read_samples(struct loader_task *task)
{
	int rc = loader_read(task, TRACE_TABLE_samples, add_sample);

	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_sampled_spans, add_span);
	return rc < 0 ? rc : loader_read(task, TRACE_TABLE_power, add_power);
}

/* ---- order ---- */

static int compare_spans(const void *left, const void *right)
{
	const struct profile_sampled_span *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Two processes that sample one GPU see the same work: what begins inside the sample before it goes. */
static void drop_doubles(struct profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const struct profile_sample *last = kept ? &profile->samples[kept - 1] : NULL;

		if (last && last->device == sample->device &&
		    sample->start_ns < last->start_ns + (int64_t)last->length_ns)
			continue;
		profile->samples[kept++] = *sample;
	}
	profile->sample_count = kept;
}

static void join_spans(struct profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->sampled_span_count; i++) {
		const struct profile_sampled_span *span = &profile->sampled_spans[i];
		struct profile_sampled_span *last = kept ? &profile->sampled_spans[kept - 1] : NULL;

		if (!last || last->device != span->device || span->start_ns > last->end_ns)
			profile->sampled_spans[kept++] = *span;
		else if (span->end_ns > last->end_ns)
			last->end_ns = span->end_ns;
	}
	profile->sampled_span_count = kept;
}

/* Those in memory, which are all. */
static int sort_in_memory(struct profile *profile)
{
	size_t sample = 0;
	int rc = stable_sort(profile->samples, profile->sample_count, sizeof(*profile->samples),
			     compare_samples);

	if (rc < 0)
		return rc;
	drop_doubles(profile);
	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_device *device = &profile->devices[i];

		device->first_sample = sample;
		while (sample < profile->sample_count && profile->samples[sample].device == i)
			sample++;
		device->sample_count = sample - device->first_sample;
	}
	return 0;
}

static int sort_in_file(struct profile *profile, struct err *err)
{
	const struct sample_block *blocks;
	size_t block = 0, count;
	int rc = move_into_file(profile, err);

	if (rc == 0)
		rc = sample_file_seal(profile->sample_file, err);
	if (rc < 0)
		return rc;
	free(profile->samples);
	profile->samples = NULL;
	blocks = sample_file_blocks(profile->sample_file, &count);
	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_device *device = &profile->devices[i];

		device->first_sample = profile->sample_count;
		while (block < count && blocks[block].device == i)
			profile->sample_count += blocks[block++].count;
		device->sample_count = profile->sample_count - device->first_sample;
	}
	return 0;
}

static int sort_spans(struct profile *profile)
{
	size_t span = 0;

	if (stable_sort(profile->sampled_spans, profile->sampled_span_count,
			sizeof(*profile->sampled_spans), compare_spans) < 0)
		return -ENOMEM;
	join_spans(profile);
	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_device *device = &profile->devices[i];

		device->first_span = span;
		while (span < profile->sampled_span_count &&
		       profile->sampled_spans[span].device == i)
			span++;
		device->span_count = span - device->first_span;
	}
	return 0;
}

int loader_sort_samples(struct loader *loader, struct err *err)
{
	struct profile *profile = loader->profile;
	int rc = profile->sample_file ? sort_in_file(profile, err) : sort_in_memory(profile);

	return rc < 0 ? rc : sort_spans(profile);
}
