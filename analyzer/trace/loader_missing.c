/*
 * loader_missing.c - tables that are not there and should be.
 *
 * A table that nothing was written to is not made, so that most may be missing.  These may not: what tells who a process
 * was; kernels, where their signatures are described; and of the ranks that one launcher numbered, which run the same
 * program, what all others have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/loader.h"

static bool has_table(const struct recording_process *source, enum trace_table table)
{
	struct recording_table bytes;
	int rc = recording_open_table(&bytes, source, table);

	if (rc == 0)
		recording_close_table(&bytes);
	return rc != -ENOENT;
}

/* ---- what others have ---- */

/* How many other ranks have to have one: all, and at least so many. */
static const struct {
	enum trace_table table;
	size_t least;
} shared[] = {{TRACE_TABLE_kernels, 1},	      {TRACE_TABLE_api, 1},    {TRACE_TABLE_collectives, 1},
	      {TRACE_TABLE_communicators, 1}, {TRACE_TABLE_copies, 2}, {TRACE_TABLE_memsets, 2}};

#define SHARED_COUNT (sizeof(shared) / sizeof(*shared))

/* Ranks of one job, as far as the number of its ranks tells them from others. */
struct alike {
	const char *world_size;
	size_t count;		   /* that ran something on a GPU, or should have */
	size_t with[SHARED_COUNT]; /* of these */
};

/* Whether its tables are those of a whole run: parts of it may have no row of a table, which is not made then. */
static bool is_whole(const struct profile_process *process)
{
	return process->sealed_ns && !*profile_property(process, "excerpt", "") &&
	       !*profile_property(process, "last", "") &&
	       !*profile_property(process, "dump_reason", "") && !process->is_filtered;
}

static bool is_rank(const struct profile_process *process, const struct recording_process *source)
{
	return process->rank >= 0 && is_whole(process) && has_table(source, TRACE_TABLE_streams);
}

static struct alike *alike_of(struct alike *items, size_t *count,
			      const struct profile_process *process)
{
	const char *world_size = profile_property(process, "world_size", "");

	for (size_t i = 0; i < *count; i++)
		if (!strcmp(items[i].world_size, world_size))
			return &items[i];
	items[*count].world_size = world_size;
	return &items[(*count)++];
}

/* ---- telling ---- */

static int tell(struct loader *loader, uint32_t process, enum trace_table table, const char *why)
{
	struct reader_losses losses = {.count = {0}};
	const struct reader_place place = {loader->profile->processes[process].folder, table, 0};

	reader_count_loss(&losses, READER_missing_tables, &place, "it is not there, %s", why);
	return loader_add_loss_of(loader, process, reader_loss_name(READER_missing_tables), 1,
				  losses.first[READER_missing_tables]);
}

/* Where graphs are recorded as a whole there need be no kernel. */
static bool has_signatures_alone(const struct loader *loader,
				 const struct recording_process *source, uint32_t process)
{
	const struct profile_process *facts = &loader->profile->processes[process];

	return has_table(source, TRACE_TABLE_signatures) &&
	       !has_table(source, TRACE_TABLE_kernels) &&
	       strcmp(profile_property(facts, "graphs", ""), "graph") != 0;
}

static int tell_own(struct loader *loader, const struct recording_process *source, uint32_t process)
{
	int rc = 0;

	if (!has_table(source, TRACE_TABLE_process))
		rc = tell(loader, process, TRACE_TABLE_process,
			  "so that its rank and its command are not known");
	if (rc == 0 && is_whole(&loader->profile->processes[process]) &&
	    has_signatures_alone(loader, source, process))
		rc = tell(loader, process, TRACE_TABLE_kernels,
			  "and signatures.csv describes kernels");
	return rc;
}

static int tell_shared(struct loader *loader, const struct recording_process *source,
		       uint32_t process, const struct alike *alike)
{
	int rc = 0;

	for (size_t i = 0; i < SHARED_COUNT && rc == 0; i++) {
		bool is_told = shared[i].table == TRACE_TABLE_kernels &&
			       has_signatures_alone(loader, source, process);

		if (!is_told && alike->with[i] + 1 == alike->count &&
		    alike->with[i] >= shared[i].least && !has_table(source, shared[i].table))
			rc = tell(loader, process, shared[i].table, "and all other ranks have it");
	}
	return rc;
}

/* ---- all processes ---- */

struct telling {
	struct loader *loader;
	struct alike *items;
	size_t count;
};

typedef int (*process_visitor)(struct telling *telling, const struct recording_process *source,
			       uint32_t process);

static int count_shared(struct telling *telling, const struct recording_process *source,
			uint32_t process)
{
	const struct profile_process *facts = &telling->loader->profile->processes[process];
	struct alike *alike;

	if (!is_rank(facts, source))
		return 0;
	alike = alike_of(telling->items, &telling->count, facts);
	alike->count++;
	for (size_t i = 0; i < SHARED_COUNT; i++)
		alike->with[i] += has_table(source, shared[i].table);
	return 0;
}

static int tell_missing(struct telling *telling, const struct recording_process *source,
			uint32_t process)
{
	const struct profile_process *facts = &telling->loader->profile->processes[process];
	int rc = tell_own(telling->loader, source, process);

	if (rc == 0 && is_rank(facts, source))
		rc = tell_shared(telling->loader, source, process,
				 alike_of(telling->items, &telling->count, facts));
	return rc;
}

/* Those of the profile are in the order of the recording's, without those that could not be read. */
static int visit(struct telling *telling, const struct recording *recording, process_visitor each)
{
	const struct profile *profile = telling->loader->profile;
	uint32_t next = 0;
	int rc = 0;

	for (size_t i = 0; i < recording->process_count && rc == 0; i++)
		if (next < profile->process_count &&
		    !strcmp(profile->processes[next].folder, recording->processes[i].name))
			rc = each(telling, &recording->processes[i], next++);
	return rc;
}

int loader_tell_missing(struct loader *loader, const struct recording *recording)
{
	struct telling telling = {.loader = loader,
				  .items = calloc(loader->profile->process_count + 1,
						  sizeof(*telling.items))};
	int rc = telling.items ? visit(&telling, recording, count_shared) : -ENOMEM;

	if (rc == 0)
		rc = visit(&telling, recording, tell_missing);
	free(telling.items);
	return rc;
}
