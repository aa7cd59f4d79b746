#include "whatif/simulated_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/search.h"

static double program_ns(const struct job_run *job)
{
	double first_ns = INFINITY, last_ns = -INFINITY;

	for (size_t i = 0; i < job->model->profile->op_count; i++) {
		first_ns = fmin(first_ns, job->tasks.items[i].start_ns);
		last_ns = fmax(last_ns, job->tasks.items[i].end_ns);
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

static const struct steady_loop *steady_of(const struct what_ifs *all, size_t device)
{
	const struct steady_state *state = all->run.report->steady_state;

	return state && state->devices[device].is_found ? &state->devices[device].loop : NULL;
}

/* The usual iterations of the device's steady state. */
static int measure_steady(struct simulated_times *out, const struct job_run *job,
			  const struct what_ifs *all, size_t device)
{
	const struct steady_loop *steady = steady_of(all, device);
	const struct profile *profile = job->model->profile;
	struct op_ends ends = {0};
	int64_t *starts_ns;
	struct steady_usual usual = {0};
	int rc;

	if (!steady)
		return 0;
	starts_ns = malloc((profile->op_count + 1) * sizeof(*starts_ns));
	rc = starts_ns ? op_ends_open(&ends, profile) : -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		starts_ns[i] = job->origin_ns + llround(job->tasks.items[i].start_ns);
		rc = op_ends_set(&ends, i, job->origin_ns + llround(job->tasks.items[i].end_ns));
	}
	if (rc == 0)
		usual = steady_loop_usual(
			steady,
			&(struct looped_run){.profile = profile,
					     .submissions = &job->model->submissions,
					     .loops = &all->run.report->steady_state->repeated,
					     .op_start_ns = starts_ns,
					     .op_ends = &ends});
	out->steady_ns = (double)usual.ns;
	out->steady_count = usual.count;
	free(starts_ns);
	op_ends_free(&ends);
	return rc;
}

struct began {
	const struct spans *spans;
	int64_t ns;
};

static bool ends_later(size_t index, const void *context)
{
	const struct began *began = context;

	return began->spans->items[index].end_ns > began->ns;
}

/* From the first beginning to the last end of what began in the same of these moments of the recording, added up. */
static int measure_spans(double *out_ns, const struct job_run *job, const struct spans *spans)
{
	const struct profile_op *ops = job->model->profile->ops;
	struct stretch_ns {
		double first_ns, last_ns;
		bool is_any;
	} *stretches = calloc(spans->count + 1, sizeof(*stretches));
	int rc;

	*out_ns = 0;
	for (size_t i = 0; stretches && i < job->model->profile->op_count; i++) {
		const struct task *task = &job->tasks.items[i];
		size_t at = search_first(0, spans->count, ends_later,
					 &(struct began){spans, ops[i].start_ns});
		struct stretch_ns *stretch = &stretches[at];

		if (at == spans->count || spans->items[at].start_ns > ops[i].start_ns)
			continue;
		stretch->first_ns =
			stretch->is_any ? fmin(stretch->first_ns, task->start_ns) : task->start_ns;
		stretch->last_ns =
			stretch->is_any ? fmax(stretch->last_ns, task->end_ns) : task->end_ns;
		stretch->is_any = true;
	}
	for (size_t i = 0; stretches && i < spans->count; i++)
		*out_ns += stretches[i].last_ns - stretches[i].first_ns;
	rc = stretches ? 0 : -ENOMEM;
	free(stretches);
	return rc;
}

int simulated_times_measure(struct simulated_times *out, const struct job_run *job,
			    const struct job_places *places, const struct what_ifs *all,
			    size_t device)
{
	int rc;

	*out = (struct simulated_times){.program_ns = program_ns(job)};
	rc = measure_spans(&out->place_ns, job, &places->asked);
	if (rc == 0)
		rc = measure_spans(&out->changed_ns, job, &places->changed);
	return rc < 0 ? rc : measure_steady(out, job, all, device);
}

/* Occurrences of the range that was asked for: what began meanwhile, on whatever thread. */
static int find_range(struct spans *place, const struct what_ifs *all)
{
	const struct profile *profile = all->run.model->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->range_count; i++)
		if (!strcmp(profile->ranges[i].name, all->range))
			rc = spans_add(place, profile->ranges[i].start_ns,
				       profile->ranges[i].end_ns);
	return rc;
}

/* A loop that has something in it that changes: from its first call to the end of all that it submitted. */
static int add_loop(struct spans *place, const struct job_application *application,
		    const struct loop *loop)
{
	const struct model *model = application->job.model;
	const struct submissions *submissions = &model->submissions;
	const struct profile *profile = model->profile;
	size_t end = loop->first_call + loop->call_count;
	int64_t until_ns = profile->calls[end - 1].end_ns;
	bool is_changed = false;

	for (uint32_t i = submissions_first(submissions, loop->first_call);
	     i < submissions_first(submissions, end); i++) {
		uint32_t op = submissions_op(submissions, i);

		is_changed = is_changed || application->is_changed[op];
		until_ns = max_ns(until_ns, profile->ops[op].end_ns);
	}
	return is_changed ? spans_add(place, profile->calls[loop->first_call].start_ns, until_ns)
			  : 0;
}

/* A step that is repeated around loops, where something in it changes: what lies between these loops belongs to it. */
static int add_step(struct spans *place, const struct job_application *application,
		    const struct profile_device *slice, const struct steady_device *steady)
{
	const struct profile_op *ops = application->job.model->profile->ops;
	bool is_changed = false;
	size_t next = 0;
	int rc = 0;

	for (size_t i = slice->first_op; !is_changed && i < slice->first_op + slice->op_count; i++)
		is_changed = spans_covered_next(&steady->when, &next, ops[i].start_ns,
						ops[i].start_ns + 1) &&
			     application->is_changed[i];
	for (size_t i = 0; is_changed && rc == 0 && i < steady->when.count; i++)
		rc = spans_add(place, steady->when.items[i].start_ns, steady->when.items[i].end_ns);
	return rc;
}

static int add_steps(struct spans *place, const struct job_application *application,
		     const struct what_ifs *all)
{
	const struct steady_state *state = all->run.report->steady_state;
	const struct profile *profile = application->job.model->profile;
	int rc = 0;

	for (size_t i = 0; state && rc == 0 && i < state->device_count; i++)
		if (state->devices[i].is_found &&
		    state->devices[i].loop.members[0] >= state->loops.count)
			rc = add_step(place, application, &profile->devices[i], &state->devices[i]);
	return rc;
}

/* Loops in which something changes; without any, from the first change to the last. */
static int find_changed(struct spans *place, const struct job_application *application,
			const struct what_ifs *all)
{
	const struct profile *profile = application->job.model->profile;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	int rc = add_steps(place, application, all);

	for (size_t i = 0; rc == 0 && i < all->loops.count; i++)
		rc = add_loop(place, application, &all->loops.items[i]);
	for (size_t i = 0; !place->count && i < profile->op_count; i++)
		if (application->is_changed[i]) {
			first_ns = min_ns(first_ns, profile->ops[i].start_ns);
			last_ns = max_ns(last_ns, profile->ops[i].end_ns);
		}
	if (rc == 0 && !place->count && first_ns < last_ns)
		rc = spans_add(place, first_ns, last_ns);
	return rc;
}

int job_places_find(struct job_places *places, const struct job_application *application,
		    const struct what_ifs *all)
{
	int rc = all->range ? find_range(&places->asked, all)
			    : find_changed(&places->asked, application, all);

	if (rc == 0)
		rc = find_changed(&places->changed, application, all);
	spans_seal(&places->asked);
	spans_seal(&places->changed);
	return rc;
}

void job_places_free(struct job_places *places)
{
	spans_free(&places->asked);
	spans_free(&places->changed);
}
