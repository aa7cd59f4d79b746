/*
 * pageable_copy.c - copies from or to pageable host memory, while no kernel runs.
 *
 * The driver stages them through its own pinned buffer: slower than the link,
 * and they cannot overlap with the host.  Fires when at least ten such copies
 * of what repeats, or of a program that repeats nothing, take more than 5% of wall time without a kernel running beside them, and
 * pinning them, which costs something as well (techniques/shared/pinning.h), is predicted
 * to gain.  Others are one_time_copy's.
 */
#include "advice/rules/rules.h"

#include "base/sums.h"
#include "base/format.h"
#include "base/ns.h"
#include "techniques/shared/pinning.h"

#define AT_STAKE_RATIO 0.05

struct pageable {
	uint64_t count, bytes;
	int64_t copy_ns;			   /* sum of durations */
	int64_t exposed_ns;			   /* union, without what kernels covered */
	int64_t copies_until_ns, kernels_until_ns; /* the last end of those until now */
};

static bool is_pageable(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_copy *copy = &profile->copies[op->detail];

	return copy->src_memory == MEMORY_PAGEABLE || copy->dst_memory == MEMORY_PAGEABLE;
}

static int64_t length_ns(int64_t from_ns, int64_t until_ns)
{
	return until_ns > from_ns ? until_ns - from_ns : 0;
}

/* Who asks about a range wants to know of what is in it, repeated or not. */
static bool is_wanted(const struct facts *facts, const struct profile_op *op)
{
	const struct profile *profile = facts->report->profile;
	bool repeats = facts_repeats(facts, op) ||
		       !facts->devices[profile_op_device(profile, op)].is_repeating;

	return is_pageable(profile, op) && facts_is_in_range(facts, op) &&
	       (facts->what_ifs.places || repeats);
}

static void add_copy(struct pageable *found, const struct profile *profile,
		     const struct profile_op *op)
{
	int64_t from_ns = max_ns(op->start_ns, found->copies_until_ns);

	found->count++;
	sum_add_count(&found->bytes, profile->copies[op->detail].bytes);
	sum_add_ns(&found->copy_ns, op->end_ns - op->start_ns);
	found->exposed_ns += length_ns(from_ns, op->end_ns) -
			     length_ns(from_ns, min_ns(op->end_ns, found->kernels_until_ns));
	found->copies_until_ns = max_ns(found->copies_until_ns, op->end_ns);
}

static void add_kernel(struct pageable *found, const struct profile_op *op)
{
	int64_t from_ns = max_ns(op->start_ns, found->kernels_until_ns);

	found->exposed_ns -= length_ns(from_ns, min_ns(op->end_ns, found->copies_until_ns));
	found->kernels_until_ns = max_ns(found->kernels_until_ns, op->end_ns);
}

/* Operations come by start: of those before one, only until when they last together matters to it. */
static int find(void *finding, const struct facts *facts, size_t index)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_device *device = &profile->devices[index];
	const struct profile_op *op = profile->ops + device->first_op;
	const struct profile_op *end = op + device->op_count;
	struct pageable *found = finding;

	found->copies_until_ns = found->kernels_until_ns = INT64_MIN;
	for (; op < end; op++)
		if (op->kind == OP_KERNEL || op->kind == OP_GRAPH)
			add_kernel(found, op);
		else if (op->kind == OP_COPY && is_wanted(facts, op))
			add_copy(found, profile, op);
	return 0;
}

static const struct pageable *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_pageable_copy, device);
}

static int add_cost(struct recommendation *item, const struct facts *facts, size_t device)
{
	struct pinning pinning;
	int rc = pinning_of(&pinning, facts->report->profile, facts->report->ceilings, device);

	if (rc < 0)
		return rc;
	if (!pinning.cost_ns)
		return advice_add_evidence(item,
					   "what pinning costs was not measured on this GPU's "
					   "machine: run rooflinectl ceilings again");
	return advice_add_evidence(item, "pinning %s once takes about %s",
				   format_bytes(pinning.bytes).text,
				   format_ns(pinning.cost_ns).text);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct pageable *found = found_on(facts, device);
	int rc;

	rc = advice_add_evidence(item, "%s copies with pageable memory, %s in %s (%s)",
				 format_count(found->count).text,
				 format_bytes((double)found->bytes).text,
				 format_ns((double)found->copy_ns).text,
				 format_rate(found->copy_ns ? (double)found->bytes /
								      (double)found->copy_ns * 1e9
							    : 0)
					 .text);
	if (rc == 0)
		rc = advice_add_evidence(item, "no kernel ran beside them for %s",
					 format_ns((double)found->exposed_ns).text);
	if (rc == 0 && what_if)
		rc = add_cost(item, facts, device);
	return rc;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->exposed_ns;
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	double wall_ns = facts_wall_ns(facts, device);
	const struct pageable *found = found_on(facts, device);

	return found->count >= PINNING_FEW_COPIES &&
	       (double)found->exposed_ns > AT_STAKE_RATIO * wall_ns;
}

/* What is predicted is what pinning alone brings; that copies can then run beside kernels comes on top. */
const struct rule rule_pageable_copy = {
	.id = "pageable_copy",
	.title = "Copy from and to pinned host memory, asynchronously, beside the kernels",
	.risk = "Pinned memory is taken from the whole machine and slow to allocate: once, "
		"outside of loops. An asynchronous copy must have ended before the host "
		"touches its buffer.",
	.pattern = "cudaMallocHost(&host, bytes); /* once */\n"
		   "cudaMemcpyAsync(device, host, bytes, cudaMemcpyDefault, copy_stream);\n"
		   "cudaEventRecord(copied, copy_stream);\n"
		   "cudaStreamWaitEvent(compute_stream, copied);",
	.in[FRAMEWORK_pytorch] =
		{
			.title =
				"Copy from pinned memory, asynchronously: DataLoader(pin_memory=True), non_blocking=True",
			.pattern = "loader = DataLoader(data, pin_memory=True, num_workers=4)\n"
				   "for batch in loader:\n"
				   "    batch = batch.to(\"cuda\", non_blocking=True)",
			.risk = "non_blocking=True is asynchronous from pinned memory only: "
				"pin_memory=True, or tensor.pin_memory() once. Pinned memory is taken "
				"from the whole machine. To the host: wait for an event before the "
				"result is read.",
		},
	.in[FRAMEWORK_jax] =
		{
			.title =
				"Put the next batch on the GPU while this one computes: jax.device_put",
			.pattern = "following = jax.device_put(next(batches)) # returns at once\n"
				   "state, loss = step(state, current) # meanwhile\n"
				   "current = following",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Copy from and to pinned memory: cupyx.empty_pinned",
			.pattern =
				"host = cupyx.empty_pinned(x.shape, x.dtype) # in place of numpy.empty\n"
				"with stream:\n"
				"    x.set(host) # asynchronous from pinned memory\n"
				"    y.get(out=result, blocking=False) # result: pinned, too",
			.risk = "Pinned memory is taken from the whole machine. Wait for the stream before the host reads the result.",
		},
	.in[FRAMEWORK_numba] =
		{
			.title = "Keep arrays on the device and copy through pinned memory",
			.pattern =
				"host = cuda.pinned_array(shape, dtype) # in place of numpy.empty\n"
				"x = cuda.to_device(host, stream=stream)\n"
				"kernel[blocks, threads, stream](x, y) # device arrays: nothing is copied\n"
				"y.copy_to_host(result, stream=stream)",
			.risk = "Pinned memory is taken from the whole machine. Wait for the stream before the host reads the result.",
		},
	.finding_size = sizeof(struct pageable),
	.find = find,
	.technique = &technique_pinned_memory,
	.is_candidate = is_candidate,
	.is_promising = is_candidate,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
};
