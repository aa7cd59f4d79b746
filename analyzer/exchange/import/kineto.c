#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/shell.h"
#include "exchange/import/imported.h"
#include "exchange/import/imports.h"
#include "exchange/import/json_records.h"
#include "exchange/import/kineto_survey.h"

/* What no trace of the PyTorch profiler has, for people. */
#define LACKS                                                                                             \
	"which stream is the legacy default one, priorities and flags of streams, sizes of clusters, "    \
	"local memory of kernels, which part of shared memory is dynamic, results of calls, allocations " \
	"by address, loading and compiling of code, hardware counters, and what recording itself cost; "  \
	"calls of Python functions are left out"

/* Facts that no trace of Triton's profiler has. */
#define PROTON_LACKS                                                                                \
	"calls of the host, which launched what, dimensions of launches, copies and memsets, the "  \
	"GPU's name and size, several GPUs, times since an epoch, the program, and what recording " \
	"itself cost"

/* A process of the trace. */
struct rank {
	struct imported_process *process;
	uint64_t pid; /* 0: no event of the host was there yet */
	bool has_command;
	struct groups recorded; /* correlations of event records that have a row */
};

struct kineto {
	struct imported *imported;
	const char *path;
	struct kineto_survey survey;
	struct rank *ranks;	 /* by survey.parts[] */
	struct rank *rank;	 /* of the event that is taken */
	uint64_t strange_count;	 /* events of processes that called no CUDA */
	bool has_fractions;	 /* times are finer than microseconds */
	uint64_t timeless_count; /* events whose times are no numbers */
	struct err *err;
};

/* ---- times ---- */

static bool is_number(const char *text)
{
	char *end;

	return text && isfinite(strtod(text, &end)) && end > text && !*end;
}

static bool has_times(const struct json_record *event)
{
	return is_number(json_record_text(event, "ts", 0)) &&
	       is_number(json_record_text(event, "dur", 0));
}

/* Of an event that has them. */
static void read_times(struct kineto *kineto, const struct json_record *event, int64_t *start_ns,
		       int64_t *end_ns)
{
	*start_ns = kineto->survey.base_ns + kineto_ns(json_record_text(event, "ts", 0));
	*end_ns = *start_ns + kineto_ns(json_record_text(event, "dur", 0));
	if (*end_ns % 1000 || *start_ns % 1000)
		kineto->has_fractions = true;
}

static uint32_t thread_of(const struct json_record *event)
{
	return (uint32_t)json_record_number(event, "tid", 0);
}

/* ---- host events ---- */

static void add_call(struct kineto *kineto, const struct json_record *event, const char *name)
{
	struct trace_api_row call = {
		.thread = thread_of(event),
		.correlation = json_record_u32(event, "args.correlation", 0),
	};

	read_times(kineto, event, &call.start_ns, &call.end_ns);
	imported_add_call(kineto->rank->process, &call, name);
}

static void add_range(struct kineto *kineto, const struct json_record *event, const char *name)
{
	struct imported_range range = {.thread = thread_of(event),
				       .name = name,
				       .is_push_pop = true};

	read_times(kineto, event, &range.start_ns, &range.end_ns);
	imported_add_range(kineto->rank->process, &range);
}

/* No place in a recording, and they say nothing of what a GPU did. */
static void add_python(struct kineto *kineto, const struct json_record *event, const char *name)
{
	(void)event;
	(void)name;
	(void)kineto;
}

static void add_overhead(struct kineto *kineto, const struct json_record *event, const char *name)
{
	union trace_row row = {
		.overheads = {
			.name = process_writer_name(imported_writer(kineto->rank->process), name),
			.is_profiler = !strstr(name, "oading"),
		}};

	read_times(kineto, event, &row.overheads.start_ns, &row.overheads.end_ns);
	process_writer_add(imported_writer(kineto->rank->process), TRACE_TABLE_overheads, &row);
}

/* ---- what runs on GPUs ---- */

static uint32_t device_of(const struct json_record *event)
{
	return json_record_u32(event, "args.device", 0);
}

/* In older traces and others' the row says it: "stream 7", or the name of the row. */
static uint32_t stream_of(const struct kineto *kineto, const struct json_record *event)
{
	const struct kineto_stream *named;
	const char *row = json_record_text(event, "tid", 0);

	if (json_record_text(event, "args.stream", 0))
		return json_record_u32(event, "args.stream", 0);
	named = kineto_survey_stream(&kineto->survey, event);
	if (named)
		return named->stream;
	return row ? (uint32_t)strtoul(row + strcspn(row, "0123456789"), NULL, 10) : 0;
}

static uint64_t node_of(const struct json_record *event)
{
	return (uint64_t)json_record_number(event, "args.graph node id", 0);
}

/* CUPTI numbers the nodes of a graph from its id in the upper half on. */
static uint32_t graph_of(const struct json_record *event)
{
	uint32_t graph = json_record_u32(event, "args.graph id", 0);

	return graph ? graph : (uint32_t)(node_of(event) >> 32);
}

static void add_kernel(struct kineto *kineto, const struct json_record *event, const char *name)
{
	const struct trace_signatures_row signature = {
		.grid_x = json_record_u32(event, "args.grid", 0),
		.grid_y = json_record_u32(event, "args.grid", 1),
		.grid_z = json_record_u32(event, "args.grid", 2),
		.block_x = json_record_u32(event, "args.block", 0),
		.block_y = json_record_u32(event, "args.block", 1),
		.block_z = json_record_u32(event, "args.block", 2),
		.registers_per_thread = json_record_u32(event, "args.registers per thread", 0),
		.dynamic_shared_bytes = json_record_u32(event, "args.shared memory", 0),
	};
	struct trace_kernels_row kernel = {
		.device = device_of(event),
		.context = json_record_u32(event, "args.context", 0),
		.stream = stream_of(kineto, event),
		.correlation = json_record_u32(event, "args.correlation", 0),
		.graph = graph_of(event),
		.graph_node = node_of(event),
	};

	read_times(kineto, event, &kernel.start_ns, &kernel.end_ns);
	imported_add_kernel(kineto->rank->process, &kernel, &signature, name);
}

/* "Pageable", "Pinned", ... of "Memcpy HtoD (Pinned -> Device)": CUpti_ActivityMemoryKind, 0 for others. */
static uint32_t memory_kind(const char *text)
{
	static const char *const names[] = {[1] = "Pageable", "Pinned",	 "Device",
					    "Array",	      "Managed", "Device Static",
					    "Managed Static"};
	uint32_t found = 0;

	for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(text, names[i], strlen(names[i])))
			found = i; /* the longer of two that fit stands behind */
	return found;
}

static uint32_t copy_kind(const char *text)
{
	static const char *const names[] = {[1] = "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",	  "DtoA", "DtoD", "HtoH", "PtoP"};

	for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(text, names[i], 4))
			return i;
	return 0;
}

static void add_copy(struct kineto *kineto, const struct json_record *event, const char *name)
{
	const char *from = strchr(name, '('), *to = strstr(name, "-> ");
	struct trace_copies_row copy = {
		.kind = strlen(name) > 7 ? copy_kind(name + strlen("Memcpy ")) : 0,
		.src_memory = from ? memory_kind(from + 1) : 0,
		.dst_memory = to ? memory_kind(to + 3) : 0,
		.bytes = (uint64_t)json_record_number(event, "args.bytes", 0),
		.device = device_of(event),
		.context = json_record_u32(event, "args.context", 0),
		.stream = stream_of(kineto, event),
		.correlation = json_record_u32(event, "args.correlation", 0),
		.graph = graph_of(event),
		.graph_node = node_of(event),
		.src_device = device_of(event),
		.dst_device = device_of(event),
		.copy_count = 1,
	};

	if (json_record_text(event, "args.fromDevice", 0))
		copy.src_device = json_record_u32(event, "args.fromDevice", 0);
	if (json_record_text(event, "args.toDevice", 0))
		copy.dst_device = json_record_u32(event, "args.toDevice", 0);
	read_times(kineto, event, &copy.start_ns, &copy.end_ns);
	imported_add_copy(kineto->rank->process, &copy);
}

static void add_memset(struct kineto *kineto, const struct json_record *event, const char *name)
{
	const char *memory = strchr(name, '(');
	struct trace_memsets_row set = {
		.bytes = (uint64_t)json_record_number(event, "args.bytes", 0),
		.memory = memory ? memory_kind(memory + 1) : 0,
		.device = device_of(event),
		.context = json_record_u32(event, "args.context", 0),
		.stream = stream_of(kineto, event),
		.correlation = json_record_u32(event, "args.correlation", 0),
		.graph = graph_of(event),
		.graph_node = node_of(event),
	};

	read_times(kineto, event, &set.start_ns, &set.end_ns);
	imported_add_memset(kineto->rank->process, &set);
}

/* ---- waits ---- */

/* They name an event by the call that recorded it, which is unique, as handles are not. */
static void add_event(struct kineto *kineto, uint32_t kind, const struct json_record *event)
{
	int64_t recorded = json_record_number(event, "args.wait_on_cuda_event_record_corr_id", 0);
	union trace_row row = {
		.event_calls = {
			.correlation = json_record_u32(event, "args.correlation", 0),
			.kind = kind,
			.context = json_record_u32(event, "args.context", 0),
			.stream = (uint32_t)json_record_number(event, "args.stream", 0),
			.event = (uint64_t)recorded,
		}};
	uint32_t known = kineto->rank->recorded.count, number;

	if (recorded <= 0)
		return;
	process_writer_add(imported_writer(kineto->rank->process), TRACE_TABLE_event_calls, &row);
	if (groups_find(&kineto->rank->recorded, &recorded, sizeof(recorded), &number) < 0 ||
	    number != known)
		return;
	row.event_calls.correlation = (uint32_t)recorded;
	row.event_calls.kind = 1;
	row.event_calls.stream = (uint32_t)json_record_number(event, "args.wait_on_stream", 0);
	process_writer_add(imported_writer(kineto->rank->process), TRACE_TABLE_event_calls, &row);
}

static void add_sync(struct kineto *kineto, const struct json_record *event, const char *name)
{
	static const struct {
		const char *name;
		uint32_t event_call;
	} kinds[] = {[1] = {"Event Sync", 2},
		     {"Stream Wait Event", 3},
		     {"Stream Sync", 0},
		     {"Context Sync", 0}};
	union trace_row row = {
		.syncs = {
			.context = json_record_u32(event, "args.context", 0),
			.stream = (uint32_t)json_record_number(event, "args.stream", 0),
			.event = UINT32_MAX,
			.correlation = json_record_u32(event, "args.correlation", 0),
		}};

	for (uint32_t i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name))
			row.syncs.kind = i;
	read_times(kineto, event, &row.syncs.start_ns, &row.syncs.end_ns);
	process_writer_add(imported_writer(kineto->rank->process), TRACE_TABLE_syncs, &row);
	if (kinds[row.syncs.kind].event_call)
		add_event(kineto, kinds[row.syncs.kind].event_call, event);
}

/* ---- all events ---- */

/* The others repeat what these have, or are not known (kineto_survey.c).  Those with a capital are of PyTorch 1.8 to
 * 1.11, scope is of Triton's profiler. */
static const struct category {
	const char *name;
	void (*add)(struct kineto *kineto, const struct json_record *event, const char *name);
} categories[] = {
	{"cuda_runtime", add_call}, {"cuda_driver", add_call},
	{"Runtime", add_call},	    {"kernel", add_kernel},
	{"Kernel", add_kernel},	    {"gpu_memcpy", add_copy},
	{"Memcpy", add_copy},	    {"gpu_memset", add_memset},
	{"Memset", add_memset},	    {"cuda_sync", add_sync},
	{"cpu_op", add_range},	    {"Operator", add_range},
	{"scope", add_range},	    {"user_annotation", add_range},
	{"overhead", add_overhead}, {"python_function", add_python},
};

static const struct category *find_category(const char *name)
{
	for (size_t i = 0; name && i < sizeof(categories) / sizeof(categories[0]); i++)
		if (!strcmp(categories[i].name, name))
			return &categories[i];
	return NULL;
}

/* Of the process and its threads: GPUs and their streams have names of this kind too. */
static void take_name(struct kineto *kineto, const struct json_record *event, const char *name)
{
	struct process_writer *writer = imported_writer(kineto->rank->process);
	const char *given = json_record_text(event, "args.name", 0);
	union trace_row thread = {.threads = {thread_of(event), 0}};

	if (!given || (uint64_t)json_record_number(event, "pid", 0) != kineto->rank->pid ||
	    !kineto->rank->pid)
		return;
	if (!strcmp(name, "process_name") && !kineto->rank->has_command) {
		imported_set_program(kineto->rank->process, given);
		kineto->rank->has_command = true;
	}
	if (strcmp(name, "thread_name") != 0)
		return;
	thread.threads.name = process_writer_name(writer, given);
	process_writer_add(writer, TRACE_TABLE_threads, &thread);
}

static void drop(struct kineto *kineto, const struct category *category)
{
	kineto->timeless_count++;
	if (category->add == add_kernel)
		imported_drop_kernel(kineto->rank->process);
}

/* The process of the event becomes the one that is added to. */
static bool choose_rank(struct kineto *kineto, const struct json_record *event,
			enum kineto_side side)
{
	size_t part = kineto_survey_part(&kineto->survey, event, side);

	if (part == KINETO_NO_PART)
		return false;
	kineto->rank = &kineto->ranks[part];
	return true;
}

/* A pid of calls is known from the survey; without any that of the first event of the host is it. */
static void learn_pid(struct kineto *kineto, const struct json_record *event)
{
	if (kineto->rank->pid || kineto->survey.part_count > 1)
		return;
	kineto->rank->pid = (uint64_t)json_record_number(event, "pid", 0);
	imported_set_pid(kineto->rank->process, kineto->rank->pid);
}

/* Scopes of graphs are in rows of the GPU: they are no ranges of a thread. */
static bool is_graph_scope(const struct kineto *kineto, const struct json_record *event)
{
	const struct kineto_stream *named = kineto_survey_stream(&kineto->survey, event);

	return named && named->is_graph;
}

static int take_event(struct kineto *kineto, const struct json_record *event)
{
	const char *category_name = json_record_text(event, "cat", 0);
	const struct category *category = find_category(category_name);
	enum kineto_side side = kineto_side(category_name);
	const char *phase = json_record_text(event, "ph", 0);
	const char *name = json_record_text(event, "name", 0);

	if (!name || !phase)
		return 0;
	if (!strcmp(phase, "M") && choose_rank(kineto, event, KINETO_HOST))
		take_name(kineto, event, name);
	if (!category || strcmp(phase, "X") != 0)
		return 0;
	if (!choose_rank(kineto, event, side)) {
		kineto->strange_count++;
		return 0;
	}
	if (side == KINETO_CALL || side == KINETO_HOST)
		learn_pid(kineto, event);
	if (side == KINETO_HOST && is_graph_scope(kineto, event))
		return 0;
	if (has_times(event))
		category->add(kineto, event, name);
	else
		drop(kineto, category);
	return 0;
}

/* ---- the process and its GPUs ---- */

/* Resident blocks: fixed by the compute capability, of which the file tells ("Technical Specifications per Compute
 * Capability" in the CUDA C++ Programming Guide); 0 for others, such as those of AMD. */
static uint32_t max_blocks_per_sm(const struct json_record *device)
{
	uint32_t major = json_record_u32(device, "computeMajor", 0);
	uint32_t minor = json_record_u32(device, "computeMinor", 0);
	const char *name = json_record_text(device, "name", 0);
	static const struct {
		uint32_t major, minor, blocks;
	} known[] = {{7, 0, 32}, {7, 2, 32}, {7, 5, 16}, {8, 0, 32},  {8, 6, 16},
		     {8, 7, 16}, {8, 9, 24}, {9, 0, 32}, {10, 0, 32}, {12, 0, 24}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].major == major && known[i].minor == minor && name &&
		    strncmp(name, "AMD", 3) != 0) /* theirs have numbers of this kind, too */
			return known[i].blocks;
	return 0;
}

static int take_device(struct kineto *kineto, const struct json_record *device)
{
	uint32_t warp = json_record_u32(device, "warpSize", 0);
	const struct trace_devices_row row = {
		.device = json_record_u32(device, "id", 0),
		.name = json_record_text(device, "name", 0),
		.compute_major = json_record_u32(device, "computeMajor", 0),
		.compute_minor = json_record_u32(device, "computeMinor", 0),
		.sm_count = json_record_u32(device, "numSms", 0),
		.memory_bytes = (uint64_t)json_record_number(device, "totalGlobalMem", 0),
		.max_warps_per_sm =
			warp ? json_record_u32(device, "maxThreadsPerMultiprocessor", 0) / warp : 0,
		.max_blocks_per_sm = max_blocks_per_sm(device),
		.max_registers_per_sm = json_record_u32(device, "regsPerMultiprocessor", 0),
		.max_shared_bytes_per_sm = json_record_u32(device, "sharedMemPerMultiprocessor", 0),
	};

	for (size_t i = 0; i < kineto->survey.part_count; i++)
		imported_add_device(kineto->ranks[i].process, &row);
	return 0;
}

/* Merged traces keep this record of one rank only, and do not say which. */
static int take_rank(struct kineto *kineto, const struct json_record *distributed)
{
	struct process_writer *writer = imported_writer(kineto->ranks[0].process);

	if (kineto->survey.part_count > 1)
		return 0;
	process_writer_fact(writer, "rank", json_record_text(distributed, "rank", 0));
	process_writer_fact(writer, "world_size", json_record_text(distributed, "world_size", 0));
	return 0;
}

static int take_fact(struct kineto *kineto, const struct json_record *fact)
{
	for (size_t i = 0; i < kineto->survey.part_count; i++)
		process_writer_fact(imported_writer(kineto->ranks[i].process), "driver",
				    json_record_text(fact, "cuda_driver_version", 0));
	return 0;
}

/* What rooflinectl export -f chrome writes has copies and much else under other names. */
static int take_other(struct kineto *kineto, const struct json_record *other)
{
	const char *recording = json_record_text(other, "recording", 0);

	if (!recording || !json_record_text(other, "first_ns", 0))
		return 0;
	return err_set(kineto->err, -EINVAL,
		       "%s: rooflinectl export wrote this, not the PyTorch profiler; read the "
		       "recording itself: rooflinectl report %s",
		       kineto->path, shell_path_text(recording).text);
}

static int take(const char *section, const struct json_record *record, void *context)
{
	if (!strcmp(section, "traceEvents") || json_record_text(record, "ph", 0))
		return take_event(context, record);
	if (json_record_is_empty(record))
		return 0;
	if (!strcmp(section, "otherData"))
		return take_other(context, record);
	if (!strcmp(section, "deviceProperties"))
		return take_device(context, record);
	if (!strcmp(section, "distributedInfo"))
		return take_rank(context, record);
	return *section ? 0 : take_fact(context, record);
}

/* ---- the file ---- */

/* One for each process of the trace.  Each has GPUs of its own: ranks on several hosts count theirs from 0. */
static int begin_ranks(struct kineto *kineto)
{
	const struct kineto_survey *survey = &kineto->survey;

	kineto->ranks = calloc(survey->part_count, sizeof(*kineto->ranks));
	if (!kineto->ranks)
		return err_set(kineto->err, -ENOMEM, "%s: out of memory", kineto->path);
	for (size_t i = 0; i < survey->part_count; i++) {
		const struct kineto_part *part = &survey->parts[i];
		struct rank *rank = &kineto->ranks[i];

		rank->process =
			imported_part(kineto->imported, survey->part_count > 1 ? part->pid : "",
				      survey->is_proton ? "Triton Proton" : "PyTorch profiler",
				      survey->is_proton ? PROTON_LACKS : LACKS);
		if (!rank->process)
			return imported_failure(kineto->imported, kineto->err);
		rank->pid = part->number;
		imported_set_pid(rank->process, part->number);
	}
	kineto->rank = kineto->ranks;
	return 0;
}

/* "categories that are not known: mtia_runtime (12), xpu (3)" */
static void note_categories(struct kineto *kineto)
{
	const struct kineto_survey *survey = &kineto->survey;
	char text[512] = "categories that are not known:";

	for (size_t i = 0; i < survey->unknown_count && strlen(text) < 400; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s (%" PRIu64 ")",
			 i ? "," : "", survey->unknown[i].name, survey->unknown[i].count);
	if (survey->unknown_count)
		imported_note(kineto->imported, text);
}

static void end_ranks(struct kineto *kineto)
{
	const struct kineto_survey *survey = &kineto->survey;

	imported_count_timeless(kineto->ranks[0].process, kineto->timeless_count,
				"events whose ts or dur is no number");
	imported_count_unused(kineto->ranks[0].process, kineto->strange_count,
			      "events of processes that are not among those of the launches");
	note_categories(kineto);
	for (size_t i = 0; !kineto->has_fractions && i < survey->part_count; i++)
		process_writer_fact(imported_writer(kineto->ranks[i].process),
				    "imported_resolution_ns", "1000");
}

static int read_events(struct kineto *kineto)
{
	int rc = begin_ranks(kineto);

	if (rc == 0)
		rc = json_records_read(kineto->path, take, kineto, kineto->err);
	if (rc == 0)
		end_ranks(kineto);
	return rc;
}

static int check_trace(struct kineto *kineto)
{
	if (kineto->survey.is_trace)
		return 0;
	return err_set(kineto->err, -EINVAL,
		       "%s: JSON without traceEvents, so no trace of the PyTorch profiler",
		       kineto->path);
}

int import_kineto(struct imported *imported, const char *path, struct err *err)
{
	struct kineto kineto = {.imported = imported, .path = path, .err = err};
	int rc = kineto_survey_read(&kineto.survey, path, err);

	if (rc == 0)
		rc = check_trace(&kineto);
	if (rc == 0)
		rc = read_events(&kineto);
	for (size_t i = 0; kineto.ranks && i < kineto.survey.part_count; i++)
		groups_free(&kineto.ranks[i].recorded);
	free(kineto.ranks);
	kineto_survey_free(&kineto.survey);
	return rc;
}
