#include "analysis/statistics/device_graphs.h"

#include "base/distribution.h"
#include "base/groups.h"
#include "base/radix.h"
#include "base/search.h"
#include "analysis/statistics/statistics_parts.h"

#include <errno.h>
#include <stdlib.h>

/* A launch of a whole graph, by the host or the device. */
struct launch {
	const struct profile_op *op;
	const struct profile_graph_launch *how;
	uint32_t graph;	   /* in device_pass.graphs */
	uint32_t launcher; /* the same of the graph that launched it; PROFILE_NONE for the host */
	uint32_t row;	   /* in device_pass.rows; PROFILE_NONE for the host */
	uint32_t launched_count[LAUNCH_MODE_COUNT]; /* that this launch launched, by mode */
};

/*
 * Launches sorted by graph are in the order of time within each graph, which
 * never runs twice at once: launchers are found there by binary search.
 */
struct device_pass {
	const struct profile *profile;
	struct groups graphs; /* by process, device and executable graph */
	struct groups rows;   /* by process, launcher, graph and mode */
	struct launch *launches;
	uint32_t *order;   /* launches[] by graph */
	uint32_t *scratch; /* as long as order */
	size_t count;
	uint32_t *first;	/* by graph, where its launches begin in order; one more */
	bool *is_host_launched; /* by graph */
	struct durations times, latencies; /* by row */
};

static void pass_close(struct device_pass *pass)
{
	groups_free(&pass->graphs);
	groups_free(&pass->rows);
	durations_free(&pass->times);
	durations_free(&pass->latencies);
	free(pass->launches);
	free(pass->order);
	free(pass->scratch);
	free(pass->first);
	free(pass->is_host_launched);
}

static size_t count_launches(const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		count += profile->ops[i].kind == OP_GRAPH;
	return count;
}

static int find_graph(struct device_pass *pass, const struct profile_op *op, uint32_t graph,
		      uint32_t *number)
{
	uint32_t key[3] = {profile_op_process(pass->profile, op),
			   profile_op_device(pass->profile, op), graph};

	return groups_find(&pass->graphs, key, sizeof(key), number);
}

static int describe_launch(struct device_pass *pass, const struct profile_op *op,
			   struct launch *launch)
{
	const struct profile_graph_launch *how = &pass->profile->graph_launches[op->detail];
	uint32_t graph = profile_op_graph(pass->profile, op);
	uint32_t key[4] = {profile_op_process(pass->profile, op), how->launcher_graph, graph,
			   how->launch_mode};

	*launch = (struct launch){op, how, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, {0}};
	if (find_graph(pass, op, graph, &launch->graph) < 0)
		return -ENOMEM;
	if (how->launch_mode == LAUNCH_BY_HOST)
		return 0;
	if (find_graph(pass, op, how->launcher_graph, &launch->launcher) < 0)
		return -ENOMEM;
	return groups_find(&pass->rows, key, sizeof(key), &launch->row);
}

static int list_launches(struct device_pass *pass)
{
	const struct profile *profile = pass->profile;

	for (size_t i = 0; i < profile->op_count; i++) {
		if (profile->ops[i].kind != OP_GRAPH)
			continue;
		if (describe_launch(pass, &profile->ops[i], &pass->launches[pass->count]) < 0)
			return -ENOMEM;
		pass->order[pass->count] = (uint32_t)pass->count;
		pass->count++;
	}
	return 0;
}

static uint32_t key_graph(uint32_t index, const void *context)
{
	return ((const struct device_pass *)context)->launches[index].graph;
}

static int sort_by_graph(struct device_pass *pass)
{
	pass->first = calloc(pass->graphs.count + 1, sizeof(*pass->first));
	pass->is_host_launched = calloc(pass->graphs.count + 1, sizeof(*pass->is_host_launched));
	if (!pass->first || !pass->is_host_launched)
		return -ENOMEM;
	radix_sort(pass->order, pass->scratch, pass->count, key_graph, pass);
	for (size_t i = 0; i < pass->count; i++) {
		const struct launch *launch = &pass->launches[i];

		pass->first[launch->graph + 1]++;
		pass->is_host_launched[launch->graph] |= launch->row == PROFILE_NONE;
	}
	for (uint32_t graph = 0; graph < pass->graphs.count; graph++)
		pass->first[graph + 1] += pass->first[graph];
	return 0;
}

static int pass_open(struct device_pass *pass, const struct profile *profile, size_t count)
{
	*pass = (struct device_pass){.profile = profile};
	pass->launches = calloc(count, sizeof(*pass->launches));
	pass->order = calloc(count, sizeof(*pass->order));
	pass->scratch = calloc(count, sizeof(*pass->scratch));
	if (!pass->launches || !pass->order || !pass->scratch || list_launches(pass) < 0 ||
	    sort_by_graph(pass) < 0 || durations_open(&pass->times, pass->rows.count) < 0)
		return -ENOMEM;
	return durations_open(&pass->latencies, pass->rows.count);
}

/* ---- how soon ---- */

/* What latency counts from: tail launches wait for the end of their launcher. */
static int64_t moment(const struct launch *launcher, uint32_t launch_mode)
{
	return launch_mode == LAUNCH_TAIL ? launcher->op->end_ns : launcher->op->start_ns;
}

/* Records are no finer: graphs in the tail were seen to start 96 ns before their launcher's recorded end
 * (tests/recordings/device_choice.tail). */
#define RECORD_NS 200

static bool can_have_launched(const struct launch *launcher, const struct launch *launched)
{
	uint32_t mode = launched->how->launch_mode;
	int64_t slack_ns = mode == LAUNCH_TAIL ? RECORD_NS : 0;

	return launcher < launched && moment(launcher, mode) <= launched->op->start_ns + slack_ns;
}

struct launcher_search {
	const struct device_pass *pass;
	const struct launch *launched;
};

static bool is_too_late(size_t index, const void *context)
{
	const struct launcher_search *search = context;
	const struct device_pass *pass = search->pass;

	return !can_have_launched(&pass->launches[pass->order[index]], search->launched);
}

/* The last launch of the launcher that can have launched it; NULL when none was recorded. */
static struct launch *launcher_of(const struct device_pass *pass, const struct launch *launched)
{
	size_t begin = pass->first[launched->launcher];
	size_t end = search_first(begin, pass->first[launched->launcher + 1], is_too_late,
				  &(struct launcher_search){pass, launched});

	return end == begin ? NULL : &pass->launches[pass->order[end - 1]];
}

static int64_t latency_of(const struct launch *launcher, const struct launch *launched)
{
	int64_t latency_ns = launched->op->start_ns - moment(launcher, launched->how->launch_mode);

	return latency_ns > 0 ? latency_ns : 0;
}

static void count_launched(struct launch *launcher, const struct launch *launched)
{
	if (launched->how->launch_mode < LAUNCH_MODE_COUNT)
		launcher->launched_count[launched->how->launch_mode]++;
}

static int measure(struct device_pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		const struct launch *launch = &pass->launches[i];

		if (launch->row == PROFILE_NONE)
			continue;
		durations_count(&pass->times, launch->row);
		durations_count(&pass->latencies, launch->row);
	}
	if (durations_lay_out(&pass->times) < 0 || durations_lay_out(&pass->latencies) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < pass->count; i++) {
		const struct launch *launch = &pass->launches[i];
		struct launch *launcher;

		if (launch->row == PROFILE_NONE)
			continue;
		durations_add(&pass->times, launch->row, launch->op->end_ns - launch->op->start_ns);
		launcher = launcher_of(pass, launch);
		if (!launcher)
			continue;
		durations_add(&pass->latencies, launch->row, latency_of(launcher, launch));
		count_launched(launcher, launch);
	}
	return 0;
}

/* ---- limits ---- */

uint64_t device_graphs_limit(uint32_t launch_mode)
{
	static const uint64_t limits[LAUNCH_MODE_COUNT] = {
		[LAUNCH_FIRE_AND_FORGET] = FIRE_AND_FORGET_LIMIT,
		[LAUNCH_TAIL] = TAIL_LIMIT,
	};

	return launch_mode < LAUNCH_MODE_COUNT ? limits[launch_mode] : 0;
}

static struct device_limit limit_of(const struct device_pass *pass, uint32_t graph,
				    uint32_t launch_mode)
{
	struct device_limit limit = {.launch_mode = launch_mode};

	for (uint32_t i = pass->first[graph]; i < pass->first[graph + 1]; i++) {
		const struct launch *launch = &pass->launches[pass->order[i]];
		uint64_t count = launch->launched_count[launch_mode];

		limit.process = profile_op_process(pass->profile, launch->op);
		limit.device = profile_op_device(pass->profile, launch->op);
		limit.launcher_graph = profile_op_graph(pass->profile, launch->op);
		limit.launch_count += count >= device_graphs_limit(launch_mode);
		limit.most = count > limit.most ? count : limit.most;
	}
	return limit;
}

static int fill_limits(const struct device_pass *pass, struct device_graphs *graphs)
{
	static const uint32_t modes[] = {LAUNCH_FIRE_AND_FORGET, LAUNCH_TAIL};
	size_t mode_count = sizeof(modes) / sizeof(modes[0]);

	graphs->limits = calloc(mode_count * pass->graphs.count + 1, sizeof(*graphs->limits));
	if (!graphs->limits)
		return -ENOMEM;
	for (uint32_t graph = 0; graph < pass->graphs.count; graph++)
		for (size_t i = 0; i < mode_count; i++) {
			struct device_limit limit = limit_of(pass, graph, modes[i]);

			if (limit.launch_count)
				graphs->limits[graphs->limit_count++] = limit;
		}
	return 0;
}

/* ---- the result ---- */

static int compare_rows(const void *left, const void *right)
{
	const struct device_launches *a = left, *b = right;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	if (!order)
		order = (int)(a->process > b->process) - (a->process < b->process);
	if (!order)
		order = (int)(a->launcher_graph > b->launcher_graph) -
			(a->launcher_graph < b->launcher_graph);
	if (!order)
		order = (int)(a->graph > b->graph) - (a->graph < b->graph);
	return order ? order
		     : (int)(a->launch_mode > b->launch_mode) - (a->launch_mode < b->launch_mode);
}

static int fill_rows(struct device_pass *pass, struct device_graphs *graphs)
{
	graphs->launches = calloc((size_t)pass->rows.count + 1, sizeof(*graphs->launches));
	if (!graphs->launches)
		return -ENOMEM;
	graphs->count = pass->rows.count;
	for (size_t i = 0; i < pass->count; i++) {
		const struct launch *launch = &pass->launches[i];
		struct device_launches *row;

		if (launch->row == PROFILE_NONE)
			continue;
		row = &graphs->launches[launch->row];
		row->process = profile_op_process(pass->profile, launch->op);
		row->launcher_graph = launch->how->launcher_graph;
		row->graph = profile_op_graph(pass->profile, launch->op);
		row->launch_mode = launch->how->launch_mode;
		row->is_host_launched |= pass->is_host_launched[launch->graph];
		row->is_launcher_host_launched |= pass->is_host_launched[launch->launcher];
		graphs->launch_count++;
	}
	for (uint32_t i = 0; i < pass->rows.count; i++) {
		graphs->launches[i].time = durations_distribution(&pass->times, i);
		graphs->launches[i].latency = durations_distribution(&pass->latencies, i);
	}
	qsort(graphs->launches, graphs->count, sizeof(*graphs->launches), compare_rows);
	return 0;
}

int device_graphs_build(struct device_graphs **out, const struct profile *profile, struct err *err)
{
	struct device_graphs *graphs = calloc(1, sizeof(*graphs));
	struct device_pass pass = {0};
	size_t count;
	int rc = graphs ? 0 : -ENOMEM;

	if (profile->graph_run)
		profile = profile->graph_run;
	count = count_launches(profile);
	if (rc == 0)
		graphs->profile = profile;
	if (rc == 0 && count) {
		rc = pass_open(&pass, profile, count);
		if (rc == 0)
			rc = measure(&pass);
		if (rc == 0)
			rc = fill_rows(&pass, graphs);
		if (rc == 0)
			rc = fill_limits(&pass, graphs);
		pass_close(&pass);
	}
	if (rc < 0) {
		device_graphs_free(graphs);
		return err_set(err, rc, "out of memory for the graphs that the device launched");
	}
	*out = graphs;
	return 0;
}

static const char *const mode_names[][2] = {
	[LAUNCH_BY_HOST] = {"host", "host"},
	[LAUNCH_FIRE_AND_FORGET] = {"fire and forget", "fire_and_forget"},
	[LAUNCH_TAIL] = {"tail", "tail"},
	[LAUNCH_SIBLING] = {"sibling", "sibling"},
	[LAUNCH_MODE_COUNT] = {"other", "other"},
};

const char *device_graphs_mode_name(uint32_t launch_mode)
{
	return mode_names[launch_mode < LAUNCH_MODE_COUNT ? launch_mode : LAUNCH_MODE_COUNT][0];
}

const char *device_graphs_mode_key(uint32_t launch_mode)
{
	return mode_names[launch_mode < LAUNCH_MODE_COUNT ? launch_mode : LAUNCH_MODE_COUNT][1];
}

void device_graphs_free(struct device_graphs *graphs)
{
	if (!graphs)
		return;
	free(graphs->launches);
	free(graphs->limits);
	free(graphs);
}
