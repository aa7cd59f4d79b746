/*
 * dependent_launch.c - short kernels follow one another at once, and the GPU itself takes the time between them.
 *
 * A kernel that is launched dependently (programmatic dependent launch) is set up while the one before it still runs, and
 * may do there what needs none of its results.  Fires on GPUs that can, from compute capability 9.0 on, when re-simulating
 * the loops so gains something, at the low end of the interval, too; where a graph is recommended as well, when it gains more than that by more than runs differ.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define LEAST_MAJOR 9

static const enum rule_number simpler[] = {RULE_launch_bound_graph, RULE_unroll_graph, RULE_COUNT};

/* Of the loop with most time; its code waits for the kernel before, if that has been launched so. */
static bool waits_itself(const struct facts *facts, size_t device, const struct loop *loop)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_device *at = &profile->devices[device];
	const struct submissions *submissions = &facts->what_ifs.run.model->submissions;
	uint32_t end = submissions_first(submissions, loop->first_call + loop->call_count);

	for (uint32_t i = submissions_first(submissions, loop->first_call); i < end; i++) {
		const struct profile_op *op = &profile->ops[submissions_op(submissions, i)];
		const struct profile_machine_code *code;

		if (op->kind != OP_KERNEL)
			continue;
		code = profile_machine_code(profile, profile->signatures[op->detail].kernel,
					    10 * at->compute_major + at->compute_minor);
		return code && code->dependency_wait_count;
	}
	return false;
}

static int add_gaps(struct recommendation *item, const struct ceilings *ceilings)
{
	return advice_add_evidence(
		item,
		"on this GPU the gap between two kernels is %s, and %s where they are launched so",
		format_ns(ceilings_at(ceilings, CEILING_kernel_gap, 0)).text,
		format_ns(ceilings_at(ceilings, CEILING_dependent_gap, 0)).text);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	int rc = advice_add_evidence(item, "%s kernels follow another one in their stream",
				     format_count(what_if->effect.changed_count).text);

	if (rc == 0)
		rc = add_gaps(item, facts->report->ceilings);
	if (rc == 0 && waits_itself(facts, device, what_if->effect.largest))
		rc = advice_add_evidence(item,
					 "their machine code waits for the kernel before already: "
					 "only their launches lack the attribute");
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			what_if->effect.is_assuming
				? "what loads they have above that wait tells what part of them "
				  "runs beside the kernel before"
				: "what they can do before they need results of it comes on top");
	return rc;
}

/* Without the ceiling the technique knows no gap at all, which is too good. */
static bool is_candidate(const struct facts *facts, size_t device)
{
	return facts->report->profile->devices[device].compute_major >= LEAST_MAJOR &&
	       facts->report->ceilings &&
	       ceilings_get(facts->report->ceilings, CEILING_dependent_gap, 0);
}

const struct rule rule_dependent_launch = {
	.id = "dependent_launch",
	.title = "Launch kernels so that they are set up while the one before still runs",
	.workload = "dependent_launch",
	.risk = "Before it waits a kernel may read only what no kernel of the stream writes, and write nothing. "
		"Every kernel of the chain must wait. A copy or a memset in between ends the overlap.",
	.pattern = "/* in the kernel: */\n"
		   "cudaTriggerProgrammaticLaunchCompletion(); /* the next one may begin */\n"
		   "/* what needs nothing of the kernel before: weights, indexes */\n"
		   "cudaGridDependencySynchronize(); /* before a result of it is read */\n"
		   "/* its launch, by cudaLaunchKernelEx: */\n"
		   "attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
		   "attribute.val.programmaticStreamSerializationAllowed = 1;",
	.technique = &technique_dependent_launch,
	.simpler = simpler,
	.needs_low = true,
	.simpler_times = LEAST_PROGRAM_SPEEDUP,
	.is_candidate = is_candidate,
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
