#include "advice/attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advice/cuts.h"
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
		  const enum strategy *strategies, size_t count, enum attempt_end end)
{
	size_t call_count = all->model->profile->call_count;
	bool has_ops = false, has_lanes = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		has_ops = has_ops || strategy_rows[strategies[i]].has_ops;
		has_lanes = has_lanes || strategy_rows[strategies[i]].has_lanes;
	}
	*attempt =
		(struct attempt){.all = all,
				 .device = device,
				 .end = end,
				 .is_changed = calloc(call_count + 1, sizeof(*attempt->is_changed)),
				 .is_taken = calloc(call_count + 1, sizeof(*attempt->is_taken)),
				 .is_set_up = calloc(all->sequences.count + 1,
						     sizeof(*attempt->is_set_up)),
				 .asked = calloc(all->model->profile->kernel_name_count + 1,
						 sizeof(*attempt->asked)),
				 .kept_calls = malloc(call_count + 1)};
	rc = change_begin(&attempt->change, all->model, has_ops);
	if (rc == 0 && has_lanes)
		rc = change_begin_lanes(&attempt->change, all->model,
					end == ATTEMPT_LEAST ? LANES_LEAST : LANES_MOST);
	return attempt->is_changed && attempt->is_taken && attempt->is_set_up && attempt->asked &&
			       attempt->kept_calls
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
	free(attempt->asked);
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

/* cut: of that loop. */
static int try_cut(struct what_if *out, struct attempt *attempt, const struct strategy_row *row,
		   size_t index, const struct sequence *cut)
{
	uint8_t *calls = attempt->change.calls + cut->first_call;
	enum refusal refusal;

	memcpy(attempt->kept_calls, calls, cut->call_count);
	refusal = row->change_loop(out, attempt, index, cut);
	if (refusal != REFUSED_NONE) {
		memcpy(calls, attempt->kept_calls, cut->call_count);
		out->refusal = refusal;
		return 0;
	}
	memset(attempt->is_changed + cut->first_call, true, cut->call_count);
	memset(attempt->is_taken + cut->first_call, !row->is_shared, cut->call_count);
	out->iteration_count += cut->iteration_count;
	out->loop_count += attempt_is_new_loop(attempt, index);
	attempt->is_set_up[attempt->all->alike[index]] = true;
	take_largest(out, attempt->all->model->profile, &attempt->all->sequences.items[index]);
	return attempt_add_place(attempt, cut->first_call, cut->first_call + cut->call_count);
}

static int try_loop(struct what_if *out, struct attempt *attempt, enum strategy strategy,
		    size_t index)
{
	const struct what_ifs *all = attempt->all;
	const struct cutting cutting = {.submitted = &all->model->submitted,
					.places = all->within[strategy].items,
					.place_count = all->within[strategy].count,
					.is_taken = attempt->is_taken};
	struct sequence cut;
	size_t next = 0;
	int rc = 0;

	while (rc == 0 && cuts_next(&cut, &next, &all->sequences.items[index], &cutting))
		rc = try_cut(out, attempt, &strategy_rows[strategy], index, &cut);
	return rc;
}

int attempt_apply(struct what_if *out, struct attempt *attempt, enum strategy strategy)
{
	const struct strategy_row *row = &strategy_rows[strategy];
	const struct sequences *sequences = &attempt->all->sequences;
	bool is_limited = attempt->all->within[strategy].items;
	size_t place_count = attempt->place_count;
	int rc = 0;

	*out = (struct what_if){.refusal = is_limited ? REFUSED_ELSEWHERE : row->refusal,
				.is_supposed = row->is_supposed};
	memset(attempt->is_set_up, 0, sequences->count * sizeof(*attempt->is_set_up));
	for (size_t i = 0; rc == 0 && row->change_loop && i < sequences->count; i++)
		if (is_on_device(attempt, &sequences->items[i]))
			rc = try_loop(out, attempt, strategy, i);
	if (rc == 0 && row->change_ops)
		rc = row->change_ops(out, attempt);
	if (attempt->place_count > place_count)
		out->refusal = REFUSED_NONE;
	return rc;
}

int attempt_run(struct prediction *out, struct attempt *attempt)
{
	const struct what_ifs *all = attempt->all;
	struct part part;

	/* copies of pinned memory may lie in loops that changed as well: their time counts once */
	attempt->place_count = places_merge(attempt->places, attempt->place_count);
	part = (struct part){.places = all->places ? all->places : attempt->places,
			     .place_count = all->places ? all->place_count : attempt->place_count,
			     .changed = attempt->places,
			     .changed_count = attempt->place_count};
	return predictor_run(out, &all->predictor, &attempt->change, attempt->device, &part,
			     attempt->setup_ns);
}
