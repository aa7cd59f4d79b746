/*
 * compile_cache.c - code is compiled at run time, and anew in each run: what was compiled is not kept on disk.
 *
 * Fires when compiling takes more than 5% of wall time: host code of more than 100 us right before a load of code that was
 * not loaded before, if a compiler was seen there (NVRTC, nvJitLink), and what the driver compiled from PTX where its own cache on disk kept
 * nothing.  Of the program's own cache no recording tells: the first run, which fills it, looks the same.  Code that is
 * compiled again within the run is repeated_module_load's.  What lies in the program is compiled by nobody.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/sums.h"

#define AT_STAKE_RATIO 0.05

struct compilations {
	uint64_t count;		    /* loads after a compiler */
	int64_t host_ns, driver_ns; /* driver_ns: 0 where its cache kept it */
};

static void add_load(struct compilations *found, const struct facts *facts, size_t device,
		     const struct jit_load *load, bool is_kept)
{
	const struct profile *profile = facts->report->profile;

	if (load->is_again || load->is_refused ||
	    !facts_is_call_of(facts, &profile->calls[load->call], device))
		return;
	if (load->is_compiled) { /* a library that unpacks its own code, as cuBLAS does, looks the same else */
		found->count++;
		sum_add_ns(&found->host_ns, load->host_ns);
	}
	if (!is_kept)
		sum_add_ns(&found->driver_ns, load->driver_ns);
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct jit *jit = facts->report->jit;
	bool is_kept = jit->store_count > 0 || jit->driver_count == 0;

	for (size_t i = 0; i < jit->load_count; i++)
		add_load(finding, facts, device, &jit->loads[i], is_kept);
	return 0;
}

static const struct compilations *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_compile_cache, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct compilations *found = found_on(facts, device);

	return found->host_ns + found->driver_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct compilations *found = found_on(facts, device);
	int rc = 0;

	(void)what_if;
	if (found->host_ns)
		rc = advice_add_evidence(
			item,
			"%s times code was loaded after a compiler such as NVRTC was seen, and after %s of "
			"host code, which is what compiling it took at most",
			format_count(found->count).text, format_ns((double)found->host_ns).text);
	if (rc == 0 && found->driver_ns)
		rc = advice_add_evidence(
			item,
			"the driver compiled PTX for %s, and its cache on disk kept "
			"nothing of it",
			format_ns((double)found->driver_ns).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_wall_ns(facts, device);
}

const struct rule rule_compile_cache = {
	.id = "compile_cache",
	.strategy = "cache_on_disk",
	.title = "Keep compiled code on disk, so that only the first run compiles it",
	.workload = "jit_gemm",
	.risk = "A recording of the run that fills the cache looks the same: record the second one. The key must hold "
		"all that the code depends on: source, options, the compiler's version, and the GPU's "
		"architecture.",
	.pattern = "key = digest(source, options, compiler_version, architecture);\n"
		   "if (!read_file(key, &image)) {\n"
		   "    compile(source, options, &image); /* NVRTC */\n"
		   "    write_file(key, image); /* to another name first, and renamed */\n"
		   "}\n"
		   "cuModuleLoadData(&module, image);\n"
		   "/* PTX: CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE, or build for this GPU */",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"# the environment, on a disk that lasts:\n"
				"TORCHINDUCTOR_CACHE_DIR=... TRITON_CACHE_DIR=...\n"
				"torch.compiler.save_cache_artifacts() # to take it to other machines",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Keep compiled code on disk",
			.pattern =
				"jax.config.update(\"jax_compilation_cache_dir\", \"/a/disk/that/lasts\")",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Keep compiled code on disk",
			.pattern = "# the environment, on a disk that lasts: CUPY_CACHE_DIR=...",
		},
	.in[FRAMEWORK_numba] =
		{
			.title = "Keep compiled code on disk",
			.pattern = "@cuda.jit(cache=True)",
		},
	.finding_size = sizeof(struct compilations),
	.find = find,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.is_once = true,
	.said_by = "refused_code",
};
