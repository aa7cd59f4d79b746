/*
 * late_module_load.c - code is loaded or compiled while the work is under way.
 *
 * CUDA loads a kernel when it is first launched, and compiles PTX for a GPU that the
 * program was not built for.  At the start every program does; what counts here comes
 * after a tenth of the GPU's operations have run.  A single pause inside the launch of a
 * kernel is the start of something as well.  Fires when the GPU is idle for more than 5%
 * of wall time in such loads.  A program that repeats nothing would only wait earlier.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define AT_STAKE_RATIO 0.05
#define START_PART 10 /* the first operations of so many are the start */

struct loads {
	uint64_t count;	      /* pauses */
	uint64_t first_count; /* of them, those in which a launch loaded its kernel */
	int64_t load_ns, compile_ns;
};

/* One of the first operations of its device. */
static bool is_at_start(const struct profile *profile, size_t op)
{
	const struct profile_device *device =
		&profile->devices[profile_op_device(profile, &profile->ops[op])];

	return op < device->first_op + device->op_count / START_PART;
}

/* All that was loaded may have been loaded by the launch itself. */
static bool is_in_launch(const struct profile *profile, const struct gap *gap)
{
	uint32_t launch = profile->ops[gap->after].call;
	const struct profile_call *call;

	if (launch == PROFILE_NONE || gap->by_cause_ns[GAP_JIT])
		return false;
	call = &profile->calls[launch];
	return profile->call_names[call->name].call_class == CALL_LAUNCH &&
	       gap->by_cause_ns[GAP_MODULE] <= call->end_ns - call->start_ns;
}

static void add_gap(void *finding, const struct facts *facts, const struct gap *gap)
{
	struct loads *found = finding;
	int64_t load_ns = gap->by_cause_ns[GAP_MODULE], compile_ns = gap->by_cause_ns[GAP_JIT];

	if (load_ns + compile_ns == 0 || is_at_start(facts->report->profile, gap->before))
		return;
	found->count++;
	found->first_count += is_in_launch(facts->report->profile, gap);
	found->load_ns += load_ns;
	found->compile_ns += compile_ns;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct loads *found = facts_finding(facts, RULE_late_module_load, device);

	return found->load_ns + found->compile_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct loads *found = facts_finding(facts, RULE_late_module_load, device);

	(void)what_if;
	return advice_add_evidence(
		item,
		"pauses after a tenth of the operations while code was loaded or compiled: "
		"%s, for %s and %s",
		format_count(found->count).text, format_ns((double)found->load_ns).text,
		format_ns((double)found->compile_ns).text);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct loads *found = facts_finding(facts, RULE_late_module_load, device);
	double wall_ns = facts_wall_ns(facts, device);

	return facts->devices[device].is_repeating &&
	       (found->count > 1 || found->count > found->first_count) &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_late_module_load = {
	.id = "late_module_load",
	.strategy = "load_before",
	.title = "Load and compile code before the work begins",
	.risk = "What is loaded takes device memory and start-up time, also code that is never "
		"used. Compiled PTX can be kept: build for this GPU, or keep CUDA_CACHE_PATH.",
	.pattern = "/* the environment: CUDA_MODULE_LOADING=EAGER; or, before the loop: */\n"
		   "struct cudaFuncAttributes attributes;\n"
		   "cudaFuncGetAttributes(&attributes, kernel); /* loads it */\n"
		   "cuModuleLoadData(&module, image); /* or link, or compile */",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"with torch.no_grad(): # before the work: each shape and type once\n"
				"    model(example)\n"
				"torch.cuda.synchronize()\n"
				"# the environment: CUDA_MODULE_LOADING=EAGER",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Compile before the work begins",
			.pattern =
				"step.lower(state, batch).compile() # or one call with the same shapes",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Run each kernel once before the work begins",
			.pattern = "step() # compiles; CUPY_CACHE_DIR keeps it for the next run",
		},
	.in[FRAMEWORK_numba] =
		{
			.title = "Run each kernel once before the work begins",
			.pattern =
				"@cuda.jit(\"void(float32[:], float32[:])\") # compiles when it is defined",
		},
	.finding_size = sizeof(struct loads),
	.add_gap = add_gap,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_once = true,
	.said_by = "repeated_module_load",
};
