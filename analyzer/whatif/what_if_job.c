#include "whatif/what_if_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "techniques/job_application.h"
#include "whatif/apply.h"
#include "whatif/bounds.h"
#include "whatif/job_calls.h"
#include "whatif/simulated_times.h"

static const char no_job[] = "only one GPU has work in the recording";
static const char no_kernels[] =
	"only one GPU runs kernels in the recording: the others are prepared, and not used for more";
static const char handed[] = "other threads or processes go on after the waits that would be gone";
static const char endless[] = "re-simulated, ranks wait for each other forever";

/* Of parts that are tried, the fewest that bring it within this of the best. */
#define NEARLY_BEST 1.05

/* ---- one simulation ---- */

struct attempt {
	const struct what_ifs *all;
	const enum technique_id *ids;
	size_t count, device;
	enum assumed_end end;
	uint64_t number; /* of the technique that takes one and was given none */
	bool needs_each;
	struct what_if *parts;
};

static void application_close(struct job_application *application)
{
	job_run_free(&application->job);
	free(application->is_changed);
	free(application->is_gone);
	free(application->shortest_kernels_ns);
	free(application->least_host_ns);
	free(application->messages);
}

static int application_open(struct job_application *application, const struct attempt *attempt)
{
	const struct model *model = attempt->all->run.model;
	int rc;

	*application = (struct job_application){.run = &attempt->all->run, .end = attempt->end};
	application->is_changed = calloc(model->profile->op_count + 1, sizeof(bool));
	application->is_gone = calloc(model->profile->op_count + 1, sizeof(bool));
	rc = job_run_open(&application->job, model, attempt->all->run.report->collectives,
			  attempt->end != ASSUMED_MOST);
	if (rc == 0)
		rc = job_application_find_least(application);
	if (rc == 0)
		job_calls_subtract_recording(&application->job, attempt->all->run.costs);
	return application->is_changed && application->is_gone ? rc : -ENOMEM;
}

/* Why nothing changes is told of the GPU that was asked for. */
static void add_effect(struct effect *sum, const struct effect *one, bool is_asked)
{
	if (one->refusal) {
		if (is_asked)
			sum->refusal = one->refusal;
		return;
	}
	sum->refusal = NULL;
	sum->iteration_count += one->iteration_count;
	sum->loop_count += one->loop_count;
	sum->changed_count += one->changed_count;
	sum->most_nodes = one->most_nodes > sum->most_nodes ? one->most_nodes : sum->most_nodes;
	if (one->cuts.graph_count > sum->cuts.graph_count)
		sum->cuts = one->cuts;
	sum->is_assuming |= one->is_assuming;
	if (!sum->largest)
		sum->largest = one->largest;
}

/* What a technique makes of the calls for one GPU is found as if that were the only one. */
static int change_calls_of(struct job_application *application, const struct attempt *attempt,
			   enum technique_id id, size_t device)
{
	struct effect effect = {.refusal = techniques[id]->refusal};
	struct applied applied;
	bool hands_over = false;
	int rc = apply_begin(&applied, attempt->all, device, &id, 1, attempt->end);

	if (rc == 0)
		rc = apply_technique(&effect, &applied, id);
	if (rc == 0 && !effect.refusal)
		rc = job_calls_change(application, &applied.application.change, &hands_over);
	if (hands_over)
		effect.refusal = handed;
	if (!effect.refusal)
		application->setup_ns = fmax(application->setup_ns, applied.application.setup_ns);
	add_effect(application->effect, &effect, device == attempt->device);
	apply_end(&applied);
	return rc;
}

/* The GPU that is asked for first: what it is refused for, and its largest loop, are told. */
static const char *change_calls(struct job_application *application, const struct attempt *attempt,
				enum technique_id id)
{
	const struct profile *profile = attempt->all->run.model->profile;

	application->effect->refusal = techniques[id]->refusal;
	application->rc = change_calls_of(application, attempt, id, attempt->device);
	for (size_t i = 0; application->rc == 0 && i < profile->device_count; i++)
		if (i != attempt->device && profile->devices[i].op_count)
			application->rc = change_calls_of(application, attempt, id, i);
	return application->effect->refusal;
}

static bool has_kernels(const struct profile *profile, size_t device)
{
	const struct profile_device *what = &profile->devices[device];

	for (size_t i = what->first_op; i < what->first_op + what->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL || profile->ops[i].kind == OP_GRAPH)
			return true;
	return false;
}

static const char *change_ranks(struct job_application *application,
				const struct technique *technique)
{
	const struct profile *profile = application->job.model->profile;
	const char *refusal = technique->change_job(application);
	size_t count = 0;

	if (refusal != technique->refusal)
		return refusal;
	for (size_t i = 0; i < profile->device_count; i++)
		count += has_kernels(profile, i);
	return count == 1 ? no_kernels : refusal;
}

static int change(struct job_application *application, const struct attempt *attempt,
		  bool *is_changed)
{
	*is_changed = false;
	for (size_t i = 0; application->rc == 0 && i < attempt->count; i++) {
		enum technique_id id = attempt->ids[i];
		struct effect *effect = &attempt->parts[i].effect;
		uint64_t given = attempt->all->numbers[id];

		*effect = (struct effect){.is_assuming = techniques[id]->always_assumes};
		application->effect = effect;
		application->number = given ? given : attempt->number;
		if (techniques[id]->argument == ARGUMENT_NUMBER && !given)
			effect->number = attempt->number;
		effect->refusal = techniques[id]->change_job
					  ? change_ranks(application, techniques[id])
					  : change_calls(application, attempt, id);
		*is_changed = *is_changed || !effect->refusal;
		if (effect->refusal && attempt->needs_each)
			break;
	}
	return application->rc;
}

static bool is_refused(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->count; i++)
		if (attempt->parts[i].effect.refusal)
			return true;
	return false;
}

/* ---- bounds ---- */

/* What changes may be as short as the tasks say, and leaves its stream; collectives are as short, without waiting. */
static int describe_change(struct change *change, const struct job_application *application)
{
	const struct profile *profile = application->job.model->profile;
	int rc = change_begin(change, application->job.model, true);

	if (rc == 0)
		rc = change_begin_lanes(change, application->job.model, 1);
	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		double length_ns = application->job.tasks.items[i].length_ns;

		if (!application->is_changed[i] &&
		    application->job.tasks.items[i].meeting == TASK_NONE)
			continue;
		change->op_ns[i] = length_ns >= 1 ? (int64_t)length_ns : OP_GONE;
		if (application->is_changed[i])
			change->lanes[i] = 0;
	}
	return rc;
}

/* On no GPU may it be faster than its operations, SMs and copies allow: how long they are without waiting for other ranks
 * the tasks say. */
static int check_bounds(const struct prediction *prediction, const struct job_application *job,
			const struct attempt *attempt)
{
	const struct recorded_run *run = &attempt->all->run;
	struct application application = {.run = run};
	struct bound_terms terms = {0};
	int rc = describe_change(&application.change, job);

	for (size_t i = 0; i < attempt->count; i++)
		if (!attempt->parts[i].effect.refusal)
			terms.bounds |= techniques[attempt->ids[i]]->bound | BOUND_STAGED;
	for (size_t i = 0; rc == 0 && i < run->model->profile->device_count; i++) {
		struct bounds bounds;

		application.device = i;
		rc = bounds_find(&bounds, &application, &terms,
				 &(struct part){.places = attempt->all->places,
						.place_count = attempt->all->place_count});
		if (!attempt->all->places)
			bounds.place_ns = 0;
		bounds.steady_ns = 0;
		if (rc == 0 && !bounds_hold(&bounds, prediction))
			rc = -ERANGE;
	}
	change_free(&application.change);
	return rc;
}

/* ---- predictions ---- */

static double ratio(double before_ns, double after_ns)
{
	return after_ns > 0 ? before_ns / after_ns : 1;
}

static struct predicted_ratio ratio_of(double before_ns, double after_ns, double margin_ns)
{
	if (before_ns == after_ns)
		return (struct predicted_ratio){1, 1, 1};
	return (struct predicted_ratio){ratio(before_ns, after_ns),
					ratio(before_ns, after_ns + margin_ns),
					ratio(before_ns, fmax(after_ns - margin_ns, 1))};
}

static double spread_of(const struct attempt *attempt)
{
	double spread = 0;

	for (size_t i = 0; i < attempt->count; i++)
		if (!attempt->parts[i].effect.refusal)
			spread = fmax(spread, techniques[attempt->ids[i]]->spread);
	return hypot(spread, REPLAY_ERROR_MOST);
}

static void set_prediction(struct prediction *out, const struct simulated_times *before,
			   const struct simulated_times *after, const struct attempt *attempt)
{
	double spread = spread_of(attempt);

	*out = (struct prediction){
		.program = ratio_of(before->program_ns, after->program_ns,
				    spread * fmin(after->changed_ns, after->program_ns)),
		.place = ratio_of(before->place_ns, after->place_ns, spread * after->place_ns),
		.place_before_ns = llround(before->place_ns),
		.place_after_ns = llround(after->place_ns),
		.program_before_ns = llround(before->program_ns),
		.program_after_ns = llround(after->program_ns),
		.changed_before_ns = llround(before->changed_ns),
		.changed_after_ns = llround(after->changed_ns),
		.place_margin_ns = llround(spread * after->place_ns),
	};
	if (!before->steady_count || !after->steady_count)
		return;
	out->steady = ratio_of(before->steady_ns, after->steady_ns, spread * after->steady_ns);
	out->steady_before_ns = llround(before->steady_ns / (double)before->steady_count);
	out->steady_after_ns = llround(after->steady_ns / (double)after->steady_count);
}

/* As recorded, with the same meetings and shares of SMs. */
static int simulate_before(struct simulated_times *out, const struct attempt *attempt,
			   const struct job_places *places)
{
	struct job_application unchanged;
	int rc = application_open(&unchanged, attempt);

	if (rc == 0)
		rc = tasks_run(&unchanged.job.tasks);
	if (rc == 0)
		rc = simulated_times_measure(out, &unchanged.job, places, attempt->all,
					     attempt->device);
	application_close(&unchanged);
	return rc;
}

/* Returns 0, -ENOMEM, -ERANGE or -EDEADLK; out is all 0 where nothing changes. */
static int simulate(struct prediction *out, const struct attempt *attempt)
{
	struct job_application application;
	struct simulated_times before, after;
	struct job_places places = {.asked = {0}};
	bool is_changed = false;
	int rc = application_open(&application, attempt);

	*out = (struct prediction){0};
	if (rc == 0)
		rc = change(&application, attempt, &is_changed);
	if (rc == 0 && is_changed && !(attempt->needs_each && is_refused(attempt))) {
		rc = job_places_find(&places, &application, attempt->all);
		if (rc == 0)
			rc = tasks_run(&application.job.tasks);
		if (rc == 0)
			rc = simulated_times_measure(&after, &application.job, &places,
						     attempt->all, attempt->device);
		if (rc == 0)
			rc = simulate_before(&before, attempt, &places);
		if (rc == 0) {
			after.program_ns += application.setup_ns;
			set_prediction(out, &before, &after, attempt);
			rc = check_bounds(out, &application, attempt);
		}
	}
	job_places_free(&places);
	application_close(&application);
	return rc;
}

/* Whether one of them takes a number and was given none. */
static bool is_number_open(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->count; i++)
		if (techniques[attempt->ids[i]]->argument == ARGUMENT_NUMBER &&
		    !attempt->all->numbers[attempt->ids[i]])
			return true;
	return false;
}

#define TRIED_COUNT 6 /* 2 to TECHNIQUE_PARTS_MOST */

/* The fewest parts that bring nearly as much as any number of them: to the steady state, where no range is asked for. */
static int choose_number(struct attempt *attempt)
{
	bool is_steady = !attempt->all->places;
	double after_ns[TRIED_COUNT], best_ns = INFINITY;
	int rc = 0;

	for (int i = 0; i < TRIED_COUNT; i++)
		after_ns[i] = INFINITY;
	for (int i = 0; rc == 0 && i < TRIED_COUNT; i++) {
		struct prediction tried;

		attempt->number = 2ULL << i;
		rc = simulate(&tried, attempt);
		if (rc == 0)
			after_ns[i] = (double)(is_steady && tried.steady_before_ns
						       ? tried.steady_after_ns
						       : tried.place_after_ns);
		best_ns = fmin(best_ns, after_ns[i]);
		if (rc == -ERANGE || rc == -EDEADLK)
			rc = 0;
	}
	for (int i = TRIED_COUNT; i-- > 0;)
		if (after_ns[i] <= NEARLY_BEST * best_ns)
			attempt->number = 2ULL << i;
	return rc;
}

static void widen_ratio(struct predicted_ratio *out, const struct predicted_ratio *other,
			enum assumed_end end)
{
	if (end == ASSUMED_LEAST)
		out->low = fmin(out->low, other->low);
	else
		out->high = fmax(out->high, other->high);
}

/* The other ends of what is assumed widen the interval. */
static int widen(struct prediction *out, const struct attempt *middle, enum assumed_end end)
{
	struct what_if parts[TECHNIQUE_COUNT];
	struct attempt attempt = *middle;
	struct prediction other;
	int rc;

	attempt.end = end;
	attempt.parts = parts;
	rc = simulate(&other, &attempt);
	if (rc == -ERANGE || rc == -EDEADLK)
		return 0;
	if (rc < 0 || !(other.place.speedup > 0))
		return rc;
	widen_ratio(&out->program, &other.program, end);
	widen_ratio(&out->place, &other.place, end);
	if (other.steady_before_ns)
		widen_ratio(&out->steady, &other.steady, end);
	return 0;
}

static void refuse(struct attempt *attempt, const char *why)
{
	for (size_t i = 0; i < attempt->count; i++)
		if (!attempt->parts[i].effect.refusal)
			attempt->parts[i].effect.refusal = why;
}

/* Whether several GPUs have work. */
static bool is_job(const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->device_count; i++)
		count += profile->devices[i].op_count > 0;
	return count > 1;
}

static bool has_most(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->count; i++)
		if (techniques[attempt->ids[i]]->has_most && !attempt->parts[i].effect.refusal)
			return true;
	return false;
}

/* Whether a technique assumes what may hold in part only: most of those of jobs have the same low end. */
static bool has_least(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->count; i++)
		if ((techniques[attempt->ids[i]]->is_of_calls ||
		     techniques[attempt->ids[i]]->is_up_to) &&
		    attempt->parts[i].effect.is_assuming && !attempt->parts[i].effect.refusal)
			return true;
	return false;
}

int what_if_job(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		size_t count, const struct what_ifs *all, size_t device, bool needs_each)
{
	struct attempt attempt = {.all = all,
				  .ids = ids,
				  .count = count,
				  .device = device,
				  .end = ASSUMED_USUAL,
				  .needs_each = needs_each,
				  .parts = parts};
	int rc = 0;

	*out = (struct prediction){0};
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct what_if){0};
	if (!all->run.report || !is_job(all->run.model->profile)) {
		refuse(&attempt, no_job);
		return 0;
	}
	if (is_number_open(&attempt))
		rc = choose_number(&attempt);
	if (rc == 0)
		rc = simulate(out, &attempt);
	if (rc == -ERANGE || rc == -EDEADLK) {
		*out = (struct prediction){0};
		refuse(&attempt, rc == -ERANGE ? refused_impossible : endless);
		return 0;
	}
	if (rc == 0 && out->place.speedup > 0 && has_most(&attempt))
		rc = widen(out, &attempt, ASSUMED_MOST);
	if (rc == 0 && out->place.speedup > 0 && has_least(&attempt))
		rc = widen(out, &attempt, ASSUMED_LEAST);
	return rc;
}
