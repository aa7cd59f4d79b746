#define _GNU_SOURCE
#include "trace/join_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"

/* From indexes of the run with counters to those of the first one; PROFILE_NONE: it has none. */
struct joining {
	struct profile *first;
	const struct profile *counted;
	uint32_t *signatures, *graphs, *metrics;
};

/* ---- launches of the same kernel and shape ---- */

/* Returns its length, or -1 without memory; the caller frees. */
static int signature_key(char **key, const struct profile_signature *signature)
{
	const uint32_t *grid = signature->grid, *block = signature->block;
	const uint32_t *cluster = signature->cluster;

	return asprintf(key, "%s %u,%u,%u %u,%u,%u %u,%u,%u %u", signature->mangled, grid[0],
			grid[1], grid[2], block[0], block[1], block[2], cluster[0], cluster[1],
			cluster[2], signature->dynamic_shared_bytes);
}

/* numbers: by group, the first signature with that key. */
static int list_signatures(struct groups *groups, uint32_t *numbers, const struct profile *profile)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->signature_count; i++) {
		uint32_t known = groups->count, number;
		char *key;
		int length = signature_key(&key, &profile->signatures[i]);

		if (length < 0)
			return -ENOMEM;
		rc = groups_find(groups, key, (size_t)length, &number);
		if (rc == 0 && number == known)
			numbers[number] = (uint32_t)i;
		free(key);
	}
	return rc;
}

static int match_signatures(struct joining *joining)
{
	const struct profile *counted = joining->counted;
	uint32_t *numbers = calloc(joining->first->signature_count + 1, sizeof(*numbers));
	struct groups groups = {0};
	int rc = numbers ? list_signatures(&groups, numbers, joining->first) : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < counted->signature_count; i++) {
		char *key;
		int length = signature_key(&key, &counted->signatures[i]);
		uint32_t group =
			length < 0 ? UINT32_MAX : groups_look(&groups, key, (size_t)length);

		rc = length < 0 ? -ENOMEM : 0;
		joining->signatures[i] = group == UINT32_MAX ? PROFILE_NONE : numbers[group];
		if (rc == 0)
			free(key);
	}
	groups_free(&groups);
	free(numbers);
	return rc;
}

/* ---- graphs in the order of their first launch ---- */

struct graph_key {
	uint32_t process, graph; /* no padding: compared as bytes */
};

static int list_graphs(struct groups *groups, struct graph_key *keys, const struct profile *profile)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct graph_key key = {profile_op_process(profile, op),
					      profile_op_graph(profile, op)};
		uint32_t number;

		if (!key.graph || op->call == PROFILE_NONE)
			continue;
		rc = groups_find(groups, &key, sizeof(key), &number);
		if (rc == 0)
			keys[number] = key;
	}
	return rc;
}

/* counted_graphs[] of the first run of a graph that it launched. */
static int add_graph(struct profile *first, const struct graph_key *key, uint32_t *index)
{
	size_t count = first->counted_graph_count;
	struct profile_counted_graph *graphs =
		reallocarray(first->counted_graphs, count + 1, sizeof(*graphs));

	if (!graphs)
		return -ENOMEM;
	first->counted_graphs = graphs;
	graphs[count] = (struct profile_counted_graph){key->process, key->graph};
	*index = (uint32_t)first->counted_graph_count++;
	return 0;
}

static int pair_graphs(struct joining *joining, const struct groups *counted_groups,
		       const struct graph_key *keys, uint32_t count)
{
	const struct profile *counted = joining->counted;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < counted->counted_graph_count; i++) {
		const struct graph_key key = {counted->counted_graphs[i].process,
					      counted->counted_graphs[i].graph};
		uint32_t number = groups_look(counted_groups, &key, sizeof(key));

		joining->graphs[i] = PROFILE_NONE;
		if (counted_groups->count == count && number != UINT32_MAX)
			rc = add_graph(joining->first, &keys[number], &joining->graphs[i]);
	}
	return rc;
}

static int match_graphs(struct joining *joining)
{
	const struct profile *first = joining->first, *counted = joining->counted;
	struct graph_key *keys = calloc(first->op_count + 1, sizeof(*keys));
	struct graph_key *counted_keys = calloc(counted->op_count + 1, sizeof(*counted_keys));
	struct groups groups = {0}, counted_groups = {0};
	int rc = keys && counted_keys ? list_graphs(&groups, keys, first) : -ENOMEM;

	if (rc == 0)
		rc = list_graphs(&counted_groups, counted_keys, counted);
	if (rc == 0)
		rc = pair_graphs(joining, &counted_groups, keys, groups.count);
	groups_free(&groups);
	groups_free(&counted_groups);
	free(keys);
	free(counted_keys);
	return rc;
}

/* ---- values ---- */

/* Texts stay those of the run with counters, which the first one owns. */
static int add_metrics(struct joining *joining)
{
	struct profile *first = joining->first;
	const struct profile *counted = joining->counted;
	size_t count = first->metric_count + counted->metric_count;
	struct profile_metric *metrics = reallocarray(first->metrics, count + 1, sizeof(*metrics));

	if (!metrics)
		return -ENOMEM;
	first->metrics = metrics;
	for (size_t i = 0; i < counted->metric_count; i++) {
		joining->metrics[i] = (uint32_t)first->metric_count;
		metrics[first->metric_count++] = counted->metrics[i];
	}
	return 0;
}

static int add_counters(struct joining *joining)
{
	struct profile *first = joining->first;
	const struct profile *counted = joining->counted;
	size_t count = first->counter_count + counted->counter_count;
	struct profile_counter *counters =
		reallocarray(first->counters, count + 1, sizeof(*counters));

	if (!counters)
		return -ENOMEM;
	first->counters = counters;
	for (size_t i = 0; i < counted->counter_count; i++) {
		struct profile_counter counter = counted->counters[i];

		counter.subject =
			(counter.is_graph ? joining->graphs : joining->signatures)[counter.subject];
		counter.metric = joining->metrics[counter.metric];
		if (counter.subject != PROFILE_NONE)
			counters[first->counter_count++] = counter;
	}
	return 0;
}

static void drop_times(struct profile *counted)
{
	free(counted->ops);
	free(counted->op_ids);
	free(counted->calls);
	counted->ops = NULL;
	counted->op_ids = NULL;
	counted->calls = NULL;
	counted->op_count = counted->call_count = 0;
}

static int join(struct joining *joining)
{
	const struct profile *counted = joining->counted;
	int rc = -ENOMEM;

	joining->signatures = calloc(counted->signature_count + 1, sizeof(uint32_t));
	joining->graphs = calloc(counted->counted_graph_count + 1, sizeof(uint32_t));
	joining->metrics = calloc(counted->metric_count + 1, sizeof(uint32_t));
	if (joining->signatures && joining->graphs && joining->metrics)
		rc = match_signatures(joining);
	if (rc == 0 && counted->counted_graph_count)
		rc = match_graphs(joining);
	if (rc == 0)
		rc = add_metrics(joining);
	return rc < 0 ? rc : add_counters(joining);
}

int profile_join_counters(struct profile *profile)
{
	struct joining joining = {.first = profile, .counted = profile->counter_run};
	int rc;

	if (!profile->counter_run)
		return 0;
	rc = join(&joining);
	free(joining.signatures);
	free(joining.graphs);
	free(joining.metrics);
	drop_times(profile->counter_run);
	return rc;
}
