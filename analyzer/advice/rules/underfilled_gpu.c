/*
 * underfilled_gpu.c - kernels whose blocks leave most of the GPU empty run one after the other.
 *
 * Where they do not need each other's results they could run side by side, in
 * several streams or as branches of a graph.  No recording tells whether they do:
 * what is predicted assumes that they do not, and is told as such.
 *
 * Fires when at least 50 kernels of at least 5 us that fill less than half of the
 * GPU run alone and what they leave empty is more than 20% of wall time: shorter
 * ones are bound by launching.  Reading counters lets no two run at once, so counted
 * ones do not count.
 */
#include "advice/rules/rules.h"

#include "analysis/counters/occupancy.h"
#include "base/format.h"
#include "techniques/shared/lone_kernels.h"

#define LEAST_KERNEL_NS 5000
#define LEAST_COUNT 50
#define MOST_WAVES 0.5
#define AT_STAKE_RATIO 0.20

/* Kernels that run while no other does. */
struct small_kernels {
	uint64_t count;
	double time_ns, empty_ns; /* empty_ns: their time by the part of the GPU that they leave */
};

static void add_kernel(struct small_kernels *found, const struct profile *profile,
		       const struct profile_op *op)
{
	struct occupancy occupancy;
	double length_ns = (double)(op->end_ns - op->start_ns);

	if (length_ns < LEAST_KERNEL_NS ||
	    !occupancy_of(&occupancy, &profile->devices[profile_op_device(profile, op)],
			  &profile->signatures[op->detail]) ||
	    occupancy.waves >= MOST_WAVES)
		return;
	found->count++;
	found->time_ns += length_ns;
	found->empty_ns += length_ns * (1 - occupancy.waves);
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	struct lone_kernels kernels = lone_kernels_of(profile, device);
	const struct profile_op *op;

	while ((op = lone_kernels_next(&kernels)))
		add_kernel(finding, profile, op);
	return 0;
}

static const struct small_kernels *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_underfilled_gpu, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)found_on(facts, device)->empty_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct small_kernels *found = found_on(facts, device);

	(void)what_if;
	return advice_add_evidence(
		item, "%s kernels of at least 5 us run alone for %s and fill %.0f%% of the GPU",
		format_count(found->count).text, format_ns(found->time_ns).text,
		100 * (1 - found->empty_ns / found->time_ns));
}

static bool is_promising(const struct facts *facts, size_t device)
{
	double wall_ns = facts_wall_ns(facts, device);
	const struct small_kernels *found = found_on(facts, device);

	return !report_has_device_work(facts->report, device) && found->count >= LEAST_COUNT &&
	       found->empty_ns > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_underfilled_gpu = {
	.id = "underfilled_gpu",
	.title = "Run kernels that do not need each other side by side",
	.workload = "concurrent_kernels",
	.risk = "Only where no kernel reads what another one writes. Together they share caches and "
		"memory bandwidth, and each may take longer than alone.",
	.pattern = "for (int i = 0; i < count; i++)\n"
		   "    kernel<<<grid, block, 0, streams[i % 8]>>>(part[i]);\n"
		   "for (int i = 0; i < 8; i++)\n"
		   "    cudaStreamSynchronize(streams[i]);",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"output = torch.vmap(f)(torch.stack(parts)) # one kernel for all parts\n"
				"with torch.cuda.stream(streams[i % 8]): # or each in a stream of its own\n"
				"    outputs[i] = f(parts[i])",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Compute them together: jax.vmap",
			.pattern =
				"outputs = jax.jit(jax.vmap(f))(jnp.stack(parts)) # all parts at once",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Compute them together, or each in a stream of its own",
			.pattern = "output = f(cupy.stack(parts)) # one kernel for all parts\n"
				   "with streams[i % 8]: # or each in a stream of its own\n"
				   "    outputs[i] = f(parts[i])",
		},
	.finding_size = sizeof(struct small_kernels),
	.find = find,
	.technique = &technique_concurrent_kernels,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
