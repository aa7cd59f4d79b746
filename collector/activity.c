#define _GNU_SOURCE
#include "activity.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_choice.h"
#include "counters/counters.h"
#include "idle_wait.h"
#include "counters/local_memory.h"
#include "log.h"
#include "machine_code.h"
#include "managed_memory.h"
#include "old_cupti.h"
#include "power.h"
#include "progress.h"
#include "slow_ranges.h"
#include "writer/trace_writer.h"
#include "window.h"

/* ---- what to record ---- */

static const struct {
	CUpti_ActivityKind kind;
	enum { ALWAYS, WITH_GRAPHS, WITH_SYNCS, WITH_ALL_API, WITH_SEVERAL_GPUS } when;
	const char *name;
} kinds[] = {
	{CUPTI_ACTIVITY_KIND_DEVICE, ALWAYS, "devices"},
	{CUPTI_ACTIVITY_KIND_CONTEXT, ALWAYS, "contexts"},
	{CUPTI_ACTIVITY_KIND_STREAM, ALWAYS, "streams"},
	/* Brings device launches too, once cuptiActivityEnableDeviceGraph has asked for them; enabling
	 * their kind itself is refused (INVALID_KIND, measured with CUPTI 13.0.85). */
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, WITH_GRAPHS, "graph launches"},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, ALWAYS, "kernels"},
	{CUPTI_ACTIVITY_KIND_MEMCPY, ALWAYS, "copies"},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, WITH_SEVERAL_GPUS, "peer copies"},
	{CUPTI_ACTIVITY_KIND_MEMSET, ALWAYS, "memsets"},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, WITH_SYNCS, "synchronizations"},
	{CUPTI_ACTIVITY_KIND_RUNTIME, WITH_ALL_API, "runtime API calls"},
	{CUPTI_ACTIVITY_KIND_DRIVER, WITH_ALL_API, "driver API calls"},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, ALWAYS, "overheads"},
	{CUPTI_ACTIVITY_KIND_JIT, ALWAYS, "just-in-time compilation"},
};

static bool is_choosing_rows; /* of calls, all of which CUPTI records */
static atomic_bool has_several_gpus;

/* The kinds that CUPTI refused, for one warning: ", kernels (WHY), copies (WHY)". */
struct refused {
	char text[512];
	size_t used;
};

static void enable_kind(const struct cupti_api *cupti, CUpti_ActivityKind kind, const char *name,
			struct refused *refused)
{
	CUptiResult result = cupti->cuptiActivityEnable(kind);
	int length;

	if (result == CUPTI_SUCCESS)
		return;
	trace_loss_add(LOSS_disabled_kinds, 1);
	length = snprintf(refused->text + refused->used, sizeof(refused->text) - refused->used,
			  ", %s (%s)", name, cupti_error_text(cupti, result));
	if (length > 0 && refused->used + (size_t)length < sizeof(refused->text))
		refused->used += (size_t)length;
}

static void warn_refused(const struct refused *refused)
{
	if (refused->used)
		log_warn("CUPTI does not record %.*s; the recording lacks them",
			 (int)refused->used - 2, refused->text + 2);
}

void activity_enable_nvtx(const struct cupti_api *cupti)
{
	struct refused refused = {.used = 0};

	enable_kind(cupti, CUPTI_ACTIVITY_KIND_MARKER, "NVTX ranges", &refused);
	enable_kind(cupti, CUPTI_ACTIVITY_KIND_NAME, "NVTX names", &refused);
	warn_refused(&refused);
}

/* All calls, because they were asked for or because this CUPTI cannot choose: then rows are chosen. */
static bool needs_all_calls(const struct cupti_api *cupti, const struct options *options)
{
	return options->api == API_ALL ||
	       (options->api == API_CHOSEN && !old_cupti_chooses_calls(cupti));
}

static bool is_asked_for(int when, const struct cupti_api *cupti, const struct options *options)
{
	return when == ALWAYS || (when == WITH_GRAPHS && options->is_graph_level) ||
	       (when == WITH_SYNCS && options->syncs) ||
	       (when == WITH_SEVERAL_GPUS && atomic_load(&has_several_gpus)) ||
	       (when == WITH_ALL_API && needs_all_calls(cupti, options));
}

void activity_enable(const struct cupti_api *cupti, const struct options *options)
{
	struct refused refused = {.used = 0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_asked_for(kinds[i].when, cupti, options))
			enable_kind(cupti, kinds[i].kind, kinds[i].name, &refused);
	warn_refused(&refused);
	if (options->syncs && cupti->cuptiActivityEnableAllSyncRecords)
		cupti->cuptiActivityEnableAllSyncRecords(0);
	is_choosing_rows = options->api == API_CHOSEN && !old_cupti_chooses_calls(cupti);
	if (options->api == API_CHOSEN && !is_choosing_rows && api_choice_enable(cupti, true) == 0)
		trace_loss_add(LOSS_disabled_kinds, 1);
	old_cupti_tell(cupti, options);
}

void activity_on_context(const struct cupti_api *cupti, CUcontext context)
{
	static atomic_uint first_gpu; /* its number plus one */
	struct refused refused = {.used = 0};
	uint32_t gpu, none = 0;

	if (!cupti->cuptiGetDeviceId || cupti->cuptiGetDeviceId(context, &gpu) != CUPTI_SUCCESS)
		return;
	if (atomic_compare_exchange_strong(&first_gpu, &none, gpu + 1) || none == gpu + 1 ||
	    atomic_exchange(&has_several_gpus, true))
		return;
	enable_kind(cupti, CUPTI_ACTIVITY_KIND_MEMCPY2, "peer copies", &refused);
	warn_refused(&refused);
}

/* What is there rather than happens: rare. */
static bool is_object(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_DEVICE || kind == CUPTI_ACTIVITY_KIND_CONTEXT ||
	       kind == CUPTI_ACTIVITY_KIND_STREAM;
}

void activity_disable(const struct cupti_api *cupti, const struct options *options)
{
	if (!cupti->cuptiActivityDisable)
		return; /* records are dropped when they are decoded */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_asked_for(kinds[i].when, cupti, options) && !is_object(kinds[i].kind))
			cupti->cuptiActivityDisable(kinds[i].kind);
	if (options->nvtx)
		cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MARKER);
	if (options->managed)
		cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	if (options->api == API_CHOSEN && !is_choosing_rows)
		api_choice_enable(cupti, false);
}

/* ---- helpers of the decoders ---- */

/* True for an operation that can be placed on a timeline and is asked for; otherwise it is counted. */
static bool is_wanted_operation(uint64_t start_ns, uint64_t end_ns, uint32_t correlation)
{
	if (start_ns == 0 || end_ns == 0 || end_ns < start_ns) {
		trace_loss_add(LOSS_invalid_times, 1);
		return false;
	}
	if (!window_contains_operation((int64_t)start_ns, correlation)) {
		trace_loss_add(LOSS_outside_window, 1);
		return false;
	}
	return true;
}

static bool is_wanted_span(uint64_t start_ns, uint64_t end_ns)
{
	return is_wanted_operation(start_ns, end_ns, 0);
}

static void format_uuid(char *text, size_t size, const char *prefix, const CUuuid *uuid)
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;

	snprintf(text, size,
		 "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", prefix,
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
}

/* ---- one decoder per kind ---- */

/* Columns that CUPTI's structures name alike. */
#define SPAN_COLUMNS(record) .start_ns = (int64_t)(record)->start, .end_ns = (int64_t)(record)->end
#define STREAM_COLUMNS(record)                                                              \
	SPAN_COLUMNS(record), .device = (record)->deviceId, .context = (record)->contextId, \
			      .stream = (record)->streamId
#define OPERATION_COLUMNS(record)                                       \
	STREAM_COLUMNS(record), .correlation = (record)->correlationId, \
				.graph = (record)->graphId, .graph_node = (record)->graphNodeId
#define COPY_COLUMNS(record)                                                 \
	OPERATION_COLUMNS(record),                                           \
		.kind = (record)->copyKind, .src_memory = (record)->srcKind, \
		.dst_memory = (record)->dstKind, .bytes = (record)->bytes,   \
		.is_async = ((record)->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0

static void decode_kernel(const struct cupti_api *cupti, struct trace_rows *rows,
			  const CUpti_ActivityKernel10 *kernel)
{
	bool is_device_launched = old_cupti_is_device_launched(cupti, kernel);
	struct trace_signatures_row signature = {
		.grid_x = (uint32_t)kernel->gridX,
		.grid_y = (uint32_t)kernel->gridY,
		.grid_z = (uint32_t)kernel->gridZ,
		.block_x = (uint32_t)kernel->blockX,
		.block_y = (uint32_t)kernel->blockY,
		.block_z = (uint32_t)kernel->blockZ,
		.cluster_x = kernel->clusterX,
		.cluster_y = kernel->clusterY,
		.cluster_z = kernel->clusterZ,
		.registers_per_thread = kernel->registersPerThread,
		.static_shared_bytes = (uint32_t)kernel->staticSharedMemory,
		.dynamic_shared_bytes = (uint32_t)kernel->dynamicSharedMemory,
		.local_bytes_per_thread = kernel->localMemoryPerThread
						  ? kernel->localMemoryPerThread
						  : local_memory_of(kernel->name),
		.launch_type = is_device_launched ? 3 : kernel->launchType,
	};
	struct trace_kernels_row row = {
		OPERATION_COLUMNS(kernel),
	};

	if (counters_is_own_kernel(kernel->name) || (counters_are_replaying() && !kernel->end))
		return;
	if (!is_wanted_operation(kernel->start, kernel->end,
				 is_device_launched ? 0 : kernel->correlationId))
		return;
	counters_note_kernel_time(row.correlation, row.end_ns - row.start_ns);
	progress_add_operation(PROGRESS_KERNEL, row.device, row.start_ns, row.end_ns, row.graph,
			       row.correlation);
	row.signature = trace_signature(&signature, kernel->name);
	if (row.signature == TRACE_SIGNATURE_FILTERED)
		trace_loss_add(LOSS_filtered_kernels, 1);
	else
		trace_write_kernels(rows, &row);
}

static void write_copy(struct trace_rows *rows, const struct trace_copies_row *row)
{
	progress_add_operation(PROGRESS_COPY, row->device, row->start_ns, row->end_ns, row->graph,
			       row->correlation);
	trace_write_copies(rows, row);
}

static void decode_copy(const struct cupti_api *cupti, struct trace_rows *rows,
			const CUpti_ActivityMemcpy6 *copy)
{
	struct trace_copies_row row = {
		COPY_COLUMNS(copy),
		.src_device = copy->deviceId,
		.dst_device = copy->deviceId,
		.copy_count = old_cupti_copy_count(cupti, copy),
	};

	if (is_wanted_operation(copy->start, copy->end, copy->correlationId))
		write_copy(rows, &row);
}

static void decode_peer_copy(struct trace_rows *rows, const CUpti_ActivityMemcpyPtoP4 *copy)
{
	struct trace_copies_row row = {
		COPY_COLUMNS(copy),
		.src_device = copy->srcDeviceId,
		.dst_device = copy->dstDeviceId,
		.copy_count = 1,
	};

	if (is_wanted_operation(copy->start, copy->end, copy->correlationId))
		write_copy(rows, &row);
}

static void decode_memset(struct trace_rows *rows, const CUpti_ActivityMemset4 *set)
{
	struct trace_memsets_row row = {
		OPERATION_COLUMNS(set),
		.bytes = set->bytes,
		.value = set->value,
		.memory = set->memoryKind,
		.is_async = (set->flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0,
	};

	if (!is_wanted_operation(set->start, set->end, set->correlationId))
		return;
	progress_add_operation(PROGRESS_COPY, row.device, row.start_ns, row.end_ns, row.graph,
			       row.correlation);
	trace_write_memsets(rows, &row);
}

static void write_graph(struct trace_rows *rows, const struct trace_graphs_row *row)
{
	progress_add_operation(PROGRESS_GRAPH, row->device, row->start_ns, row->end_ns, row->graph,
			       row->correlation);
	trace_write_graphs(rows, row);
}

static void decode_graph(struct trace_rows *rows, const CUpti_ActivityGraphTrace2 *graph)
{
	struct trace_graphs_row row = {
		STREAM_COLUMNS(graph),
		.correlation = graph->correlationId,
		.graph = graph->graphId,
	};

	if (is_wanted_operation(graph->start, graph->end, graph->correlationId))
		write_graph(rows, &row);
}

static void decode_device_graph(struct trace_rows *rows,
				const CUpti_ActivityDeviceGraphTrace *graph)
{
	struct trace_graphs_row row = {
		.start_ns = (int64_t)graph->start,
		.end_ns = (int64_t)graph->end,
		.device = graph->deviceId,
		.context = graph->contextId,
		.stream = (uint32_t)graph->streamId,
		.graph = graph->graphId,
		.launch_mode = graph->deviceLaunchMode,
		.launcher_graph = graph->launcherGraphId,
	};

	if (is_wanted_span(graph->start, graph->end))
		write_graph(rows, &row);
}

static void decode_api(const struct cupti_api *cupti, struct trace_rows *rows,
		       CUpti_CallbackDomain domain, const CUpti_ActivityAPI *call)
{
	struct trace_api_row row = {
		SPAN_COLUMNS(call),
		.thread = call->threadId,
		.correlation = call->correlationId,
		.result = call->returnValue,
	};

	if (idle_wait_is_thread(call->threadId) ||
	    (is_choosing_rows && !api_choice_is_chosen(cupti, domain, call->cbid)) ||
	    !is_wanted_span(call->start, call->end))
		return;
	row.name = api_choice_name(cupti, domain, call->cbid);
	progress_add_call();
	trace_write_api(rows, &row);
}

static void decode_sync(struct trace_rows *rows, const CUpti_ActivitySynchronization2 *sync)
{
	struct trace_syncs_row row = {
		SPAN_COLUMNS(sync),	    .kind = sync->type,
		.context = sync->contextId, .stream = sync->streamId,
		.event = sync->cudaEventId, .correlation = sync->correlationId,
	};

	if (is_wanted_span(sync->start, sync->end))
		trace_write_syncs(rows, &row);
}

static const struct {
	CUpti_ActivityOverheadKind kind;
	bool is_profiler;
	const char *name;
} overheads[] = {
	{CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, false, "driver compiler"},
	{CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, true, "CUPTI buffer flush"},
	{CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, true, "CUPTI instrumentation"},
	{CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, true, "CUPTI resources"},
	{CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING, false, "module loading"},
	{CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, false, "lazy function loading"},
	{CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, false, "command buffer full"},
	{CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, true, "CUPTI buffer request"},
	{CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT, true, "CUPTI managed memory set-up"},
};

static void decode_overhead(struct trace_rows *rows, const CUpti_ActivityOverhead3 *overhead)
{
	struct trace_overheads_row row = {
		SPAN_COLUMNS(overhead),
		.correlation = overhead->correlationId,
		.is_profiler = 1,
	};
	const char *name = "other";

	free(overhead->overheadData); /* CUPTI leaves it to its client */
	if (!is_wanted_span(overhead->start, overhead->end))
		return;
	for (size_t i = 0; i < sizeof(overheads) / sizeof(*overheads); i++)
		if (overheads[i].kind == overhead->overheadKind) {
			name = overheads[i].name;
			row.is_profiler = overheads[i].is_profiler;
		}
	row.name = trace_name(name);
	if (overhead->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
		row.thread = overhead->objectId.pt.threadId;
	trace_write_overheads(rows, &row);
}

static void decode_marker(struct trace_rows *rows, const CUpti_ActivityMarker2 *marker)
{
	struct trace_markers_row row = {
		.time_ns = (int64_t)marker->timestamp,
		.id = marker->id,
		.is_thread = marker->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD,
		.thread = marker->objectId.pt.threadId,
	};

	if (!is_wanted_span(marker->timestamp, marker->timestamp))
		return;
	if (marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_START)
		row.phase = 1;
	else if (marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_END)
		row.phase = 2;
	if (row.phase == 1)
		slow_ranges_on_start(row.id, marker->name, row.time_ns);
	else if (row.phase == 2)
		slow_ranges_on_end(row.id, row.time_ns);
	row.domain = trace_name(marker->domain);
	row.name = trace_name(marker->name);
	trace_write_markers(rows, &row);
}

static void decode_name(struct trace_rows *rows, const CUpti_ActivityName *name)
{
	struct trace_threads_row row = {.thread = name->objectId.pt.threadId};

	if (name->objectKind != CUPTI_ACTIVITY_OBJECT_THREAD)
		return;
	row.name = trace_name(name->name);
	trace_write_threads(rows, &row);
}

static void decode_jit(struct trace_rows *rows, const CUpti_ActivityJit2 *jit)
{
	struct trace_jit_row row = {
		SPAN_COLUMNS(jit),
		.device = jit->deviceId,
		.entry = jit->jitEntryType,
		.operation = jit->jitOperationType,
		.cache_bytes = jit->cacheSize,
		.thread = jit->threadId,
		.correlation = jit->correlationId,
	};

	if (!is_wanted_span(jit->start, jit->end))
		return;
	row.path = trace_name(jit->cachePath);
	trace_write_jit(rows, &row);
}

static void decode_device(struct trace_rows *rows, const CUpti_ActivityDevice5 *device)
{
	char uuid[64];
	struct trace_devices_row row = {
		.device = device->id,
		.name = device->name,
		.uuid = uuid,
		.compute_major = device->computeCapabilityMajor,
		.compute_minor = device->computeCapabilityMinor,
		.sm_count = device->numMultiprocessors,
		.sm_clock_khz = device->coreClockRate,
		.memory_bytes = device->globalMemorySize,
		.memory_byte_per_s = device->globalMemoryBandwidth * 1000, /* kB/s in CUPTI */
		.l2_bytes = device->l2CacheSize,
		.copy_engine_count = device->numMemcpyEngines,
		.max_warps_per_sm = device->maxWarpsPerMultiprocessor,
		.max_blocks_per_sm = device->maxBlocksPerMultiprocessor,
		.max_registers_per_sm = device->maxRegistersPerMultiprocessor,
		.max_shared_bytes_per_sm = device->maxSharedMemoryPerMultiprocessor,
		.is_mig = device->isMigEnabled,
	};

	if (device->isMigEnabled)
		format_uuid(uuid, sizeof(uuid), "MIG", &device->migUuid);
	else
		format_uuid(uuid, sizeof(uuid), "GPU", &device->uuid);
	trace_write_devices(rows, &row);
	power_add_device(device->id, uuid);
}

static void decode_context(const struct cupti_api *cupti, struct trace_rows *rows,
			   const CUpti_ActivityContext3 *context)
{
	struct trace_contexts_row row = {
		.context = context->contextId,
		.device = context->deviceId,
		.null_stream = context->nullStreamId,
		.is_green = context->isGreenContext,
		.parent_context = context->parentContextId,
		.sm_count = old_cupti_sm_count(cupti, context),
	};

	trace_write_contexts(rows, &row);
}

static void decode_stream(struct trace_rows *rows, const CUpti_ActivityStream *stream)
{
	struct trace_streams_row row = {
		.context = stream->contextId,
		.stream = stream->streamId,
		.priority = stream->priority,
		.flag = stream->flag,
	};

	trace_write_streams(rows, &row);
}

/* Structures only ever grow at their end, so a newer CUPTI's records are read as these; of an older one's the
 * members that it lacks are not read (old_cupti.h). */
static void decode_record(const struct cupti_api *cupti, struct trace_rows *rows,
			  const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		decode_kernel(cupti, rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		decode_copy(cupti, rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		decode_peer_copy(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		decode_memset(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		decode_graph(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
		decode_device_graph(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		decode_api(cupti, rows, CUPTI_CB_DOMAIN_RUNTIME_API, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
		decode_api(cupti, rows, CUPTI_CB_DOMAIN_DRIVER_API, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		decode_sync(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		managed_memory_decode(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		decode_overhead(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_JIT:
		decode_jit(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MARKER:
		decode_marker(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_NAME:
		decode_name(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		decode_device(rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		decode_context(cupti, rows, (const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_STREAM:
		decode_stream(rows, (const void *)record);
		break;
	default:
		trace_loss_add(LOSS_unknown_records, 1);
		break;
	}
}

void activity_decode(const struct cupti_api *cupti, uint8_t *buffer, size_t valid_bytes)
{
	struct trace_rows *rows = trace_rows_get();
	CUpti_Activity *record = NULL;
	CUptiResult result;

	/* CUPTI ends a buffer with MAX_LIMIT_REACHED, also an empty one. */
	while ((result = cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) ==
	       CUPTI_SUCCESS)
		decode_record(cupti, rows, record);
	if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
		size_t decoded = record ? (size_t)((uint8_t *)record - buffer) : 0;

		trace_loss_add(LOSS_undecoded_bytes, valid_bytes - decoded);
	}
	machine_code_write(rows);
	trace_rows_put(rows);
}
