/*
 * loader.h - how rows become a profile; private to trace/.
 *
 * Every process folder is loaded in this order:
 *
 *   1. the small tables that others refer to         loader_tables.c
 *   2. at the same time, because they are large:
 *        kernels                                     loader_ops.c
 *        api, sorted, threads that take turns        loader_calls.c,
 *        joined, and nested calls dropped            loader_turns.c
 *        samples, clocks and power                   loader_samples.c
 *        everything else                             loader_ops.c, loader_events.c,
 *                                                    loader_arguments.c,
 *                                                    loader_counters.c
 *   3. ids of operations become indexes, operations find their calls, markers
 *      become ranges, counters find their launches   loader_ops.c, loader_ranges.c,
 *                                                    loader_counters.c
 *
 * and after all of them operations are sorted and packed    loader_keep.c
 *
 * During 2 the maps of 1 are only read, threads[], call_names[] and calls[]
 * belong to the thread that reads api, ops[] to the one that reads kernels,
 * samples[], sampled_spans[] and powers[] to the one that reads samples, and all the
 * rest to the fourth, so that nothing needs a lock.
 */
#ifndef ROOFLINE_LOADER_H
#define ROOFLINE_LOADER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/array.h"
#include "base/groups.h"
#include "trace/demangler.h"
#include "trace/id_map.h"
#include "trace/profile.h"
#include "trace/reader.h"
#include "base/strings.h"
#include "trace/tables.h"
#include "roofline/runs.h"

/* Items that the arrays of the profile have room for. */
struct loader_capacity {
	size_t processes, devices, streams, threads, kernel_names, signatures, machine_codes,
		copies, memsets, graph_launches, ops, call_names, calls, ranges, syncs, overheads,
		jits, loads, modules, module_kernels, metrics, counters, counted_graphs, samples,
		sampled_spans, powers, allocations, event_calls, launches, manageds, arguments,
		argument_sets, givens, clones, losses, nccl_calls, communicators, lost_launches;
};

/* What ids stand for; read whatever is asked for. */
#define TABLES_SMALL                                                                         \
	(TABLE(process) | TABLE(names) | TABLE(devices) | TABLE(contexts) | TABLE(streams) | \
	 TABLE(signatures) | TABLE(machine_code) | TABLE(threads) | TABLE(metrics) |         \
	 TABLE(sampled_metrics))

/* An operation while processes are read; loader_keep_ops() makes profile->ops[] of them. */
struct loaded_op {
	struct profile_op op;
	uint32_t device; /* devices[] */
	struct profile_op_ids ids;
};

struct loader {
	struct profile *profile;
	struct loaded_op *ops;
	size_t op_count;
	uint64_t tables;		 /* those to read */
	const struct host_clock *clocks; /* by which times are moved */
	size_t clock_count;
	struct loader_capacity capacity;
	struct strings *texts;	      /* profile->strings */
	struct strings *kernel_texts; /* numbers are indexes of kernel_names[] */
	struct strings *call_texts;   /* numbers are indexes of call_names[] */
	struct strings *metric_texts; /* numbers are indexes of metrics[] */
	struct signature_node *signature_set;
	struct demangler demangler;
	struct counter_node *counter_set;
	struct groups device_identities; /* numbers are indexes of devices[] */
	uint32_t *next_stream; /* as streams[]: another one with the same stream id, or NONE */
	size_t next_stream_capacity;
};

/* What one of the threads of step 2 found out. */
struct loader_task {
	struct process_loader *owner;
	struct reader_losses losses;
	int64_t first_ns, last_ns; /* of its rows; both 0 while there are none */
	unsigned opened_count;	   /* tables that could be opened */
	struct err err;
};

struct context_entry {
	uint32_t device; /* devices[] */
	uint32_t null_stream;
};

struct marker {
	int64_t time_ns;
	uint32_t id, thread; /* system thread id */
	const char *domain, *name;
	uint8_t phase, is_thread;
};

/* From correlation ids of one process to calls[]. */
struct correlation_pair {
	uint32_t correlation, call;
};

struct correlation_map {
	uint32_t first;	 /* correlation of dense[0] */
	uint32_t *dense; /* calls[] or PROFILE_NONE; NULL when the ids are too far apart */
	size_t dense_count;
	struct correlation_pair *pairs; /* by correlation, when there is no dense[] */
	size_t pair_count;
};

/* A launch that counted.csv names. */
struct counted_entry {
	uint32_t like;	  /* correlation of the first launch of its kind */
	uint32_t subject; /* signatures[] or counted_graphs[]; PROFILE_NONE until it is found */
	bool is_graph;
	uint64_t line; /* of counted.csv */
	uint32_t launch_count,
		recorded_count; /* launches, and those of them that kernels.csv has */
};

struct counter_value {
	uint32_t counted; /* process_loader.counted[] */
	uint32_t metric;  /* metrics[] */
	double value;
};

struct process_loader {
	struct loader *loader;
	const struct recording_process *source;
	uint32_t process;
	uint64_t tables;  /* of the loader's, and what those need */
	int64_t ahead_ns; /* that all times are moved back by */
	struct id_map names, devices, contexts, streams, signatures, threads, metrics;
	struct id_map name_kernels; /* from names.id of kernels to kernel_names[] */
	const char **name_texts;    /* by index in names */
	uint32_t *name_calls;	    /* call_names[] of it, or PROFILE_NONE until a call needs it */
	size_t name_count, name_text_capacity, name_call_capacity;
	struct context_entry *context_entries;
	size_t context_count, context_capacity;
	size_t property_capacity;
	struct groups stream_numbers; /* by context and id; from first_stream */
	uint32_t first_stream;
	size_t first_op, first_call, first_copy, first_sync, first_overhead, first_jit,
		first_module, first_loss, first_load, first_allocation, first_event_call,
		first_launch, first_nccl_call;
	struct loaded_op *other_ops; /* all but kernels, until they join ops[] */
	size_t other_op_count, other_op_capacity;
	struct marker *markers;
	size_t marker_count, marker_capacity;
	struct correlation_map correlations;
	struct id_map counted_ids, counted_correlations, counted_likes; /* to counted[] */
	struct id_map counted_graphs;					/* from graph ids */
	struct id_map argument_ids;					/* to argument_sets[] */
	struct counted_entry *counted;
	size_t counted_count, counted_capacity;
	struct counter_value *counter_values;
	size_t counter_value_count, counter_value_capacity;
	struct groups loss_kinds; /* kinds of this process; numbers from first_loss */
	struct loader_task small, kernels, calls, samples, others;
};

/* ---- loader.c: what the others share ---- */

/* Reads one table for a task, where it was asked for; a file that is missing or cannot be read is no failure. */
int loader_read(struct loader_task *task, enum trace_table table, reader_row each);

/* Whether the table has a row. */
bool loader_has_rows(const struct recording_process *source, enum trace_table table);

/* Whether a row's times can be used: both set, in order, less than 30 days apart.  Counts the row
 * as lost otherwise. */
bool loader_check_times(struct loader_task *task, int64_t start_ns, int64_t end_ns,
			const struct reader_place *place);

/* Adds to what was lost in the process. */
int loader_add_loss(struct process_loader *loader, const char *kind, uint64_t count,
		    const char *detail);

/* The same of a process that was read before. */
int loader_add_loss_of(struct loader *loader, uint32_t process, const char *kind, uint64_t count,
		       const char *detail);

/* Adds to what was lost the tables that are not there and should be, when all processes are there.  -ENOMEM. */
int loader_tell_missing(struct loader *loader, const struct recording *recording);

/* Fills in loss_sums[] when all processes are there.  -ENOMEM. */
int loader_sum_losses(struct profile *profile);

/* ---- loader_process.c ---- */

/* Loads one process.  -ENODATA: none of its tables could be opened, described in err and
 * nothing was added; -ENOMEM. */
int loader_add_process(struct loader *loader, const struct recording_process *source,
		       struct err *err);

/* ---- loader_tables.c ---- */

int loader_read_small_tables(struct process_loader *loader);
int loader_parse_process_facts(struct process_loader *loader);

/* A property as a number; fallback when it is absent, negative or none. */
int64_t loader_property_number(const struct profile_process *process, const char *key,
			       int64_t fallback);

/* The text of names.id, or NULL when there is none. */
const char *loader_name(const struct process_loader *loader, uint32_t id);

/* The index of a device, stream or thread, made up when no table described it.  PROFILE_NONE
 * without memory. */
uint32_t loader_device(struct process_loader *loader, uint32_t ordinal);
uint32_t loader_stream(struct process_loader *loader, uint32_t context, uint32_t stream,
		       uint32_t device);
/* The same of an operation that ran on that device: where the stream is of another one, it has such a stream on each. */
uint32_t loader_stream_on(struct process_loader *loader, uint32_t context, uint32_t stream,
			  uint32_t device);
/* The same of a call, of which the context is known that was current and not that of its stream: ids of streams are those
 * of a process, so where it is no stream of that context it is the one that there is. */
uint32_t loader_stream_of_any(struct process_loader *loader, uint32_t context, uint32_t stream,
			      uint32_t device);
uint32_t loader_thread(struct process_loader *loader, uint32_t thread);

/* ---- loader_signatures.c ---- */

/* The index of an equal signature, added when there is none.  name is mangled. */
uint32_t loader_signature(struct loader *loader, const struct trace_signatures_row *row,
			  const char *name);
void loader_free_signatures(struct loader *loader);

/* ---- loader_machine_code.c ---- */

/* A reader_row of machine_code.csv; signatures must be there. */
int loader_add_machine_code(const union trace_row *row, const struct reader_place *place,
			    void *context);
/* Sorts them and makes one of those of equal kernel and compute capability. */
void loader_sort_machine_codes(struct profile *profile);

/* ---- loader_ops.c ---- */

int loader_read_kernels(struct loader_task *task);
int loader_read_other_ops(struct loader_task *task);
int loader_resolve_ops(struct process_loader *loader);
void loader_link_ops(struct process_loader *loader);

/* ---- loader_keep.c ---- */

/* Fewer operations are gone through by one thread. */
#define LOADER_SLICE_OPS 65536

/* Moves the operations of all processes into the profile, sorted; loader->ops is empty then.  Returns 0 or -ENOMEM. */
int loader_keep_ops(struct loader *loader);

/* ---- loader_calls.c ---- */

/* Reads api, sorts the calls, joins threads that take turns, drops the nested calls and fills in
 * loader->correlations. */
int loader_read_calls(struct loader_task *task);

/* The process's calls by thread, then start.  Returns 0 or -ENOMEM. */
int loader_sort_calls(struct process_loader *loader);

/* calls[] of a correlation id, or PROFILE_NONE. */
uint32_t loader_call(const struct process_loader *loader, uint32_t correlation);

/* ---- loader_turns.c ---- */

/* Calls of threads that take turns become those of the one that calls most, as does all that is read of them from
 * then on: no two of these threads are in a call at the same time.  Takes as long as sorting the calls once.  Calls
 * must be sorted, and are again; nested ones are still there.  Returns 0 or -ENOMEM. */
int loader_join_threads(struct process_loader *loader);

/* ---- loader_events.c ---- */

int loader_read_events(struct loader_task *task);
/* Turns thread, stream and correlation ids of waits, overheads, JIT and allocations into indexes. */
int loader_resolve_events(struct process_loader *loader);

/* ---- loader_doubts.c ---- */

/* Leaves out operations of an imported process whose times are impossible, and notes launches without an operation and
 * clocks that differ; operations must be linked.  -ENOMEM. */
int loader_find_doubts(struct process_loader *loader);

/* ---- loader_arguments.c ---- */

int loader_read_arguments(struct loader_task *task);
/* Sorts what it read, and tells which sets are whole.  -ENOMEM. */
int loader_sort_arguments(struct profile *profile);

/* ---- loader_counters.c ---- */

/* A reader_row of metrics.csv. */
int loader_add_metric(const union trace_row *row, const struct reader_place *place, void *context);
int loader_read_counters(struct loader_task *task);
/* Marks the operations that were counted and adds the values to profile->counters. */
int loader_add_counters(struct process_loader *loader);
void loader_free_counters(struct loader *loader);

/* ---- loader_samples.c ---- */

/* A reader_row of sampled_metrics.csv. */
int loader_add_sampled_metric(const union trace_row *row, const struct reader_place *place,
			      void *context);
int loader_read_samples(struct loader_task *task);
/* Sorts both arrays, joins spans that touch, and gives every device its slices.  Returns 0 or a negative errno. */
int loader_sort_samples(struct loader *loader, struct err *err);

/* ---- loader_ranges.c ---- */

/* Pairs the markers; needs the bounds of the process. */
int loader_add_ranges(struct process_loader *loader);

#endif
