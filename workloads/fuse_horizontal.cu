/*
 * fuse_horizontal (E3): kernels that need nothing from each other, as one kernel.
 *
 * Two sets of work, each of which a program has as a list and launches one by one:
 *
 *   products  eight matrices of --rows rows, and a vector for each: y = A x.  A warp has a row, so a
 *             product has blocks for a part of the SMs, and waits for memory most of the time
 *     naive              a launch a product
 *     interleaved        one launch with the blocks of one product: a warp has that row of all
 *                        eight, and their sums side by side in registers
 *     batched            one launch with the blocks of all: blockIdx.y is the product
 *     streams, graph     a launch a product, in eight streams, and as branches of a graph
 *
 *   requests  64 arrays of different lengths, each with a scale and a shift: z = relu(scale x + shift)
 *     naive_mixed        a launch a request
 *     prefix_mixed       one launch: a thread finds its request by search in the offsets at which
 *                        they begin, which the block has in shared memory
 *     streams_mixed, graph_mixed  as above
 *
 * One iteration, for n values of a matrix (--size) and as many of all requests together:
 *   products  8 n FMAs, and 160 additions a row of each (five exchanges of 32 lanes): 16 n + 1,280 rows
 *             FLOPs.  32 n bytes are read.  All matrices together, 32 MiB, stay in the L2 cache.
 *   requests  n FMAs: 2 n FLOPs.  4 n bytes read, 4 n written.
 *
 * Everything is a small whole number, and no sum reaches 2^24: all variants have the same results.
 */
#include "graph_capture.cuh"
#include "workload.cuh"

static const int warp_size = 32;
static const int block_size = 256;
static const int product_count = 8;
static const int request_count = 64;
static const int stream_count = 8; /* as many as CUDA has connections to the device */
static long row_count = 256;

/* Of one product: a row of the matrix has so many float4. */
struct product {
	float *y;
	const float4 *matrix, *x;
	int rows, vectors;
};

struct request {
	long start, end; /* among the values of all */
	float scale, shift;
};

struct problem {
	int rows, vectors;
	float *matrices, *vector_values, *y; /* of all products, one after the other */
	std::vector<request> requests;
	long request_values;
	float *x, *z, *scales, *shifts;
	int *offsets; /* [request_count + 1] */
	std::vector<float> expected_y;
	bool is_requests; /* what the variant under way does; set by its setup */
	cudaStream_t streams[stream_count];
	cudaGraphExec_t graph;
};

/* From -8 to 7. */
static __host__ __device__ int small_number(uint32_t i)
{
	return (int)((i ^ i >> 15) * 2654435769u >> 28) - 8;
}

static __host__ __device__ int matrix_at(long i)
{
	return small_number((uint32_t)i);
}

static __host__ __device__ int vector_at(long i)
{
	return small_number((uint32_t)i + 12345);
}

static __host__ __device__ int x_at(long i)
{
	return small_number((uint32_t)i + 67890);
}

static __device__ long thread_index()
{
	return (long)blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- products ---- */

static __host__ __device__ struct product product_of(const struct product &first, int index)
{
	struct product one = first;

	one.y += (long)index * first.rows;
	one.matrix += (long)index * first.rows * first.vectors;
	one.x += (long)index * first.vectors;
	return one;
}

static __device__ float dot(float4 a, float4 b, float sum)
{
	return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

static __device__ float sum_of_warp(float sum)
{
#pragma unroll
	for (int distance = warp_size / 2; distance > 0; distance /= 2)
		sum += __shfl_xor_sync(~0U, sum, distance);
	return sum;
}

/* Of the matrix row that this warp has; all of its lanes have the same. */
static __device__ void multiply_row(const struct product &p)
{
	long row = thread_index() / warp_size;
	const float4 *values = p.matrix + row * p.vectors;
	int lane = threadIdx.x % warp_size;
	float sum = 0;

	if (row >= p.rows)
		return;
	for (int i = lane; i < p.vectors; i += warp_size)
		sum = dot(values[i], p.x[i], sum);
	sum = sum_of_warp(sum);
	if (lane == 0)
		p.y[row] = sum;
}

static __global__ void product_kernel(struct product p)
{
	multiply_row(p);
}

static __global__ void batched_kernel(struct product first)
{
	multiply_row(product_of(first, blockIdx.y));
}

/* Eight loads are under way where product_kernel has one or as many as the loop is unrolled. */
static __global__ void interleaved_kernel(struct product first)
{
	long row = thread_index() / warp_size;
	int lane = threadIdx.x % warp_size;
	float sums[product_count] = {};

	if (row >= first.rows)
		return;
	for (int i = lane; i < first.vectors; i += warp_size)
#pragma unroll
		for (int k = 0; k < product_count; k++) {
			struct product p = product_of(first, k);

			sums[k] = dot(p.matrix[row * p.vectors + i], p.x[i], sums[k]);
		}
#pragma unroll
	for (int k = 0; k < product_count; k++) {
		sums[k] = sum_of_warp(sums[k]);
		if (lane == 0)
			first.y[k * (long)first.rows + row] = sums[k];
	}
}

/* ---- requests ---- */

static __host__ __device__ float answer(float x, float scale, float shift)
{
	float value = fmaf(scale, x, shift);

	return value > 0 ? value : 0;
}

static __global__ void request_kernel(float *z, const float *x, long size, float scale, float shift)
{
	long i = thread_index();

	if (i < size)
		z[i] = answer(x[i], scale, shift);
}

/* The last request that begins at i or before. */
static __device__ int request_of(const int *offsets, int i)
{
	int low = 0, high = request_count;

	while (high - low > 1) {
		int middle = (low + high) / 2;

		if (offsets[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static __global__ void prefix_kernel(float *z, const float *x, const int *offsets,
				     const float *scales, const float *shifts)
{
	__shared__ int own_offsets[request_count + 1];
	long i = thread_index();
	int request;

	for (int r = threadIdx.x; r <= request_count; r += block_size)
		own_offsets[r] = offsets[r];
	__syncthreads();
	if (i >= own_offsets[request_count])
		return;
	request = request_of(own_offsets, i);
	z[i] = answer(x[i], scales[request], shifts[request]);
}

/* ---- one launch after the other ---- */

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

static unsigned product_blocks(const problem &p)
{
	return blocks((long)p.rows * warp_size);
}

static struct product first_product(const problem &p)
{
	return {p.y, (const float4 *)p.matrices, (const float4 *)p.vector_values, p.rows,
		p.vectors};
}

static void launch_product(const problem &p, int k, cudaStream_t stream)
{
	CUDA_LAUNCH(product_kernel<<<product_blocks(p), block_size, 0, stream>>>(
		product_of(first_product(p), k)));
}

static void launch_request(const problem &p, int r, cudaStream_t stream)
{
	const struct request &one = p.requests[r];
	long size = one.end - one.start;

	CUDA_LAUNCH(request_kernel<<<blocks(size), block_size, 0, stream>>>(p.z + one.start,
									    p.x + one.start, size,
									    one.scale, one.shift));
}

/* All work of an iteration, in so many streams by turns. */
static void launch_all(const problem &p, int streams)
{
	for (int k = 0; !p.is_requests && k < product_count; k++)
		launch_product(p, k, p.streams[k % streams]);
	for (int r = 0; p.is_requests && r < request_count; r++)
		launch_request(p, r, p.streams[r % streams]);
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		launch_all(p, 1);
}

static void run_streams(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		launch_all(p, stream_count);
}

/* ---- one launch ---- */

static void run_interleaved(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(interleaved_kernel<<<product_blocks(p), block_size, 0, p.streams[0]>>>(
			first_product(p)));
}

static void run_batched(problem &p, int iterations)
{
	dim3 grid(product_blocks(p), product_count);

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(
			batched_kernel<<<grid, block_size, 0, p.streams[0]>>>(first_product(p)));
}

static void run_prefix(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(
			prefix_kernel<<<blocks(p.request_values), block_size, 0, p.streams[0]>>>(
				p.z, p.x, p.offsets, p.scales, p.shifts));
}

/* ---- a graph of what run_streams does in one iteration ---- */

static void choose_products(problem &p)
{
	p.is_requests = false;
}

static void choose_requests(problem &p)
{
	p.is_requests = true;
}

/* The first stream begins and ends the capture: the others join when they wait for it, and are back
 * when it waits for them. */
static void capture(problem &p)
{
	cudaEvent_t event;

	CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	graph_begin(p.streams[0]);
	CUDA_CHECK(cudaEventRecord(event, p.streams[0]));
	for (int s = 1; s < stream_count; s++)
		CUDA_CHECK(cudaStreamWaitEvent(p.streams[s], event, 0));
	run_streams(p, 1);
	for (int s = 1; s < stream_count; s++) {
		CUDA_CHECK(cudaEventRecord(event, p.streams[s]));
		CUDA_CHECK(cudaStreamWaitEvent(p.streams[0], event, 0));
	}
	p.graph = graph_finish_host(p.streams[0]);
	CUDA_CHECK(cudaEventDestroy(event));
}

static void setup_graph(problem &p)
{
	choose_products(p);
	capture(p);
}

static void setup_graph_mixed(problem &p)
{
	choose_requests(p);
	capture(p);
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.streams[0]));
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* ---- the problem ---- */

enum filled { FILL_MATRIX, FILL_VECTOR, FILL_X };

static __global__ void fill_kernel(float *values, long count, enum filled what)
{
	long i = thread_index();

	if (i < count)
		values[i] = what == FILL_MATRIX	  ? matrix_at(i)
			    : what == FILL_VECTOR ? vector_at(i)
						  : x_at(i);
}

static float *filled_array(long count, enum filled what)
{
	float *values = device_array<float>(count);

	CUDA_LAUNCH(fill_kernel<<<blocks(count), block_size>>>(values, count, what));
	return values;
}

/* The scalar reference. */
static std::vector<float> reference_y(const problem &p)
{
	std::vector<float> y;
	long columns = 4L * p.vectors;

	for (long row = 0; row < (long)product_count * p.rows; row++) {
		long sum = 0;

		for (long i = 0; i < columns; i++)
			sum += matrix_at(row * columns + i) * vector_at(row / p.rows * columns + i);
		y.push_back(sum);
	}
	return y;
}

static void prepare_products(problem &p, long size)
{
	p.rows = row_count;
	p.vectors = (size + 4L * p.rows - 1) / (4L * p.rows);
	p.matrices = filled_array(4L * product_count * p.rows * p.vectors, FILL_MATRIX);
	p.vector_values = filled_array(4L * product_count * p.vectors, FILL_VECTOR);
	p.y = device_array<float>(product_count * p.rows);
	p.expected_y = reference_y(p);
}

/* From a sixteenth of the mean length to nearly twice of it, in no order. */
static std::vector<request> requests_of(long size)
{
	std::vector<request> all;
	long start = 0;

	for (int r = 0; r < request_count; r++) {
		long sixteenths = r * 37 % 16 * 2 + 1;
		long length = std::max(1L, size * sixteenths / (16L * request_count));

		all.push_back({start, start + length, (float)(r % 7 + 1), (float)(r % 5 - 2)});
		start += length;
	}
	return all;
}

static void prepare_requests(problem &p, long size)
{
	std::vector<int> offsets = {0};
	std::vector<float> scales, shifts;

	p.requests = requests_of(size);
	for (const request &one : p.requests) {
		offsets.push_back(one.end);
		scales.push_back(one.scale);
		shifts.push_back(one.shift);
	}
	p.request_values = offsets.back();
	p.offsets = device_copy(offsets);
	p.scales = device_copy(scales);
	p.shifts = device_copy(shifts);
	p.x = filled_array(p.request_values, FILL_X);
	p.z = device_array<float>(p.request_values);
}

static void prepare(problem &p, long size, int)
{
	prepare_products(p, size);
	prepare_requests(p, size);
	for (cudaStream_t &stream : p.streams)
		CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.y, 0xff, p.expected_y.size() * sizeof(*p.y)));
	CUDA_CHECK(cudaMemset(p.z, 0xff, p.request_values * sizeof(*p.z)));
}

static struct difference check_requests(const problem &p)
{
	return compare_each(p.z, p.request_values, [&p](long i) {
		auto request = std::upper_bound(p.requests.begin(), p.requests.end(), i,
						[](long value, const struct request &one) {
							return value < one.end;
						});

		return answer(x_at(i), request->scale, request->shift);
	});
}

static struct difference check(const problem &p)
{
	return p.is_requests ? check_requests(p) : compare(p.y, p.expected_y);
}

static void release(problem &p)
{
	for (cudaStream_t stream : p.streams)
		CUDA_CHECK(cudaStreamDestroy(stream));
	for (float *array : {p.matrices, p.vector_values, p.y, p.x, p.z, p.scales, p.shifts})
		CUDA_CHECK(cudaFree(array));
	CUDA_CHECK(cudaFree(p.offsets));
}

static const char of_mixed[] = "naive_mixed";

static const std::vector<variant<problem>> variants = {
	{"naive", "eight products, a launch each", run_naive, choose_products},
	{"interleaved", "one launch: a warp has a row of all products", run_interleaved,
	 choose_products},
	{"batched", "one launch with the blocks of all products", run_batched, choose_products},
	{"streams", "a stream for each product", run_streams, choose_products},
	{"graph", "a graph with a branch for each product", run_graph, setup_graph, teardown_graph},
	{of_mixed, "64 requests of different length, a launch each", run_naive, choose_requests,
	 nullptr, nullptr, of_mixed},
	{"prefix_mixed", "one launch: a thread finds its request by the offsets", run_prefix,
	 choose_requests, nullptr, nullptr, of_mixed},
	{"streams_mixed", "requests in eight streams by turns", run_streams, choose_requests,
	 nullptr, nullptr, of_mixed},
	{"graph_mixed", "a graph with eight branches of requests", run_graph, setup_graph_mixed,
	 teardown_graph, nullptr, of_mixed},
};

static const struct workload<problem> fuse_horizontal = {
	.name = "fuse_horizontal", .size = 1 << 20, .iterations = 200, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.parameters = {{"rows", "rows of a matrix", 1, 65536, 1, &row_count}},
};
RUN_WORKLOAD(fuse_horizontal)
