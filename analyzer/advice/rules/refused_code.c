/*
 * refused_code.c - the driver refuses code that was made for another GPU or a newer driver.
 *
 * A cache of compiled code whose key lacks the architecture hands out what another machine has put there.  The driver
 * refuses it (no binary for this GPU, 209; PTX of an unsupported version, 222), and the program compiles after all, in
 * every run.  Fires when a load of code that does not lie in the program was refused so at all.  At stake is what
 * these calls took, and the host code right before the next load of their thread.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/sums.h"

/* Of the driver and of the runtime alike. */
#define NO_BINARY_FOR_GPU 209
#define UNSUPPORTED_PTX_VERSION 222

struct refusals {
	uint64_t other_gpu_count, newer_count;
	uint64_t again_count; /* after which the thread compiled */
	int64_t time_ns;
};

/* The load that a thread makes next, where it is one right after a compilation. */
static void add_next(struct refusals *found, const struct facts *facts, size_t load)
{
	const struct profile *profile = facts->report->profile;
	const struct jit *jit = facts->report->jit;
	const struct jit_load *next = &jit->loads[load + 1];

	if (load + 1 == jit->load_count || !next->host_ns ||
	    profile->calls[next->call].thread != profile->calls[jit->loads[load].call].thread)
		return;
	found->again_count++;
	sum_add_ns(&found->time_ns, next->host_ns);
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct jit *jit = facts->report->jit;
	struct refusals *found = finding;

	for (size_t i = 0; i < jit->load_count; i++) {
		const struct profile_call *call =
			&facts->report->profile->calls[jit->loads[i].call];

		if ((call->result != NO_BINARY_FOR_GPU &&
		     call->result != UNSUPPORTED_PTX_VERSION) ||
		    jit->loads[i].image == IMAGE_UNKNOWN || !facts_is_call_of(facts, call, device))
			continue;
		found->other_gpu_count += call->result == NO_BINARY_FOR_GPU;
		found->newer_count += call->result == UNSUPPORTED_PTX_VERSION;
		sum_add_ns(&found->time_ns, call->end_ns - call->start_ns);
		add_next(found, facts, i);
	}
	return 0;
}

static const struct refusals *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_refused_code, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->time_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct refusals *found = found_on(facts, device);
	int rc = 0;

	(void)what_if;
	if (found->other_gpu_count)
		rc = advice_add_evidence(
			item,
			"%s loads were refused, as their code is for another architecture "
			"than this GPU's (209)",
			format_count(found->other_gpu_count).text);
	if (rc == 0 && found->newer_count)
		rc = advice_add_evidence(
			item,
			"%s loads were refused, as their PTX is newer than this driver "
			"(222)",
			format_count(found->newer_count).text);
	if (rc == 0 && found->again_count)
		rc = advice_add_evidence(
			item,
			"after %s of them the thread loaded other code: refusing and making it took %s",
			format_count(found->again_count).text,
			format_ns((double)found->time_ns).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct refusals *found = found_on(facts, device);

	return found->other_gpu_count + found->newer_count > 0;
}

const struct rule rule_refused_code = {
	.id = "refused_code",
	.strategy = "whole_key",
	.title = "Make the GPU's architecture a part of the key under which compiled code is kept",
	.workload = "jit_gemm",
	.risk = "Each architecture has code of its own then. What is on disk already under the old key is never found "
		"again: remove it.",
	.pattern = "cudaGetDeviceProperties(&properties, device);\n"
		   "key = digest(source, options, properties.major, properties.minor);",
	.finding_size = sizeof(struct refusals),
	.find = find,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
