#include "advice/attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int attempt_add_place(struct attempt *attempt, size_t first, size_t end_call)
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

bool attempt_is_new_loop(const struct attempt *attempt, size_t index)
{
	return !attempt->is_set_up[attempt->all->alike[index]];
}

int attempt_begin(struct attempt *attempt, const struct what_ifs *all, size_t device,
		  const enum strategy *strategies, size_t count, bool is_least)
{
	bool has_ops = false, has_lanes = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		has_ops = has_ops || strategy_rows[strategies[i]].has_ops;
		has_lanes = has_lanes || strategy_rows[strategies[i]].has_lanes;
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

void attempt_end(struct attempt *attempt)
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
	out->loop_count += attempt_is_new_loop(attempt, index);
	attempt->is_set_up[attempt->all->alike[index]] = true;
	take_largest(out, attempt->all->model->profile, &sequences->items[index]);
	return attempt_add_place(attempt, sequence.first_call,
				 sequence.first_call + sequence.call_count);
}

int attempt_apply(struct what_if *out, struct attempt *attempt, const struct strategy_row *row)
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

int attempt_run(struct prediction *out, struct attempt *attempt)
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
