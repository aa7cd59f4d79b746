#include "advice/what_if.h"

#include <errno.h>
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
	return 0;
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

static size_t busiest_device(const struct profile *profile)
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
		rc = predictor_untraced_share(share, &all.predictor, busiest_device(profile),
					      all.places, all.place_count);
	what_ifs_free(&all);
	return rc;
}

/* ---- the loops of a device ---- */

struct attempt {
	const struct what_ifs *all;
	size_t device;
	struct change change;
	bool *is_changed; /* by sequence, of the first alike: one of them changes */
	struct place *places;
	size_t place_count, place_capacity;
	double setup_ns;
};

static int begin(struct attempt *attempt, const struct what_ifs *all, size_t device, bool with_ops)
{
	int rc;

	*attempt = (struct attempt){.all = all,
				    .device = device,
				    .is_changed = calloc(all->sequences.count + 1,
							 sizeof(*attempt->is_changed))};
	rc = change_begin(&attempt->change, all->model, with_ops);
	return attempt->is_changed ? rc : -ENOMEM;
}

static void end(struct attempt *attempt)
{
	change_free(&attempt->change);
	free(attempt->is_changed);
	free(attempt->places);
}

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

/* Whether it is the first one of a loop that changes: each loop is set up once. */
static bool is_new_loop(struct attempt *attempt, size_t index)
{
	bool *is_changed = &attempt->is_changed[attempt->all->alike[index]];
	bool is_new = !*is_changed;

	*is_changed = true;
	return is_new;
}

static int run(struct what_if *out, const struct attempt *attempt)
{
	const struct what_ifs *all = attempt->all;

	return predictor_run(&out->prediction, &all->predictor, &attempt->change, attempt->device,
			     all->places ? all->places : attempt->places,
			     all->places ? all->place_count : attempt->place_count,
			     attempt->setup_ns);
}

/* Predicts what the attempt gathered, or says why there is nothing; and ends it. */
static int conclude(struct what_if *out, struct attempt *attempt, enum refusal refusal, int rc)
{
	out->refusal = attempt->place_count ? REFUSED_NONE : refusal;
	if (rc == 0 && attempt->place_count)
		rc = run(out, attempt);
	end(attempt);
	return rc;
}

/* ---- strategies ---- */

static int add_graph(struct what_if *out, struct attempt *attempt, size_t index,
		     enum refusal *refusal)
{
	const struct sequences *sequences = &attempt->all->sequences;
	const struct sequence sequence = steady(&sequences->items[index]);
	uint64_t node_count;
	enum refusal found =
		change_to_graph(&attempt->change, attempt->all->model, &sequence, &node_count);

	if (found != REFUSED_NONE) {
		*refusal = found;
		return 0;
	}
	out->iteration_count += sequence.iteration_count;
	out->most_nodes = node_count > out->most_nodes ? node_count : out->most_nodes;
	if (is_new_loop(attempt, index)) {
		out->loop_count++;
		attempt->setup_ns +=
			costs_instantiate_ns(attempt->all->predictor.ceilings, node_count);
	}
	return add_place(attempt, sequence.first_call, sequence.first_call + sequence.call_count);
}

int what_if_graph(struct what_if *out, const struct what_ifs *all, size_t device)
{
	struct attempt attempt;
	enum refusal refusal = REFUSED_IRREGULAR;
	int rc = begin(&attempt, all, device, false);

	*out = (struct what_if){0};
	for (size_t i = 0; rc == 0 && i < all->sequences.count; i++)
		if (is_on_device(&attempt, &all->sequences.items[i]))
			rc = add_graph(out, &attempt, i, &refusal);
	return conclude(out, &attempt, refusal, rc);
}

static int add_waits(struct what_if *out, struct attempt *attempt, size_t index)
{
	const struct sequence sequence = steady(&attempt->all->sequences.items[index]);
	size_t end_call = sequence.first_call + sequence.call_count;
	size_t count = change_drop_waits(&attempt->change, attempt->all->model, sequence.first_call,
					 end_call);

	if (2 * count < sequence.iteration_count) { /* not the loop's own: they stay */
		for (size_t i = sequence.first_call; i < end_call; i++)
			attempt->change.calls[i] = CALL_KEPT;
		return 0;
	}
	out->changed_count += count;
	out->loop_count += is_new_loop(attempt, index);
	out->iteration_count += sequence.iteration_count;
	return add_place(attempt, sequence.first_call, end_call);
}

int what_if_fewer_waits(struct what_if *out, const struct what_ifs *all, size_t device)
{
	struct attempt attempt;
	int rc = begin(&attempt, all, device, false);

	*out = (struct what_if){0};
	for (size_t i = 0; rc == 0 && i < all->sequences.count; i++)
		if (is_on_device(&attempt, &all->sequences.items[i]))
			rc = add_waits(out, &attempt, i);
	return conclude(out, &attempt, REFUSED_NOTHING, rc);
}

/* A sequence that launches graphs becomes graphs that launch each other; kernels become bodies of
 * conditional nodes.  A conditional node's own cost is that of an iteration without its kernel. */
static int64_t decision_ns(const struct attempt *attempt, const struct sequence *sequence)
{
	const struct model *model = attempt->all->model;
	const struct ceilings *ceilings = attempt->all->predictor.ceilings;

	for (size_t i = sequence->iterations[0]; i < sequence->iterations[1]; i++) {
		const struct profile_call *call = &model->profile->calls[i];

		if (model->profile->call_names[call->name].call_class == CALL_GRAPH_LAUNCH)
			return (int64_t)ceilings_at(ceilings, CEILING_device_graph_tail, 0);
	}
	return (int64_t)(ceilings_at(ceilings, CEILING_conditional_iteration, 0) -
			 ceilings_at(ceilings, CEILING_graph_node, 0));
}

static int add_decided(struct what_if *out, struct attempt *attempt, size_t index,
		       enum refusal *refusal)
{
	const struct sequences *sequences = &attempt->all->sequences;
	const struct sequence sequence = steady(&sequences->items[index]);
	uint64_t decision_count = 0;
	enum refusal found = change_to_decided(&attempt->change, attempt->all->model, &sequence,
					       decision_ns(attempt, &sequence), &decision_count);

	if (found != REFUSED_NONE) {
		*refusal = found;
		return 0;
	}
	out->changed_count += decision_count;
	out->iteration_count += sequence.iteration_count;
	if (is_new_loop(attempt, index)) {
		out->loop_count++;
		attempt->setup_ns +=
			costs_instantiate_ns(attempt->all->predictor.ceilings, sequence.period);
	}
	return add_place(attempt, sequence.first_call, sequence.first_call + sequence.call_count);
}

int what_if_decided(struct what_if *out, const struct what_ifs *all, size_t device)
{
	struct attempt attempt;
	enum refusal refusal = REFUSED_NO_DECISION;
	int rc = begin(&attempt, all, device, true);

	*out = (struct what_if){0};
	for (size_t i = 0; rc == 0 && i < all->sequences.count; i++)
		if (is_on_device(&attempt, &all->sequences.items[i]))
			rc = add_decided(out, &attempt, i, &refusal);
	return conclude(out, &attempt, refusal, rc);
}

static int add_overlapped(struct what_if *out, struct attempt *attempt, size_t index,
			  enum refusal *refusal)
{
	const struct sequence sequence = steady(&attempt->all->sequences.items[index]);
	enum refusal found = change_to_overlapped(&attempt->change, attempt->all->model, &sequence);

	if (found != REFUSED_NONE) {
		*refusal = found;
		return 0;
	}
	out->iteration_count += sequence.iteration_count;
	out->loop_count += is_new_loop(attempt, index);
	return add_place(attempt, sequence.first_call, sequence.first_call + sequence.call_count);
}

/* In pinned memory: copies of pageable memory run beside nothing. */
int what_if_overlapped(struct what_if *out, const struct what_ifs *all, size_t device)
{
	const struct ceilings *ceilings = all->predictor.ceilings;
	struct attempt attempt;
	enum refusal refusal = REFUSED_NO_COPIES;
	int rc = begin(&attempt, all, device, true);

	*out = (struct what_if){0};
	if (rc == 0)
		rc = change_begin_lanes(&attempt.change, all->model);
	for (size_t i = 0; rc == 0 && i < all->sequences.count; i++)
		if (is_on_device(&attempt, &all->sequences.items[i]))
			rc = add_overlapped(out, &attempt, i, &refusal);
	if (rc == 0)
		out->changed_count = change_to_pinned(&attempt.change, all->model, device,
						      ceilings_at(ceilings, CEILING_h2d_pinned, 0),
						      ceilings_at(ceilings, CEILING_d2h_pinned, 0));
	return conclude(out, &attempt, refusal, rc);
}

/* From the first call of each thread whose copy changes to its last one. */
static int add_copy_places(struct attempt *attempt)
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
			     k < model->submitted.first[j + 1]; k++)
				if (attempt->change.op_ns[model->submitted.ops[k]] >= 0) {
					first = j < first ? j : first;
					last = j;
				}
		if (first < end_call)
			rc = add_place(attempt, first, last + 1);
	}
	return rc;
}

int what_if_pinned(struct what_if *out, const struct what_ifs *all, size_t device)
{
	const struct ceilings *ceilings = all->predictor.ceilings;
	struct attempt attempt;
	int rc = begin(&attempt, all, device, true);

	*out = (struct what_if){0};
	if (rc == 0)
		out->changed_count = change_to_pinned(&attempt.change, all->model, device,
						      ceilings_at(ceilings, CEILING_h2d_pinned, 0),
						      ceilings_at(ceilings, CEILING_d2h_pinned, 0));
	if (rc == 0)
		rc = add_copy_places(&attempt);
	return conclude(out, &attempt, REFUSED_NOTHING, rc);
}
