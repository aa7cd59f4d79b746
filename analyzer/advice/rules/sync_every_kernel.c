/*
 * sync_every_kernel.c - the host waits for the GPU after nearly every launch.
 *
 * While it waits it cannot submit the next kernel, so each one starts late.
 * Fires when re-simulating the run without the waits of its loops after which the
 * host reads nothing gains something.  Where nothing can be predicted, when the
 * threads of a device wait at least once for two launches, over at least 100
 * launches, and synchronization and launch idle time together exceed 10% of wall
 * time.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define WAITS_PER_LAUNCH 0.5
#define LAUNCH_COUNT 100
#define AT_STAKE_RATIO 0.10

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return facts->devices[device].sync_ns + facts->devices[device].launch_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct device_facts *found = &facts->devices[device];
	int rc = advice_add_evidence(item, "%s waits of the host for %s launches (%.2f each)",
				     format_count(found->sync_count).text,
				     format_count(found->launch_count).text,
				     (double)found->sync_count / (double)found->launch_count);

	if (rc == 0)
		rc = advice_add_evidence(item,
					 "the GPU was idle for %s inside waits and %s during "
					 "launches",
					 format_ns((double)found->sync_ns).text,
					 format_ns((double)found->launch_ns).text);
	if (rc == 0 && what_if)
		rc = advice_add_evidence(
			item, "in %s of them the host reads nothing that was copied to it",
			format_count(what_if->effect.changed_count).text);
	return rc;
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	return facts->devices[device].sync_count > 0 && facts->devices[device].launch_count > 0;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct device_facts *found = &facts->devices[device];
	double wall_ns = facts_wall_ns(facts, device);

	return found->launch_count >= LAUNCH_COUNT &&
	       (double)found->sync_count >= WAITS_PER_LAUNCH * (double)found->launch_count &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_sync_every_kernel = {
	.id = "sync_every_kernel",
	.title = "Wait for the GPU only where the host needs a result",
	.workload = "graph_chain",
	.risk = "Errors of kernels surface at the next wait; buffers that the host reads or "
		"reuses still need one.",
	.pattern = "for (...) kernel<<<grid, block, 0, stream>>>(...); /* no wait in here */\n"
		   "cudaStreamSynchronize(stream); /* once, before the host reads */",
	.in[FRAMEWORK_pytorch] =
		{
			.title = "Read results once in several steps: each .item() or .cpu() waits",
			.pattern =
				"losses.append(loss.detach()) # in place of loss.item(), which waits\n"
				"total = torch.stack(losses).sum().item() # one wait, after the loop\n"
				"torch.cuda.set_sync_debug_mode(\"warn\") # names each line that waits",
			.risk = ".item(), .cpu(), .tolist(), bool() of a tensor, indexing by a mask and "
				"torch.nonzero wait for the GPU; errors of kernels surface at the next "
				"of them.",
		},
	.in[FRAMEWORK_jax] =
		{
			.title =
				"Read results once in several steps: each float() or block_until_ready() waits",
			.pattern =
				"losses.append(loss) # an array that is still being computed\n"
				"print(float(jnp.stack(losses).mean())) # one wait, after n steps",
			.risk = "float(), np.asarray() and print of an array wait for the GPU; so does jax.device_get. Errors surface at the next wait.",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Read results once in several steps: each float() or .get() waits",
			.pattern = "losses[i] = loss # into an array of the device\n"
				   "print(float(losses.mean())) # one wait, after n steps",
			.risk = "float(), bool(), .item(), .get() and cupy.asnumpy() wait for the GPU; so does an index by a mask.",
		},
	.in[FRAMEWORK_numba] =
		{
			.title = "Wait once in several launches",
			.pattern = "for i in range(count):\n"
				   "    kernel[blocks, threads, stream](x, y)\n"
				   "stream.synchronize() # one wait, where the host reads",
			.risk = "An array of NumPy as an argument is copied to the GPU and back, with a wait, in each launch: use cuda.to_device once.",
		},
	.technique = &technique_remove_syncs,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
};
