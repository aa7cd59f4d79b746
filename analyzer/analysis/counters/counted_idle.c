#include "analysis/counters/counted_idle.h"

#include "analysis/counters/counted_graphs.h"

/* Works of the launches that one operation belongs to: at most its kernel, its graph, and all. */
struct owners {
	struct counted_idle *kernel, *graph; /* NULL when there is none */
};

static struct owners owners_of(const struct counted *counted, const struct profile_op *op)
{
	uint32_t graph = counted_graph_of(counted, op);
	struct owners owners = {NULL, NULL};

	if (op->kind == OP_KERNEL)
		owners.kernel =
			&counted->kernels[counted->profile->signatures[op->detail].kernel].idle;
	if (graph != PROFILE_NONE)
		owners.graph = &counted->graphs[graph].idle;
	return owners;
}

static bool is_same_launch(const struct profile *profile, const struct profile_op *a,
			   const struct profile_op *b)
{
	const struct profile_op_ids ids = profile_op_ids(profile, a);
	const struct profile_op_ids others = profile_op_ids(profile, b);

	return ids.graph && ids.graph == others.graph && ids.correlation == others.correlation &&
	       (ids.correlation || a->kind != OP_GRAPH) &&
	       profile_op_process(profile, a) == profile_op_process(profile, b);
}

/* Reading counters takes time before and after a launch. */
static bool is_undisturbed(const struct profile_op *before, const struct profile_op *after)
{
	return before->counted == NOT_COUNTED && (!after || after->counted == NOT_COUNTED);
}

/* ---- launches ---- */

static void add_launch(struct counted_idle *idle, double busy_ns)
{
	if (!idle)
		return;
	idle->launch_count++;
	idle->busy_ns += busy_ns;
}

/* Where branches of a graph alternate with other work, its launch is left more than once; then
 * limit_graph_launches() puts the count right. */
static void add_op(const struct counted *counted, const struct profile_op *op,
		   const struct profile_op *next, double busy_ns)
{
	struct owners owners = owners_of(counted, op);

	if (!is_undisturbed(op, next))
		return;
	add_launch(owners.kernel, busy_ns);
	if (owners.graph)
		owners.graph->busy_ns += busy_ns;
	if (owners.graph && (!next || !is_same_launch(counted->profile, op, next)))
		owners.graph->launch_count++;
}

/* How much of the operation lies behind until_ns, which then is no earlier than its end. */
static double advance(int64_t *until_ns, const struct profile_op *op)
{
	int64_t from_ns = op->start_ns > *until_ns ? op->start_ns : *until_ns;

	if (op->end_ns > *until_ns)
		*until_ns = op->end_ns;
	return op->end_ns > from_ns ? (double)(op->end_ns - from_ns) : 0;
}

static void add_device(struct counted *counted, const struct profile_device *device)
{
	const struct profile_op *op = counted->profile->ops + device->first_op;
	const struct profile_op *end = op + device->op_count;
	int64_t until_ns = INT64_MIN, kernels_until_ns = INT64_MIN;

	for (; op < end; op++) {
		const struct profile_op *next = op + 1 < end ? op + 1 : NULL;
		bool is_kernel = op->kind == OP_KERNEL || op->kind == OP_GRAPH;
		double busy_ns = advance(&until_ns, op);
		double kernel_ns = is_kernel ? advance(&kernels_until_ns, op) : 0;

		add_op(counted, op, next, busy_ns);
		if (!is_undisturbed(op, next))
			continue;
		add_launch(&counted->application.idle, busy_ns);
		counted->application.idle.kernel_ns += kernel_ns;
	}
}

static void limit_graph_launches(struct counted *counted)
{
	for (size_t i = 0; i < counted->profile->counted_graph_count; i++) {
		struct counted_work *graph = &counted->graphs[i];

		if (graph->idle.launch_count > graph->launch_count)
			graph->idle.launch_count = graph->launch_count;
	}
}

/* ---- idle time ---- */

/* What getting work to the device takes; see analysis/counters/roofline.h. */
static void add_idle(struct counted_idle *idle, const struct gap *gap)
{
	static const enum gap_cause of_launching[] = {
		GAP_LAUNCH, GAP_SYNC,  GAP_DECISION,   GAP_CAPTURE, GAP_INSTANTIATE,
		GAP_UPDATE, GAP_GRAPH, GAP_DEPENDENCY, GAP_DEVICE,
	};

	if (!idle)
		return;
	idle->idle_ns += (double)(gap->end_ns - gap->start_ns - gap->by_cause_ns[GAP_PROFILER] -
				  gap->by_cause_ns[GAP_CHILDREN]);
	idle->children_ns += (double)gap->by_cause_ns[GAP_CHILDREN];
	for (size_t i = 0; i < sizeof(of_launching) / sizeof(*of_launching); i++)
		if (gap->causes & 1U << of_launching[i])
			idle->launch_idle_ns += (double)gap->by_cause_ns[of_launching[i]];
}

void counted_add_gap(struct counted *counted, const struct gap *gap)
{
	const struct profile *profile = counted->profile;
	const struct profile_op *before = &profile->ops[gap->before];
	const struct profile_op *after = &profile->ops[gap->after];
	struct owners owners;

	if (!is_undisturbed(before, after))
		return;
	add_idle(&counted->application.idle, gap);
	if (gap->before >= profile->op_count) /* it ran before the part that is looked at */
		return;
	owners = owners_of(counted, before);
	add_idle(owners.kernel, gap);
	if (owners.graph && !is_same_launch(profile, before, after))
		add_idle(owners.graph, gap);
}

void counted_add_launches(struct counted *counted)
{
	const struct profile *profile = counted->profile;

	for (size_t i = 0; i < profile->device_count; i++)
		add_device(counted, &profile->devices[i]);
	limit_graph_launches(counted);
}
