#include "advice/what_if.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int what_ifs_open(struct what_ifs *all, const struct profile *profile,
		  const struct ceilings *ceilings)
{
	struct err err;
	int rc;

	*all = (struct what_ifs){0};
	rc = model_build(&all->model, profile, &err);
	if (rc == 0)
		rc = sequences_find(&all->sequences, profile, &all->model->submitted);
	if (rc == 0)
		rc = predictor_open(&all->predictor, all->model, ceilings);
	return rc;
}

void what_ifs_free(struct what_ifs *all)
{
	predictor_free(&all->predictor);
	sequences_free(&all->sequences);
	model_free(all->model);
	*all = (struct what_ifs){0};
}

/* ---- the loops of a device ---- */

struct attempt {
	const struct what_ifs *all;
	size_t device;
	struct change change;
	struct place *places;
	size_t place_count, place_capacity;
	double setup_ns;
};

static int begin(struct attempt *attempt, const struct what_ifs *all, size_t device, bool with_ops)
{
	*attempt = (struct attempt){.all = all, .device = device};
	return change_begin(&attempt->change, all->model, with_ops);
}

static void end(struct attempt *attempt)
{
	change_free(&attempt->change);
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

/* Whether a loop like this one stands before it. */
static bool is_repeated(const struct sequences *sequences, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (sequences->items[i].shape == sequences->items[index].shape)
			return true;
	return false;
}

static int run(struct what_if *out, const struct attempt *attempt)
{
	return predict(&out->prediction, &attempt->all->predictor, &attempt->change,
		       attempt->device, attempt->places, attempt->place_count, attempt->setup_ns);
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
	const struct sequence *sequence = &sequences->items[index];
	uint64_t node_count;
	enum refusal found =
		change_to_graph(&attempt->change, attempt->all->model, sequence, &node_count);

	if (found != REFUSED_NONE) {
		*refusal = found;
		return 0;
	}
	out->iteration_count += sequence->iteration_count;
	out->most_nodes = node_count > out->most_nodes ? node_count : out->most_nodes;
	if (!is_repeated(sequences, index)) {
		out->loop_count++;
		attempt->setup_ns +=
			costs_instantiate_ns(attempt->all->predictor.ceilings, node_count);
	}
	return add_place(attempt, sequence->first_call,
			 sequence->first_call + sequence->call_count);
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
	const struct sequence *sequence = &attempt->all->sequences.items[index];
	size_t end_call = sequence->first_call + sequence->call_count;
	size_t count = change_drop_waits(&attempt->change, attempt->all->model,
					 sequence->first_call, end_call);

	if (!count)
		return 0;
	out->changed_count += count;
	out->loop_count += !is_repeated(&attempt->all->sequences, index);
	out->iteration_count += sequence->iteration_count;
	return add_place(attempt, sequence->first_call, end_call);
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

/* All of the program: what copies is not bound to loops. */
int what_if_pinned(struct what_if *out, const struct what_ifs *all, size_t device)
{
	const struct profile *profile = all->model->profile;
	const struct ceilings *ceilings = all->predictor.ceilings;
	struct attempt attempt;
	int rc = begin(&attempt, all, device, true);

	*out = (struct what_if){0};
	if (rc == 0)
		out->changed_count = change_to_pinned(&attempt.change, all->model, device,
						      ceilings_at(ceilings, CEILING_h2d_pinned, 0),
						      ceilings_at(ceilings, CEILING_d2h_pinned, 0));
	for (size_t i = 0; rc == 0 && out->changed_count && i < profile->thread_count; i++)
		if (profile->threads[i].call_count)
			rc = add_place(&attempt, profile->threads[i].first_call,
				       profile->threads[i].first_call +
					       profile->threads[i].call_count);
	return conclude(out, &attempt, REFUSED_NOTHING, rc);
}
