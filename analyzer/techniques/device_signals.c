/*
 * device_signals.c - GPUs hand over to each other by signals in memory, where the host waited and launched.
 */
#include "techniques/device_signals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/ns.h"
#include "techniques/job_application.h"
#include "techniques/techniques.h"

static const char nothing_handed[] =
	"no host waits for a short copy between GPUs before the next work is launched";
static const char no_signal[] =
	"what a signal between these GPUs takes nobody measured: rooflinectl ceilings --links does";

/* Of a GPU, until now. */
struct handed {
	uint32_t last;	  /* operation, PROFILE_NONE: none */
	uint32_t arrived; /* copy to it since then, likewise */
	bool is_sender;	  /* the last one was such a copy */
};

/* By operation: when a host first had waited for the short copy to another GPU that it is; INT64_MAX: none did. */
static int64_t *find_handed(const struct job_application *application, size_t *count)
{
	const struct model *model = application->job.model;
	const struct profile *profile = model->profile;
	int64_t *handed_ns = calloc(profile->op_count + 1, sizeof(*handed_ns));

	*count = 0;
	for (size_t i = 0; handed_ns && i < profile->op_count; i++)
		handed_ns[i] = INT64_MAX;
	for (size_t i = 0; handed_ns && i < profile->call_count; i++) {
		uint32_t awaited = model_awaited(model, i);

		if (awaited == PROFILE_NONE ||
		    job_application_work(application, awaited) != WORK_PEER ||
		    profile->copies[profile->ops[awaited].detail].bytes > SIGNALS_MOST_BYTES)
			continue;
		*count += handed_ns[awaited] == INT64_MAX;
		handed_ns[awaited] = min_ns(handed_ns[awaited], profile->calls[i].end_ns);
	}
	return handed_ns;
}

/* Stores have to have arrived before the signal may: there and back, and then there.  At the high end it comes with them. */
#define WAYS 3

/* From the first store of a kernel until a kernel on the other GPU has seen the signal behind them. */
static double hand_over_ns(const struct job_application *application, uint64_t bytes,
			   double signal_ns)
{
	const struct ceilings *ceilings = application->run->ceilings;
	double measured_ns = ceilings_ns_at(ceilings, CEILING_nvshmem_store_signal, bytes);
	double rate = costs_peer_rate(ceilings, ""); /* as measured, or not at all */

	if (application->end != ASSUMED_MOST && measured_ns > 0)
		return measured_ns;
	if (application->end != ASSUMED_MOST)
		signal_ns *= WAYS;
	return signal_ns + (rate > 0 ? (double)bytes / rate * 1e9 : 0);
}

/* The copy becomes stores of the kernel before it, and a signal behind them. */
static void change_copy(struct job_application *application, uint32_t op, double signal_ns)
{
	const struct profile *profile = application->job.model->profile;
	uint64_t bytes = profile->copies[profile->ops[op].detail].bytes;

	application->job.tasks.items[op].length_ns = hand_over_ns(application, bytes, signal_ns);
}

/* It waits on the GPU, and for no launch. */
static int follow(struct job_application *application, uint32_t op, const struct handed *handed)
{
	struct tasks *tasks = &application->job.tasks;
	int rc = 0;

	tasks->items[op].rest_ns = 0;
	application->is_changed[op] = application->is_gone[op] = true;
	if (handed->last != PROFILE_NONE)
		rc = tasks_need(tasks, op, handed->last, false, 0);
	if (rc == 0 && handed->arrived != PROFILE_NONE)
		rc = tasks_need(tasks, op, handed->arrived, false, 0);
	return rc;
}

/* What waits on the GPU now waits for no launch, and goes on at once. */
static void drop_launches(struct job_application *application)
{
	struct tasks *tasks = &application->job.tasks;
	size_t op_count = application->job.model->profile->op_count;

	for (size_t i = 0; i < tasks->need_count; i++) {
		struct need *need = &tasks->needs[i];

		if (need->task >= op_count || !application->is_gone[need->task] ||
		    need->other == TASK_NONE)
			continue;
		need->lag_ns = 0;
		if (tasks->items[need->other].kind == TASK_HOST)
			need->other = TASK_NONE;
	}
}

/* An operation is launched, or a host has waited for a copy and tells others: in this order one can be for the other. */
struct moment {
	int64_t ns;
	uint32_t op;
	bool is_handed;
};

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static size_t gather(struct moment *moments, const struct profile *profile,
		     const int64_t *handed_ns)
{
	size_t count = 0;

	for (uint32_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		moments[count++] =
			(struct moment){op->call != PROFILE_NONE ? profile->calls[op->call].start_ns
								 : op->start_ns,
					i, false};
		if (handed_ns[i] != INT64_MAX)
			moments[count++] = (struct moment){handed_ns[i], i, true};
	}
	qsort(moments, count, sizeof(*moments), compare_moments);
	return count;
}

static int launch(struct job_application *application, struct handed *own, uint32_t op,
		  bool is_sent, double signal_ns)
{
	int rc = 0;

	if (own->last != PROFILE_NONE &&
	    (is_sent || own->is_sender || own->arrived != PROFILE_NONE)) {
		rc = follow(application, op, own);
		application->effect->changed_count += is_sent;
	}
	if (is_sent)
		change_copy(application, op, signal_ns);
	else
		own->arrived = PROFILE_NONE;
	own->last = op;
	own->is_sender = is_sent;
	return rc;
}

static int change_ops(struct job_application *application, const int64_t *handed_ns,
		      double signal_ns)
{
	const struct profile *profile = application->job.model->profile;
	struct moment *moments = calloc(2 * profile->op_count + 1, sizeof(*moments));
	struct handed *devices = calloc(profile->device_count + 1, sizeof(*devices));
	int rc = moments && devices ? 0 : -ENOMEM;
	size_t count = rc == 0 ? gather(moments, profile, handed_ns) : 0;

	for (size_t i = 0; rc == 0 && i < profile->device_count; i++)
		devices[i] = (struct handed){PROFILE_NONE, PROFILE_NONE, false};
	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct profile_op *op = &profile->ops[moments[i].op];

		if (moments[i].is_handed)
			devices[profile->copies[op->detail].dst_device].arrived = moments[i].op;
		else
			rc = launch(application, &devices[profile_op_device(profile, op)],
				    moments[i].op, handed_ns[moments[i].op] != INT64_MAX,
				    signal_ns);
	}
	free(moments);
	free(devices);
	return rc;
}

static const char *change_job(struct job_application *application)
{
	double signal_ns = ceilings_at(application->run->ceilings, CEILING_peer_signal, 0);
	size_t count;
	int64_t *handed_ns = find_handed(application, &count);

	application->rc = handed_ns ? 0 : -ENOMEM;
	if (application->rc == 0 && count >= SIGNALS_LEAST_COUNT && signal_ns > 0) {
		application->rc = change_ops(application, handed_ns, signal_ns);
		drop_launches(application);
	}
	free(handed_ns);
	if (count >= SIGNALS_LEAST_COUNT && !(signal_ns > 0))
		return no_signal;
	return application->effect->changed_count ? NULL : nothing_handed;
}

const struct technique technique_device_signals = {
	.id = "device_signals",
	.option = "signals",
	.help = "GPUs hand over to each other by signals in memory, in place of hosts that wait and launch",
	.effect =
		"A short copy between GPUs for which a host waits becomes stores and a signal of the kernel before it. These "
		"take nvshmem_store_signal for their bytes; where that was not measured peer_signal three times, as the stores "
		"have to have arrived before the signal is sent: there, back, and there; at the high end the signal comes with "
		"the data. What follows it on either GPU waits there, and for no "
		"launch.",
	.changed = "copies between GPUs become stores and signals",
	.assumes = "hosts do nothing else in between than wait for each other",
	.refusal = nothing_handed,
	.always_assumes = true,
	.has_most = true,
	.has_ops = true,
	.has_lanes = true,
	.bound = BOUND_BUSY | BOUND_ENGINES | BOUND_STAGED,
	.spread = SPREAD_LAUNCH,
	.change_job = change_job,
};
