#include <errno.h>

#include "trace/loader.h"

/*
 * Waits, launch attributes, overheads, JIT compilations, modules, allocations, managed memory, calls of NCCL, markers and losses.  While tables are
 * read, threads and calls hold ids of their process; loader_resolve_events
 * turns them into indexes.
 */

#define NO_STREAM UINT32_MAX /* in syncs.stream: it does not apply */

/* PROFILE_NONE where there is none, or its context is not known. */
static int find_stream(struct process_loader *loader, uint32_t context, uint32_t id,
		       uint32_t *stream)
{
	uint32_t entry = id_map_get(&loader->contexts, context);

	*stream = PROFILE_NONE;
	if (entry == PROFILE_NONE || id == NO_STREAM)
		return 0;
	*stream = loader_stream_of_any(loader, context, id, loader->context_entries[entry].device);
	return *stream == PROFILE_NONE ? -ENOMEM : 0;
}

static int add_sync(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	struct loader *all = loader->loader;
	const struct trace_syncs_row *from = &row->syncs;
	uint32_t stream;
	struct profile_sync *sync;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	if (find_stream(loader, from->context, from->stream, &stream) < 0)
		return -ENOMEM;
	sync = ARRAY_NEXT(all->profile->syncs, all->capacity.syncs, all->profile->sync_count);
	if (!sync)
		return -ENOMEM;
	*sync = (struct profile_sync){from->start_ns, from->end_ns, from->kind, stream,
				      from->correlation};
	all->profile->sync_count++;
	return 0;
}

static int add_event_call(const union trace_row *row, const struct reader_place *place,
			  void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_event_calls_row *from = &row->event_calls;
	struct profile_event_call *call;
	uint32_t stream;

	(void)place;
	if (find_stream(task->owner, from->context, from->stream, &stream) < 0)
		return -ENOMEM;
	call = ARRAY_NEXT(all->profile->event_calls, all->capacity.event_calls,
			  all->profile->event_call_count);
	if (!call)
		return -ENOMEM;
	*call = (struct profile_event_call){.event = from->event,
					    .call = from->correlation,
					    .process = task->owner->process,
					    .stream = stream,
					    .kind = from->kind};
	all->profile->event_call_count++;
	return 0;
}

static int add_launch(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader *all = ((struct loader_task *)context)->owner->loader;
	const struct trace_launch_attributes_row *from = &row->launch_attributes;
	struct profile_launch *launch = ARRAY_NEXT(all->profile->launches, all->capacity.launches,
						   all->profile->launch_count);

	(void)place;
	if (!launch)
		return -ENOMEM;
	*launch = (struct profile_launch){
		.call = from->correlation,
		.priority = (int32_t)from->priority,
		.is_dependent = from->is_dependent != 0,
		.has_event = from->has_event != 0,
		.has_priority = from->has_priority != 0,
		.is_cooperative = from->is_cooperative != 0,
	};
	all->profile->launch_count++;
	return 0;
}

static int add_load(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader *all = ((struct loader_task *)context)->owner->loader;
	struct profile_load *load =
		ARRAY_NEXT(all->profile->loads, all->capacity.loads, all->profile->load_count);

	(void)place;
	if (!load)
		return -ENOMEM;
	*load = (struct profile_load){.call = row->loads.correlation,
				      .image = row->loads.kind,
				      .is_embedded = row->loads.is_embedded != 0};
	all->profile->load_count++;
	return 0;
}

/* The host has no row in devices.csv. */
static int add_managed(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	struct loader *all = loader->loader;
	const struct trace_managed_row *from = &row->managed;
	struct profile_managed *managed;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place) || !from->kind ||
	    from->kind >= MANAGED_KIND_COUNT)
		return 0;
	managed = ARRAY_NEXT(all->profile->manageds, all->capacity.manageds,
			     all->profile->managed_count);
	if (!managed)
		return -ENOMEM;
	*managed = (struct profile_managed){
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.value = from->value,
		.kind = from->kind,
		.source = id_map_get(&loader->devices, from->source),
		.destination = id_map_get(&loader->devices, from->destination),
		.cause = from->cause,
	};
	all->profile->managed_count++;
	return 0;
}

static int add_overhead(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_overheads_row *from = &row->overheads;
	const char *name = loader_name(task->owner, from->name);
	struct profile_overhead *overhead;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	overhead = ARRAY_NEXT(all->profile->overheads, all->capacity.overheads,
			      all->profile->overhead_count);
	if (!overhead)
		return -ENOMEM;
	if (!name)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is not in names.csv", from->name);
	*overhead = (struct profile_overhead){
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.name = name ? name : "unknown overhead",
		.process = task->owner->process,
		.thread = from->thread,
		.is_profiler = from->is_profiler != 0,
	};
	all->profile->overhead_count++;
	return 0;
}

static int add_jit(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_jit_row *from = &row->jit;
	struct profile_jit *jit;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	jit = ARRAY_NEXT(all->profile->jits, all->capacity.jits, all->profile->jit_count);
	if (!jit)
		return -ENOMEM;
	*jit = (struct profile_jit){
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.entry = from->entry,
		.operation = from->operation,
		.cache_bytes = from->cache_bytes,
		.thread = from->thread,
	};
	all->profile->jit_count++;
	return 0;
}

static int add_module(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_modules_row *from = &row->modules;
	struct profile_module *module;

	if (!loader_check_times(task, from->time_ns, from->time_ns, place))
		return 0;
	module = ARRAY_NEXT(all->profile->modules, all->capacity.modules,
			    all->profile->module_count);
	if (!module)
		return -ENOMEM;
	*module = (struct profile_module){
		.time_ns = from->time_ns,
		.code = from->code,
		.bytes = from->bytes,
		.sm = from->sm,
		.thread = from->thread,
	};
	all->profile->module_count++;
	return 0;
}

enum { OPERATION_ALLOCATE = 1, OPERATION_FREE }; /* CUpti_ActivityMemoryOperationType */

static int add_allocation(const union trace_row *row, const struct reader_place *place,
			  void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_allocations_row *from = &row->allocations;
	uint32_t device = id_map_get(&task->owner->devices, from->device);
	struct profile_allocation *allocation;

	if (!loader_check_times(task, from->time_ns, from->time_ns, place) ||
	    (from->operation != OPERATION_ALLOCATE && from->operation != OPERATION_FREE))
		return 0;
	allocation = ARRAY_NEXT(all->profile->allocations, all->capacity.allocations,
				all->profile->allocation_count);
	if (!allocation)
		return -ENOMEM;
	/* A free says it again, and may be made without a context. */
	if (device == PROFILE_NONE && from->operation == OPERATION_ALLOCATE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "device %u is not in devices.csv", from->device);
	*allocation = (struct profile_allocation){
		.time_ns = from->time_ns,
		.address = from->address,
		.bytes = from->bytes,
		.pool = from->pool,
		.process = task->owner->process,
		.device = device,
		.call = from->correlation,
		.memory = from->memory,
		.is_free = from->operation == OPERATION_FREE,
	};
	all->profile->allocation_count++;
	return 0;
}

static int add_nccl_call(const union trace_row *row, const struct reader_place *place,
			 void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_collectives_row *from = &row->collectives;
	const char *operation = strings_intern(all->texts, from->operation);
	struct profile_nccl_call *call;

	if (!operation)
		return -ENOMEM;
	if (!loader_check_times(task, from->time_ns, from->time_ns, place))
		return 0;
	call = ARRAY_NEXT(all->profile->nccl_calls, all->capacity.nccl_calls,
			  all->profile->nccl_call_count);
	if (!call)
		return -ENOMEM;
	*call = (struct profile_nccl_call){
		.time_ns = from->time_ns,
		.communicator = from->communicator,
		.bytes = from->bytes,
		.operation = operation,
		.thread = from->thread,
		.peer = from->peer,
		.reduction = from->reduction,
	};
	all->profile->nccl_call_count++;
	return 0;
}

static uint64_t lost_count(const struct loader_task *task)
{
	uint64_t count = 0;

	for (int i = 0; i < READER_LOSS_COUNT; i++)
		count += task->losses.count[i];
	return count;
}

/* Where one is missing, what a process asked for next is not what it asked for then. */
static int read_nccl_calls(struct loader_task *task)
{
	struct process_loader *loader = task->owner;
	uint64_t lost_before = lost_count(task);
	int rc = loader_read(task, TRACE_TABLE_collectives, add_nccl_call);

	loader->loader->profile->processes[loader->process].has_lost_nccl_calls =
		lost_count(task) != lost_before;
	return rc;
}

static int add_communicator(const union trace_row *row, const struct reader_place *place,
			    void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_communicators_row *from = &row->communicators;
	struct profile_communicator *communicator;

	if (!loader_check_times(task, from->time_ns, from->time_ns, place))
		return 0;
	communicator = ARRAY_NEXT(all->profile->communicators, all->capacity.communicators,
				  all->profile->communicator_count);
	if (!communicator)
		return -ENOMEM;
	*communicator = (struct profile_communicator){
		.time_ns = from->time_ns,
		.communicator = from->communicator,
		.process = task->owner->process,
		.rank = from->rank,
		.rank_count = from->rank_count,
		.device = id_map_get(&task->owner->devices, from->device),
	};
	all->profile->communicator_count++;
	return 0;
}

enum { PHASE_INSTANT, PHASE_START, PHASE_END };

static int add_marker(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	const struct trace_markers_row *from = &row->markers;
	const char *name = loader_name(loader, from->name);
	const char *domain = from->domain ? loader_name(loader, from->domain) : "";
	struct marker *marker;

	if (!loader_check_times(task, from->time_ns, from->time_ns, place) ||
	    (from->phase != PHASE_START && from->phase != PHASE_END))
		return 0; /* an instant is no range */
	marker = ARRAY_NEXT(loader->markers, loader->marker_capacity, loader->marker_count);
	if (!marker)
		return -ENOMEM;
	if (from->phase == PHASE_START && (!name || !domain))
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is not in names.csv", name ? from->domain : from->name);
	*marker = (struct marker){
		.time_ns = from->time_ns,
		.id = from->id,
		.thread = from->thread,
		.domain = domain ? domain : "unknown domain",
		.name = name ? name : "unknown range",
		.phase = (uint8_t)from->phase,
		.is_thread = from->is_thread != 0,
	};
	loader->marker_count++;
	return 0;
}

static int add_loss(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;

	(void)place;
	return loader_add_loss(task->owner, row->losses.kind, row->losses.count,
			       row->losses.detail);
}

/* Other logs are joined by the clocks; here they tell how long the collector wrote. */
static int add_clock(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	const struct process_loader *loader = task->owner;
	struct profile_process *process = &loader->loader->profile->processes[loader->process];

	(void)place;
	if (row->clocks.realtime_ns > process->heard_ns)
		process->heard_ns = row->clocks.realtime_ns;
	return 0;
}

/* Damage in it is told. */
static const enum trace_table unused[] = {TRACE_TABLE_graph_edges};

static int skip_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	(void)row;
	(void)place;
	(void)context;
	return 0;
}

int loader_read_events(struct loader_task *task)
{
	int rc = loader_read(task, TRACE_TABLE_syncs, add_sync);

	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_event_calls, add_event_call);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_launch_attributes, add_launch);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_loads, add_load);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_managed, add_managed);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_overheads, add_overhead);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_jit, add_jit);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_modules, add_module);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_allocations, add_allocation);
	if (rc == 0)
		rc = read_nccl_calls(task);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_communicators, add_communicator);
	if (rc == 0)
		rc = loader_read_arguments(task);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_markers, add_marker);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_clocks, add_clock);
	for (size_t i = 0; i < sizeof(unused) / sizeof(*unused) && rc == 0; i++)
		rc = loader_read(task, unused[i], skip_row);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_losses, add_loss);
	return rc;
}

/* threads[] of a thread id where 0 says that there is none. */
static int resolve_thread(struct process_loader *loader, uint32_t *thread)
{
	if (*thread == 0) {
		*thread = PROFILE_NONE;
		return 0;
	}
	*thread = loader_thread(loader, *thread);
	return *thread == PROFILE_NONE ? -ENOMEM : 0;
}

int loader_resolve_events(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;
	int rc = 0;

	for (size_t i = loader->first_sync; i < profile->sync_count; i++)
		profile->syncs[i].call = loader_call(loader, profile->syncs[i].call);
	for (size_t i = loader->first_event_call; i < profile->event_call_count; i++)
		profile->event_calls[i].call = loader_call(loader, profile->event_calls[i].call);
	for (size_t i = loader->first_launch; i < profile->launch_count; i++)
		profile->launches[i].call = loader_call(loader, profile->launches[i].call);
	for (size_t i = loader->first_load; i < profile->load_count; i++)
		profile->loads[i].call = loader_call(loader, profile->loads[i].call);
	for (size_t i = loader->first_overhead; i < profile->overhead_count && rc == 0; i++)
		rc = resolve_thread(loader, &profile->overheads[i].thread);
	for (size_t i = loader->first_jit; i < profile->jit_count && rc == 0; i++)
		rc = resolve_thread(loader, &profile->jits[i].thread);
	for (size_t i = loader->first_module; i < profile->module_count && rc == 0; i++)
		rc = resolve_thread(loader, &profile->modules[i].thread);
	for (size_t i = loader->first_nccl_call; i < profile->nccl_call_count && rc == 0; i++)
		rc = resolve_thread(loader, &profile->nccl_calls[i].thread);
	for (size_t i = loader->first_allocation; i < profile->allocation_count; i++)
		profile->allocations[i].call = loader_call(loader, profile->allocations[i].call);
	return rc;
}
