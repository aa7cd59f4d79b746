#include "whatif/apply.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/readbacks.h"
#include "techniques/shared/waits.h"
#include "whatif/loop_parts.h"

static bool is_on_device(const struct applied *applied, const struct loop *loop)
{
	const struct model *model = applied->all->run.model;
	const struct profile *profile = model->profile;
	const struct submissions *submissions = &model->submissions;
	size_t end_call = loop->first_call + loop->call_count;

	for (size_t i = loop->first_call; i < end_call; i++)
		if (submissions_count(submissions, i))
			return profile_op_device(
				       profile,
				       &profile->ops[submissions_op(
					       submissions, submissions_first(submissions, i))]) ==
			       applied->application.device;
	return false;
}

static int begin_application(struct application *application, const struct what_ifs *all)
{
	const struct profile *profile = all->run.model->profile;

	application->is_changed = calloc(profile->call_count + 1, sizeof(bool));
	application->taken_by = calloc(profile->call_count + 1, 1);
	application->readback_kernels =
		calloc(profile->kernel_name_count + 1, sizeof(*application->readback_kernels));
	return application->is_changed && application->taken_by && application->readback_kernels
		       ? 0
		       : -ENOMEM;
}

int apply_begin(struct applied *applied, const struct what_ifs *all, size_t device,
		const enum technique_id *ids, size_t count, enum assumed_end end)
{
	struct application *application = &applied->application;
	bool has_ops = false, has_lanes = false;
	int rc, change_rc;

	for (size_t i = 0; i < count; i++) {
		has_ops = has_ops || techniques[ids[i]]->has_ops;
		has_lanes = has_lanes || techniques[ids[i]]->has_lanes;
	}
	*applied = (struct applied){.all = all,
				    .application = {.run = &all->run, .device = device, .end = end},
				    .is_set_up = calloc(all->loops.count + 1,
							sizeof(*applied->is_set_up)),
				    .kept_calls = malloc(all->run.model->profile->call_count + 1)};
	rc = begin_application(application, all);
	change_rc = change_begin(&application->change, all->run.model, has_ops);
	if (change_rc == 0 && has_lanes)
		change_rc = change_begin_lanes(&application->change, all->run.model, LANES_MOST);
	return applied->is_set_up && applied->kept_calls && rc == 0 ? change_rc : -ENOMEM;
}

/* What is asked for only while techniques are applied. */
static void forget_steps(struct applied *applied)
{
	struct application *application = &applied->application;

	free(application->is_changed);
	free(application->taken_by);
	free(applied->kept_calls);
	application->is_changed = NULL;
	application->taken_by = NULL;
	applied->kept_calls = NULL;
}

void apply_end(struct applied *applied)
{
	struct application *application = &applied->application;

	forget_steps(applied);
	change_free(&application->change);
	free(application->places);
	free(application->readback_kernels);
	free(applied->is_set_up);
}

static int64_t loop_ns(const struct profile *profile, const struct loop *loop)
{
	size_t last = loop->first_call + loop->call_count - 1;

	return profile->calls[last].end_ns - profile->calls[loop->first_call].start_ns;
}

/* Of a loop that runs again the last time: before, it may have been warmed up. */
static void keep_largest(struct effect *effect, const struct profile *profile,
			 const struct loop *loop)
{
	if (!effect->largest || loop->shape == effect->largest->shape ||
	    loop_ns(profile, loop) > loop_ns(profile, effect->largest))
		effect->largest = loop;
}

/* Launches that were counted by instrumented code are no operations: a loop of which more are than UNTIMED_MOST would be
 * another one without them. */
static bool has_times(const struct applied *applied, const struct loop *part)
{
	const struct model *model = applied->all->run.model;
	size_t launch_count = 0, untimed_count = 0;

	if (!(applied->all->predictor.unrecorded.share > 0))
		return true;
	for (size_t i = part->first_call; i < part->first_call + part->call_count; i++) {
		if (model_call_class(model, i) != CALL_LAUNCH || model->profile->calls[i].result)
			continue;
		launch_count++;
		untimed_count += !submissions_count(&model->submissions, i);
	}
	return (double)untimed_count <= UNTIMED_MOST * (double)launch_count;
}

/* Of several loops the largest one's, but that times are missing only where that is all. */
static void keep_refusal(struct applied *applied, const char *refusal, size_t call_count)
{
	if (refusal == refused_untimed)
		call_count = 0;
	if (call_count < applied->refused_call_count)
		return;
	applied->application.effect->refusal = refusal;
	applied->refused_call_count = call_count;
}

/* part: of that loop. */
static int try_part(struct applied *applied, const struct technique *technique, size_t index,
		    const struct loop *part)
{
	struct application *application = &applied->application;
	struct effect *effect = application->effect;
	uint8_t *calls = application->change.calls + part->first_call;
	bool *is_set_up = &applied->is_set_up[applied->all->alike[index]];
	const char *refusal;

	memcpy(applied->kept_calls, calls, part->call_count);
	application->is_first_like = !*is_set_up;
	if (technique->moves_waits && waits_hand_over(applied->all->run.model, part))
		refusal = refused_hands_over;
	else
		refusal = has_times(applied, part) ? technique->change_loop(application, part)
						   : refused_untimed;
	if (refusal) {
		memcpy(calls, applied->kept_calls, part->call_count);
		keep_refusal(applied, refusal, part->call_count);
		return 0;
	}
	memset(application->is_changed + part->first_call, true, part->call_count);
	memset(application->taken_by + part->first_call,
	       technique->is_shared ? 0 : TAKEN_BY(technique_id_of(technique)), part->call_count);
	effect->iteration_count += part->iteration_count;
	effect->loop_count += !*is_set_up;
	*is_set_up = true;
	keep_largest(effect, applied->all->run.model->profile, &applied->all->loops.items[index]);
	return application_add_place(application, part->first_call,
				     part->first_call + part->call_count);
}

/* The one that leaves its loops to this one; 0: none does. */
static uint8_t shared_by(enum technique_id id)
{
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		if (techniques[i]->leaves_to == techniques[id])
			return TAKEN_BY(i);
	return 0;
}

static int try_loop(struct applied *applied, enum technique_id id, size_t index)
{
	const struct what_ifs *all = applied->all;
	const struct loop_limits limits = {.submissions = &all->run.model->submissions,
					   .places = all->within[id].items,
					   .place_count = all->within[id].count,
					   .taken_by = applied->application.taken_by,
					   .shared_by = shared_by(id),
					   .kept_count = all->alike[index] == index};
	struct loop part;
	size_t next = 0;
	int rc = 0;

	while (rc == 0 && loop_parts_next(&part, &next, &all->loops.items[index], &limits))
		rc = try_part(applied, techniques[id], index, &part);
	return rc;
}

static void add_terms(struct bound_terms *terms, const struct technique *technique,
		      const struct application *application)
{
	terms->bounds |= technique->bound;
	terms->vanished_bytes += application->effect->vanished_bytes;
	if (technique == &technique_fewer_bytes)
		terms->fewer_bytes = application->number;
}

int apply_technique(struct effect *effect, struct applied *applied, enum technique_id id)
{
	const struct technique *technique = techniques[id];
	const struct loops *loops = &applied->all->loops;
	struct application *application = &applied->application;
	bool is_limited = applied->all->within[id].items;
	size_t place_count = application->place_count;
	int rc = 0;

	*effect = (struct effect){.refusal = is_limited ? refused_elsewhere : technique->refusal,
				  .is_assuming = technique->always_assumes};
	application->effect = effect;
	application->number = applied->all->numbers[id];
	applied->refused_call_count = 0;
	memset(applied->is_set_up, 0, loops->count * sizeof(*applied->is_set_up));
	for (size_t i = 0; rc == 0 && technique->change_loop && i < loops->count; i++)
		if (is_on_device(applied, &loops->items[i]))
			rc = try_loop(applied, id, i);
	if (rc == 0 && technique->change_lengths)
		rc = lengths_change(application, technique->change_lengths);
	if (rc == 0 && technique->change_run)
		rc = technique->change_run(application);
	if (application->place_count > place_count) {
		effect->refusal = NULL;
		add_terms(&applied->terms, technique, application);
		applied->spread = fmax(applied->spread, technique->spread);
	}
	return rc;
}

/* The bounds of a part, which are found while it is replayed. */
struct search {
	const struct applied *applied;
	const struct part *part;
	struct bounds bounds;
	double steady_ns; /* what the host takes to submit an iteration */
};

static int find_bounds(void *context)
{
	struct search *search = context;
	const struct applied *applied = search->applied;
	const struct part *part = search->part;

	if (part->steady)
		search->steady_ns =
			bounds_steady_ns(&applied->application, part->steady, part->loops,
					 applied->all->predictor.costs[COSTS_LOW].launch_call_ns);
	return bounds_find(&search->bounds, &applied->application, &applied->terms, part);
}

static int keep_possible(struct prediction *prediction, const struct search *found)
{
	int rc = bounds_hold(&found->bounds, prediction) ? 0 : -ERANGE;

	if (!(found->applied->terms.bounds & BOUND_OPEN))
		bounds_limit(&found->bounds, prediction);
	if (found->part->steady)
		bounds_limit_steady(prediction, found->steady_ns);
	return rc;
}

const struct steady_loop *apply_steady_of(const struct what_ifs *all, size_t device)
{
	const struct report *report = all->run.report;

	return report && report->steady_state && report->steady_state->devices[device].is_found
		       ? &report->steady_state->devices[device].loop
		       : NULL;
}

/* Of an assumption that holds in part only, or more than it, what_if.c takes one end. */
static enum interval_end interval_of(enum assumed_end end)
{
	if (end == ASSUMED_USUAL)
		return INTERVAL_BOTH;
	return end == ASSUMED_LEAST ? INTERVAL_LOW : INTERVAL_HIGH;
}

int apply_predict(struct prediction *out, struct applied *applied)
{
	const struct what_ifs *all = applied->all;
	struct application *application = &applied->application;
	struct search search = {.applied = applied};
	struct worker worker;
	struct part part;
	int rc, bounds_rc;

	/* copies of pinned memory may lie in loops that changed as well: their time counts once */
	application->place_count = places_merge(application->places, application->place_count);
	part = (struct part){.places = all->places ? all->places : application->places,
			     .place_count =
				     all->places ? all->place_count : application->place_count,
			     .changed = application->places,
			     .changed_count = application->place_count,
			     .steady = apply_steady_of(all, application->device),
			     .spread = applied->spread,
			     .end = interval_of(application->end)};
	part.loops = part.steady ? &all->run.report->steady_state->repeated : NULL;
	search.part = &part;
	forget_steps(applied); /* 3 bytes a call, while replays take most memory */
	applied->terms.trace_node_ns = all->predictor.costs[COSTS_MIDDLE].trace_node_ns;
	worker_start(&worker, profile_item_count(all->run.model->profile), find_bounds, &search);
	rc = predictor_run(out, &all->predictor, &application->change, application->device, &part,
			   application->setup_ns);
	bounds_rc = worker_join(&worker);
	if (rc == 0)
		rc = bounds_rc;
	return rc == 0 ? keep_possible(out, &search) : rc;
}
