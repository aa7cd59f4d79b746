/*
 * compiled_steps.c - a compiler makes one program of all steps: the host launches it once and reads nothing in between.
 *
 * jax.jit of a lax.scan is such a program.  Each thread's operations from the first step of the steady state to the last become
 * nodes of one graph, and all its other calls are gone: XLA frees memory, calls functions of the host and updates graphs
 * between the programs that it launches, and needs none of that within one.  At the low end each step is a program of its own,
 * and the host's time before it stays.  Operations take as long as recorded, although a compiler may fuse some of them.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"
#include "techniques/shared/usual_changes.h"

static const char nothing_repeats[] = "nothing is repeated for most of the run";

/* The host's code before a step stays. */
static const struct call_change own_launch = {.pause = PAUSE_KEPT,
					      .host = COST_GRAPH_LAUNCH,
					      .submission = SUBMITS_GRAPH,
					      .gap = COST_GRAPH_NODE_GAP};

static const struct steady_device *steady_device_of(const struct application *application)
{
	const struct report *report = application->run->report;

	return report && report->steady_state &&
			       report->steady_state->devices[application->device].is_found
		       ? &report->steady_state->devices[application->device]
		       : NULL;
}

/* Return the process of the loop; all its threads take part in the steps. */
static uint32_t process_of(const struct application *application,
			   const struct steady_device *steady)
{
	const struct report *report = application->run->report;
	const struct loop *loop = &report->steady_state->repeated.items[steady->loop.members[0]];

	return report->profile->threads[loop->thread].process;
}

/* The calls of a thread while the steady state lasts. */
struct stretch {
	size_t first, end;
};

static struct stretch stretch_of(const struct profile *profile, const struct profile_thread *thread,
				 const struct spans *when)
{
	int64_t start_ns = when->items[0].start_ns, end_ns = when->items[when->count - 1].end_ns;
	struct stretch stretch = {thread->first_call, thread->first_call + thread->call_count};

	while (stretch.first < stretch.end && profile->calls[stretch.first].start_ns < start_ns)
		stretch.first++;
	while (stretch.end > stretch.first && profile->calls[stretch.end - 1].start_ns >= end_ns)
		stretch.end--;
	return stretch;
}

/* A step begins with that call, and with what the host does since it submitted something last. */
static void launch_step(struct application *application, struct stretch stretch, size_t first)
{
	uint8_t *calls = application->change.calls;

	if (first < stretch.first || first >= stretch.end)
		return;
	calls[first] = change_number(&application->change, &own_launch);
	while (first > stretch.first && !call_is_submitting(application->run->model, first - 1))
		calls[--first] = CALL_KEPT;
}

static void launch_each_step(struct application *application, const struct steady_device *steady,
			     struct stretch stretch)
{
	const struct loops *loops = &application->run->report->steady_state->repeated;

	for (size_t i = 0; i < steady->loop.member_count; i++) {
		const struct loop *loop = &loops->items[steady->loop.members[i]];

		for (size_t j = 0; j < loop->iteration_count; j++)
			launch_step(application, stretch, loop->iterations[j]);
	}
}

/* Make one graph of the thread's calls.  Return how many of them submit something. */
static size_t compile(struct application *application, struct stretch stretch)
{
	uint8_t *calls = application->change.calls;
	uint8_t launch = change_number(&application->change, &graph_launch);
	uint8_t node = change_number(&application->change, &graph_node);
	size_t count = 0;

	for (size_t i = stretch.first; i < stretch.end; i++) {
		calls[i] = i == stretch.first ? launch : node;
		count += call_is_submitting(application->run->model, i);
	}
	return count;
}

static bool is_changed(const struct application *application, struct stretch stretch)
{
	for (size_t i = stretch.first; i < stretch.end; i++)
		if (application->change.calls[i] != CALL_KEPT)
			return true;
	return false;
}

/* Return true if another technique has changed a call of the steps, on any thread. */
static bool is_any_changed(const struct application *application,
			   const struct steady_device *steady, uint32_t process)
{
	const struct profile *profile = application->run->model->profile;

	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].process == process &&
		    is_changed(application,
			       stretch_of(profile, &profile->threads[i], &steady->when)))
			return true;
	return false;
}

static int change_run(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	const struct steady_device *steady = steady_device_of(application);
	uint32_t process = steady ? process_of(application, steady) : 0;
	int rc = 0;

	if (!steady || is_any_changed(application, steady, process))
		return 0;
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		struct stretch stretch = stretch_of(profile, &profile->threads[i], &steady->when);

		if (stretch.first == stretch.end || profile->threads[i].process != process)
			continue;
		application->effect->changed_count += compile(application, stretch);
		if (application->end == ASSUMED_LEAST)
			launch_each_step(application, steady, stretch);
		rc = application_keep_calls(application, stretch.first, stretch.end);
	}
	return rc;
}

const struct technique technique_compiled_steps = {
	.id = "compiled_steps",
	.option = "compile",
	.help = "all steps are one compiled program, as jax.jit of a lax.scan makes it",
	.effect =
		"What the host submits in the steady state are nodes of one graph, and its other calls there are gone. "
		"Operations take as long as recorded, although a compiler may fuse some.",
	.changed = "launches and copies are nodes",
	.assumes =
		"the host decides nothing in a step, and reads results after the last; at the low end each "
		"step is launched by itself, after the host's time before it",
	.refusal = nothing_repeats,
	.always_assumes = true,
	.is_blind_to_device_work = true,
	.moves_waits = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_LAUNCH,
	.change_run = change_run,
};
