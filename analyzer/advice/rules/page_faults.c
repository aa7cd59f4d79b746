/*
 * page_faults.c - kernels and the host wait for managed memory that is moved when they touch it.
 *
 * A page fault of a GPU takes tens of microseconds until the accesses that faulted are repeated, and the host waits
 * as well while what it touches comes back.  Fires when page faults are served for more than 5% of wall time within
 * kernels, or while the GPU is idle.  Only recordings with --managed tell.  Other warps of a kernel may go on meanwhile, so
 * all of this is at stake at most.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define AT_STAKE_RATIO 0.05

static int64_t faulting_ns(const struct facts *facts, size_t device)
{
	const struct managed_memory *managed = facts->report->managed_memory;

	return device < managed->device_count ? managed->devices[device].faulting_ns : 0;
}

static int64_t waiting_ns(const struct facts *facts, size_t device)
{
	return facts->report->managed_memory->device_count
		       ? facts->report->gaps->devices[device].by_cause_ns[GAP_MANAGED]
		       : 0;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return faulting_ns(facts, device) + waiting_ns(facts, device);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_wall_ns(facts, device);
}

/* What page faults moved between the host and the device, one way. */
static uint64_t moved_bytes(const struct facts *facts, uint32_t device, bool is_to_host)
{
	const struct profile *profile = facts->report->profile;
	uint64_t bytes = 0;

	for (size_t i = 0; i < profile->managed_count; i++) {
		const struct profile_managed *managed = &profile->manageds[i];

		if (managed->cause != MANAGED_FOR_FAULT && managed->cause != MANAGED_EXPECTED_FAULT)
			continue;
		if (is_to_host
			    ? managed->kind == MANAGED_TO_HOST && managed->source == device
			    : managed->kind == MANAGED_TO_DEVICE && managed->destination == device)
			bytes += managed->value;
	}
	return bytes;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	int rc;

	(void)what_if;
	rc = advice_add_evidence(
		item, "page faults are served for %s within kernels; the GPU is idle for %s more",
		format_ns((double)faulting_ns(facts, device)).text,
		format_ns((double)waiting_ns(facts, device)).text);
	if (rc == 0)
		rc = advice_add_evidence(
			item, "they moved %s to the GPU and %s to the host",
			format_bytes((double)moved_bytes(facts, (uint32_t)device, false)).text,
			format_bytes((double)moved_bytes(facts, (uint32_t)device, true)).text);
	return rc;
}

const struct rule rule_page_faults = {
	.id = "page_faults",
	.strategy = "prefetch",
	.title = "Move managed memory before it is touched",
	.risk = "A prefetch moves all of what it names: name what the next kernels touch. What is "
		"read from both sides stays on both with cudaMemAdviseSetReadMostly. Where the GPU "
		"alone uses memory, cudaMalloc has no page faults at all.",
	.pattern = "cudaMemLocation here = {cudaMemLocationTypeDevice, device};\n"
		   "cudaMemPrefetchAsync(data, bytes, here, 0, stream); /* then the kernel */\n"
		   "kernel<<<grid, block, 0, stream>>>(data);\n"
		   "cudaMemLocation host = {cudaMemLocationTypeHost, 0};\n"
		   "cudaMemPrefetchAsync(data, bytes, host, 0, stream); /* then the host */",
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
