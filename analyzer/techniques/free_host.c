/*
 * free_host.c - the host's own code between calls takes no time: a bound, where no change is known.
 *
 * The calls of a loop stay, with what they take and wait for.  What is left is what launching and the GPU need.  At the
 * low end the host's code stays as it was, as a recording does not show what of it can go.
 */
#include "techniques/techniques.h"

static const struct call_change at_once = {.pause = PAUSE_GONE};

static const char *change_loop(struct application *application, const struct loop *loop)
{
	uint8_t *calls = application->change.calls;
	uint8_t changed = change_number(&application->change, &at_once);

	/* what the host did before the loop is no part of it */
	for (size_t i = loop->first_call + 1; i < loop->first_call + loop->call_count; i++)
		if (calls[i] == CALL_KEPT && application->end != ASSUMED_LEAST)
			calls[i] = changed;
	application->effect->changed_count += loop->iteration_count;
	return NULL;
}

const struct technique technique_free_host = {
	.id = "free_host",
	.option = "free-host",
	.argument = ARGUMENT_RANGE,
	.help = "the host's own code between calls of loops takes no time: a bound",
	.effect =
		"The host makes each call of a loop as soon as the one before returns; calls take "
		"and wait as recorded. Shows what the launching thread's own code costs at most, "
		"whatever removes it.",
	.changed = "iterations have no code of the host's own between calls",
	.assumes =
		"none of the host's own code between calls is needed there; at the low end all of "
		"it stays",
	.refusal = refused_irregular,
	.always_assumes = true,
	.keeps_results = true,
	.is_shared = true,
	.is_blind_to_device_work = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_HOST,
	.change_loop = change_loop,
};
