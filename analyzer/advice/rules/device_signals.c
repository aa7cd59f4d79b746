/*
 * device_signals.c - hosts wait for short copies between GPUs, tell each other, and launch what comes next.
 *
 * GPUs that reach each other's memory hand over by a store and a signal, for which the next kernel waits itself.  Fires where
 * a host waits for at least ten short copies from a GPU to another one, and the pauses behind these copies, in which hosts
 * tell each other and launch, are more of wall time than a prediction may be off.  How much faster signals are is predicted
 * where the ceilings have what one takes.
 */
#include "advice/rules/rules.h"

#include "analysis/counters/ceilings.h"
#include "base/format.h"
#include "base/sums.h"
#include "techniques/device_signals.h"

#define MOST_PAUSE_NS 1000000 /* a longer one is for something else */

struct handed {
	uint64_t count, bytes;
	int64_t idle_ns; /* behind these copies */
	bool is_first;	 /* of the devices with enough copies */
};

static struct handed *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_device_signals, device);
}

/* Until the next operation of the GPU that the copy is from. */
static int64_t pause_ns(const struct profile *profile, uint32_t copy)
{
	const struct profile_op *op = &profile->ops[copy];
	const struct profile_device *device = &profile->devices[profile_op_device(profile, op)];
	int64_t ns =
		copy + 1 < device->first_op + device->op_count ? op[1].start_ns - op->end_ns : 0;

	return ns > 0 && ns <= MOST_PAUSE_NS ? ns : 0;
}

static void add_copy(const struct facts *facts, uint32_t op)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_copy *copy = &profile->copies[profile->ops[op].detail];
	struct handed *found = found_on(facts, profile_op_device(profile, &profile->ops[op]));

	if (copy->kind != COPY_BETWEEN_DEVICES || copy->src_device == copy->dst_device ||
	    copy->bytes > SIGNALS_MOST_BYTES)
		return;
	found->count++;
	sum_add_count(&found->bytes, copy->bytes);
	sum_add_ns(&found->idle_ns, pause_ns(profile, op));
}

static void mark_first(const struct facts *facts)
{
	size_t device = 0, count = facts->report->profile->device_count;

	while (device < count && found_on(facts, device)->count < SIGNALS_LEAST_COUNT)
		device++;
	if (device < count)
		found_on(facts, device)->is_first = true;
}

/* Copies from a GPU to another one that are waited for: of all GPUs in one walk over the calls, with the first GPU. */
static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct model *model = facts->what_ifs.run.model;
	const struct profile *profile = facts->report->profile;
	uint32_t last = PROFILE_NONE;

	(void)finding;
	if (!model || device > 0 || profile->device_count < 2)
		return 0;
	for (size_t i = 0; i < profile->call_count; i++) {
		uint32_t awaited = model_awaited(model, i);

		if (awaited != PROFILE_NONE && awaited != last &&
		    profile->ops[awaited].kind == OP_COPY)
			add_copy(facts, awaited);
		last = awaited != PROFILE_NONE ? awaited : last;
	}
	mark_first(facts);
	return 0;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->idle_ns;
}

/* All ranks hand over: told once, of the first GPU. */
static bool is_candidate(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->is_first;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return is_candidate(facts, device) &&
	       (double)stake_ns(facts, device) >
		       LEAST_ESTIMATED_RATIO * facts_wall_ns(facts, device);
}

static bool can_predict(const struct facts *facts, size_t device)
{
	const struct ceilings *ceilings = facts->report->ceilings;

	(void)device;
	return ceilings && ceilings_at(ceilings, CEILING_peer_signal, 0) > 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct handed *found = found_on(facts, device);
	int rc = advice_add_evidence(
		item,
		"for %s copies from this GPU to another, of %s on average, a host waits; behind them the GPU is "
		"idle for %s",
		format_count(found->count).text,
		format_bytes((double)found->bytes / (double)found->count).text,
		format_ns((double)stake_ns(facts, device)).text);

	return rc < 0 || what_if
		       ? rc
		       : advice_add_evidence(item,
					     "what a signal takes was not measured: rooflinectl "
					     "ceilings --links makes it a prediction");
}

const struct rule rule_device_signals = {
	.id = "device_signals",
	.title = "Let GPUs hand over by signals in memory, not through their hosts",
	.workload = "nvshmem_signal",
	.risk = "A kernel that waits for another GPU holds its SMs, and waits forever where that one never comes: launch as "
		"many blocks as fit at once, and with NVSHMEM by nvshmemx_collective_launch.",
	.pattern = "nvshmemx_float_put_signal_nbi_block(out, in, n, &signal, turn,\n"
		   "                                    NVSHMEM_SIGNAL_SET, next);\n"
		   "/* in the kernel that continues: */\n"
		   "nvshmem_signal_wait_until(&signal, NVSHMEM_CMP_GE, turn);",
	.technique = &technique_device_signals,
	.finding_size = sizeof(struct handed),
	.find = find,
	.can_predict = can_predict,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
