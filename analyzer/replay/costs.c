#include "replay/costs.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "analysis/counters/datasheets.h"

/*
 * What recording adds, times launch_call to a call that submits work and times graph_launch to one that launches
 * a graph, at least and at most: docs/results/collector-cost.txt and collector-cost-busy.txt, "launch" and "graph
 * launch" by the collector, and the launches of docs/results/pairs.txt beside those of tests/pairs.  It differs that
 * much from machine to machine and from hour to hour, so in between it is what the calls of a recording take longer
 * than the ceilings say.
 */
#define LAUNCH_LEAST 0.2
#define LAUNCH_MOST 0.7
/* A launch of a graph: at least times graph_launch, and at most a share of the recorded call.  In all of these results
 * 58 to 63% of it are recording's on hosts that launch a graph in 1.9 to 2.2 us, which the host of the ceilings may do
 * faster. */
#define GRAPH_LAUNCH_LEAST 1.0
#define GRAPH_LAUNCH_MOST_SHARE 0.63
/* A call that submits nothing, times what is added to a launch: "record_ns" and "wait_ns" of
 * docs/results/check-attributes.txt beside "ns_per_launch" and "plain_ns". */
#define CALL_SHARE 0.5
/* Times graph_to_start: the graph launches of docs/results/pairs.txt and graph-latency.txt, beside those recorded; most
 * is what tests/pairs/device_scheduler.naive takes longer from launch to launch than pairs.txt. */
#define GRAPH_START_LEAST 0.2
#define GRAPH_START_MOST 1.5
/*
 * To a wait: "synchronize" of docs/results/traced-steps.txt, and for a copy to the host "small_copy" without
 * "launch_call", rounded.
 */
#define TRACE_WAIT_NS 270
#define TRACE_COPY_WAIT_NS 1600
/*
 * On the GPU, behind another one: to a node of a graph, to a kernel of a stream, and to a graph, whose nodes are
 * recorded or which is as a whole.  "graph_step", between "kernel_step" and "kernel_gap", and "graph_gap" of
 * docs/results/traced-steps.txt, rounded.
 */
#define TRACE_NODE_NS 150
#define TRACE_KERNEL_NS 200
#define TRACE_GRAPH_NS 440
#define TRACE_WHOLE_GRAPH_NS 1500

/*
 * Between queued small kernels, such as those whose steps the ceilings measure, as CUPTI sees it while it records: medians of
 * 960 (dp_tokens) to 1088 ns (pytorch) in tests/pairs.  It is not the gap of the recording at hand: that is longer where
 * kernels leave much to be written back, up to 1729 ns in fuse_elementwise, while nodes of graphs follow one another
 * after 96 ns in nearly all of tests/recordings that have them, whatever the gap in a stream.  Only where the recording's
 * own is over twice as long does something run there that is not recorded, and stays: child kernels take 30 us in
 * tests/recordings/dynamic_parallelism.device.
 */
#define SMALL_KERNEL_GAP_NS 1000
#define UNRECORDED_GAPS 2

/* A copy of a few bytes to pinned memory as CUPTI sees it: the median of those in tests/recordings/
 * conditional_if.naive, rounded. */
#define SMALL_COPY_NS 1400

static int64_t value_at(const struct ceilings *ceilings, enum ceiling_id id, enum costs_end end)
{
	const struct ceiling *row = ceilings_get(ceilings, id, 0);

	if (!row)
		return 0;
	return (int64_t)(end == COSTS_LOW ? row->low : end == COSTS_HIGH ? row->high : row->value);
}

static int64_t not_negative(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

/* recorded_ns 0: unknown. */
static int64_t added_ns(int64_t ceiling_ns, int64_t recorded_ns, double least, double most)
{
	double added = recorded_ns ? (double)(recorded_ns - ceiling_ns)
				   : (least + most) / 2 * (double)ceiling_ns;

	return lround(fmin(fmax(added, least * (double)ceiling_ns), most * (double)ceiling_ns));
}

/* recorded_ns 0: unknown. */
static int64_t added_to_graph_launch_ns(int64_t ceiling_ns, int64_t recorded_ns)
{
	double least = GRAPH_LAUNCH_LEAST * (double)ceiling_ns;
	double most = GRAPH_LAUNCH_MOST_SHARE * (double)recorded_ns;

	if (!recorded_ns)
		return lround((least + GRAPH_LAUNCH_MOST_SHARE / (1 - GRAPH_LAUNCH_MOST_SHARE) *
					       (double)ceiling_ns) /
			      2);
	return lround(fmax(fmin((double)(recorded_ns - ceiling_ns), most), least));
}

/* What a copy between two nodes adds is its length and the two gaps beside it, in place of one.  Without the
 * ceilings' rows as beside any node. */
static void set_copy_costs(int64_t *gap_ns, int64_t *to_start_ns, const struct costs *costs,
			   int64_t added_ns, int64_t kernel_start_ns)
{
	*gap_ns = costs->graph_node_gap_ns;
	*to_start_ns = costs->graph_to_start_ns;
	if (!added_ns || !kernel_start_ns)
		return;
	*gap_ns = not_negative(added_ns - SMALL_COPY_NS + costs->graph_node_gap_ns) / 2;
	*to_start_ns = not_negative(kernel_start_ns - SMALL_COPY_NS - *gap_ns);
}

/* Ceilings of before graph_copy_in have copies to the host only. */
static void set_copies(struct costs *costs, const struct ceilings *ceilings, enum costs_end end)
{
	int64_t in_ns = value_at(ceilings, CEILING_graph_copy_in, end);
	int64_t in_start_ns = value_at(ceilings, CEILING_graph_copy_in_to_start, end);

	set_copy_costs(&costs->graph_copy_gap_ns, &costs->graph_copy_to_start_ns, costs,
		       value_at(ceilings, CEILING_graph_copy, end),
		       value_at(ceilings, CEILING_graph_copy_to_start, end));
	set_copy_costs(&costs->graph_copy_in_gap_ns, &costs->graph_copy_in_to_start_ns, costs,
		       in_ns, in_start_ns);
	if (!in_ns || !in_start_ns) {
		costs->graph_copy_in_gap_ns = costs->graph_copy_gap_ns;
		costs->graph_copy_in_to_start_ns = costs->graph_copy_to_start_ns;
	}
}

/* 371 to 377 GB/s of 450 on an H100 SXM, as others measured with nvbandwidth. */
#define NVLINK_REACHED 0.83

double costs_peer_rate(const struct ceilings *ceilings, const char *gpu)
{
	double rate = ceilings ? ceilings_at(ceilings, CEILING_peer_copy, 0) : 0;

	if (ceilings && !(rate > 0)) /* where only links were measured: of the largest copies */
		rate = ceilings_at(ceilings, CEILING_peer_out, UINT64_MAX);
	return rate > 0 ? rate
			: NVLINK_REACHED * datasheet_value(datasheet_find(gpu), CEILING_peer_copy);
}

static const enum ceiling_id child_rows[] = {CEILING_child_tail, CEILING_child_next,
					     CEILING_child_beside, CEILING_child_return,
					     CEILING_launch_period};

bool costs_has_children(const struct ceilings *ceilings)
{
	for (size_t i = 0; i < sizeof(child_rows) / sizeof(child_rows[0]); i++)
		if (!ceilings_get(ceilings, child_rows[i], 0))
			return false;
	return true;
}

/* Older ceilings have no row of the launch alone: as much as that and the call that updates. */
static int64_t updated_node_ns(const struct ceilings *ceilings, enum costs_end end)
{
	int64_t launch_ns = value_at(ceilings, CEILING_graph_updated_launch, end);

	return launch_ns ? launch_ns : value_at(ceilings, CEILING_graph_set_params, end);
}

/* Ceilings of before graph_set_params have what it takes to update all of a graph. */
static int64_t node_update_ns(const struct ceilings *ceilings)
{
	const uint64_t nodes = 100;

	return ceilings_get(ceilings, CEILING_graph_set_params, 0)
		       ? value_at(ceilings, CEILING_graph_set_params, COSTS_MIDDLE)
		       : (int64_t)(ceilings_at(ceilings, CEILING_graph_update, nodes) /
				   (double)nodes);
}

/* What so many steps from one kernel to the next take in a row, each without its kernel. */
static int64_t without_kernels_ns(const struct ceilings *ceilings, enum ceiling_id id,
				  unsigned int steps)
{
	const struct ceiling *row = ceilings_get(ceilings, id, 0);
	const struct ceiling *kernel = ceilings_get(ceilings, CEILING_graph_node, 0);

	return row && kernel ? (int64_t)fmax(row->value / steps - kernel->value, 0) : 0;
}

/* Ceilings of before conditional_if have iterations of a WHILE node only: any other step is taken to be as long. */
static void set_conditional(struct costs *costs, const struct ceilings *ceilings)
{
	costs->iteration_ns = without_kernels_ns(ceilings, CEILING_conditional_iteration, 1);
	costs->conditional_ns = costs->skip_ns = costs->iteration_ns;
	if (ceilings_get(ceilings, CEILING_conditional_if, 0))
		costs->conditional_ns = without_kernels_ns(ceilings, CEILING_conditional_if, 2);
	if (ceilings_get(ceilings, CEILING_conditional_skip, 0))
		costs->skip_ns = without_kernels_ns(ceilings, CEILING_conditional_skip, 1);
}

bool costs_has_conditional(const struct ceilings *ceilings)
{
	return ceilings_get(ceilings, CEILING_conditional_iteration, 0) &&
	       ceilings_get(ceilings, CEILING_graph_node, 0);
}

bool costs_has_device_graph(const struct ceilings *ceilings)
{
	return ceilings_get(ceilings, CEILING_device_graph_tail, 0);
}

/*
 * The ceilings' gaps go from instruction to instruction, those of a recording from end to start as
 * CUPTI sees them, which lie before and after: kernel_gap_ns and its ceiling are the same gap, so
 * their difference, edges_ns, is what lies between the two views, of every gap.
 */
struct gaps {
	const struct ceilings *ceilings;
	int64_t kernel_gap_ns; /* between kernels of a stream, as CUPTI would see it if that cost nothing */
	int64_t edges_ns;
};

/* Where kernels follow one another otherwise than in a stream: as much less as the same kernel's period is there
 * (step).  Older ceilings have the gap only. */
static int64_t gap_ns(const struct gaps *gaps, enum ceiling_id step, enum ceiling_id gap,
		      enum costs_end end)
{
	int64_t kernel_step_ns = value_at(gaps->ceilings, CEILING_kernel_step, COSTS_MIDDLE);
	int64_t step_ns = value_at(gaps->ceilings, step, end);

	return not_negative(kernel_step_ns && step_ns
				    ? gaps->kernel_gap_ns + step_ns - kernel_step_ns
				    : value_at(gaps->ceilings, gap, end) - gaps->edges_ns);
}

/* An empty child in a row of them takes as much longer than an empty kernel in a stream as the gap before it. */
static void set_children(struct costs *costs, const struct gaps *gaps, enum costs_end end)
{
	const struct ceilings *ceilings = gaps->ceilings;

	if (!costs_has_children(ceilings))
		return;
	costs->child_start_ns =
		not_negative(value_at(ceilings, CEILING_child_tail, end) - gaps->edges_ns);
	costs->child_next_ns =
		not_negative(gaps->kernel_gap_ns + value_at(ceilings, CEILING_child_next, end) -
			     value_at(ceilings, CEILING_launch_period, COSTS_MIDDLE));
	costs->child_beside_ns = value_at(ceilings, CEILING_child_beside, end);
	costs->child_return_ns =
		not_negative(value_at(ceilings, CEILING_child_return, end) - gaps->edges_ns);
}

static int64_t kernel_gap_ns(const struct recorded_latencies *recorded)
{
	int64_t gap_ns = recorded->kernel_gap_ns > UNRECORDED_GAPS * SMALL_KERNEL_GAP_NS
				 ? recorded->kernel_gap_ns
				 : SMALL_KERNEL_GAP_NS;

	return gap_ns - TRACE_KERNEL_NS;
}

/* The host of the ceilings may be another one, or was faster that hour: what calls take goes with the time of a launch. */
static void slow_host(struct costs *costs, const struct ceilings *ceilings,
		      const struct recorded_latencies *recorded)
{
	double times =
		recorded->untraced_call_ns
			? (double)recorded->untraced_call_ns /
				  (double)value_at(ceilings, CEILING_launch_call, COSTS_MIDDLE)
			: 1;
	int64_t *calls[] = {&costs->launch_call_ns, &costs->graph_launch_ns,
			    &costs->updated_node_ns, &costs->node_update_ns,
			    &costs->stream_wait_ns};

	costs->host_times = times;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		*calls[i] = lround(times * (double)*calls[i]);
}

bool costs_of(struct costs *costs, const struct ceilings *ceilings,
	      const struct recorded_latencies *recorded, enum costs_end end)
{
	static const enum ceiling_id needed[] = {CEILING_launch_call,	 CEILING_launch_to_start,
						 CEILING_synchronize,	 CEILING_graph_launch,
						 CEILING_graph_to_start, CEILING_kernel_gap,
						 CEILING_graph_node_gap, CEILING_graph_gap,
						 CEILING_grid_barrier};
	struct gaps gaps = {
		.ceilings = ceilings,
		.kernel_gap_ns = kernel_gap_ns(recorded),
	};

	if (!ceilings || ceilings->is_datasheet)
		return false;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!ceilings_get(ceilings, needed[i], 0))
			return false;
	gaps.edges_ns = value_at(ceilings, CEILING_kernel_gap, COSTS_MIDDLE) - gaps.kernel_gap_ns;
	*costs = (struct costs){
		.launch_call_ns = value_at(ceilings, CEILING_launch_call, end),
		.launch_to_start_ns = value_at(ceilings, CEILING_launch_to_start, end),
		.synchronize_ns = value_at(ceilings, CEILING_synchronize, end),
		.graph_launch_ns = value_at(ceilings, CEILING_graph_launch, end),
		.graph_to_start_ns = value_at(ceilings, CEILING_graph_to_start, end),
		.graph_gap_ns =
			not_negative(value_at(ceilings, CEILING_graph_gap, end) - gaps.edges_ns),
		.graph_node_gap_ns = gap_ns(&gaps, CEILING_graph_step, CEILING_graph_node_gap, end),
		.barrier_ns = gap_ns(&gaps, CEILING_barrier_step, CEILING_grid_barrier, end),
		.updated_node_ns = updated_node_ns(ceilings, end),
		.node_update_ns = node_update_ns(ceilings),
		.stream_wait_ns = value_at(ceilings, CEILING_stream_wait, end),
		.device_graph_ns = value_at(ceilings, CEILING_device_graph_tail, COSTS_MIDDLE),
		.trace_launch_ns = added_ns(value_at(ceilings, CEILING_launch_call, COSTS_MIDDLE),
					    recorded->launch_call_ns, LAUNCH_LEAST, LAUNCH_MOST),
		.trace_graph_launch_ns =
			added_to_graph_launch_ns(value_at(ceilings, CEILING_graph_launch,
							  COSTS_MIDDLE),
						 recorded->graph_call_ns),
		.trace_graph_start_ns =
			added_ns(value_at(ceilings, CEILING_graph_to_start, COSTS_MIDDLE),
				 recorded->graph_start_ns, GRAPH_START_LEAST, GRAPH_START_MOST),
		.trace_wait_ns = TRACE_WAIT_NS,
		.trace_copy_wait_ns = TRACE_COPY_WAIT_NS,
		.trace_node_ns = TRACE_NODE_NS,
		.trace_kernel_ns = TRACE_KERNEL_NS,
		.trace_graph_ns = TRACE_GRAPH_NS,
		.trace_whole_graph_ns = TRACE_WHOLE_GRAPH_NS,
		.ceilings = ceilings,
	};
	if (recorded->is_added_measured)
		costs->trace_launch_ns = recorded->added_to_launch_ns;
	costs->trace_call_ns = lround(CALL_SHARE * (double)costs->trace_launch_ns);
	/* without the row, as until now: no gap */
	costs->dependent_gap_ns =
		not_negative(value_at(ceilings, CEILING_dependent_gap, end) - gaps.edges_ns);
	set_conditional(costs, ceilings);
	set_copies(costs, ceilings, end);
	set_children(costs, &gaps, end);
	costs->empty_kernel_ns = not_negative(value_at(ceilings, CEILING_graph_node, end) -
					      costs->graph_node_gap_ns);
	slow_host(costs, ceilings, recorded);
	return true;
}

int64_t costs_graph_ns(const struct costs *costs, enum ceiling_id row, uint64_t node_count)
{
	return costs->ceilings && node_count ? lround(ceilings_at(costs->ceilings, row, node_count))
					     : 0;
}

int64_t costs_branches_ns(const struct costs *costs, uint64_t node_count)
{
	int64_t launch_ns = costs_graph_ns(costs, CEILING_graph_branches, node_count);

	return launch_ns ? not_negative(lround(costs->host_times * (double)launch_ns) -
					costs->graph_launch_ns)
			 : 0;
}

#define COST_ROW(constant, member, is_by_node) \
	[COST_##constant] = {offsetof(struct costs, member), is_by_node},

const struct cost_row cost_rows[COST_COUNT] = {COSTS(COST_ROW)};

bool costs_has_rebuilt(const struct ceilings *ceilings)
{
	static const enum ceiling_id rows[] = {CEILING_graph_instantiate,
					       CEILING_graph_first_launch, CEILING_graph_destroy,
					       CEILING_graph_update};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (ceilings_at(ceilings, rows[i], 1) <= 0)
			return false;
	return true;
}

double costs_instantiate_ns(const struct ceilings *ceilings, uint64_t node_count)
{
	return ceilings_at(ceilings, CEILING_graph_instantiate, node_count);
}
