#include "exchange/export/events_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/gaps.h"
#include "base/format.h"
#include "base/search.h"
#include "trace/samples.h"

#define COPY_PEER 10 /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */

struct device_walk {
	struct events_walk *walk;
	uint32_t device, group;
	struct lanes *lanes; /* by stream */
	uint32_t (*tracks)[LANE_LIMIT];
};

/* ---- what an operation is ---- */

static const char *dimensions_of(char *text, size_t size, const uint32_t extent[3])
{
	snprintf(text, size, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, extent[0], extent[1], extent[2]);
	return text;
}

struct counter_search {
	const struct profile_counter *counters;
	uint32_t signature;
};

static bool is_counter_reached(size_t index, const void *context)
{
	const struct counter_search *search = context;
	const struct profile_counter *counter = &search->counters[index];

	return counter->is_graph || counter->subject >= search->signature;
}

static void add_counters(struct events_walk *walk, uint32_t signature)
{
	const struct profile *profile = walk->profile;
	const struct counter_search search = {profile->counters, signature};
	size_t i = search_first(0, profile->counter_count, is_counter_reached, &search);

	for (; i < profile->counter_count; i++) {
		const struct profile_counter *counter = &profile->counters[i];

		if (counter->is_graph || counter->subject != signature)
			return;
		if (*profile->metrics[counter->metric].name)
			events_add_fraction(walk, profile->metrics[counter->metric].name,
					    counter->mean);
	}
}

struct op_texts {
	char name[64], grid[48], block[48], cluster[48];
};

static void describe_kernel(struct events_walk *walk, const struct profile_op *op,
			    struct event_slice *slice, struct op_texts *texts)
{
	const struct profile_signature *signature = &walk->profile->signatures[op->detail];

	slice->category = "kernel";
	slice->name = kernel_label(walk->profile->kernel_labels, signature->name, LABEL_WIDE);
	events_add_text(walk, "kernel", signature->name);
	events_add_text(walk, "grid",
			dimensions_of(texts->grid, sizeof(texts->grid), signature->grid));
	events_add_text(walk, "block",
			dimensions_of(texts->block, sizeof(texts->block), signature->block));
	if (signature->cluster[0])
		events_add_text(walk, "cluster",
				dimensions_of(texts->cluster, sizeof(texts->cluster),
					      signature->cluster));
	events_add_number(walk, "registers_per_thread", signature->registers_per_thread);
	events_add_number(walk, "static_shared_bytes", signature->static_shared_bytes);
	events_add_number(walk, "dynamic_shared_bytes", signature->dynamic_shared_bytes);
	if (signature->local_bytes_per_thread)
		events_add_number(walk, "local_bytes_per_thread",
				  signature->local_bytes_per_thread);
	add_counters(walk, op->detail);
}

static void describe_copy(struct events_walk *walk, const struct profile_op *op,
			  struct event_slice *slice, struct op_texts *texts)
{
	const struct profile_copy *copy = &walk->profile->copies[op->detail];
	int64_t length_ns = op->end_ns - op->start_ns;

	snprintf(texts->name, sizeof(texts->name), "copy %s", profile_copy_kind_name(copy->kind));
	slice->category = "copy";
	slice->name = texts->name;
	events_add_number(walk, "bytes", copy->bytes);
	if (length_ns > 0)
		events_add_fraction(walk, "byte_per_s",
				    (double)copy->bytes / ((double)length_ns / 1e9));
	events_add_text(walk, "from", profile_memory_kind_name(copy->src_memory));
	events_add_text(walk, "to", profile_memory_kind_name(copy->dst_memory));
	if (copy->kind == COPY_PEER) {
		events_add_number(walk, "from_device", copy->src_device);
		events_add_number(walk, "to_device", copy->dst_device);
	}
	events_add_text(walk, "call", copy->is_async ? "async" : "blocking");
}

static void describe_memset(struct events_walk *walk, const struct profile_op *op,
			    struct event_slice *slice)
{
	const struct profile_memset *set = &walk->profile->memsets[op->detail];

	slice->category = "memset";
	slice->name = "memset";
	events_add_number(walk, "bytes", set->bytes);
	events_add_text(walk, "memory", profile_memory_kind_name(set->memory));
}

static void describe(struct events_walk *walk, const struct profile_op *op,
		     struct event_slice *slice, struct op_texts *texts)
{
	const struct profile_op_ids ids = profile_op_ids(walk->profile, op);

	switch ((enum profile_op_kind)op->kind) {
	case OP_KERNEL:
		describe_kernel(walk, op, slice, texts);
		break;
	case OP_COPY:
		describe_copy(walk, op, slice, texts);
		break;
	case OP_MEMSET:
		describe_memset(walk, op, slice);
		break;
	case OP_GRAPH:
		snprintf(texts->name, sizeof(texts->name), "graph %" PRIu32, ids.graph);
		slice->category = "graph";
		slice->name = texts->name;
		break;
	}
	if (ids.graph) {
		events_add_number(walk, "graph", ids.graph);
		if (ids.graph_node)
			events_add_number(walk, "graph_node", ids.graph_node);
	}
	events_add_number(walk, "correlation", ids.correlation);
}

/* ---- streams ---- */

static int add_stream_track(struct device_walk *device, uint32_t stream, int lane)
{
	const struct profile *profile = device->walk->profile;
	const struct profile_stream *facts = &profile->streams[stream];
	struct event_track track = {.parent = device->group,
				    .kind = TRACK_STREAM,
				    .pid = profile->processes[facts->process].pid,
				    .order = 2 + stream};
	char process[32] = "";
	int rc;

	if (profile->process_count > 1)
		snprintf(process, sizeof(process), " of process %" PRIu64, track.pid);
	rc = events_add_track(device->walk, &track, "stream %" PRIu32 "%s%s%s", facts->stream,
			      facts->is_null ? " (default)" : "", process,
			      lane ? " (concurrent)" : "");
	device->tracks[stream][lane] = track.id;
	return rc;
}

/* One arrow for each call: to the first of its operations. */
static uint64_t arrow_to(struct events_walk *walk, const struct profile_op *op)
{
	if (op->call == PROFILE_NONE || walk->launches[op->call] != 1)
		return 0;
	walk->launches[op->call] |= 2;
	return walk->first_flow + op->call;
}

static int give_op(struct device_walk *device, const struct profile_op *op)
{
	struct event_slice slice = {.start_ns = op->start_ns, .end_ns = op->end_ns};
	struct op_texts texts;
	int lane = lanes_place(&device->lanes[op->stream], op->start_ns, &slice.end_ns, false);
	int rc = lane < 0 ? lane : 0;

	if (rc == 0 && !device->tracks[op->stream][lane])
		rc = add_stream_track(device, op->stream, lane);
	if (rc < 0)
		return rc;
	slice.track = device->tracks[op->stream][lane];
	slice.flow_to = arrow_to(device->walk, op);
	describe(device->walk, op, &slice, &texts);
	return events_give(device->walk, &slice);
}

static int walk_ops(struct device_walk *device)
{
	const struct profile *profile = device->walk->profile;
	const struct profile_device *facts = &profile->devices[device->device];
	int rc = 0;

	device->lanes = calloc(profile->stream_count + 1, sizeof(*device->lanes));
	device->tracks = calloc(profile->stream_count + 1, sizeof(*device->tracks));
	if (!device->lanes || !device->tracks)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < facts->op_count; i++)
		rc = give_op(device, &profile->ops[facts->first_op + i]);
	for (size_t i = 0; device->lanes && i < profile->stream_count; i++)
		lanes_clear(&device->lanes[i]);
	free(device->lanes);
	free(device->tracks);
	return rc;
}

/* ---- gaps ---- */

struct gap_walk {
	struct events_walk *walk;
	uint32_t track;
};

static int give_gap(const struct gap *gap, void *context)
{
	struct gap_walk *gaps = context;
	struct event_slice slice = {
		.track = gaps->track,
		.start_ns = gap->start_ns,
		.end_ns = gap->end_ns,
		.category = "gap",
		.name = gap_cause_title(gap->cause),
	};
	uint32_t left;
	int cause;

	GAP_EACH_CAUSE(left, cause, gap)
	events_add_number(gaps->walk, gap_cause_key((enum gap_cause)cause),
			  (uint64_t)gap->by_cause_ns[cause]);
	return events_give(gaps->walk, &slice);
}

static int walk_gaps(struct device_walk *device)
{
	struct event_track track = {.parent = device->group, .kind = TRACK_GAPS, .order = 1};
	struct gap_walk gaps = {.walk = device->walk};
	int rc = events_add_track(device->walk, &track, "idle time by cause");

	gaps.track = track.id;
	return rc < 0 ? rc
		      : gaps_visit(device->walk->report->gaps, device->device, give_gap, &gaps);
}

/* ---- counters over time ---- */

enum rate { RATE_PERCENT, RATE_PER_S };

/* A column of samples, and which counters must have been sampled for it. */
static const struct {
	const char *name, *unit;
	enum rate rate;
	size_t offset; /* of the float in struct profile_sample */
	enum sampled_role role;
} sample_tracks[] = {
#define SAMPLE_TRACK(name, unit, rate, column, role)                                      \
	{                                                                                 \
		name, unit, rate, offsetof(struct profile_sample, column), SAMPLED_##role \
	}
	SAMPLE_TRACK("compute active", "%", RATE_PERCENT, compute, compute_cycles),
	SAMPLE_TRACK("SMs active", "%", RATE_PERCENT, sm, sm_cycles),
	SAMPLE_TRACK("least busy SM", "%", RATE_PERCENT, sm_min, sm_cycles_min),
	SAMPLE_TRACK("busiest SM", "%", RATE_PERCENT, sm_max, sm_cycles_max),
	SAMPLE_TRACK("tensor cores active", "%", RATE_PERCENT, tensor, tensor_cycles),
	SAMPLE_TRACK("kernels begun", "1/s", RATE_PER_S, dispatches, dispatches),
	SAMPLE_TRACK("thread blocks launched", "1/s", RATE_PER_S, blocks, blocks),
	SAMPLE_TRACK("DRAM read", "B/s", RATE_PER_S, dram_read_bytes, dram_read_bytes),
	SAMPLE_TRACK("DRAM written", "B/s", RATE_PER_S, dram_write_bytes, dram_write_bytes),
	SAMPLE_TRACK("L2", "B/s", RATE_PER_S, l2_bytes, l2_sectors),
	SAMPLE_TRACK("L2 atomics", "B/s", RATE_PER_S, atomic_bytes, atomic_sectors),
	SAMPLE_TRACK("PCIe read", "B/s", RATE_PER_S, pcie_read_bytes, pcie_read_bytes),
	SAMPLE_TRACK("PCIe written", "B/s", RATE_PER_S, pcie_write_bytes, pcie_write_bytes),
	SAMPLE_TRACK("NVLink received", "B/s", RATE_PER_S, nvlink_rx_bytes, nvlink_rx_bytes),
	SAMPLE_TRACK("NVLink sent", "B/s", RATE_PER_S, nvlink_tx_bytes, nvlink_tx_bytes),
#undef SAMPLE_TRACK
};

#define SAMPLE_TRACK_COUNT (sizeof(sample_tracks) / sizeof(sample_tracks[0]))
#define COUNTER_ORDER 1000000 /* below all streams */

static int add_counter_track(struct device_walk *device, uint32_t *id, const char *name,
			     const char *unit)
{
	struct event_track track = {.parent = device->group,
				    .kind = TRACK_COUNTER,
				    .unit = unit,
				    .order = COUNTER_ORDER + device->walk->track_count};
	int rc = events_add_track(device->walk, &track, "%s", name);

	*id = track.id;
	return rc;
}

static int count(struct device_walk *device, uint32_t track, int64_t time_ns, double value)
{
	const struct event_sink *sink = device->walk->sink;

	return sink->count ? sink->count(sink->context, track, time_ns, value) : 0;
}

static double sample_value(const struct profile_sample *sample, size_t track)
{
	float counted;
	double value;

	memcpy(&counted, (const char *)sample + sample_tracks[track].offset, sizeof(counted));
	value = (double)counted;
	if (sample_tracks[track].rate == RATE_PERCENT)
		return 100 * value;
	return sample->length_ns ? value / ((double)sample->length_ns / 1e9) : 0;
}

static int walk_samples(struct device_walk *device)
{
	const struct profile *profile = device->walk->profile;
	const struct profile_device *facts = &profile->devices[device->device];
	struct sample_cursor cursor = sample_cursor_open(profile);
	int rc = 0, cursor_rc;

	for (size_t i = 0; rc == 0 && facts->sample_count && i < SAMPLE_TRACK_COUNT; i++) {
		uint32_t track;

		if (!(facts->sampled >> sample_tracks[i].role & 1))
			continue;
		rc = add_counter_track(device, &track, sample_tracks[i].name,
				       sample_tracks[i].unit);
		for (size_t j = 0; rc == 0 && j < facts->sample_count; j++) {
			const struct profile_sample *sample =
				sample_at(&cursor, facts->first_sample + j);

			rc = count(device, track, sample->start_ns, sample_value(sample, i));
		}
	}
	cursor_rc = sample_cursor_close(&cursor);
	return rc < 0 ? rc : cursor_rc;
}

static const struct {
	const char *name, *unit;
	size_t offset; /* of the uint32_t in struct profile_power */
	double factor;
} power_tracks[] = {
	{"power", "W", offsetof(struct profile_power, power_mw), 1e-3},
	{"SM clock", "MHz", offsetof(struct profile_power, sm_clock_mhz), 1},
	{"memory clock", "MHz", offsetof(struct profile_power, memory_clock_mhz), 1},
	{"temperature", "C", offsetof(struct profile_power, temperature_c), 1},
};

static int walk_power(struct device_walk *device, size_t index)
{
	const struct profile *profile = device->walk->profile;
	uint32_t track = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->power_count; i++) {
		const struct profile_power *power = &profile->powers[i];
		uint32_t value =
			*(const uint32_t *)((const char *)power + power_tracks[index].offset);

		if (power->device != device->device || !value) /* 0: it does not tell */
			continue;
		if (!track)
			rc = add_counter_track(device, &track, power_tracks[index].name,
					       power_tracks[index].unit);
		if (rc == 0)
			rc = count(device, track, power->time_ns,
				   value * power_tracks[index].factor);
	}
	return rc;
}

/* ---- a device ---- */

int events_walk_device(struct events_walk *walk, uint32_t device)
{
	const struct profile *profile = walk->profile;
	struct event_track group = {.kind = TRACK_DEVICE,
				    .order = (uint32_t)profile->process_count + device};
	struct device_walk state = {.walk = walk, .device = device};
	int rc = events_add_track(walk, &group, "%sGPU %" PRIu32 " %s", walk->prefix, device,
				  profile->devices[device].name);

	state.group = group.id;
	if (rc == 0)
		rc = walk_gaps(&state);
	if (rc == 0)
		rc = walk_ops(&state);
	if (rc == 0)
		rc = walk_samples(&state);
	for (size_t i = 0; rc == 0 && i < sizeof(power_tracks) / sizeof(power_tracks[0]); i++)
		rc = walk_power(&state, i);
	return rc;
}
