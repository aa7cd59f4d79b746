/*
 * pinned_memory.c - copies of pageable memory take as long as those of pinned memory would.
 */
#include "techniques/techniques.h"

#include "techniques/shared/lengths.h"

static size_t pin_copies(struct application *application)
{
	return lengths_pin_copies(application, false);
}

static int change_run(struct application *application)
{
	return lengths_change(application, pin_copies);
}

const struct technique technique_pinned_memory = {
	.id = "pinned_memory",
	.option = "pinned",
	.help = "copies of pageable memory are of pinned memory",
	.effect =
		"Copies of pageable memory take the time that pinned memory would, at the rates of "
		"the ceilings; asynchronous ones return at once.",
	.changed = "copies are of pinned memory",
	.refusal = refused_nothing,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_COPIES,
	.change_run = change_run,
};
