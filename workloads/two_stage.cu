/*
 * two_stage (H8): batches of sequences go through attention on one GPU, and then through an MLP on another one.
 *
 * Handed over by the host, one GPU waits while the other one works.  With two buffers for what is handed over, batch
 * i + 1 can be in the first stage while batch i is in the second.  Copies and events on streams do that, a batch at a
 * time; kernels that stay on both GPUs do it a sequence at a time, without the host: a block writes its sequence into
 * the other GPU's memory and sets a signal there.
 */
#include "gpus.cuh"
#include "signals.cuh"
#include "workload.cuh"

static const int tokens = 64, width = 64; /* of a sequence; the MLP's hidden layer is as wide */
static const int values = tokens * width;
static const int block_size = 256;
static const int buffers = 2; /* batch i has buffer i % 2 of everything */
static const int period = 64; /* sequences that differ; then they come again */

/* What both stages know.  Of a sequence or of its buffer: all arrays have `size` sequences to each buffer. */
struct pipe {
	float *in[buffers], *attended[buffers]; /* on the first GPU */
	float *inbox[buffers], *out[buffers];	/* on the second one */
	float *weights[2];			/* of the MLP's layers */
	uint64_t *consumed, *ready; /* signals for each sequence: on the first, on the second GPU */
	long size;
	bool is_wrong; /* the wrong order: a signal is set before what it stands for was written */
};

struct problem {
	struct pipe pipe;
	int iterations;
	gpu_team team;
	int resident_blocks[2];
	cudaStream_t stream[2];			     /* of each GPU */
	cudaEvent_t arrived[buffers], read[buffers]; /* in the inbox; by the second stage */
	std::vector<float> expected[buffers];	     /* of the sequences that differ */
	const char *peer_problem;
};

/* ---- the stages, by one block for one sequence ---- */

struct tile {
	float of[tokens][width + 1]; /* so that columns are in different banks */
};

static __device__ void load(struct tile &tile, const float *from)
{
	for (int i = threadIdx.x; i < values; i += block_size)
		tile.of[i / width][i % width] = __ldcg(from + i);
	__syncthreads();
}

/* A row of scores by one warp: the weights of its tokens. */
static __device__ void softmax_rows(struct tile &scores)
{
	int lane = threadIdx.x % 32;

	for (int row = threadIdx.x / 32; row < tokens; row += block_size / 32) {
		float low = scores.of[row][lane], high = scores.of[row][lane + 32];
		float most = fmaxf(low, high), sum;

		for (int distance = 16; distance; distance /= 2)
			most = fmaxf(most, __shfl_xor_sync(~0u, most, distance));
		low = expf(low - most);
		high = expf(high - most);
		sum = low + high;
		for (int distance = 16; distance; distance /= 2)
			sum += __shfl_xor_sync(~0u, sum, distance);
		scores.of[row][lane] = low / sum;
		scores.of[row][lane + 32] = high / sum;
	}
	__syncthreads();
}

/* Tokens attend to each other as they are: queries, keys and values are the input. */
static __device__ __forceinline__ void attend(const float *in, float *out)
{
	__shared__ struct tile x, scores;

	load(x, in);
	for (int i = threadIdx.x; i < tokens * tokens; i += block_size) {
		float sum = 0;

		for (int k = 0; k < width; k++)
			sum += x.of[i / tokens][k] * x.of[i % tokens][k];
		scores.of[i / tokens][i % tokens] = sum / 8;
	}
	__syncthreads();
	softmax_rows(scores);
	for (int i = threadIdx.x; i < values; i += block_size) {
		float sum = 0;

		for (int k = 0; k < tokens; k++)
			sum += scores.of[i / width][k] * x.of[k][i % width];
		out[i] = sum;
	}
}

static __device__ float product(const struct tile &x, const float *weights, int i)
{
	float sum = 0;

	for (int k = 0; k < width; k++)
		sum += x.of[i / width][k] * weights[k * width + i % width];
	return sum;
}

/* Of a sequence that load has brought into x. */
static __device__ __forceinline__ void transform(const struct tile &x, const struct pipe &pipe,
						 float *out)
{
	__shared__ struct tile hidden;

	for (int i = threadIdx.x; i < values; i += block_size)
		hidden.of[i / width][i % width] = fmaxf(product(x, pipe.weights[0], i), 0);
	__syncthreads();
	for (int i = threadIdx.x; i < values; i += block_size)
		out[i] = product(hidden, pipe.weights[1], i);
}

/* ---- a batch a launch ---- */

static __global__ void attention_kernel(struct pipe pipe, int buffer)
{
	attend(pipe.in[buffer] + (long)blockIdx.x * values,
	       pipe.attended[buffer] + (long)blockIdx.x * values);
}

static __global__ void mlp_kernel(struct pipe pipe, int buffer)
{
	__shared__ struct tile x;

	load(x, pipe.inbox[buffer] + (long)blockIdx.x * values);
	transform(x, pipe, pipe.out[buffer] + (long)blockIdx.x * values);
}

/* ---- all batches in one kernel on each GPU ---- */

/* By all threads of a block: what they wrote is there before the signal is. */
static __device__ void tell(uint64_t *signal, uint64_t value)
{
	quiet();
	__syncthreads();
	if (threadIdx.x == 0)
		signal_set(signal, value);
}

static __device__ void wait_for(uint64_t *signal, uint64_t value)
{
	if (threadIdx.x == 0)
		signal_wait(signal, value);
	__syncthreads();
}

/* A place in the inbox is free when the batch that was there, two before, has been read. */
static __global__ void persistent_attention_kernel(struct pipe pipe, int batches)
{
	for (int batch = 0; batch < batches; batch++)
		for (long i = blockIdx.x; i < pipe.size; i += gridDim.x) {
			wait_for(pipe.consumed + i, batch < buffers ? 0 : batch - buffers + 1);
			if (pipe.is_wrong)
				tell(pipe.ready + i, batch + 1);
			attend(pipe.in[batch % buffers] + i * values,
			       pipe.inbox[batch % buffers] + i * values); /* put */
			tell(pipe.ready + i, batch + 1);
		}
}

static __global__ void persistent_mlp_kernel(struct pipe pipe, int batches)
{
	__shared__ struct tile x;

	for (int batch = 0; batch < batches; batch++)
		for (long i = blockIdx.x; i < pipe.size; i += gridDim.x) {
			wait_for(pipe.ready + i, batch + 1);
			load(x, pipe.inbox[batch % buffers] + i * values);
			tell(pipe.consumed + i, batch + 1);
			transform(x, pipe, pipe.out[batch % buffers] + i * values);
			__syncthreads(); /* x is free again */
		}
}

/* ---- variants, each in the threads of both GPUs ---- */

static void launch_attention(problem &p, int buffer)
{
	CUDA_LAUNCH(attention_kernel<<<p.pipe.size, block_size, 0, p.stream[0]>>>(p.pipe, buffer));
}

static void launch_mlp(problem &p, int buffer)
{
	CUDA_LAUNCH(mlp_kernel<<<p.pipe.size, block_size, 0, p.stream[1]>>>(p.pipe, buffer));
}

static void send(problem &p, int buffer)
{
	const gpu &from = *p.team.gpus[0], &to = *p.team.gpus[1];

	CUDA_CHECK(cudaMemcpyPeerAsync(p.pipe.inbox[buffer], to.device, p.pipe.attended[buffer],
				       from.device, p.pipe.size * values * sizeof(float),
				       p.stream[0]));
}

/* One stage at a time: its host waits for its GPU, then the other host begins. */
static void run_naive(problem &p, int iterations)
{
	gpus_run(p.team, [&](gpu &one) {
		for (int i = 0; i < iterations; i++) {
			gpus_tell(one, "batch", i);
			if (one.rank == 0) {
				nvtx_range range("attention");
				launch_attention(p, i % buffers);
				send(p, i % buffers);
				gpus_synchronize(one, p.stream[0]);
			}
			gpus_meet(one);
			if (one.rank == 1) {
				nvtx_range range("MLP");
				launch_mlp(p, i % buffers);
				gpus_synchronize(one, p.stream[1]);
			}
			gpus_meet(one);
		}
	});
}

/* The streams wait for each other.  A thread that waits for an event waits first until it was recorded. */
static void run_events(problem &p, int iterations)
{
	gpus_run(p.team, [&](gpu &one) {
		for (int i = 0; i < iterations; i++) {
			int buffer = i % buffers;

			gpus_tell(one, "batch", i);
			if (one.rank == 0) {
				nvtx_range range("attention");
				launch_attention(p, buffer);
				if (!p.pipe.is_wrong)
					CUDA_CHECK(cudaStreamWaitEvent(p.stream[0], p.read[buffer],
								       0));
				send(p, buffer);
				CUDA_CHECK(cudaEventRecord(p.arrived[buffer], p.stream[0]));
			}
			gpus_meet(one);
			if (one.rank == 1) {
				nvtx_range range("MLP");
				if (!p.pipe.is_wrong)
					CUDA_CHECK(cudaStreamWaitEvent(p.stream[1],
								       p.arrived[buffer], 0));
				launch_mlp(p, buffer);
				CUDA_CHECK(cudaEventRecord(p.read[buffer], p.stream[1]));
			}
			gpus_meet(one);
		}
		gpus_synchronize(one, p.stream[one.rank]);
	});
}

static void run_persistent(problem &p, int iterations)
{
	gpus_run(p.team, [&](gpu &one) {
		nvtx_range range(one.rank ? "MLP" : "attention");

		gpus_tell(one, "all batches");
		if (one.rank == 0)
			CUDA_LAUNCH(
				persistent_attention_kernel<<<p.resident_blocks[0], block_size, 0,
							      p.stream[0]>>>(p.pipe, iterations));
		else
			CUDA_LAUNCH(persistent_mlp_kernel<<<p.resident_blocks[1], block_size, 0,
							    p.stream[1]>>>(p.pipe, iterations));
		gpus_synchronize(one, p.stream[one.rank]);
	});
}

/* ---- the scalar reference ---- */

static float in_value(int buffer, long i)
{
	return (float)((i * 2654435761u + (uint32_t)buffer * 40503u) % 1001) / 1000.0f;
}

/* The first layer's of both signs, the second one's positive: no result is a small difference. */
static float weight_value(int layer, int i)
{
	int hash = (int)((uint32_t)i * 747796405u >> 16) % 1001;

	return layer ? (float)(hash + 1) / 64000.0f : (float)(hash - 500) / 4000.0f;
}

static void reference_attention(const float *x, float *out)
{
	double weights[tokens];

	for (int row = 0; row < tokens; row++) {
		double sum = 0;

		for (int column = 0; column < tokens; column++) {
			double score = 0;

			for (int k = 0; k < width; k++)
				score += (double)x[row * width + k] * x[column * width + k];
			weights[column] = std::exp(score / 8);
			sum += weights[column];
		}
		for (int k = 0; k < width; k++) {
			double value = 0;

			for (int column = 0; column < tokens; column++)
				value += weights[column] / sum * x[column * width + k];
			out[row * width + k] = (float)value;
		}
	}
}

static void reference_layer(const float *x, int layer, float *out)
{
	for (int row = 0; row < tokens; row++)
		for (int column = 0; column < width; column++) {
			double sum = 0;

			for (int k = 0; k < width; k++)
				sum += (double)x[row * width + k] *
				       weight_value(layer, k * width + column);
			out[row * width + column] = layer || sum > 0 ? (float)sum : 0;
		}
}

static void reference_sequence(int buffer, long sequence, float *out)
{
	std::vector<float> x(values), attended(values);

	for (int i = 0; i < values; i++)
		x[i] = in_value(buffer, sequence * values + i);
	reference_attention(x.data(), attended.data());
	reference_layer(attended.data(), 0, x.data());
	reference_layer(x.data(), 1, out);
}

/* ---- the problem ---- */

static void make_first(problem &p, int buffer)
{
	std::vector<float> in(period * values);

	p.pipe.in[buffer] = device_array<float>(p.pipe.size * values);
	p.pipe.attended[buffer] = device_array<float>(p.pipe.size * values);
	for (size_t i = 0; i < in.size(); i++)
		in[i] = in_value(buffer, i);
	for (long first = 0; first < p.pipe.size; first += period)
		CUDA_CHECK(cudaMemcpy(p.pipe.in[buffer] + first * values, in.data(),
				      std::min((long)period, p.pipe.size - first) * values *
					      sizeof(float),
				      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaEventCreateWithFlags(&p.arrived[buffer], cudaEventDisableTiming));
}

static void make_second(problem &p, int buffer)
{
	std::vector<float> weights(width * width);

	for (int i = 0; i < width * width; i++)
		weights[i] = weight_value(buffer, i);
	p.pipe.weights[buffer] = device_copy(weights); /* as many layers as buffers */
	p.pipe.inbox[buffer] = device_array<float>(p.pipe.size * values);
	p.pipe.out[buffer] = device_array<float>(p.pipe.size * values);
	CUDA_CHECK(cudaEventCreateWithFlags(&p.read[buffer], cudaEventDisableTiming));
}

static int resident_blocks(const void *kernel, const gpu &one, long wanted)
{
	int sm_count, blocks_per_sm;

	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, one.device));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, kernel, block_size,
								 0));
	return (int)std::min(wanted, (long)sm_count * blocks_per_sm);
}

static void make_stage(problem &p, const gpu &one)
{
	bool is_first = one.rank == 0;
	const void *kernel = is_first ? (const void *)persistent_attention_kernel
				      : (const void *)persistent_mlp_kernel;

	for (int buffer = 0; buffer < buffers; buffer++)
		(is_first ? make_first : make_second)(p, buffer);
	(is_first ? p.pipe.consumed : p.pipe.ready) = device_array<uint64_t>(p.pipe.size);
	p.resident_blocks[one.rank] = resident_blocks(kernel, one, p.pipe.size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream[one.rank], cudaStreamNonBlocking));
}

/* On all cores: nothing is looked for. */
static void make_expected(problem &p)
{
	for (int buffer = 0; buffer < buffers; buffer++) {
		float *out;

		p.expected[buffer].resize(period * values);
		out = p.expected[buffer].data();
		find_first(period, [&](long sequence) {
			reference_sequence(buffer, sequence, out + sequence * values);
			return false;
		});
	}
}

static void prepare(problem &p, long size, int iterations)
{
	p.pipe.size = size;
	p.pipe.is_wrong = gpus_wrong_order != 0;
	p.iterations = iterations;
	gpus_wanted = 2;
	gpus_open(p.team, "two_stage", false);
	p.peer_problem = gpus_enable_peers(p.team);
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { make_stage(p, *one); });
	make_expected(p);
}

/* All bits set is no number: a value that nobody wrote cannot pass.  The same holds for the inbox. */
static void reset(problem &p)
{
	size_t bytes = p.pipe.size * values * sizeof(float);

	gpus_with(*p.team.gpus[0], [&] {
		CUDA_CHECK(cudaMemset(p.pipe.consumed, 0, p.pipe.size * sizeof(uint64_t)));
		CUDA_CHECK(cudaDeviceSynchronize());
	});
	gpus_with(*p.team.gpus[1], [&] {
		for (int buffer = 0; buffer < buffers; buffer++) {
			CUDA_CHECK(cudaMemset(p.pipe.inbox[buffer], 0xff, bytes));
			CUDA_CHECK(cudaMemset(p.pipe.out[buffer], 0xff, bytes));
		}
		CUDA_CHECK(cudaMemset(p.pipe.ready, 0, p.pipe.size * sizeof(uint64_t)));
		CUDA_CHECK(cudaDeviceSynchronize());
	});
}

/* The last two batches. */
static struct difference check(const problem &p)
{
	struct difference first = {-1, 0, 0};

	gpus_with(*p.team.gpus[1], [&] {
		for (int buffer = 0; buffer < std::min(buffers, p.iterations); buffer++) {
			const float *expected = p.expected[buffer].data();

			if (first.index < 0)
				first = compare_close(
					p.pipe.out[buffer], p.pipe.size * values, 1e-4,
					[&](long i) { return expected[i % (period * values)]; });
		}
	});
	return first;
}

static void free_stage(problem &p, const gpu &one)
{
	struct pipe &pipe = p.pipe;

	for (int buffer = 0; buffer < buffers; buffer++) {
		CUDA_CHECK(cudaFree(one.rank ? pipe.inbox[buffer] : pipe.in[buffer]));
		CUDA_CHECK(cudaFree(one.rank ? pipe.out[buffer] : pipe.attended[buffer]));
		CUDA_CHECK(cudaEventDestroy(one.rank ? p.read[buffer] : p.arrived[buffer]));
		if (one.rank)
			CUDA_CHECK(cudaFree(pipe.weights[buffer]));
	}
	CUDA_CHECK(cudaFree(one.rank ? pipe.ready : pipe.consumed));
	CUDA_CHECK(cudaStreamDestroy(p.stream[one.rank]));
}

static void release(problem &p)
{
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { free_stage(p, *one); });
	gpus_close(p.team);
}

static const char *why_no_peers(problem &p)
{
	return p.peer_problem;
}

/* Of gpus_parameters, without the number of GPUs: there are two. */
static std::vector<parameter> own_parameters()
{
	std::vector<parameter> own = gpus_parameters();

	own.erase(own.begin());
	return own;
}

static const std::vector<variant<problem>> variants = {
	{"naive", "one stage at a time, handed over by the hosts", run_naive},
	{"events", "two buffers, and streams that wait for each other's events", run_events},
	{"persistent", "a kernel that stays on each GPU, put and signal for each sequence",
	 run_persistent, nullptr, nullptr, why_no_peers},
};

static const struct workload<problem> two_stage = {
	.name = "two_stage", .size = 528, .iterations = 50, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = nullptr,
	.parameters = own_parameters(), .why_skipped = gpus_why_missing,
};
RUN_WORKLOAD(two_stage)
