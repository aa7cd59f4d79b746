#define _GNU_SOURCE /* asprintf */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/loader.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(node) ((node)->is_lost = true)
#include <uthash.h>

/*
 * Counters.  While tables are read, values wait with the launch that they
 * belong to, and launches with their correlation; when all operations are
 * known, loader_add_counters finds what was launched and adds up the values.
 */

/* ---- metrics ---- */

static uint32_t find_role(const char *text)
{
#define ROLE_NAME(role, set, meaning) #role,
	static const char *const names[] = {METRICS(ROLE_NAME)};
#undef ROLE_NAME
	uint32_t role = 0;

	while (role < METRIC_ROLE_COUNT && strcmp(names[role], text))
		role++;
	return role; /* METRIC_ROLE_COUNT is METRIC_NONE */
}

/* metrics[] of an equal one, added when there is none; PROFILE_NONE without memory. */
static uint32_t loader_metric(struct loader *loader, const char *name, uint32_t role)
{
	struct profile *profile = loader->profile;
	struct profile_metric *metric;
	uint32_t number;
	char *key;

	if (asprintf(&key, "%u %s", role, name) < 0)
		return PROFILE_NONE;
	number = strings_number(loader->metric_texts, key);
	free(key);
	if (number == PROFILE_NONE || number < profile->metric_count)
		return number;
	metric = ARRAY_NEXT(profile->metrics, loader->capacity.metrics, profile->metric_count);
	if (!metric)
		return PROFILE_NONE;
	*metric = (struct profile_metric){name, role};
	profile->metric_count++;
	return number;
}

int loader_add_metric(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	const struct trace_metrics_row *from = &row->metrics;
	const char *name = from->name ? loader_name(task->owner, from->name) : "";
	uint32_t role = find_role(from->role), index;

	if (!name)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is not in names.csv", from->name);
	else if (*from->role && role == METRIC_NONE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "role %.40s is none that this version of rooflinectl knows",
				  from->role);
	index = loader_metric(task->owner->loader, name ? name : "unknown counter", role);
	if (index == PROFILE_NONE)
		return -ENOMEM;
	return id_map_put(&task->owner->metrics, from->id, index);
}

/* ---- counted launches and their values ---- */

/* What was counted: launches alike are one entry, by the correlation of the first of them. */
static struct counted_entry *counted_entry(struct process_loader *loader, uint32_t like)
{
	uint32_t index = id_map_get(&loader->counted_likes, like);
	struct counted_entry *entry;

	if (index != PROFILE_NONE)
		return &loader->counted[index];
	entry = ARRAY_NEXT(loader->counted, loader->counted_capacity, loader->counted_count);
	if (!entry || id_map_put(&loader->counted_likes, like, (uint32_t)loader->counted_count) < 0)
		return NULL;
	loader->counted_count++;
	*entry = (struct counted_entry){.subject = PROFILE_NONE};
	return entry;
}

static int add_counted(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	const struct trace_counted_row *from = &row->counted;
	struct counted_entry *entry = counted_entry(loader, from->like);
	uint32_t index;

	if (!entry)
		return -ENOMEM;
	index = (uint32_t)(entry - loader->counted);
	entry->like = from->like;
	entry->line = place->line;
	entry->is_graph = from->is_graph != 0;
	/* a launch that was counted in several passes has a row for each */
	if (id_map_get(&loader->counted_correlations, from->correlation) == PROFILE_NONE)
		entry->launch_count++;
	if (id_map_put(&loader->counted_correlations, from->correlation, index) < 0)
		return -ENOMEM;
	return id_map_put(&loader->counted_ids, from->id, index);
}

/* Counters have 64 bits and go up.  Sums of what cannot be one would end in infinities and in rates below
 * zero that look like results. */
static bool is_count(double value)
{
	return value >= 0 && value <= 0x1p64;
}

static int add_counter(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	const struct trace_counters_row *from = &row->counters;
	uint32_t counted = id_map_get(&loader->counted_ids, from->counted);
	uint32_t metric = id_map_get(&loader->metrics, from->metric);
	struct counter_value *value;

	if (counted == PROFILE_NONE || metric == PROFILE_NONE) {
		reader_count_loss(&task->losses, READER_orphan_ids, place, "%s %u is not in %s.csv",
				  counted == PROFILE_NONE ? "counted launch" : "metric",
				  counted == PROFILE_NONE ? from->counted : from->metric,
				  counted == PROFILE_NONE ? "counted" : "metrics");
		return 0;
	}
	if (!is_count(from->value)) {
		reader_count_loss(&task->losses, READER_unreadable_rows, place,
				  "value %g is none of a counter", from->value);
		return 0;
	}
	value = ARRAY_NEXT(loader->counter_values, loader->counter_value_capacity,
			   loader->counter_value_count);
	if (!value)
		return -ENOMEM;
	*value = (struct counter_value){counted, metric, from->value};
	loader->counter_value_count++;
	return 0;
}

int loader_read_counters(struct loader_task *task)
{
	int rc = loader_read(task, TRACE_TABLE_counted, add_counted);

	return rc < 0 ? rc : loader_read(task, TRACE_TABLE_counters, add_counter);
}

/* ---- what was launched ---- */

/* counted_graphs[] of a graph of this process, or PROFILE_NONE without memory. */
static uint32_t loader_counted_graph(struct process_loader *loader, uint32_t graph)
{
	struct loader *all = loader->loader;
	struct profile *profile = all->profile;
	uint32_t index = id_map_get(&loader->counted_graphs, graph);
	struct profile_counted_graph *added;

	if (index != PROFILE_NONE)
		return index;
	index = (uint32_t)profile->counted_graph_count;
	added = ARRAY_NEXT(profile->counted_graphs, all->capacity.counted_graphs, index);
	if (!added || id_map_put(&loader->counted_graphs, graph, index) < 0)
		return PROFILE_NONE;
	*added = (struct profile_counted_graph){loader->process, graph};
	profile->counted_graph_count++;
	return index;
}

/* Of a graph launch all operations were counted, of others the kernel.  The first of the launches that
 * are alike tells what they are. */
static int match_op(struct process_loader *loader, struct loaded_op *loaded)
{
	const struct profile_op_ids *ids = &loaded->ids;
	struct profile_op *op = &loaded->op;
	uint32_t index = ids->correlation
				 ? id_map_get(&loader->counted_correlations, ids->correlation)
				 : PROFILE_NONE;
	struct counted_entry *entry;

	if (index == PROFILE_NONE)
		return 0;
	entry = &loader->counted[index];
	if (entry->is_graph ? !ids->graph : op->kind != OP_KERNEL)
		return 0;
	op->counted = loader->loader->profile->processes[loader->process].is_replay
			      ? COUNTED_PATCHED
			      : COUNTED;
	entry->recorded_count++;
	if (entry->subject != PROFILE_NONE || ids->correlation != entry->like)
		return 0;
	entry->subject = entry->is_graph ? loader_counted_graph(loader, ids->graph) : op->detail;
	return entry->subject == PROFILE_NONE ? -ENOMEM : 0;
}

static int match_ops(struct process_loader *loader)
{
	struct loader *all = loader->loader;
	int rc = 0;

	for (size_t i = loader->first_op; i < all->op_count && rc == 0; i++)
		rc = match_op(loader, &all->ops[i]);
	return rc;
}

/* Kernels that are counted by instrumented code leave no record: only that they were launched is known. */
static void add_unrecorded(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;

	for (size_t i = 0; i < loader->counted_count; i++) {
		const struct counted_entry *entry = &loader->counted[i];

		if (entry->subject != PROFILE_NONE && !entry->is_graph &&
		    entry->launch_count > entry->recorded_count)
			profile->signatures[entry->subject].unrecorded_count +=
				entry->launch_count - entry->recorded_count;
	}
}

static void count_orphans(struct process_loader *loader)
{
	for (size_t i = 0; i < loader->counted_count; i++) {
		const struct counted_entry *entry = &loader->counted[i];
		struct reader_place place = {loader->source->name, TRACE_TABLE_counted,
					     entry->line};

		if (entry->subject == PROFILE_NONE)
			reader_count_loss(&loader->others.losses, READER_orphan_ids, &place,
					  "no %s has correlation %u",
					  entry->is_graph ? "graph launch" : "kernel", entry->like);
	}
}

/* ---- adding up ---- */

struct counter_key {
	uint32_t subject, metric, is_graph; /* no padding: hashed as bytes */
};

struct counter_node {
	struct counter_key key;
	uint32_t index; /* counters[] */
	bool has_first; /* and left it out */
	bool is_lost;	/* uthash found no memory for it */
	UT_hash_handle hh;
};

static struct profile_counter *counter_append(struct loader *loader, const struct counter_key *key)
{
	struct profile *profile = loader->profile;
	struct counter_node *node = calloc(1, sizeof(*node));
	struct profile_counter *counter =
		ARRAY_NEXT(profile->counters, loader->capacity.counters, profile->counter_count);

	if (!node || !counter) {
		free(node);
		return NULL;
	}
	node->key = *key;
	node->index = (uint32_t)profile->counter_count;
	HASH_ADD(hh, loader->counter_set, key, sizeof(*key), node);
	if (node->is_lost) {
		free(node);
		return NULL;
	}
	*counter = (struct profile_counter){.subject = key->subject,
					    .is_graph = key->is_graph != 0,
					    .metric = key->metric};
	profile->counter_count++;
	return counter;
}

/* The first launch that is counted runs cold, behind what set the counters up, and its bytes are also
 * those of others: where there are more values the first is left out.  The mean moves towards each value,
 * so that it cannot leave the range of a double. */
static void counter_add(struct profile_counter *counter, double value, bool *has_first)
{
	if (counter->sample_count == 1 && !*has_first) {
		*has_first = true;
		*counter = (struct profile_counter){.subject = counter->subject,
						    .is_graph = counter->is_graph,
						    .metric = counter->metric};
	}
	counter->sample_count++;
	if (counter->sample_count == 1)
		counter->min = counter->max = value;
	counter->mean += (value - counter->mean) / (double)counter->sample_count;
	counter->min = value < counter->min ? value : counter->min;
	counter->max = value > counter->max ? value : counter->max;
}

static int add_value(struct process_loader *loader, const struct counter_value *value)
{
	struct loader *all = loader->loader;
	const struct counted_entry *entry = &loader->counted[value->counted];
	struct counter_key key;
	struct counter_node *node;
	struct profile_counter *counter;
	bool has_first = false;

	if (entry->subject == PROFILE_NONE)
		return 0;
	memset(&key, 0, sizeof(key));
	key.subject = entry->subject;
	key.metric = value->metric;
	key.is_graph = entry->is_graph;
	HASH_FIND(hh, all->counter_set, &key, sizeof(key), node);
	counter = node ? &all->profile->counters[node->index] : counter_append(all, &key);
	if (!counter)
		return -ENOMEM;
	counter_add(counter, value->value, node ? &node->has_first : &has_first);
	return 0;
}

int loader_add_counters(struct process_loader *loader)
{
	int rc;

	if (!loader->counted_count)
		return 0; /* operations are not even looked at */
	rc = match_ops(loader);
	if (rc == 0)
		add_unrecorded(loader);
	for (size_t i = 0; i < loader->counter_value_count && rc == 0; i++)
		rc = add_value(loader, &loader->counter_values[i]);
	if (rc == 0)
		count_orphans(loader);
	return rc;
}

void loader_free_counters(struct loader *loader)
{
	struct counter_node *node, *next;

	HASH_ITER(hh, loader->counter_set, node, next)
	{
		HASH_DEL(loader->counter_set, node);
		free(node);
	}
}
