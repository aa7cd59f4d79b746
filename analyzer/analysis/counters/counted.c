#include "analysis/counters/counted.h"

#include "analysis/counters/counted_graphs.h"
#include "analysis/counters/counted_idle.h"
#include "base/groups.h"
#include "base/sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Launches of one signature or graph. */
struct launches {
	uint64_t count;
	uint64_t own_count; /* those outside counted graphs, for the application */
	uint64_t graph_node_count, own_graph_node_count;
	struct {
		uint64_t count;
		int64_t ns;
	} uncounted, counted; /* what could be timed */
};

/* What is known of a role, before the time of all launches is. */
struct role_sum {
	uint64_t sample_count, launch_count;
	double total;			/* of launches of signatures with samples */
	double timed_total, covered_ns; /* of those with a time */
};

struct work_sum {
	struct counted_work work;
	uint64_t timed_launch_count; /* launches of signatures with a time */
	struct role_sum *roles;	     /* METRIC_ROLE_COUNT, of struct joining */
	struct role_sum half[HALF_COUNT];
};

/* What the instructions of half precision of a kernel may be. */
enum half_code { HALF_IS_UNKNOWN, HALF_IS_NONE, HALF_IS_MIXED, HALF_IS_ARITHMETIC };

/* Means of one signature's counters by role. */
struct role_means {
	uint64_t sample_count[METRIC_ROLE_COUNT];
	double mean[METRIC_ROLE_COUNT];
	enum half_code half;
};

struct joining {
	const struct profile *profile;
	struct counted *counted;
	struct launches *signatures, *graphs;
	struct work_sum *kernel_sums, *graph_sums, *application;
	struct role_sum *roles; /* as counted->roles */
};

/* ---- launches and their times ---- */

static void add_launch(struct launches *launches, enum profile_counted counted, int64_t ns)
{
	launches->count++;
	if (counted == NOT_COUNTED) {
		launches->uncounted.count++;
		sum_add_ns(&launches->uncounted.ns, ns);
	} else if (counted == COUNTED) {
		launches->counted.count++;
		sum_add_ns(&launches->counted.ns, ns);
	}
}

/* The mean time of a launch, or a negative number when none can be timed. */
static double launch_ns(const struct launches *launches, uint64_t *timed_count)
{
	*timed_count = launches->uncounted.count;
	if (*timed_count)
		return (double)launches->uncounted.ns / (double)*timed_count;
	*timed_count = launches->counted.count;
	return *timed_count ? (double)launches->counted.ns / (double)*timed_count : -1;
}

/* One launch of a counted graph, from its first node's start to its last one's end. */
struct graph_launch {
	uint32_t graph; /* counted_graphs[] */
	int64_t start_ns, end_ns;
	enum profile_counted counted;
};

struct graph_launches {
	struct groups numbers; /* by process and correlation, or by operation where there is none */
	struct graph_launch *items;
	size_t capacity;
};

static int launch_number(struct graph_launches *launches, const struct profile *profile,
			 const struct profile_op *op, uint32_t *number)
{
	uint32_t correlation = profile_op_ids(profile, op).correlation;
	const uint64_t key[2] = {correlation ? profile_op_process(profile, op) : UINT64_MAX,
				 correlation ? correlation : (uint64_t)(op - profile->ops)};

	return groups_find(&launches->numbers, key, sizeof(key), number);
}

static int add_graph_op(struct graph_launches *launches, const struct profile *profile,
			const struct profile_op *op, uint32_t graph)
{
	uint32_t known = launches->numbers.count, number;
	struct graph_launch *launch;

	if (launch_number(launches, profile, op, &number) < 0)
		return -ENOMEM;
	if (number == launches->capacity) {
		size_t capacity = number ? 2 * (size_t)number : 64;
		struct graph_launch *items =
			reallocarray(launches->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		launches->items = items;
		launches->capacity = capacity;
	}
	launch = &launches->items[number];
	if (number == known)
		*launch = (struct graph_launch){graph, op->start_ns, op->end_ns, op->counted};
	launch->start_ns = op->start_ns < launch->start_ns ? op->start_ns : launch->start_ns;
	launch->end_ns = op->end_ns > launch->end_ns ? op->end_ns : launch->end_ns;
	return 0;
}

/* Nodes of graphs without a correlation are bodies of conditional nodes: in no launch of their own. */
static bool is_launch(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_GRAPH || profile_op_ids(profile, op).correlation;
}

static void add_kernel(struct joining *joining, const struct profile_op *op, bool is_in_graph)
{
	struct launches *launches = &joining->signatures[op->detail];
	const struct profile *profile = joining->profile;
	bool is_node = profile_op_graph(profile, op) && profile_op_node(profile, op);

	add_launch(launches, op->counted, op->end_ns - op->start_ns);
	launches->own_count += !is_in_graph;
	launches->graph_node_count += is_node;
	launches->own_graph_node_count += is_node && !is_in_graph;
}

static int gather_ops(struct joining *joining, struct graph_launches *graph_launches)
{
	const struct profile *profile = joining->profile;
	const struct profile_op *end = profile->ops + profile->op_count;
	int rc = 0;

	for (const struct profile_op *op = profile->ops; op < end && rc == 0; op++) {
		uint32_t graph = counted_graph_of(joining->counted, op);

		if (op->kind == OP_KERNEL)
			add_kernel(joining, op, graph != PROFILE_NONE);
		if (graph != PROFILE_NONE && is_launch(profile, op))
			rc = add_graph_op(graph_launches, profile, op, graph);
	}
	return rc;
}

static int gather(struct joining *joining)
{
	struct graph_launches launches = {0};
	int rc = gather_ops(joining, &launches);

	for (size_t i = 0; i < launches.numbers.count && rc == 0; i++) {
		const struct graph_launch *launch = &launches.items[i];
		struct launches *graph = &joining->graphs[launch->graph];

		add_launch(graph, launch->counted, launch->end_ns - launch->start_ns);
		graph->own_count++;
	}
	groups_free(&launches.numbers);
	free(launches.items);
	return rc;
}

/* ---- counters ---- */

/* Several counters of one role are parts of it; its sample count is the least of theirs. */
static void means_add(struct role_means *means, uint32_t role,
		      const struct profile_counter *counter)
{
	uint64_t count = means->sample_count[role];

	means->mean[role] += counter->mean;
	if (!count || counter->sample_count < count)
		means->sample_count[role] = counter->sample_count;
}

/* Reads the counters of one subject, which lie together; returns where the next ones begin. */
static size_t read_means(struct role_means *means, const struct profile *profile, size_t first,
			 bool is_graph, uint32_t subject)
{
	size_t i = first;

	*means = (struct role_means){0};
	for (; i < profile->counter_count && profile->counters[i].is_graph == is_graph &&
	       profile->counters[i].subject == subject;
	     i++) {
		uint32_t role = profile->metrics[profile->counters[i].metric].role;

		if (role < METRIC_ROLE_COUNT)
			means_add(means, role, &profile->counters[i]);
	}
	return i;
}

/* ---- half precision ---- */

/* By the code for the compute capabilities of the recording's devices. */
static enum half_code half_code_of(const struct profile *profile, uint32_t kernel)
{
	uint64_t arithmetic_count = 0, other_count = 0;
	bool is_known = false;

	for (size_t i = 0; i < profile->device_count; i++) {
		const struct profile_device *device = &profile->devices[i];
		const struct profile_machine_code *code =
			profile_machine_code(profile, kernel,
					     10 * device->compute_major + device->compute_minor);

		if (!code)
			continue;
		is_known = true;
		arithmetic_count += code->half_arithmetic_count;
		other_count += (uint64_t)code->half_constant_count + code->half_conversion_count;
	}
	if (!is_known)
		return HALF_IS_UNKNOWN;
	if (!arithmetic_count)
		return HALF_IS_NONE;
	return other_count ? HALF_IS_MIXED : HALF_IS_ARITHMETIC;
}

static bool is_half_counted(const struct role_means *means)
{
	for (uint32_t i = 0; i < HALF_COUNT; i++)
		if (means->sample_count[METRIC_fp16_add + i] &&
		    means->mean[METRIC_fp16_add + i] > 0)
			return true;
	return false;
}

/* ---- sums ---- */

static void role_add(struct role_sum *role, uint64_t sample_count, double mean,
		     uint64_t launch_count, double ns)
{
	double total = mean * (double)launch_count;

	if (!sample_count)
		return;
	role->sample_count += sample_count;
	role->launch_count += launch_count;
	role->total += total;
	if (ns < 0)
		return;
	role->timed_total += total;
	role->covered_ns += ns * (double)launch_count;
}

static void half_add(struct work_sum *sum, const struct role_means *means, uint64_t launch_count,
		     double ns)
{
	for (uint32_t i = 0; i < HALF_COUNT; i++)
		role_add(&sum->half[i], means->sample_count[METRIC_fp16_add + i],
			 means->half == HALF_IS_NONE ? 0 : means->mean[METRIC_fp16_add + i],
			 launch_count, ns);
	if (!is_half_counted(means))
		return;
	sum->work.has_untrusted_half |= means->half == HALF_IS_UNKNOWN;
	sum->work.has_mixed_half |= means->half == HALF_IS_MIXED;
}

static void work_add(struct work_sum *sum, const struct launches *launches, uint64_t launch_count,
		     const struct role_means *means)
{
	uint64_t timed_count;
	double ns = launch_ns(launches, &timed_count);

	if (!launch_count)
		return;
	if (ns < 0 && means->sample_count[METRIC_range_ns]) {
		ns = means->mean[METRIC_range_ns];
		timed_count = means->sample_count[METRIC_range_ns];
	}
	sum->work.launch_count += launch_count;
	if (ns >= 0) {
		sum->work.timed_count += timed_count;
		sum->timed_launch_count += launch_count;
		sum->work.time_ns += ns * (double)launch_count;
	}
	for (uint32_t i = 0; i < METRIC_ROLE_COUNT; i++)
		role_add(&sum->roles[i], means->sample_count[i], means->mean[i], launch_count, ns);
	half_add(sum, means, launch_count, ns);
}

static void finish_role(struct counted_role *role, const struct role_sum *sum,
			const struct counted_work *work)
{
	role->sample_count = sum->sample_count;
	if (!sum->sample_count)
		return;
	if (sum->covered_ns > 0) {
		role->covered_share = sum->covered_ns / work->time_ns;
		role->total = sum->timed_total / role->covered_share;
	} else {
		role->covered_share = (double)sum->launch_count / (double)work->launch_count;
		role->total = sum->total / role->covered_share;
	}
}

/* roles: its own. */
static void finish(struct counted_work *work, struct counted_role *roles,
		   const struct work_sum *sum)
{
	*work = sum->work;
	work->roles = roles;
	if (sum->timed_launch_count)
		work->time_ns *= (double)work->launch_count / (double)sum->timed_launch_count;
	for (uint32_t i = 0; i < METRIC_ROLE_COUNT; i++)
		finish_role(&roles[i], &sum->roles[i], work);
	for (uint32_t i = 0; i < HALF_COUNT; i++)
		finish_role(&work->half[i], &sum->half[i], work);
}

static void add_unrecorded(struct launches *launches, const struct profile_signature *signature)
{
	launches->count += signature->unrecorded_count;
	launches->own_count += signature->unrecorded_count;
}

/* All works: kernels, graphs, the application. */
static size_t work_count(const struct profile *profile)
{
	return profile->kernel_name_count + profile->counted_graph_count + 1;
}

/* Where the roles of a work begin, in either of the arrays of them. */
static size_t roles_of(const struct profile *profile, size_t work)
{
	return profile->counter_count ? work * METRIC_ROLE_COUNT : 0;
}

static void finish_all(struct joining *joining)
{
	const struct profile *profile = joining->profile;
	struct counted *counted = joining->counted;
	size_t work = 0;

	for (size_t i = 0; i < profile->kernel_name_count; i++)
		finish(&counted->kernels[i], counted->roles + roles_of(profile, work++),
		       &joining->kernel_sums[i]);
	for (size_t i = 0; i < profile->counted_graph_count; i++)
		finish(&counted->graphs[i], counted->roles + roles_of(profile, work++),
		       &joining->graph_sums[i]);
	finish(&counted->application, counted->roles + roles_of(profile, work),
	       joining->application);
}

static void add_up(struct joining *joining)
{
	const struct profile *profile = joining->profile;
	struct role_means means;
	size_t next = 0;

	for (size_t i = 0; i < profile->signature_count; i++) {
		const struct launches *launches = &joining->signatures[i];

		next = read_means(&means, profile, next, false, (uint32_t)i);
		means.half = half_code_of(profile, profile->signatures[i].kernel);
		add_unrecorded(&joining->signatures[i], &profile->signatures[i]);
		work_add(&joining->kernel_sums[profile->signatures[i].kernel], launches,
			 launches->count, &means);
		joining->kernel_sums[profile->signatures[i].kernel].work.graph_node_count +=
			launches->graph_node_count;
		work_add(joining->application, launches, launches->own_count, &means);
		joining->application->work.graph_node_count += launches->own_graph_node_count;
	}
	for (size_t i = 0; i < profile->counted_graph_count; i++) {
		const struct launches *launches = &joining->graphs[i];

		next = read_means(&means, profile, next, true, (uint32_t)i);
		work_add(&joining->graph_sums[i], launches, launches->count, &means);
		work_add(joining->application, launches, launches->own_count, &means);
	}
	finish_all(joining);
}

/* ---- building ---- */

static void give_roles(struct joining *joining)
{
	const struct profile *profile = joining->profile;
	size_t work = 0;

	for (size_t i = 0; i < profile->kernel_name_count; i++)
		joining->kernel_sums[i].roles = joining->roles + roles_of(profile, work++);
	for (size_t i = 0; i < profile->counted_graph_count; i++)
		joining->graph_sums[i].roles = joining->roles + roles_of(profile, work++);
	joining->application->roles = joining->roles + roles_of(profile, work);
}

static int joining_open(struct joining *joining, struct counted *counted)
{
	const struct profile *profile = counted->profile;
	size_t graph_count = profile->counted_graph_count;

	*joining = (struct joining){.profile = profile, .counted = counted};
	joining->signatures = calloc(profile->signature_count + 1, sizeof(*joining->signatures));
	joining->graphs = calloc(graph_count + 1, sizeof(*joining->graphs));
	joining->kernel_sums =
		calloc(profile->kernel_name_count + 1, sizeof(*joining->kernel_sums));
	joining->graph_sums = calloc(graph_count + 1, sizeof(*joining->graph_sums));
	joining->application = calloc(1, sizeof(*joining->application));
	joining->roles = calloc(roles_of(profile, work_count(profile)) + METRIC_ROLE_COUNT,
				sizeof(*joining->roles));
	if (!joining->signatures || !joining->graphs || !joining->kernel_sums ||
	    !joining->graph_sums || !joining->application || !joining->roles)
		return -ENOMEM;
	give_roles(joining);
	return 0;
}

static void joining_close(struct joining *joining)
{
	free(joining->signatures);
	free(joining->graphs);
	free(joining->kernel_sums);
	free(joining->graph_sums);
	free(joining->application);
	free(joining->roles);
}

static int join(struct counted *counted)
{
	struct joining joining;
	int rc = joining_open(&joining, counted);

	if (rc == 0)
		rc = counted_graphs_order(counted);
	if (rc == 0)
		rc = gather(&joining);
	if (rc == 0)
		add_up(&joining);
	joining_close(&joining);
	return rc;
}

int counted_build(struct counted **out, const struct profile *profile, struct err *err)
{
	struct counted *counted = calloc(1, sizeof(*counted));
	int rc = -ENOMEM;

	if (counted) {
		counted->profile = profile;
		counted->kernels =
			calloc(profile->kernel_name_count + 1, sizeof(*counted->kernels));
		counted->graphs =
			calloc(profile->counted_graph_count + 1, sizeof(*counted->graphs));
		counted->roles = calloc(roles_of(profile, work_count(profile)) + METRIC_ROLE_COUNT,
					sizeof(*counted->roles));
		if (counted->kernels && counted->graphs && counted->roles)
			rc = join(counted);
	}
	if (rc < 0) {
		counted_free(counted);
		return err_set(err, rc, "out of memory for the counters");
	}
	counted_add_launches(counted);
	*out = counted;
	return 0;
}

void counted_free(struct counted *counted)
{
	if (!counted)
		return;
	free(counted->kernels);
	free(counted->graphs);
	free(counted->graph_order);
	free(counted->roles);
	free(counted);
}

double counted_l2_cycles(const struct counted_work *work)
{
	const struct counted_role *cycles = &work->roles[METRIC_l2_cycles];
	const struct counted_role *range = &work->roles[METRIC_range_ns];

	return range->total > 0 ? cycles->total / range->total * work->time_ns : 0;
}
