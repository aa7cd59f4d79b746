#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "trace/loader.h"

/*
 * While tables are read, an operation holds ids of its process: the device
 * ordinal in stream, the context in call, the stream id in device; copies hold
 * ordinals too.  loader_resolve_ops turns them into indexes.  Signatures are
 * looked up at once, and are PROFILE_NONE when there is none.
 */

/* The columns that all operations share. */
struct op_columns {
	int64_t start_ns, end_ns;
	uint32_t device, context, stream, correlation, graph;
	uint64_t graph_node;
};

#define OP_COLUMNS(row)                                                                  \
	&(const struct op_columns)                                                       \
	{                                                                                \
		(row).start_ns, (row).end_ns, (row).device, (row).context, (row).stream, \
			(row).correlation, (row).graph, (row).graph_node                 \
	}

static void op_fill(struct loaded_op *loaded, enum profile_op_kind kind,
		    const struct op_columns *columns, uint32_t detail)
{
	*loaded = (struct loaded_op){
		.op = {.start_ns = columns->start_ns,
		       .end_ns = columns->end_ns,
		       .detail = detail,
		       .call = columns->context,
		       .stream = columns->device < UINT16_MAX ? columns->device : UINT16_MAX,
		       .kind = kind},
		.device = columns->stream,
		.ids = {columns->graph_node, columns->graph, columns->correlation},
	};
}

/* An operation without a description is kept: its time is what matters most. */
static void check_ids(struct loader_task *task, const struct op_columns *columns,
		      const struct reader_place *place)
{
	if (id_map_get(&task->owner->devices, columns->device) == PROFILE_NONE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "device %u is not in devices.csv", columns->device);
	else if (id_map_get(&task->owner->contexts, columns->context) == PROFILE_NONE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "context %u is not in contexts.csv", columns->context);
}

static int add_kernel(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct op_columns *columns = OP_COLUMNS(row->kernels);
	uint32_t signature;
	struct loaded_op *op;

	if (!loader_check_times(task, columns->start_ns, columns->end_ns, place))
		return 0;
	op = ARRAY_NEXT(all->ops, all->capacity.ops, all->op_count);
	if (!op)
		return -ENOMEM;
	signature = id_map_get(&task->owner->signatures, row->kernels.signature);
	if (signature == PROFILE_NONE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "signature %u is not in signatures.csv", row->kernels.signature);
	else
		check_ids(task, columns, place);
	op_fill(op, OP_KERNEL, columns, signature);
	all->op_count++;
	return 0;
}

int loader_read_kernels(struct loader_task *task)
{
	return loader_read(task, TRACE_TABLE_kernels, add_kernel);
}

/* ---- copies, memsets, graph launches ---- */

static int add_other_op(struct loader_task *task, enum profile_op_kind kind,
			const struct op_columns *columns, size_t detail,
			const struct reader_place *place)
{
	struct process_loader *loader = task->owner;
	struct loaded_op *op =
		ARRAY_NEXT(loader->other_ops, loader->other_op_capacity, loader->other_op_count);

	if (!op)
		return -ENOMEM;
	check_ids(task, columns, place);
	op_fill(op, kind, columns, (uint32_t)detail);
	loader->other_op_count++;
	return 0;
}

static int add_copy(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_copies_row *from = &row->copies;
	struct profile_copy *copy;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	copy = ARRAY_NEXT(all->profile->copies, all->capacity.copies, all->profile->copy_count);
	if (!copy)
		return -ENOMEM;
	*copy = (struct profile_copy){
		.bytes = from->bytes,
		.kind = from->kind,
		.src_memory = from->src_memory,
		.dst_memory = from->dst_memory,
		.src_device = from->src_device,
		.dst_device = from->dst_device,
		.is_async = from->is_async != 0,
	};
	return add_other_op(task, OP_COPY, OP_COLUMNS(*from), all->profile->copy_count++, place);
}

static int add_memset(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_memsets_row *from = &row->memsets;
	struct profile_memset *set;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	set = ARRAY_NEXT(all->profile->memsets, all->capacity.memsets, all->profile->memset_count);
	if (!set)
		return -ENOMEM;
	*set = (struct profile_memset){from->bytes, from->memory, from->is_async != 0};
	return add_other_op(task, OP_MEMSET, OP_COLUMNS(*from), all->profile->memset_count++,
			    place);
}

static int add_graph(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_graphs_row *from = &row->graphs;
	const struct op_columns columns = {from->start_ns, from->end_ns,
					   from->device,   from->context,
					   from->stream,   from->correlation,
					   from->graph,	   0};
	struct profile_graph_launch *launch;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	launch = ARRAY_NEXT(all->profile->graph_launches, all->capacity.graph_launches,
			    all->profile->graph_launch_count);
	if (!launch)
		return -ENOMEM;
	*launch = (struct profile_graph_launch){from->launch_mode, from->launcher_graph};
	return add_other_op(task, OP_GRAPH, &columns, all->profile->graph_launch_count++, place);
}

int loader_read_other_ops(struct loader_task *task)
{
	int rc = loader_read(task, TRACE_TABLE_copies, add_copy);

	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_memsets, add_memset);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_graphs, add_graph);
	return rc;
}

/* ---- ids to indexes ---- */

static int join_other_ops(struct process_loader *loader)
{
	struct loader *all = loader->loader;
	size_t count = all->op_count + loader->other_op_count;
	struct loaded_op *ops = array_reserve(all->ops, &all->capacity.ops, count, sizeof(*ops));

	if (!loader->other_op_count)
		return 0;
	if (!ops)
		return -ENOMEM;
	all->ops = ops;
	memcpy(ops + all->op_count, loader->other_ops, loader->other_op_count * sizeof(*ops));
	all->op_count = count;
	free(loader->other_ops);
	loader->other_ops = NULL;
	loader->other_op_count = loader->other_op_capacity = 0;
	return 0;
}

static int resolve_copy(struct process_loader *loader, struct profile_copy *copy)
{
	copy->src_device = loader_device(loader, copy->src_device);
	copy->dst_device = loader_device(loader, copy->dst_device);
	return copy->src_device == PROFILE_NONE || copy->dst_device == PROFILE_NONE ? -ENOMEM : 0;
}

/* The indexes of ids that operations have had: most have those of one shortly before. */
#define KNOWN_STREAMS 16

struct known_stream {
	uint32_t ordinal, context, id;
	uint32_t device, stream;
	bool is_known;
};

static int look_up_stream(struct known_stream *out, struct process_loader *loader,
			  const struct loaded_op *loaded)
{
	struct known_stream found = {.ordinal = loaded->op.stream,
				     .context = loaded->op.call,
				     .id = loaded->device,
				     .is_known = true};

	found.device = loader_device(loader, found.ordinal);
	if (found.device == PROFILE_NONE)
		return -ENOMEM;
	found.stream = loader_stream_on(loader, found.context, found.id, found.device);
	*out = found;
	return found.stream >= OP_STREAMS_MOST ? -ENOMEM : 0;
}

static int resolve_stream(struct process_loader *loader, struct loaded_op *loaded,
			  struct known_stream *streams)
{
	struct known_stream *known = &streams[loaded->device % KNOWN_STREAMS];
	int rc = 0;

	if (!known->is_known || known->id != loaded->device || known->context != loaded->op.call ||
	    known->ordinal != loaded->op.stream)
		rc = look_up_stream(known, loader, loaded);
	if (rc < 0)
		return rc;
	loaded->op.stream = known->stream & (OP_STREAMS_MOST - 1);
	loaded->device = known->device;
	loaded->op.call = PROFILE_NONE;
	return 0;
}

static int resolve_op(struct process_loader *loader, struct loaded_op *loaded,
		      struct known_stream *streams)
{
	static const struct trace_signatures_row nothing_known;
	struct profile_op *op = &loaded->op;
	int rc = resolve_stream(loader, loaded, streams);

	if (rc < 0)
		return rc;
	if (op->kind == OP_COPY)
		return resolve_copy(loader, &loader->loader->profile->copies[op->detail]);
	if (op->kind == OP_KERNEL && op->detail == PROFILE_NONE) {
		op->detail = loader_signature(loader->loader, &nothing_known, "unknown kernel");
		return op->detail == PROFILE_NONE ? -ENOMEM : 0;
	}
	return 0;
}

/* Streams that no operation used and whose context no table describes. */
static int settle_streams(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;

	for (size_t i = profile->stream_count; i > 0; i--) {
		struct profile_stream *stream = &profile->streams[i - 1];

		if (stream->process != loader->process)
			break;
		if (stream->device == PROFILE_NONE)
			stream->device = loader_device(loader, 0);
		if (stream->device == PROFILE_NONE)
			return -ENOMEM;
	}
	return 0;
}

int loader_resolve_ops(struct process_loader *loader)
{
	struct loader *all = loader->loader;
	struct known_stream streams[KNOWN_STREAMS] = {{0}};
	int rc = join_other_ops(loader);

	for (size_t i = loader->first_op; i < all->op_count && rc == 0; i++)
		rc = resolve_op(loader, &all->ops[i], streams);
	return rc < 0 ? rc : settle_streams(loader);
}

/* first, end: from those of the process on. */
static int link_ops(void *context, size_t first, size_t end)
{
	const struct process_loader *loader = context;
	struct loaded_op *ops = loader->loader->ops;

	for (size_t i = loader->first_op + first; i < loader->first_op + end; i++)
		ops[i].op.call = loader_call(loader, ops[i].ids.correlation);
	return 0;
}

void loader_link_ops(struct process_loader *loader)
{
	(void)worker_slices(loader->loader->op_count - loader->first_op, LOADER_SLICE_OPS, link_ops,
			    loader);
}
