/*
 * keep_modules.c - code that was loaded stays loaded, and is found again in place of being compiled and loaded anew.
 *
 * A load of code that its process had loaded before is gone, with the host code before it that made or read that code.
 * So are unloads, and the wait right before one, which is for it.
 */
#include "techniques/techniques.h"

#include "analysis/statistics/jit.h"

static const char nothing_again[] =
	"no code is loaded a second time, or the recording does not tell: record again";

/* In place of loading; the code was made before it. */
static const struct call_change found_again = {.pause = PAUSE_GONE,
					       .host = COST_NONE,
					       .submission = SUBMITS_NOTHING};

/* The calls of one thread, as they change. */
struct keeping {
	struct application *application;
	const struct jit *jit;
	const struct profile *profile;
	uint64_t kept_count; /* loads that are gone */
	size_t first_call, end_call;
};

static void set_call(struct keeping *keeping, size_t call, uint8_t what)
{
	uint8_t *calls = keeping->application->change.calls;

	if (calls[call] != CALL_KEPT)
		return;
	calls[call] = what;
	if (call < keeping->first_call)
		keeping->first_call = call;
	if (call >= keeping->end_call)
		keeping->end_call = call + 1;
}

/* Whether somebody needs a wait besides, no recording tells: at the low end it stays. */
static void drop_unload(struct keeping *keeping, size_t call, size_t first)
{
	const struct model *model = keeping->application->run->model;

	set_call(keeping, call, CALL_DROPPED);
	if (keeping->application->end != ASSUMED_LEAST && call > first &&
	    model_call_class(model, call - 1) == CALL_SYNC)
		set_call(keeping, call - 1, CALL_DROPPED);
}

static void keep_thread(struct keeping *keeping, const struct profile_thread *thread)
{
	size_t first = thread->first_call, end = first + thread->call_count;
	uint8_t gone = change_number(&keeping->application->change, &found_again);

	for (size_t i = first; i < end; i++) {
		const struct jit_load *load = jit_load_of(keeping->jit, (uint32_t)i);

		if (load && load->is_again && !load->is_refused) {
			set_call(keeping, i, gone);
			keeping->kept_count++;
		} else if (jit_is_unload(keeping->profile, &keeping->profile->calls[i])) {
			drop_unload(keeping, i, first);
		}
	}
}

static bool is_loading_again(const struct jit *jit, const struct profile *profile, uint32_t thread)
{
	for (size_t i = 0; i < jit->load_count; i++)
		if (jit->loads[i].is_again && profile->calls[jit->loads[i].call].thread == thread)
			return true;
	return false;
}

static int change_run(struct application *application)
{
	const struct report *report = application->run->report;
	const struct profile *profile = application->run->model->profile;
	int rc = 0;

	for (size_t i = 0; report && report->jit && rc == 0 && i < profile->thread_count; i++) {
		struct keeping keeping = {.application = application,
					  .jit = report->jit,
					  .profile = profile,
					  .first_call = profile->call_count};

		if (!is_loading_again(report->jit, profile, (uint32_t)i))
			continue;
		keep_thread(&keeping, &profile->threads[i]);
		application->effect->changed_count += keeping.kept_count;
		application->effect->is_assuming = true;
		rc = application_keep_calls(application, keeping.first_call, keeping.end_call);
	}
	return rc;
}

const struct technique technique_keep_modules = {
	.id = "keep_modules",
	.option = "keep-modules",
	.help = "code that was loaded is kept, and neither compiled nor loaded again",
	.effect =
		"Loads of code that the process had loaded before are gone, with the host code right before them, "
		"in which it was compiled or read; so are unloads, and a wait right before one. Needs the "
		"modules in the recording.",
	.changed = "loads are gone",
	.assumes =
		"what the host did right before it loaded code again was to make or read that code, and a "
		"wait right before code is unloaded is for that; at the low end such waits stay",
	.refusal = nothing_again,
	.bound = BOUND_BUSY,
	.spread = SPREAD_HOST,
	.change_run = change_run,
};
