#include "replay/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "replay/dependencies.h"
#include "replay/graph_calls.h"
#include "replay/latencies.h"
#include "replay/recording_overhead.h"

/* ---- what the records say of an operation ---- */

int64_t model_ready_ns(const struct model *model, size_t op)
{
	const struct profile_op *ops = model->profile->ops;
	uint32_t predecessor = model_predecessor(model, op),
		 cross_stream = model_cross_stream(model, op);
	int64_t ready_ns = INT64_MIN;

	if (predecessor != PROFILE_NONE)
		ready_ns = ops[predecessor].end_ns;
	if (cross_stream != PROFILE_NONE && ops[cross_stream].end_ns > ready_ns)
		ready_ns = ops[cross_stream].end_ns;
	return ready_ns;
}

/* What no call submitted is not asked for. */
static int find_idle(void *context, size_t first, size_t end)
{
	struct model *model = context;
	const struct profile *profile = model->profile;

	for (size_t i = first; i < end; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			model->op_traits[i].is_idle = model_ready_ns(model, i) <=
						      profile->calls[profile->ops[i].call].start_ns;
	return 0;
}

/* ---- what reading counters took ---- */

static bool has_counted(const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].counted != NOT_COUNTED)
			return true;
	return false;
}

/* With counters, threads are held up by milliseconds, and always before code is unloaded, until its kernels' records were
 * read: nothing of that is the program's own. */
static bool holds_up(const struct profile_overhead *overhead, bool is_counted)
{
	return overhead->is_profiler && overhead->thread != PROFILE_NONE &&
	       (is_counted || !strcmp(overhead->name, "records of unloaded code"));
}

static bool is_held_up(const struct profile *profile, bool is_counted)
{
	for (size_t i = 0; i < profile->overhead_count; i++)
		if (holds_up(&profile->overheads[i], is_counted))
			return true;
	return false;
}

static int find_profiler(struct model *model)
{
	const struct profile *profile = model->profile;
	bool is_counted = has_counted(profile);
	int rc = 0;

	if (!is_held_up(profile, is_counted))
		return 0;
	model->profiler = calloc(profile->thread_count + 1, sizeof(*model->profiler));
	if (!model->profiler)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];

		if (holds_up(overhead, is_counted))
			rc = spans_add(&model->profiler[overhead->thread], overhead->start_ns,
				       overhead->end_ns);
	}
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		spans_seal(&model->profiler[i]);
	return rc;
}

/* ---- building ---- */

static int find_classes(void *context, size_t first, size_t end)
{
	struct model *model = context;
	const struct profile *profile = model->profile;

	for (size_t i = first; i < end; i++)
		model->call_traits[i].class =
			(uint8_t)profile->call_names[profile->calls[i].name].call_class & 0xf;
	return 0;
}

static int allocate(struct model *model)
{
	const struct profile *profile = model->profile;

	model->call_traits = calloc(profile->call_count + 1, sizeof(*model->call_traits));
	model->graph_calls = calloc(profile->call_name_count + 1, 1);
	model->devices = calloc(profile->device_count + 1, sizeof(*model->devices));
	model->op_traits = calloc(profile->op_count + 1, sizeof(*model->op_traits));
	if (near_numbers_open(&model->predecessors, profile->op_count) < 0 || !model->call_traits ||
	    !model->op_traits || !model->devices || !model->graph_calls)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_name_count; i++)
		model->graph_calls[i] = (uint8_t)graph_call_of_name(&profile->call_names[i]);
	(void)worker_slices(profile->call_count, MODEL_SLICE, find_classes, model);
	return submissions_find(&model->submissions, profile);
}

static int build(struct model *model)
{
	int rc = allocate(model);

	if (rc == 0)
		rc = dependencies_find(model);
	if (rc == 0)
		rc = find_profiler(model);
	if (rc < 0)
		return rc;
	if (!has_counted(model->profile)) /* else launches wait for counters to be read */
		rc = untraced_launches_find(&model->untraced, model);
	if (rc < 0)
		return rc;
	overhead_classify(model);
	(void)worker_slices(model->profile->op_count, MODEL_SLICE, find_idle, model);
	return latencies_measure(model);
}

int model_build(struct model **out, const struct profile *profile, struct err *err)
{
	struct model *model = calloc(1, sizeof(*model));
	int rc = -ENOMEM;

	if (model) {
		model->profile = profile;
		rc = build(model);
	}
	if (rc < 0) {
		model_free(model);
		return err_set(err, rc, "out of memory for the model of the run");
	}
	*out = model;
	return 0;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	submissions_free(&model->submissions);
	untraced_launches_free(&model->untraced);
	free(model->order);
	free(model->call_traits);
	free(model->graph_calls);
	free(model->awaited);
	marks_free(&model->waiting);
	near_numbers_free(&model->predecessors);
	near_numbers_free(&model->cross_streams);
	marks_free(&model->crossing);
	free(model->op_traits);
	for (size_t i = 0; model->profiler && i < model->profile->thread_count; i++)
		spans_free(&model->profiler[i]);
	free(model->profiler);
	if (model->profile)
		latencies_free(model->devices, model->profile->device_count);
	free(model);
}
