#include "exchange/import/nsys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import/imports.h"

/* In the year 1973: nsys export --ts-normalize writes times since the epoch, others count from the start of the session. */
#define SINCE_EPOCH_NS 100000000000000000

/* 0 for what is no number: such a row is lost when the recording is read, where the beginning would be a time like any
 * other. */
static int64_t absolute(const struct nsys *nsys, sqlite3_stmt *row, int column)
{
	int type = sqlite3_column_type(row, column);
	int64_t ns;

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return 0;
	ns = sqlite3_column_int64(row, column);
	return ns >= SINCE_EPOCH_NS ? ns : nsys->began_ns + ns;
}

/* ---- calls ---- */

static int add_call(sqlite3_stmt *row, void *context)
{
	enum { START, END, THREAD, CORRELATION, NAME, RESULT };
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, THREAD);
	const struct trace_api_row call = {
		.start_ns = absolute(nsys, row, START),
		.end_ns = absolute(nsys, row, END),
		.thread = (uint32_t)(sqlite3_column_int64(row, THREAD) & 0xffffff),
		.correlation = sqlite_u32(row, CORRELATION),
		.result = sqlite_u32(row, RESULT),
	};

	if (!process)
		return -EIO;
	imported_add_call(process, &call, nsys_string(nsys, sqlite3_column_int64(row, NAME)));
	return 0;
}

static int read_calls(struct nsys *nsys)
{
	static const char *const columns[] = {"start",	"end",	       "globalTid", "correlationId",
					      "nameId", "returnValue", NULL};
	int rc = sqlite_read_table(nsys->file, nsys->path, "CUPTI_ACTIVITY_KIND_RUNTIME", columns,
				   add_call, nsys, nsys->err);

	if (rc == 0) /* of its own before 2019.6 */
		rc = sqlite_read_table(nsys->file, nsys->path, "CUPTI_ACTIVITY_KIND_DRIVER",
				       columns, add_call, nsys, nsys->err);
	return rc;
}

/* ---- kernels ---- */

/* CUPTI numbers the nodes of a graph from its id in the upper half on. */
static uint32_t graph_of(uint64_t node)
{
	return (uint32_t)(node >> 32);
}

/* Theirs has 0 for what is not known. */
static uint32_t launch_type(uint32_t type)
{
	return type > 0 ? type - 1 : 0;
}

enum kernel_column {
	KERNEL_START,
	KERNEL_END,
	KERNEL_DEVICE,
	KERNEL_CONTEXT,
	KERNEL_STREAM,
	KERNEL_CORRELATION,
	KERNEL_PROCESS,
	KERNEL_DEMANGLED,
	KERNEL_MANGLED,
	KERNEL_SHORT,
	KERNEL_LAUNCH_TYPE,
	KERNEL_REGISTERS,
	KERNEL_GRID,
	KERNEL_BLOCK = KERNEL_GRID + 3,
	KERNEL_CLUSTER = KERNEL_BLOCK + 3,
	KERNEL_STATIC_SHARED = KERNEL_CLUSTER + 3,
	KERNEL_DYNAMIC_SHARED,
	KERNEL_LOCAL,
	KERNEL_NODE,
};

static const char *const kernel_columns[] = {"start",
					     "end",
					     "deviceId",
					     "contextId",
					     "streamId",
					     "correlationId",
					     "globalPid",
					     "demangledName",
					     "mangledName",
					     "shortName",
					     "launchType",
					     "registersPerThread",
					     "gridX",
					     "gridY",
					     "gridZ",
					     "blockX",
					     "blockY",
					     "blockZ",
					     "clusterX",
					     "clusterY",
					     "clusterZ",
					     "staticSharedMemory",
					     "dynamicSharedMemory",
					     "localMemoryPerThread",
					     "graphNodeId",
					     NULL};

static struct trace_signatures_row signature_of(sqlite3_stmt *row)
{
	return (struct trace_signatures_row){
		.grid_x = sqlite_u32(row, KERNEL_GRID),
		.grid_y = sqlite_u32(row, KERNEL_GRID + 1),
		.grid_z = sqlite_u32(row, KERNEL_GRID + 2),
		.block_x = sqlite_u32(row, KERNEL_BLOCK),
		.block_y = sqlite_u32(row, KERNEL_BLOCK + 1),
		.block_z = sqlite_u32(row, KERNEL_BLOCK + 2),
		.cluster_x = sqlite_u32(row, KERNEL_CLUSTER),
		.cluster_y = sqlite_u32(row, KERNEL_CLUSTER + 1),
		.cluster_z = sqlite_u32(row, KERNEL_CLUSTER + 2),
		.registers_per_thread = sqlite_u32(row, KERNEL_REGISTERS),
		.static_shared_bytes = sqlite_u32(row, KERNEL_STATIC_SHARED),
		.dynamic_shared_bytes = sqlite_u32(row, KERNEL_DYNAMIC_SHARED),
		.local_bytes_per_thread = sqlite_u32(row, KERNEL_LOCAL),
		.launch_type = launch_type(sqlite_u32(row, KERNEL_LAUNCH_TYPE)),
	};
}

/* The mangled name, as the collector has it; files without one have the demangled one, very old ones neither. */
static const char *kernel_name(struct nsys *nsys, sqlite3_stmt *row)
{
	static const int columns[] = {KERNEL_MANGLED, KERNEL_DEMANGLED, KERNEL_SHORT};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *name = "";

		if (sqlite3_column_type(row, columns[i]) != SQLITE_NULL)
			name = nsys_string(nsys, sqlite3_column_int64(row, columns[i]));
		if (*name)
			return name;
	}
	return "";
}

static int add_kernel(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, KERNEL_PROCESS);
	const struct trace_signatures_row signature = signature_of(row);
	uint64_t node = (uint64_t)sqlite3_column_int64(row, KERNEL_NODE);
	const struct trace_kernels_row kernel = {
		.start_ns = absolute(nsys, row, KERNEL_START),
		.end_ns = absolute(nsys, row, KERNEL_END),
		.device = sqlite_u32(row, KERNEL_DEVICE),
		.context = sqlite_u32(row, KERNEL_CONTEXT),
		.stream = sqlite_u32(row, KERNEL_STREAM),
		.correlation = sqlite_u32(row, KERNEL_CORRELATION),
		.graph = graph_of(node),
		.graph_node = node,
	};

	if (!process)
		return -EIO;
	imported_add_kernel(process, &kernel, &signature, kernel_name(nsys, row));
	return 0;
}

/* ---- whole graphs ---- */

static int add_graph(sqlite3_stmt *row, void *context)
{
	enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PROCESS, GRAPH };
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, PROCESS);
	const union trace_row graph = {.graphs = {
					       .start_ns = absolute(nsys, row, START),
					       .end_ns = absolute(nsys, row, END),
					       .device = sqlite_u32(row, DEVICE),
					       .context = sqlite_u32(row, CONTEXT),
					       .stream = sqlite_u32(row, STREAM),
					       .correlation = sqlite_u32(row, CORRELATION),
					       .graph = sqlite_u32(row, GRAPH),
				       }};

	if (!process)
		return -EIO;
	imported_add_graph(process, &graph.graphs);
	return 0;
}

/* ---- copies and memsets ---- */

enum copy_column {
	COPY_START,
	COPY_END,
	COPY_DEVICE,
	COPY_CONTEXT,
	COPY_STREAM,
	COPY_CORRELATION,
	COPY_PROCESS,
	COPY_BYTES,
	COPY_KIND,
	COPY_SOURCE,
	COPY_TARGET,
	COPY_SOURCE_DEVICE,
	COPY_TARGET_DEVICE,
	COPY_CAUSE,
	COPY_NODE,
	COPY_ADDRESS,
	COPY_COUNT,
};

static const char *const copy_columns[] = {
	"start",	  "end",	 "deviceId",	"contextId",	  "streamId",
	"correlationId",  "globalPid",	 "bytes",	"copyKind",	  "srcKind",
	"dstKind",	  "srcDeviceId", "dstDeviceId", "migrationCause", "graphNodeId",
	"virtualAddress", "copyCount",	 NULL};

/* Kinds from here on are no copies of the program: the driver moved pages of managed memory. */
#define FIRST_MIGRATION_KIND 11

static uint32_t memory_kind(const struct nsys *nsys, sqlite3_stmt *row, int column)
{
	const size_t count = sizeof(nsys->memory_kinds) / sizeof(nsys->memory_kinds[0]);
	uint32_t kind = sqlite_u32(row, column);

	return sqlite3_column_type(row, column) != SQLITE_NULL && kind < count
		       ? nsys->memory_kinds[kind]
		       : 0;
}

static void add_migration(struct nsys *nsys, struct imported_process *process, sqlite3_stmt *row)
{
	enum { TO_DEVICE = 11, TO_HOST = 12, HOST = -1 };
	int kind = sqlite3_column_int(row, COPY_KIND);
	uint32_t device = sqlite_u32(row, COPY_DEVICE);
	const union trace_row moved = {
		.managed = {
			.start_ns = absolute(nsys, row, COPY_START),
			.end_ns = absolute(nsys, row, COPY_END),
			.kind = kind == TO_DEVICE ? 1
				: kind == TO_HOST ? 2
						  : 8,
			.value = (uint64_t)sqlite3_column_int64(row, COPY_BYTES),
			.address = (uint64_t)sqlite3_column_int64(row, COPY_ADDRESS),
			.source = kind == TO_DEVICE ? (uint32_t)HOST : device,
			.destination = kind == TO_HOST ? (uint32_t)HOST : device,
			.cause = sqlite_u32(row, COPY_CAUSE),
		}};

	process_writer_add(imported_writer(process), TRACE_TABLE_managed, &moved);
}

static uint32_t peer(sqlite3_stmt *row, int column)
{
	return sqlite_u32(row,
			  sqlite3_column_type(row, column) == SQLITE_NULL ? COPY_DEVICE : column);
}

static int add_copy(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, COPY_PROCESS);
	uint64_t node = (uint64_t)sqlite3_column_int64(row, COPY_NODE);
	const struct trace_copies_row copy = {
		.start_ns = absolute(nsys, row, COPY_START),
		.end_ns = absolute(nsys, row, COPY_END),
		.kind = sqlite_u32(row, COPY_KIND),
		.src_memory = memory_kind(nsys, row, COPY_SOURCE),
		.dst_memory = memory_kind(nsys, row, COPY_TARGET),
		.bytes = (uint64_t)sqlite3_column_int64(row, COPY_BYTES),
		.device = sqlite_u32(row, COPY_DEVICE),
		.context = sqlite_u32(row, COPY_CONTEXT),
		.stream = sqlite_u32(row, COPY_STREAM),
		.correlation = sqlite_u32(row, COPY_CORRELATION),
		.graph = graph_of(node),
		.graph_node = node,
		.src_device = peer(row, COPY_SOURCE_DEVICE),
		.dst_device = peer(row, COPY_TARGET_DEVICE),
		.copy_count = sqlite_u32(row, COPY_COUNT) ? sqlite_u32(row, COPY_COUNT) : 1,
	};

	if (!process)
		return -EIO;
	if (copy.kind >= FIRST_MIGRATION_KIND)
		add_migration(nsys, process, row);
	else
		imported_add_copy(process, &copy);
	return 0;
}

static int add_memset(sqlite3_stmt *row, void *context)
{
	enum {
		START,
		END,
		DEVICE,
		CONTEXT,
		STREAM,
		CORRELATION,
		PROCESS,
		BYTES,
		VALUE,
		KIND,
		NODE
	};
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, PROCESS);
	uint64_t node = (uint64_t)sqlite3_column_int64(row, NODE);
	const struct trace_memsets_row set = {
		.start_ns = absolute(nsys, row, START),
		.end_ns = absolute(nsys, row, END),
		.bytes = (uint64_t)sqlite3_column_int64(row, BYTES),
		.value = sqlite_u32(row, VALUE),
		.memory = memory_kind(nsys, row, KIND),
		.device = sqlite_u32(row, DEVICE),
		.context = sqlite_u32(row, CONTEXT),
		.stream = sqlite_u32(row, STREAM),
		.correlation = sqlite_u32(row, CORRELATION),
		.graph = graph_of(node),
		.graph_node = node,
	};

	if (!process)
		return -EIO;
	imported_add_memset(process, &set);
	return 0;
}

/* ---- waits and events ---- */

enum sync_column {
	SYNC_START,
	SYNC_END,
	SYNC_CONTEXT,
	SYNC_STREAM,
	SYNC_CORRELATION,
	SYNC_PROCESS,
	SYNC_KIND,
	SYNC_EVENT,
};

static const char *const sync_columns[] = {"start",    "end",		"contextId",
					   "streamId", "correlationId", "globalPid",
					   "syncType", "eventId",	NULL};

/* Of event_calls: by CUpti_ActivitySynchronizationType. */
static uint32_t event_call_kind(uint32_t sync_kind)
{
	static const uint32_t kinds[] = {[1] = 2, [2] = 3, [3] = 4};

	return sync_kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[sync_kind] : 0;
}

static void add_event_call(struct imported_process *process, uint32_t kind, sqlite3_stmt *row,
			   const int *columns)
{
	sqlite3_int64 event = sqlite3_column_int64(row, columns[3]);
	const union trace_row call = {.event_calls = {
					      .correlation = sqlite_u32(row, columns[0]),
					      .kind = kind,
					      .context = sqlite_u32(row, columns[1]),
					      .stream = sqlite_u32(row, columns[2]),
					      .event = event == UINT32_MAX ? 0 : (uint64_t)event,
				      }};

	if (kind)
		process_writer_add(imported_writer(process), TRACE_TABLE_event_calls, &call);
}

static uint32_t sync_kind(const struct nsys *nsys, sqlite3_stmt *row)
{
	const size_t count = sizeof(nsys->sync_kinds) / sizeof(nsys->sync_kinds[0]);
	uint32_t kind = sqlite_u32(row, SYNC_KIND);

	return kind < count ? nsys->sync_kinds[kind] : 0;
}

static int add_sync(sqlite3_stmt *row, void *context)
{
	static const int event_columns[] = {SYNC_CORRELATION, SYNC_CONTEXT, SYNC_STREAM,
					    SYNC_EVENT};
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, SYNC_PROCESS);
	const union trace_row sync = {.syncs = {
					      .start_ns = absolute(nsys, row, SYNC_START),
					      .end_ns = absolute(nsys, row, SYNC_END),
					      .kind = sync_kind(nsys, row),
					      .context = sqlite_u32(row, SYNC_CONTEXT),
					      .stream = sqlite_u32(row, SYNC_STREAM),
					      .event = sqlite_u32(row, SYNC_EVENT),
					      .correlation = sqlite_u32(row, SYNC_CORRELATION),
				      }};

	if (!process)
		return -EIO;
	process_writer_add(imported_writer(process), TRACE_TABLE_syncs, &sync);
	imported_saw(process, sync.syncs.end_ns);
	if (nsys->has_events) /* else what a wait is for is not known */
		add_event_call(process, event_call_kind(sync.syncs.kind), row, event_columns);
	return 0;
}

static int add_event_record(sqlite3_stmt *row, void *context)
{
	static const int columns[] = {0, 1, 2, 3};
	enum { PROCESS = 4, RECORDED = 1 };
	struct imported_process *process = nsys_process(context, row, PROCESS);

	if (!process)
		return -EIO;
	add_event_call(process, RECORDED, row, columns);
	return 0;
}

/* ---- memory, overheads, ranges ---- */

static int add_allocation(sqlite3_stmt *row, void *context)
{
	enum {
		TIME,
		PROCESS,
		DEVICE,
		CONTEXT,
		ADDRESS,
		BYTES,
		KIND,
		OPERATION,
		CORRELATION,
		STREAM,
		POOL
	};
	struct nsys *nsys = context;
	struct imported_process *process = nsys_process(nsys, row, PROCESS);
	const union trace_row allocation = {
		.allocations = {
			.time_ns = absolute(nsys, row, TIME),
			.operation = sqlite_u32(row, OPERATION) + 1,
			.memory = memory_kind(nsys, row, KIND),
			.address = (uint64_t)sqlite3_column_int64(row, ADDRESS),
			.bytes = (uint64_t)sqlite3_column_int64(row, BYTES),
			.is_async = sqlite3_column_int64(row, POOL) != 0,
			.pool = (uint64_t)sqlite3_column_int64(row, POOL),
			.device = sqlite_u32(row, DEVICE),
			.context = sqlite_u32(row, CONTEXT),
			.stream = sqlite_u32(row, STREAM),
			.correlation = sqlite_u32(row, CORRELATION),
		}};

	if (!process)
		return -EIO;
	process_writer_add(imported_writer(process), TRACE_TABLE_allocations, &allocation);
	return 0;
}

/* Of what Nsight Systems calls overhead, loading and compiling code would have been done without it too. */
static bool is_profilers(const char *name)
{
	return !strstr(name, "oading") && !strstr(name, "ompil");
}

static int add_overhead(sqlite3_stmt *row, void *context)
{
	enum { START, END, THREAD, NAME, CORRELATION };
	struct nsys *nsys = context;
	struct imported_process *process = nsys_known_process(nsys, row, THREAD);
	const char *name = nsys_string(nsys, sqlite3_column_int64(row, NAME));
	const union trace_row overhead = {
		.overheads = {
			.start_ns = absolute(nsys, row, START),
			.end_ns = absolute(nsys, row, END),
			.name = process ? process_writer_name(imported_writer(process), name) : 0,
			.is_profiler = is_profilers(name),
			.thread = (uint32_t)(sqlite3_column_int64(row, THREAD) & 0xffffff),
			.correlation = sqlite_u32(row, CORRELATION),
		}};

	if (process)
		process_writer_add(imported_writer(process), TRACE_TABLE_overheads, &overhead);
	return 0;
}

/* NVTX_EVENTS.eventType, of what has a beginning; others name domains and categories, or are counters. */
enum { NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_PUSH_POP_TORCH = 70, NVTX_START_END_TORCH };

static int add_range(sqlite3_stmt *row, void *context)
{
	enum { START, END, TYPE, TEXT, TEXT_ID, THREAD };
	struct nsys *nsys = context;
	int type = sqlite3_column_int(row, TYPE);
	bool is_open = sqlite3_column_type(row, END) == SQLITE_NULL;
	const char *text = sqlite_text(row, TEXT);
	struct imported_range range = {
		.start_ns = absolute(nsys, row, START),
		.end_ns = is_open ? 0 : absolute(nsys, row, END),
		.name = *text ? text : nsys_string(nsys, sqlite3_column_int64(row, TEXT_ID)),
		.thread = (uint32_t)(sqlite3_column_int64(row, THREAD) & 0xffffff),
		.is_push_pop = type == NVTX_PUSH_POP || type == NVTX_PUSH_POP_TORCH,
	};
	struct imported_process *process;

	if (!range.is_push_pop && type != NVTX_START_END && type != NVTX_START_END_TORCH)
		return 0;
	process = nsys_process(nsys, row, THREAD);
	if (!process)
		return -EIO;
	imported_add_range(process, &range);
	return 0;
}

/* ---- all tables ---- */

struct table {
	const char *name;
	sqlite_row each;
	const char *const *columns;
};

#define LIST(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* After the calls. */
static const struct table tables[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL", add_kernel, kernel_columns},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", add_graph,
	 LIST("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
	      "graphExecId")},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", add_copy, copy_columns},
	{"CUPTI_ACTIVITY_KIND_MEMSET", add_memset,
	 LIST("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
	      "bytes", "value", "memKind", "graphNodeId")},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", add_sync, sync_columns},
	{"CUPTI_ACTIVITY_KIND_CUDA_EVENT", add_event_record,
	 LIST("correlationId", "contextId", "streamId", "eventId", "globalPid")},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", add_allocation,
	 LIST("start", "globalPid", "deviceId", "contextId", "address", "bytes", "memKind",
	      "memoryOperationType", "correlationId", "streamId", "localMemoryPoolAddress")},
	{"PROFILER_OVERHEAD", add_overhead,
	 LIST("start", "end", "globalTid", "nameId", "correlationId")},
	{"NVTX_EVENTS", add_range,
	 LIST("start", "end", "eventType", "text", "textId", "globalTid")},
};

#define TABLES_MOST 1000

/* Lists, enumerations and descriptions, which are no records. */
static bool is_record_table(const char *name)
{
	static const char *const others[] = {"StringIds",   "ENUM_",	   "META_",
					     "EXPORT_META", "TARGET_INFO", "sqlite_",
					     "ANALYSIS_",   "DIAGNOSTIC",  "PROCESSES",
					     "ThreadNames", "RPC_",	   "ProcessStreams"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(name, others[i], strlen(others[i])))
			return false;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(name, tables[i].name))
			return false;
	return strcmp(name, "CUPTI_ACTIVITY_KIND_RUNTIME") != 0 &&
	       strcmp(name, "CUPTI_ACTIVITY_KIND_DRIVER") != 0;
}

static int note_table(sqlite3_stmt *row, void *context)
{
	char *text = context;
	size_t used = strlen(text);
	const char *name = sqlite_text(row, 0);

	if (!is_record_table(name))
		return 0;
	if (used < 400)
		snprintf(text + used, 512 - used, "%s %.60s", text[used - 1] == ':' ? "" : ",",
			 name);
	return 0;
}

/* "tables that are not read: OSRT_API, GPU_METRICS" */
static int note_tables(struct nsys *nsys)
{
	static const char beginning[] = "tables that are not read:";
	char text[512];
	int rc;

	snprintf(text, sizeof(text), "%s", beginning);
	rc = sqlite_list_tables(nsys->file, nsys->path, TABLES_MOST, note_table, text, nsys->err);
	if (rc == 0 && strcmp(text, beginning) != 0)
		imported_note(nsys->imported, text);
	return rc;
}

static int read_tables(struct nsys *nsys)
{
	int rc = nsys_read_facts(nsys);

	if (rc == 0)
		rc = nsys_read_contexts(nsys);
	if (rc == 0)
		rc = read_calls(nsys);
	for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		rc = sqlite_read_table(nsys->file, nsys->path, tables[i].name, tables[i].columns,
				       tables[i].each, nsys, nsys->err);
	if (rc == 0)
		rc = nsys_read_target(nsys);
	return rc < 0 ? rc : note_tables(nsys);
}

int import_nsys(struct imported *imported, const char *path, struct err *err)
{
	struct nsys nsys = {.imported = imported, .path = path, .err = err};
	int rc = sqlite_file_open(&nsys.file, path, err), failure;

	if (rc == 0)
		rc = read_tables(&nsys);
	failure = rc < 0 ? imported_failure(imported, err) : 0; /* what a row's -EIO stands for */
	nsys_free_strings(&nsys);
	rc = sqlite_file_close(nsys.file, rc, path, err);
	return failure < 0 ? failure : rc;
}
