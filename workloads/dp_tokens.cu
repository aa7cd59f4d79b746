/*
 * dp_tokens (C8): a batch of tokens, of which a few need far more work than the others.
 *
 * Every step updates all tokens; those that come out special attend to the whole context.  The
 * update knows which they are: it can launch their kernels itself or leave a list of them.  The
 * host can only ask, wait for the answer and launch what follows from it.
 */
#include <algorithm>

#include "device_launch.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int warp_lanes = 32;
static const int tokens_per_block = block_size / warp_lanes; /* a warp a token */
static const int width = 64;				     /* values of a token, two a lane */
static const int context_keys = 4096;			     /* each with a value vector as wide */
static const int chunk_keys = 256; /* that one block of the attention reads */
static const int chunks = context_keys / chunk_keys;
static const uint32_t special_in = 1024; /* one token in so many is special, on average */
/* Room for launches that wait: more than this costs more memory than a small program may ask. */
static const size_t most_pending = 1 << 15;

struct batch {
	uint32_t *states;   /* [tokens][width] */
	uint32_t *attended; /* [tokens][width], what the attention has added up; behind states */
	const uint32_t *keys, *values; /* [context_keys][width] */
	int tokens;
};

struct problem {
	struct batch batch;
	uint8_t *special, *special_host; /* of tokens; the host's is pinned */
	int *list, *list_length;	 /* the special tokens in any order */
	int list_blocks;
	std::vector<uint32_t> initial, expected; /* states, then attended */
	cudaStream_t stream;
};

/* What stamps call the kernels. */
enum { STAMP_UPDATE, STAMP_ATTENTION, STAMP_LIST };
static const char *const stamp_names[] = {"update", "attention", "list"};

/* ---- what all variants and the scalar reference share ---- */

static __host__ __device__ uint32_t next_state(uint32_t state, uint32_t attended)
{
	return (state ^ state >> 15) * 747796405u + attended + 2891336453u;
}

/* By the first value of the token. */
static __host__ __device__ bool is_special(uint32_t first)
{
	return (first >> 8) % special_in == 0;
}

/* Stands in for the softmax: a small weight, in integers, so that the sum is the same in any order
 * and host and device agree to the last bit. */
static __host__ __device__ uint32_t weight_of(uint32_t score)
{
	return score >> 24;
}

static __device__ uint32_t warp_sum(uint32_t value)
{
	for (int distance = warp_lanes / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	return value;
}

/* One warp updates one token.  The same answer for all lanes: is it special now? */
static __device__ bool update_token(const struct batch &batch, int token)
{
	size_t i = (size_t)token * width + threadIdx.x % warp_lanes;
	uint32_t first = next_state(batch.states[i], batch.attended[i]);

	batch.states[i] = first;
	i += warp_lanes;
	batch.states[i] = next_state(batch.states[i], batch.attended[i]);
	return is_special(__shfl_sync(0xffffffff, first, 0));
}

/* One block: a token attends to one chunk of the context.  A warp takes every eighth key. */
static __device__ void attend(const struct batch &batch, int token, int chunk)
{
	int lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
	size_t own = (size_t)token * width + lane;
	uint32_t query[2] = {batch.states[own], batch.states[own + warp_lanes]};
	uint32_t sum[2] = {0, 0};

	for (int k = warp; k < chunk_keys; k += tokens_per_block) {
		size_t i = (size_t)(chunk * chunk_keys + k) * width + lane;
		uint32_t score =
			warp_sum(query[0] * batch.keys[i] + query[1] * batch.keys[i + warp_lanes]);

		sum[0] += weight_of(score) * batch.values[i];
		sum[1] += weight_of(score) * batch.values[i + warp_lanes];
	}
	atomicAdd(&batch.attended[own], sum[0]);
	atomicAdd(&batch.attended[own + warp_lanes], sum[1]);
	__syncthreads();
}

static __device__ int warp_token()
{
	return blockIdx.x * tokens_per_block + threadIdx.x / warp_lanes;
}

static __device__ bool is_first_lane()
{
	return threadIdx.x % warp_lanes == 0;
}

static __global__ void attention_kernel(struct batch batch, int token, enum stamp_what launcher)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	attend(batch, token, blockIdx.x);
	stamp_end(&start_ns, launcher, STAMP_ATTENTION);
}

/* ---- the host asks which tokens are special ---- */

static __global__ void flagging_kernel(struct batch batch, uint8_t *special)
{
	int token = warp_token();
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (token < batch.tokens) {
		bool is = update_token(batch, token);

		if (is_first_lane())
			special[token] = is;
	}
	stamp_end(&start_ns, STAMP_HOST, STAMP_UPDATE);
}

static int update_blocks(const problem &p)
{
	return (p.batch.tokens + tokens_per_block - 1) / tokens_per_block;
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(
			flagging_kernel<<<update_blocks(p), block_size, 0, p.stream>>>(p.batch,
										       p.special));
		CUDA_CHECK(cudaMemcpyAsync(p.special_host, p.special, p.batch.tokens,
					   cudaMemcpyDeviceToHost, p.stream));
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		for (int token = 0; token < p.batch.tokens; token++)
			if (p.special_host[token])
				CUDA_LAUNCH(attention_kernel<<<chunks, block_size, 0, p.stream>>>(
					p.batch, token, STAMP_HOST));
	}
}

/* ---- the update launches the attention of its special tokens ---- */

/* The attention of a token reads what this warp has written, and the context, which nobody writes:
 * it may start at once, beside the update of other tokens. */
static __global__ void launching_kernel(struct batch batch)
{
	int token = warp_token();
	unsigned long long start_ns;
	bool special;

	stamp_begin(&start_ns);
	special = token < batch.tokens && update_token(batch, token);
	__threadfence();
	__syncthreads();
	stamp_end(&start_ns, STAMP_HOST, STAMP_UPDATE);
	if (special && is_first_lane())
		DEVICE_LAUNCH(attention_kernel<<<chunks, block_size, 0, cudaStreamFireAndForget>>>(
			batch, token, STAMP_DEVICE));
}

static void run_device(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(
			launching_kernel<<<update_blocks(p), block_size, 0, p.stream>>>(p.batch));
}

/* Nobody can promise that few tokens will be special. */
static void setup_device(problem &p)
{
	device_launches_make_room(std::min<size_t>(p.batch.tokens, most_pending));
}

/* ---- the update leaves a list, and the next kernel works through it ---- */

static __global__ void listing_kernel(struct batch batch, int *list, int *list_length)
{
	int token = warp_token();
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (token < batch.tokens && update_token(batch, token) && is_first_lane())
		list[atomicAdd(list_length, 1)] = token;
	stamp_end(&start_ns, STAMP_HOST, STAMP_UPDATE);
}

/* The grid is as large as the device can hold, as the host does not know the length of the list. */
static __global__ void list_kernel(struct batch batch, const int *list, const int *list_length)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	for (int i = blockIdx.x; i < *list_length * chunks; i += gridDim.x)
		attend(batch, list[i / chunks], i % chunks);
	stamp_end(&start_ns, STAMP_HOST, STAMP_LIST);
}

static void setup_compacted(problem &p)
{
	int device, sm_count, blocks_per_sm;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, list_kernel,
								 block_size, 0));
	p.list_blocks = sm_count * blocks_per_sm;
}

static void run_compacted(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaMemsetAsync(p.list_length, 0, sizeof(*p.list_length), p.stream));
		CUDA_LAUNCH(listing_kernel<<<update_blocks(p), block_size, 0, p.stream>>>(
			p.batch, p.list, p.list_length));
		CUDA_LAUNCH(list_kernel<<<p.list_blocks, block_size, 0, p.stream>>>(p.batch, p.list,
										    p.list_length));
	}
}

/* ---- the problem ---- */

static std::vector<uint32_t> context_vectors(uint32_t seed)
{
	std::vector<uint32_t> vectors(context_keys * width);

	for (size_t i = 0; i < vectors.size(); i++)
		vectors[i] = next_state(i * seed, seed);
	return vectors;
}

static void attend_scalar(const uint32_t *state, uint32_t *attended,
			  const std::vector<uint32_t> &keys, const std::vector<uint32_t> &values)
{
	for (size_t key = 0; key < keys.size(); key += width) {
		uint32_t score = 0;

		for (int i = 0; i < width; i++)
			score += state[i] * keys[key + i];
		for (int i = 0; i < width; i++)
			attended[i] += weight_of(score) * values[key + i];
	}
}

/* The scalar reference: token after token, each attending as soon as it is special. */
static std::vector<uint32_t> reference(std::vector<uint32_t> both, int iterations,
				       const std::vector<uint32_t> &keys,
				       const std::vector<uint32_t> &values)
{
	size_t half = both.size() / 2;

	for (int iteration = 0; iteration < iterations; iteration++)
		for (size_t token = 0; token < half; token += width) {
			uint32_t *state = &both[token], *attended = &both[half + token];

			for (int i = 0; i < width; i++)
				state[i] = next_state(state[i], attended[i]);
			if (is_special(state[0]))
				attend_scalar(state, attended, keys, values);
		}
	return both;
}

static void prepare(problem &p, long size, int iterations)
{
	std::vector<uint32_t> keys = context_vectors(277803737u);
	std::vector<uint32_t> values = context_vectors(2654435769u);
	size_t half = size * width;

	p.initial.resize(2 * half);
	for (size_t i = 0; i < half; i++)
		p.initial[i] = i * 2654435769u;
	p.expected = reference(p.initial, iterations, keys, values);
	p.batch.tokens = size;
	p.batch.states = device_array<uint32_t>(2 * half);
	p.batch.attended = p.batch.states + half;
	p.batch.keys = device_copy(keys);
	p.batch.values = device_copy(values);
	p.special = device_array<uint8_t>(size);
	p.list = device_array<int>(size);
	p.list_length = device_array<int>(1);
	CUDA_CHECK(cudaMallocHost(&p.special_host, size));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.batch.states, p.initial.data(),
			      p.initial.size() * sizeof(p.initial[0]), cudaMemcpyHostToDevice));
}

static struct difference check(const problem &p)
{
	device_launches_require("dp_tokens");
	return compare(p.batch.states, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.batch.states));
	CUDA_CHECK(cudaFree((void *)p.batch.keys));
	CUDA_CHECK(cudaFree((void *)p.batch.values));
	CUDA_CHECK(cudaFree(p.special));
	CUDA_CHECK(cudaFree(p.list));
	CUDA_CHECK(cudaFree(p.list_length));
	CUDA_CHECK(cudaFreeHost(p.special_host));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads which tokens are special and launches a kernel for each",
	 run_naive},
	{"device", "the update launches the kernels of its special tokens", run_device,
	 setup_device},
	{"compacted", "the update lists its special tokens for one kernel behind it", run_compacted,
	 setup_compacted},
};

static const struct workload<problem> dp_tokens = {
	.name = "dp_tokens", .size = 1 << 12, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = stamp_names,
};
RUN_WORKLOAD(dp_tokens)
