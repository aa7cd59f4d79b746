/* Another run of the program: its times and what it had besides kernels. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice/next/context.h"
#include "advice/next/measurements.h"
#include "base/shell.h"
#include "techniques/shared/refusals.h"

int next_ceilings(struct next_context *context)
{
	const struct roofline *roofline = context->report->roofline;

	if (facts_can_predict(context->facts) ||
	    (roofline && roofline->has_ceilings && !roofline->is_datasheet))
		return 0;
	return next_add(
		context, STEP_ceilings,
		"no roofs and costs of this GPU were measured, and predictions need them: run it "
		"on the machine that made the recording",
		"rooflinectl ceilings");
}

/* Why counting leaves it open what a change would bring: nothing can be predicted, or what is advised is nothing where loops
 * that were counted by instrumented code are not judged.  NULL: it does not. */
static const char *disturbed_by_counting(const struct next_context *context)
{
	const struct predictor *predictor = &context->facts->what_ifs.predictor;

	if (!facts_can_predict(context->facts))
		return predictor->why_not;
	return !context->advice->count && predictor->unrecorded.share > UNTIMED_MOST
		       ? refused_untimed
		       : NULL;
}

/* Two runs, joined, do not disturb times. */
int next_apart(struct next_context *context)
{
	const char *why = disturbed_by_counting(context);
	char *path, *folder = NULL;
	int rc = -ENOMEM;

	if (!context->is_counted || !why || !context->report->roofline->has_ceilings ||
	    context->report->roofline->is_datasheet)
		return 0;
	if (asprintf(&path, "%s.analyzed", context->name) < 0)
		return -ENOMEM;
	folder = shell_path(path);
	if (folder)
		rc = next_add(
			context, STEP_apart,
			next_reason("%s is predicted (%s): runs apart give times that counting "
				    "does not disturb, and counters",
				    facts_can_predict(context->facts) ? "not all" : "nothing", why)
				.text,
			"rooflinectl analyze -o %s -- %s", folder, context->program);
	free(folder);
	free(path);
	return rc;
}

static bool has_graphs(const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile_op_graph(profile, &profile->ops[i]) || profile->ops[i].kind == OP_GRAPH)
			return true;
	return false;
}

static bool has_only_nodes(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].is_graph_level)
			return false;
	return has_graphs(profile) && !profile->graph_run;
}

int next_graphs(struct next_context *context)
{
	if (!next_waiting_for_more_ns(context) || !has_only_nodes(context->report->profile))
		return 0;
	return next_add_record(
		context, STEP_graphs, " --graphs=both", "graphs",
		next_reason(
			"the GPU looks idle for %s while it should have work, and the program "
			"launches graphs: what these launch on the device is seen where they are "
			"recorded as a whole",
			next_share_of(context, next_waiting_for_more_ns(context)).text)
			.text);
}

/* What kernels wait for on a page fault is in their times, whatever the counters say. */
int next_managed(struct next_context *context)
{
	if (!managed_memory_is_missing(context->report->profile))
		return 0;
	return next_add_record(
		context, STEP_managed, " --managed", "managed",
		"the program uses managed memory: page faults, which kernels and the "
		"host wait for, and what moved when");
}

int next_samples(struct next_context *context)
{
	const struct limit *limit = &context->limit;

	if (context->is_sampled)
		return 0;
	if (next_waiting_for_more_ns(context))
		return next_add_record(
			context, STEP_samples, " --sample", "sampled",
			next_reason("the GPU looks idle for %s while it should have work: samples "
				    "show whether it runs what it launched itself",
				    next_share_of(context, next_waiting_for_more_ns(context)).text)
				.text);
	if (!next_is_below_roofs(limit))
		return 0;
	return next_add_record(context, STEP_samples, " --sample", "sampled",
			       next_reason("samples show whether all SMs work on %s until it ends",
					   limit_kernel_name(limit, context->report).text)
				       .text);
}

int next_host(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	struct next_reason why;

	if (limit->kind != LIMIT_IDLE || limit->cause != GAP_HOST)
		return 0;
	why = next_reason("the GPU is idle for %s while the host runs its own code, outside "
			  "CUDA: a profile of the host tells which",
			  next_share_of(context, limit->cause_ns).text);
	if (context->is_python)
		return next_add(context, STEP_host, why.text, "py-spy record -n -o host.svg -- %s",
				context->program);
	return next_add(context, STEP_host, why.text, "perf record -g -- %s", context->program);
}
