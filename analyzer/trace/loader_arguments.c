/* loader_arguments.c - what kernels were given: arguments, launch_arguments, and of which node each node is a clone. */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/stable_sort.h"
#include "trace/loader.h"

#define LOST_SET UINT32_MAX /* rows that it should have, where none is there */
#define CLONES_MOST 64	    /* a clone of a clone of ...; more are a circle */

static uint32_t add_set(struct process_loader *loader, uint32_t id, uint32_t count)
{
	struct loader *all = loader->loader;
	struct profile *profile = all->profile;
	struct profile_argument_set *set =
		ARRAY_NEXT(profile->argument_sets, all->capacity.argument_sets,
			   profile->argument_set_count);

	if (!set ||
	    id_map_put(&loader->argument_ids, id, (uint32_t)profile->argument_set_count) < 0)
		return PROFILE_NONE;
	*set = (struct profile_argument_set){.address_count = count};
	return (uint32_t)profile->argument_set_count++;
}

/* PROFILE_NONE without memory. */
static uint32_t set_of(struct process_loader *loader, uint32_t id, uint32_t count)
{
	uint32_t set = id_map_get(&loader->argument_ids, id);

	return set == PROFILE_NONE ? add_set(loader, id, count) : set;
}

static int add_argument(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_arguments_row *from = &row->arguments;
	uint32_t set = set_of(task->owner, from->id, from->address_count);
	struct profile_argument *argument;

	(void)place;
	argument = ARRAY_NEXT(all->profile->arguments, all->capacity.arguments,
			      all->profile->argument_count);
	if (!argument || set == PROFILE_NONE)
		return -ENOMEM;
	*argument = (struct profile_argument){.address = from->address,
					      .set = set,
					      .parameter = from->parameter,
					      .offset = from->offset};
	all->profile->argument_count++;
	return 0;
}

static int add_given(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_launch_arguments_row *from = &row->launch_arguments;
	bool is_known = from->arguments != ARGUMENTS_UNKNOWN;
	uint32_t set =
		is_known ? set_of(task->owner, from->arguments, from->arguments ? LOST_SET : 0)
			 : PROFILE_NONE;
	struct profile_given *given =
		ARRAY_NEXT(all->profile->givens, all->capacity.givens, all->profile->given_count);

	(void)place;
	if (!given || (is_known && set == PROFILE_NONE))
		return -ENOMEM;
	*given = (struct profile_given){.subject = from->node ? from->node : from->correlation,
					.process = task->owner->process,
					.set = set,
					.others = from->others,
					.is_node = from->node != 0};
	all->profile->given_count++;
	return 0;
}

static int add_clone(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_graph_nodes_row *from = &row->graph_nodes;
	struct profile_clone *clone;

	(void)place;
	if (!from->original)
		return 0;
	clone = ARRAY_NEXT(all->profile->clones, all->capacity.clones, all->profile->clone_count);
	if (!clone)
		return -ENOMEM;
	*clone = (struct profile_clone){from->node, from->original, task->owner->process};
	all->profile->clone_count++;
	return 0;
}

static int skip_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	(void)row;
	(void)place;
	(void)context;
	return 0;
}

/* There may be millions of nodes, which nobody asks for where no argument was recorded. */
int loader_read_arguments(struct loader_task *task)
{
	size_t before = task->owner->loader->profile->given_count;
	int rc = loader_read(task, TRACE_TABLE_arguments, add_argument);

	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_launch_arguments, add_given);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_graph_nodes,
				 task->owner->loader->profile->given_count > before ? add_clone
										    : skip_row);
	return rc;
}

/* ---- order ---- */

static int compare_arguments(const void *left, const void *right)
{
	const struct profile_argument *a = left, *b = right;

	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	if (a->parameter != b->parameter)
		return a->parameter < b->parameter ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_givens(const void *left, const void *right)
{
	const struct profile_given *a = left, *b = right;

	if (a->is_node != b->is_node)
		return a->is_node ? 1 : -1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->subject > b->subject) - (a->subject < b->subject);
}

static int compare_clones(const void *left, const void *right)
{
	const struct profile_clone *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Of a set that lacks rows nobody knows which. */
static void close_sets(struct profile *profile)
{
	for (size_t i = profile->argument_count; i-- > 0;) {
		profile->argument_sets[profile->arguments[i].set].first = (uint32_t)i;
		profile->argument_sets[profile->arguments[i].set].count++;
	}
	for (size_t i = 0; i < profile->argument_set_count; i++)
		profile->argument_sets[i].is_whole =
			profile->argument_sets[i].count == profile->argument_sets[i].address_count;
}

int loader_sort_arguments(struct profile *profile)
{
	int rc = stable_sort(profile->arguments, profile->argument_count,
			     sizeof(*profile->arguments), compare_arguments);

	if (rc == 0)
		rc = stable_sort(profile->givens, profile->given_count, sizeof(*profile->givens),
				 compare_givens);
	if (rc == 0)
		rc = stable_sort(profile->clones, profile->clone_count, sizeof(*profile->clones),
				 compare_clones);
	if (rc == 0)
		close_sets(profile);
	return rc;
}

/* ---- looking up ---- */

struct wanted_given {
	const struct profile *profile;
	struct profile_given key;
};

static bool is_given_reached(size_t index, const void *context)
{
	const struct wanted_given *wanted = context;

	return compare_givens(&wanted->profile->givens[index], &wanted->key) >= 0;
}

/* Of several rows of a node one that is not known says that none is. */
static const struct profile_given *find_given(const struct profile *profile, uint32_t process,
					      uint64_t subject, bool is_node)
{
	const struct wanted_given wanted = {
		profile, {.subject = subject, .process = process, .is_node = is_node}};
	const struct profile_given *found = NULL;

	for (size_t i = search_first(0, profile->given_count, is_given_reached, &wanted);
	     i < profile->given_count && compare_givens(&profile->givens[i], &wanted.key) == 0; i++)
		if (!found || found->set != PROFILE_NONE)
			found = &profile->givens[i];
	return found;
}

/* 0: it is none. */
static uint64_t original_of(const struct profile *profile, uint32_t process, uint64_t node)
{
	const struct profile_clone wanted = {.node = node, .process = process};
	const struct profile_clone *found =
		profile->clone_count ? bsearch(&wanted, profile->clones, profile->clone_count,
					       sizeof(wanted), compare_clones)
				     : NULL;

	return found ? found->original : 0;
}

const struct profile_given *profile_given_to(const struct profile *profile,
					     const struct profile_op *op)
{
	uint32_t process = profile_op_process(profile, op);
	const struct profile_given *found = NULL;
	uint64_t node = profile_op_node(profile, op);

	if (!node)
		return find_given(profile, process, profile_op_ids(profile, op).correlation, false);
	for (int i = 0; i < CLONES_MOST && node && !found; i++) {
		found = find_given(profile, process, node, true);
		node = original_of(profile, process, node);
	}
	return found;
}
