/*
 * ceiling.cuh - what the programs that measure roofs share: options, lines, clocks and timing.
 *
 * A program lists its measurements, one per row of roofline/ceilings.h and parameter, and hands
 * them to ceiling_run().  A roof is the best that can be had, so a measurement of throughput is a
 * set of variants: each is timed once, and the samples are taken of the fastest.
 */
#ifndef ROOFLINE_CEILING_CUH
#define ROOFLINE_CEILING_CUH

#include <algorithm>
#include <argp.h>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "cuda_check.cuh"
#include "roofline/ceilings.h"

struct ceiling_bench {
	const char *program;
	bool quick;
	int sample_count;
	double sample_s, tune_s; /* how long one sample takes, and one trial of a variant */
	cudaDeviceProp gpu;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	double *probed_mhz; /* page-locked; clock_probe writes it */
	/* Pause before a sample.  Where the power limit lowers the clock within milliseconds, a roof is
	 * what a short kernel gets: no kernel may lie above it. */
	double rest_s;
};

struct ceiling_reading {
	double value;  /* in the unit of the row */
	double sm_mhz; /* 0 when nothing ran on the SMs */
};

struct ceiling_measurement {
	enum ceiling_id id;
	long parameter;
	std::string skip;	       /* why this GPU cannot; empty when it can */
	std::function<void()> prepare; /* before the first sample */
	std::function<struct ceiling_reading()> sample;
};

/* One way to reach a roof.  enqueue puts repeats times the work into the stream of the bench. */
struct ceiling_variant {
	double work; /* bytes or operations of one repeat */
	std::function<void(long repeats)> enqueue;
};

struct ceiling_row {
	const char *name, *program;
};

#define CEILING_ROW(name, program, unit, parameter, meaning) {#name, #program},
static const struct ceiling_row ceiling_rows[] = {CEILINGS(CEILING_ROW)};
#undef CEILING_ROW

/* A program that hangs is worse than one that fails: alarm() ends it. */
static const unsigned ceiling_limit_s = 55;

/* ---- options ---- */

static inline error_t ceiling_parse_option(int key, char *text, struct argp_state *state)
{
	struct ceiling_bench *bench = (struct ceiling_bench *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = nullptr; /* getopt's own line is enough */
		return 0;
	case 'q':
		bench->quick = true;
		return 0;
	case ARGP_KEY_ARG:
		fprintf(stderr, "%s: unexpected argument '%s'; see %s --help\n", bench->program,
			text, bench->program);
		exit(2);
	}
	return ARGP_ERR_UNKNOWN;
}

static inline void ceiling_parse(struct ceiling_bench &bench, int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"quick", 'q', nullptr, 0, "fewer and shorter samples", 0},
		{},
	};
	const struct argp parser = {options,
				    ceiling_parse_option,
				    nullptr,
				    "Measures roofs of this GPU and prints a line per sample.",
				    nullptr,
				    nullptr,
				    nullptr};

	if (argp_parse(&parser, argc, argv, 0, nullptr, &bench))
		exit(2);
}

/* ---- clocks ---- */

static __device__ __forceinline__ unsigned long long ceiling_now_ns()
{
	unsigned long long now_ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns)::"memory");
	return now_ns;
}

/* The next moment at which globaltimer ticks: it may step by 32 ns or by a whole microsecond. */
static __device__ __forceinline__ unsigned long long ceiling_tick_ns(unsigned long long from_ns)
{
	unsigned long long first_ns = ceiling_now_ns(), now_ns = first_ns;

	while (now_ns == first_ns || now_ns < from_ns)
		now_ns = ceiling_now_ns();
	return now_ns;
}

static __global__ void clock_probe(double *mhz)
{
	const unsigned long long span_ns = 100000;
	unsigned long long begin_ns = ceiling_tick_ns(0);
	long long begin_cycles = clock64();
	unsigned long long end_ns = ceiling_tick_ns(begin_ns + span_ns);
	long long end_cycles = clock64();

	*mhz = 1000.0 * (double)(end_cycles - begin_cycles) / (double)(end_ns - begin_ns);
}

static __global__ void warm_up_kernel(unsigned long long span_ns)
{
	unsigned long long begin_ns = ceiling_now_ns();

	while (ceiling_now_ns() - begin_ns < span_ns)
		;
}

/* The clock of the SMs at what the stream has just been doing: nothing lies between. */
static inline void ceiling_probe_clock(struct ceiling_bench &bench)
{
	CUDA_LAUNCH(clock_probe<<<1, 1, 0, bench.stream>>>(bench.probed_mhz));
}

/* ---- start ---- */

static inline void ceiling_find_gpu(struct ceiling_bench &bench)
{
	int count = 0;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error != cudaSuccess || count < 1) {
		fprintf(stderr, "%s: needs an NVIDIA GPU and its driver: %s\n", bench.program,
			error == cudaSuccess ? "none found" : cudaGetErrorString(error));
		exit(1);
	}
	CUDA_CHECK(cudaSetDevice(0));
	CUDA_CHECK(cudaGetDeviceProperties(&bench.gpu, 0));
}

static inline void ceiling_alarm(int)
{
	static const char message[] =
		"a program of rooflinectl ceilings has run for 55 s and gives up\n";

	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(1);
	_exit(1);
}

/* All that comes before CUDA: a program may start others of itself then, and goes on with ceiling_open. */
static inline struct ceiling_bench ceiling_begin(const char *program, int argc, char **argv)
{
	struct ceiling_bench bench = {};

	bench.program = program;
	ceiling_parse(bench, argc, argv);
	setvbuf(stdout, nullptr, _IOLBF, 0);
	signal(SIGALRM, ceiling_alarm);
	alarm(ceiling_limit_s);
	bench.sample_count = bench.quick ? 5 : 15;
	bench.sample_s = bench.quick ? 0.008 : 0.040;
	bench.tune_s = bench.quick ? 0.002 : 0.008;
	return bench;
}

static inline void ceiling_open(struct ceiling_bench &bench)
{
	ceiling_find_gpu(bench);
	CUDA_CHECK(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreate(&bench.begin));
	CUDA_CHECK(cudaEventCreate(&bench.end));
	CUDA_CHECK(cudaMallocHost(&bench.probed_mhz, sizeof(*bench.probed_mhz)));
	/* An idle GPU has lowered its clocks. */
	CUDA_LAUNCH(
		warm_up_kernel<<<bench.gpu.multiProcessorCount, 128, 0, bench.stream>>>(100000000));
	CUDA_CHECK(cudaStreamSynchronize(bench.stream));
}

static inline struct ceiling_bench ceiling_start(const char *program, int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_begin(program, argc, argv);

	ceiling_open(bench);
	return bench;
}

/* Blocks of a kernel that all run at once on the whole device; 0 when not one fits. */
template <typename KERNEL>
static inline int ceiling_resident_blocks(const struct ceiling_bench &bench, KERNEL kernel,
					  int block_size, size_t shared_bytes = 0)
{
	int per_sm = 0;

	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block_size,
								 shared_bytes));
	return per_sm * bench.gpu.multiProcessorCount;
}

/* ---- timing of throughput ---- */

static inline double ceiling_time_s(struct ceiling_bench &bench,
				    const struct ceiling_variant &variant, long repeats,
				    double rest_s = 0)
{
	float ms;

	if (rest_s > 0)
		usleep((useconds_t)(rest_s * 1e6));
	CUDA_CHECK(cudaEventRecord(bench.begin, bench.stream));
	variant.enqueue(repeats);
	CUDA_CHECK(cudaEventRecord(bench.end, bench.stream));
	ceiling_probe_clock(bench);
	CUDA_CHECK(cudaStreamSynchronize(bench.stream));
	CUDA_CHECK(cudaEventElapsedTime(&ms, bench.begin, bench.end));
	return std::max((double)ms * 1e-3, 1e-9);
}

/* So that a kernel can count them in an int. */
static const long ceiling_repeats_limit = 1L << 30;

/* Repeats that take about so long.  A step of at most 16 keeps a wrong guess short. */
static inline long ceiling_calibrate(struct ceiling_bench &bench,
				     const struct ceiling_variant &variant, double target_s,
				     long repeats, double *taken_s)
{
	double s = ceiling_time_s(bench, variant, repeats);

	while (s < 0.7 * target_s && repeats < ceiling_repeats_limit) {
		repeats = (long)(repeats * std::min(std::max(target_s / s, 2.0), 16.0));
		repeats = std::min(repeats, ceiling_repeats_limit);
		s = ceiling_time_s(bench, variant, repeats);
	}
	*taken_s = s;
	return repeats;
}

/* The fastest of the variants, and how often it is repeated in one sample. */
struct ceiling_choice {
	std::vector<struct ceiling_variant> variants;
	size_t best;
	long repeats;
};

static inline void ceiling_choose(struct ceiling_bench &bench, struct ceiling_choice &choice)
{
	double best_rate = 0;

	for (size_t i = 0; i < choice.variants.size(); i++) {
		const struct ceiling_variant &variant = choice.variants[i];
		double s, rate;
		long repeats;

		variant.enqueue(1); /* loads the kernel */
		repeats = ceiling_calibrate(bench, variant, bench.tune_s, 1, &s);
		s = std::min(s, ceiling_time_s(bench, variant, repeats, bench.rest_s / 5));
		rate = variant.work * repeats / s;
		if (rate > best_rate) {
			best_rate = rate;
			choice.best = i;
			choice.repeats = repeats;
		}
	}
	if (best_rate > 0) {
		double s;
		choice.repeats = ceiling_calibrate(bench, choice.variants[choice.best],
						   bench.sample_s, choice.repeats, &s);
	}
}

/* A row whose samples are work per second of the fastest variant. */
static inline struct ceiling_measurement
ceiling_throughput(struct ceiling_bench &bench, enum ceiling_id id, long parameter,
		   std::vector<struct ceiling_variant> variants, bool runs_on_sms = true)
{
	auto choice = std::make_shared<struct ceiling_choice>();
	struct ceiling_measurement m = {id, parameter, "", nullptr, nullptr};

	if (variants.empty())
		m.skip = "no variant of the kernel fits this GPU";
	choice->variants = std::move(variants);
	m.prepare = [&bench, choice]() { ceiling_choose(bench, *choice); };
	m.sample = [&bench, choice, runs_on_sms ]() -> struct ceiling_reading {
		const struct ceiling_variant &best = choice->variants[choice->best];
		double s = ceiling_time_s(bench, best, choice->repeats, bench.rest_s);

		return {best.work * choice->repeats / s, runs_on_sms ? *bench.probed_mhz : 0};
	};
	return m;
}

/* A row in ns: what one takes of as many as the work of the fastest variant is. */
static inline struct ceiling_measurement ceiling_time(struct ceiling_bench &bench,
						      enum ceiling_id id, long parameter,
						      std::vector<struct ceiling_variant> variants)
{
	struct ceiling_measurement m =
		ceiling_throughput(bench, id, parameter, std::move(variants), false);
	auto per_s = m.sample;

	m.sample = [per_s]() -> struct ceiling_reading {
		return {1e9 / per_s().value, 0};
	};
	return m;
}

static inline struct ceiling_measurement ceiling_skip(enum ceiling_id id, long parameter,
						      const std::string &reason)
{
	return {id, parameter, reason, nullptr, nullptr};
}

static inline double ceiling_median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values.empty() ? 0 : values[values.size() / 2];
}

/* ---- the lines ---- */

/* Every row of this program and no other's: a row that nobody measures is a mistake in here. */
static inline void ceiling_check_rows(const struct ceiling_bench &bench,
				      const std::vector<struct ceiling_measurement> &measurements)
{
	bool measured[CEILING_COUNT] = {};

	for (const struct ceiling_measurement &m : measurements)
		measured[m.id] = true;
	for (int id = 0; id < CEILING_COUNT; id++) {
		bool ours = strcmp(ceiling_rows[id].program, bench.program) == 0;

		if (ours == measured[id])
			continue;
		fprintf(stderr, "%s: %s in roofline/ceilings.h, and %s here\n", bench.program,
			ceiling_rows[id].name, measured[id] ? "not its row" : "not measured");
		exit(1);
	}
}

static inline void ceiling_print_plan(const struct ceiling_bench &bench,
				      const std::vector<struct ceiling_measurement> &measurements)
{
	long count = 0;

	for (const struct ceiling_measurement &m : measurements)
		count += m.skip.empty() ? bench.sample_count : 0;
	printf("plan %ld\n", count);
}

static inline void ceiling_measure(const struct ceiling_bench &bench,
				   const struct ceiling_measurement &m)
{
	const char *name = ceiling_rows[m.id].name;

	if (!m.skip.empty()) {
		printf("skip %s %ld %s\n", name, m.parameter, m.skip.c_str());
		return;
	}
	if (m.prepare)
		m.prepare();
	for (int i = 0; i < bench.sample_count; i++) {
		struct ceiling_reading reading = m.sample();

		printf("sample %s %ld %.9g %.0f\n", name, m.parameter, reading.value,
		       reading.sm_mhz);
	}
}

/* Prints the plan and every sample; returns the program's exit code. */
static inline int ceiling_run(const struct ceiling_bench &bench,
			      const std::vector<struct ceiling_measurement> &measurements)
{
	ceiling_check_rows(bench, measurements);
	ceiling_print_plan(bench, measurements);
	for (const struct ceiling_measurement &m : measurements)
		ceiling_measure(bench, m);
	CUDA_CHECK(cudaDeviceSynchronize());
	if (!ferror(stdout) && fflush(stdout) == 0)
		return 0;
	fprintf(stderr, "%s: cannot write to stdout\n", bench.program);
	return 1;
}

#endif
