/*
 * training.cuh - a training step on several GPUs, each of which has all weights and some of the samples.
 *
 * A layer's gradients are sums over samples of what affine steps make of its weights (affine.cuh).  The gradients of
 * all GPUs are added up, and every GPU changes its weights by the sums, so that all have the same weights again.  All of it
 * is whole numbers modulo 2^32: the order of additions does not matter, and a weight after any number of steps is an
 * affine function of what it was, which the scalar reference knows at once.
 */
#ifndef ROOFLINE_TRAINING_CUH
#define ROOFLINE_TRAINING_CUH

#include <vector>

#include "affine.cuh"
#include "gpus.cuh"
#include "nccl.cuh"
#include "workload.cuh"

static const int training_block_size = 256;
static const struct affine training_update = {1664525u, 1013904223u};

/* What all GPUs do alike. */
struct training {
	long size;  /* weights, and gradients */
	int layers; /* in which they lie, one after the other */
	int steps;  /* affine ones, for a gradient of one sample */
};

/* What one GPU has. */
struct replica {
	uint32_t *weights, *gradients;
	uint32_t *one_value; /* for the wrong order */
	cudaStream_t compute, reduce;
	std::vector<cudaEvent_t> computed; /* the gradients of a bucket, by its number */
	cudaEvent_t reduced;		   /* all of them */
	cudaGraphExec_t graph;
};

/* Samples of a GPU: their numbers are their input. */
struct samples {
	int first, count;
};

static inline __host__ __device__ uint32_t training_shift(int sample)
{
	return (uint32_t)sample * 40503u;
}

static inline uint32_t training_initial(long i)
{
	return (uint32_t)i * 2654435769u;
}

static __global__ void gradient_kernel(const uint32_t *weights, uint32_t *gradients, long count,
				       struct affine step, int steps, struct samples samples)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t sum = 0;

	if (i >= count)
		return;
	for (int sample = samples.first; sample < samples.first + samples.count; sample++)
		sum += affine_steps(step, weights[i] + training_shift(sample), steps);
	gradients[i] = sum;
}

static __global__ void update_kernel(uint32_t *weights, const uint32_t *gradients, long count,
				     struct affine update)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		weights[i] = affine_of(update, weights[i]) + gradients[i];
}

/* ---- parts of a step ---- */

struct training_part {
	long begin, count;
};

/* Layers from `first` up to `end`. */
static inline struct training_part training_layers(const struct training &t, int first, int end)
{
	long begin = t.size * first / t.layers;

	return {begin, t.size * end / t.layers - begin};
}

static inline unsigned training_blocks(long count)
{
	return (unsigned)((count + training_block_size - 1) / training_block_size);
}

/* A kernel for each layer. */
static inline void training_backward(const struct training &t, replica &r, int first, int end,
				     struct samples samples)
{
	nvtx_range range("backward");

	for (int layer = first; layer < end; layer++) {
		struct training_part part = training_layers(t, layer, layer + 1);

		if (part.count)
			CUDA_LAUNCH(gradient_kernel<<<training_blocks(part.count),
						      training_block_size, 0, r.compute>>>(
				r.weights + part.begin, r.gradients + part.begin, part.count,
				affine_step, t.steps, samples));
	}
}

static inline void training_apply(const struct training &, replica &r, struct training_part part)
{
	nvtx_range range("update");

	if (part.count)
		CUDA_LAUNCH(update_kernel<<<training_blocks(part.count), training_block_size, 0,
					    r.compute>>>(r.weights + part.begin,
							 r.gradients + part.begin, part.count,
							 training_update));
}

static inline void training_reduce(gpu &one, nccl_group &group, replica &r,
				   struct training_part part, cudaStream_t stream)
{
	nvtx_range range("all-reduce");

	if (part.count)
		nccl_all_reduce(one, group, r.gradients + part.begin, part.count, stream,
				"an all-reduce of gradients");
}

/* All gradients, then their sums, then the weights: one after the other. */
static inline void training_step(const struct training &t, gpu &one, nccl_group &group, replica &r,
				 struct samples samples)
{
	struct training_part all = training_layers(t, 0, t.layers);

	training_backward(t, r, 0, t.layers, samples);
	training_reduce(one, group, r, all, r.compute);
	training_apply(t, r, all);
}

/* In buckets: while one is added up in the other stream, the gradients of the next are computed. */
static inline void training_step_in_buckets(const struct training &t, gpu &one, nccl_group &group,
					    replica &r, struct samples samples, int buckets)
{
	for (int i = 0; i < buckets; i++) {
		int first = t.layers * i / buckets, end = t.layers * (i + 1) / buckets;

		training_backward(t, r, first, end, samples);
		CUDA_CHECK(cudaEventRecord(r.computed[i], r.compute));
		CUDA_CHECK(cudaStreamWaitEvent(r.reduce, r.computed[i], 0));
		training_reduce(one, group, r, training_layers(t, first, end), r.reduce);
	}
	CUDA_CHECK(cudaEventRecord(r.reduced, r.reduce));
	CUDA_CHECK(cudaStreamWaitEvent(r.compute, r.reduced, 0));
	training_apply(t, r, training_layers(t, 0, t.layers));
}

/* Everything that one iteration puts into the compute stream, as a graph.  Other threads go on with what is forbidden in
 * a capture. */
template <class function> void training_capture(replica &r, function step)
{
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamBeginCapture(r.compute, cudaStreamCaptureModeThreadLocal));
	step();
	CUDA_CHECK(cudaStreamEndCapture(r.compute, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&r.graph, graph, 0));
	CUDA_CHECK(cudaGraphUpload(r.graph, r.compute));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static inline void training_launch(const replica &r)
{
	nvtx_range range("graph of a step");

	CUDA_CHECK(cudaGraphLaunch(r.graph, r.compute));
}

static inline void training_forget(const gpu_team &team, const std::vector<replica> &replicas)
{
	for (const std::unique_ptr<gpu> &one : team.gpus)
		gpus_with(*one,
			  [&] { CUDA_CHECK(cudaGraphExecDestroy(replicas[one->index].graph)); });
}

/* ---- the wrong order ---- */

static inline void training_announce_wrong_order(const char *name)
{
	if (gpus_wrong_order)
		fprintf(stderr,
			"%s: in the wrong order: rank 1 adds up first what the others add up last\n",
			name);
}

/* An all-reduce of one value: of rank 1 before a step, of all others behind it.  What NCCL adds up are the n-th
 * collectives of all ranks, so it is one value here and many there. */
static inline void training_one_value(gpu &one, nccl_group &group, replica &r, bool is_before)
{
	if (gpus_wrong_order && is_before == (one.rank == 1))
		nccl_all_reduce(one, group, r.one_value, 1, r.compute,
				"an all-reduce of one value");
}

/* ---- memory ---- */

static inline void training_open(const struct training &t, replica &r, int most_buckets)
{
	int least_priority, greatest_priority;

	CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least_priority, &greatest_priority));
	r.weights = device_array<uint32_t>(t.size);
	r.gradients = device_array<uint32_t>(t.size);
	r.one_value = device_array<uint32_t>(1);
	CUDA_CHECK(cudaMemset(r.one_value, 0, sizeof(uint32_t)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&r.compute, cudaStreamNonBlocking));
	/* A collective is a few blocks that others wait for: they go before those of a large grid. */
	CUDA_CHECK(
		cudaStreamCreateWithPriority(&r.reduce, cudaStreamNonBlocking, greatest_priority));
	r.computed.resize(most_buckets);
	for (cudaEvent_t &event : r.computed)
		CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CUDA_CHECK(cudaEventCreateWithFlags(&r.reduced, cudaEventDisableTiming));
}

static inline void training_reset(const struct training &t, replica &r)
{
	std::vector<uint32_t> initial(t.size);

	for (long i = 0; i < t.size; i++)
		initial[i] = training_initial(i);
	CUDA_CHECK(cudaMemcpy(r.weights, initial.data(), t.size * sizeof(uint32_t),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(r.gradients, 0xff, t.size * sizeof(uint32_t)));
	CUDA_CHECK(cudaDeviceSynchronize());
}

static inline void training_close(replica &r)
{
	for (cudaEvent_t event : r.computed)
		CUDA_CHECK(cudaEventDestroy(event));
	CUDA_CHECK(cudaEventDestroy(r.reduced));
	for (cudaStream_t stream : {r.compute, r.reduce})
		CUDA_CHECK(cudaStreamDestroy(stream));
	for (uint32_t *memory : {r.weights, r.gradients, r.one_value})
		CUDA_CHECK(cudaFree(memory));
}

/* ---- the reference ---- */

/* What a step of so many samples does to a weight. */
static inline struct affine training_reference(const struct training &t, int samples)
{
	struct affine gradient = affine_times(affine_step, t.steps), all = training_update;

	for (int sample = 0; sample < samples; sample++) {
		all.factor += gradient.factor;
		all.offset += affine_of(gradient, training_shift(sample));
	}
	return all;
}

/* Where the weights of the GPUs of this process, of the first `used` of the job, first differ from the reference after so
 * many steps. */
static inline struct difference training_check(const struct training &t, const gpu_team &team,
					       const std::vector<replica> &replicas, int samples,
					       int iterations, int used)
{
	struct affine all = affine_times(training_reference(t, samples), iterations);
	struct difference first = {-1, 0, 0};

	for (const std::unique_ptr<gpu> &one : team.gpus)
		if (first.index < 0 && one->rank < used)
			gpus_with(*one, [&] {
				first = compare_each(replicas[one->index].weights, t.size,
						     [&](long i) {
							     return affine_of(all,
									      training_initial(i));
						     });
			});
	return first;
}

#endif
