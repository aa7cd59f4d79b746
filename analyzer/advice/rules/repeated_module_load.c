/*
 * repeated_module_load.c - code is compiled or loaded again and again, as long as the work lasts.
 *
 * Programs that compile for each shape or each step (NVRTC, cuLink, PTX), and do not keep what they have compiled, load a
 * module each time.  Fires when at least ten loads follow after a tenth of the GPU's operations, some of them in the last
 * quarter, at least half of which are unloaded again or wait for the driver to compile PTX, and the GPU is idle for more
 * than 5% of wall time, or of what repeats, in loads, compilations, and in host code of more than 100 us right before a load, which is when NVRTC
 * compiles.  What is only loaded is different code each time, as libraries do it.  Where the recording has modules it tells
 * which code was loaded before: at least half of the loads have to be of such code, and it is predicted that it is kept.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/sums.h"
#include "replay/change.h"

#define AT_STAKE_RATIO 0.05
#define LEAST_COUNT 10
#define START_PART 10 /* the first operations of so many are the start */
#define END_PART 4    /* and the last of so many the end */

struct loads {
	uint64_t count, end_count, unload_count, compiled_count;
	uint64_t known_count,
		again_count; /* loads of which it is known, and that are of code loaded before */
	int64_t load_ns, compile_ns, host_ns; /* idle, by cause */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Host code of the gap right before the call; LONG_HOST_NS and less is no compilation. */
static int64_t compiling_ns(const struct profile *profile, const struct gap *gap, size_t call)
{
	int64_t from_ns = gap->start_ns, host_ns;

	if (call > profile->threads[profile->calls[call].thread].first_call &&
	    profile->calls[call - 1].end_ns > from_ns)
		from_ns = profile->calls[call - 1].end_ns;
	host_ns = profile->calls[call].start_ns - from_ns;
	return host_ns > LONG_HOST_NS ? host_ns : 0;
}

/* The calls of its thread that lie in the gap, before the launch that ends it. */
static uint64_t add_calls(struct loads *found, const struct facts *facts, const struct gap *gap)
{
	const struct profile *profile = facts->report->profile;
	uint32_t launch = profile->ops[gap->after].call;
	const struct jit_load *load;
	uint64_t load_count = 0;
	int64_t host_ns = 0;
	size_t first;

	if (launch == PROFILE_NONE)
		return 0;
	first = profile->threads[profile->calls[launch].thread].first_call;
	for (size_t i = launch; i-- > first && profile->calls[i].end_ns > gap->start_ns;) {
		found->unload_count += facts_is_named(facts, &profile->calls[i], "Unload");
		load = jit_load_of(facts->report->jit, (uint32_t)i);
		if (!load)
			continue;
		load_count++;
		found->known_count += load->module != PROFILE_NONE;
		found->again_count += load->is_again;
		sum_add_ns(&host_ns, compiling_ns(profile, gap, i));
	}
	sum_add_ns(&found->host_ns, least(host_ns, gap->by_cause_ns[GAP_HOST]));
	return load_count;
}

static void add_gap(void *finding, const struct facts *facts, const struct gap *gap)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_device *device =
		&profile->devices[profile_op_device(profile, &profile->ops[gap->before])];
	struct loads *found = finding;
	size_t done_count = gap->before - device->first_op;
	uint64_t count;

	if (gap->before >= profile->op_count || done_count < device->op_count / START_PART)
		return;
	count = add_calls(found, facts, gap);
	if (!count)
		return;
	found->count += count;
	found->compiled_count += gap->by_cause_ns[GAP_JIT] ? count : 0;
	if (done_count >= device->op_count - device->op_count / END_PART)
		found->end_count += count;
	sum_add_ns(&found->load_ns, gap->by_cause_ns[GAP_MODULE]);
	sum_add_ns(&found->compile_ns, gap->by_cause_ns[GAP_JIT]);
}

static const struct loads *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_repeated_module_load, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct loads *found = found_on(facts, device);

	return found->load_ns + found->compile_ns + found->host_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct loads *found = found_on(facts, device);
	int rc = advice_add_evidence(
		item,
		"%s times code was loaded after a tenth of the operations, and %s "
		"times unloaded",
		format_count(found->count).text, format_count(found->unload_count).text);

	(void)what_if;
	if (rc == 0 && found->known_count)
		rc = advice_add_evidence(
			item, "%s of these loads were of code that had been loaded before",
			format_count(found->again_count).text);
	if (rc == 0)
		rc = advice_add_evidence(
			item, "meanwhile the GPU was idle for %s of loading and %s of compiling",
			format_ns((double)found->load_ns).text,
			format_ns((double)found->compile_ns).text);
	if (rc == 0 && found->host_ns)
		rc = advice_add_evidence(
			item, "and for %s of host code right before, %s",
			format_ns((double)found->host_ns).text,
			facts->report->jit->compiled_count
				? "in which a compiler such as NVRTC was seen"
				: "which is when a compiler such as NVRTC runs, or other code");
	return rc;
}

/* Where nothing tells whether it is the same code, what is thrown away or compiled may be. */
static bool is_same_code(const struct loads *found)
{
	if (found->known_count)
		return 2 * found->again_count >= found->count;
	return 2 * (found->unload_count + found->compiled_count) >= found->count;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct loads *found = found_on(facts, device);

	return found->count >= LEAST_COUNT && found->end_count > 0 && is_same_code(found) &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_main_ns(facts, device);
}

/* Only code of which it is known that it is the same can be kept. */
static bool can_predict(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->known_count > 0;
}

const struct rule rule_repeated_module_load = {
	.id = "repeated_module_load",
	.title =
		"Compile and load code once for each shape, and keep it for the iterations to come",
	.risk = "What is kept takes device memory: bound how much, and drop what was not used for longest. The "
		"key must hold all that the code depends on: source, options, and the GPU's architecture.",
	.pattern = "auto found = kernels.find(key); /* source, options, architecture */\n"
		   "if (found == kernels.end()) {\n"
		   "    compile(source, options, image); /* NVRTC; keep it on disk, too */\n"
		   "    cuModuleLoadData(&module, image);\n"
		   "    cuModuleGetFunction(&kernel, module, name);\n"
		   "    found = kernels.emplace(key, kernel).first;\n"
		   "}\n"
		   "cuLaunchKernel(found->second, ...);",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"torch._dynamo.mark_dynamic(x, 0) # or torch.compile(model, dynamic=True)\n"
				"# TORCH_LOGS=recompiles tells what is compiled again, and why",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Compile once: keep shapes and jitted functions the same",
			.pattern = "step = jax.jit(step) # once, outside of the loop\n"
				   "# JAX_LOG_COMPILES=1 names what is compiled again, and why",
		},
	.workload = "jit_gemm",
	.technique = &technique_keep_modules,
	.finding_size = sizeof(struct loads),
	.add_gap = add_gap,
	.is_candidate = is_promising,
	.can_predict = can_predict,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
};
