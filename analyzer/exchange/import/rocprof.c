/* rocprof.c - what rocprofv3 --output-format csv writes of a program on AMD's GPUs: a file for each kind of record. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import/csv_rows.h"
#include "exchange/import/imported.h"
#include "exchange/import/imports.h"

#define SOURCE "rocprofv3"
#define LACKS                                                                                  \
	"bytes and kinds of memory of copies, which kernels are memsets, graphs, waits and "   \
	"events, how many blocks a compute unit holds, results of calls, times since an "      \
	"epoch, the program and the host, hardware counters, and what recording itself cost; " \
	"advice is for CUDA"

struct rocprof {
	struct imported *imported;
	struct imported_process *process;
	void (*take)(struct rocprof *rocprof, const struct csv_row *row); /* NULL before a row */
	uint64_t unused_count, timeless_count; /* timeless: whose times are no numbers */
	const char *path;
	struct err *err;
};

/* ---- fields ---- */

/* "Agent 2", and in older versions "2". */
static uint32_t agent_of(const struct csv_row *row, const char *name)
{
	const char *text = csv_row_find(row, name);

	return text ? (uint32_t)strtoul(text + strcspn(text, "0123456789"), NULL, 10) : 0;
}

static uint32_t number_of(const struct csv_row *row, const char *name)
{
	return (uint32_t)csv_row_number(row, name);
}

/* Versions name some columns differently: of the first that there is. */
static uint32_t number_of_either(const struct csv_row *row, const char *name, const char *other)
{
	return number_of(row, csv_row_find(row, name) ? name : other);
}

static int64_t start_of(const struct csv_row *row)
{
	return csv_row_number(row, "Start_Timestamp");
}

static int64_t end_of(const struct csv_row *row)
{
	return csv_row_number(row, "End_Timestamp");
}

/* ---- what runs on GPUs ---- */

/* The grid is in work items there. */
static uint32_t blocks_of(const struct csv_row *row, const char *grid, const char *group)
{
	uint32_t items = number_of(row, grid), per_block = number_of(row, group);

	return per_block ? items / per_block + (items % per_block != 0) : 0;
}

static void take_kernel(struct rocprof *rocprof, const struct csv_row *row)
{
	const struct trace_signatures_row look = {
		.grid_x = blocks_of(row, "Grid_Size_X", "Workgroup_Size_X"),
		.grid_y = blocks_of(row, "Grid_Size_Y", "Workgroup_Size_Y"),
		.grid_z = blocks_of(row, "Grid_Size_Z", "Workgroup_Size_Z"),
		.block_x = number_of(row, "Workgroup_Size_X"),
		.block_y = number_of(row, "Workgroup_Size_Y"),
		.block_z = number_of(row, "Workgroup_Size_Z"),
		.registers_per_thread = number_of(row, "VGPR_Count"),
		.dynamic_shared_bytes =
			number_of_either(row, "LDS_Block_Size", "Group_Segment_Size"),
		.local_bytes_per_thread =
			number_of_either(row, "Scratch_Size", "Private_Segment_Size"),
	};
	const struct trace_kernels_row kernel = {
		.start_ns = start_of(row),
		.end_ns = end_of(row),
		.device = agent_of(row, "Agent_Id"),
		.context = agent_of(row, "Agent_Id"),
		.stream = number_of_either(row, "Stream_Id", "Queue_Id"),
		.correlation = number_of(row, "Correlation_Id"),
	};
	const char *name = csv_row_find(row, "Kernel_Name");

	imported_add_kernel(rocprof->process, &kernel, &look, name ? name : "");
}

/* "MEMORY_COPY_HOST_TO_DEVICE", and in older versions "HOST_TO_DEVICE": CUpti_ActivityMemcpyKind, 0 for others. */
static uint32_t copy_kind(const char *direction, bool is_one_agent)
{
	if (strstr(direction, "HOST_TO_DEVICE"))
		return 1;
	if (strstr(direction, "DEVICE_TO_HOST"))
		return 2;
	if (strstr(direction, "HOST_TO_HOST"))
		return 9;
	if (strstr(direction, "DEVICE_TO_DEVICE"))
		return is_one_agent ? 8 : 10;
	return 0;
}

/* Of one that is between a GPU and the host it is the GPU that carries it out. */
static void take_copy(struct rocprof *rocprof, const struct csv_row *row)
{
	const char *direction = csv_row_find(row, "Direction");
	uint32_t from = agent_of(row, "Source_Agent_Id");
	uint32_t to = agent_of(row, "Destination_Agent_Id");
	uint32_t kind = copy_kind(direction ? direction : "", from == to);
	uint32_t device = kind == 1 ? to : from;
	const struct trace_copies_row copy = {
		.start_ns = start_of(row),
		.end_ns = end_of(row),
		.kind = kind,
		.device = device,
		.context = device,
		.stream = number_of(row, "Stream_Id"),
		.correlation = number_of(row, "Correlation_Id"),
		.src_device = kind == 10 ? from : device,
		.dst_device = kind == 10 ? to : device,
		.copy_count = 1,
	};

	imported_add_copy(rocprof->process, &copy);
}

/* ---- what the host does ---- */

static void add_call(struct rocprof *rocprof, const struct csv_row *row, const char *name)
{
	const struct trace_api_row call = {
		.start_ns = start_of(row),
		.end_ns = end_of(row),
		.thread = number_of(row, "Thread_Id"),
		.correlation = number_of(row, "Correlation_Id"),
	};

	imported_add_call(rocprof->process, &call, name);
}

/* One that was started and stopped, which two threads may do, comes without a thread. */
static void add_range(struct rocprof *rocprof, const struct csv_row *row, const char *name)
{
	const struct imported_range range = {
		.start_ns = start_of(row),
		.end_ns = end_of(row),
		.name = name,
		.thread = number_of(row, "Thread_Id"),
		.is_push_pop = number_of(row, "Thread_Id") != 0,
	};

	imported_add_range(rocprof->process, &range);
}

/* Functions of HIP, HSA, RCCL and markers have the same columns; a marker that is a range or a moment has its text in
 * place of a function's name. */
static void take_function(struct rocprof *rocprof, const struct csv_row *row)
{
	const char *domain = csv_row_find(row, "Domain"), *name = csv_row_find(row, "Function");
	int64_t pid = csv_row_number(row, "Process_Id");

	if (pid > 0)
		imported_set_pid(rocprof->process, (uint64_t)pid);
	if (domain && name && !strncmp(domain, "HIP_", 4))
		add_call(rocprof, row, name);
	else if (domain && name && !strncmp(domain, "MARKER_CORE", 11) && strncmp(name, "roctx", 5))
		add_range(rocprof, row, name);
	else
		rocprof->unused_count++;
}

/* Of memory that was allocated, which the calls of HIP tell too. */
static void take_none(struct rocprof *rocprof, const struct csv_row *row)
{
	(void)row;
	rocprof->unused_count++;
}

/* ---- the GPUs ---- */

static void take_agent(struct rocprof *rocprof, const struct csv_row *row)
{
	const char *type = csv_row_find(row, "Agent_Type");
	const char *name = csv_row_find(row, "Product_Name");
	const struct trace_devices_row device = {
		.device = number_of_either(row, "Logical_Node_Id", "Node_Id"),
		.name = name && *name ? name : csv_row_find(row, "Name"),
		.sm_count = number_of(row, "Cu_Count"),
	};

	if (type && !strcmp(type, "GPU"))
		imported_add_device(rocprof->process, &device);
}

/* ---- the file ---- */

/* Each kind of file by a column that the others have not. */
static const struct {
	const char *column;
	void (*take)(struct rocprof *rocprof, const struct csv_row *row);
} kinds[] = {{"Kernel_Name", take_kernel},
	     {"Direction", take_copy},
	     {"Function", take_function},
	     {"Operation", take_none},
	     {"Agent_Type", take_agent}};

static int refuse_columns(const struct rocprof *rocprof, const char *missing)
{
	return err_set(rocprof->err, -EINVAL, "%s: no column %s, which rocprofv3 writes",
		       rocprof->path, missing);
}

/* By the columns, which each row has. */
static int find_kind(struct rocprof *rocprof, const struct csv_row *row)
{
	for (size_t i = 0; !rocprof->take && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (csv_row_find(row, kinds[i].column))
			rocprof->take = kinds[i].take;
	if (!rocprof->take)
		return refuse_columns(rocprof,
				      "Kernel_Name, Direction, Function, Operation or Agent_Type");
	if (rocprof->take != take_agent && !csv_row_find(row, "Start_Timestamp"))
		return refuse_columns(rocprof, "Start_Timestamp");
	if (rocprof->take != take_agent && !csv_row_find(row, "End_Timestamp"))
		return refuse_columns(rocprof, "End_Timestamp");
	return 0;
}

static bool has_times(const struct csv_row *row)
{
	return csv_row_has_number(row, "Start_Timestamp") &&
	       csv_row_has_number(row, "End_Timestamp");
}

static int take(const struct csv_row *row, void *context)
{
	struct rocprof *rocprof = context;
	int rc = rocprof->take ? 0 : find_kind(rocprof, row);

	if (rc < 0)
		return rc;
	if (rocprof->take == take_agent || has_times(row)) {
		rocprof->take(rocprof, row);
		return 0;
	}
	rocprof->timeless_count++;
	if (rocprof->take == take_kernel)
		imported_drop_kernel(rocprof->process);
	return 0;
}

/* What the files of one process begin with: without "_kernel_trace.csv" or the like. */
static void set_of(char *set, size_t size, const char *path)
{
	static const char *const endings[] = {"_kernel_trace.csv",
					      "_memory_copy_trace.csv",
					      "_hip_api_trace.csv",
					      "_hsa_api_trace.csv",
					      "_marker_api_trace.csv",
					      "_rccl_api_trace.csv",
					      "_memory_allocation_trace.csv",
					      "_scratch_memory_trace.csv",
					      "_agent_info.csv"};
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t ending = strlen(endings[i]);

		if (length >= ending && !strcmp(path + length - ending, endings[i])) {
			length -= ending;
			break;
		}
	}
	snprintf(set, size, "%.*s", (int)(length < size ? length : size), path);
}

/* Without -o a set is called by its process's id; 0 where it has a name. */
static uint64_t pid_of(const char *set)
{
	const char *slash = strrchr(set, '/'), *name = slash ? slash + 1 : set;

	return *name && !name[strspn(name, "0123456789")] ? strtoull(name, NULL, 10) : 0;
}

int import_rocprof(struct imported *imported, const char *path, struct err *err)
{
	struct rocprof rocprof = {.imported = imported, .path = path, .err = err};
	char set[PATH_MAX];
	int rc;

	set_of(set, sizeof(set), path);
	rocprof.process = imported_process_of_set(imported, set, pid_of(set), SOURCE, LACKS);
	if (!rocprof.process)
		return imported_failure(imported, err);
	rc = csv_rows_read(path, NULL, take, &rocprof, err);
	imported_count_timeless(rocprof.process, rocprof.timeless_count,
				"rows whose Start_Timestamp or End_Timestamp is no number");
	imported_count_unused(
		rocprof.process, rocprof.unused_count,
		"records that are neither kernels, copies, calls of HIP nor ranges of ROCTx");
	return rc;
}
