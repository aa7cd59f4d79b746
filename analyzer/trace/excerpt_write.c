/* excerpt_write.c - which rows of a recording an excerpt has. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/stable_sort.h"
#include "trace/excerpt.h"
#include "trace/id_map.h"
#include "trace/process_facts.h"
#include "trace/process_writer.h"
#include "trace/reader.h"
#include "trace/table_form.h"

/* Which rows of a table stay; of one that is not named all do. */
enum rule {
	RULE_ALL,
	RULE_OPERATION, /* that reach into the time, and those that were counted: counters refer to them */
	RULE_TIME,   /* that reach into the time */
	RULE_BEFORE, /* until the time ends: what was allocated and loaded before is still there */
	RULE_CALL,   /* of calls that stay */
	RULE_RANGE   /* starts and ends of ranges that reach into the time */
};

static const enum rule rules[TRACE_TABLE_COUNT] = {[TRACE_TABLE_kernels] = RULE_OPERATION,
						   [TRACE_TABLE_copies] = RULE_OPERATION,
						   [TRACE_TABLE_memsets] = RULE_OPERATION,
						   [TRACE_TABLE_graphs] = RULE_OPERATION,
						   [TRACE_TABLE_api] = RULE_TIME,
						   [TRACE_TABLE_syncs] = RULE_TIME,
						   [TRACE_TABLE_managed] = RULE_TIME,
						   [TRACE_TABLE_overheads] = RULE_TIME,
						   [TRACE_TABLE_jit] = RULE_TIME,
						   [TRACE_TABLE_power] = RULE_TIME,
						   [TRACE_TABLE_samples] = RULE_TIME,
						   [TRACE_TABLE_collectives] = RULE_TIME,
						   [TRACE_TABLE_communicators] = RULE_BEFORE,
						   [TRACE_TABLE_modules] = RULE_BEFORE,
						   [TRACE_TABLE_allocations] = RULE_BEFORE,
						   [TRACE_TABLE_event_calls] = RULE_CALL,
						   [TRACE_TABLE_loads] = RULE_CALL,
						   [TRACE_TABLE_launch_attributes] = RULE_CALL,
						   [TRACE_TABLE_launch_arguments] = RULE_CALL,
						   [TRACE_TABLE_markers] = RULE_RANGE};

/* The time that rows are taken of: the part, and what reaches out of it. */
struct span {
	int64_t from_ns, to_ns;
};

struct excerpt {
	const struct profile *profile;
	const char *path, *told, *folder; /* path: of the whole recording */
	struct span span;
};

/* One process, table by table. */
struct taking {
	struct process_writer *writer;
	struct span span;
	enum trace_table table;
	struct id_map calls, counted; /* correlations: of calls that stay, and that were counted */
	bool has_calls;
	struct trace_markers_row *markers;
	size_t marker_count, marker_capacity;
	struct reader_losses losses;
};

/* ---- values of a row, by the name of the column ---- */

/* NULL: the table has no such column. */
static const void *value_of(enum trace_table table, const union trace_row *row, const char *name)
{
	struct table_form form = table_form_of(table);

	for (size_t i = 0; i < form.column_count; i++)
		if (!strcmp(form.columns[i].name, name))
			return (const char *)row + form.columns[i].offset;
	return NULL;
}

static int64_t time_of(enum trace_table table, const union trace_row *row, const char *name,
		       int64_t fallback)
{
	const trace_i64 *time_ns = value_of(table, row, name);

	return time_ns ? *time_ns : fallback;
}

static uint32_t correlation_of(enum trace_table table, const union trace_row *row)
{
	const trace_u32 *correlation = value_of(table, row, "correlation");

	return correlation ? *correlation : 0;
}

/* ---- what stays ---- */

/* Rows whose times cannot be are counted as lost by who reads them: they stay. */
static bool reaches_into(const struct taking *taking, const union trace_row *row)
{
	int64_t time_ns = time_of(taking->table, row, "time_ns", 0);
	int64_t start_ns = time_of(taking->table, row, "start_ns", time_ns);
	int64_t end_ns = time_of(taking->table, row, "end_ns", start_ns);

	return start_ns <= 0 || end_ns < start_ns ||
	       (end_ns >= taking->span.from_ns && start_ns <= taking->span.to_ns);
}

static bool is_listed(const struct id_map *map, uint32_t correlation)
{
	return correlation && id_map_get(map, correlation) != PROFILE_NONE;
}

static bool stays(const struct taking *taking, const union trace_row *row)
{
	uint32_t correlation = correlation_of(taking->table, row);

	switch (rules[taking->table]) {
	case RULE_OPERATION:
		return reaches_into(taking, row) || is_listed(&taking->counted, correlation);
	case RULE_TIME:
		return reaches_into(taking, row);
	case RULE_BEFORE:
		return time_of(taking->table, row, "time_ns", 0) <= taking->span.to_ns;
	case RULE_CALL:
		return !correlation || !taking->has_calls || is_listed(&taking->calls, correlation);
	default:
		return true;
	}
}

static int take_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct taking *taking = context;

	(void)place;
	if (!stays(taking, row))
		return 0;
	process_writer_add(taking->writer, taking->table, row);
	if (taking->table != TRACE_TABLE_api)
		return 0;
	taking->has_calls = true;
	return id_map_put(&taking->calls, row->api.correlation, 0);
}

static int note_counted(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct taking *taking = context;
	int rc = id_map_put(&taking->counted, row->counted.correlation, 0);

	(void)place;
	return rc < 0 ? rc : id_map_put(&taking->counted, row->counted.like, 0);
}

/* ---- ranges: a start stays with its end ---- */

enum { PHASE_START = 1, PHASE_END = 2 };

static int note_marker(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct taking *taking = context;
	struct trace_markers_row *marker =
		ARRAY_NEXT(taking->markers, taking->marker_capacity, taking->marker_count);

	(void)place;
	if (!marker)
		return -ENOMEM;
	*marker = row->markers;
	taking->marker_count++;
	return 0;
}

static int compare_markers(const void *left, const void *right)
{
	const struct trace_markers_row *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void put_marker(struct taking *taking, const struct trace_markers_row *marker)
{
	process_writer_add(taking->writer, TRACE_TABLE_markers,
			   &(union trace_row){.markers = *marker});
}

static int take_markers(struct taking *taking)
{
	const struct trace_markers_row *markers;
	int rc = stable_sort(taking->markers, taking->marker_count, sizeof(*taking->markers),
			     compare_markers);

	markers = taking->markers;
	for (size_t i = 0; rc == 0 && i < taking->marker_count; i++) {
		bool is_start = markers[i].phase == PHASE_START;
		bool has_end = is_start && i + 1 < taking->marker_count &&
			       markers[i + 1].id == markers[i].id &&
			       markers[i + 1].phase == PHASE_END;
		int64_t end_ns = has_end    ? markers[i + 1].time_ns
				 : is_start ? INT64_MAX
					    : markers[i].time_ns;

		if (markers[i].time_ns <= taking->span.to_ns && end_ns >= taking->span.from_ns) {
			put_marker(taking, &markers[i]);
			if (has_end)
				put_marker(taking, &markers[i + 1]);
		}
		i += has_end;
	}
	return rc;
}

/* ---- a process ---- */

static int read_table(struct taking *taking, const struct recording_process *source,
		      enum trace_table table, reader_row each, struct reader_losses *losses,
		      struct err *err)
{
	int rc;

	taking->table = table;
	rc = reader_read_table(source, table, each, taking, losses, err);
	return rc == -ENOENT ? 0 : rc;
}

static int take_tables(struct taking *taking, const struct recording_process *source,
		       struct err *err)
{
	struct reader_losses told_already = {0};
	int rc = read_table(taking, source, TRACE_TABLE_counted, note_counted, &told_already, err);

	for (int table = 0; rc == 0 && table < TRACE_TABLE_COUNT; table++)
		rc = read_table(taking, source, (enum trace_table)table,
				table == TRACE_TABLE_markers ? note_marker : take_row,
				&taking->losses, err);
	return rc < 0 ? rc : take_markers(taking);
}

/* What could not be read is not in the excerpt either. */
static void put_losses(struct taking *taking, int64_t time_ns)
{
	for (int kind = 0; kind < READER_LOSS_COUNT; kind++)
		if (taking->losses.count[kind])
			process_writer_add(taking->writer, TRACE_TABLE_losses,
					   &(union trace_row){
						   .losses = {time_ns,
							      reader_loss_name(
								      (enum reader_loss)kind),
							      taking->losses.count[kind],
							      taking->losses.first[kind]}});
}

/* Threads that take turns are one (loader_turns.c), which a part alone does not tell: "LEADER THREAD...". */
static void put_turns(struct taking *taking, const struct profile *profile,
		      const struct profile_process *process)
{
	char text[4096];
	size_t used =
		(size_t)snprintf(text, sizeof(text), "%u",
				 profile->thread_count ? profile->threads[process->leader].thread
						       : 0);
	bool is_any = false;

	for (size_t i = 0; i < profile->thread_count && used + 16 < sizeof(text); i++) {
		const struct profile_thread *thread = &profile->threads[i];

		if (!thread->is_joined || &profile->processes[thread->process] != process)
			continue;
		is_any = true;
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %u", thread->thread);
	}
	process_writer_fact(taking->writer, "excerpt_turns", is_any ? text : NULL);
}

/* process: as the part has it; NULL: of the run with counters, of which nothing has a time. */
static void put_facts(struct taking *taking, const struct excerpt *excerpt,
		      const struct profile_process *process)
{
	const struct profile_window *window = &excerpt->profile->window;

	if (!process)
		return;
	process_writer_fact(taking->writer, "excerpt", excerpt->told);
	put_turns(taking, excerpt->profile, process);
	process_writer_number(taking->writer, "excerpt_first_ns", window->first_ns);
	if (window->from_ns != INT64_MIN)
		process_writer_number(taking->writer, "excerpt_from_ns", window->from_ns);
	if (window->to_ns != INT64_MAX)
		process_writer_number(taking->writer, "excerpt_to_ns", window->to_ns);
	process_writer_number(taking->writer, "excerpt_process_first_ns", process->first_ns);
	process_writer_number(taking->writer, "excerpt_process_last_ns", process->last_ns);
	if (window->is_without_samples)
		process_writer_number(taking->writer, "excerpt_without_samples", 1);
}

static const struct profile_process *find_process(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (!strcmp(profile->processes[i].folder, name))
			return &profile->processes[i];
	return NULL;
}

/* An excerpt is as old as the recording, for who looks for the newest. */
static void keep_time(const struct excerpt *excerpt, const struct recording_process *source,
		      const char *folder)
{
	char path[PATH_MAX + 16];
	struct stat status;

	snprintf(path, sizeof(path), "%s/process.csv", source->path);
	if (stat(path, &status) < 0 && stat(excerpt->path, &status) < 0)
		return;
	snprintf(path, sizeof(path), "%s/process.csv", folder);
	(void)utimensat(AT_FDCWD, path, (const struct timespec[2]){status.st_mtim, status.st_mtim},
			0);
}

static int take_process(const struct excerpt *excerpt, const struct recording_process *source,
			struct err *err)
{
	static const struct span never = {INT64_MAX, INT64_MIN};
	struct taking taking = {.span = source->run == RUN_COUNTERS ? never : excerpt->span};
	char folder[PATH_MAX];
	int rc;

	if ((size_t)snprintf(folder, sizeof(folder), "%s/%s", excerpt->folder, source->name) >=
	    sizeof(folder))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", source->name);
	rc = process_writer_open(&taking.writer, folder, err);
	if (rc == 0)
		rc = take_tables(&taking, source, err);
	if (rc == 0) {
		put_losses(&taking, excerpt->profile->window.first_ns);
		put_facts(&taking, excerpt,
			  source->run == RUN_COUNTERS
				  ? NULL
				  : find_process(excerpt->profile, source->name));
	} else {
		err_set(err, rc, "%s: %s", source->path, strerror(-rc));
	}
	id_map_clear(&taking.calls);
	id_map_clear(&taking.counted);
	free(taking.markers);
	rc = process_writer_close(taking.writer, rc, err);
	if (rc == 0)
		keep_time(excerpt, source, folder);
	return rc;
}

/* ---- all of it ---- */

static void widen(struct span *span, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < span->from_ns)
		span->from_ns = start_ns;
	if (end_ns > span->to_ns)
		span->to_ns = end_ns;
}

/* The part, its operations and those around it, and the calls that launched them. */
static struct span span_of(const struct profile *profile)
{
	struct span span = {profile->window.from_ns, profile->window.to_ns};

	for (size_t i = 0; i < profile->op_count + profile->outside_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		widen(&span, op->start_ns, op->end_ns);
		if (op->call != PROFILE_NONE)
			widen(&span, profile->calls[op->call].start_ns,
			      profile->calls[op->call].end_ns);
	}
	return span;
}

int excerpt_write(const struct profile *profile, const char *path, const char *told,
		  const char *folder, struct err *err)
{
	const struct excerpt excerpt = {profile, path, told, folder, span_of(profile)};
	struct recording recording;
	int rc = recording_open(&recording, path, err);

	if (rc == 0 && (rc = process_facts_read(&recording)) < 0)
		err_set(err, rc, "%s: out of memory", path);
	for (size_t i = 0; rc == 0 && i < recording.process_count; i++)
		if (recording.processes[i].run != RUN_GRAPHS &&
		    recording.processes[i].run != RUN_SAMPLES &&
		    recording.processes[i].run != RUN_UNTRACED)
			rc = take_process(&excerpt, &recording.processes[i], err);
	recording_close(&recording);
	return rc;
}
