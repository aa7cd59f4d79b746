#include "analysis/counters/roofline.h"

#include "analysis/counters/ceilings.h"
#include "analysis/counters/datasheets.h"
#include "analysis/counters/counted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lists as data ---- */

#define AT_ROOF 0.8

#define ROOF_KEY(name, title) #name,
#define ROOF_TITLE(name, title) title,
static const char *const roof_keys[ROOF_COUNT] = {
	ROOFLINE_MEMORY_ROOFS(ROOF_KEY) ROOFLINE_COMPUTE_ROOFS(ROOF_KEY) "atomic_unit"};
static const char *const roof_titles[ROOF_COUNT] = {
	ROOFLINE_MEMORY_ROOFS(ROOF_TITLE) ROOFLINE_COMPUTE_ROOFS(ROOF_TITLE) "L2 atomic unit"};
#undef ROOF_KEY
#undef ROOF_TITLE

const char *roofline_roof_key(enum roofline_roof roof)
{
	return roof < ROOF_COUNT ? roof_keys[roof] : "none";
}

const char *roofline_roof_title(enum roofline_roof roof)
{
	return roof < ROOF_COUNT ? roof_titles[roof] : "none";
}

#define STATE_KEY(constant, key, meaning) key,
#define STATE_MEANING(constant, key, meaning) meaning,
static const char *const state_keys[] = {ROOFLINE_STATES(STATE_KEY)};
static const char *const state_meanings[] = {ROOFLINE_STATES(STATE_MEANING)};
#undef STATE_KEY
#undef STATE_MEANING

const char *roofline_state_key(enum roofline_state state)
{
	return state_keys[state];
}

const char *roofline_state_meaning(enum roofline_state state)
{
	return state_meanings[state];
}

#define REGIME_KEY(constant, key, title, meaning) key,
#define REGIME_TITLE(constant, key, title, meaning) title,
#define REGIME_MEANING(constant, key, title, meaning) meaning,
static const char *const regime_keys[] = {ROOFLINE_REGIMES(REGIME_KEY)};
static const char *const regime_titles[] = {ROOFLINE_REGIMES(REGIME_TITLE)};
static const char *const regime_meanings[] = {ROOFLINE_REGIMES(REGIME_MEANING)};
#undef REGIME_KEY
#undef REGIME_TITLE
#undef REGIME_MEANING

const char *roofline_regime_key(enum roofline_regime regime)
{
	return regime_keys[regime];
}

const char *roofline_regime_title(enum roofline_regime regime)
{
	return regime_titles[regime];
}

const char *roofline_regime_meaning(enum roofline_regime regime)
{
	return regime_meanings[regime];
}

/* What a roof's quantity is made of: weights as roofline/metrics.h says. */
static const struct part {
	enum roofline_roof roof;
	enum metric_role role;
	double weight;
} parts[] = {
	{ROOF_dram, METRIC_dram_read_bytes, 1},
	{ROOF_dram, METRIC_dram_write_bytes, 1},
	{ROOF_l2, METRIC_l2_bytes, 1},
	{ROOF_l1, METRIC_l1_bytes, 1},
	{ROOF_shared, METRIC_shared_bytes, 1},
	{ROOF_fp64, METRIC_fp64_add, 1},
	{ROOF_fp64, METRIC_fp64_mul, 1},
	{ROOF_fp64, METRIC_fp64_fma, 2},
	{ROOF_fp32, METRIC_fp32_add, 1},
	{ROOF_fp32, METRIC_fp32_mul, 1},
	{ROOF_fp32, METRIC_fp32_fma, 2},
	{ROOF_fp16, METRIC_fp16_add, 2},
	{ROOF_fp16, METRIC_fp16_mul, 2},
	{ROOF_fp16, METRIC_fp16_fma, 4},
	{ROOF_tensor_fp64, METRIC_tensor_fp64_ops, 1},
	{ROOF_tensor_tf32, METRIC_tensor_tf32_ops, 1},
	{ROOF_tensor_bf16, METRIC_tensor_bf16_ops, 1},
	{ROOF_tensor_fp16, METRIC_tensor_fp16_ops, 1},
	{ROOF_tensor_fp8, METRIC_tensor_fp8_ops, 1},
	{ROOF_tensor_int8, METRIC_tensor_int8_ops, 1},
	{ROOF_atomic_unit, METRIC_atomic_unit_cycles_max, 1},
};

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

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
	bool has_tensor_count, has_tensor_work;	       /* of any kernel */
	enum roofline_state absent[METRIC_ROLE_COUNT]; /* why, where a role has no samples */
};

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

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

/* ---- quantities ---- */

static void find_absent(struct placing *placing)
{
	const struct profile *profile = placing->profile;

	for (size_t i = 0; i < profile->metric_count; i++) {
		const struct profile_metric *metric = &profile->metrics[i];

		if (metric->role >= METRIC_ROLE_COUNT)
			continue;
		if (*metric->name)
			placing->absent[metric->role] = ROOFLINE_NOT_SAMPLED;
		else if (placing->absent[metric->role] == ROOFLINE_NOT_ASKED)
			placing->absent[metric->role] = ROOFLINE_NOT_ON_CHIP;
	}
}

static void count_samples(struct roofline_point *point, const struct counted_role *role)
{
	bool is_first = point->most_sample_count == 0;

	if (is_first || role->sample_count < point->least_sample_count)
		point->least_sample_count = role->sample_count;
	if (role->sample_count > point->most_sample_count)
		point->most_sample_count = role->sample_count;
	if (is_first || role->covered_share < point->covered_share)
		point->covered_share = role->covered_share;
}

/* HFMA2.MMA, with which ptxas also sets constants, runs in the tensor cores and counts as theirs; it is
 * one of the FP16 instructions, of 32 threads.  Of a kernel whose FP16 instructions were not counted
 * nothing is said. */
static bool has_tensor_work(const struct counted_work *work)
{
	double fp16 = work->roles[METRIC_fp16_add].total + work->roles[METRIC_fp16_mul].total +
		      work->roles[METRIC_fp16_fma].total;

	return work->roles[METRIC_fp16_fma].sample_count &&
	       work->roles[METRIC_tensor_instructions].total > 1.1 * fp16 / 32;
}

/* Operations by type are asked for only when there are some. */
static bool is_known_without(const struct placing *placing, enum metric_role role)
{
	return role >= METRIC_tensor_fp64_ops && role <= METRIC_tensor_int8_ops &&
	       placing->absent[role] == ROOFLINE_NOT_ASKED && placing->has_tensor_count &&
	       !placing->has_tensor_work;
}

/* Why a role has no samples.  Operations by type belong to what was asked for once their instructions
 * were, also where the collector came to no pass for them. */
static enum roofline_state absence(const struct placing *placing, enum metric_role role)
{
	enum roofline_state state = placing->absent[role];

	if (state == ROOFLINE_NOT_ASKED && role >= METRIC_tensor_fp64_ops &&
	    role <= METRIC_tensor_int8_ops &&
	    placing->absent[METRIC_tensor_instructions] == ROOFLINE_NOT_SAMPLED)
		return ROOFLINE_NOT_SAMPLED;
	return state;
}

/* A quantity is known when all its parts are; otherwise it has the reason of the first in the list
 * of states. */
static void add_quantities(const struct placing *placing, struct roofline_point *point,
			   const struct counted_work *work)
{
	for (int i = 0; i < ROOF_COUNT; i++)
		point->quantities[i].state = ROOFLINE_KNOWN;
	for (size_t i = 0; i < PART_COUNT; i++) {
		const struct counted_role *role = &work->roles[parts[i].role];
		struct roofline_quantity *quantity = &point->quantities[parts[i].roof];

		quantity->total += parts[i].weight * role->total;
		if (role->sample_count)
			count_samples(point, role);
		else if (is_known_without(placing, parts[i].role))
			continue;
		else if (absence(placing, parts[i].role) < quantity->state)
			quantity->state = absence(placing, parts[i].role);
	}
}

static void add_rates(struct roofline_point *point)
{
	for (int i = 0; i < ROOF_COUNT; i++) {
		struct roofline_quantity *quantity = &point->quantities[i];

		if (quantity->state != ROOFLINE_KNOWN) {
			quantity->total = 0;
			continue;
		}
		point->is_counted = true;
		quantity->per_launch = ratio(quantity->total, (double)point->launch_count);
		quantity->per_s = ratio(quantity->total, point->time_ns) * 1e9;
	}
}

static void add_flops(struct roofline_point *point, bool is_tensor)
{
	double tensor_ops = 0;

	for (int i = ROOF_MEMORY_END; i < ROOF_COMPUTE_END; i++) {
		const struct roofline_quantity *quantity = &point->quantities[i];

		point->has_flops |= quantity->state == ROOFLINE_KNOWN &&
				    (i < ROOF_TENSOR || quantity->total > 0);
		point->flops += quantity->total;
		tensor_ops += i >= ROOF_TENSOR ? quantity->total : 0;
	}
	point->has_uncounted_tensor = is_tensor && tensor_ops <= 0;
	point->flop_per_s = ratio(point->flops, point->time_ns) * 1e9;
	for (int i = 0; i < ROOF_MEMORY_END; i++)
		point->intensity[i] = ratio(point->flops, point->quantities[i].total);
}

bool roofline_is_at_dram(const struct roofline_point *point)
{
	return point->is_counted && !point->is_wrong && point->binding == ROOF_dram &&
	       point->binding_share >= AT_ROOF;
}

/* ---- shares ---- */

static void add_shares(const struct roofline *roofline, struct roofline_point *point,
		       const struct counted_work *work)
{
	struct roofline_quantity *unit = &point->quantities[ROOF_atomic_unit];

	for (int i = 0; i < ROOF_COMPUTE_END; i++)
		point->quantities[i].share = ratio(point->quantities[i].per_s, roofline->roofs[i]);
	unit->share = ratio(unit->total, counted_l2_cycles(work));
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

/* Whether a is the better answer: the larger share, and of tensor types the one with most of it. */
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
		share += ratio(point->quantities[i].per_s,
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

/* Idle time a launch, from what could be looked at. */
static void add_idle(struct roofline_launch *launch, const struct counted_idle *idle,
		     bool is_application)
{
	double count = (double)idle->launch_count;

	launch->launch_count = idle->launch_count;
	if (!idle->launch_count)
		return;
	launch->idle_ns = idle->idle_ns / count;
	launch->launch_idle_ns = idle->launch_idle_ns / count;
	if (!is_application)
		return;
	/* Operations of all sorts run side by side: the idle share is the device's. */
	launch->idle_ns = ratio(idle->idle_ns, idle->busy_ns) * launch->duration_ns;
	launch->launch_idle_ns = ratio(idle->launch_idle_ns, idle->busy_ns) * launch->duration_ns;
}

static void add_launch(struct roofline_point *point, const struct counted_work *work,
		       double roof_period_ns, bool is_application)
{
	struct roofline_launch *launch = &point->launch;
	double count = (double)point->launch_count;

	launch->duration_ns = ratio(point->time_ns, count);
	add_idle(launch, &work->idle, is_application);
	launch->period_ns = launch->duration_ns + launch->idle_ns;
	if (launch->launch_count)
		launch->busy_share = ratio(launch->duration_ns, launch->period_ns);
	launch->roof_period_ns = roof_period_ns;
	if (roof_period_ns > 0)
		launch->roof_share =
			launch->duration_ns / fmax(launch->duration_ns, roof_period_ns);
	launch->achieved_share = ratio(launch->busy_share, launch->roof_share);
	launch->lost_ns = launch->idle_ns * count;
	launch->launch_lost_ns = launch->launch_idle_ns * count;
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

/* Whether so much was looked at that a time without explanation is latency. */
static bool is_whole(const struct roofline *roofline, const struct roofline_point *point)
{
	for (int i = 0; i < ROOF_TENSOR; i++)
		if (point->quantities[i].state != ROOFLINE_KNOWN &&
		    point->quantities[i].state != ROOFLINE_NOT_ON_CHIP)
			return false;
	return point->time_ns > 0 && roofline->roofs[ROOF_dram] > 0 &&
	       roofline->roofs[ROOF_fp32] > 0 && !point->has_uncounted_tensor;
}

static enum roofline_regime find_regime(const struct roofline *roofline,
					const struct roofline_point *point)
{
	const struct roofline_launch *launch = &point->launch;
	bool is_measured = launch->launch_count > 0;
	double idle_ns = is_measured ? launch->idle_ns
				     : fmax(0, launch->roof_period_ns - launch->duration_ns);
	double launch_ns = is_measured ? launch->launch_idle_ns : idle_ns;
	double explained_ns = launch->duration_ns * fmin(1, point->binding_share);
	double latency_ns = launch->duration_ns - explained_ns;

	/* With one quantity or none it is unknown how much of the duration is explained. */
	if (!is_whole(roofline, point) && explained_ns < latency_ns)
		explained_ns = 0, latency_ns = launch->duration_ns;
	if (idle_ns > 0 && idle_ns >= explained_ns && idle_ns >= latency_ns)
		return 2 * launch_ns >= idle_ns ? ROOFLINE_LAUNCH_BOUND : ROOFLINE_HOST_BOUND;
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
	add_quantities(placing, point, work);
	add_rates(point);
	add_flops(point, point == &roofline->application ? placing->has_tensor_work
							 : has_tensor_work(work));
	add_shares(roofline, point, work);
	find_binding(roofline, point);
	add_launch(point, work, roof_period_ns, point == &roofline->application);
	point->regime = find_regime(roofline, point);
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

static void find_tensor_work(struct placing *placing)
{
	for (size_t i = 0; i < placing->profile->kernel_name_count; i++) {
		const struct counted_work *work = &placing->counted->kernels[i];

		placing->has_tensor_count |=
			work->roles[METRIC_tensor_instructions].sample_count > 0;
		placing->has_tensor_work |= has_tensor_work(work);
	}
}

static void place_all(struct placing *placing)
{
	struct roofline *roofline = placing->roofline;
	const struct counted_work *all = &placing->counted->application;
	uint64_t graph_launch_count;

	find_absent(placing);
	find_tensor_work(placing);
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
