#define _GNU_SOURCE /* qsort_r */
#include "analysis/compare/graph_join.h"

#include "base/groups.h"
#include "base/radix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One launch of a graph by the host.  Correlation ids grow with every call of a process, whatever
 * thread makes it, so their order is that of the launches. */
struct host_launch {
	uint32_t graph; /* in run.graphs */
	uint32_t first; /* its first operation, in run.ops */
	uint32_t op_count;
};

/* The launches of one process, and its graphs: numbers follow each other in both. */
struct side {
	uint32_t process; /* processes[] */
	uint32_t first_launch, launch_count;
	uint32_t first_graph, graph_count;
};

struct run {
	const struct profile *profile;
	uint32_t *ops;	   /* of launches by the host: by process, then launch, then time */
	uint32_t *scratch; /* as long as ops */
	size_t op_count;
	struct host_launch *launches; /* by process, in the order of the calls */
	uint32_t launch_count;
	struct groups graphs; /* by process and executable graph, in the order of first launches */
	struct side *sides;   /* processes that launched graphs, by rank, host and start */
	uint32_t side_count;
};

static void run_close(struct run *run)
{
	free(run->ops);
	free(run->scratch);
	free(run->launches);
	free(run->sides);
	groups_free(&run->graphs);
}

/* Bodies of conditional nodes have no correlation, launches by the device neither. */
static bool is_of_host_launch(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_op_ids ids = profile_op_ids(profile, op);

	if (!ids.correlation)
		return false;
	if (op->kind == OP_GRAPH)
		return profile->graph_launches[op->detail].launch_mode == 0;
	return ids.graph && ids.graph_node;
}

static uint32_t key_correlation(uint32_t index, const void *context)
{
	const struct profile *profile = context;

	return profile_op_ids(profile, &profile->ops[index]).correlation;
}

static uint32_t key_process(uint32_t index, const void *context)
{
	const struct profile *profile = context;

	return profile_op_process(profile, &profile->ops[index]);
}

static int list_ops(struct run *run)
{
	const struct profile *profile = run->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		count += is_of_host_launch(profile, &profile->ops[i]);
	run->ops = calloc(count + 1, sizeof(*run->ops));
	run->scratch = calloc(count + 1, sizeof(*run->scratch));
	run->launches = calloc(count + 1, sizeof(*run->launches));
	run->sides = calloc(profile->process_count + 1, sizeof(*run->sides));
	if (!run->ops || !run->scratch || !run->launches || !run->sides)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		if (is_of_host_launch(profile, &profile->ops[i]))
			run->ops[run->op_count++] = (uint32_t)i;
	radix_sort(run->ops, run->scratch, run->op_count, key_correlation, profile);
	radix_sort(run->ops, run->scratch, run->op_count, key_process, profile);
	return 0;
}

static const struct profile_op *op_at(const struct run *run, size_t place)
{
	return &run->profile->ops[run->ops[place]];
}

static struct profile_op_ids ids_at(const struct run *run, size_t place)
{
	return profile_op_ids(run->profile, op_at(run, place));
}

static uint32_t process_at(const struct run *run, size_t place)
{
	return profile_op_process(run->profile, op_at(run, place));
}

/* The process's side; launches come process after process. */
static struct side *side_of(struct run *run, uint32_t process)
{
	if (run->side_count && run->sides[run->side_count - 1].process == process)
		return &run->sides[run->side_count - 1];
	run->sides[run->side_count] = (struct side){.process = process,
						    .first_launch = run->launch_count,
						    .first_graph = run->graphs.count};
	return &run->sides[run->side_count++];
}

/* Adds the launch that begins at a place of ops.  Returns the place after it, 0 without memory. */
static size_t add_launch(struct run *run, size_t place)
{
	const struct profile_op_ids ids = ids_at(run, place);
	uint32_t process = process_at(run, place), key[2] = {process, ids.graph};
	struct side *side = side_of(run, process);
	struct host_launch *launch = &run->launches[run->launch_count++];

	launch->first = (uint32_t)place;
	if (groups_find(&run->graphs, key, sizeof(key), &launch->graph) < 0)
		return 0;
	while (place < run->op_count && ids_at(run, place).correlation == ids.correlation &&
	       process_at(run, place) == process)
		place++;
	launch->op_count = (uint32_t)place - launch->first;
	side->launch_count++;
	side->graph_count = run->graphs.count - side->first_graph;
	return place;
}

static int compare_texts(const char *a, const char *b)
{
	int order = strcmp(a, b);

	return (order > 0) - (order < 0);
}

/* By rank, then host, then start: what is the same in both runs. */
static int compare_sides(const void *left, const void *right, void *context)
{
	const struct side *a = left, *b = right;
	const struct profile_process *processes = context;
	const struct profile_process *one = &processes[a->process], *other = &processes[b->process];
	int order = (one->rank > other->rank) - (one->rank < other->rank);

	if (!order)
		order = compare_texts(one->host, other->host);
	if (!order)
		order = (one->start_ns > other->start_ns) - (one->start_ns < other->start_ns);
	return order ? order : (a->process > b->process) - (a->process < b->process);
}

static int run_open(struct run *run, const struct profile *profile)
{
	*run = (struct run){.profile = profile};
	if (list_ops(run) < 0)
		return -ENOMEM;
	for (size_t place = 0; place < run->op_count;) {
		place = add_launch(run, place);
		if (!place)
			return -ENOMEM;
	}
	qsort_r(run->sides, run->side_count, sizeof(*run->sides), compare_sides,
		profile->processes);
	return 0;
}

/* ---- the same? ---- */

static const struct profile_process *process_of(const struct run *run, const struct side *side)
{
	return &run->profile->processes[side->process];
}

/* " of rank 3", where there are several processes. */
static void describe_side(const struct run *run, const struct side *side, char *text, size_t size)
{
	const struct profile_process *process = process_of(run, side);

	text[0] = '\0';
	if (run->side_count < 2)
		return;
	if (process->rank >= 0)
		snprintf(text, size, " of rank %" PRId64, process->rank);
	else
		snprintf(text, size, " of %s", process->folder);
}

/* The graph's place among those of its process, by first launch, and its id: "graph number 2 (id 5)". */
static void describe_graph(const struct run *run, const struct side *side, uint32_t number,
			   char *text, size_t size)
{
	const struct host_launch *launch = &run->launches[side->first_launch + number];

	snprintf(text, size, "graph number %u (id %u)", launch->graph - side->first_graph + 1,
		 ids_at(run, launch->first).graph);
}

static void describe_launch_difference(struct graph_join *join, const struct run runs[2],
				       const struct side *const sides[2], uint32_t number)
{
	char process[256], graphs[2][64];

	describe_side(&runs[0], sides[0], process, sizeof(process));
	for (int i = 0; i < 2; i++)
		describe_graph(&runs[i], sides[i], number, graphs[i], sizeof(graphs[i]));
	snprintf(join->difference, sizeof(join->difference),
		 "graph launch %u%s is of %s in the first run and of %s in the second", number + 1,
		 process, graphs[0], graphs[1]);
}

static void describe_count_difference(struct graph_join *join, const struct run runs[2],
				      const struct side *const sides[2])
{
	int longer = sides[1]->launch_count > sides[0]->launch_count;
	char process[256], graph[64];

	describe_side(&runs[0], sides[0], process, sizeof(process));
	describe_graph(&runs[longer], sides[longer], sides[!longer]->launch_count, graph,
		       sizeof(graph));
	snprintf(
		join->difference, sizeof(join->difference),
		"graph launch %u%s, of %s, is in the %s run only: %u graph launches in the first and %u in the second",
		sides[!longer]->launch_count + 1, process, graph, longer ? "second" : "first",
		sides[0]->launch_count, sides[1]->launch_count);
}

/* Compares the launches of one process in both runs. */
static void compare_launches(struct graph_join *join, const struct run runs[2],
			     const struct side *const sides[2])
{
	uint32_t count = sides[0]->launch_count < sides[1]->launch_count ? sides[0]->launch_count
									 : sides[1]->launch_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t graph[2];

		for (int run = 0; run < 2; run++)
			graph[run] = runs[run].launches[sides[run]->first_launch + i].graph -
				     sides[run]->first_graph;
		if (graph[0] != graph[1]) {
			describe_launch_difference(join, runs, sides, i);
			return;
		}
	}
	if (sides[0]->launch_count != sides[1]->launch_count)
		describe_count_difference(join, runs, sides);
}

static void compare_processes(struct graph_join *join, const struct run runs[2])
{
	if (runs[0].side_count != runs[1].side_count) {
		snprintf(join->difference, sizeof(join->difference),
			 "%u processes launched graphs in the first run and %u in the second",
			 runs[0].side_count, runs[1].side_count);
		return;
	}
	for (uint32_t i = 0; i < runs[0].side_count && !join->difference[0]; i++) {
		const struct side *sides[2] = {&runs[0].sides[i], &runs[1].sides[i]};
		int64_t ranks[2] = {process_of(&runs[0], sides[0])->rank,
				    process_of(&runs[1], sides[1])->rank};

		if (ranks[0] == ranks[1])
			compare_launches(join, runs, sides);
		else
			snprintf(join->difference, sizeof(join->difference),
				 "rank %" PRId64 " launched graphs in the %s run only",
				 ranks[0] < ranks[1] ? ranks[0] : ranks[1],
				 ranks[0] < ranks[1] ? "first" : "second");
	}
}

static bool has_loss(const struct profile *profile)
{
	for (size_t i = 0; i < profile->loss_count; i++)
		if (profile->losses[i].count)
			return true;
	return false;
}

static bool has_filter(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].is_filtered)
			return true;
	return false;
}

/* What can make equal runs look different. */
static void add_doubt(struct graph_join *join, const struct profile *profile)
{
	size_t used = strlen(join->difference);
	const char *doubt = "";

	if (has_filter(profile) || has_filter(profile->graph_run))
		doubt = "; only a part was recorded, and limits may leave out different launches "
			"in each run";
	else if (has_loss(profile) || has_loss(profile->graph_run))
		doubt = "; records were lost, which may be why";
	snprintf(join->difference + used, sizeof(join->difference) - used, "%s", doubt);
}

/* ---- which is which ---- */

static void describe_nodes(const struct run *run, const struct host_launch *launch,
			   struct graph_pair *pair)
{
	pair->signature = PROFILE_NONE;
	pair->node_count = launch->op_count;
	for (uint32_t i = 0; i < launch->op_count && pair->signature == PROFILE_NONE; i++) {
		const struct profile_op *op = op_at(run, launch->first + i);

		if (op->kind == OP_KERNEL)
			pair->signature = op->detail;
	}
}

static void pair_side(struct graph_pair *pairs, const struct run runs[2],
		      const struct side *const sides[2])
{
	for (uint32_t i = 0; i < sides[0]->launch_count; i++) {
		const struct host_launch *launches[2] = {
			&runs[0].launches[sides[0]->first_launch + i],
			&runs[1].launches[sides[1]->first_launch + i]};
		struct graph_pair *pair = &pairs[launches[0]->graph];

		if (pair->launch_count++)
			continue;
		pair->process = sides[0]->process;
		pair->run_process = sides[1]->process;
		pair->graph = ids_at(&runs[0], launches[0]->first).graph;
		pair->run_graph = ids_at(&runs[1], launches[1]->first).graph;
		describe_nodes(&runs[0], launches[0], pair);
	}
}

static int compare_pairs(const void *left, const void *right)
{
	const struct graph_pair *a = left, *b = right;

	if (a->run_process != b->run_process)
		return a->run_process < b->run_process ? -1 : 1;
	return (a->run_graph > b->run_graph) - (a->run_graph < b->run_graph);
}

static int pair_graphs(struct graph_join *join, const struct run runs[2])
{
	join->pairs = calloc((size_t)runs[0].graphs.count + 1, sizeof(*join->pairs));
	if (!join->pairs)
		return -ENOMEM;
	join->pair_count = runs[0].graphs.count;
	join->launch_count = runs[0].launch_count;
	for (uint32_t i = 0; i < runs[0].side_count; i++) {
		const struct side *sides[2] = {&runs[0].sides[i], &runs[1].sides[i]};

		pair_side(join->pairs, runs, sides);
	}
	qsort(join->pairs, join->pair_count, sizeof(*join->pairs), compare_pairs);
	return 0;
}

int graph_join_build(struct graph_join **out, const struct profile *profile, struct err *err)
{
	struct graph_join *join = NULL;
	struct run runs[2] = {0};
	int rc = 0;

	*out = NULL;
	if (!profile->graph_run)
		return 0;
	join = calloc(1, sizeof(*join));
	if (!join || run_open(&runs[0], profile) < 0 || run_open(&runs[1], profile->graph_run) < 0)
		rc = -ENOMEM;
	if (rc == 0) {
		compare_processes(join, runs);
		if (join->difference[0])
			add_doubt(join, profile);
		else
			rc = pair_graphs(join, runs);
	}
	run_close(&runs[0]);
	run_close(&runs[1]);
	if (rc < 0) {
		graph_join_free(join);
		return err_set(err, rc, "out of memory for joining the two runs");
	}
	*out = join;
	return 0;
}

const struct graph_pair *graph_join_find(const struct graph_join *join, uint32_t run_process,
					 uint32_t run_graph)
{
	const struct graph_pair key = {.run_process = run_process, .run_graph = run_graph};

	if (!join || !join->pair_count)
		return NULL;
	return bsearch(&key, join->pairs, join->pair_count, sizeof(key), compare_pairs);
}

void graph_join_free(struct graph_join *join)
{
	if (!join)
		return;
	free(join->pairs);
	free(join);
}
