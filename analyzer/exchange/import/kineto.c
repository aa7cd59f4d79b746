#define _GNU_SOURCE /* memmem */

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
#include "exchange/import/plain_file.h"

/* What no trace of the PyTorch profiler has, for people. */
#define LACKS                                                                                             \
	"which stream is the legacy default one, priorities and flags of streams, sizes of clusters, "    \
	"local memory of kernels, which part of shared memory is dynamic, results of calls, allocations " \
	"by address, loading and compiling of code, hardware counters, and what recording itself cost; "  \
	"calls of Python functions are left out"

struct kineto {
	struct imported *imported;
	const char *path;
	struct imported_process *process;
	uint64_t pid; /* 0: no event of the host was there yet */
	bool has_command;
	int64_t base_ns; /* what times count from: 0 in older files, whose times are absolute */
	struct groups recorded;	 /* correlations of event records that have a row */
	bool has_fractions;	 /* times are finer than microseconds */
	bool is_trace;		 /* it has traceEvents */
	uint64_t timeless_count; /* events whose times are no numbers */
	struct err *err;
};

/* ---- times ---- */

/* Sums of a few of them stay within 64 bits; what is farther is refused as no time by whoever reads the row. */
#define FARTHEST_NS (INT64_MAX / 4)

static int64_t bound_ns(int64_t ns)
{
	return ns > FARTHEST_NS ? FARTHEST_NS : ns < -FARTHEST_NS ? -FARTHEST_NS : ns;
}

static int64_t parse_odd_us(const char *text)
{
	double us = strtod(text, NULL);

	if (isnan(us))
		return 0;
	return fabs(us) > (double)FARTHEST_NS / 1000 ? (us < 0 ? -FARTHEST_NS : FARTHEST_NS)
						     : (int64_t)(us * 1000);
}

/* Microseconds with up to nine digits behind the point, exactly: a double has a resolution of a quarter microsecond for
 * times since 1970.  Returns nanoseconds; text of another form by strtod. */
static int64_t parse_us(const char *text)
{
	bool is_negative = *text == '-';
	const char *next = text + is_negative;
	int64_t ns = 0, unit = 100;

	for (; *next >= '0' && *next <= '9' && ns < INT64_MAX / 10000; next++)
		ns = ns * 10 + (*next - '0');
	ns *= 1000;
	if (*next == '.')
		for (next++; *next >= '0' && *next <= '9'; next++, unit /= 10)
			ns += (*next - '0') * unit;
	if (*next)
		return parse_odd_us(text);
	return bound_ns(is_negative ? -ns : ns);
}

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
	*start_ns = kineto->base_ns + parse_us(json_record_text(event, "ts", 0));
	*end_ns = *start_ns + parse_us(json_record_text(event, "dur", 0));
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
	imported_add_call(kineto->process, &call, name);
}

static void add_range(struct kineto *kineto, const struct json_record *event, const char *name)
{
	struct imported_range range = {.thread = thread_of(event),
				       .name = name,
				       .is_push_pop = true};

	read_times(kineto, event, &range.start_ns, &range.end_ns);
	imported_add_range(kineto->process, &range);
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
			.name = process_writer_name(imported_writer(kineto->process), name),
			.is_profiler = !strstr(name, "oading"),
		}};

	read_times(kineto, event, &row.overheads.start_ns, &row.overheads.end_ns);
	process_writer_add(imported_writer(kineto->process), TRACE_TABLE_overheads, &row);
}

/* ---- what runs on GPUs ---- */

static uint32_t device_of(const struct json_record *event)
{
	return json_record_u32(event, "args.device", 0);
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
		.stream = json_record_u32(event, "args.stream", 0),
		.correlation = json_record_u32(event, "args.correlation", 0),
		.graph = graph_of(event),
		.graph_node = node_of(event),
	};

	read_times(kineto, event, &kernel.start_ns, &kernel.end_ns);
	imported_add_kernel(kineto->process, &kernel, &signature, name);
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
		.stream = json_record_u32(event, "args.stream", 0),
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
	imported_add_copy(kineto->process, &copy);
}

static void add_memset(struct kineto *kineto, const struct json_record *event, const char *name)
{
	const char *memory = strchr(name, '(');
	struct trace_memsets_row set = {
		.bytes = (uint64_t)json_record_number(event, "args.bytes", 0),
		.memory = memory ? memory_kind(memory + 1) : 0,
		.device = device_of(event),
		.context = json_record_u32(event, "args.context", 0),
		.stream = json_record_u32(event, "args.stream", 0),
		.correlation = json_record_u32(event, "args.correlation", 0),
		.graph = graph_of(event),
		.graph_node = node_of(event),
	};

	read_times(kineto, event, &set.start_ns, &set.end_ns);
	imported_add_memset(kineto->process, &set);
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
	uint32_t known = kineto->recorded.count, number;

	if (recorded <= 0)
		return;
	process_writer_add(imported_writer(kineto->process), TRACE_TABLE_event_calls, &row);
	if (groups_find(&kineto->recorded, &recorded, sizeof(recorded), &number) < 0 ||
	    number != known)
		return;
	row.event_calls.correlation = (uint32_t)recorded;
	row.event_calls.kind = 1;
	row.event_calls.stream = (uint32_t)json_record_number(event, "args.wait_on_stream", 0);
	process_writer_add(imported_writer(kineto->process), TRACE_TABLE_event_calls, &row);
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
	process_writer_add(imported_writer(kineto->process), TRACE_TABLE_syncs, &row);
	if (kinds[row.syncs.kind].event_call)
		add_event(kineto, kinds[row.syncs.kind].event_call, event);
}

/* ---- all events ---- */

struct category {
	const char *name;
	void (*add)(struct kineto *kineto, const struct json_record *event, const char *name);
	bool is_hosts; /* pid is that of the process; of what GPUs do it is the device */
};

/* The others repeat what these have: gpu_user_annotation, and arrows. */
static const struct category categories[] = {
	{"cuda_runtime", add_call, true},      {"cuda_driver", add_call, true},
	{"kernel", add_kernel, false},	       {"gpu_memcpy", add_copy, false},
	{"gpu_memset", add_memset, false},     {"cuda_sync", add_sync, false},
	{"cpu_op", add_range, true},	       {"user_annotation", add_range, true},
	{"python_function", add_python, true}, {"overhead", add_overhead, false},
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
	struct process_writer *writer = imported_writer(kineto->process);
	const char *given = json_record_text(event, "args.name", 0);
	union trace_row thread = {.threads = {thread_of(event), 0}};

	if (!given || (uint64_t)json_record_number(event, "pid", 0) != kineto->pid || !kineto->pid)
		return;
	if (!strcmp(name, "process_name") && !kineto->has_command) {
		imported_set_program(kineto->process, given);
		kineto->has_command = true;
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
		imported_drop_kernel(kineto->process);
}

static int take_event(struct kineto *kineto, const struct json_record *event)
{
	const struct category *category = find_category(json_record_text(event, "cat", 0));
	const char *phase = json_record_text(event, "ph", 0);
	const char *name = json_record_text(event, "name", 0);

	kineto->is_trace = true;
	if (!name || !phase)
		return 0;
	if (!strcmp(phase, "M"))
		take_name(kineto, event, name);
	if (!category || strcmp(phase, "X") != 0)
		return 0;
	if (category->is_hosts && !kineto->pid) {
		kineto->pid = (uint64_t)json_record_number(event, "pid", 0);
		imported_set_pid(kineto->process, kineto->pid);
	}
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

	imported_add_device(kineto->process, &row);
	return 0;
}

static int take_rank(struct kineto *kineto, const struct json_record *distributed)
{
	struct process_writer *writer = imported_writer(kineto->process);

	process_writer_fact(writer, "rank", json_record_text(distributed, "rank", 0));
	process_writer_fact(writer, "world_size", json_record_text(distributed, "world_size", 0));
	return 0;
}

static int take_fact(struct kineto *kineto, const struct json_record *fact)
{
	process_writer_fact(imported_writer(kineto->process), "driver",
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

/* What times count from may stand behind all of them, so it is looked for first, without parsing. */
#define BASE_KEY "\"baseTimeNanoseconds\":"
#define BASE_BYTES 64 /* the key and its number fit */

struct scan {
	char bytes[BASE_BYTES + PLAIN_FILE_BLOCK_BYTES + 1];
	size_t count; /* at most BASE_BYTES between two blocks */
};

/* is_end: nothing follows; else what the end of a block may have cut is looked at with the next one. */
static int64_t base_in(const struct scan *scan, bool is_end)
{
	const char *key = memmem(scan->bytes, scan->count, BASE_KEY, strlen(BASE_KEY));

	if (!key || (!is_end && key + BASE_BYTES > scan->bytes + scan->count))
		return 0;
	return bound_ns(strtoll(key + strlen(BASE_KEY), NULL, 10));
}

static void append(struct scan *scan, const void *bytes, size_t size)
{
	if (scan->count > BASE_BYTES) {
		memmove(scan->bytes, scan->bytes + scan->count - BASE_BYTES, BASE_BYTES);
		scan->count = BASE_BYTES;
	}
	memcpy(scan->bytes + scan->count, bytes, size);
	scan->count += size;
	scan->bytes[scan->count] = '\0';
}

static int find_base(struct kineto *kineto)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	struct plain_file *file = NULL;
	const void *bytes;
	size_t size;
	int rc;

	if (!scan)
		return err_set(kineto->err, -ENOMEM, "%s: out of memory", kineto->path);
	rc = plain_file_open(&file, kineto->path, kineto->err);
	while (rc == 0 && (rc = plain_file_next(file, &bytes, &size, kineto->err)) > 0) {
		append(scan, bytes, size);
		kineto->base_ns = base_in(scan, false);
		rc = kineto->base_ns ? 1 : 0;
	}
	if (rc == 0)
		kineto->base_ns = base_in(scan, true);
	plain_file_close(file);
	free(scan);
	return rc < 0 ? rc : 0;
}

static int read_events(struct kineto *kineto)
{
	int rc;

	kineto->process = imported_process(kineto->imported, 0, "PyTorch profiler", LACKS);
	if (!kineto->process)
		return imported_failure(kineto->imported, kineto->err);
	rc = json_records_read(kineto->path, take, kineto, kineto->err);
	if (rc == 0 && !kineto->is_trace)
		rc = err_set(kineto->err, -EINVAL,
			     "%s: JSON without traceEvents, so no trace of the PyTorch profiler",
			     kineto->path);
	imported_count_timeless(kineto->process, kineto->timeless_count,
				"events whose ts or dur is no number");
	if (rc == 0 && !kineto->has_fractions)
		process_writer_fact(imported_writer(kineto->process), "imported_resolution_ns",
				    "1000");
	return rc;
}

int import_kineto(struct imported *imported, const char *path, struct err *err)
{
	struct kineto kineto = {.imported = imported, .path = path, .err = err};
	int rc = find_base(&kineto);

	if (rc == 0)
		rc = read_events(&kineto);
	groups_free(&kineto.recorded);
	return rc;
}
