/*
 * pinned_memory.c - copies of pageable memory take as long as those of pinned memory would.
 */
#include "techniques/techniques.h"

#include "techniques/shared/lengths.h"
#include "techniques/shared/pinning.h"

static const char few_copies[] =
	"only a few copies could earn back what pinning costs, which the ceilings lack: run rooflinectl "
	"ceilings again";
static const char costs_more[] = "pinning the memory would cost more than the copies save";

static size_t pin_copies(struct application *application)
{
	return lengths_pin_copies(application, false);
}

/* What it costs must be known where only a few copies can earn it back.  Of many it is paid once for all, and they also save
 * what the host does for each. */
static int change_run(struct application *application)
{
	struct pinning pinning;
	int rc = pinning_of(&pinning, application->run->model->profile, application->run->ceilings,
			    application->device);

	if (rc < 0)
		return rc;
	if (pinning.copy_count && pinning.copy_count < PINNING_FEW_COPIES && !pinning.cost_ns)
		application->effect->refusal = few_copies;
	else if (pinning.copy_count < PINNING_FEW_COPIES && pinning.cost_ns > 0 &&
		 pinning.cost_ns >= pinning.saved_ns)
		application->effect->refusal = costs_more;
	else
		rc = lengths_change(application, pin_copies);
	if (application->effect->changed_count)
		application->setup_ns += pinning.cost_ns;
	return rc;
}

const struct technique technique_pinned_memory = {
	.id = "pinned_memory",
	.option = "pinned",
	.help = "copies of pageable memory are of pinned memory",
	.effect =
		"Copies of pageable memory take the time that pinned memory would, at the rates of "
		"the ceilings; asynchronous ones return at once. Pinning the memory costs what the "
		"ceilings say, once: of fewer than ten copies for each, of more for each size and direction.",
	.changed = "copies are of pinned memory",
	.refusal = refused_nothing,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_COPIES,
	.spread = SPREAD_HOST,
	.change_run = change_run,
	.tried_by = "pinned",
};
