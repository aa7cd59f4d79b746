#include "analysis/counters/roofline.h"

#include "analysis/counters/ceilings.h"
#include "analysis/counters/datasheets.h"
#include "analysis/counters/roofline_quantities.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The roofs that one ceiling is; DRAM has several and INT8 none. */
static const struct {
	enum roofline_roof roof;
	enum ceiling_id ceiling;
} roof_ceilings[] = {
	{ROOF_l2, CEILING_l2_read},
	{ROOF_l1, CEILING_l1_read},
	{ROOF_shared, CEILING_shared_read},
	{ROOF_fp64, CEILING_fp64_fma},
	{ROOF_fp32, CEILING_fp32_fma},
	{ROOF_fp16, CEILING_fp16_fma},
	{ROOF_tensor_fp64, CEILING_tensor_fp64},
	{ROOF_tensor_tf32, CEILING_tensor_tf32},
	{ROOF_tensor_bf16, CEILING_tensor_bf16},
	{ROOF_tensor_fp16, CEILING_tensor_fp16},
	{ROOF_tensor_fp8, CEILING_tensor_fp8},
};

struct placing {
	struct roofline *roofline;
	const struct profile *profile;
	const struct counted *counted;
	struct roofline_quantities known;
};

/* ---- roofs ---- */

static double ceiling_value(const struct ceilings *ceilings, enum ceiling_id id)
{
	const struct ceiling *row = ceilings_get(ceilings, id, 0);

	return row ? row->value : 0;
}

static void apply_ceilings(struct roofline *roofline, const struct ceilings *ceilings)
{
	const struct ceiling *dram = ceilings_dram(ceilings);
	const struct datasheet *sheet = ceilings->gpu ? datasheet_find(ceilings->gpu) : NULL;

	roofline->has_ceilings = true;
	roofline->is_datasheet = ceilings->is_datasheet;
	roofline->roofs[ROOF_dram] = dram ? dram->value : 0;
	for (size_t i = 0; i < sizeof(roof_ceilings) / sizeof(roof_ceilings[0]); i++) {
		enum roofline_roof roof = roof_ceilings[i].roof;

		roofline->roofs[roof] = ceiling_value(ceilings, roof_ceilings[i].ceiling);
		if (roof >= ROOF_TENSOR)
			roofline->tensor_peaks[roof] =
				datasheet_value(sheet, roof_ceilings[i].ceiling);
	}
	roofline->launch_period_ns = ceiling_value(ceilings, CEILING_launch_period);
	roofline->graph_node_ns = ceiling_value(ceilings, CEILING_graph_node);
	roofline->graph_launch_ns = ceiling_value(ceilings, CEILING_graph_launch);
}

bool roofline_is_at_roof(const struct roofline_point *point)
{
	return point->is_counted && !point->is_wrong && point->binding != ROOF_NONE &&
	       point->binding_share >= ROOFLINE_AT_ROOF;
}

bool roofline_is_at_dram(const struct roofline_point *point)
{
	return roofline_is_at_roof(point) && point->binding == ROOF_dram;
}

/* ---- shares ---- */

static void add_shares(const struct roofline *roofline, struct roofline_point *point,
		       const struct counted_work *work)
{
	struct roofline_quantity *unit = &point->quantities[ROOF_atomic_unit];

	for (int i = 0; i < ROOF_COMPUTE_END; i++)
		point->quantities[i].share =
			roofline_ratio(point->quantities[i].per_s, roofline->roofs[i]);
	unit->share = roofline_ratio(unit->total, counted_l2_cycles(work));
	for (int i = ROOF_TENSOR; i < ROOF_COMPUTE_END; i++)
		point->tensor_share += point->quantities[i].share;
}

static bool is_tensor(enum roofline_roof roof)
{
	return roof >= ROOF_TENSOR && roof < ROOF_COMPUTE_END;
}

/* The share that counts when this roof competes with others. */
static double competing_share(const struct roofline_point *point, enum roofline_roof roof)
{
	return is_tensor(roof) ? point->tensor_share : point->quantities[roof].share;
}

/* Whether a binds before b: the larger share, and of tensor types the one with the most work. */
static bool binds_before(const struct roofline_point *point, enum roofline_roof a,
			 enum roofline_roof b)
{
	if (is_tensor(a) && is_tensor(b))
		return point->quantities[a].share > point->quantities[b].share;
	return competing_share(point, a) > competing_share(point, b);
}

/* The same sum against the most that the chip can do with any data. */
static double tensor_peak_share(const struct roofline *roofline, const struct roofline_point *point)
{
	double share = 0;

	for (int i = ROOF_TENSOR; i < ROOF_COMPUTE_END; i++)
		share += roofline_ratio(point->quantities[i].per_s,
					fmax(roofline->roofs[i], roofline->tensor_peaks[i]));
	return share;
}

static void find_binding(const struct roofline *roofline, struct roofline_point *point)
{
	point->binding = ROOF_NONE;
	for (int i = 0; i < ROOF_COUNT; i++) {
		enum roofline_roof roof = (enum roofline_roof)i;

		if (point->quantities[i].share <= 0)
			continue;
		if (point->binding == ROOF_NONE || binds_before(point, roof, point->binding))
			point->binding = roof;
	}
	if (point->binding != ROOF_NONE)
		point->binding_share = competing_share(point, point->binding);
	point->is_wrong = point->binding_share > 1 + ROOFLINE_TOLERANCE &&
			  (!is_tensor(point->binding) ||
			   tensor_peak_share(roofline, point) > 1 + ROOFLINE_TOLERANCE);
}

/* ---- launching ---- */

/* p of the header for count launches of which some are nodes of graphs and some whole graphs. */
static double roof_period(const struct roofline *roofline, uint64_t count, uint64_t node_count,
			  uint64_t graph_count)
{
	uint64_t plain_count = count - node_count - graph_count;

	if (!count || (plain_count && roofline->launch_period_ns <= 0) ||
	    (node_count && roofline->graph_node_ns <= 0) ||
	    (graph_count && roofline->graph_launch_ns <= 0))
		return 0;
	return ((double)plain_count * roofline->launch_period_ns +
		(double)node_count * roofline->graph_node_ns +
		(double)graph_count * roofline->graph_launch_ns) /
	       (double)count;
}

/* The part of its time that a launch keeps the device busy.  Of the application: that kernels do, while operations of
 * all sorts run side by side. */
static double busy_share(const struct counted_idle *idle, const struct roofline_launch *launch,
			 bool is_application)
{
	if (is_application)
		return roofline_ratio(idle->kernel_ns,
				      idle->busy_ns + idle->idle_ns + idle->children_ns);
	return roofline_ratio(launch->duration_ns, launch->duration_ns + launch->idle_ns);
}

/* Idle time, from what could be looked at. */
static void add_idle(struct roofline_launch *launch, const struct counted_idle *idle,
		     bool is_application)
{
	double count = (double)idle->launch_count;

	launch->launch_count = idle->launch_count;
	if (!idle->launch_count)
		return;
	launch->idle_ns = idle->idle_ns / count;
	launch->launch_idle_ns = idle->launch_idle_ns / count;
	launch->lost_ns = idle->idle_ns;
	launch->launch_lost_ns = idle->launch_idle_ns;
	launch->busy_share = busy_share(idle, launch, is_application);
}

static void add_launch(struct roofline_point *point, const struct counted_work *work,
		       double roof_period_ns, bool is_application)
{
	struct roofline_launch *launch = &point->launch;

	launch->duration_ns = roofline_ratio(point->time_ns, (double)point->launch_count);
	add_idle(launch, &work->idle, is_application);
	launch->period_ns = launch->duration_ns + launch->idle_ns;
	if (is_application)
		launch->period_ns = roofline_ratio(launch->duration_ns, launch->busy_share);
	launch->roof_period_ns = roof_period_ns;
	if (roof_period_ns > 0)
		launch->roof_share =
			launch->duration_ns / fmax(launch->duration_ns, roof_period_ns);
	launch->achieved_share = roofline_ratio(launch->busy_share, launch->roof_share);
	launch->flop_per_s = point->flop_per_s * launch->busy_share;
	launch->dram_byte_per_s = point->quantities[ROOF_dram].per_s * launch->busy_share;
	launch->binding_share = point->binding_share * launch->busy_share;
}

/* ---- regimes ---- */

static enum roofline_regime bound_by(enum roofline_roof roof)
{
	if (roof == ROOF_atomic_unit)
		return ROOFLINE_ATOMIC_BOUND;
	return roof < ROOF_MEMORY_END ? ROOFLINE_MEMORY_BOUND : ROOFLINE_COMPUTE_BOUND;
}

/* Whether the quantity may be the reason of the time although its share is not known.  One that is not trusted is no
 * reason where it would not be with all that was counted. */
static bool may_explain(const struct roofline *roofline, const struct roofline_point *point,
			int roof)
{
	const struct roofline_quantity *quantity = &point->quantities[roof];
	double most_per_s = roofline_ratio(quantity->at_most, point->time_ns) * 1e9;

	if (quantity->state == ROOFLINE_NOT_TRUSTED && roofline->roofs[roof] > 0)
		return 2 * most_per_s > roofline->roofs[roof];
	return quantity->state != ROOFLINE_KNOWN && quantity->state != ROOFLINE_NOT_ON_CHIP;
}

/* Whether so much was looked at that a time without explanation is latency. */
static bool is_whole(const struct roofline *roofline, const struct roofline_point *point)
{
	for (int i = 0; i < ROOF_TENSOR; i++)
		if (may_explain(roofline, point, i))
			return false;
	return point->time_ns > 0 && roofline->roofs[ROOF_dram] > 0 &&
	       roofline->roofs[ROOF_fp32] > 0 && !point->has_uncounted_tensor;
}

/* Idle time for the duration of a launch.  Of the application's operations some are no launches: the idle share is the
 * device's, in which copies count as busy. */
static double idle_beside(const struct roofline *roofline, const struct roofline_point *point,
			  const struct counted_idle *idle)
{
	const struct roofline_launch *launch = &point->launch;

	if (!launch->launch_count)
		return fmax(0, launch->roof_period_ns - launch->duration_ns);
	if (point == &roofline->application)
		return roofline_ratio(idle->idle_ns, idle->busy_ns) * launch->duration_ns;
	return launch->idle_ns;
}

static enum roofline_regime find_regime(const struct roofline *roofline,
					const struct roofline_point *point,
					const struct counted_idle *idle)
{
	const struct roofline_launch *launch = &point->launch;
	double idle_ns = idle_beside(roofline, point, idle);
	double launch_share =
		launch->launch_count ? roofline_ratio(idle->launch_idle_ns, idle->idle_ns) : 1;
	double explained_ns = launch->duration_ns * fmin(1, point->binding_share);
	double latency_ns = launch->duration_ns - explained_ns;

	/* With one quantity or none it is unknown how much of the duration is explained. */
	if (!is_whole(roofline, point) && explained_ns < latency_ns)
		explained_ns = 0, latency_ns = launch->duration_ns;
	if (idle_ns > 0 && idle_ns >= explained_ns && idle_ns >= latency_ns)
		return 2 * launch_share >= 1 ? ROOFLINE_LAUNCH_BOUND : ROOFLINE_HOST_BOUND;
	if (explained_ns > 0 && explained_ns >= latency_ns)
		return bound_by(point->binding);
	return is_whole(roofline, point) ? ROOFLINE_LATENCY_BOUND : ROOFLINE_UNKNOWN_BOUND;
}

/* ---- points ---- */

static void place(const struct placing *placing, struct roofline_point *point,
		  const struct counted_work *work, double roof_period_ns)
{
	struct roofline *roofline = placing->roofline;

	point->launch_count = work->launch_count;
	point->timed_count = work->timed_count;
	point->time_ns = work->time_ns;
	roofline_add_quantities(point, &placing->known, work,
				point == &roofline->application ? placing->known.has_tensor_work
								: roofline_has_tensor_work(work));
	add_shares(roofline, point, work);
	find_binding(roofline, point);
	add_launch(point, work, roof_period_ns, point == &roofline->application);
	point->regime = find_regime(roofline, point, &work->idle);
	roofline->has_wrong |= point->is_wrong;
}

static int compare_points(const void *left, const void *right)
{
	const struct roofline_point *a = left, *b = right;
	int order = (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);

	if (order)
		return order;
	order = strcmp(a->name, b->name);
	return order ? order : (a->subject > b->subject) - (a->subject < b->subject);
}

static void place_kernels(const struct placing *placing)
{
	struct roofline *roofline = placing->roofline;

	for (size_t i = 0; i < placing->profile->kernel_name_count; i++) {
		const struct counted_work *work = &placing->counted->kernels[i];
		struct roofline_point *point = &roofline->kernels[roofline->kernel_count];

		if (!work->launch_count)
			continue;
		*point = (struct roofline_point){.subject = (uint32_t)i,
						 .name = placing->profile->kernel_names[i]};
		place(placing, point, work,
		      roof_period(roofline, work->launch_count, work->graph_node_count, 0));
		roofline->counted_kernel_count += point->is_counted;
		roofline->kernel_count++;
	}
	qsort(roofline->kernels, roofline->kernel_count, sizeof(*roofline->kernels),
	      compare_points);
}

/* Returns how many graph launches there were. */
static uint64_t place_graphs(const struct placing *placing)
{
	struct roofline *roofline = placing->roofline;
	uint64_t launch_count = 0;

	for (size_t i = 0; i < placing->profile->counted_graph_count; i++) {
		const struct counted_work *work = &placing->counted->graphs[i];
		struct roofline_point *point = &roofline->graphs[roofline->graph_count];

		if (!work->launch_count)
			continue;
		*point = (struct roofline_point){.subject = (uint32_t)i, .name = ""};
		place(placing, point, work,
		      roof_period(roofline, work->launch_count, 0, work->launch_count));
		launch_count += work->launch_count;
		roofline->graph_count++;
	}
	qsort(roofline->graphs, roofline->graph_count, sizeof(*roofline->graphs), compare_points);
	return launch_count;
}

static void place_all(struct placing *placing)
{
	struct roofline *roofline = placing->roofline;
	const struct counted_work *all = &placing->counted->application;
	uint64_t graph_launch_count;

	roofline_quantities_open(&placing->known, placing->profile, placing->counted);
	place_kernels(placing);
	graph_launch_count = place_graphs(placing);
	roofline->application.name = "";
	place(placing, &roofline->application, all,
	      roof_period(roofline, all->launch_count, all->graph_node_count, graph_launch_count));
}

int roofline_build(struct roofline **out, const struct profile *profile,
		   const struct counted *counted, const struct ceilings *ceilings, struct err *err)
{
	struct roofline *roofline = calloc(1, sizeof(*roofline));
	struct placing placing = {.roofline = roofline, .profile = profile, .counted = counted};

	if (roofline) {
		roofline->kernels =
			calloc(profile->kernel_name_count + 1, sizeof(*roofline->kernels));
		roofline->graphs =
			calloc(profile->counted_graph_count + 1, sizeof(*roofline->graphs));
	}
	if (!roofline || !roofline->kernels || !roofline->graphs) {
		roofline_free(roofline);
		return err_set(err, -ENOMEM, "out of memory for the roofline");
	}
	if (ceilings)
		apply_ceilings(roofline, ceilings);
	place_all(&placing);
	*out = roofline;
	return 0;
}

void roofline_free(struct roofline *roofline)
{
	if (!roofline)
		return;
	free(roofline->kernels);
	free(roofline->graphs);
	free(roofline);
}
