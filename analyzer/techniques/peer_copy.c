/*
 * peer_copy.c - what goes from GPU to GPU through the host becomes one copy between them.
 */
#include "techniques/job_application.h"
#include "techniques/techniques.h"

#include <math.h>

static const char nothing_staged[] = "no copy goes from GPU to GPU through the host";
static const char unknown_ranks[] =
	"which GPU sends to which through the host is not known: copies of several fit as the other half";
static const char no_rate[] =
	"what copies between these GPUs take nobody measured: rooflinectl ceilings --links does";

/* Bytes per second from the one GPU to the other, which receives; 0: nobody knows. */
static double peer_rate(const struct job_application *application, const struct staged_copy *pair)
{
	const struct profile *profile = application->job.model->profile;
	uint32_t device = profile_op_device(profile, &profile->ops[pair->in]);

	return costs_peer_rate(application->run->ceilings, profile->devices[device].name);
}

/* The copy to the host is gone, with what waits for it, and the other one follows what that one followed. */
static void change_pair(struct job_application *application, const struct staged_copy *pair)
{
	const struct profile *profile = application->job.model->profile;
	struct tasks *tasks = &application->job.tasks;
	const struct profile_op *in = &profile->ops[pair->in], *out = &profile->ops[pair->out];

	tasks->items[pair->out].length_ns = 0;
	tasks->items[pair->out].rest_ns = fmin(tasks->items[pair->out].rest_ns, 0);
	tasks->items[pair->in].length_ns =
		(double)profile->copies[in->detail].bytes / peer_rate(application, pair) * 1e9;
	tasks->items[pair->in].rest_ns = fmin(tasks->items[pair->in].rest_ns, 0);
	if (out->call != PROFILE_NONE)
		tasks->items[job_run_task_of_call(&application->job, out->call)].length_ns = 0;
	application->is_gone[pair->out] = true;
	application->is_changed[pair->out] = application->is_changed[pair->in] = true;
	application->rc = tasks_need(tasks, pair->in, pair->out, false, 0);
}

/* The host waits no more for copies that are gone. */
static void drop_waits(struct job_application *application)
{
	struct tasks *tasks = &application->job.tasks;

	for (size_t i = 0; i < tasks->need_count; i++) {
		struct need *need = &tasks->needs[i];

		if (need->other < application->job.model->profile->op_count &&
		    application->is_gone[need->other] && tasks->items[need->task].kind == TASK_HOST)
			need->other = TASK_NONE;
	}
}

static const char *change_job(struct job_application *application)
{
	const struct communication *communication = &application->job.communication;

	if (communication->unknown_count)
		return unknown_ranks;
	if (!communication->staged_count)
		return nothing_staged;
	for (size_t i = 0; i < communication->staged_count; i++)
		if (!(peer_rate(application, &communication->staged[i]) > 0))
			return no_rate;
	for (size_t i = 0; application->rc == 0 && i < communication->staged_count; i++)
		change_pair(application, &communication->staged[i]);
	drop_waits(application);
	application->effect->changed_count = communication->staged_count;
	return NULL;
}

const struct technique technique_peer_copy = {
	.id = "peer_copy",
	.option = "peer-copy",
	.help = "copies from GPU to GPU in place of two through the host",
	.effect =
		"A copy to the host, and the one that brings as many bytes from there to another GPU, become one copy "
		"between the GPUs, at the rate of peer_copy, or without that at 83% of the datasheet's NVLink. The host "
		"does not wait in between.",
	.changed = "copies through the host become peer copies",
	.assumes = "they are the same bytes, which the host does not need",
	.refusal = nothing_staged,
	.always_assumes = true,
	.has_ops = true,
	.has_lanes = true,
	.bound = BOUND_BUSY | BOUND_ENGINES | BOUND_STAGED,
	.spread = SPREAD_HOST,
	.change_job = change_job,
};
