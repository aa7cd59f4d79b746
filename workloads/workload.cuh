/*
 * workload.cuh - what a workload declares, and the runner that checks and times it.
 *
 * A workload is one problem and several variants that solve it: the same input, the same kernels
 * where that is possible, and a different orchestration.  Its .cu file has
 *
 *   struct problem      host and device memory, and the result that the scalar reference expects
 *   prepare, reset,     make it, put it back to where every run starts,
 *   check, release      compare the result with the reference, free it
 *   run_VARIANT         the technique itself: so many iterations of the work, asynchronous or not
 *   RUN_WORKLOAD(...)   the declaration, which generates main
 *
 * The runner runs every variant once to warm up and then `repeats` times.  Each of these runs
 * starts from reset and is compared with the reference; a time is shown only when all agreed.
 * Every phase is an NVTX range, so that a recording tells set-up, run and check apart.
 *
 * Exit codes: 0 done, or skipped because this machine lacks what it takes (a feature, the memory);
 * 1 a wrong result or a CUDA error; 2 usage.
 */
#ifndef ROOFLINE_WORKLOAD_CUH
#define ROOFLINE_WORKLOAD_CUH

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "cuda_check.cuh"
#include "stamps.cuh"
#include "workload_options.cuh"
#include "workload_output.cuh"
#include "workloads.h"

#define STAMP_CAPACITY (1ULL << 22) /* blocks; 160 MB */

/* ---- what a workload declares ---- */

template <class problem> struct variant {
	const char *name, *summary;
	void (*run)(problem &, int iterations);
	void (*setup)(problem &) = nullptr;    /* once, timed apart: capture a graph, ask limits */
	void (*teardown)(problem &) = nullptr; /* frees what setup made */
	/* A reason why this machine cannot run this variant, nullptr when it can.  It is left out. */
	const char *(*why_skipped)(problem &) = nullptr;
	/* The variant that its speedup is against: one with the same input.  nullptr: naive */
	const char *baseline = nullptr;
	/* Why this variant cannot do that much on any machine, nullptr when it can.  Asked for by name
	 * it is usage; among all variants it is left out. */
	const char *(*why_too_much)(long size, long iterations) = nullptr;
};

/* Where a result first differs from the scalar reference; index -1: nowhere. */
struct difference {
	long index;
	unsigned long long found, expected;
};

template <class problem> struct workload {
	const char *name; /* its row in workloads.h */
	long size, iterations;
	void (*prepare)(problem &, long size, int iterations);
	void (*reset)(problem &);
	struct difference (*check)(const problem &);
	void (*release)(problem &);
	std::vector<variant<problem>> variants; /* the first is called naive */
	/* Of the kernels that stamp themselves (stamps.cuh), by number; nullptr: none does */
	const char *const *stamp_names = nullptr;
};

/* ---- helpers for workloads ---- */

struct nvtx_range {
	explicit nvtx_range(const char *name)
	{
		nvtxRangePushA(name);
	}
	~nvtx_range()
	{
		nvtxRangePop();
	}
};

/* Device memory for count values. */
template <class T> T *device_array(size_t count)
{
	T *device = nullptr;

	CUDA_CHECK(cudaMalloc(&device, count * sizeof(T)));
	return device;
}

/* Device memory that holds a copy of values. */
template <class T> T *device_copy(const std::vector<T> &values)
{
	T *device = device_array<T>(values.size());

	CUDA_CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T),
			      cudaMemcpyHostToDevice));
	return device;
}

template <class T> struct difference compare(const T *device, const std::vector<T> &expected)
{
	std::vector<T> found(expected.size());

	CUDA_CHECK(
		cudaMemcpy(found.data(), device, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < found.size(); i++)
		if (found[i] != expected[i])
			return {(long)i, (unsigned long long)found[i],
				(unsigned long long)expected[i]};
	return {-1, 0, 0};
}

/* compare for arrays too large to keep a second time: in chunks, with reference(i) for value i. */
template <class T, class function>
struct difference compare_each(const T *device, long count, function reference)
{
	const long chunk = 1 << 22;
	std::vector<T> found(std::min(chunk, count));

	for (long start = 0; start < count; start += chunk) {
		long length = std::min(chunk, count - start);

		CUDA_CHECK(cudaMemcpy(found.data(), device + start, length * sizeof(T),
				      cudaMemcpyDeviceToHost));
		for (long i = 0; i < length; i++)
			if (found[i] != (T)reference(start + i))
				return {start + i, (unsigned long long)found[i],
					(unsigned long long)reference(start + i)};
	}
	return {-1, 0, 0};
}

/* ---- can this machine run it? ---- */

static __global__ void probe_kernel()
{
}

static inline std::string version_text(int version)
{
	return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

static inline std::string why_no_device(cudaError_t error)
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

static inline void require_device(const workload_options &options, int count)
{
	if (options.device < count)
		return;
	fprintf(stderr, "%s: there is no device %ld; this machine has %d, counted from 0\n",
		options.name, options.device, count);
	exit(2);
}

/* "" when it can, else the reason in one line.  Makes the device that was asked for the current
 * one, of this thread. */
static inline std::string why_skipped(const workload_options &options)
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
template <class function> double timed_ns(const char *phase, function body)
{
	nvtx_range range(phase);

	CUDA_CHECK(cudaDeviceSynchronize());
	auto start = std::chrono::steady_clock::now();
	body();
	CUDA_CHECK(cudaDeviceSynchronize());
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
		.count();
}

template <class problem>
void require_match(const workload<problem> &work, const char *variant, const problem &state)
{
	nvtx_range range("check");
	struct difference first = work.check(state);

	if (first.index < 0)
		return;
	fprintf(stderr,
		"%s: %s: first difference at index %ld: found %llu, the scalar reference "
		"says %llu\n",
		work.name, variant, first.index, first.found, first.expected);
	exit(1);
}

static inline std::string why_out_of_memory(const char *call)
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
template <class problem>
std::string why_left_out(const variant<problem> &variant, problem &state,
			 const workload_options &options)
{
	const char *reason = nullptr;

	if (variant.why_too_much)
		reason = variant.why_too_much(options.size, options.iterations);
	if (!reason && variant.why_skipped)
		reason = variant.why_skipped(state);
	return reason ? reason : "";
}

template <class problem>
void measure_runs(const workload<problem> &work, const variant<problem> &variant, problem &state,
		  const workload_options &options, measurement &result)
{
	if (variant.setup)
		result.setup_ns = timed_ns("set-up", [&] { variant.setup(state); });
	for (long repeat = 0; repeat <= options.repeats; repeat++) {
		long calls = 0;

		work.reset(state);
		double run_ns = timed_ns(repeat ? "run" : "warm-up", [&] {
			calls = host_call_count;
			variant.run(state, options.iterations);
			calls = host_call_count - calls;
		});
		require_match(work, variant.name, state);
		if (repeat)
			result.iteration_ns.push_back(run_ns / options.iterations);
		result.host_calls = (double)calls / options.iterations;
	}
	if (variant.teardown)
		variant.teardown(state);
	std::sort(result.iteration_ns.begin(), result.iteration_ns.end());
}

/* A variant that runs out of memory is left out; what it had made until then stays. */
template <class problem>
measurement measure(const workload<problem> &work, const variant<problem> &variant, problem &state,
		    const workload_options &options)
{
	measurement result = {variant.name, {}, 0, 0, variant.baseline, ""};
	nvtx_range range(variant.name);

	result.skipped = why_left_out(variant, state, options);
	if (!result.skipped.empty())
		return result;
	try {
		measure_runs(work, variant, state, options, result);
	} catch (const cuda_out_of_memory &error) {
		result.skipped = why_out_of_memory(error.call);
	} catch (const std::bad_alloc &) {
		result.skipped = out_of_host_memory;
	}
	return result;
}

template <class problem>
std::vector<measurement> measure_all(const workload<problem> &work, const workload_options &options)
{
	std::vector<measurement> all;
	problem state = {};

	{
		nvtx_range range("prepare");
		work.prepare(state, options.size, options.iterations);
	}
	for (const variant<problem> &variant : work.variants)
		if (!options.variant || !strcmp(options.variant, variant.name))
			all.push_back(measure(work, variant, state, options));
	work.release(state);
	return all;
}

static inline const struct workload_row *workload_find_row(const char *name)
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

template <class problem>
void require_variant(const workload<problem> &work, const workload_options &options)
{
	std::string names;

	for (const variant<problem> &variant : work.variants) {
		if (!options.variant || !strcmp(options.variant, variant.name))
			return;
		names += std::string(names.empty() ? "" : ", ") + variant.name;
	}
	fprintf(stderr, "%s: no variant '%s'; there are %s\n", work.name, options.variant,
		names.c_str());
	exit(2);
}

/* Before a GPU is looked for: a limit that holds on every machine is said on every machine. */
template <class problem>
void require_within_limits(const workload<problem> &work, const workload_options &options)
{
	for (const variant<problem> &variant : work.variants) {
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

template <class problem>
void require_stamping(const workload<problem> &work, const workload_options &options)
{
	if (options.stamps && !work.stamp_names)
		workload_usage_error(work.name, "its kernels stamp nothing, so there is no",
				     "--stamps");
}

template <class problem> void print_variants(const workload<problem> &work)
{
	int width = 12;

	for (const variant<problem> &variant : work.variants)
		width = std::max(width, (int)strlen(variant.name));
	for (const variant<problem> &variant : work.variants)
		printf("%-*s %s\n", width, variant.name, variant.summary);
}

/* Returns "", or why not even the problem fits into the memory that is there. */
template <class problem>
std::string measure_what_fits(const workload<problem> &work, const workload_options &options,
			      std::vector<measurement> &all)
{
	try {
		cuda_throws_out_of_memory = true;
		all = measure_all(work, options);
	} catch (const cuda_out_of_memory &error) {
		return why_out_of_memory(error.call);
	} catch (const std::bad_alloc &) {
		return out_of_host_memory;
	}
	return "";
}

/* On the current device.  Returns "", or why there is nothing to print. */
template <class problem>
std::string measure_and_print(const workload<problem> &work, const struct workload_row *row,
			      const workload_options &options)
{
	std::vector<measurement> all;
	cudaDeviceProp properties;
	std::string reason;

	CUDA_CHECK(cudaGetDeviceProperties(&properties, options.device));
	if (options.stamps)
		stamps_enable(STAMP_CAPACITY);
	reason = measure_what_fits(work, options, all);
	if (!reason.empty())
		return reason;
	if (options.stamps)
		stamps_write(options.stamps, work.stamp_names);
	(options.json ? print_json : print_table)(row, properties.name, &options, all);
	return "";
}

/* First what is wrong on every machine, then what this one cannot do, then the work. */
template <class problem> int run_workload(const workload<problem> &work, int argc, char **argv)
{
	const struct workload_row *row = workload_find_row(work.name);
	workload_options options = {work.name, nullptr, work.size, work.iterations, 5, false,
				    false,     nullptr, 0};
	std::string reason;

	workload_parse(&options, row->summary, argc, argv);
	require_variant(work, options);
	require_within_limits(work, options);
	require_stamping(work, options);
	if (options.list) {
		print_variants(work);
		return 0;
	}
	reason = why_skipped(options);
	if (reason.empty())
		reason = measure_and_print(work, row, options);
	if (!reason.empty())
		print_skipped(row, options.json, reason.c_str());
	return 0;
}

/* RUN_WORKLOAD(struct workload<problem>): main of the program. */
#define RUN_WORKLOAD(work)                             \
	int main(int argc, char **argv)                \
	{                                              \
		return run_workload(work, argc, argv); \
	}

#endif
