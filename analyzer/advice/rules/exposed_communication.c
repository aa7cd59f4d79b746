/*
 * exposed_communication.c - collectives and copies between GPUs run while nothing computes.
 *
 * A gradient is there long before the last one, and a copy engine needs no SM: in parts, on a stream of its own, most of
 * what is sent can run beside the computation of what is sent next.  Fires when re-simulating all ranks gains something; where
 * nothing can be predicted, when communication with no computation beside it takes at least a tenth of all ranks' time.  Told
 * of the job's main GPU.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define LEAST_WALL_SHARE 0.1

static const struct job *job_of(const struct facts *facts)
{
	return facts->report->job;
}

/* What waits for late ranks is not exposed for want of overlap. */
static int64_t exposed_ns(const struct job_times *times)
{
	return times->exposed_ns - times->exposed_wait_ns;
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	const struct job *job = job_of(facts);

	return job && job->rank_count > 1 && device == facts->main_device &&
	       exposed_ns(&job->all) > 0;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct job *job = job_of(facts);

	return is_candidate(facts, device) &&
	       (double)exposed_ns(&job->all) >= LEAST_WALL_SHARE * (double)job->all.wall_ns;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct job *job = job_of(facts);
	int64_t most_ns = 0;

	(void)device;
	for (size_t i = 0; job && i < job->rank_count; i++)
		if (exposed_ns(&job->ranks[i].times) > most_ns)
			most_ns = exposed_ns(&job->ranks[i].times);
	return most_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct job_times *all = &job_of(facts)->all;
	int rc = advice_add_evidence(
		item,
		"communication takes %s of all %zu ranks' time, %s of it with no computation beside it",
		format_percent((double)all->communication_ns, (double)all->wall_ns).text,
		job_of(facts)->rank_count,
		format_percent((double)exposed_ns(all), (double)all->communication_ns).text);

	(void)device;
	if (rc == 0 && what_if)
		rc = advice_add_evidence(item, "%s collectives and copies, in %s parts each",
					 format_count(what_if->effect.changed_count).text,
					 format_count(what_if->effect.number).text);
	return rc;
}

const struct rule rule_exposed_communication = {
	.id = "exposed_communication",
	.title = "Communicate in parts, on a second stream beside the computation of the next part",
	.workload = "nccl_bucketed",
	.risk = "Each part costs a launch and the latency of the links: too many are slower than one. Collectives take SMs "
		"from the computation beside them. All ranks need the same parts in the same order.",
	.pattern = "for (int part = 0; part < parts; part++) {\n"
		   "    backward<<<grid, block, 0, compute>>>(part);\n"
		   "    cudaEventRecord(ready[part], compute);\n"
		   "    cudaStreamWaitEvent(communicate, ready[part], 0);\n"
		   "    ncclAllReduce(in[part], out[part], n, type, ncclSum, comm, communicate);\n"
		   "}",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"model = DistributedDataParallel(model, bucket_cap_mb=25,\n"
				"                                gradient_as_bucket_view=True)\n"
				"# buckets are reduced during the backward pass: no all_reduce after it",
		},
	.technique = &technique_overlap_communication,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
