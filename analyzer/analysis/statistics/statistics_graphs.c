#include "base/distribution.h"
#include "base/groups.h"
#include "base/radix.h"
#include "analysis/statistics/statistics_parts.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Operations of graphs are sorted by graph, then by launch; each run of equal
 * ones is a launch.  A second sort by node counts the different nodes.
 */
struct graph_pass {
	const struct profile *profile;
	const struct steady_state *steady_state;
	struct groups groups; /* by process and executable graph */
	struct durations durations;
	uint32_t *ops;	    /* operations of graphs, ops[] */
	uint32_t *scratch;  /* as long as ops */
	uint32_t *group_of; /* by operation */
	size_t count;
};

static void pass_close(struct graph_pass *pass)
{
	groups_free(&pass->groups);
	durations_free(&pass->durations);
	free(pass->ops);
	free(pass->scratch);
	free(pass->group_of);
}

static bool is_of_graph(const struct profile *profile, size_t index)
{
	const struct profile_op *op = &profile->ops[index];

	return op->kind == OP_GRAPH ||
	       (profile_op_graph(profile, op) && profile_op_node(profile, op));
}

static struct profile_op_ids ids_of(const struct graph_pass *pass, uint32_t index)
{
	return profile_op_ids(pass->profile, &pass->profile->ops[index]);
}

static uint32_t key_correlation(uint32_t index, const void *context)
{
	const struct graph_pass *pass = context;

	return ids_of(pass, index).correlation;
}

static uint32_t key_group(uint32_t index, const void *context)
{
	const struct graph_pass *pass = context;

	return pass->group_of[index];
}

static uint32_t key_node_low(uint32_t index, const void *context)
{
	const struct graph_pass *pass = context;

	return (uint32_t)ids_of(pass, index).graph_node;
}

static uint32_t key_node_high(uint32_t index, const void *context)
{
	const struct graph_pass *pass = context;

	return (uint32_t)(ids_of(pass, index).graph_node >> 32);
}

static size_t count_graph_ops(const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		count += is_of_graph(profile, i);
	return count;
}

static int find_groups(struct graph_pass *pass)
{
	const struct profile *profile = pass->profile;
	uint32_t last[2] = {PROFILE_NONE, PROFILE_NONE}, group = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t key[2] = {profile_op_process(profile, op), profile_op_graph(profile, op)};

		if (!is_of_graph(profile, i))
			continue;
		/* nodes of one launch follow each other: most keys are the last one again */
		if ((key[0] != last[0] || key[1] != last[1]) &&
		    groups_find(&pass->groups, key, sizeof(key), &group) < 0)
			return -ENOMEM;
		last[0] = key[0];
		last[1] = key[1];
		pass->group_of[i] = group;
		pass->ops[pass->count++] = (uint32_t)i;
	}
	return 0;
}

static int pass_open(struct graph_pass *pass, const struct profile *profile,
		     const struct steady_state *steady_state, size_t count)
{
	*pass = (struct graph_pass){.profile = profile, .steady_state = steady_state};
	pass->ops = calloc(count, sizeof(*pass->ops));
	pass->scratch = calloc(count, sizeof(*pass->scratch));
	pass->group_of = calloc(profile->op_count, sizeof(*pass->group_of));
	if (!pass->ops || !pass->scratch || !pass->group_of || find_groups(pass) < 0)
		return -ENOMEM;
	return durations_open(&pass->durations, pass->groups.count);
}

/* End of the launch that begins at place first of the sorted operations.  A whole graph is a launch
 * of its own. */
static size_t launch_end(const struct graph_pass *pass, size_t first)
{
	const struct profile_op *ops = pass->profile->ops;
	size_t end = first + 1;

	if (ops[pass->ops[first]].kind == OP_GRAPH)
		return end;
	while (end < pass->count && ops[pass->ops[end]].kind != OP_GRAPH &&
	       ids_of(pass, pass->ops[end]).correlation ==
		       ids_of(pass, pass->ops[first]).correlation &&
	       pass->group_of[pass->ops[end]] == pass->group_of[pass->ops[first]])
		end++;
	return end;
}

/* Bodies of conditional nodes have no correlation: their work counts, but they are no launch. */
static bool is_launch(const struct graph_pass *pass, size_t first)
{
	return pass->profile->ops[pass->ops[first]].kind == OP_GRAPH ||
	       ids_of(pass, pass->ops[first]).correlation != 0;
}

static void describe_launch(const struct graph_pass *pass, size_t first, size_t end,
			    struct graph_statistics *graph)
{
	const struct profile *profile = pass->profile;
	const struct profile_op *head = &profile->ops[pass->ops[first]];

	graph->process = profile_op_process(profile, head);
	graph->graph = profile_op_graph(profile, head);
	graph->launch_count += is_launch(pass, first);
	if (head->kind == OP_GRAPH)
		graph->is_device_launched |= profile->graph_launches[head->detail].launch_mode != 0;
	else
		graph->op_count += end - first;
	for (size_t i = first; i < end; i++)
		sum_add_ns(&graph->node_ns,
			   profile->ops[pass->ops[i]].end_ns - profile->ops[pass->ops[i]].start_ns);
}

static void add_launch(struct graph_pass *pass, struct graph_statistics *graphs, size_t first,
		       size_t end)
{
	const struct profile_op *ops = pass->profile->ops;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = first; i < end; i++) {
		const struct profile_op *op = &ops[pass->ops[i]];

		first_ns = op->start_ns < first_ns ? op->start_ns : first_ns;
		last_ns = op->end_ns > last_ns ? op->end_ns : last_ns;
	}
	durations_add(&pass->durations, pass->group_of[pass->ops[first]], last_ns - first_ns);
	steady_split_any(&graphs[pass->group_of[pass->ops[first]]].split, pass->steady_state,
			 profile_op_device(pass->profile, &ops[pass->ops[first]]), first_ns,
			 last_ns);
}

static int gather_launches(struct graph_pass *pass, struct graph_statistics *graphs)
{
	size_t first, end;

	radix_sort(pass->ops, pass->scratch, pass->count, key_correlation, pass);
	radix_sort(pass->ops, pass->scratch, pass->count, key_group, pass);
	for (first = 0; first < pass->count; first = end) {
		end = launch_end(pass, first);
		describe_launch(pass, first, end, &graphs[pass->group_of[pass->ops[first]]]);
		if (is_launch(pass, first))
			durations_count(&pass->durations, pass->group_of[pass->ops[first]]);
	}
	if (durations_lay_out(&pass->durations) < 0)
		return -ENOMEM;
	for (first = 0; first < pass->count; first = end) {
		end = launch_end(pass, first);
		if (is_launch(pass, first))
			add_launch(pass, graphs, first, end);
	}
	for (size_t i = 0; i < pass->groups.count; i++) {
		graphs[i].time = durations_distribution(&pass->durations, i);
		graphs[i].split.is_unknown |= !graphs[i].time.count; /* a conditional node's body */
	}
	return 0;
}

/* Back into the order of time: sorting reads the operations much faster that way. */
static void list_ops(struct graph_pass *pass)
{
	pass->count = 0;
	for (size_t i = 0; i < pass->profile->op_count; i++)
		if (is_of_graph(pass->profile, i))
			pass->ops[pass->count++] = (uint32_t)i;
}

static void count_nodes(struct graph_pass *pass, struct graph_statistics *graphs)
{
	list_ops(pass);
	radix_sort(pass->ops, pass->scratch, pass->count, key_node_low, pass);
	radix_sort(pass->ops, pass->scratch, pass->count, key_node_high, pass);
	radix_sort(pass->ops, pass->scratch, pass->count, key_group, pass);
	for (size_t i = 0; i < pass->count; i++) {
		uint32_t group = pass->group_of[pass->ops[i]];
		uint64_t node = ids_of(pass, pass->ops[i]).graph_node;
		bool is_new = i == 0 || pass->group_of[pass->ops[i - 1]] != group ||
			      ids_of(pass, pass->ops[i - 1]).graph_node != node;

		graphs[group].node_count += is_new && node != 0;
	}
}

static int compare_graphs(const void *left, const void *right)
{
	const struct graph_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	if (!order)
		order = (int)(a->process > b->process) - (a->process < b->process);
	return order ? order : (int)(a->graph > b->graph) - (a->graph < b->graph);
}

int statistics_collect_graphs(struct statistics *statistics, const struct profile *profile,
			      const struct steady_state *steady_state)
{
	size_t count = count_graph_ops(profile);
	struct graph_statistics *graphs = NULL;
	struct graph_pass pass;
	int rc;

	if (count == 0)
		return 0;
	rc = pass_open(&pass, profile, steady_state, count);
	if (rc == 0 && !(graphs = calloc(pass.groups.count, sizeof(*graphs))))
		rc = -ENOMEM;
	if (rc == 0)
		rc = gather_launches(&pass, graphs);
	if (rc == 0) {
		count_nodes(&pass, graphs);
		qsort(graphs, pass.groups.count, sizeof(*graphs), compare_graphs);
		statistics->graph_count = pass.groups.count;
	}
	statistics->graphs = graphs;
	pass_close(&pass);
	return rc;
}
