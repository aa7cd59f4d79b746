#include "whatif/apply.h"
#include "whatif/loop_parts.h"
#include "whatif/side_by_side.h"
#include "whatif/what_if_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "base/radix.h"
#include "base/search.h"
#include "base/array.h"
#include "base/worker.h"

struct moment {
	const struct profile *profile;
	int64_t ns;
};

static bool starts_then(size_t call, const void *context)
{
	const struct moment *moment = context;

	return moment->profile->calls[call].start_ns >= moment->ns;
}

/* The first call of a thread that starts at that moment or later. */
static size_t first_call(const struct profile *profile, const struct profile_thread *thread,
			 int64_t moment_ns)
{
	return search_first(thread->first_call, thread->first_call + thread->call_count,
			    starts_then, &(struct moment){profile, moment_ns});
}

/* The calls made in each occurrence of a range, one in another counted once. */
static int find_places(struct places *found, const struct profile *profile, const char *name)
{
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
		next = ARRAY_NEXT(found->items, capacity, found->count);
		if (!next)
			return -ENOMEM;
		*next = place;
		found->count++;
	}
	if (!found->items) /* nothing is called in it: no loop stands for it */
		found->items = calloc(1, sizeof(*found->items));
	else
		found->count = places_merge(found->items, found->count);
	return found->items ? 0 : -ENOMEM;
}

static int find_part(struct what_ifs *all, const char *range)
{
	struct places found = {0};
	int rc = find_places(&found, all->run.model->profile, range);

	all->places = found.items;
	all->place_count = found.count;
	return rc;
}

int what_ifs_keep_within(struct what_ifs *all, enum technique_id id, const char *range)
{
	struct places *within = &all->within[id];

	free(within->items);
	*within = (struct places){0};
	return find_places(within, all->run.model->profile, range);
}

static uint32_t shape_of(uint32_t index, const void *context)
{
	return ((const struct loop *)context)[index].shape;
}

/* Which loops run again: equal shapes come together, and keep their order. */
static int find_alike(struct what_ifs *all)
{
	const struct loop *items = all->loops.items;
	size_t count = all->loops.count;
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

static int find_loops(struct what_ifs *all)
{
	if (all->has_loops || !all->run.model)
		return 0;
	all->has_loops = true;
	return loops_find(&all->loops, all->run.model->profile, &all->run.model->submissions);
}

/* Loops are found while the predictor is made ready: both need no more than the model. */
static int find_alike_loops(void *context)
{
	struct what_ifs *all = context;
	int rc = find_loops(all);

	return rc < 0 ? rc : find_alike(all);
}

int what_ifs_predict(struct what_ifs *all)
{
	struct worker loops;
	struct asked asked = {0};
	bool is_asked = all->run.report && all->run.report->profile->device_count;
	int rc, loops_rc;

	if (!all->run.model)
		return 0;
	asked.device = what_if_main_device(all->run.model->profile);
	asked.steady = apply_steady_of(all, asked.device);
	if (asked.steady && all->run.report)
		asked.loops = &all->run.report->steady_state->repeated;
	worker_start(&loops, profile_item_count(all->run.model->profile), find_alike_loops, all);
	rc = predictor_open(&all->predictor, all->run.model, all->run.ceilings,
			    is_asked ? &asked : NULL);
	loops_rc = worker_join(&loops);
	all->run.costs = all->predictor.is_usable ? &all->predictor.costs[COSTS_MIDDLE] : NULL;
	return rc < 0 ? rc : loops_rc;
}

static int find_libraries(struct recorded_run *run, const struct profile *profile)
{
	run->libraries = malloc((profile->kernel_name_count + 1) * sizeof(*run->libraries));
	if (!run->libraries)
		return -ENOMEM;
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		run->libraries[i] = library_kernel_of(profile->kernel_names[i]);
	return 0;
}

static int begin(struct what_ifs *all, const struct profile *profile, const char *range)
{
	struct err err = {""};
	int rc = find_libraries(&all->run, profile);

	all->range = range;
	if (rc < 0)
		return rc;
	if (!predictor_fits(&all->predictor, profile)) {
		all->loops = (struct loops){0};
		return 0;
	}
	rc = model_build(&all->run.model, profile, &err);
	return rc == 0 && range ? find_part(all, range) : rc;
}

int what_ifs_open(struct what_ifs *all, const struct profile *profile,
		  const struct ceilings *ceilings, const char *range)
{
	int rc;

	*all = (struct what_ifs){.run.ceilings = ceilings};
	rc = begin(all, profile, range);
	return rc == 0 ? what_ifs_predict(all) : rc;
}

int what_ifs_begin(struct what_ifs *all, const struct report *report, const char *range)
{
	int rc;

	*all = (struct what_ifs){.run.ceilings = report->ceilings, .run.report = report};
	if (report->steady_state) {
		all->loops = report->steady_state->loops;
		all->is_given = all->has_loops = true;
	}
	rc = begin(all, report->profile, range);
	return rc == 0 ? find_loops(all) : rc;
}

int what_ifs_open_report(struct what_ifs *all, const struct report *report, const char *range)
{
	int rc = what_ifs_begin(all, report, range);

	return rc == 0 ? what_ifs_predict(all) : rc;
}

int what_ifs_add_report(struct what_ifs *all, const struct report *report)
{
	all->run.report = report;
	return fusion_collect(&all->run.fusion, report);
}

void what_ifs_free(struct what_ifs *all)
{
	predictor_free(&all->predictor);
	if (!all->is_given)
		loops_free(&all->loops);
	free(all->alike);
	model_free(all->run.model);
	free(all->places);
	free(all->run.fusion.kernels);
	free(all->run.libraries);
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		free(all->within[i].items);
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

struct steady_rows what_if_steady_rows(const struct report *report)
{
	const struct steady_state *state = report->steady_state;
	size_t device = what_if_main_device(report->profile);

	if (device >= state->device_count || !state->devices[device].is_found)
		return (struct steady_rows){.row_count = 1};
	return (struct steady_rows){&state->devices[device].loop, &state->repeated, 1};
}

static int measure_rows(struct not_recorded *out, const struct what_ifs *all,
			const struct steady_rows *rows)
{
	const struct looped_run run = {.profile = all->run.model->profile,
				       .submissions = &all->run.model->submissions,
				       .loops = rows->loops};

	return steady_loop_median_ns(&out->row_ns, rows->steady, &run, rows->row_count);
}

/* Of several processes those of the first one: a replay knows nothing of how they wait for each other, so that what ran
 * beside each other in the recording need not in it. */
static size_t count_of_first_process(const struct what_ifs *all)
{
	const struct profile *profile;
	size_t count = 0;
	uint32_t first;

	if (!all->place_count)
		return 0;
	profile = all->run.model->profile;
	first = profile->threads[profile->calls[all->places[0].first].thread].process;
	while (count < all->place_count &&
	       profile->threads[profile->calls[all->places[count].first].thread].process == first)
		count++;
	return count;
}

int what_if_not_recorded(struct not_recorded *out, const struct profile *profile,
			 const struct ceilings *ceilings, const char *range,
			 const struct steady_rows *rows)
{
	static const struct steady_rows none = {.row_count = 1};
	struct what_ifs all;
	struct part part = {0};
	int rc = what_ifs_open(&all, profile, ceilings, range);

	if (!rows)
		rows = &none;
	*out = (struct not_recorded){.shares = {.part = 1, .kernels = 1, .steady = 1}};
	part = (struct part){.places = all.places,
			     .place_count = count_of_first_process(&all),
			     .steady = rows->steady,
			     .loops = rows->loops};
	if (rc == 0 && rows->steady && all.run.model)
		rc = measure_rows(out, &all, rows);
	if (rc == 0 && profile->device_count)
		rc = predictor_untraced_shares(&out->shares, &all.predictor,
					       what_if_main_device(profile), &part,
					       rows->row_count);
	what_ifs_free(&all);
	return rc;
}

/* ---- predictions ---- */

static bool is_refused(const struct what_if *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i].effect.refusal)
			return true;
	return false;
}

/* needs_each: nothing is predicted where one of them is refused.  lane_count: so many lanes at most; 0: as many as there are. */
static int apply_all(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		     size_t count, const struct what_ifs *all, size_t device, enum assumed_end end,
		     bool needs_each, uint32_t lane_count)
{
	struct applied applied;
	int rc = apply_begin(&applied, all, device, ids, count, end);

	*out = (struct prediction){0};
	if (lane_count && applied.application.change.lane_count > lane_count)
		applied.application.change.lane_count = lane_count;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = apply_technique(&parts[i].effect, &applied, ids[i]);
	if (rc == 0 && applied.application.place_count && !(needs_each && is_refused(parts, count)))
		rc = apply_predict(out, &applied);
	apply_end(&applied);
	return rc;
}

static void lower(struct predicted_ratio *out, const struct predicted_ratio *least)
{
	out->low = least->low < out->low ? least->low : out->low;
}

static void raise_to(struct predicted_ratio *out, const struct predicted_ratio *most)
{
	out->high = most->high > out->high ? most->high : out->high;
}

/* What is assumed may hold in part only, or more than it: then an end of the interval is what that brings. */
static int predict_end(struct prediction *out, const enum technique_id *ids, size_t count,
		       const struct what_ifs *all, size_t device, enum assumed_end end,
		       uint32_t lane_count)
{
	void (*widen)(struct predicted_ratio *, const struct predicted_ratio *) =
		end == ASSUMED_LEAST ? lower : raise_to;
	struct what_if parts[TECHNIQUE_COUNT];
	struct prediction other;
	int rc = apply_all(&other, parts, ids, count, all, device, end, false, lane_count);

	if (rc == -ERANGE) /* that end is none */
		return 0;
	if (rc == 0) {
		widen(&out->program, &other.program);
		widen(&out->place, &other.place);
		if (other.steady_before_ns)
			widen(&out->steady, &other.steady);
	}
	return rc;
}

/* A prediction that the recording does not allow is none. */
static int refuse(struct prediction *out, struct what_if *parts, size_t count)
{
	*out = (struct prediction){0};
	for (size_t i = 0; i < count; i++)
		if (!parts[i].effect.refusal)
			parts[i].effect.refusal = refused_impossible;
	return 0;
}

/* Kernels side by side become branches of a graph, each of which the ceilings have the host's time for. */
static bool are_branches_known(const struct what_ifs *all, const enum technique_id *ids,
			       size_t count)
{
	bool has_lanes = false, has_graph = false;

	for (size_t i = 0; i < count; i++) {
		has_lanes |= ids[i] == TECHNIQUE_concurrent_kernels;
		has_graph |= ids[i] == TECHNIQUE_cuda_graph;
	}
	return has_lanes && has_graph &&
	       ceilings_at(all->run.ceilings, CEILING_graph_branches, 2) > 0;
}

/* Fewer branches, of more kernels each, take the host less and the GPU longer: so many as are fastest.  Returns as
 * apply_all does, with these in *lane_count. */
static int find_branches(struct prediction *out, struct what_if *parts,
			 const enum technique_id *ids, size_t count, const struct what_ifs *all,
			 size_t device, uint32_t *lane_count)
{
	struct what_if other_parts[TECHNIQUE_COUNT];
	struct prediction other;
	int rc = 0;

	for (uint32_t lanes = LANES_MOST / 2; rc == 0 && lanes > LANES_LEAST; lanes /= 2) {
		rc = apply_all(&other, other_parts, ids, count, all, device, ASSUMED_USUAL, false,
			       lanes);
		if (rc == -ERANGE) {
			rc = 0;
			continue;
		}
		if (rc < 0 || other.place.speedup <= out->place.speedup)
			continue;
		*out = other;
		*lane_count = lanes;
		for (size_t i = 0; i < count; i++)
			parts[i] = other_parts[i];
	}
	return rc;
}

static int together(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		    size_t count, const struct what_ifs *all, size_t device, bool needs_each)
{
	bool is_assuming = false, has_most = false;
	uint32_t lane_count = 0;
	int rc = apply_all(out, parts, ids, count, all, device, ASSUMED_USUAL, needs_each, 0);

	if (rc == 0 && !is_refused(parts, count) && are_branches_known(all, ids, count))
		rc = find_branches(out, parts, ids, count, all, device, &lane_count);
	if (rc == -ERANGE)
		return refuse(out, parts, count);
	if (needs_each && is_refused(parts, count))
		return rc;
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (!parts[i].effect.refusal) {
			is_assuming |= parts[i].effect.is_assuming;
			has_most |= techniques[ids[i]]->has_most;
		}
	if (rc == 0 && is_assuming)
		rc = predict_end(out, ids, count, all, device, ASSUMED_LEAST, lane_count);
	if (rc == 0 && has_most)
		rc = predict_end(out, ids, count, all, device, ASSUMED_MOST, lane_count);
	return rc;
}

/* Ranks that a launcher numbered wait for each other, and so do GPUs that collectives join. */
static bool meet_ranks(const struct what_ifs *all)
{
	const struct collectives *collectives =
		all->run.report ? all->run.report->collectives : NULL;
	const struct profile *profile = all->run.report ? all->run.report->profile : NULL;
	size_t numbered_count = 0;

	for (size_t i = 0; profile && i < profile->process_count; i++)
		numbered_count += profile->processes[i].rank >= 0;
	for (size_t i = 0; collectives && i < collectives->rank_count; i++)
		if (collectives->ranks[i].is_matched)
			return true;
	return numbered_count > 1;
}

bool what_if_is_of_job(const struct what_ifs *all, enum technique_id id)
{
	return techniques[id]->change_job || (techniques[id]->is_of_calls && meet_ranks(all));
}

static size_t count_of_job(const struct what_ifs *all, const enum technique_id *ids, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += what_if_is_of_job(all, ids[i]);
	return found;
}

/* Techniques of a whole job are re-simulated by themselves, and what others change is of one GPU alone: beside the first
 * technique those of the other sort are refused. */
static int of_one_sort(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		       size_t count, const struct what_ifs *all, size_t device, bool needs_each)
{
	bool is_of_job = count && what_if_is_of_job(all, ids[0]);
	enum technique_id kept[TECHNIQUE_COUNT];
	struct what_if changed[TECHNIQUE_COUNT];
	size_t kept_count = 0, next = 0;
	int rc;

	*out = (struct prediction){0};
	memset(changed, 0, sizeof(changed));
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct what_if){.effect.refusal = refused_other_sort};
		if (what_if_is_of_job(all, ids[i]) == is_of_job)
			kept[kept_count++] = ids[i];
	}
	if (needs_each && kept_count < count)
		return 0;
	rc = is_of_job ? what_if_job(out, changed, kept, kept_count, all, device, needs_each)
		       : together(out, changed, kept, kept_count, all, device, needs_each);
	for (size_t i = 0; i < count; i++)
		if (what_if_is_of_job(all, ids[i]) == is_of_job)
			parts[i] = changed[next++];
	return rc;
}

static int of_any_sort(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		       size_t count, const struct what_ifs *all, size_t device, bool needs_each)
{
	return count_of_job(all, ids, count)
		       ? of_one_sort(out, parts, ids, count, all, device, needs_each)
		       : together(out, parts, ids, count, all, device, needs_each);
}

int what_if_together(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		     size_t count, const struct what_ifs *all, size_t device)
{
	return of_any_sort(out, parts, ids, count, all, device, false);
}

int what_if_each_together(struct prediction *out, struct what_if *parts,
			  const enum technique_id *ids, size_t count, const struct what_ifs *all,
			  size_t device)
{
	return of_any_sort(out, parts, ids, count, all, device, true);
}

int what_if_alone(struct what_if *out, enum technique_id id, const struct what_ifs *all,
		  size_t device)
{
	struct prediction prediction;
	int rc;

	*out = (struct what_if){.effect.refusal = refused_device_work};
	if (techniques[id]->is_blind_to_device_work && all->run.report &&
	    report_has_device_work(all->run.report, device))
		return 0;
	rc = what_if_together(&prediction, out, &id, 1, all, device);
	out->prediction = prediction;
	return rc;
}

int what_if_side_by_side(struct side_by_side *out, const enum technique_id *ids, size_t count,
			 const struct what_ifs *all, size_t device, int64_t from_ns, int64_t to_ns)
{
	struct what_if part;
	struct applied applied;
	int rc = apply_begin(&applied, all, device, ids, count, ASSUMED_USUAL);

	*out = (struct side_by_side){0};
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (!what_if_is_of_job(all, ids[i]))
			rc = apply_technique(&part.effect, &applied, ids[i]);
	if (rc == 0 && applied.application.place_count)
		rc = side_by_side_replay(
			out, &(struct side_request){.all = all,
						    .change = &applied.application.change,
						    .is_changed = applied.application.is_changed,
						    .device = device,
						    .from_ns = from_ns,
						    .to_ns = to_ns});
	apply_end(&applied);
	return rc;
}
