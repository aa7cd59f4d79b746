#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "trace/loader.h"

static void count_copies(struct reader_losses *losses, const struct recording_process *source)
{
	const struct reader_place place = {source->name, TRACE_TABLE_process, 0};

	for (size_t i = 0; i < source->copy_count; i++)
		reader_count_loss(losses, READER_copied_processes, &place,
				  "%s holds the same process, which counts once",
				  source->copy_name);
}

static int add_reader_losses(struct process_loader *loader)
{
	struct reader_losses *sum = &loader->small.losses;
	int rc = 0;

	count_copies(sum, loader->source);

	reader_merge_losses(sum, &loader->kernels.losses);
	reader_merge_losses(sum, &loader->calls.losses);
	reader_merge_losses(sum, &loader->samples.losses);
	reader_merge_losses(sum, &loader->others.losses);
	for (int kind = 0; kind < READER_LOSS_COUNT && rc == 0; kind++)
		if (sum->count[kind])
			rc = loader_add_loss(loader, reader_loss_name(kind), sum->count[kind],
					     sum->first[kind]);
	return rc;
}

/* ---- the large tables, at the same time ---- */

static int read_kernels(void *task)
{
	return loader_read_kernels(task);
}

static int read_calls(void *task)
{
	return loader_read_calls(task);
}

static int read_samples(void *task)
{
	return loader_read_samples(task);
}

static int read_others(struct loader_task *task)
{
	int rc = loader_read_other_ops(task);

	if (rc == 0)
		rc = loader_read_events(task);
	return rc < 0 ? rc : loader_read_counters(task);
}

/* Roughly. */
#define ROW_BYTES 40

static size_t row_count(const struct process_loader *loader, enum trace_table table)
{
	return recording_table_bytes(loader->source, table) / ROW_BYTES;
}

/* Reads the large tables; ids of operations are resolved while calls may still be sorted, but not while samples are
 * read: operations may add a device that no table describes, where samples look for theirs. */
static int read_large_tables(struct process_loader *loader)
{
	struct worker kernels, calls, samples;
	int rc, kernels_rc, samples_rc, calls_rc;

	worker_start(&samples, row_count(loader, TRACE_TABLE_samples), read_samples,
		     &loader->samples);
	worker_start(&calls, row_count(loader, TRACE_TABLE_api), read_calls, &loader->calls);
	worker_start(&kernels, row_count(loader, TRACE_TABLE_kernels), read_kernels,
		     &loader->kernels);
	rc = read_others(&loader->others);
	kernels_rc = worker_join(&kernels);
	samples_rc = worker_join(&samples);
	rc = kernels_rc < 0 ? kernels_rc : rc;
	if (rc == 0)
		rc = loader_resolve_ops(loader);
	calls_rc = worker_join(&calls);
	if (rc == 0)
		rc = samples_rc;
	return rc < 0 ? rc : calls_rc;
}

/* ---- one process ---- */

static void widen(struct profile_process *process, const struct loader_task *task)
{
	if (task->first_ns && (!process->first_ns || task->first_ns < process->first_ns))
		process->first_ns = task->first_ns;
	if (task->last_ns > process->last_ns)
		process->last_ns = task->last_ns;
}

/* A process without a row lasted from its start to its seal, as far as these are known. */
/* An excerpt has rows beyond its part, and not all that a process did within: it tells how far that went. */
static void set_told_bounds(struct profile_process *process)
{
	int64_t first_ns = loader_property_number(process, "excerpt_process_first_ns", 0);
	int64_t last_ns = loader_property_number(process, "excerpt_process_last_ns", 0);

	if (!first_ns || last_ns < first_ns)
		return;
	process->first_ns = first_ns;
	process->last_ns = last_ns;
}

static void set_bounds(struct process_loader *loader)
{
	struct profile_process *process = &loader->loader->profile->processes[loader->process];

	widen(process, &loader->kernels);
	widen(process, &loader->calls);
	widen(process, &loader->others);
	if (!process->first_ns) {
		process->first_ns = process->start_ns ? process->start_ns : process->sealed_ns;
		process->last_ns = process->sealed_ns > process->first_ns ? process->sealed_ns
									  : process->first_ns;
	}
	set_told_bounds(process);
}

/* Calls tell whose the attributes of launches are. */
static uint64_t needed_tables(const struct loader *all, const struct recording_process *source)
{
	bool has_attributes = all->tables & TABLE(launch_attributes) &&
			      !(all->tables & TABLE(api)) &&
			      loader_has_rows(source, TRACE_TABLE_launch_attributes);

	return all->tables | (has_attributes ? TABLE(api) : 0);
}

static void process_loader_init(struct process_loader *loader, struct loader *all,
				const struct recording_process *source)
{
	const struct profile *profile = all->profile;

	*loader = (struct process_loader){
		.loader = all,
		.source = source,
		.process = (uint32_t)profile->process_count,
		.tables = needed_tables(all, source),
		.first_op = all->op_count,
		.first_call = profile->call_count,
		.first_copy = profile->copy_count,
		.first_sync = profile->sync_count,
		.first_overhead = profile->overhead_count,
		.first_jit = profile->jit_count,
		.first_module = profile->module_count,
		.first_load = profile->load_count,
		.first_stream = (uint32_t)profile->stream_count,
		.first_loss = profile->loss_count,
		.first_allocation = profile->allocation_count,
		.first_event_call = profile->event_call_count,
		.first_launch = profile->launch_count,
		.first_nccl_call = profile->nccl_call_count,
	};
	loader->small.owner = loader->kernels.owner = loader;
	loader->calls.owner = loader->samples.owner = loader->others.owner = loader;
}

static void process_loader_clear(struct process_loader *loader)
{
	id_map_clear(&loader->names);
	id_map_clear(&loader->devices);
	id_map_clear(&loader->contexts);
	id_map_clear(&loader->streams);
	id_map_clear(&loader->signatures);
	id_map_clear(&loader->threads);
	id_map_clear(&loader->metrics);
	id_map_clear(&loader->name_kernels);
	id_map_clear(&loader->counted_ids);
	id_map_clear(&loader->counted_correlations);
	id_map_clear(&loader->counted_likes);
	id_map_clear(&loader->counted_graphs);
	id_map_clear(&loader->argument_ids);
	groups_free(&loader->loss_kinds);
	groups_free(&loader->stream_numbers);
	free(loader->counted);
	free(loader->counter_values);
	free(loader->name_texts);
	free(loader->name_calls);
	free(loader->context_entries);
	free(loader->other_ops);
	free(loader->markers);
	free(loader->correlations.dense);
	free(loader->correlations.pairs);
}

static int load_tables(struct process_loader *loader)
{
	int rc = loader_read_small_tables(loader);

	if (rc == 0)
		rc = read_large_tables(loader);
	if (rc < 0)
		return rc;
	set_bounds(loader);
	loader_link_ops(loader);
	rc = loader_find_doubts(loader);
	if (rc == 0)
		rc = loader_resolve_events(loader);
	if (rc == 0)
		rc = loader_add_ranges(loader);
	if (rc == 0)
		rc = loader_add_counters(loader);
	if (rc == 0)
		rc = add_reader_losses(loader);
	return rc;
}

static bool any_opened(const struct process_loader *loader)
{
	return loader->small.opened_count || loader->kernels.opened_count ||
	       loader->calls.opened_count || loader->samples.opened_count ||
	       loader->others.opened_count;
}

static void describe_failure(const struct process_loader *loader, int rc, struct err *err)
{
	const struct loader_task *const tasks[] = {&loader->small, &loader->kernels, &loader->calls,
						   &loader->samples, &loader->others};

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		if (tasks[i]->err.text[0])
			err_set(err, rc, "%s", tasks[i]->err.text);
	err_set(err, rc, "%s: %s", loader->source->path, strerror(-rc));
}

/* Takes back what a folder added of which no table could be opened: its facts and its losses. */
static void remove_process(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;

	while (profile->loss_count &&
	       profile->losses[profile->loss_count - 1].process == loader->process)
		profile->loss_count--;
	profile->process_count--;
	free(profile->processes[loader->process].folder);
}

int loader_add_process(struct loader *all, const struct recording_process *source, struct err *err)
{
	struct process_loader loader;
	struct profile_process *process =
		ARRAY_NEXT(all->profile->processes, all->capacity.processes,
			   all->profile->process_count);
	int rc;

	process_loader_init(&loader, all, source);
	if (!process)
		return err_set(err, -ENOMEM, "%s: out of memory", source->path);
	*process = (struct profile_process){.folder = strdup(source->name), .rank = -1};
	all->profile->process_count++;
	rc = process->folder ? load_tables(&loader) : -ENOMEM;
	if (rc == 0 && !any_opened(&loader)) {
		rc = -ENODATA;
		remove_process(&loader);
	}
	if (rc < 0)
		describe_failure(&loader, rc, err);
	process_loader_clear(&loader);
	return rc;
}
