/*
 * one_time_copy.c - large copies from or to pageable host memory that are no loop's, as programs make at their start and
 * end.
 *
 * Pinned memory is copied faster, and pinning it costs something once, which only a large copy earns back.  Fires when
 * the copies outside of loops (fewer than ten in a program that repeats nothing) would, at the rates of the ceilings and
 * with what pinning costs (techniques/shared/pinning.h), gain more of the run than a prediction may be off, as nothing of
 * it is re-simulated.  They are no part of what repeats, so no gain of that is told, and nothing where a range is asked
 * for.  Where the ceilings lack what pinning costs, it is told what it may cost at most.
 */
#include "advice/rules/rules.h"

#include <math.h>

#include "base/format.h"
#include "techniques/shared/pinning.h"

static bool happens_once(const struct profile_op *op, const void *facts)
{
	return !facts_repeats(facts, op);
}

/* Without measured ceilings all stays 0: nothing is recommended. */
static int find(void *finding, const struct facts *facts, size_t device)
{
	if (!facts->report->ceilings || facts->report->ceilings->is_datasheet)
		return 0;
	return pinning_once_of(finding, facts->report->profile, facts->report->ceilings, device,
			       happens_once, facts);
}

static const struct pinning *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_one_time_copy, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct pinning *found = found_on(facts, device);

	return (int64_t)(found->saved_ns - found->cost_ns);
}

static int add_cost(struct recommendation *item, const struct pinning *found)
{
	if (!found->cost_ns)
		return advice_add_evidence(
			item, "it pays if pinning them takes less than that, which the "
			      "ceilings do not tell: run rooflinectl ceilings again");
	return advice_add_evidence(item,
				   "pinning them takes about %s, once (cudaHostRegister of memory "
				   "that was written before)",
				   format_ns(found->cost_ns).text);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct pinning *found = found_on(facts, device);
	int rc = advice_add_evidence(
		item, "%s %s of pageable memory, %s, would take %s less from pinned memory",
		format_count(found->copy_count).text, found->copy_count == 1 ? "copy" : "copies",
		format_bytes(found->bytes).text, format_ns(found->saved_ns).text);

	(void)what_if;
	return rc < 0 ? rc : add_cost(item, found);
}

/* Beside what repeats the device's time.  Where nothing does, all of it happens once, and so does what the processes do
 * before their first operation: a context takes a hundred milliseconds. */
static double run_ns(const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	double longest_ns = facts_wall_ns(facts, device);

	for (size_t i = 0; !facts->devices[device].is_repeating && i < profile->process_count; i++)
		if (facts_is_home(facts, (uint32_t)i, device))
			longest_ns = fmax(longest_ns, (double)(profile->processes[i].last_ns -
							       profile->processes[i].first_ns));
	return longest_ns;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return !facts->what_ifs.places &&
	       (facts->devices[device].is_repeating ||
		found_on(facts, device)->copy_count < PINNING_FEW_COPIES) &&
	       (double)stake_ns(facts, device) > LEAST_ESTIMATED_RATIO * run_ns(facts, device);
}

const struct rule rule_one_time_copy = {
	.id = "one_time_copy",
	.strategy = "pinned_memory",
	.title = "Pin the memory of the large copies that are made once",
	.risk = "It shortens what the program does once, and not what it repeats. Pinned memory is taken from "
		"the whole machine; cudaHostAlloc of new memory takes several times as long as "
		"cudaHostRegister of memory that is there.",
	.pattern = "cudaHostRegister(host, bytes, 0); /* once it is filled */\n"
		   "cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern = "weights = weights.pin_memory().to(\"cuda\", non_blocking=True)",
		},
	.finding_size = sizeof(struct pinning),
	.find = find,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.is_once = true,
	.said_by = "copy_overlap",
};
