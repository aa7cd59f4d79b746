#include "trace/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/excerpt.h"
#include "trace/join_counters.h"
#include "trace/join_untraced.h"
#include "trace/loader.h"
#include "trace/process_facts.h"
#include "trace/recording.h"
#include "trace/sample_file.h"
#include "trace/samples.h"
#include "base/stable_sort.h"

/* ---- order ---- */

/* Of syncs, overheads, jits, modules, powers, allocations, manageds, nccl_calls and communicators, which all begin with a time. */
static int compare_starts(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int compare_event_calls(const void *left, const void *right)
{
	const struct profile_event_call *a = left, *b = right;

	return (a->call > b->call) - (a->call < b->call);
}

static int compare_launches(const void *left, const void *right)
{
	const struct profile_launch *a = left, *b = right;

	return (a->call > b->call) - (a->call < b->call);
}

static int compare_loads(const void *left, const void *right)
{
	const struct profile_load *a = left, *b = right;

	return (a->call > b->call) - (a->call < b->call);
}

static int compare_counters(const void *left, const void *right)
{
	const struct profile_counter *a = left, *b = right;

	if (a->is_graph != b->is_graph)
		return a->is_graph ? 1 : -1;
	if (a->subject != b->subject)
		return a->subject < b->subject ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

_Static_assert(sizeof(struct profile_op) == 28 && sizeof(struct profile_call) == 28,
	       "of ten million each the whole report fits into 800 MB");
_Static_assert(offsetof(struct profile_sync, start_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_overhead, start_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_jit, start_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_module, time_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_power, time_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_managed, start_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_allocation, time_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_nccl_call, time_ns) == 0, "compare_starts reads it");
_Static_assert(offsetof(struct profile_communicator, time_ns) == 0, "compare_starts reads it");

static int sort_profile(struct profile *profile)
{
	if (stable_sort(profile->syncs, profile->sync_count, sizeof(*profile->syncs),
			compare_starts) < 0 ||
	    stable_sort(profile->overheads, profile->overhead_count, sizeof(*profile->overheads),
			compare_starts) < 0 ||
	    stable_sort(profile->jits, profile->jit_count, sizeof(*profile->jits), compare_starts) <
		    0 ||
	    stable_sort(profile->loads, profile->load_count, sizeof(*profile->loads),
			compare_loads) < 0 ||
	    stable_sort(profile->modules, profile->module_count, sizeof(*profile->modules),
			compare_starts) < 0 ||
	    stable_sort(profile->powers, profile->power_count, sizeof(*profile->powers),
			compare_starts) < 0 ||
	    stable_sort(profile->allocations, profile->allocation_count,
			sizeof(*profile->allocations), compare_starts) < 0 ||
	    stable_sort(profile->manageds, profile->managed_count, sizeof(*profile->manageds),
			compare_starts) < 0 ||
	    stable_sort(profile->nccl_calls, profile->nccl_call_count, sizeof(*profile->nccl_calls),
			compare_starts) < 0 ||
	    stable_sort(profile->communicators, profile->communicator_count,
			sizeof(*profile->communicators), compare_starts) < 0 ||
	    stable_sort(profile->launches, profile->launch_count, sizeof(*profile->launches),
			compare_launches) < 0 ||
	    stable_sort(profile->event_calls, profile->event_call_count,
			sizeof(*profile->event_calls), compare_event_calls) < 0 ||
	    stable_sort(profile->counters, profile->counter_count, sizeof(*profile->counters),
			compare_counters) < 0)
		return -ENOMEM;
	return 0;
}

/* One that is empty is there as well: a slice of nothing begins somewhere, too. */
#define KEEP_ARRAY(array) ((array) || ((array) = calloc(1, sizeof(*(array)))))

static int keep_arrays(struct profile *profile)
{
	return KEEP_ARRAY(profile->ops) && KEEP_ARRAY(profile->calls) &&
			       KEEP_ARRAY(profile->ranges) && KEEP_ARRAY(profile->samples)
		       ? 0
		       : -ENOMEM;
}

/* Every device and thread gets its slice of the sorted arrays. */
static void set_slices(struct profile *profile)
{
	size_t op = 0, call = 0, range = 0;

	profile->window.first_ns = INT64_MAX;
	for (size_t i = 0; i < profile->device_count; i++) {
		profile->devices[i].first_op = op;
		if (op < profile->op_count && profile_op_device(profile, &profile->ops[op]) == i &&
		    profile->ops[op].start_ns < profile->window.first_ns)
			profile->window.first_ns = profile->ops[op].start_ns;
		while (op < profile->op_count && profile_op_device(profile, &profile->ops[op]) == i)
			op++;
		profile->devices[i].op_count = op - profile->devices[i].first_op;
	}
	for (size_t i = 0; i < profile->thread_count; i++) {
		struct profile_thread *thread = &profile->threads[i];

		thread->first_call = call;
		while (call < profile->call_count && profile->calls[call].thread == i)
			call++;
		thread->call_count = call - thread->first_call;
		thread->first_range = range;
		while (range < profile->range_count && profile->ranges[range].thread == i)
			range++;
		thread->range_count = range - thread->first_range;
	}
}

/* ---- the profile ---- */

static void loader_clear(struct loader *loader)
{
	demangler_close(&loader->demangler);
	loader_free_signatures(loader);
	loader_free_counters(loader);
	strings_free(loader->metric_texts);
	strings_free(loader->kernel_texts);
	strings_free(loader->call_texts);
	groups_free(&loader->device_identities);
	free(loader->next_stream);
	free(loader->ops);
}

static int loader_init(struct loader *loader, const char *path)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	*loader = (struct loader){.profile = profile};
	if (!profile)
		return -ENOMEM;
	profile->path = strdup(path);
	profile->strings = loader->texts = strings_create();
	loader->kernel_texts = strings_create();
	loader->call_texts = strings_create();
	loader->metric_texts = strings_create();
	return profile->path && loader->texts && loader->kernel_texts && loader->call_texts &&
			       loader->metric_texts
		       ? 0
		       : -ENOMEM;
}

/* One recording while its runs are read, and the first thing that went wrong with a process of it. */
struct loading {
	const char *path;
	uint64_t tables;
	struct recording recording;
	struct err first_failure;
	const struct host_clock *clocks;
	size_t clock_count;
};

/* Adds the processes of one run.  One that cannot be read is passed over while there are others. */
static int add_processes(struct loader *loader, struct loading *loading, enum roofline_run run,
			 struct err *err)
{
	const struct recording *recording = &loading->recording;
	int rc = 0;

	for (size_t i = 0; i < recording->process_count && rc == 0; i++) {
		struct err failure = {""};

		if (recording->processes[i].run != run)
			continue;
		rc = loader_add_process(loader, &recording->processes[i], &failure);
		if (rc == -ENODATA) {
			err_set(&loading->first_failure, rc, "%s", failure.text);
			rc = 0;
		}
		if (rc < 0)
			err_set(err, rc, "%s", failure.text);
	}
	return rc;
}

/* Loads the processes of one run; that there are none is no failure. */
static int load_run(struct profile **out, struct loading *loading, enum roofline_run run,
		    struct err *err)
{
	struct loader loader;
	int rc = loader_init(&loader, loading->path);

	loader.tables = loading->tables;
	loader.clocks = loading->clocks;
	loader.clock_count = loading->clock_count;
	if (rc == 0)
		rc = add_processes(&loader, loading, run, err);
	if (rc == 0)
		rc = loader_tell_missing(&loader, &loading->recording);
	if (rc == 0)
		rc = loader_keep_ops(&loader);
	if (rc == 0)
		rc = sort_profile(loader.profile);
	if (rc == 0)
		rc = loader_sort_samples(&loader, err);
	if (rc == 0)
		rc = loader_sort_arguments(loader.profile);
	if (rc == 0)
		rc = loader_sum_losses(loader.profile);
	if (rc == 0)
		rc = keep_arrays(loader.profile);
	if (rc == 0) {
		loader_sort_machine_codes(loader.profile);
		set_slices(loader.profile);
		*out = loader.profile;
	} else {
		err_set(err, rc, "%s: %s", loading->path, strerror(-rc));
		profile_free(loader.profile);
		*out = NULL;
	}
	loader_clear(&loader);
	return rc;
}

/* One of the runs that are joined to the first; NULL where it has no process. */
static int load_joined(struct profile **out, struct loading *loading, enum roofline_run run,
		       struct err *err)
{
	int rc = load_run(out, loading, run, err);

	if (rc == 0 && !(*out)->process_count) {
		profile_free(*out);
		*out = NULL;
	}
	return rc;
}

/* Somebody deleted the first run: the first that is left takes its place. */
static void replace_first(struct profile **first, struct profile **runs)
{
	for (int run = RUN_GRAPHS; run <= RUN_MOST; run++)
		if (runs[run] && !(*first)->process_count) {
			profile_free(*first);
			*first = runs[run];
			runs[run] = NULL;
		}
}

static int load_runs(struct profile **out, struct loading *loading, struct err *err)
{
	struct profile *first = NULL, *runs[RUN_MOST + 1] = {NULL};
	int rc = load_run(&first, loading, RUN_ONLY, err);

	for (int run = RUN_GRAPHS; rc == 0 && run <= RUN_MOST; run++)
		rc = load_joined(&runs[run], loading, (enum roofline_run)run, err);
	if (rc != 0) {
		for (int run = RUN_GRAPHS; run <= RUN_MOST; run++)
			profile_free(runs[run]);
		profile_free(first);
		return rc;
	}
	replace_first(&first, runs);
	first->graph_run = runs[RUN_GRAPHS];
	first->counter_run = runs[RUN_COUNTERS];
	first->sample_run = runs[RUN_SAMPLES];
	first->untraced_run = runs[RUN_UNTRACED];
	*out = first;
	rc = profile_join_counters(first);
	if (rc == 0)
		rc = profile_join_untraced(first);
	if (rc == 0 && first->counter_run)
		rc = stable_sort(first->counters, first->counter_count, sizeof(*first->counters),
				 compare_counters);
	return rc < 0 ? err_set(err, rc, "%s: out of memory", loading->path) : 0;
}

/* All runs call a kernel the same. */
static int label_kernels(struct profile *first, struct err *err)
{
	struct profile *runs[] = {first, first->graph_run, first->counter_run, first->sample_run};
	const size_t run_count = sizeof(runs) / sizeof(runs[0]);
	size_t count = 0, capacity = 0;
	const char **names;

	for (size_t i = 0; i < run_count; i++)
		capacity += runs[i] ? runs[i]->kernel_name_count : 0;
	names = calloc(capacity + 1, sizeof(*names));
	for (size_t i = 0; i < run_count && names; i++)
		for (size_t k = 0; runs[i] && k < runs[i]->kernel_name_count; k++)
			names[count++] = runs[i]->kernel_names[k];
	first->kernel_labels = names ? kernel_labels_create(names, count) : NULL;
	free(names);
	for (size_t i = 1; i < run_count && first->kernel_labels; i++)
		if (runs[i])
			runs[i]->kernel_labels = kernel_labels_share(first->kernel_labels);
	return first->kernel_labels ? 0 : err_set(err, -ENOMEM, "%s: out of memory", first->path);
}

static int no_recording(const struct loading *loading, struct err *err)
{
	if (loading->first_failure.text[0])
		return err_set(err, -EIO, "%s", loading->first_failure.text);
	return err_set(err, -ENOENT,
		       "%s: no recording there: neither it nor a folder in it holds process.csv; "
		       "make one with: rooflinectl record -- PROGRAM",
		       loading->path);
}

int profile_load_aligned(struct profile **out, const char *path, uint64_t tables,
			 const struct host_clock *clocks, size_t clock_count, struct err *err)
{
	struct loading loading = {.path = path,
				  .tables = tables | TABLES_SMALL,
				  .clocks = clocks,
				  .clock_count = clock_count};
	struct profile *profile = NULL;
	int rc = recording_open(&loading.recording, path, err);

	if (rc == 0 && (rc = process_facts_read(&loading.recording)) < 0)
		err_set(err, rc, "%s: out of memory", path);
	if (rc == 0)
		rc = load_runs(&profile, &loading, err);
	if (rc == 0 && !profile->process_count)
		rc = no_recording(&loading, err);
	if (rc == 0)
		rc = label_kernels(profile, err);
	if (rc == 0 && (rc = excerpt_select(profile)) < 0)
		err_set(err, rc, "%s: %s", path, samples_why(rc));
	if (rc < 0)
		profile_free(profile);
	else
		*out = profile;
	recording_close(&loading.recording);
	return rc;
}

int profile_load_tables(struct profile **out, const char *path, uint64_t tables, struct err *err)
{
	return profile_load_aligned(out, path, tables, NULL, 0, err);
}

int profile_load(struct profile **out, const char *path, struct err *err)
{
	return profile_load_tables(out, path, TABLES_ALL, err);
}

static void process_clear(struct profile_process *process)
{
	for (size_t i = 0; i < process->property_count; i++) {
		free(process->properties[i].key);
		free(process->properties[i].value);
	}
	free(process->properties);
	free(process->folder);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	profile_free(profile->graph_run);
	profile_free(profile->counter_run);
	profile_free(profile->sample_run);
	profile_free(profile->untraced_run);
	kernel_labels_free(profile->kernel_labels);
	for (size_t i = 0; i < profile->process_count; i++)
		process_clear(&profile->processes[i]);
	for (size_t i = 0; i < profile->device_count; i++) {
		free(profile->devices[i].name);
		free(profile->devices[i].uuid);
	}
	for (size_t i = 0; i < profile->call_name_count; i++)
		free(profile->call_names[i].text);
	strings_free(profile->strings);
	free(profile->path);
	free(profile->processes);
	free(profile->devices);
	free(profile->streams);
	free(profile->threads);
	free(profile->kernel_names); /* the texts are in strings */
	free(profile->signatures);
	free(profile->machine_codes);
	free(profile->copies);
	free(profile->memsets);
	free(profile->graph_launches);
	free(profile->ops);
	free(profile->op_ids);
	free(profile->call_names);
	free(profile->calls);
	free(profile->ranges);
	free(profile->syncs);
	free(profile->overheads);
	free(profile->jits);
	free(profile->loads);
	free(profile->modules);
	free(profile->module_kernels);
	free(profile->metrics); /* the texts are in strings */
	free(profile->counters);
	free(profile->counted_graphs);
	free(profile->samples);
	sample_file_free(profile->sample_file);
	free(profile->sampled_spans);
	free(profile->powers);
	free(profile->allocations);
	free(profile->nccl_calls);
	free(profile->communicators);
	free(profile->event_calls);
	free(profile->untraced_calls);
	free(profile->launches);
	free(profile->manageds);
	free(profile->arguments);
	free(profile->argument_sets);
	free(profile->givens);
	free(profile->clones);
	free(profile->lost_launches);
	free(profile->losses);
	free(profile->loss_sums);
	free(profile);
}

const char *profile_property(const struct profile_process *process, const char *key,
			     const char *fallback)
{
	for (size_t i = process->property_count; i > 0; i--) /* a later row corrects an earlier */
		if (!strcmp(process->properties[i - 1].key, key))
			return process->properties[i - 1].value;
	return fallback;
}

uint32_t profile_only_device(const struct profile *profile)
{
	uint32_t found = profile->device_count == 1 ? 0 : PROFILE_NONE;

	for (size_t i = 0; i < profile->device_count && profile->device_count > 1; i++) {
		if (!profile->devices[i].op_count)
			continue;
		if (found != PROFILE_NONE)
			return PROFILE_NONE;
		found = (uint32_t)i;
	}
	return found;
}

bool profile_is_nvidias(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (!strcmp(profile_property(&profile->processes[i], "imported_from", ""),
			    "rocprofv3"))
			return false;
	for (size_t i = 0; i < profile->device_count; i++)
		if (!strncmp(profile->devices[i].name, "AMD", 3))
			return false;
	return true;
}

static bool has_part(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

/* Names stay where the calls are left out (profile_select.h): few names have a part, so few calls are looked for. */
bool profile_has_call(const struct profile *profile, const char *const *parts)
{
	for (uint32_t name = 0; name < profile->call_name_count; name++) {
		if (!has_part(profile->call_names[name].text, parts))
			continue;
		for (size_t i = 0; i < profile->call_count; i++)
			if (profile->calls[i].name == name)
				return true;
	}
	return false;
}

const struct profile_load *profile_load_of(const struct profile *profile, uint32_t call)
{
	const struct profile_load wanted = {.call = call};

	if (!profile->load_count || call == PROFILE_NONE)
		return NULL;
	return bsearch(&wanted, profile->loads, profile->load_count, sizeof(wanted), compare_loads);
}

const struct profile_launch *profile_launch_of(const struct profile *profile, uint32_t call)
{
	const struct profile_launch wanted = {.call = call};

	if (!profile->launch_count || call == PROFILE_NONE)
		return NULL;
	return bsearch(&wanted, profile->launches, profile->launch_count, sizeof(wanted),
		       compare_launches);
}
