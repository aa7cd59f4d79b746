#include "advice/side_by_side.h"

#include "advice/imbalance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/radix.h"
#include "base/array.h"

/* The first call of a thread that starts at that moment or later. */
static size_t first_call(const struct profile *profile, const struct profile_thread *thread,
			 int64_t moment_ns)
{
	size_t low = thread->first_call, high = thread->first_call + thread->call_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->calls[middle].start_ns < moment_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The calls made in each occurrence of a range. */
static int find_places(struct what_ifs *all, const char *name)
{
	const struct profile *profile = all->model->profile;
	size_t capacity = 0;

	for (size_t i = 0; i < profile->range_count; i++) {
		const struct profile_range *range = &profile->ranges[i];
		const struct profile_thread *thread = &profile->threads[range->thread];
		struct place place, *next;

		if (strcmp(range->name, name) != 0)
			continue;
		place.first = first_call(profile, thread, range->start_ns);
		place.end = first_call(profile, thread, range->end_ns);
		if (place.first == place.end)
			continue;
		next = ARRAY_NEXT(all->places, capacity, all->place_count);
		if (!next)
			return -ENOMEM;
		*next = place;
		all->place_count++;
	}
	if (!all->places) /* nothing is called in it: no loop stands for it */
		all->places = calloc(1, sizeof(*all->places));
	return all->places ? 0 : -ENOMEM;
}

static uint32_t shape_of(uint32_t index, const void *context)
{
	return ((const struct sequence *)context)[index].shape;
}

/* Which loops run again: equal shapes come together, and keep their order. */
static int find_alike(struct what_ifs *all)
{
	const struct sequence *items = all->sequences.items;
	size_t count = all->sequences.count;
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	uint32_t *scratch = malloc((count + 1) * sizeof(*scratch));

	all->alike = malloc((count + 1) * sizeof(*all->alike));
	if (order && scratch && all->alike) {
		for (size_t i = 0; i < count; i++)
			order[i] = (uint32_t)i;
		radix_sort(order, scratch, count, shape_of, items);
		for (size_t i = 0; i < count; i++)
			all->alike[order[i]] =
				i > 0 && items[order[i]].shape == items[order[i - 1]].shape
					? all->alike[order[i - 1]]
					: order[i];
	}
	free(order);
	free(scratch);
	return order && scratch && all->alike ? 0 : -ENOMEM;
}

int what_ifs_open(struct what_ifs *all, const struct profile *profile,
		  const struct ceilings *ceilings, const char *range)
{
	struct err err;
	int rc;

	*all = (struct what_ifs){0};
	if (!predictor_fits(&all->predictor, profile))
		return 0;
	rc = model_build(&all->model, profile, &err);
	if (rc == 0)
		rc = sequences_find(&all->sequences, profile, &all->model->submitted);
	if (rc == 0)
		rc = find_alike(all);
	if (rc == 0)
		rc = predictor_open(&all->predictor, all->model, ceilings);
	if (rc == 0 && range)
		rc = find_places(all, range);
	return rc;
}

void what_ifs_free(struct what_ifs *all)
{
	predictor_free(&all->predictor);
	sequences_free(&all->sequences);
	free(all->alike);
	model_free(all->model);
	free(all->places);
	*all = (struct what_ifs){0};
}

size_t what_if_main_device(const struct profile *profile)
{
	size_t busiest = 0;

	for (size_t i = 1; i < profile->device_count; i++)
		if (profile->devices[i].op_count > profile->devices[busiest].op_count)
			busiest = i;
	return busiest;
}

int what_if_not_recorded(double *share, const struct profile *profile,
			 const struct ceilings *ceilings, const char *range)
{
	struct what_ifs all;
	int rc = what_ifs_open(&all, profile, ceilings, range);

	*share = 1;
	if (rc == 0 && profile->device_count)
		rc = predictor_untraced_share(share, &all.predictor, what_if_main_device(profile),
					      all.places, all.place_count);
	what_ifs_free(&all);
	return rc;
}

/* ---- the loops of a device ---- */

struct attempt {
	const struct what_ifs *all;
	size_t device;
	bool is_least; /* what is supposed holds in part only */
	struct change change;
	struct place *places;
	size_t place_count, place_capacity;
	double setup_ns;
	bool *is_changed;    /* by loop: a strategy has changed it */
	bool *is_taken;	     /* by loop: a strategy has changed it; it is its alone */
	bool *is_set_up;     /* by the first one like it: the strategy has changed one of them */
	uint8_t *kept_calls; /* what a loop's calls were, while a strategy is tried on it */
};

/* What a strategy does.  It is tried on every loop that none before it has changed; what it makes of a
 * loop's calls is taken back where it refuses. */
struct strategy_row {
	const char *name, *option;
	enum refusal refusal; /* where no loop says why */
	bool has_ops, has_lanes;
	/* Rests on what no recording tells: the low end of its interval is what it brings at least. */
	bool is_supposed;
	bool is_shared; /* only drops calls of a loop: those after it may change it, too */
	/* NULL: it knows no loops. */
	enum refusal (*change_loop)(struct what_if *out, struct attempt *attempt, size_t index,
				    const struct sequence *sequence);
	/* After the loops, or NULL.  Returns 0 or -ENOMEM. */
	int (*change_ops)(struct what_if *out, struct attempt *attempt);
};

static int add_place(struct attempt *attempt, size_t first, size_t end_call)
{
	struct place *next =
		ARRAY_NEXT(attempt->places, attempt->place_capacity, attempt->place_count);

	if (!next)
		return -ENOMEM;
	*next = (struct place){first, end_call};
	attempt->place_count++;
	return 0;
}

/* A loop's first iteration loads code and finds cold caches, and warms up before a capture: it stays
 * as it was, and is no part of the place.  The iterations are borrowed. */
static struct sequence steady(const struct sequence *sequence)
{
	struct sequence rest = *sequence;

	rest.iterations++;
	rest.iteration_count--;
	rest.first_call = rest.iterations[0];
	rest.call_count -= rest.first_call - sequence->first_call;
	return rest;
}

static bool is_on_device(const struct attempt *attempt, const struct sequence *sequence)
{
	const struct model *model = attempt->all->model;
	const struct submitted *submitted = &model->submitted;
	size_t end_call = sequence->first_call + sequence->call_count;

	for (size_t i = sequence->first_call; i < end_call; i++)
		if (submitted_count(submitted, i))
			return model->profile->ops[submitted->ops[submitted->first[i]]].device ==
			       attempt->device;
	return false;
}

/* Whether none like it has changed yet: each loop is set up once. */
static bool is_new_loop(const struct attempt *attempt, size_t index)
{
	return !attempt->is_set_up[attempt->all->alike[index]];
}

/* ---- strategies ---- */

/* One cost for all loops: that of the largest graph. */
static void take_update(struct attempt *attempt, uint64_t node_count)
{
	int64_t update_ns = (int64_t)costs_update_ns(attempt->all->predictor.ceilings, node_count);

	if (update_ns > attempt->change.update_ns)
		attempt->change.update_ns = update_ns;
}

static enum refusal change_graph(struct what_if *out, struct attempt *attempt, size_t index,
				 const struct sequence *sequence)
{
	uint64_t node_count;
	enum refusal refusal =
		change_to_graph(&attempt->change, attempt->all->model, sequence, &node_count);

	if (refusal != REFUSED_NONE)
		return refusal;
	out->most_nodes = node_count > out->most_nodes ? node_count : out->most_nodes;
	if (change_needs_updates(sequence))
		take_update(attempt, node_count);
	if (is_new_loop(attempt, index))
		attempt->setup_ns +=
			costs_instantiate_ns(attempt->all->predictor.ceilings, node_count);
	return REFUSED_NONE;
}

/* Fewer waits than every second iteration has one are not the loop's own: they stay. */
static enum refusal change_waits(struct what_if *out, struct attempt *attempt, size_t index,
				 const struct sequence *sequence)
{
	size_t count =
		change_drop_waits(&attempt->change, attempt->all->model, sequence->first_call,
				  sequence->first_call + sequence->call_count);

	(void)index;
	if (2 * count < sequence->iteration_count)
		return REFUSED_NOTHING;
	out->changed_count += count;
	return REFUSED_NONE;
}

/* A sequence that launches graphs becomes graphs that launch each other; kernels become bodies of
 * conditional nodes.  A conditional node's own cost is that of an iteration without its kernel.  False where the
 * ceilings lack it. */
static bool find_decision_ns(int64_t *decision_ns, const struct attempt *attempt,
			     const struct sequence *sequence)
{
	const struct model *model = attempt->all->model;
	const struct ceilings *ceilings = attempt->all->predictor.ceilings;
	const struct ceiling *cost = ceilings_get(ceilings, CEILING_conditional_iteration, 0);
	const struct ceiling *kernel = ceilings_get(ceilings, CEILING_graph_node, 0);

	for (size_t i = sequence->iterations[0]; i < sequence->iterations[1]; i++)
		if (model_call_class(model, i) == CALL_GRAPH_LAUNCH) {
			cost = ceilings_get(ceilings, CEILING_device_graph_tail, 0);
			*decision_ns = cost ? (int64_t)cost->value : 0;
			return cost;
		}
	*decision_ns = cost && kernel ? (int64_t)fmax(cost->value - kernel->value, 0) : 0;
	return cost && kernel;
}

static enum refusal change_decisions(struct what_if *out, struct attempt *attempt, size_t index,
				     const struct sequence *sequence)
{
	uint64_t decision_count = 0;
	int64_t decision_ns;
	enum refusal refusal;

	if (!find_decision_ns(&decision_ns, attempt, sequence))
		return REFUSED_NOT_MEASURED;
	refusal = change_to_decided(&attempt->change, attempt->all->model, sequence, decision_ns,
				    &decision_count);
	if (refusal != REFUSED_NONE)
		return refusal;
	out->changed_count += decision_count;
	if (is_new_loop(attempt, index))
		attempt->setup_ns +=
			costs_instantiate_ns(attempt->all->predictor.ceilings, sequence->period);
	return REFUSED_NONE;
}

static enum refusal change_streams(struct what_if *out, struct attempt *attempt, size_t index,
				   const struct sequence *sequence)
{
	(void)out;
	(void)index;
	return change_to_overlapped(&attempt->change, attempt->all->model, sequence);
}

static size_t pin_copies(struct attempt *attempt)
{
	const struct what_ifs *all = attempt->all;
	const struct ceilings *ceilings = all->predictor.ceilings;

	return change_to_pinned(&attempt->change, all->model, attempt->device,
				ceilings_at(ceilings, CEILING_h2d_pinned, 0),
				ceilings_at(ceilings, CEILING_d2h_pinned, 0));
}

/* How many times as long a copy takes while one in the other direction runs, at most twice, as one after the
 * other would; 1 where nobody measured it. */
static double link_times(const struct ceilings *ceilings)
{
	double alone = ceilings_at(ceilings, CEILING_h2d_pinned, 0);
	double both = ceilings_at(ceilings, CEILING_pinned_both, 0);

	return both > 0 && both < alone ? fmin(alone / both, 2) : 1;
}

/* Copies of pageable memory run beside nothing: those of overlapped loops are of pinned memory. */
static int change_overlapped_copies(struct what_if *out, struct attempt *attempt)
{
	const struct what_ifs *all = attempt->all;

	if (!out->iteration_count)
		return 0;
	out->changed_count = pin_copies(attempt);
	change_to_shared_link(&attempt->change, all->model, attempt->device,
			      link_times(all->predictor.ceilings));
	return 0;
}

/* From the first call of each thread whose operation changes to its last one.  before_ns: what op_ns was
 * before. */
static int add_op_places(struct attempt *attempt, const int64_t *before_ns)
{
	const struct model *model = attempt->all->model;
	const struct profile *profile = model->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		size_t end_call = thread->first_call + thread->call_count, first = end_call,
		       last = 0;

		for (size_t j = thread->first_call; j < end_call; j++)
			for (uint32_t k = model->submitted.first[j];
			     k < model->submitted.first[j + 1]; k++) {
				uint32_t op = model->submitted.ops[k];

				if (attempt->change.op_ns[op] != before_ns[op]) {
					first = j < first ? j : first;
					last = j;
				}
			}
		if (first < end_call)
			rc = add_place(attempt, first, last + 1);
	}
	return rc;
}

/* Changes how long operations take; the part that a prediction is for is from the first to the last of them. */
static int change_lengths(struct what_if *out, struct attempt *attempt,
			  size_t (*change)(struct attempt *attempt))
{
	size_t size = (attempt->all->model->profile->op_count + 1) * sizeof(int64_t);
	int64_t *before_ns = malloc(size);
	int rc;

	if (!before_ns)
		return -ENOMEM;
	memcpy(before_ns, attempt->change.op_ns, size - sizeof(int64_t));
	out->changed_count = change(attempt);
	rc = add_op_places(attempt, before_ns);
	free(before_ns);
	return rc;
}

static int change_pinned(struct what_if *out, struct attempt *attempt)
{
	return change_lengths(out, attempt, pin_copies);
}

static enum refusal change_allocations(struct what_if *out, struct attempt *attempt, size_t index,
				       const struct sequence *sequence)
{
	size_t count = change_drop_allocations(&attempt->change, attempt->all->model, sequence);

	(void)index;
	if (count < sequence->iteration_count)
		return REFUSED_NOTHING;
	out->changed_count += count;
	return REFUSED_NONE;
}

static enum refusal change_kernels(struct what_if *out, struct attempt *attempt,
				   const struct sequence *sequence,
				   enum refusal (*change)(struct change *, const struct model *,
							  const struct sequence *, uint64_t *))
{
	uint64_t kernel_count;
	enum refusal refusal =
		change(&attempt->change, attempt->all->model, sequence, &kernel_count);

	if (refusal == REFUSED_NONE)
		out->changed_count += kernel_count;
	return refusal;
}

static enum refusal change_concurrent(struct what_if *out, struct attempt *attempt, size_t index,
				      const struct sequence *sequence)
{
	(void)index;
	return change_kernels(out, attempt, sequence, change_to_concurrent);
}

static enum refusal change_persistent(struct what_if *out, struct attempt *attempt, size_t index,
				      const struct sequence *sequence)
{
	(void)index;
	return change_kernels(out, attempt, sequence, change_to_persistent);
}

static enum refusal change_neighbours(struct what_if *out, struct attempt *attempt, size_t index,
				      const struct sequence *sequence)
{
	(void)index;
	return change_kernels(out, attempt, sequence, change_to_fused);
}

static enum refusal change_dependent(struct what_if *out, struct attempt *attempt, size_t index,
				     const struct sequence *sequence)
{
	(void)index;
	return change_kernels(out, attempt, sequence, change_to_dependent);
}

/* Every SM is active for as long as they are on average: the busiest one's excess is gone, of which a single long
 * item may keep a part, at least half at the low end. */
static double balanced_share(const struct attempt *attempt, const struct sm_activity_kernel *kernel)
{
	double share = kernel->sms / kernel->busiest_sm;

	return attempt->is_least ? (1 + share) / 2 : share;
}

static size_t balance_kernels(struct attempt *attempt)
{
	const struct report *report = attempt->all->report;
	const struct sm_activity *activity = report ? report->sm_activity : NULL;
	size_t changed_count = 0;

	for (size_t i = 0; activity && i < activity->kernel_count; i++) {
		const struct sm_activity_kernel *kernel = &activity->kernels[i];

		if (imbalance_is_there(report, kernel))
			changed_count += change_to_balanced(&attempt->change, attempt->all->model,
							    attempt->device, kernel->kernel,
							    balanced_share(attempt, kernel));
	}
	return changed_count;
}

static int change_balance(struct what_if *out, struct attempt *attempt)
{
	return change_lengths(out, attempt, balance_kernels);
}

static const struct strategy_row rows[STRATEGY_COUNT] = {
	[STRATEGY_GRAPH] = {.name = "cuda_graph",
			    .option = "graph",
			    .refusal = REFUSED_IRREGULAR,
			    .change_loop = change_graph},
	[STRATEGY_FEWER_WAITS] = {.name = "remove_syncs",
				  .option = "fewer-waits",
				  .is_shared = true,
				  .refusal = REFUSED_NOTHING,
				  .change_loop = change_waits},
	[STRATEGY_DECIDE] = {.name = "device_decision",
			     .option = "decide",
			     .refusal = REFUSED_NO_DECISION,
			     .has_ops = true,
			     .change_loop = change_decisions},
	[STRATEGY_OVERLAP] = {.name = "overlap",
			      .option = "overlap",
			      .refusal = REFUSED_NO_COPIES,
			      .has_ops = true,
			      .has_lanes = true,
			      .change_loop = change_streams,
			      .change_ops = change_overlapped_copies},
	[STRATEGY_PINNED] = {.name = "pinned_memory",
			     .option = "pinned",
			     .refusal = REFUSED_NOTHING,
			     .has_ops = true,
			     .change_ops = change_pinned},
	[STRATEGY_PREALLOCATE] = {.name = "preallocate",
				  .option = "preallocate",
				  .is_shared = true,
				  .refusal = REFUSED_NOTHING,
				  .change_loop = change_allocations},
	[STRATEGY_CONCURRENT] = {.name = "concurrent_kernels",
				 .option = "streams",
				 .refusal = REFUSED_FULL_GPU,
				 .has_lanes = true,
				 .is_supposed = true,
				 .change_loop = change_concurrent},
	[STRATEGY_PERSISTENT] = {.name = "persistent_kernel",
				 .option = "persistent",
				 .refusal = REFUSED_IRREGULAR,
				 .change_loop = change_persistent},
	[STRATEGY_QUEUE] = {.name = "dynamic_queue",
			    .option = "queue",
			    .refusal = REFUSED_BALANCED,
			    .has_ops = true,
			    .is_supposed = true,
			    .change_ops = change_balance},
	[STRATEGY_FUSE] = {.name = "fuse",
			   .option = "fuse",
			   .refusal = REFUSED_NOT_ALIKE,
			   .change_loop = change_neighbours},
	[STRATEGY_DEPENDENT] = {.name = "dependent_launch",
				.option = "dependent",
				.refusal = REFUSED_NO_NEIGHBOURS,
				.change_loop = change_dependent},
};

const char *strategy_name(enum strategy strategy)
{
	return rows[strategy].name;
}

const char *strategy_option(enum strategy strategy)
{
	return rows[strategy].option;
}

/* ---- an attempt: strategies one after the other, then one replay ---- */

static int begin(struct attempt *attempt, const struct what_ifs *all, size_t device,
		 const enum strategy *strategies, size_t count, bool is_least)
{
	bool has_ops = false, has_lanes = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		has_ops = has_ops || rows[strategies[i]].has_ops;
		has_lanes = has_lanes || rows[strategies[i]].has_lanes;
	}
	*attempt = (struct attempt){
		.all = all,
		.device = device,
		.is_least = is_least,
		.is_changed = calloc(all->sequences.count + 1, sizeof(*attempt->is_changed)),
		.is_taken = calloc(all->sequences.count + 1, sizeof(*attempt->is_taken)),
		.is_set_up = calloc(all->sequences.count + 1, sizeof(*attempt->is_set_up)),
		.kept_calls = malloc(all->model->profile->call_count + 1)};
	rc = change_begin(&attempt->change, all->model, has_ops);
	if (rc == 0 && has_lanes)
		rc = change_begin_lanes(&attempt->change, all->model,
					is_least ? LANES_LEAST : LANES_MOST);
	return attempt->is_changed && attempt->is_taken && attempt->is_set_up && attempt->kept_calls
		       ? rc
		       : -ENOMEM;
}

static void end(struct attempt *attempt)
{
	change_free(&attempt->change);
	free(attempt->places);
	free(attempt->is_changed);
	free(attempt->is_taken);
	free(attempt->is_set_up);
	free(attempt->kept_calls);
}

static int64_t loop_ns(const struct profile *profile, const struct sequence *sequence)
{
	size_t last = sequence->first_call + sequence->call_count - 1;

	return profile->calls[last].end_ns - profile->calls[sequence->first_call].start_ns;
}

/* Of a loop that runs again the last time: before, it may have been warmed up. */
static void take_largest(struct what_if *out, const struct profile *profile,
			 const struct sequence *sequence)
{
	if (!out->largest || sequence->shape == out->largest->shape ||
	    loop_ns(profile, sequence) > loop_ns(profile, out->largest))
		out->largest = sequence;
}

static int try_loop(struct what_if *out, struct attempt *attempt, const struct strategy_row *row,
		    size_t index)
{
	const struct sequences *sequences = &attempt->all->sequences;
	const struct sequence sequence = steady(&sequences->items[index]);
	uint8_t *calls = attempt->change.calls + sequence.first_call;
	enum refusal refusal;

	memcpy(attempt->kept_calls, calls, sequence.call_count);
	refusal = row->change_loop(out, attempt, index, &sequence);
	if (refusal != REFUSED_NONE) {
		memcpy(calls, attempt->kept_calls, sequence.call_count);
		out->refusal = refusal;
		return 0;
	}
	attempt->is_changed[index] = true;
	attempt->is_taken[index] = !row->is_shared;
	out->iteration_count += sequence.iteration_count;
	out->loop_count += is_new_loop(attempt, index);
	attempt->is_set_up[attempt->all->alike[index]] = true;
	take_largest(out, attempt->all->model->profile, &sequences->items[index]);
	return add_place(attempt, sequence.first_call, sequence.first_call + sequence.call_count);
}

/* Adds what a strategy changes to what those before it did. */
static int apply(struct what_if *out, struct attempt *attempt, const struct strategy_row *row)
{
	const struct sequences *sequences = &attempt->all->sequences;
	size_t place_count = attempt->place_count;
	int rc = 0;

	*out = (struct what_if){.refusal = row->refusal, .is_supposed = row->is_supposed};
	memset(attempt->is_set_up, 0, sequences->count * sizeof(*attempt->is_set_up));
	for (size_t i = 0; rc == 0 && row->change_loop && i < sequences->count; i++)
		if (!attempt->is_taken[i] && is_on_device(attempt, &sequences->items[i]))
			rc = try_loop(out, attempt, row, i);
	if (rc == 0 && row->change_ops)
		rc = row->change_ops(out, attempt);
	if (attempt->place_count > place_count)
		out->refusal = REFUSED_NONE;
	return rc;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

/* Copies of pinned memory may lie in loops that changed as well: their time counts once. */
static void merge_places(struct attempt *attempt)
{
	struct place *places = attempt->places;
	size_t last = 0;

	qsort(places, attempt->place_count, sizeof(*places), compare_places);
	for (size_t i = 1; i < attempt->place_count; i++)
		if (places[i].first >= places[last].end)
			places[++last] = places[i];
		else if (places[i].end > places[last].end)
			places[last].end = places[i].end;
	attempt->place_count = last + 1;
}

static int run(struct prediction *out, struct attempt *attempt)
{
	const struct what_ifs *all = attempt->all;
	struct part part;

	merge_places(attempt);
	part = (struct part){.places = all->places ? all->places : attempt->places,
			     .place_count = all->places ? all->place_count : attempt->place_count,
			     .changed = attempt->places,
			     .changed_count = attempt->place_count};
	return predictor_run(out, &all->predictor, &attempt->change, attempt->device, &part,
			     attempt->setup_ns);
}

static int attempt_all(struct prediction *out, struct what_if *parts,
		       const enum strategy *strategies, size_t count, const struct what_ifs *all,
		       size_t device, bool is_least)
{
	struct attempt attempt;
	int rc = begin(&attempt, all, device, strategies, count, is_least);

	*out = (struct prediction){0};
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = apply(&parts[i], &attempt, &rows[strategies[i]]);
	if (rc == 0 && attempt.place_count)
		rc = run(out, &attempt);
	end(&attempt);
	return rc;
}

static void take_low(struct predicted_ratio *out, const struct predicted_ratio *least)
{
	out->low = least->low < out->low ? least->low : out->low;
}

int what_if_together(struct prediction *out, struct what_if *parts, const enum strategy *strategies,
		     size_t count, const struct what_ifs *all, size_t device)
{
	struct prediction least;
	bool is_supposed = false;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		is_supposed = is_supposed || rows[strategies[i]].is_supposed;
	if (is_supposed)
		rc = attempt_all(&least, parts, strategies, count, all, device, true);
	if (rc == 0)
		rc = attempt_all(out, parts, strategies, count, all, device, false);
	if (rc == 0 && is_supposed) {
		take_low(&out->program, &least.program);
		take_low(&out->place, &least.place);
	}
	return rc;
}

int what_if_alone(struct what_if *out, enum strategy strategy, const struct what_ifs *all,
		  size_t device)
{
	struct prediction prediction;
	int rc = what_if_together(&prediction, out, &strategy, 1, all, device);

	out->prediction = prediction;
	return rc;
}

int what_if_side_by_side(struct side_by_side *out, const enum strategy *strategies, size_t count,
			 const struct what_ifs *all, size_t device, int64_t from_ns, int64_t to_ns)
{
	struct what_if part;
	struct attempt attempt;
	int rc = begin(&attempt, all, device, strategies, count, false);

	*out = (struct side_by_side){0};
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = apply(&part, &attempt, &rows[strategies[i]]);
	if (rc == 0 && attempt.place_count)
		rc = side_by_side_replay(out,
					 &(struct side_question){.all = all,
								 .change = &attempt.change,
								 .is_changed = attempt.is_changed,
								 .device = device,
								 .from_ns = from_ns,
								 .to_ns = to_ns});
	end(&attempt);
	return rc;
}

int what_if_graph(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_GRAPH, all, device);
}

int what_if_fewer_waits(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_FEWER_WAITS, all, device);
}

int what_if_decided(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_DECIDE, all, device);
}

int what_if_overlapped(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_OVERLAP, all, device);
}

int what_if_pinned(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_PINNED, all, device);
}

int what_if_preallocated(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_PREALLOCATE, all, device);
}

int what_if_concurrent(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_CONCURRENT, all, device);
}

int what_if_queued(struct what_if *out, const struct what_ifs *all, size_t device)
{
	return what_if_alone(out, STRATEGY_QUEUE, all, device);
}
