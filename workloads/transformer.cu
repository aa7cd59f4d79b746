/*
 * transformer (G1): a stack of decoder layers over requests, from 12 kernels a layer to a few graphs.
 *
 * A layer, for each token of a request, with hidden values in heads of 64:
 *   x = x + what the layer before added;  n = layer normalization of x       norm
 *   q, k, v = n Wq, n Wk, n Wv                                               product, three times
 *   scores = q k^T;  weights = softmax of scores / 8, of earlier tokens      product, softmax
 *   a = weights v;  added = a Wo                                             product, twice
 *   x = x + added;  n = layer normalization of x                             norm
 *   added = gelu(n Wup) Wdown, with 4 hidden values between                  product, gelu, product
 * and one normalization after the last: 12 L + 1 kernels.  All is FP16 with sums in FP32.
 *
 * naive takes one request after the other, as it comes, and its products from cuBLASLt.  textbook has
 * the same kernels with products as textbooks write them, which much of the literature compares
 * with.  The others:
 *   graph        naive's kernels, all requests in one graph; q, k and v side by side
 *   fused        q, k and v as one product; attention as one kernel; gelu in the epilogue of its
 *                product; both additions in those of theirs: 7 kernels a layer
 *   fused_graph  both
 *   batched      fused, several requests at a time: up to 32, and up to 4,096 tokens
 *   pipelined    fused, each third of the layers in a stream of its own: requests follow each other
 *   selected     batched in one graph: with one request what fused_graph is, with more the fastest of all that was measured
 *
 * FLOPs of one iteration, of T tokens in requests of S, H hidden values, L layers, in products:
 *   24 T H^2 L, and 4 T S H L of attention (naive computes all scores, fused half of them)
 *
 * All variants must agree with a reference that computes in FP32 with the textbook's kernels, within
 * a few roundings of FP16.  That one must agree with scalar code on the host for the first tokens of
 * the last request, for which the later ones do not matter.  Where ROOFLINE_RESULT names a file, the result
 * is written there, tokens times hidden values in FP16, to be compared with other programs'.
 */
#include <algorithm>
#include <cmath>
#include <functional>

#include "graph_capture.cuh"
#include "transformer_kernels.cuh"
#include "transformer_products.cuh"
#include "workload.cuh"

static long request_count = 1, layer_count = 12, head_count = 12, is_mixed = 0;

static const int length_step = 32;     /* a request is padded to a multiple of this */
static const int batch_requests = 32;  /* at most, in one batch */
static const int batch_tokens = 4096;  /* likewise */
static const int stages = 3;	       /* of the pipeline */
static const int reference_tokens = 4; /* of a request, that the host computes as well */
static const double most_off = 0.04; /* of normalized values, which are 1 in the mean of squares */
static const double most_off_fp32 = 1e-3; /* between two ways to add in FP32 */

struct layer {
	const __half *scale1, *shift1, *qkv, *mix, *scale2, *shift2, *up, *down;
};

/* Of all tokens: rows of hidden values, qkv 3 times, wide 4 times as many. */
template <class T> struct activations {
	T *x, *normalized, *qkv, *mixed, *added, *wide, *scores;
};

/* A range of requests. */
struct batch {
	int first_request, count;
	int first, tokens, longest;
};

struct problem {
	int hidden, tokens;
	std::vector<request> requests;
	struct request *device_requests;
	std::vector<layer> layers;
	__half *weights, *input;
	const __half *last_scale, *last_shift;
	struct activations<__half> values;
	std::vector<float> expected;
	struct products products;
	cudaStream_t stream, side[2];
	std::vector<cudaEvent_t> events;
	size_t event_count; /* in use, of those */
	cudaGraphExec_t graph;
};

/* ---- weights and input, the same on every machine ---- */

static __host__ __device__ uint32_t mixed_bits(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6bU;
	x = (x ^ x >> 13) * 0xc2b2ae35U;
	return x ^ x >> 16;
}

/* Value i of an array, uniform in center +- spread. */
static __host__ __device__ float value_at(uint32_t seed, uint32_t i, float center, float spread)
{
	uint32_t bits = mixed_bits(i ^ mixed_bits(seed));

	return center + spread * ((bits >> 8) * (2.f / (1 << 24)) - 1);
}

static __global__ void fill_kernel(__half *values, long count, uint32_t seed, float center,
				   float spread)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = __float2half(value_at(seed, i, center, spread));
}

static __half *filled(__half *values, long count, uint32_t seed, float center, float spread)
{
	CUDA_LAUNCH(fill_kernel<<<(count + 255) / 256, 256>>>(values, count, seed, center, spread));
	return values + count;
}

/* Weights so large that values keep their size from layer to layer. */
static struct layer make_layer(__half *&at, long hidden, int number, float depth)
{
	struct layer layer;
	float spread = sqrtf(3.f / hidden), inner = spread / depth;
	uint32_t seed = 16 * (number + 1);

	auto array = [&](long count, float center, float width) {
		const __half *start = at;

		at = filled(at, count, seed++, center, width);
		return start;
	};
	layer.scale1 = array(hidden, 1, 0.1f);
	layer.shift1 = array(hidden, 0, 0.1f);
	layer.qkv = array(3 * hidden * hidden, 0, spread);
	layer.mix = array(hidden * hidden, 0, inner);
	layer.scale2 = array(hidden, 1, 0.1f);
	layer.shift2 = array(hidden, 0, 0.1f);
	layer.up = array(4 * hidden * hidden, 0, spread);
	layer.down = array(4 * hidden * hidden, 0, inner);
	return layer;
}

static void make_weights(problem &p)
{
	long hidden = p.hidden, each = 12 * hidden * hidden + 4 * hidden;
	__half *at = p.weights = device_array<__half>(layer_count * each + 2 * hidden);

	for (int i = 0; i < layer_count; i++)
		p.layers.push_back(make_layer(at, hidden, i, sqrtf(2.f * layer_count)));
	p.last_scale = at;
	at = filled(at, hidden, 1, 1, 0.1f);
	p.last_shift = at;
	filled(at, hidden, 2, 0, 0.1f);
	p.input = device_array<__half>((long)p.tokens * hidden);
	filled(p.input, (long)p.tokens * hidden, 3, 0, 1.7f);
}

/* ---- products, in two ways ---- */

struct by_cublaslt {
	static void multiply(problem &p, const struct product &product, const __half *left,
			     const __half *right, __half *out, cudaStream_t stream)
	{
		product_launch(p.products, product, left, right, out, stream);
	}
};

struct by_textbook {
	template <class T, class R>
	static void multiply(problem &, const struct product &product, const T *left,
			     const R *right, T *out, cudaStream_t stream)
	{
		const int tile = textbook_tile;
		const matrix<R> of_right = {(R *)right,
					    product.is_transposed ? product.right_row : 1,
					    product.is_transposed ? 1 : product.right_row,
					    product.right_head};
		dim3 grid((product.columns + tile - 1) / tile, (product.rows + tile - 1) / tile,
			  product.heads);

		CUDA_LAUNCH(textbook_kernel<T, R><<<grid, dim3(tile, tile), 0, stream>>>(
			{out, product.out_row, 1, product.out_head},
			{left, product.left_row, 1, product.left_head},
			{of_right.values, of_right.row, of_right.column, of_right.head},
			product.rows, product.columns, product.inner));
	}
};

/* Of rows that lie one behind the other with a matrix of weights. */
static struct product dense(int rows, int columns, int inner, long out_row)
{
	return {rows, columns, inner, false, inner, inner, out_row, 1, 0, 0, 0, false, false};
}

/* ---- one operation a kernel ---- */

static const int norm_warps = 4;

template <class T>
static void launch_norm(problem &p, struct activations<T> &v, const T *added, const __half *scale,
			const __half *shift, int first, int tokens, cudaStream_t stream)
{
	long start = (long)first * p.hidden;
	int blocks = (tokens + norm_warps - 1) / norm_warps;

	CUDA_LAUNCH(norm_kernel<T><<<blocks, dim3(warp_lanes, norm_warps), 0, stream>>>(
		v.x + start, added ? added + start : nullptr, v.normalized + start, scale, shift,
		tokens, p.hidden));
}

/* What waits for what: the last work of `after` before the next of `before`.  Events come again in each
 * capture. */
static void order(problem &p, cudaStream_t after, cudaStream_t before)
{
	if (p.event_count == p.events.size()) {
		p.events.push_back(nullptr);
		CUDA_CHECK(cudaEventCreateWithFlags(&p.events.back(), cudaEventDisableTiming));
	}
	CUDA_CHECK(cudaEventRecord(p.events[p.event_count], after));
	CUDA_CHECK(cudaStreamWaitEvent(before, p.events[p.event_count++], 0));
}

/* q, k and v, each in a stream when there are three. */
template <class how, class T>
static void separate_qkv(problem &p, struct activations<T> &v, const struct layer &layer,
			 const struct request &r, const cudaStream_t (&streams)[3])
{
	int hidden = p.hidden;
	long start = (long)r.first * hidden;

	for (int i = 0; i < 3; i++) {
		if (streams[i] != streams[0])
			order(p, streams[0], streams[i]);
		how::multiply(p, dense(r.length, hidden, hidden, 3l * hidden), v.normalized + start,
			      layer.qkv + (long)i * hidden * hidden, v.qkv + 3 * start + i * hidden,
			      streams[i]);
	}
	for (int i = 1; i < 3; i++)
		if (streams[i] != streams[0])
			order(p, streams[i], streams[0]);
}

template <class how, class T>
static void separate_attention(problem &p, struct activations<T> &v, const struct request &r,
			       cudaStream_t stream)
{
	int hidden = p.hidden, length = r.length, heads = head_count;
	long row = 3l * hidden, square = (long)length * length;
	const T *qkv = v.qkv + r.first * row;
	const struct product scores = {length, length, head_values, false,	 row,
				       row,    length, heads,	    head_values, head_values,
				       square, false,  false};
	const struct product mixed = {length,	   head_values, length, true,	length,
				      row,	   hidden,	heads,	square, head_values,
				      head_values, false,	false};

	how::multiply(p, scores, qkv, qkv + hidden, v.scores, stream);
	CUDA_LAUNCH(softmax_kernel<T>
		    <<<dim3((length + norm_warps - 1) / norm_warps, heads),
		       dim3(warp_lanes, norm_warps), 0, stream>>>(v.scores, length, 0.125f));
	how::multiply(p, mixed, v.scores, qkv + 2 * hidden, v.mixed + (long)r.first * hidden,
		      stream);
}

template <class how, class T>
static void separate_layer(problem &p, struct activations<T> &v, int number,
			   const struct request &r, const cudaStream_t (&streams)[3])
{
	const struct layer &layer = p.layers[number];
	cudaStream_t stream = streams[0];
	int hidden = p.hidden, length = r.length;
	long start = (long)r.first * hidden, wide = 4 * start, count = 4l * length * hidden;

	launch_norm<T>(p, v, number ? v.added : nullptr, layer.scale1, layer.shift1, r.first,
		       length, stream);
	separate_qkv<how>(p, v, layer, r, streams);
	separate_attention<how>(p, v, r, stream);
	how::multiply(p, dense(length, hidden, hidden, hidden), v.mixed + start, layer.mix,
		      v.added + start, stream);
	launch_norm<T>(p, v, v.added, layer.scale2, layer.shift2, r.first, length, stream);
	how::multiply(p, dense(length, 4 * hidden, hidden, 4l * hidden), v.normalized + start,
		      layer.up, v.wide + wide, stream);
	CUDA_LAUNCH(gelu_kernel<T><<<(count + 255) / 256, 256, 0, stream>>>(v.wide + wide, count));
	how::multiply(p, dense(length, hidden, 4 * hidden, hidden), v.wide + wide, layer.down,
		      v.added + start, stream);
}

template <class how, class T>
static void separate_request(problem &p, struct activations<T> &v, const struct request &r,
			     const cudaStream_t (&streams)[3])
{
	for (int i = 0; i < layer_count; i++)
		separate_layer<how>(p, v, i, r, streams);
	launch_norm<T>(p, v, v.added, p.last_scale, p.last_shift, r.first, r.length, streams[0]);
}

/* ---- fused ---- */

static void fused_layer(problem &p, int number, const struct batch &b, cudaStream_t stream)
{
	struct activations<__half> &v = p.values;
	const struct layer &layer = p.layers[number];
	int hidden = p.hidden;
	long start = (long)b.first * hidden;
	dim3 grid(head_count, b.count, (b.longest + attention_tile - 1) / attention_tile);
	struct product up = dense(b.tokens, 4 * hidden, hidden, 4l * hidden),
		       mix = dense(b.tokens, hidden, hidden, hidden),
		       down = dense(b.tokens, hidden, 4 * hidden, hidden);

	mix.adds = down.adds = up.with_gelu = true;
	launch_norm<__half>(p, v, nullptr, layer.scale1, layer.shift1, b.first, b.tokens, stream);
	by_cublaslt::multiply(p, dense(b.tokens, 3 * hidden, hidden, 3l * hidden),
			      v.normalized + start, layer.qkv, v.qkv + 3 * start, stream);
	CUDA_LAUNCH(attention_kernel<<<grid, attention_threads, 0, stream>>>(
		v.qkv, v.mixed, p.device_requests + b.first_request, hidden));
	by_cublaslt::multiply(p, mix, v.mixed + start, layer.mix, v.x + start, stream);
	launch_norm<__half>(p, v, nullptr, layer.scale2, layer.shift2, b.first, b.tokens, stream);
	by_cublaslt::multiply(p, up, v.normalized + start, layer.up, v.wide + 4 * start, stream);
	by_cublaslt::multiply(p, down, v.wide + 4 * start, layer.down, v.x + start, stream);
}

static void fused_end(problem &p, const struct batch &b, cudaStream_t stream)
{
	launch_norm<__half>(p, p.values, nullptr, p.last_scale, p.last_shift, b.first, b.tokens,
			    stream);
}

static void fused_batch(problem &p, const struct batch &b, cudaStream_t stream)
{
	for (int i = 0; i < layer_count; i++)
		fused_layer(p, i, b, stream);
	fused_end(p, b, stream);
}

/* Requests that follow each other, as many as a batch may have. */
static std::vector<batch> make_batches(const problem &p, int most_requests)
{
	std::vector<batch> batches;

	for (size_t i = 0; i < p.requests.size(); i++) {
		const struct request &r = p.requests[i];

		if (batches.empty() || batches.back().count == most_requests ||
		    batches.back().tokens + r.length > batch_tokens)
			batches.push_back({(int)i, 0, r.first, 0, 0});
		batches.back().count++;
		batches.back().tokens += r.length;
		batches.back().longest = std::max(batches.back().longest, r.length);
	}
	return batches;
}

/* ---- an iteration of each variant ---- */

static void begin_iteration(problem &p)
{
	p.event_count = 0;
	CUDA_CHECK(cudaMemcpyAsync(p.values.x, p.input, (long)p.tokens * p.hidden * sizeof(__half),
				   cudaMemcpyDeviceToDevice, p.stream));
}

template <class how> static void separate_iteration(problem &p)
{
	begin_iteration(p);
	for (const struct request &r : p.requests)
		separate_request<how>(p, p.values, r, {p.stream, p.stream, p.stream});
}

static void forked_iteration(problem &p)
{
	begin_iteration(p);
	for (const struct request &r : p.requests)
		separate_request<by_cublaslt>(p, p.values, r, {p.stream, p.side[0], p.side[1]});
}

template <int most_requests> static void fused_iteration(problem &p)
{
	begin_iteration(p);
	for (const struct batch &b : make_batches(p, most_requests))
		fused_batch(p, b, p.stream);
}

/* Each batch goes through the stages in order; while it is in one, the next is in the one before. */
static void staged_iteration(problem &p, const std::vector<batch> &batches)
{
	const cudaStream_t streams[stages] = {p.stream, p.side[0], p.side[1]};

	begin_iteration(p);
	for (const struct batch &b : batches)
		for (int stage = 0; stage < stages; stage++) {
			if (stage)
				order(p, streams[stage - 1], streams[stage]);
			for (int i = layer_count * stage / stages;
			     i < layer_count * (stage + 1) / stages; i++)
				fused_layer(p, i, b, streams[stage]);
			if (stage == stages - 1)
				fused_end(p, b, streams[stage]);
		}
	order(p, p.side[0], p.stream);
	order(p, p.side[1], p.stream);
}

static void pipelined_iteration(problem &p)
{
	staged_iteration(p, make_batches(p, 1));
}

/* Which plan is fastest for how many requests of which length, as measured on an H200
 * (docs/workloads/transformer.md): batches as large as they may be, in one graph. */
static void selected_iteration(problem &p)
{
	fused_iteration<batch_requests>(p);
}

template <void (*iteration)(problem &)> static void run_eager(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		iteration(p);
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

/* The first run plans the products, the second is captured. */
template <void (*iteration)(problem &)> static void setup_graph(problem &p)
{
	iteration(p);
	CUDA_CHECK(cudaStreamSynchronize(p.stream));
	graph_begin(p.stream);
	iteration(p);
	p.graph = graph_finish_host(p.stream);
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* ---- the reference ---- */

template <class T> static struct activations<T> make_activations(const problem &p) {
	long count = (long)p.tokens * p.hidden, longest = 0;

	for (const struct request &r : p.requests)
		longest = std::max(longest, (long)r.length);
	return {device_array<T>(count),
		device_array<T>(count),
		device_array<T>(3 * count),
		device_array<T>(count),
		device_array<T>(count),
		device_array<T>(4 * count),
		device_array<T>(head_count *longest *longest)};
}

template <class T>
static void free_activations(struct activations<T> &v)
{
	T *const all[] = {v.x, v.normalized, v.qkv, v.mixed, v.added, v.wide, v.scores};

	for (T *values : all)
		CUDA_CHECK(cudaFree(values));
	v = {};
}

static std::vector<float> host_values(const __half *device, long count)
{
	std::vector<__half> values(count);
	std::vector<float> all(count);

	CUDA_CHECK(
		cudaMemcpy(values.data(), device, count * sizeof(__half), cudaMemcpyDeviceToHost));
	std::transform(values.begin(), values.end(), all.begin(),
		       [](__half value) { return __half2float(value); });
	return all;
}

/* out = rows times weights, a row of which belongs to each output; scalar. */
static std::vector<float> scalar_product(const std::vector<float> &rows,
					 const std::vector<float> &weights, int inner)
{
	size_t count = rows.size() / inner, columns = weights.size() / inner;
	std::vector<float> out(count * columns);

	for (size_t column = 0; column < columns; column++) {
		float sums[reference_tokens] = {};

		for (int k = 0; k < inner; k++)
			for (size_t row = 0; row < count; row++)
				sums[row] += rows[row * inner + k] * weights[column * inner + k];
		for (size_t row = 0; row < count; row++)
			out[row * columns + column] = sums[row];
	}
	return out;
}

static std::vector<float> scalar_norm(const std::vector<float> &x, const __half *device_scale,
				      const __half *device_shift, int hidden)
{
	std::vector<float> scale = host_values(device_scale, hidden),
			   shift = host_values(device_shift, hidden), out(x.size());

	for (size_t row = 0; row < x.size(); row += hidden) {
		double sum = 0, squares = 0;

		for (int i = 0; i < hidden; i++)
			sum += x[row + i];
		for (int i = 0; i < hidden; i++)
			squares += (x[row + i] - sum / hidden) * (x[row + i] - sum / hidden);
		for (int i = 0; i < hidden; i++)
			out[row + i] = (float)((x[row + i] - sum / hidden) /
					       std::sqrt(squares / hidden + 1e-5)) *
					       scale[i] +
				       shift[i];
	}
	return out;
}

static std::vector<float> scalar_attention(const std::vector<float> &qkv, int hidden)
{
	int tokens = qkv.size() / (3 * hidden);
	std::vector<float> out((size_t)tokens * hidden);

	for (int head = 0; head < hidden; head += head_values)
		for (int token = 0; token < tokens; token++) {
			const float *query = &qkv[(size_t)token * 3 * hidden + head];
			double sum = 0;
			std::vector<double> weights;

			for (int other = 0; other <= token; other++) {
				const float *key = &qkv[(size_t)other * 3 * hidden + hidden + head];
				double score = 0;

				for (int i = 0; i < head_values; i++)
					score += (double)query[i] * key[i];
				weights.push_back(std::exp(score / 8));
				sum += weights.back();
			}
			for (int other = 0; other <= token; other++)
				for (int i = 0; i < head_values; i++)
					out[(size_t)token * hidden + head + i] +=
						weights[other] / sum *
						qkv[((size_t)other * 3 + 2) * hidden + head + i];
		}
	return out;
}

static void add_to(std::vector<float> &x, const std::vector<float> &added)
{
	for (size_t i = 0; i < x.size(); i++)
		x[i] += added[i];
}

/* x becomes what the layer makes of it. */
static void scalar_layer(const struct layer &layer, std::vector<float> &x, int hidden)
{
	long square = (long)hidden * hidden;
	std::vector<float> wide;

	add_to(x, scalar_product(scalar_attention(scalar_product(scalar_norm(x, layer.scale1,
									     layer.shift1, hidden),
								 host_values(layer.qkv, 3 * square),
								 hidden),
						  hidden),
				 host_values(layer.mix, square), hidden));
	wide = scalar_product(scalar_norm(x, layer.scale2, layer.shift2, hidden),
			      host_values(layer.up, 4 * square), hidden);
	for (float &value : wide)
		value = gelu_of(value);
	add_to(x, scalar_product(wide, host_values(layer.down, 4 * square), 4 * hidden));
}

/* The first tokens of a request must be in `expected` what scalar code makes of them. */
static void require_scalar(const problem &p, const struct request &r)
{
	int tokens = std::min(reference_tokens, r.length);
	long start = (long)r.first * p.hidden;
	std::vector<float> x = host_values(p.input + start, (long)tokens * p.hidden);

	for (const struct layer &layer : p.layers)
		scalar_layer(layer, x, p.hidden);
	x = scalar_norm(x, p.last_scale, p.last_shift, p.hidden);
	for (size_t i = 0; i < x.size(); i++)
		if (!(std::fabs(x[i] - p.expected[start + i]) <= most_off_fp32)) {
			fprintf(stderr,
				"transformer: the reference at index %ld is %g, scalar code says "
				"%g\n",
				start + (long)i, p.expected[start + i], x[i]);
			exit(1);
		}
}

static __global__ void widen_kernel(float *out, const __half *in, long count)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		out[i] = in[i];
}

static void make_reference(problem &p)
{
	struct activations<float> v = make_activations<float>(p);
	long count = (long)p.tokens * p.hidden;

	CUDA_LAUNCH(widen_kernel<<<(count + 255) / 256, 256, 0, p.stream>>>(v.x, p.input, count));
	for (const struct request &r : p.requests)
		separate_request<by_textbook>(p, v, r, {p.stream, p.stream, p.stream});
	CUDA_CHECK(cudaStreamSynchronize(p.stream));
	p.expected.resize(count);
	CUDA_CHECK(cudaMemcpy(p.expected.data(), v.normalized, count * sizeof(float),
			      cudaMemcpyDeviceToHost));
	free_activations(v);
	require_scalar(p, p.requests.back());
}

/* ---- the problem ---- */

/* Requests of size tokens, or of any number up to that. */
static void make_requests(problem &p, long size)
{
	for (int i = 0; i < request_count; i++) {
		long length = is_mixed ? 1 + mixed_bits(i + 7) % size : size;
		int padded = (length + length_step - 1) / length_step * length_step;

		p.requests.push_back({p.tokens, padded});
		p.tokens += padded;
	}
	p.device_requests = device_copy(p.requests);
}

static void prepare(problem &p, long size, int)
{
	p.hidden = head_values * head_count;
	for (cudaStream_t *stream : {&p.stream, &p.side[0], &p.side[1]})
		CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
	make_requests(p, size);
	make_weights(p);
	CUDA_CHECK(cudaDeviceSynchronize());
	p.values = make_activations<__half>(p);
	make_reference(p);
	products_prepare(p.products);
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(
		cudaMemset(p.values.normalized, 0xff, (long)p.tokens * p.hidden * sizeof(__half)));
}

static void keep_result(const problem &p)
{
	const char *path = getenv("ROOFLINE_RESULT");
	std::vector<__half> values((size_t)p.tokens * p.hidden);
	FILE *file = path ? fopen(path, "wb") : nullptr;

	if (!file)
		return;
	CUDA_CHECK(cudaMemcpy(values.data(), p.values.normalized, values.size() * sizeof(__half),
			      cudaMemcpyDeviceToHost));
	fwrite(values.data(), sizeof(__half), values.size(), file);
	fclose(file);
}

static struct difference check(const problem &p)
{
	std::vector<float> found = host_values(p.values.normalized, (long)p.tokens * p.hidden);

	for (size_t i = 0; i < found.size(); i++)
		if (!(std::fabs(found[i] - p.expected[i]) <= most_off))
			return {(long)i, 0, 0, true, found[i], p.expected[i]};
	keep_result(p);
	return {-1, 0, 0};
}

static void release(problem &p)
{
	products_release(p.products);
	free_activations(p.values);
	for (cudaEvent_t event : p.events)
		CUDA_CHECK(cudaEventDestroy(event));
	for (cudaStream_t stream : {p.stream, p.side[0], p.side[1]})
		CUDA_CHECK(cudaStreamDestroy(stream));
	for (void *memory : {(void *)p.weights, (void *)p.input, (void *)p.device_requests})
		CUDA_CHECK(cudaFree(memory));
}

static const char *why_no_products(problem &)
{
	return products_why_missing();
}

#define IN_GRAPH(iteration) run_graph, setup_graph<iteration>, teardown_graph, why_no_products

static const std::vector<variant<problem>> variants = {
	{"naive", "12 kernels a layer, one request after the other",
	 run_eager<separate_iteration<by_cublaslt>>, nullptr, nullptr, why_no_products},
	{"textbook", "the same, with products as textbooks write them",
	 run_eager<separate_iteration<by_textbook>>},
	{"graph", "naive's kernels in one graph, q, k and v side by side",
	 IN_GRAPH(forked_iteration)},
	{"fused", "7 kernels a layer: attention is one, the rest went into products",
	 run_eager<fused_iteration<1>>, nullptr, nullptr, why_no_products},
	{"fused_graph", "fused's kernels in one graph", IN_GRAPH(fused_iteration<1>)},
	{"batched", "fused, several requests at a time", run_eager<fused_iteration<batch_requests>>,
	 nullptr, nullptr, why_no_products},
	{"pipelined", "fused, in a graph: each third of the layers in a stream of its own",
	 IN_GRAPH(pipelined_iteration)},
	{"selected", "what is fastest for so many requests of that length",
	 IN_GRAPH(selected_iteration)},
};

static const struct workload<problem> transformer = {
	.name = "transformer", .size = 512, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = nullptr,
	.parameters = {{"requests", "requests in an iteration", 1, 4096, 1, &request_count},
		       {"layers", "decoder layers", 1, 1000, 1, &layer_count},
		       {"heads", "attention heads, of 64 hidden values each", 1, 128, 1,
			&head_count},
		       {"mixed", "1: requests of any length up to --size", 0, 1, 1, &is_mixed}},
};
RUN_WORKLOAD(transformer)
