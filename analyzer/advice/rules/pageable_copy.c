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

#include <errno.h>

#define AT_STAKE_RATIO 0.05
#define REPEATED_COPY_COUNT 10
#define MEMORY_PAGEABLE 1 /* CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE */

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

static int gather_copies(const struct profile *profile, const struct profile_device *device,
			 struct pageable *found, struct spans *spans)
{
	const struct profile_op *op = profile->ops + device->first_op;
	const struct profile_op *end = op + device->op_count;
	int rc = 0;

	for (; rc == 0 && op < end; op++) {
		if (op->kind != OP_COPY || !is_pageable(profile, op))
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

static int measure(const struct profile *profile, const struct profile_device *device,
		   struct pageable *found)
{
	struct spans spans = {0};
	int rc = gather_copies(profile, device, found, &spans);

	if (rc == 0)
		found->exposed_ns = spans_covered(&spans, INT64_MIN, INT64_MAX) -
				    covered_by_kernels(profile, device, &spans);
	spans_free(&spans);
	return rc;
}

static int recommend(const struct facts *facts, struct advice *advice, size_t device,
		     const struct pageable *found, const struct what_if *what_if)
{
	struct recommendation *item = advice_add(advice, facts, device, found->exposed_ns);
	int rc;

	if (!item)
		return -ENOMEM;
	item->id = "pageable_copy";
	item->strategy = "pinned_memory";
	item->title = "Copy from and to pinned host memory, asynchronously, beside the kernels";
	item->risk = "Pinned memory is taken from the whole machine and slow to allocate: once, "
		     "outside of loops. An asynchronous copy must have ended before the host "
		     "touches its buffer.";
	item->pattern = "cudaMallocHost(&host, bytes); /* once */\n"
			"cudaMemcpyAsync(device, host, bytes, cudaMemcpyDefault, copy_stream);\n"
			"cudaEventRecord(copied, copy_stream);\n"
			"cudaStreamWaitEvent(compute_stream, copied);";
	rc = advice_say(item, "%s copies with pageable memory, %s in %s (%s)",
			format_count(found->count).text, format_bytes((double)found->bytes).text,
			format_ns((double)found->copy_ns).text,
			format_rate(found->copy_ns
					    ? (double)found->bytes / (double)found->copy_ns * 1e9
					    : 0)
				.text);
	if (rc == 0)
		rc = advice_say(item, "no kernel ran beside them for %s",
				format_ns((double)found->exposed_ns).text);
	return rc == 0 && facts_can_predict(facts) ? advice_predict(item, what_if) : rc;
}

/* What is predicted is what pinning alone brings; that copies can then run beside kernels comes on top. */
static int look(const struct facts *facts, struct advice *advice, size_t device)
{
	const struct report *report = facts->report;
	struct pageable found = {0};
	struct what_if what_if = {0};
	int rc = measure(report->profile, &report->profile->devices[device], &found);

	if (rc < 0 || found.count < REPEATED_COPY_COUNT || facts_is_computing(facts, device) ||
	    (double)found.exposed_ns <=
		    AT_STAKE_RATIO * (double)report->timeline->devices[device].wall_ns)
		return rc;
	if (facts_can_predict(facts)) {
		rc = what_if_pinned(&what_if, &facts->what_ifs, device);
		if (rc < 0 || !facts_is_worth(facts, &what_if))
			return rc;
	}
	return recommend(facts, advice, device, &found, &what_if);
}

int rule_pageable_copy(const struct facts *facts, struct advice *advice)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < facts->report->profile->device_count; i++)
		rc = look(facts, advice, i);
	return rc;
}
