/* sqlite.c - a database with a table for each kind of row, ids as indexes and times in ns of CLOCK_REALTIME. */
#include <errno.h>
#include <string.h>

#include "analysis/time/gaps.h"
#include "exchange/export/exports.h"
#include "exchange/export/sqlite_rows.h"
#include "trace/samples.h"

/* Adds the rows of a table; returns 0 or a negative errno. */
typedef int (*table_filler)(struct sqlite_rows *rows, const struct report *report);

/* ---- what ran where ---- */

static int fill_processes(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		sqlite_rows_number(rows, (int64_t)i);
		sqlite_rows_text(rows, process->folder);
		sqlite_rows_text(rows, process->host);
		sqlite_rows_number(rows, (int64_t)process->pid);
		sqlite_rows_text(rows, process->command);
		sqlite_rows_index(rows, process->rank < 0 ? PROFILE_NONE : (uint32_t)process->rank);
		sqlite_rows_number(rows, process->first_ns);
		sqlite_rows_number(rows, process->last_ns);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_facts(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t j = 0; rc == 0 && j < profile->processes[i].property_count; j++) {
			sqlite_rows_number(rows, (int64_t)i);
			sqlite_rows_text(rows, profile->processes[i].properties[j].key);
			sqlite_rows_text(rows, profile->processes[i].properties[j].value);
			rc = sqlite_rows_next(rows);
		}
	return rc;
}

static int fill_devices(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->device_count; i++) {
		const struct profile_device *device = &profile->devices[i];
		const struct gap_device *time = &report->gaps->devices[i];

		sqlite_rows_number(rows, (int64_t)i);
		sqlite_rows_text(rows, device->name);
		sqlite_rows_text(rows, device->uuid);
		sqlite_rows_number(rows, device->compute_major);
		sqlite_rows_number(rows, device->compute_minor);
		sqlite_rows_number(rows, device->sm_count);
		sqlite_rows_number(rows, (int64_t)device->memory_bytes);
		sqlite_rows_number(rows, time->wall_ns);
		sqlite_rows_number(rows, time->busy_ns);
		sqlite_rows_number(rows, time->idle_ns);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_streams(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->stream_count; i++) {
		const struct profile_stream *stream = &profile->streams[i];

		sqlite_rows_number(rows, (int64_t)i);
		sqlite_rows_number(rows, stream->process);
		sqlite_rows_index(rows, stream->device);
		sqlite_rows_number(rows, stream->context);
		sqlite_rows_number(rows, stream->stream);
		sqlite_rows_number(rows, (int32_t)stream->priority);
		sqlite_rows_number(rows, stream->is_null);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_threads(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		sqlite_rows_number(rows, (int64_t)i);
		sqlite_rows_number(rows, profile->threads[i].process);
		sqlite_rows_number(rows, profile->threads[i].thread);
		sqlite_rows_text(rows, profile->threads[i].name);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_signatures(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->signature_count; i++) {
		const struct profile_signature *signature = &profile->signatures[i];

		sqlite_rows_number(rows, (int64_t)i);
		sqlite_rows_text(rows, signature->name);
		sqlite_rows_text(rows, signature->mangled);
		for (int axis = 0; axis < 3; axis++)
			sqlite_rows_number(rows, signature->grid[axis]);
		for (int axis = 0; axis < 3; axis++)
			sqlite_rows_number(rows, signature->block[axis]);
		for (int axis = 0; axis < 3; axis++)
			sqlite_rows_number(rows, signature->cluster[axis]);
		sqlite_rows_number(rows, signature->registers_per_thread);
		sqlite_rows_number(rows, signature->static_shared_bytes);
		sqlite_rows_number(rows, signature->dynamic_shared_bytes);
		sqlite_rows_number(rows, signature->local_bytes_per_thread);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

/* ---- operations ---- */

static void put_op(struct sqlite_rows *rows, const struct profile *profile, size_t index)
{
	const struct profile_op *op = &profile->ops[index];
	const struct profile_op_ids ids = profile_op_ids(profile, op);

	sqlite_rows_number(rows, (int64_t)index);
	sqlite_rows_number(rows, op->start_ns);
	sqlite_rows_number(rows, op->end_ns);
	sqlite_rows_number(rows, profile_op_device(profile, op));
	sqlite_rows_number(rows, op->stream);
	sqlite_rows_index(rows, op->call);
	sqlite_rows_index(rows, ids.graph ? ids.graph : PROFILE_NONE);
	if (ids.graph_node)
		sqlite_rows_number(rows, (int64_t)ids.graph_node);
	else
		sqlite_rows_index(rows, PROFILE_NONE);
}

#define OP_COLUMNS                                                                          \
	"id INTEGER PRIMARY KEY, start_ns INTEGER, end_ns INTEGER, device INTEGER, stream " \
	"INTEGER, call INTEGER, graph INTEGER, graph_node INTEGER"
#define OP_COLUMN_COUNT 8

static int fill_ops(struct sqlite_rows *rows, const struct profile *profile,
		    enum profile_op_kind kind,
		    void (*put_details)(struct sqlite_rows *rows, const struct profile *profile,
					uint32_t detail))
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		if (profile->ops[i].kind != kind)
			continue;
		put_op(rows, profile, i);
		put_details(rows, profile, profile->ops[i].detail);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static void put_signature(struct sqlite_rows *rows, const struct profile *profile, uint32_t detail)
{
	(void)profile;
	sqlite_rows_number(rows, detail);
}

static int fill_kernels(struct sqlite_rows *rows, const struct report *report)
{
	return fill_ops(rows, report->profile, OP_KERNEL, put_signature);
}

static void put_copy(struct sqlite_rows *rows, const struct profile *profile, uint32_t detail)
{
	const struct profile_copy *copy = &profile->copies[detail];

	sqlite_rows_text(rows, profile_copy_kind_name(copy->kind));
	sqlite_rows_number(rows, (int64_t)copy->bytes);
	sqlite_rows_text(rows, profile_memory_kind_name(copy->src_memory));
	sqlite_rows_text(rows, profile_memory_kind_name(copy->dst_memory));
	sqlite_rows_index(rows, copy->src_device);
	sqlite_rows_index(rows, copy->dst_device);
	sqlite_rows_number(rows, copy->is_async);
}

static int fill_copies(struct sqlite_rows *rows, const struct report *report)
{
	return fill_ops(rows, report->profile, OP_COPY, put_copy);
}

static void put_memset(struct sqlite_rows *rows, const struct profile *profile, uint32_t detail)
{
	sqlite_rows_number(rows, (int64_t)profile->memsets[detail].bytes);
	sqlite_rows_text(rows, profile_memory_kind_name(profile->memsets[detail].memory));
	sqlite_rows_number(rows, profile->memsets[detail].is_async);
}

static int fill_memsets(struct sqlite_rows *rows, const struct report *report)
{
	return fill_ops(rows, report->profile, OP_MEMSET, put_memset);
}

static void put_graph(struct sqlite_rows *rows, const struct profile *profile, uint32_t detail)
{
	sqlite_rows_number(rows, profile->graph_launches[detail].launch_mode);
}

static int fill_graphs(struct sqlite_rows *rows, const struct report *report)
{
	return fill_ops(rows, report->profile, OP_GRAPH, put_graph);
}

/* ---- the host ---- */

static int fill_calls(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];

		sqlite_rows_number(rows, (int64_t)i);
		sqlite_rows_number(rows, call->start_ns);
		sqlite_rows_number(rows, call->end_ns);
		sqlite_rows_text(rows, profile->call_names[call->name].text);
		sqlite_rows_number(rows, call->thread);
		sqlite_rows_number(rows, call->correlation);
		sqlite_rows_number(rows, call->result);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_ranges(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->range_count; i++) {
		const struct profile_range *range = &profile->ranges[i];

		sqlite_rows_number(rows, range->start_ns);
		sqlite_rows_number(rows, range->end_ns);
		sqlite_rows_text(rows, range->domain);
		sqlite_rows_text(rows, range->recorded_name ? range->recorded_name : range->name);
		sqlite_rows_number(rows, range->thread);
		sqlite_rows_number(rows, range->depth);
		sqlite_rows_number(rows, range->is_push_pop);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

/* ---- idle time ---- */

struct gap_rows {
	struct sqlite_rows *rows;
	const struct profile *profile;
};

/* Its row among the operations; NULL: it ran outside of the part that is written. */
static void put_op_number(struct sqlite_rows *rows, const struct profile *profile, size_t op)
{
	sqlite_rows_index(rows, op < profile->op_count ? (uint32_t)op : PROFILE_NONE);
}

static int put_gap(const struct gap *gap, void *context)
{
	const struct gap_rows *of = context;
	struct sqlite_rows *rows = of->rows;
	uint32_t left;
	int cause, rc = 0;

	GAP_EACH_CAUSE(left, cause, gap)
	{
		if (rc < 0)
			return rc;
		sqlite_rows_number(rows, gap->start_ns);
		sqlite_rows_number(rows, gap->end_ns);
		sqlite_rows_text(rows, gap_cause_key((enum gap_cause)cause));
		sqlite_rows_number(rows, gap->by_cause_ns[cause]);
		put_op_number(rows, of->profile, gap->before);
		put_op_number(rows, of->profile, gap->after);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_gaps(struct sqlite_rows *rows, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < report->profile->device_count; i++)
		rc = gaps_visit(report->gaps, i, put_gap,
				&(struct gap_rows){rows, report->profile});
	return rc;
}

/* ---- counters, samples, power, losses ---- */

static int fill_counters(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->counter_count; i++) {
		const struct profile_counter *counter = &profile->counters[i];
		uint32_t graph = counter->is_graph ? profile->counted_graphs[counter->subject].graph
						   : PROFILE_NONE;

		sqlite_rows_index(rows, counter->is_graph ? PROFILE_NONE : counter->subject);
		sqlite_rows_index(rows, graph);
		sqlite_rows_text(rows, profile->metrics[counter->metric].name);
		sqlite_rows_number(rows, (int64_t)counter->sample_count);
		sqlite_rows_fraction(rows, counter->mean);
		sqlite_rows_fraction(rows, counter->min);
		sqlite_rows_fraction(rows, counter->max);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_device_samples(struct sqlite_rows *rows, struct sample_cursor *cursor,
			       const struct profile_device *device)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < device->sample_count; i++) {
		const struct profile_sample *sample = sample_at(cursor, device->first_sample + i);
		const float values[] = {sample->dispatches,	  sample->blocks,
					sample->compute,	  sample->sm,
					sample->sm_min,		  sample->sm_max,
					sample->tensor,		  sample->dram_read_bytes,
					sample->dram_write_bytes, sample->l2_bytes,
					sample->atomic_bytes,	  sample->pcie_read_bytes,
					sample->pcie_write_bytes, sample->nvlink_rx_bytes,
					sample->nvlink_tx_bytes};

		sqlite_rows_number(rows, sample->start_ns);
		sqlite_rows_number(rows, (int64_t)sample->length_ns);
		sqlite_rows_number(rows, sample->device);
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++)
			sqlite_rows_fraction(rows, (double)values[j]);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_samples(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report_with_samples(report)->profile;
	struct sample_cursor cursor = sample_cursor_open(profile);
	int rc = 0, cursor_rc;

	for (size_t i = 0; rc == 0 && i < profile->device_count; i++)
		rc = fill_device_samples(rows, &cursor, &profile->devices[i]);
	cursor_rc = sample_cursor_close(&cursor);
	return rc < 0 ? rc : cursor_rc;
}

static int fill_power(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->power_count; i++) {
		const struct profile_power *power = &profile->powers[i];

		sqlite_rows_number(rows, power->time_ns);
		sqlite_rows_number(rows, power->device);
		sqlite_rows_number(rows, power->sm_clock_mhz);
		sqlite_rows_number(rows, power->memory_clock_mhz);
		sqlite_rows_number(rows, power->power_mw);
		sqlite_rows_number(rows, power->temperature_c);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

static int fill_losses(struct sqlite_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->loss_count; i++) {
		sqlite_rows_number(rows, profile->losses[i].process);
		sqlite_rows_text(rows, profile->losses[i].kind);
		sqlite_rows_number(rows, (int64_t)profile->losses[i].count);
		sqlite_rows_text(rows, profile->losses[i].detail);
		rc = sqlite_rows_next(rows);
	}
	return rc;
}

/* ---- the file ---- */

static const struct {
	const char *name, *columns;
	int column_count;
	table_filler fill;
} tables[] = {
	{"processes",
	 "id INTEGER PRIMARY KEY, folder TEXT, host TEXT, pid INTEGER, command TEXT, rank INTEGER, "
	 "first_ns INTEGER, last_ns INTEGER",
	 8, fill_processes},
	{"facts", "process INTEGER, key TEXT, value TEXT", 3, fill_facts},
	{"devices",
	 "id INTEGER PRIMARY KEY, name TEXT, uuid TEXT, compute_major INTEGER, compute_minor "
	 "INTEGER, sm_count INTEGER, memory_bytes INTEGER, wall_ns INTEGER, busy_ns INTEGER, "
	 "idle_ns INTEGER",
	 10, fill_devices},
	{"streams",
	 "id INTEGER PRIMARY KEY, process INTEGER, device INTEGER, context INTEGER, stream INTEGER, "
	 "priority INTEGER, is_default INTEGER",
	 7, fill_streams},
	{"threads", "id INTEGER PRIMARY KEY, process INTEGER, thread INTEGER, name TEXT", 4,
	 fill_threads},
	{"signatures",
	 "id INTEGER PRIMARY KEY, name TEXT, mangled TEXT, grid_x INTEGER, grid_y INTEGER, grid_z "
	 "INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER, cluster_x INTEGER, cluster_y "
	 "INTEGER, cluster_z INTEGER, registers_per_thread INTEGER, static_shared_bytes INTEGER, "
	 "dynamic_shared_bytes INTEGER, local_bytes_per_thread INTEGER",
	 16, fill_signatures},
	{"kernels", OP_COLUMNS ", signature INTEGER", OP_COLUMN_COUNT + 1, fill_kernels},
	{"copies",
	 OP_COLUMNS ", kind TEXT, bytes INTEGER, src_memory TEXT, dst_memory TEXT, src_device "
		    "INTEGER, dst_device INTEGER, is_async INTEGER",
	 OP_COLUMN_COUNT + 7, fill_copies},
	{"memsets", OP_COLUMNS ", bytes INTEGER, memory TEXT, is_async INTEGER",
	 OP_COLUMN_COUNT + 3, fill_memsets},
	{"graphs", OP_COLUMNS ", launch_mode INTEGER", OP_COLUMN_COUNT + 1, fill_graphs},
	{"calls",
	 "id INTEGER PRIMARY KEY, start_ns INTEGER, end_ns INTEGER, name TEXT, thread INTEGER, "
	 "correlation INTEGER, result INTEGER",
	 7, fill_calls},
	{"ranges",
	 "start_ns INTEGER, end_ns INTEGER, domain TEXT, name TEXT, thread INTEGER, depth INTEGER, "
	 "is_push_pop INTEGER",
	 7, fill_ranges},
	{"gaps",
	 "start_ns INTEGER, end_ns INTEGER, cause TEXT, cause_ns INTEGER, after_op INTEGER, "
	 "before_op INTEGER",
	 6, fill_gaps},
	{"counters",
	 "signature INTEGER, graph INTEGER, name TEXT, launches INTEGER, mean REAL, min REAL, max "
	 "REAL",
	 7, fill_counters},
	{"samples",
	 "start_ns INTEGER, length_ns INTEGER, device INTEGER, dispatches REAL, blocks REAL, compute "
	 "REAL, sm REAL, sm_min REAL, sm_max REAL, tensor REAL, dram_read_bytes REAL, "
	 "dram_write_bytes REAL, l2_bytes REAL, atomic_bytes REAL, pcie_read_bytes REAL, "
	 "pcie_write_bytes REAL, nvlink_rx_bytes REAL, nvlink_tx_bytes REAL",
	 18, fill_samples},
	{"power",
	 "time_ns INTEGER, device INTEGER, sm_clock_mhz INTEGER, memory_clock_mhz INTEGER, power_mw "
	 "INTEGER, temperature_c INTEGER",
	 6, fill_power},
	{"losses", "process INTEGER, kind TEXT, count INTEGER, detail TEXT", 4, fill_losses},
};

/* What most questions begin with. */
static const char views[] =
	"CREATE VIEW kernel_times AS SELECT s.name, count(*) AS count, sum(k.end_ns - k.start_ns) "
	"AS total_ns, min(k.end_ns - k.start_ns) AS min_ns, max(k.end_ns - k.start_ns) AS max_ns "
	"FROM kernels k JOIN signatures s ON s.id = k.signature GROUP BY s.name ORDER BY total_ns "
	"DESC;"
	"CREATE VIEW idle_by_cause AS SELECT cause, count(*) AS gaps, sum(cause_ns) AS total_ns FROM "
	"gaps GROUP BY cause ORDER BY total_ns DESC;";

static int fill_all(struct sqlite_rows *rows, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		rc = sqlite_rows_begin(rows, tables[i].name, tables[i].columns,
				       tables[i].column_count);
		if (rc == 0)
			rc = tables[i].fill(rows, report);
		sqlite_rows_end(rows);
	}
	return rc;
}

/* The file is new and appears under its name once it is whole, so nothing needs a journal. */
static int make(sqlite3 *file, const struct report *report)
{
	struct sqlite_rows rows = {.file = file};
	int rc;

	if (sqlite3_exec(file, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL,
			 NULL, NULL) != SQLITE_OK)
		return -EIO;
	rc = fill_all(&rows, report);
	if (rc == 0 && (sqlite3_exec(file, views, NULL, NULL, NULL) != SQLITE_OK ||
			sqlite3_exec(file, "COMMIT", NULL, NULL, NULL) != SQLITE_OK))
		rc = -EIO;
	return rc;
}

int export_sqlite(const struct report *report, const struct export_target *target, struct err *err)
{
	sqlite3 *file = NULL;
	int rc;

	if (!target->path)
		return err_set(
			err, -EINVAL,
			"%s: a database is not written from front to back; give -o the name of "
			"a file",
			target->name);
	rc = sqlite3_open_v2(target->path, &file, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK
		     ? make(file, report)
		     : -EIO;
	if (rc < 0)
		err_set(err, rc, "%s: could not be written: %s", target->name,
			rc == -ENODATA ? samples_why(rc)
			: file	       ? sqlite3_errmsg(file)
				       : strerror(ENOMEM));
	if (sqlite3_close(file) != SQLITE_OK && rc == 0)
		rc = err_set(err, -EIO, "%s: could not be written", target->name);
	return rc;
}
