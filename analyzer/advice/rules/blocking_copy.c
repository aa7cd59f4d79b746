/*
 * blocking_copy.c - copies that the host waits for, although their memory is pinned, stand between kernels.
 *
 * The host is inside the call until the copy has ended, so what follows is launched
 * late.  Fires when at least 20 such copies of more than GAP_DECISION_BYTES are
 * followed by idle time inside the call and in the launch after it that together
 * exceeds 10% of wall time.  Pageable memory is pageable_copy's, a few bytes that are
 * decided by host_decision's, and where iterations can take turns in several streams
 * copy_overlap has said it.
 */
#include "advice/rules/rules.h"

#include "base/sums.h"
#include "base/format.h"

#define AT_STAKE_RATIO 0.10
#define LEAST_COUNT 20

struct blocking {
	uint64_t count, bytes;
	int64_t copy_ns, launch_ns; /* idle after them, by cause */
};

static bool is_blocking(const struct facts *facts, const struct profile_op *op)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_copy *copy;

	if (op->kind != OP_COPY || profile_op_graph(profile, op) || op->call == PROFILE_NONE ||
	    facts_is_named(facts, &profile->calls[op->call], "Async"))
		return false;
	copy = &profile->copies[op->detail];
	if (copy->is_async)
		return false;
	return copy->bytes > GAP_DECISION_BYTES && copy->src_memory != MEMORY_PAGEABLE &&
	       copy->dst_memory != MEMORY_PAGEABLE &&
	       (copy->src_memory == MEMORY_PINNED || copy->dst_memory == MEMORY_PINNED);
}

static void add_gap(void *finding, const struct facts *facts, const struct gap *gap)
{
	struct blocking *found = finding;
	const struct profile *profile = facts->report->profile;
	const struct profile_op *before = &profile->ops[gap->before];

	if (!is_blocking(facts, before))
		return;
	found->count++;
	sum_add_count(&found->bytes, profile->copies[before->detail].bytes);
	found->copy_ns += gap->by_cause_ns[GAP_COPY];
	found->launch_ns += gap->by_cause_ns[GAP_LAUNCH];
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct blocking *found = facts_finding(facts, RULE_blocking_copy, device);

	return found->copy_ns + found->launch_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct blocking *found = facts_finding(facts, RULE_blocking_copy, device);
	int rc = advice_add_evidence(item,
				     "%s copies of pinned memory, %s, that the host waited for",
				     format_count(found->count).text,
				     format_bytes((double)found->bytes).text);

	(void)what_if;
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"after them the GPU was idle for %s while the call returned and %s "
			"in the launch that followed",
			format_ns((double)found->copy_ns).text,
			format_ns((double)found->launch_ns).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct blocking *found = facts_finding(facts, RULE_blocking_copy, device);
	double wall_ns = facts_wall_ns(facts, device);

	return facts->report->gaps->devices[device].by_cause_ns[GAP_COPY] > 0 &&
	       found->count >= LEAST_COUNT &&
	       (double)(found->copy_ns + found->launch_ns) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_blocking_copy = {
	.id = "blocking_copy",
	.strategy = "async_copy",
	.title = "Copy asynchronously, and launch what follows while the copy runs",
	.workload = "copy_overlap",
	.risk = "The host may touch the buffer only after its copy has ended: wait for an event of "
		"that copy where a result is needed, not for all.",
	.pattern = "cudaMemcpyAsync(host, device, bytes, cudaMemcpyDefault, stream);\n"
		   "cudaEventRecord(copied, stream);\n"
		   "kernel<<<grid, block, 0, stream>>>(...); /* queued behind the copy */\n"
		   "cudaEventSynchronize(copied); /* where the host reads, and not before */",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"result = output.to(\"cpu\", non_blocking=True) # into pinned memory\n"
				"copied = torch.cuda.Event()\n"
				"copied.record()\n"
				"# launch what comes next, and where the host reads:\n"
				"copied.synchronize()",
			.risk = "Read before the event, and the values are those of before the copy; "
				".cpu(), .numpy() and .item() wait for themselves.",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Launch the next step before you read the result of this one",
			.pattern =
				"result.copy_to_host_async()\n"
				"state, following = step(state, batch) # launched before the read\n"
				"print(np.asarray(result))",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Launch what follows before you read: .get(blocking=False)",
			.pattern = "result.get(out=pinned, blocking=False) # cupyx.empty_pinned\n"
				   "copied = stream.record()\n"
				   "# launch what comes next, and where the host reads:\n"
				   "copied.synchronize()",
		},
	.finding_size = sizeof(struct blocking),
	.add_gap = add_gap,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.said_by = "copy_overlap",
};
