/*
 * orchestra.cuh - what the programs that measure launches share: stamps, gates and rows.
 *
 * Device times that add up (one more kernel, node, iteration, barrier) are the difference between
 * many and few of them, queued behind a closed gate so that the host is never what the device waits
 * for.  Times from one kernel to another are the difference of two readings of globaltimer (32 ns
 * apart on Hopper; a GPU on which it steps by more shows it in these rows).
 */
#ifndef ROOFLINE_ORCHESTRA_CUH
#define ROOFLINE_ORCHESTRA_CUH

#include <ctime>

#include "ceiling.cuh"

/* Written by the host and read by the device, or the other way; page-locked. */
struct shared_words {
	volatile unsigned gate_open;
	volatile unsigned question;
	volatile unsigned copied;
	volatile unsigned long long answer;
	volatile unsigned long long start_ns;
};

struct orchestra {
	struct ceiling_bench *bench;
	int trials;			   /* whose median is one sample */
	cudaStream_t stream, other_stream; /* the first is the bench's */
	cudaEvent_t reached;		   /* without a time: only to be waited for */
	struct shared_words *shared;
	unsigned long long *stamps; /* two, in device memory */
	int *left;		    /* iterations, in device memory */
	unsigned *values[2];	    /* of a step, a block's for each SM, in device memory */
};

static const int step_block_size = 256;

/* Kernels and loops that wait for the other side give up after so long. */
static const unsigned long long patience_ns = 500000000;

static inline unsigned long long host_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* ---- kernels ---- */

static __global__ void empty_kernel(int)
{
}

static __global__ void gate_kernel(const struct shared_words *shared)
{
	unsigned long long begin_ns = ceiling_now_ns();

	while (!shared->gate_open && ceiling_now_ns() - begin_ns < patience_ns)
		;
}

static __global__ void stamp_kernel(volatile unsigned long long *stamp)
{
	*stamp = ceiling_now_ns();
}

/* Runs long enough for the host to be waiting, and ends with the stamp. */
static __global__ void busy_kernel(volatile unsigned long long *stamp, unsigned long long span_ns)
{
	unsigned long long begin_ns = ceiling_now_ns(), now_ns = begin_ns;

	while (now_ns - begin_ns < span_ns)
		now_ns = ceiling_now_ns();
	*stamp = now_ns;
}

/* What a small kernel does at least: a thread's value depends on one of the step before. */
static __device__ inline void step(const unsigned *from, unsigned *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i] + 1;
}

/* ---- gates ---- */

/* Device time of what enqueue puts into the stream, all of which is queued before any starts. */
static inline double gated_ns(struct orchestra &o, const std::function<void()> &enqueue)
{
	float ms;

	o.shared->gate_open = 0;
	CUDA_LAUNCH(gate_kernel<<<1, 1, 0, o.stream>>>(o.shared));
	CUDA_CHECK(cudaEventRecord(o.bench->begin, o.stream));
	enqueue();
	CUDA_CHECK(cudaEventRecord(o.bench->end, o.stream));
	o.shared->gate_open = 1;
	CUDA_CHECK(cudaStreamSynchronize(o.stream));
	CUDA_CHECK(cudaEventElapsedTime(&ms, o.bench->begin, o.bench->end));
	return ms * 1e6;
}

static inline double median_of(int trials, const std::function<double()> &trial)
{
	std::vector<double> values;

	for (int i = 0; i < trials; i++)
		values.push_back(trial());
	return ceiling_median(values);
}

/* Device time of one step, where enqueue(n) queues n of them. */
static inline double step_ns(struct orchestra &o, int few, int many,
			     const std::function<void(int)> &enqueue)
{
	return median_of(o.trials / 2, [&]() {
		double few_ns = gated_ns(o, [&]() { enqueue(few); });

		return (gated_ns(o, [&]() { enqueue(many); }) - few_ns) / (many - few);
	});
}

/* The mean of the middle half: globaltimer steps, and a median would be one of its steps. */
static inline double middle_of(int trials, const std::function<double()> &trial)
{
	std::vector<double> values;
	double sum = 0;

	for (int i = 0; i < trials; i++)
		values.push_back(trial());
	std::sort(values.begin(), values.end());
	for (int i = trials / 4; i < trials - trials / 4; i++)
		sum += values[i];
	return sum / (trials - 2 * (trials / 4));
}

/* From the first stamp to the second, both of which run sets before the device is idle again. */
static inline double between_stamps_ns(struct orchestra &o, const std::function<void()> &run)
{
	return middle_of(o.trials, [&]() {
		unsigned long long stamps[2];

		CUDA_CHECK(cudaMemset(o.stamps, 0, sizeof(stamps)));
		CUDA_CHECK(cudaDeviceSynchronize());
		run();
		CUDA_CHECK(cudaDeviceSynchronize());
		CUDA_CHECK(cudaMemcpy(stamps, o.stamps, sizeof(stamps), cudaMemcpyDeviceToHost));
		if (!stamps[0] || !stamps[1]) {
			fprintf(stderr, "%s: a launch did not run\n", o.bench->program);
			exit(1);
		}
		return (double)stamps[1] - (double)stamps[0];
	});
}

static inline cudaGraphExec_t instantiate(struct orchestra &o, cudaGraph_t graph,
					  unsigned long long flags = 0)
{
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, flags));
	CUDA_CHECK(cudaGraphUpload(instance, o.stream));
	CUDA_CHECK(cudaStreamSynchronize(o.stream));
	return instance;
}

/* ---- the rows ---- */

enum place { ON_HOST, ON_SMS };

/* The first reading is thrown away: it loads kernels. */
static inline struct ceiling_measurement figure(struct orchestra &o, enum ceiling_id id,
						long parameter, enum place place,
						std::function<double()> ns)
{
	struct ceiling_measurement m = {id, parameter, "", nullptr, nullptr};

	m.prepare = [ns]() { ns(); };
	m.sample = [&o, ns, place ]() -> struct ceiling_reading {
		struct ceiling_reading reading = {ns(), 0};

		if (place == ON_HOST)
			return reading;
		ceiling_probe_clock(*o.bench);
		CUDA_CHECK(cudaStreamSynchronize(o.stream));
		reading.sm_mhz = *o.bench->probed_mhz;
		return reading;
	};
	return m;
}

static inline struct orchestra orchestra_open(struct ceiling_bench &bench)
{
	struct orchestra o = {};

	o.bench = &bench;
	o.trials = bench.quick ? 11 : 41;
	o.stream = bench.stream;
	CUDA_CHECK(cudaStreamCreateWithFlags(&o.other_stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&o.reached, cudaEventDisableTiming));
	CUDA_CHECK(cudaMallocHost(&o.shared, sizeof(*o.shared)));
	CUDA_CHECK(cudaMalloc(&o.stamps, 2 * sizeof(*o.stamps)));
	CUDA_CHECK(cudaMalloc(&o.left, sizeof(*o.left)));
	for (unsigned *&values : o.values) {
		size_t size = sizeof(*values) * bench.gpu.multiProcessorCount * step_block_size;

		CUDA_CHECK(cudaMalloc(&values, size));
		CUDA_CHECK(cudaMemset(values, 0, size));
	}
	return o;
}

static inline void orchestra_close(struct orchestra &o)
{
	CUDA_CHECK(cudaStreamDestroy(o.other_stream));
	CUDA_CHECK(cudaEventDestroy(o.reached));
	CUDA_CHECK(cudaFreeHost(o.shared));
	CUDA_CHECK(cudaFree(o.stamps));
	CUDA_CHECK(cudaFree(o.left));
	for (unsigned *values : o.values)
		CUDA_CHECK(cudaFree(values));
}

#endif
