/*
 * workload.cuh - what a workload declares.  workload.cu is the runner that checks and times it.
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
 * 1 a wrong result, a CUDA error, or several GPUs that wait for each other (gpus.cuh); 2 usage.
 */
#ifndef ROOFLINE_WORKLOAD_CUH
#define ROOFLINE_WORKLOAD_CUH

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_check.cuh"
#include "stamps.cuh"
#include "workload_options.cuh"

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
	/* Instead of those two, where results need not agree to the last bit. */
	bool is_real = false;
	double found_real = 0, expected_real = 0;
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
	std::vector<parameter> parameters = {}; /* sizes beside --size */
	/* A reason why this machine, which has a GPU, can run no variant, nullptr when it can. */
	const char *(*why_skipped)() = nullptr;
	/* What was measured beside the times: lines below the table. */
	std::vector<std::string> (*remarks)(const problem &) = nullptr;
	/* Of processes that a launcher has started, the first one prints. */
	bool is_job = false;
	/* Before CUDA is touched: starts the processes for the other GPUs, and changes `device` in each to its own
	 * (processes.cuh).  A reason why there are none, nullptr where there are, or where no GPU is there. */
	const char *(*start)(long &device) = nullptr;
};

/* ---- helpers for workloads ---- */

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

/* The least index that search(begin, end, context) finds in one of the parts of 0..count, -1: none.  On all cores: comparing
 * takes longer than most runs.  In workload.cu, so that <thread> is compiled once. */
long find_in_parts(long count, long (*search)(long begin, long end, void *context), void *context);

/* The least i under count that is_wrong, -1: none. */
template <class function> long find_first(long count, function is_wrong)
{
	return find_in_parts(
		count,
		[](long i, long end, void *context) {
			function &is_wrong_at = *(function *)context;

			while (i < end && !is_wrong_at(i))
				i++;
			return i < end ? i : -1;
		},
		&is_wrong);
}

/* The least i under count for which differ(value i, i); found has that value then.  For arrays too large to
 * keep a second time: in chunks. */
template <class T, class function>
long find_first_value(const T *device, long count, T &found, function differ)
{
	const long chunk = 1 << 22;
	std::vector<T> values(std::min(chunk, count));

	for (long start = 0; start < count; start += chunk) {
		long length = std::min(chunk, count - start);
		long first;

		CUDA_CHECK(cudaMemcpy(values.data(), device + start, length * sizeof(T),
				      cudaMemcpyDeviceToHost));
		first = find_first(length, [&](long i) { return differ(values[i], start + i); });
		if (first < 0)
			continue;
		found = values[first];
		return start + first;
	}
	return -1;
}

/* compare for arrays too large to keep a second time, with reference(i) for value i.  It is called by several
 * threads. */
template <class T, class function>
struct difference compare_each(const T *device, long count, function reference)
{
	T found = {};
	long first = find_first_value(device, count, found,
				      [&](T value, long i) { return value != (T)reference(i); });

	if (first < 0)
		return {-1, 0, 0};
	return {first, (unsigned long long)found, (unsigned long long)reference(first)};
}

/* Likewise for results that differ by the order of rounding: by at most that share of the reference. */
template <class function>
struct difference compare_close(const float *device, long count, double share, function reference)
{
	float found = 0;
	/* so that no number, which compares to nothing, differs */
	long first = find_first_value(device, count, found, [&](float value, long i) {
		double expected = reference(i);

		return !(std::fabs(value - expected) <= share * std::fabs(expected));
	});

	if (first < 0)
		return {-1, 0, 0};
	return {first, 0, 0, true, found, reference(first)};
}

/* ---- what the runner sees of it, which is compiled once for all workloads ---- */

struct variant_facts {
	const char *name, *summary, *baseline;
	bool has_setup;
	const char *(*why_too_much)(long size, long iterations);
};

/* A workload without the type of its problem; which: the index into variants. */
struct any_workload {
	const char *name;
	long size, iterations;
	const char *const *stamp_names;
	std::vector<parameter> parameters;
	std::vector<variant_facts> variants;
	const char *(*why_machine_skipped)();
	bool is_job;
	const char *(*start)(long &device);

	virtual std::vector<std::string> remarks() = 0;
	virtual void prepare(long size, int iterations) = 0;
	virtual void reset() = 0;
	virtual struct difference check() = 0;
	virtual void release() = 0;
	virtual const char *why_skipped(size_t which) = 0;
	virtual void setup(size_t which) = 0;
	virtual void run(size_t which, int iterations) = 0;
	virtual void teardown(size_t which) = 0;
};

template <class problem> struct workload_of : any_workload {
	const workload<problem> &work;
	problem state = {};

	explicit workload_of(const workload<problem> &work) : work(work)
	{
		name = work.name;
		size = work.size;
		iterations = work.iterations;
		stamp_names = work.stamp_names;
		parameters = work.parameters;
		why_machine_skipped = work.why_skipped;
		is_job = work.is_job;
		start = work.start;
		for (const variant<problem> &one : work.variants)
			variants.push_back({one.name, one.summary, one.baseline, !!one.setup,
					    one.why_too_much});
	}
	std::vector<std::string> remarks() override
	{
		return work.remarks ? work.remarks(state) : std::vector<std::string>();
	}
	void prepare(long size, int iterations) override
	{
		work.prepare(state, size, iterations);
	}
	void reset() override
	{
		work.reset(state);
	}
	struct difference check() override
	{
		return work.check(state);
	}
	void release() override
	{
		work.release(state);
	}
	const char *why_skipped(size_t which) override
	{
		auto why = work.variants[which].why_skipped;

		return why ? why(state) : nullptr;
	}
	void setup(size_t which) override
	{
		work.variants[which].setup(state);
	}
	void run(size_t which, int iterations) override
	{
		work.variants[which].run(state, iterations);
	}
	void teardown(size_t which) override
	{
		if (work.variants[which].teardown)
			work.variants[which].teardown(state);
	}
};

int run_workload(any_workload &work, int argc, char **argv);

/* RUN_WORKLOAD(struct workload<problem>): main of the program. */
#define RUN_WORKLOAD(work)                              \
	int main(int argc, char **argv)                 \
	{                                               \
		workload_of whole(work);                \
                                                        \
		return run_workload(whole, argc, argv); \
	}

#endif
