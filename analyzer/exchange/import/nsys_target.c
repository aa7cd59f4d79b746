#include "exchange/import/nsys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"

/* Where the file does not tell when the recording began: times have to be positive. */
#define UNKNOWN_BEGINNING_NS 1000000000

/* What no file of Nsight Systems has, for people. */
#define LACKS                                                                                          \
	"arguments of kernels, machine code, modules, launch attributes, hardware counters of single " \
	"kernels, and what recording itself cost"

/* ---- processes and strings ---- */

/* Serialized ids: 8 bits of the hardware, 8 of the virtual machine, 24 of the process, 24 of the thread. */
static uint64_t pid_of(struct nsys *nsys, sqlite3_stmt *row, int column)
{
	uint64_t pid = (uint64_t)sqlite3_column_int64(row, column) >> 24 & 0xffffff;

	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return nsys->only_pid;
	if (!nsys->only_pid)
		nsys->only_pid = pid;
	return pid;
}

struct imported_process *nsys_known_process(struct nsys *nsys, sqlite3_stmt *row, int column)
{
	return imported_find(nsys->imported, pid_of(nsys, row, column));
}

static struct imported_process *process_of(struct nsys *nsys, uint64_t pid)
{
	struct imported_process *process = imported_find(nsys->imported, pid);

	if (process)
		return process;
	process = imported_process(nsys->imported, pid, nsys->source, LACKS);
	if (!process)
		return NULL;
	imported_set_host(process, nsys->host);
	process_writer_fact(imported_writer(process), "driver_name", nsys->driver);
	if (nsys->cuda_version)
		process_writer_number(imported_writer(process), "driver", nsys->cuda_version);
	process_writer_fact(imported_writer(process), "graphs",
			    sqlite_has_table(nsys->file, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
				    ? "graph"
				    : "node");
	return process;
}

struct imported_process *nsys_process(struct nsys *nsys, sqlite3_stmt *row, int column)
{
	return process_of(nsys, pid_of(nsys, row, column));
}

/* All at once: files without a key for the id would be searched again for each row. */
static int add_string(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;
	sqlite3_int64 id = sqlite3_column_int64(row, 0);
	uint32_t number;
	char **place;

	if (groups_find(&nsys->string_ids, &id, sizeof(id), &number) < 0)
		return err_set(nsys->err, -ENOMEM, "%s: out of memory", nsys->path);
	if (number < nsys->string_count)
		return 0;
	place = ARRAY_NEXT(nsys->strings, nsys->string_capacity, nsys->string_count);
	if (!place || !(*place = strdup(sqlite_text(row, 1))))
		return err_set(nsys->err, -ENOMEM, "%s: out of memory", nsys->path);
	nsys->string_count++;
	return 0;
}

const char *nsys_string(struct nsys *nsys, sqlite3_int64 id)
{
	uint32_t number = groups_look(&nsys->string_ids, &id, sizeof(id));

	if (number == UINT32_MAX)
		return "";
	sqlite_file_count_text(nsys->file, strlen(nsys->strings[number]));
	return nsys->strings[number];
}

void nsys_free_strings(struct nsys *nsys)
{
	for (size_t i = 0; i < nsys->string_count; i++)
		free(nsys->strings[i]);
	free(nsys->strings);
	groups_free(&nsys->string_ids);
}

/* ---- what the numbers mean ---- */

/* The numbers of their lists have changed; their labels tell, as "Device Static". */
static uint32_t memory_kind_named(const char *label)
{
	static const char *const labels[] = {[1] = "Pageable", "Pinned",  "Device",
					     "Array",	       "Managed", "Device Static",
					     "Managed Static"};

	for (uint32_t i = 1; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (!strcmp(label, labels[i]))
			return i;
	return 0;
}

static int learn_memory_kind(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;
	uint32_t id = sqlite_u32(row, 0);

	if (id < sizeof(nsys->memory_kinds) / sizeof(nsys->memory_kinds[0]))
		nsys->memory_kinds[id] = memory_kind_named(sqlite_text(row, 1));
	return 0;
}

/* "CUPTI_..._EVENT_SYNCHRONIZE" and "Event synchronize" alike: by how the words begin. */
static uint32_t sync_kind_named(const char *label)
{
	static const char *const words[] = {[1] = "Event s", "Stream wait", "Stream s", "Context"};

	for (uint32_t i = 1; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncasecmp(label, words[i], strlen(words[i])))
			return i;
	return 0;
}

static int learn_sync_kind(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;
	uint32_t id = sqlite_u32(row, 0);

	if (id < sizeof(nsys->sync_kinds) / sizeof(nsys->sync_kinds[0]))
		nsys->sync_kinds[id] = sync_kind_named(sqlite_text(row, 1));
	return 0;
}

static int read_kinds(struct nsys *nsys)
{
	static const char *const columns[] = {"id", "label", NULL};
	int rc;

	if (!sqlite_has_table(nsys->file, "ENUM_CUDA_MEM_KIND"))
		for (uint32_t i = 0; i < 7; i++) /* as documented before there was the list */
			nsys->memory_kinds[i] = i + 1;
	rc = sqlite_read_table(nsys->file, nsys->path, "ENUM_CUDA_MEM_KIND", columns,
			       learn_memory_kind, nsys, nsys->err);
	return rc < 0 ? rc
		      : sqlite_read_table(nsys->file, nsys->path, "ENUM_CUPTI_SYNC_TYPE", columns,
					  learn_sync_kind, nsys, nsys->err);
}

/* ---- the recording itself ---- */

static int learn_beginning(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;

	if (sqlite3_column_int64(row, 0) > 0)
		nsys->began_ns = sqlite3_column_int64(row, 0);
	return 0;
}

static int learn_version(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;

	if (!strcmp(sqlite_text(row, 0), "EXPORT_PRODUCT_VERSION"))
		snprintf(nsys->source, sizeof(nsys->source), "Nsight Systems %.100s",
			 sqlite_text(row, 1));
	return 0;
}

/* "580.95.05", and in older versions 52510517: 525.105.17. */
static void learn_driver(struct nsys *nsys, const char *version)
{
	unsigned long number = strtoul(version, NULL, 10);

	if (strchr(version, '.'))
		snprintf(nsys->driver, sizeof(nsys->driver), "%s", version);
	else if (number)
		snprintf(nsys->driver, sizeof(nsys->driver), "%lu.%lu.%02lu", number / 100000,
			 number / 100 % 1000, number % 100);
}

static int learn_environment(sqlite3_stmt *row, void *context)
{
	struct nsys *nsys = context;

	if (!strcmp(sqlite_text(row, 0), "Hostname"))
		snprintf(nsys->host, sizeof(nsys->host), "%s", sqlite_text(row, 1));
	if (!strcmp(sqlite_text(row, 0), "CudaDriverVersion"))
		nsys->cuda_version = (unsigned)sqlite3_column_int(row, 1);
	if (!strcmp(sqlite_text(row, 0), "NvDriverVersion"))
		learn_driver(nsys, sqlite_text(row, 1));
	return 0;
}

static int refuse(const struct nsys *nsys)
{
	if (sqlite_is_damaged(nsys->file))
		return err_set(nsys->err, -EINVAL, "%s: damaged or cut off; export it again",
			       nsys->path);
	if (sqlite_has_table(nsys->file, "signatures") && sqlite_has_table(nsys->file, "losses"))
		return err_set(nsys->err, -EINVAL,
			       "%s: rooflinectl export wrote this; read the recording itself",
			       nsys->path);
	if (sqlite_has_table_like(nsys->file, "rocpd\\_metadata%"))
		return err_set(nsys->err, -EINVAL,
			       "%s: databases of rocprofv3 are not read; run rocpd convert "
			       "--output-format csv -i %s and import what that writes",
			       nsys->path, shell_path_text(nsys->path).text);
	return err_set(nsys->err, -EINVAL,
		       "%s: an SQLite file, but not of Nsight Systems; make one with: nsys export "
		       "--type sqlite",
		       nsys->path);
}

int nsys_read_facts(struct nsys *nsys)
{
	const struct {
		const char *table, *columns[3];
		sqlite_row each;
	} facts[] = {
		{"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, learn_beginning},
		{"META_DATA_EXPORT", {"name", "value"}, learn_version},
		{"EXPORT_META_DATA", {"name", "value"}, learn_version}, /* its name before 2023 */
		{"StringIds", {"id", "value"}, add_string},
		{"TARGET_INFO_SYSTEM_ENV", {"name", "value"}, learn_environment},
	};
	int rc = 0;

	if (!sqlite_has_table(nsys->file, "StringIds"))
		return refuse(nsys);
	nsys->began_ns = UNKNOWN_BEGINNING_NS;
	snprintf(nsys->source, sizeof(nsys->source), "Nsight Systems");
	nsys->has_events =
		sqlite_has_column(nsys->file, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "eventId");
	for (size_t i = 0; rc == 0 && i < sizeof(facts) / sizeof(facts[0]); i++)
		rc = sqlite_read_table(nsys->file, nsys->path, facts[i].table, facts[i].columns,
				       facts[i].each, nsys, nsys->err);
	return rc < 0 ? rc : read_kinds(nsys);
}

/* ---- what went wrong ---- */

/* Warnings and errors about what a recording is made of. */
static int take_diagnostic(sqlite3_stmt *row, void *context)
{
	enum { WARNING = 2 };
	static const char *const words[] = {"CUDA", "CUPTI", "GPU", "event", "NVTX"};
	struct nsys *nsys = context;
	const char *text = sqlite_text(row, 1);

	if (sqlite3_column_int(row, 0) < WARNING)
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i])) {
			imported_diagnose(nsys->imported, text);
			break;
		}
	return 0;
}

/* ---- contexts and streams ---- */

static int add_context(sqlite3_stmt *row, void *context)
{
	enum { NULL_STREAM, PROCESS, DEVICE, CONTEXT, PARENT, IS_GREEN };
	struct imported_process *process =
		process_of(context, (uint64_t)sqlite3_column_int64(row, PROCESS));
	const struct trace_contexts_row added = {
		.context = sqlite_u32(row, CONTEXT),
		.device = sqlite_u32(row, DEVICE),
		.null_stream = sqlite_u32(row, NULL_STREAM),
		.is_green = sqlite_u32(row, IS_GREEN),
		.parent_context = sqlite_u32(row, PARENT),
	};

	if (!process)
		return -EIO;
	imported_add_context(process, &added);
	return 0;
}

static int add_stream(sqlite3_stmt *row, void *context)
{
	enum { STREAM, PROCESS, CONTEXT, PRIORITY, FLAG };
	struct imported_process *process =
		process_of(context, (uint64_t)sqlite3_column_int64(row, PROCESS));
	const struct trace_streams_row added = {
		.context = sqlite_u32(row, CONTEXT),
		.stream = sqlite_u32(row, STREAM),
		.priority = (uint32_t)sqlite3_column_int64(row, PRIORITY),
		.flag = sqlite_u32(row, FLAG),
	};

	if (!process)
		return -EIO;
	imported_add_stream(process, &added);
	return 0;
}

int nsys_read_contexts(struct nsys *nsys)
{
	static const char *const contexts[] = {
		"nullStreamId",	   "processId",	     "deviceId", "contextId",
		"parentContextId", "isGreenContext", NULL};
	/* its name and columns before 2023 */
	static const char *const null_streams[] = {"streamId", "processId", "deviceId", "contextId",
						   "",	       "",	    NULL};
	static const char *const streams[] = {"streamId", "processId", "contextId",
					      "priority", "flag",      NULL};
	int rc = sqlite_read_table(nsys->file, nsys->path, "TARGET_INFO_CUDA_CONTEXT_INFO",
				   contexts, add_context, nsys, nsys->err);

	if (rc == 0)
		rc = sqlite_read_table(nsys->file, nsys->path, "TARGET_INFO_CUDA_NULL_STREAM",
				       null_streams, add_context, nsys, nsys->err);
	if (rc == 0)
		rc = sqlite_read_table(nsys->file, nsys->path, "TARGET_INFO_CUDA_STREAM", streams,
				       add_stream, nsys, nsys->err);
	return rc;
}

/* ---- GPUs ---- */

struct gpu {
	sqlite3_int64 id;
	bool has_ordinal;
	struct trace_devices_row row; /* its name and uuid point here */
	char name[128], uuid[64];
};

struct ordinal {
	uint64_t pid; /* 0: of all */
	uint32_t device;
	const struct gpu *gpu;
};

/* The most GPUs of one file; no machine has as many. */
#define GPU_LIMIT 1024
#define ORDINAL_LIMIT 65536

struct gpus {
	const struct nsys *nsys;
	struct gpu *items;
	size_t capacity, count;
	struct ordinal *ordinals;
	size_t ordinal_capacity, ordinal_count;
};

/* As nvidia-smi prints it. */
static void name_uuid(char *buffer, size_t size, const char *uuid)
{
	bool is_whole = !*uuid || !strncmp(uuid, "GPU-", 4) || !strncmp(uuid, "MIG-", 4);

	snprintf(buffer, size, "%s%s", is_whole ? "" : "GPU-", uuid);
}

static const char *const gpu_columns[] = {"id",
					  "cuDevice",
					  "name",
					  "uuid",
					  "computeMajor",
					  "computeMinor",
					  "smCount",
					  "clockRate",
					  "totalMemory",
					  "memoryBandwidth",
					  "l2CacheSize",
					  "asyncEngines",
					  "maxWarpsPerSm",
					  "maxBlocksPerSm",
					  "maxRegistersPerSm",
					  "maxShmemPerSm",
					  NULL};

static int add_gpu(sqlite3_stmt *row, void *context)
{
	enum {
		ID,
		ORDINAL,
		NAME,
		UUID,
		MAJOR,
		MINOR,
		SMS,
		CLOCK,
		MEMORY,
		BANDWIDTH,
		L2,
		ENGINES,
		WARPS,
		BLOCKS,
		REGISTERS,
		SHARED
	};
	struct gpus *gpus = context;
	struct gpu *gpu = ARRAY_NEXT(gpus->items, gpus->capacity, gpus->count);

	if (!gpu)
		return -ENOMEM;
	if (gpus->count == GPU_LIMIT)
		return err_set(gpus->nsys->err, -EFBIG,
			       "%s: has more than %d GPUs, as no export does; export it again",
			       gpus->nsys->path, GPU_LIMIT);
	*gpu = (struct gpu){
		.id = sqlite3_column_int64(row, ID),
		.has_ordinal = sqlite3_column_type(row, ORDINAL) != SQLITE_NULL,
		.row =
			{
				.device = sqlite_u32(row, ORDINAL),
				.compute_major = sqlite_u32(row, MAJOR),
				.compute_minor = sqlite_u32(row, MINOR),
				.sm_count = sqlite_u32(row, SMS),
				.sm_clock_khz = (uint32_t)(sqlite3_column_int64(row, CLOCK) / 1000),
				.memory_bytes = (uint64_t)sqlite3_column_int64(row, MEMORY),
				.memory_byte_per_s = (uint64_t)sqlite3_column_int64(row, BANDWIDTH),
				.l2_bytes = (uint64_t)sqlite3_column_int64(row, L2),
				.copy_engine_count = sqlite_u32(row, ENGINES),
				.max_warps_per_sm = sqlite_u32(row, WARPS),
				.max_blocks_per_sm = sqlite_u32(row, BLOCKS),
				.max_registers_per_sm = sqlite_u32(row, REGISTERS),
				.max_shared_bytes_per_sm = sqlite_u32(row, SHARED),
			},
	};
	snprintf(gpu->name, sizeof(gpu->name), "%s", sqlite_text(row, NAME));
	name_uuid(gpu->uuid, sizeof(gpu->uuid), sqlite_text(row, UUID));
	gpus->count++;
	return 0;
}

static int add_ordinal(sqlite3_stmt *row, void *context)
{
	struct gpus *gpus = context;
	const struct gpu *gpu = gpus->items, *end = gpus->items + gpus->count;
	struct ordinal *ordinal;

	while (gpu < end && gpu->id != sqlite3_column_int64(row, 0))
		gpu++;
	if (gpu == end)
		return 0;
	if (gpus->ordinal_count == ORDINAL_LIMIT)
		return err_set(gpus->nsys->err, -EFBIG,
			       "%s: numbers GPUs more than %d times, as no export does; export it "
			       "again",
			       gpus->nsys->path, ORDINAL_LIMIT);
	ordinal = ARRAY_NEXT(gpus->ordinals, gpus->ordinal_capacity, gpus->ordinal_count);
	if (!ordinal)
		return -ENOMEM;
	*ordinal =
		(struct ordinal){(uint64_t)sqlite3_column_int64(row, 2), sqlite_u32(row, 1), gpu};
	gpus->ordinal_count++;
	return 0;
}

static void add_device(struct imported_process *process, const struct gpu *gpu, uint32_t device)
{
	struct trace_devices_row row = gpu->row;

	row.device = device;
	row.name = gpu->name;
	row.uuid = gpu->uuid;
	imported_add_device(process, &row);
}

/* By the ordinals of the process where the file has them: CUDA_VISIBLE_DEVICES changes what is GPU 0. */
static void add_devices(struct imported_process *process, uint64_t pid, void *context)
{
	const struct gpus *gpus = context;
	size_t found = 0;

	for (size_t i = 0; i < gpus->ordinal_count && found < GPU_LIMIT; i++) {
		const struct ordinal *ordinal = &gpus->ordinals[i];

		if (ordinal->pid && ordinal->pid != pid)
			continue;
		add_device(process, ordinal->gpu, ordinal->device);
		found++;
	}
	for (size_t i = 0; !found && i < gpus->count; i++)
		add_device(process, &gpus->items[i],
			   gpus->items[i].has_ordinal ? gpus->items[i].row.device : (uint32_t)i);
}

static int read_gpus(struct nsys *nsys)
{
	static const char *const ordinal_columns[] = {"gpuId", "cudaId", "pid", NULL};
	struct gpus gpus = {.nsys = nsys};
	int rc = sqlite_read_table(nsys->file, nsys->path, "TARGET_INFO_GPU", gpu_columns, add_gpu,
				   &gpus, nsys->err);

	if (rc == 0)
		rc = sqlite_read_table(nsys->file, nsys->path, "TARGET_INFO_CUDA_DEVICE",
				       ordinal_columns, add_ordinal, &gpus, nsys->err);
	if (rc == 0)
		imported_each(nsys->imported, add_devices, &gpus);
	free(gpus.items);
	free(gpus.ordinals);
	return rc;
}

/* ---- names ---- */

static int add_command(sqlite3_stmt *row, void *context)
{
	struct imported_process *process = nsys_known_process(context, row, 0);

	if (process)
		imported_set_program(process, sqlite_text(row, 1));
	return 0;
}

static int add_thread(sqlite3_stmt *row, void *context)
{
	struct imported_process *process = nsys_known_process(context, row, 0);
	union trace_row thread = {
		.threads = {(uint32_t)(sqlite3_column_int64(row, 0) & 0xffffff), 0}};

	if (!process)
		return 0;
	thread.threads.name =
		process_writer_name(imported_writer(process),
				    nsys_string(context, sqlite3_column_int64(row, 1)));
	process_writer_add(imported_writer(process), TRACE_TABLE_threads, &thread);
	return 0;
}

int nsys_read_target(struct nsys *nsys)
{
	static const char *const processes[] = {"globalPid", "name", NULL};
	static const char *const threads[] = {"globalTid", "nameId", NULL};
	static const char *const diagnostics[] = {"severity", "text", NULL};
	int rc = read_gpus(nsys);

	if (rc == 0)
		rc = sqlite_read_table(nsys->file, nsys->path, "PROCESSES", processes, add_command,
				       nsys, nsys->err);
	if (rc == 0)
		rc = sqlite_read_table(nsys->file, nsys->path, "DIAGNOSTIC_EVENT", diagnostics,
				       take_diagnostic, nsys, nsys->err);
	if (rc == 0)
		rc = sqlite_read_table(nsys->file, nsys->path, "ThreadNames", threads, add_thread,
				       nsys, nsys->err);
	return rc;
}
