/*
 * load_ahead.c - other threads make the batches that a loop copies to the device, ahead of time.
 *
 * Pauses of the host of more than GAP_HOST_WORK_NS before a copy to the device are gone, as a loader's workers make that batch;
 * the rest of the loop stays.  At the low end there is one worker: it takes as long for a batch as the host did, while the host
 * does the rest of a step, so that the longer of both sets the pace.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"

static const char loads_nothing[] =
	"no sequence of launches repeats in which the host works for long before a copy to the device";

static const struct call_change ready = {.pause = PAUSE_GONE};

/* The loads of one loop. */
struct loading {
	struct application *application;
	const struct loop *loop;
	int64_t work_ns; /* before copies to the device */
	size_t batch_count;
};

static bool copies_to_device(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);

	return op && model->profile->copies[op->detail].kind == COPY_TO_DEVICE;
}

/* Return the host's own time before calls (before, copy]; 0 where it is too short to be work. */
static int64_t work_before(const struct loading *loading, size_t before, size_t copy)
{
	const struct model *model = loading->application->run->model;
	int64_t work_ns = 0;

	for (size_t i = before + 1; i <= copy; i++)
		work_ns += call_pause_ns(model, i);
	return work_ns > LONG_HOST_NS ? work_ns : 0;
}

/* Calls visit with each such pause: calls (before, copy]. */
static void visit_loads(struct loading *loading,
			void (*visit)(struct loading *loading, size_t before, size_t copy))
{
	const struct model *model = loading->application->run->model;
	size_t end = loading->loop->first_call + loading->loop->call_count;
	size_t before = loading->loop->first_call;

	for (size_t i = before + 1; i < end; i++) {
		if (!call_is_submitting(model, i))
			continue;
		if (copies_to_device(model, i) && work_before(loading, before, i))
			visit(loading, before, i);
		before = i;
	}
}

static void add_work(struct loading *loading, size_t before, size_t copy)
{
	loading->work_ns += work_before(loading, before, copy);
	loading->batch_count++;
}

static void set_ready(struct loading *loading, size_t first, size_t end)
{
	struct change *change = &loading->application->change;
	uint8_t changed = change_number(change, &ready);

	for (size_t i = first; i < end; i++)
		if (change->calls[i] == CALL_KEPT)
			change->calls[i] = changed;
}

static void take_work(struct loading *loading, size_t before, size_t copy)
{
	set_ready(loading, before + 1, copy + 1);
}

/* One worker sets the pace: the host's other code between its calls is done while it works. */
static void keep_work_alone(struct loading *loading)
{
	const struct model *model = loading->application->run->model;
	size_t end = loading->loop->first_call + loading->loop->call_count;
	size_t before = loading->loop->first_call;

	for (size_t i = before + 1; i < end; i++) {
		if (!call_is_submitting(model, i))
			continue;
		if (!copies_to_device(model, i) || !work_before(loading, before, i))
			set_ready(loading, before + 1, i + 1);
		before = i;
	}
}

static int64_t loop_ns(const struct profile *profile, const struct loop *loop)
{
	return profile->calls[loop->first_call + loop->call_count - 1].end_ns -
	       profile->calls[loop->first_call].start_ns;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	struct loading loading = {.application = application, .loop = loop};

	visit_loads(&loading, add_work);
	if (!loading.batch_count)
		return loads_nothing;
	if (application->end == ASSUMED_LEAST &&
	    2 * loading.work_ns > loop_ns(application->run->model->profile, loop))
		keep_work_alone(&loading);
	else
		visit_loads(&loading, take_work);
	application->effect->changed_count += loading.batch_count;
	return NULL;
}

const struct technique technique_load_ahead = {
	.id = "load_ahead",
	.option = "load-ahead",
	.argument = ARGUMENT_RANGE,
	.help = "batches that loops copy to the device are made by other threads ahead of time",
	.effect =
		"Other threads do what the host does for more than 100 us before a copy to the device in a loop, while it works "
		"on the step before.",
	.changed = "copies to the device find their batch ready",
	.assumes =
		"the host's work before these copies makes what they copy, needs nothing of the step before, and has enough "
		"workers; at the low end there is one, and the longer of its work and the rest sets the pace",
	.refusal = loads_nothing,
	.always_assumes = true,
	.keeps_results = true,
	.is_shared = true,
	.is_blind_to_device_work = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_HOST,
	.change_loop = change_loop,
};
