/*
 * workload.cu - the runner that checks and times a workload, linked into each of them.
 */
#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "cuda_check.cuh"
#include "nvtx_range.cuh"
#include "roofline/ranks.h"
#include "stamps_output.cuh"
#include "workload.cuh"
#include "workload_options.cuh"
#include "workload_output.cuh"
#include "workloads.h"

#define STAMP_CAPACITY (1ULL << 22) /* blocks; 160 MB */

/* ---- comparing results ---- */

long find_in_parts(long count, long (*search)(long begin, long end, void *context), void *context)
{
	const long parts = std::max(1U, std::thread::hardware_concurrency());
	std::vector<long> found(parts, -1);
	std::vector<std::thread> threads;

	auto search_part = [&](long part) {
		found[part] = search(count * part / parts, count * (part + 1) / parts, context);
	};
	for (long part = 1; part < parts; part++)
		threads.emplace_back(search_part, part);
	search_part(0);
	for (std::thread &thread : threads)
		thread.join();
	for (long index : found)
		if (index >= 0)
			return index;
	return -1;
}

/* ---- can this machine run it? ---- */

static __global__ void probe_kernel()
{
}

static std::string version_text(int version)
{
	return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

static std::string why_no_device(cudaError_t error)
{
	int driver = 0, runtime = 0;

	cudaDriverGetVersion(&driver);
	cudaRuntimeGetVersion(&runtime);
	if (error == cudaErrorInsufficientDriver && driver == 0)
		return "no NVIDIA driver on this machine";
	if (error == cudaErrorInsufficientDriver)
		return "the driver supports CUDA " + version_text(driver) +
		       " and this program needs " + version_text(runtime) + ": update the driver";
	return std::string("no usable GPU: ") + cudaGetErrorString(error);
}

static void require_device(const workload_options &options, int count)
{
	if (options.device < count)
		return;
	fprintf(stderr, "%s: there is no device %ld; this machine has %d, counted from 0\n",
		options.name, options.device, count);
	exit(2);
}

/* "" when it can, else the reason in one line.  Makes the device that was asked for the current
 * one, of this thread. */
static std::string why_skipped(const workload_options &options)
{
	cudaFuncAttributes attributes;
	cudaDeviceProp properties;
	cudaError_t error;
	int count = 0;

	error = cudaGetDeviceCount(&count);
	if (error == cudaSuccess && count == 0)
		error = cudaErrorNoDevice;
	if (error == cudaSuccess) {
		require_device(options, count);
		error = cudaGetDeviceProperties(&properties, options.device);
	}
	if (error == cudaSuccess)
		error = cudaSetDevice(options.device);
	if (error != cudaSuccess)
		return why_no_device(error);
	if (cudaFuncGetAttributes(&attributes, probe_kernel) == cudaSuccess)
		return "";
	cudaGetLastError();
	return std::string("built without machine code for ") + properties.name + " (sm_" +
	       std::to_string(properties.major * 10 + properties.minor) +
	       "): build again with that architecture in GENCODE";
}

/* ---- the runner ---- */

/* Nanoseconds from the start of body until the device has finished what it was given. */
template <class function> static double timed_ns(const char *phase, function body)
{
	nvtx_range range(phase);

	CUDA_CHECK(cudaDeviceSynchronize());
	auto start = std::chrono::steady_clock::now();
	body();
	CUDA_CHECK(cudaDeviceSynchronize());
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
		.count();
}

static std::string difference_text(const struct difference &first)
{
	char text[128];

	if (first.is_real)
		snprintf(text, sizeof(text), "found %.9g, the scalar reference says %.9g",
			 first.found_real, first.expected_real);
	else
		snprintf(text, sizeof(text), "found %llu, the scalar reference says %llu",
			 first.found, first.expected);
	return text;
}

static void require_match(any_workload &work, const char *variant)
{
	nvtx_range range("check");
	struct difference first = work.check();

	if (first.index < 0)
		return;
	fprintf(stderr, "%s: %s: first difference at index %ld: %s\n", work.name, variant,
		first.index, difference_text(first).c_str());
	exit(1);
}

static std::string why_out_of_memory(const char *call)
{
	size_t free_bytes = 0, total_bytes = 0;
	char text[512];

	cudaMemGetInfo(&free_bytes, &total_bytes);
	snprintf(text, sizeof(text),
		 "out of memory in %s with %.1f of %.1f GiB free on the GPU: try a smaller --size",
		 call, free_bytes / 0x1p30, total_bytes / 0x1p30);
	return text;
}

static const char out_of_host_memory[] = "out of memory on the host: try a smaller --size";

/* Why this variant is left out, "" when it is not. */
static std::string why_left_out(any_workload &work, size_t which, const workload_options &options)
{
	const variant_facts &variant = work.variants[which];
	const char *reason = nullptr;

	if (variant.why_too_much)
		reason = variant.why_too_much(options.size, options.iterations);
	if (!reason)
		reason = work.why_skipped(which);
	return reason ? reason : "";
}

static void measure_runs(any_workload &work, size_t which, const workload_options &options,
			 measurement &result)
{
	if (work.variants[which].has_setup)
		result.setup_ns = timed_ns("set-up", [&] { work.setup(which); });
	for (long repeat = 0; repeat <= options.repeats; repeat++) {
		long calls = 0;

		work.reset();
		double run_ns = timed_ns(repeat ? "run" : "warm-up", [&] {
			calls = host_call_count;
			work.run(which, options.iterations);
			calls = host_call_count - calls;
		});
		require_match(work, work.variants[which].name);
		if (repeat)
			result.iteration_ns.push_back(run_ns / options.iterations);
		result.host_calls = (double)calls / options.iterations;
	}
	work.teardown(which);
	std::sort(result.iteration_ns.begin(), result.iteration_ns.end());
}

/* A variant that runs out of memory is left out; what it had made until then stays. */
static measurement measure(any_workload &work, size_t which, const workload_options &options)
{
	const variant_facts &variant = work.variants[which];
	measurement result = {variant.name, {}, 0, 0, variant.baseline, ""};
	nvtx_range range(variant.name);

	result.skipped = why_left_out(work, which, options);
	if (!result.skipped.empty())
		return result;
	try {
		measure_runs(work, which, options, result);
	} catch (const cuda_out_of_memory &error) {
		result.skipped = why_out_of_memory(error.call);
	} catch (const std::bad_alloc &) {
		result.skipped = out_of_host_memory;
	}
	return result;
}

/* What was measured, and what there is to say beside it. */
struct results {
	std::vector<measurement> all;
	std::vector<std::string> remarks;
};

static struct results measure_all(any_workload &work, const workload_options &options)
{
	struct results results;

	{
		nvtx_range range("prepare");
		work.prepare(options.size, options.iterations);
	}
	for (size_t i = 0; i < work.variants.size(); i++)
		if (!options.variant || !strcmp(options.variant, work.variants[i].name))
			results.all.push_back(measure(work, i, options));
	results.remarks = work.remarks();
	work.release();
	return results;
}

static const struct workload_row *workload_find_row(const char *name)
{
#define WORKLOAD_TABLE_ROW(name, id, technique, control, summary) \
	{#name, id, technique, control, summary},
	static const struct workload_row rows[] = {WORKLOADS(WORKLOAD_TABLE_ROW)};
#undef WORKLOAD_TABLE_ROW

	for (const struct workload_row &row : rows)
		if (!strcmp(row.name, name))
			return &row;
	fprintf(stderr, "%s has no row in workloads.h\n", name);
	exit(1);
}

static void require_variant(any_workload &work, const workload_options &options)
{
	std::string names;

	for (const variant_facts &variant : work.variants) {
		if (!options.variant || !strcmp(options.variant, variant.name))
			return;
		names += std::string(names.empty() ? "" : ", ") + variant.name;
	}
	fprintf(stderr, "%s: no variant '%s'; there are %s\n", work.name, options.variant,
		names.c_str());
	exit(2);
}

/* Before a GPU is looked for: a limit that holds on every machine is said on every machine. */
static void require_within_limits(any_workload &work, const workload_options &options)
{
	for (const variant_facts &variant : work.variants) {
		const char *reason;

		if (!options.variant || strcmp(options.variant, variant.name) ||
		    !variant.why_too_much)
			continue;
		reason = variant.why_too_much(options.size, options.iterations);
		if (!reason)
			continue;
		fprintf(stderr, "%s: %s: %s\n", work.name, variant.name, reason);
		exit(2);
	}
}

static void require_stamping(any_workload &work, const workload_options &options)
{
	if (options.stamps && !work.stamp_names)
		workload_usage_error(work.name, "its kernels stamp nothing, so there is no",
				     "--stamps");
}

static void print_variants(any_workload &work)
{
	int width = 12;

	for (const variant_facts &variant : work.variants)
		width = std::max(width, (int)strlen(variant.name));
	for (const variant_facts &variant : work.variants)
		printf("%-*s %s\n", width, variant.name, variant.summary);
}

/* Returns "", or why not even the problem fits into the memory that is there. */
static std::string measure_what_fits(any_workload &work, const workload_options &options,
				     struct results &results)
{
	try {
		cuda_throws_out_of_memory = true;
		results = measure_all(work, options);
	} catch (const cuda_out_of_memory &error) {
		return why_out_of_memory(error.call);
	} catch (const std::bad_alloc &) {
		return out_of_host_memory;
	}
	return "";
}

/* All processes of a job would say the same: all but the first one say nothing. */
static bool is_quiet(const any_workload &work)
{
	const char *rank = ranks_rank();

	return work.is_job && rank && strcmp(rank, "0");
}

/* On the current device.  Returns "", or why there is nothing to print. */
static std::string measure_and_print(any_workload &work, const struct workload_row *row,
				     const workload_options &options)
{
	struct results results;
	cudaDeviceProp properties;
	std::string reason;

	CUDA_CHECK(cudaGetDeviceProperties(&properties, options.device));
	if (options.stamps)
		stamps_enable(STAMP_CAPACITY);
	reason = measure_what_fits(work, options, results);
	if (!reason.empty())
		return reason;
	if (options.stamps)
		stamps_write(options.stamps, work.stamp_names);
	if (!is_quiet(work))
		(options.json ? print_json : print_table)(row, properties.name, &options,
							  results.all, results.remarks);
	return "";
}

static std::string text_of(const char *reason)
{
	return reason ? reason : "";
}

/* First what is wrong on every machine, then what this one cannot do, then the work. */
int run_workload(any_workload &work, int argc, char **argv)
{
	const struct workload_row *row = workload_find_row(work.name);
	workload_options options = {work.name, nullptr, work.size, work.iterations, 5, false,
				    false,     nullptr, 0,	   work.parameters};
	std::string reason;

	workload_parse(&options, row->summary, argc, argv);
	require_variant(work, options);
	require_within_limits(work, options);
	require_stamping(work, options);
	if (options.list) {
		print_variants(work);
		return 0;
	}
	if (work.start)
		reason = text_of(work.start(options.device));
	if (reason.empty())
		reason = why_skipped(options);
	if (reason.empty() && work.why_machine_skipped)
		reason = text_of(work.why_machine_skipped());
	if (reason.empty())
		reason = measure_and_print(work, row, options);
	if (!reason.empty() && !is_quiet(work))
		print_skipped(row, options.json, reason.c_str());
	return 0;
}
