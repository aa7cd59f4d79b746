#include "whatif/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "whatif/loop_parts.h"
#include "base/array.h"

int apply_add_place(struct applied *applied, size_t first, size_t end_call)
{
	struct place *next =
		ARRAY_NEXT(applied->places, applied->place_capacity, applied->place_count);

	if (!next)
		return -ENOMEM;
	*next = (struct place){first, end_call};
	applied->place_count++;
	return 0;
}

static bool is_on_device(const struct applied *applied, const struct loop *loop)
{
	const struct model *model = applied->all->model;
	const struct submissions *submissions = &model->submissions;
	size_t end_call = loop->first_call + loop->call_count;

	for (size_t i = loop->first_call; i < end_call; i++)
		if (submissions_count(submissions, i))
			return model->profile->ops[submissions->ops[submissions->first[i]]]
				       .device == applied->device;
	return false;
}

bool apply_is_new_loop(const struct applied *applied, size_t index)
{
	return !applied->is_set_up[applied->all->alike[index]];
}

int apply_begin(struct applied *applied, const struct what_ifs *all, size_t device,
		const enum strategy *strategies, size_t count, enum apply_end end)
{
	size_t call_count = all->model->profile->call_count;
	bool has_ops = false, has_lanes = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		has_ops = has_ops || strategy_rows[strategies[i]].has_ops;
		has_lanes = has_lanes || strategy_rows[strategies[i]].has_lanes;
	}
	*applied =
		(struct applied){.all = all,
				 .device = device,
				 .end = end,
				 .is_changed = calloc(call_count + 1, sizeof(*applied->is_changed)),
				 .is_taken = calloc(call_count + 1, sizeof(*applied->is_taken)),
				 .is_set_up =
					 calloc(all->loops.count + 1, sizeof(*applied->is_set_up)),
				 .asked = calloc(all->model->profile->kernel_name_count + 1,
						 sizeof(*applied->asked)),
				 .kept_calls = malloc(call_count + 1)};
	rc = change_begin(&applied->change, all->model, has_ops);
	if (rc == 0 && has_lanes)
		rc = change_begin_lanes(&applied->change, all->model,
					end == APPLY_LEAST ? LANES_LEAST : LANES_MOST);
	return applied->is_changed && applied->is_taken && applied->is_set_up && applied->asked &&
			       applied->kept_calls
		       ? rc
		       : -ENOMEM;
}

void apply_end(struct applied *applied)
{
	change_free(&applied->change);
	free(applied->places);
	free(applied->is_changed);
	free(applied->is_taken);
	free(applied->is_set_up);
	free(applied->asked);
	free(applied->kept_calls);
}

static int64_t loop_ns(const struct profile *profile, const struct loop *loop)
{
	size_t last = loop->first_call + loop->call_count - 1;

	return profile->calls[last].end_ns - profile->calls[loop->first_call].start_ns;
}

/* Of a loop that runs again the last time: before, it may have been warmed up. */
static void take_largest(struct what_if *out, const struct profile *profile,
			 const struct loop *loop)
{
	if (!out->largest || loop->shape == out->largest->shape ||
	    loop_ns(profile, loop) > loop_ns(profile, out->largest))
		out->largest = loop;
}

/* cut: of that loop. */
static int try_cut(struct what_if *out, struct applied *applied, const struct strategy_row *row,
		   size_t index, const struct loop *part_of_loop)
{
	uint8_t *calls = applied->change.calls + part_of_loop->first_call;
	enum refusal refusal;

	memcpy(applied->kept_calls, calls, part_of_loop->call_count);
	refusal = row->change_loop(out, applied, index, part_of_loop);
	if (refusal != REFUSED_NONE) {
		memcpy(calls, applied->kept_calls, part_of_loop->call_count);
		out->refusal = refusal;
		return 0;
	}
	memset(applied->is_changed + part_of_loop->first_call, true, part_of_loop->call_count);
	memset(applied->is_taken + part_of_loop->first_call, !row->is_shared,
	       part_of_loop->call_count);
	out->iteration_count += part_of_loop->iteration_count;
	out->loop_count += apply_is_new_loop(applied, index);
	applied->is_set_up[applied->all->alike[index]] = true;
	take_largest(out, applied->all->model->profile, &applied->all->loops.items[index]);
	return apply_add_place(applied, part_of_loop->first_call,
			       part_of_loop->first_call + part_of_loop->call_count);
}

static int try_loop(struct what_if *out, struct applied *applied, enum strategy strategy,
		    size_t index)
{
	const struct what_ifs *all = applied->all;
	const struct loop_limits loop_limits = {.submissions = &all->model->submissions,
						.places = all->within[strategy].items,
						.place_count = all->within[strategy].count,
						.is_taken = applied->is_taken};
	struct loop part_of_loop;
	size_t next = 0;
	int rc = 0;

	while (rc == 0 &&
	       loop_parts_next(&part_of_loop, &next, &all->loops.items[index], &loop_limits))
		rc = try_cut(out, applied, &strategy_rows[strategy], index, &part_of_loop);
	return rc;
}

int apply_technique(struct what_if *out, struct applied *applied, enum strategy strategy)
{
	const struct strategy_row *row = &strategy_rows[strategy];
	const struct loops *loops = &applied->all->loops;
	bool is_limited = applied->all->within[strategy].items;
	size_t place_count = applied->place_count;
	int rc = 0;

	*out = (struct what_if){.refusal = is_limited ? REFUSED_ELSEWHERE : row->refusal,
				.is_supposed = row->is_supposed};
	memset(applied->is_set_up, 0, loops->count * sizeof(*applied->is_set_up));
	for (size_t i = 0; rc == 0 && row->change_loop && i < loops->count; i++)
		if (is_on_device(applied, &loops->items[i]))
			rc = try_loop(out, applied, strategy, i);
	if (rc == 0 && row->change_ops)
		rc = row->change_ops(out, applied);
	if (applied->place_count > place_count)
		out->refusal = REFUSED_NONE;
	return rc;
}

int apply_predict(struct prediction *out, struct applied *applied)
{
	const struct what_ifs *all = applied->all;
	struct part part;

	/* copies of pinned memory may lie in loops that changed as well: their time counts once */
	applied->place_count = places_merge(applied->places, applied->place_count);
	part = (struct part){.places = all->places ? all->places : applied->places,
			     .place_count = all->places ? all->place_count : applied->place_count,
			     .changed = applied->places,
			     .changed_count = applied->place_count};
	return predictor_run(out, &all->predictor, &applied->change, applied->device, &part,
			     applied->setup_ns);
}
