/*
 * pageable_copy.c - copies from or to pageable host memory, while no kernel runs.
 *
 * The driver stages them through its own pinned buffer: slower than the link,
 * and they cannot overlap with the host.  Fires when at least ten such copies
 * take more than 5% of wall time without a kernel running beside them.  Pinning
 * costs more than a copy (cudaHostAlloc against the copies in the report of
 * tests/recordings/streams), so a few copies at the start and the end do not
 * earn it back.
 */
#include "advice/rules/rules.h"

#include "analysis/spans.h"
#include "analysis/sums.h"
#include "base/format.h"

#define AT_STAKE_RATIO 0.05
#define REPEATED_COPY_COUNT 10

struct pageable {
	uint64_t count, bytes;
	int64_t copy_ns;    /* sum of durations */
	int64_t exposed_ns; /* union, without what kernels covered */
};

static bool is_pageable(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_copy *copy = &profile->copies[op->detail];

	return copy->src_memory == MEMORY_PAGEABLE || copy->dst_memory == MEMORY_PAGEABLE;
}

static int gather_copies(const struct facts *facts, const struct profile_device *device,
			 struct pageable *found, struct spans *spans)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_op *op = profile->ops + device->first_op;
	const struct profile_op *end = op + device->op_count;
	int rc = 0;

	for (; rc == 0 && op < end; op++) {
		if (op->kind != OP_COPY || !is_pageable(profile, op) ||
		    !facts_is_in_range(facts, op))
			continue;
		found->count++;
		sum_add_count(&found->bytes, profile->copies[op->detail].bytes);
		sum_add_ns(&found->copy_ns, op->end_ns - op->start_ns);
		rc = spans_add(spans, op->start_ns, op->end_ns);
	}
	spans_seal(spans);
	return rc;
}

/* How much of the copies kernels ran beside; operations come sorted by start. */
static int64_t covered_by_kernels(const struct profile *profile,
				  const struct profile_device *device, const struct spans *copies)
{
	const struct profile_op *op = profile->ops + device->first_op;
	const struct profile_op *end = op + device->op_count;
	int64_t covered_ns = 0, until_ns = INT64_MIN;

	for (; op < end; op++) {
		if ((op->kind != OP_KERNEL && op->kind != OP_GRAPH) || op->end_ns <= until_ns)
			continue;
		covered_ns +=
			spans_covered(copies, op->start_ns > until_ns ? op->start_ns : until_ns,
				      op->end_ns);
		until_ns = op->end_ns;
	}
	return covered_ns;
}

static int measure(const struct facts *facts, size_t index, struct pageable *found)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_device *device = &profile->devices[index];
	struct spans spans = {0};
	int rc = gather_copies(facts, device, found, &spans);

	if (rc == 0)
		found->exposed_ns = spans_covered(&spans, INT64_MIN, INT64_MAX) -
				    covered_by_kernels(profile, device, &spans);
	spans_free(&spans);
	return rc;
}

static int say(struct recommendation *item, const struct facts *facts, size_t device,
	       const struct what_if *what_if)
{
	struct pageable found = {0};
	int rc = measure(facts, device, &found);

	(void)what_if;
	if (rc == 0)
		rc = advice_say(item, "%s copies with pageable memory, %s in %s (%s)",
				format_count(found.count).text,
				format_bytes((double)found.bytes).text,
				format_ns((double)found.copy_ns).text,
				format_rate(found.copy_ns ? (double)found.bytes /
								    (double)found.copy_ns * 1e9
							  : 0)
					.text);
	if (rc == 0)
		rc = advice_say(item, "no kernel ran beside them for %s",
				format_ns((double)found.exposed_ns).text);
	return rc;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	struct pageable found = {0};

	return measure(facts, device, &found) == 0 ? found.exposed_ns : 0;
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	double wall_ns = facts_wall_ns(facts, device);
	struct pageable found = {0};

	return measure(facts, device, &found) == 0 && found.count >= REPEATED_COPY_COUNT &&
	       (double)found.exposed_ns > AT_STAKE_RATIO * wall_ns;
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
	.is_predicted = true,
	.predicted = STRATEGY_PINNED,
	.is_candidate = is_candidate,
	.is_promising = is_candidate,
	.stake_ns = stake_ns,
	.say = say,
};
