#include "exchange/import/imported.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/groups.h"
#include "base/sentences.h"
#include "exchange/import/imported_end.h"
#include "roofline/runs.h"
#include "trace/api_class.h"
#include "trace/usable_times.h"

#define PROCESS_LIMIT 1024 /* of a file: each is a folder; no tool writes as many into one */
#define DEVICE_LIMIT 256   /* ordinals; one beyond is kept, without a row of its own */

struct imported_process {
	struct imported *imported;
	struct process_writer *writer;
	size_t file, number;
	char *set;  /* what names of its files have in common; NULL: it has one file */
	char *part; /* its name in a file of several; NULL: the file has one */
	uint64_t pid;
	char host[128];
	int64_t last_ns;
	struct trace_devices_row *devices;
	size_t device_capacity, device_count;
	bool is_used[DEVICE_LIMIT];
	struct groups contexts, streams;
	struct groups blocking; /* correlations of calls that copy and wait */
	struct trace_copies_row *copies;
	size_t copy_capacity, copy_count;
	struct trace_memsets_row *memsets;
	size_t memset_capacity, memset_count;
	uint32_t marker_count;
	uint64_t op_count;			    /* whose times can be used */
	uint64_t kernel_count, usable_kernel_count; /* and whole graphs */
	uint64_t launch_count;			    /* calls that launch kernels or graphs */
	uint32_t shape_count;			    /* signatures that are in imported->shapes */
	bool is_counters; /* of a run of its own, whose times count for nothing */
};

struct imported {
	char folder[PATH_MAX];
	struct imported_process **processes;
	size_t process_capacity, process_count;
	size_t file_count, file; /* file: from 1 */
	size_t processes_of_file;
	struct kernel_shapes shapes;
	struct sentences *notes; /* borrowed */
	char diagnostic[400];	 /* what the files themselves say of what went wrong; "" */
	int failure;
	struct err err;
};

/* ---- failures ---- */

static void fail(struct imported *imported, int failure)
{
	if (!imported->failure)
		imported->failure =
			err_set(&imported->err, failure, "%s: %s", imported->folder,
				failure == -ENOMEM ? "out of memory" : strerror(-failure));
}

int imported_failure(const struct imported *imported, struct err *err)
{
	int rc = 0;

	if (imported->failure)
		return err_set(err, imported->failure, "%s", imported->err.text);
	for (size_t i = 0; rc == 0 && i < imported->process_count; i++)
		rc = process_writer_failure(imported->processes[i]->writer, err);
	return rc;
}

void imported_diagnose(struct imported *imported, const char *text)
{
	size_t used = strlen(imported->diagnostic);

	if (!strstr(imported->diagnostic, text))
		snprintf(imported->diagnostic + used, sizeof(imported->diagnostic) - used, "%s%s",
			 used ? "; " : "", text);
}

void imported_note(struct imported *imported, const char *text)
{
	if (sentences_add(imported->notes, "%s", text) < 0)
		fail(imported, -ENOMEM);
}

/* Whether the key is a new one of the groups. */
static bool is_new(struct imported_process *process, struct groups *groups, const void *key,
		   size_t size)
{
	uint32_t known = groups->count, number;

	if (groups_find(groups, key, size, &number) < 0) {
		fail(process->imported, -ENOMEM);
		return false;
	}
	return number == known;
}

/* ---- processes ---- */

static struct imported_process *new_process(struct imported *imported, uint64_t pid)
{
	struct imported_process **processes =
		array_reserve(imported->processes, &imported->process_capacity,
			      imported->process_count + 1, sizeof(void *));
	struct imported_process *process = processes ? calloc(1, sizeof(*process)) : NULL;
	char path[PATH_MAX + 32];

	if (processes)
		imported->processes = processes;
	if (process && imported->processes_of_file++ == PROCESS_LIMIT) {
		free(process);
		imported->failure =
			err_set(&imported->err, -EFBIG,
				"file %zu has more than %d processes, as no trace does; "
				"record it again",
				imported->file, PROCESS_LIMIT);
		return NULL;
	}
	if (!process) {
		fail(imported, -ENOMEM);
		return NULL;
	}
	processes[imported->process_count] = process;
	process->imported = imported;
	process->number = imported->process_count++;
	process->file = imported->file;
	process->pid = pid;
	snprintf(path, sizeof(path), "%s/%zu", imported->folder, process->number);
	imported->failure = process_writer_open(&process->writer, path, &imported->err);
	return imported->failure ? NULL : process;
}

struct imported_process *imported_find(struct imported *imported, uint64_t pid)
{
	for (size_t i = imported->process_count; i-- > 0;)
		if (imported->processes[i]->file == imported->file &&
		    imported->processes[i]->pid == pid)
			return imported->processes[i];
	return NULL;
}

void imported_each(struct imported *imported,
		   void (*each)(struct imported_process *process, uint64_t pid, void *context),
		   void *context)
{
	for (size_t i = 0; i < imported->process_count; i++)
		if (imported->processes[i]->file == imported->file)
			each(imported->processes[i], imported->processes[i]->pid, context);
}

static struct imported_process *begin_process(struct imported *imported, uint64_t pid,
					      const char *source, const char *lacks)
{
	struct imported_process *process;

	if (imported->failure || !(process = new_process(imported, pid)))
		return NULL;
	process_writer_number(process->writer, "schema", TRACE_SCHEMA_VERSION);
	process_writer_fact(process->writer, "imported_from", source);
	process_writer_fact(process->writer, "imported_lacks", lacks);
	return process;
}

struct imported_process *imported_process(struct imported *imported, uint64_t pid,
					  const char *source, const char *lacks)
{
	struct imported_process *process = imported_find(imported, pid);

	return process ? process : begin_process(imported, pid, source, lacks);
}

struct imported_process *imported_part(struct imported *imported, const char *part,
				       const char *source, const char *lacks)
{
	struct imported_process *process = begin_process(imported, 0, source, lacks);

	if (process && *part && !(process->part = strdup(part))) {
		fail(imported, -ENOMEM);
		return NULL;
	}
	return process;
}

struct imported_process *imported_process_of_set(struct imported *imported, const char *set,
						 uint64_t pid, const char *source,
						 const char *lacks)
{
	struct imported_process *process;

	for (size_t i = 0; i < imported->process_count; i++)
		if (imported->processes[i]->set && !strcmp(imported->processes[i]->set, set))
			return imported->processes[i];
	process = imported_process(imported, pid, source, lacks);
	if (process && !(process->set = strdup(set))) {
		fail(imported, -ENOMEM);
		return NULL;
	}
	return process;
}

/* Counters come without a description of their GPU, which is that of the run that they are joined to. */
static void borrow_devices(struct imported_process *process)
{
	const struct imported *imported = process->imported;

	for (size_t i = 0; i < imported->process_count; i++)
		if (imported->processes[i]->device_count && !process->device_count)
			for (size_t j = 0; j < imported->processes[i]->device_count; j++)
				imported_add_device(process, &imported->processes[i]->devices[j]);
}

struct imported_process *imported_counters(struct imported *imported, uint64_t pid,
					   const char *source, const char *lacks)
{
	struct imported_process *process = imported_process(imported, pid, source, lacks);

	if (!process)
		return NULL;
	process->is_counters = true;
	process_writer_fact(process->writer, "counters", "imported");
	process_writer_fact(process->writer, "counters_mode", "replay");
	borrow_devices(process);
	return process;
}

const struct kernel_shape *imported_find_shape(const struct imported *imported, const char *name,
					       const struct trace_signatures_row *look)
{
	return kernel_shapes_find(&imported->shapes, name, look);
}

struct process_writer *imported_writer(struct imported_process *process)
{
	return process->writer;
}

void imported_set_pid(struct imported_process *process, uint64_t pid)
{
	process->pid = pid;
}

/* As part of a file's name: without what no host has in its name. */
void imported_set_host(struct imported_process *process, const char *host)
{
	snprintf(process->host, sizeof(process->host), "%s", host ? host : "");
	for (char *c = process->host; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == '/' || *c == 0x7f)
			*c = '_';
	process_writer_fact(process->writer, "host", process->host);
}

void imported_set_program(struct imported_process *process, const char *name)
{
	char command[512];

	snprintf(command, sizeof(command), "%s ...", name);
	if (*name)
		process_writer_fact(process->writer, "command", command);
}

void imported_saw(struct imported_process *process, int64_t end_ns)
{
	if (end_ns > process->last_ns)
		process->last_ns = end_ns;
}

static void add_loss(struct imported_process *process, const char *kind, uint64_t count,
		     const char *detail)
{
	const union trace_row row = {.losses = {process->last_ns, kind, count, detail}};

	if (count)
		process_writer_add(process->writer, TRACE_TABLE_losses, &row);
}

void imported_count_unused(struct imported_process *process, uint64_t count, const char *detail)
{
	add_loss(process, "unimported", count, detail);
}

void imported_count_timeless(struct imported_process *process, uint64_t count, const char *detail)
{
	add_loss(process, "invalid_times", count, detail);
}

/* ---- devices, contexts, streams ---- */

void imported_add_device(struct imported_process *process, const struct trace_devices_row *device)
{
	struct trace_devices_row *place =
		ARRAY_NEXT(process->devices, process->device_capacity, process->device_count);

	if (!place) {
		fail(process->imported, -ENOMEM);
		return;
	}
	*place = *device;
	place->name = strdup(device->name ? device->name : "");
	place->uuid = strdup(device->uuid ? device->uuid : "");
	process->device_count++;
	if (!place->name || !place->uuid)
		fail(process->imported, -ENOMEM);
}

void imported_add_context(struct imported_process *process,
			  const struct trace_contexts_row *context)
{
	if (is_new(process, &process->contexts, &context->context, sizeof(context->context)))
		process_writer_add(process->writer, TRACE_TABLE_contexts,
				   &(union trace_row){.contexts = *context});
}

void imported_add_stream(struct imported_process *process, const struct trace_streams_row *stream)
{
	const uint32_t key[] = {stream->context, stream->stream};

	if (is_new(process, &process->streams, key, sizeof(key)))
		process_writer_add(process->writer, TRACE_TABLE_streams,
				   &(union trace_row){.streams = *stream});
}

/* What an operation ran on; a context that nothing described is known from it. */
static void use(struct imported_process *process, uint32_t device, uint32_t context)
{
	const struct trace_contexts_row row = {.context = context, .device = device};

	if (device < DEVICE_LIMIT)
		process->is_used[device] = true;
	imported_add_context(process, &row);
}

/* The others are lost when the recording is read. */
static void count_op(struct imported_process *process, bool is_kernel, int64_t start_ns,
		     int64_t end_ns)
{
	bool is_usable = usable_times(start_ns, end_ns);

	process->op_count += is_usable;
	process->kernel_count += is_kernel;
	process->usable_kernel_count += is_kernel && is_usable;
	if (is_usable)
		imported_saw(process, end_ns);
}

/* A device that the file does not describe is as those that it does where they are all alike: AMD's numbers in traces
 * of PyTorch count the processors, too.  Without any it has a number alone. */
static void describe_device(struct imported_process *process, uint32_t device)
{
	const struct trace_devices_row *first = process->devices;
	struct trace_devices_row row = {.name = "unknown GPU"};
	bool is_like_all = process->device_count > 0;

	for (size_t i = 0; i < process->device_count; i++)
		is_like_all = is_like_all && !strcmp(process->devices[i].name, first->name);
	if (is_like_all)
		row = *first;
	row.device = device;
	row.uuid = "";
	imported_add_device(process, &row);
}

static void describe_devices(struct imported_process *process)
{
	bool is_described[DEVICE_LIMIT] = {false};

	for (size_t i = 0; i < process->device_count; i++)
		if (process->devices[i].device < DEVICE_LIMIT)
			is_described[process->devices[i].device] = true;
	for (uint32_t device = 0; device < DEVICE_LIMIT; device++)
		if (process->is_used[device] && !is_described[device])
			describe_device(process, device);
}

/* Two files without uuids may mean two GPUs by number 0. */
static void write_devices(struct imported_process *process)
{
	describe_devices(process);
	for (size_t i = 0; i < process->device_count; i++) {
		union trace_row row = {.devices = process->devices[i]};
		char uuid[192];

		if (row.devices.device >= DEVICE_LIMIT || !process->is_used[row.devices.device])
			continue;
		snprintf(uuid, sizeof(uuid), "file %zu%s%s, GPU %" PRIu32, process->file,
			 process->part ? ", " : "", process->part ? process->part : "",
			 row.devices.device);
		if (!*row.devices.uuid && (process->imported->file_count > 1 || process->part))
			row.devices.uuid = uuid;
		process_writer_add(process->writer, TRACE_TABLE_devices, &row);
		process->is_used[row.devices.device] = false; /* once */
	}
}

/* ---- calls and operations ---- */

static bool is_blocking_copy(const char *name)
{
	return (strstr(name, "Memcpy") || strstr(name, "Memset")) && !strstr(name, "Async") &&
	       !strstr(name, "Batch") && !strstr(name, "Graph");
}

static bool is_launch(const char *name)
{
	enum profile_call_class class;
	char plain[128];

	api_plain_name(plain, sizeof(plain), name);
	class = api_class(plain);
	return class == CALL_GRAPH_LAUNCH || (class == CALL_LAUNCH && strstr(plain, "Kernel"));
}

void imported_add_call(struct imported_process *process, const struct trace_api_row *call,
		       const char *name)
{
	union trace_row row = {.api = *call};

	row.api.name = process_writer_name(process->writer, name);
	process->launch_count += is_launch(name);
	process_writer_add(process->writer, TRACE_TABLE_api, &row);
	imported_saw(process, call->end_ns);
	if (is_blocking_copy(name))
		(void)is_new(process, &process->blocking, &call->correlation,
			     sizeof(call->correlation));
}

void imported_add_kernel(struct imported_process *process, const struct trace_kernels_row *kernel,
			 const struct trace_signatures_row *signature, const char *name)
{
	struct trace_signatures_row look = *signature;
	union trace_row row = {.kernels = *kernel};

	look.name = process_writer_name(process->writer, name);
	row.kernels.signature = process_writer_signature(process->writer, &look);
	if (row.kernels.signature > process->shape_count && !process->is_counters) {
		process->shape_count = row.kernels.signature;
		if (kernel_shapes_add(&process->imported->shapes, name, &look) < 0)
			fail(process->imported, -ENOMEM);
	}
	process_writer_add(process->writer, TRACE_TABLE_kernels, &row);
	count_op(process, true, kernel->start_ns, kernel->end_ns);
	use(process, kernel->device, kernel->context);
}

void imported_drop_kernel(struct imported_process *process)
{
	process->kernel_count++;
}

void imported_add_graph(struct imported_process *process, const struct trace_graphs_row *graph)
{
	process_writer_add(process->writer, TRACE_TABLE_graphs,
			   &(union trace_row){.graphs = *graph});
	count_op(process, true, graph->start_ns, graph->end_ns);
	use(process, graph->device, graph->context);
}

void imported_add_copy(struct imported_process *process, const struct trace_copies_row *copy)
{
	struct trace_copies_row *place =
		ARRAY_NEXT(process->copies, process->copy_capacity, process->copy_count);

	if (!place) {
		fail(process->imported, -ENOMEM);
		return;
	}
	*place = *copy;
	process->copy_count++;
	count_op(process, false, copy->start_ns, copy->end_ns);
	use(process, copy->device, copy->context);
}

void imported_add_memset(struct imported_process *process, const struct trace_memsets_row *set)
{
	struct trace_memsets_row *place =
		ARRAY_NEXT(process->memsets, process->memset_capacity, process->memset_count);

	if (!place) {
		fail(process->imported, -ENOMEM);
		return;
	}
	*place = *set;
	process->memset_count++;
	count_op(process, false, set->start_ns, set->end_ns);
	use(process, set->device, set->context);
}

static bool is_async(const struct imported_process *process, uint32_t correlation)
{
	return groups_look(&process->blocking, &correlation, sizeof(correlation)) == UINT32_MAX;
}

static void write_copies(struct imported_process *process)
{
	for (size_t i = 0; i < process->copy_count; i++) {
		union trace_row row = {.copies = process->copies[i]};

		row.copies.is_async = is_async(process, row.copies.correlation);
		process_writer_add(process->writer, TRACE_TABLE_copies, &row);
	}
	for (size_t i = 0; i < process->memset_count; i++) {
		union trace_row row = {.memsets = process->memsets[i]};

		row.memsets.is_async = is_async(process, row.memsets.correlation);
		process_writer_add(process->writer, TRACE_TABLE_memsets, &row);
	}
}

void imported_add_range(struct imported_process *process, const struct imported_range *range)
{
	union trace_row row = {
		.markers = {
			.time_ns = range->start_ns,
			.id = ++process->marker_count,
			.phase = range->end_ns == range->start_ns ? 0 : 1,
			.is_thread = range->is_push_pop,
			.thread = range->thread,
			.domain = process_writer_name(process->writer, range->domain),
			.name = process_writer_name(process->writer, range->name),
		}};

	process_writer_add(process->writer, TRACE_TABLE_markers, &row);
	imported_saw(process, range->end_ns);
	if (range->end_ns <= range->start_ns)
		return;
	row.markers.time_ns = range->end_ns;
	row.markers.phase = 2;
	row.markers.domain = row.markers.name = 0;
	process_writer_add(process->writer, TRACE_TABLE_markers, &row);
}

/* ---- open and close ---- */

struct imported *imported_open(const char *folder, size_t file_count, struct sentences *notes)
{
	struct imported *imported = calloc(1, sizeof(*imported));

	if (!imported)
		return NULL;
	snprintf(imported->folder, sizeof(imported->folder), "%s", folder);
	imported->file_count = file_count;
	imported->notes = notes;
	return imported;
}

void imported_next_file(struct imported *imported)
{
	imported->file++;
	imported->processes_of_file = 0;
}

/* host.pid, as the collector names folders. */
static void name_folder(struct imported_process *process)
{
	const char *host = *process->host ? process->host : "imported";
	char from[PATH_MAX + 32], to[PATH_MAX + 192];

	snprintf(from, sizeof(from), "%s/%zu", process->imported->folder, process->number);
	snprintf(to, sizeof(to), "%s/%s.%" PRIu64, process->imported->folder, host, process->pid);
	for (size_t i = 0; i < process->number; i++) {
		const struct imported_process *other = process->imported->processes[i];

		if (other->pid == process->pid && !strcmp(other->host, process->host))
			snprintf(to, sizeof(to), "%s/%s-%zu.%" PRIu64, process->imported->folder,
				 host, process->number, process->pid);
	}
	if (rename(from, to) < 0)
		fail(process->imported, -errno);
}

/* Which run of the program it was: counters are joined to the times of the others. */
static void write_run(struct imported_process *process)
{
	const struct imported *imported = process->imported;

	if (process->is_counters)
		process_writer_number(process->writer, "run", RUN_COUNTERS);
	for (size_t i = 0; i < imported->process_count && !process->is_counters; i++)
		if (imported->processes[i]->is_counters) {
			process_writer_number(process->writer, "run", RUN_TRACE);
			return;
		}
}

static int close_process(struct imported_process *process, int rc, struct err *err)
{
	if (rc == 0) {
		write_run(process);
		write_devices(process);
		write_copies(process);
		if (process->pid) /* 0: the file does not have it */
			process_writer_number(process->writer, "pid", (int64_t)process->pid);
		process_writer_number(process->writer, "sealed_ns", process->last_ns);
	}
	rc = process_writer_close(process->writer, rc, err);
	for (size_t i = 0; i < process->device_count; i++) {
		free((char *)process->devices[i].name);
		free((char *)process->devices[i].uuid);
	}
	groups_free(&process->contexts);
	groups_free(&process->streams);
	groups_free(&process->blocking);
	free(process->devices);
	free(process->copies);
	free(process->memsets);
	free(process->set);
	free(process->part);
	if (rc == 0)
		name_folder(process);
	return rc;
}

/* Nothing is told of a run of which no operation can be used, or no kernel where there were some. */
static int check_operations(const struct imported *imported, struct err *err)
{
	uint64_t op_count = 0, kernel_count = 0, usable_kernel_count = 0, launch_count = 0;

	for (size_t i = 0; i < imported->process_count; i++) {
		const struct imported_process *process = imported->processes[i];

		if (process->is_counters)
			continue;
		op_count += process->op_count;
		kernel_count += process->kernel_count;
		launch_count += process->launch_count;
		usable_kernel_count += process->usable_kernel_count;
	}
	if (kernel_count && !usable_kernel_count)
		return err_set(
			err, -ENODATA,
			"none of the %" PRIu64
			" kernels in what was given has times that can be used: numbers, the "
			"end behind the start; it is damaged, export it again",
			kernel_count);
	if (!op_count && launch_count)
		return err_set(
			err, -ENODATA,
			"nothing ran on a GPU in what was given: %" PRIu64
			" launch%s, but no kernel record%s%s%s; the profiler recorded calls of the "
			"host alone: let it record CUDA's activities, and nothing else use CUPTI",
			launch_count, launch_count == 1 ? "" : "es",
			*imported->diagnostic ? "; the file says: '" : "", imported->diagnostic,
			*imported->diagnostic ? "'" : "");
	if (!op_count)
		return err_set(err, -ENODATA,
			       "nothing ran on a GPU in what was given: no kernel, copy or memset "
			       "with times; record with CUDA activities, and give counters beside "
			       "that");
	return 0;
}

int imported_close(struct imported *imported, int rc, struct err *err)
{
	if (rc == 0)
		rc = imported_failure(imported, err);
	for (size_t i = 0; i < imported->process_count; i++)
		rc = close_process(imported->processes[i], rc, err);
	if (rc == 0 && imported->failure)
		rc = err_set(err, imported->failure, "%s", imported->err.text);
	if (rc == 0)
		rc = check_operations(imported, err);
	if (rc == 0 && *imported->diagnostic &&
	    sentences_add(imported->notes, "the file says: %s", imported->diagnostic) < 0)
		rc = err_set(err, -ENOMEM, "%s: out of memory", imported->folder);
	for (size_t i = 0; i < imported->process_count; i++)
		free(imported->processes[i]);
	kernel_shapes_free(&imported->shapes);
	free(imported->processes);
	free(imported);
	return rc;
}
