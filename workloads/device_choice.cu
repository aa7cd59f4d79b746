/*
 * device_choice (C3): chunks of data, and a kernel that finds out how each is best compressed.
 *
 * Runs of equal bytes are stored as lengths, bytes of a small range as few bits each.  The host reads
 * the decision and launches the graph of that method, or the kernel that decides launches it.
 * `both` is what a host can do without reading: launch either, and the one not chosen does nothing.
 *
 * A compressed chunk is one byte for the method, four for its whole length (lowest first), then its
 * segments one after another; segment_bytes_packed and the kernels say how those look.
 */
#include <algorithm>

#include "workload.cuh"
#include "block.cuh"
#include "graph_launch.cuh"

enum method { METHOD_RUNS, METHOD_BITS, METHOD_COUNT };

/* A segment is what one block compresses. */
struct segment {
	uint32_t length[METHOD_COUNT]; /* bytes, compressed */
	uint32_t offset;	       /* of the compressed segment in its chunk */
	uint8_t low, width;	       /* least byte, and bits for the distance of the greatest */
};

/* What the GPU decides, on the device. */
struct choice {
	int limit;				 /* chunks to compress */
	int next;				 /* the chunk to classify */
	int chunk;				 /* the one to compress */
	int method;				 /* how */
	unsigned long long length[METHOD_COUNT]; /* of the chunk being classified */
	unsigned int taken[METHOD_COUNT];	 /* chunks compressed, by method */
};

struct chunks {
	const uint8_t *input;
	uint8_t *output;
	struct segment *segments; /* of the chunk at hand */
	struct choice *choice;
	long size, capacity; /* bytes of a chunk, and at most of a compressed one */
	int segment_count, chunk_count;
};

struct problem {
	struct chunks chunks;
	int iterations;
	std::vector<uint8_t> expected;
	unsigned int expected_taken[METHOD_COUNT];
	struct choice *seen; /* on the host */
	cudaStream_t stream;
	cudaGraphExec_t classify, compress[METHOD_COUNT];
};

static const int threads = 256, place_threads = 1024;
static const int segment_size = 8192, thread_bytes = segment_size / threads;
static const int header_size = 5, longest_list = 12; /* distinct chunks; then they come again */

enum { STAMP_CLASSIFY, STAMP_CHOOSE, STAMP_PLACE, STAMP_RUNS, STAMP_BITS };
static const char *const stamp_names[] = {"classify", "choose", "place", "runs", "bits"};

/* ---- the formats ---- */

/* Two bytes for the number of runs, then for each two bytes length and one byte value. */
static __device__ uint32_t segment_bytes_runs(int runs)
{
	return 2 + 3 * runs;
}

/* One byte for the least value, one for the width, then width bits a value, lowest first. */
static __device__ uint32_t segment_bytes_packed(int count, int width)
{
	return 2 + (count * width + 7) / 8;
}

static __host__ __device__ int bits_for(int distance)
{
	int bits = 0;

	for (; distance; distance >>= 1)
		bits++;
	return bits;
}

static __device__ uint8_t packed_byte(const uint8_t *data, int count, int low, int width, int index)
{
	uint8_t packed = 0;

	for (int bit = 0; bit < 8; bit++) {
		int value = (index * 8 + bit) / width, from = (index * 8 + bit) % width;

		if (value < count)
			packed |= ((data[value] - low) >> from & 1) << bit;
	}
	return packed;
}

static __device__ int segment_length(long size, int segment)
{
	long left = size - (long)segment * segment_size;

	return left < segment_size ? (int)left : segment_size;
}

static __device__ bool starts_run(const uint8_t *data, int i)
{
	return i == 0 || data[i] != data[i - 1];
}

/* ---- classify and choose ---- */

/* The segment of this block into shared memory.  Returns how long it is. */
static __device__ int load_segment(const struct chunks &c, int chunk, uint8_t *data)
{
	const uint8_t *from =
		c.input + chunk % c.chunk_count * c.size + (long)blockIdx.x * segment_size;
	int count = segment_length(c.size, blockIdx.x);

	for (int i = threadIdx.x; i < count; i += threads)
		data[i] = from[i];
	__syncthreads();
	return count;
}

static __device__ void note_segment(const struct chunks &c, int count, int runs, int low, int high)
{
	struct segment *segment = &c.segments[blockIdx.x];
	int width = bits_for(high - low);

	segment->low = low;
	segment->width = width;
	segment->length[METHOD_RUNS] = segment_bytes_runs(runs);
	segment->length[METHOD_BITS] = segment_bytes_packed(count, width);
	for (int method = 0; method < METHOD_COUNT; method++)
		atomicAdd(&c.choice->length[method], segment->length[method]);
}

static __device__ void classify_segment(const struct chunks &c, int chunk)
{
	__shared__ uint8_t data[segment_size];
	int count = load_segment(c, chunk, data), runs = 0, low = 255, high = 0;

	for (int i = threadIdx.x; i < count; i += threads) {
		runs += starts_run(data, i);
		low = min(low, data[i]);
		high = max(high, data[i]);
	}
	runs = block_sum<threads>(runs);
	low = block_reduce<threads>(low, [](int a, int b) { return min(a, b); });
	high = block_reduce<threads>(high, [](int a, int b) { return max(a, b); });
	if (threadIdx.x == 0)
		note_segment(c, count, runs, low, high);
}

static __global__ void classify_kernel(struct chunks c, enum launched_by by)
{
	int chunk = c.choice->next;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	classify_segment(c, chunk);
	stamp_end(&start_ns, stamp_launcher(by, chunk), STAMP_CLASSIFY);
}

/* What choose_kernel does with its decision besides noting it. */
struct chooser {
	cudaGraphExec_t compress[METHOD_COUNT]; /* launched from the device, nullptr: by the host */
	enum launch_mode mode;
	bool relaunches; /* the graph launches itself as long as there are chunks */
};

static __device__ void choose(struct choice *choice)
{
	choice->method = choice->length[METHOD_RUNS] < choice->length[METHOD_BITS] ? METHOD_RUNS
										   : METHOD_BITS;
	choice->chunk = choice->next++;
	for (unsigned long long &length : choice->length)
		length = 0;
}

static __global__ void choose_kernel(struct choice *choice, struct chooser chooser,
				     enum launched_by by)
{
	int run = choice->next;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	choose(choice);
	if (chooser.compress[choice->method])
		graph_launch(chooser.compress[choice->method], chooser.mode);
	if (chooser.relaunches && choice->next < choice->limit)
		graph_relaunch_self();
	stamp_end(&start_ns, stamp_launcher(by, run), STAMP_CHOOSE);
}

/* ---- compress: where each segment goes, then the segments ---- */

static __host__ __device__ void write_header(uint8_t *output, enum method method, uint32_t length)
{
	output[0] = method;
	for (int i = 0; i < 4; i++)
		output[1 + i] = length >> 8 * i;
}

static __device__ uint8_t *output_of(const struct chunks &c)
{
	return c.output + c.choice->chunk % c.chunk_count * c.capacity;
}

static __device__ void place_segments(const struct chunks &c, enum method method)
{
	uint32_t end = header_size;

	for (int first = 0; first < c.segment_count; first += place_threads) {
		int i = first + threadIdx.x;
		uint32_t length = i < c.segment_count ? c.segments[i].length[method] : 0, offset,
			 sum;

		block_sum_before<place_threads>(length, offset, sum);
		if (i < c.segment_count)
			c.segments[i].offset = end + offset;
		end += sum;
		__syncthreads();
	}
	if (threadIdx.x)
		return;
	write_header(output_of(c), method, end);
	c.choice->taken[method]++;
}

/* Every kernel of a method does nothing where the other one was chosen: for `both`. */
static __device__ bool is_chosen(const struct chunks &c, enum method method)
{
	return c.choice->method == method;
}

static __global__ void place_kernel(struct chunks c, enum method method, enum launched_by by)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (is_chosen(c, method))
		place_segments(c, method);
	stamp_end(&start_ns, stamp_launcher(by, 0), STAMP_PLACE);
}

/* Notes where each run of the segment starts.  Every thread looks at thread_bytes in a row, and a scan
 * over the threads says how many runs start before those.  Returns the number of runs. */
static __device__ int find_runs(const uint8_t *data, int count, uint16_t *starts)
{
	int begin = threadIdx.x * thread_bytes, end = min(begin + thread_bytes, count);
	int mine = 0, before, runs;

	for (int i = begin; i < end; i++)
		mine += starts_run(data, i);
	block_sum_before<threads>(mine, before, runs);
	for (int i = begin; i < end; i++)
		if (starts_run(data, i))
			starts[before++] = i;
	if (threadIdx.x == 0)
		starts[runs] = count;
	__syncthreads();
	return runs;
}

static __device__ void compress_runs(const struct chunks &c)
{
	__shared__ uint8_t data[segment_size];
	__shared__ uint16_t starts[segment_size + 1];
	uint8_t *output = output_of(c) + c.segments[blockIdx.x].offset;
	int runs = find_runs(data, load_segment(c, c.choice->chunk, data), starts);

	for (int run = threadIdx.x; run < runs; run += threads) {
		int length = starts[run + 1] - starts[run];

		output[2 + 3 * run] = length;
		output[3 + 3 * run] = length >> 8;
		output[4 + 3 * run] = data[starts[run]];
	}
	if (threadIdx.x == 0) {
		output[0] = runs;
		output[1] = runs >> 8;
	}
}

static __global__ void runs_kernel(struct chunks c, enum launched_by by)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (is_chosen(c, METHOD_RUNS))
		compress_runs(c);
	stamp_end(&start_ns, stamp_launcher(by, 0), STAMP_RUNS);
}

static __device__ void compress_bits(const struct chunks &c)
{
	__shared__ uint8_t data[segment_size];
	const struct segment *segment = &c.segments[blockIdx.x];
	uint8_t *output = output_of(c) + segment->offset;
	int count = load_segment(c, c.choice->chunk, data);
	int length = segment->length[METHOD_BITS] - 2;

	for (int i = threadIdx.x; i < length; i += threads)
		output[2 + i] = packed_byte(data, count, segment->low, segment->width, i);
	if (threadIdx.x == 0) {
		output[0] = segment->low;
		output[1] = segment->width;
	}
}

static __global__ void bits_kernel(struct chunks c, enum launched_by by)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (is_chosen(c, METHOD_BITS))
		compress_bits(c);
	stamp_end(&start_ns, stamp_launcher(by, 0), STAMP_BITS);
}

/* ---- graphs ---- */

typedef cudaGraphExec_t (*finish_graph)(cudaStream_t);

static void make_compress(problem &p, enum launched_by by, finish_graph finish)
{
	for (int method = 0; method < METHOD_COUNT; method++) {
		graph_begin(p.stream);
		CUDA_LAUNCH(place_kernel<<<1, place_threads, 0, p.stream>>>(p.chunks,
									    (enum method)method,
									    by));
		if (method == METHOD_RUNS)
			CUDA_LAUNCH(runs_kernel<<<p.chunks.segment_count, threads, 0, p.stream>>>(
				p.chunks, by));
		else
			CUDA_LAUNCH(bits_kernel<<<p.chunks.segment_count, threads, 0, p.stream>>>(
				p.chunks, by));
		p.compress[method] = finish(p.stream);
	}
}

static void make_classify(problem &p, struct chooser chooser, enum launched_by by,
			  finish_graph finish)
{
	graph_begin(p.stream);
	CUDA_LAUNCH(
		classify_kernel<<<p.chunks.segment_count, threads, 0, p.stream>>>(p.chunks, by));
	CUDA_LAUNCH(choose_kernel<<<1, 1, 0, p.stream>>>(p.chunks.choice, chooser, by));
	p.classify = finish(p.stream);
}

static void setup_host(problem &p)
{
	make_compress(p, BY_HOST, graph_finish_host);
	make_classify(p, {{nullptr, nullptr}, LAUNCH_TAIL, false}, BY_HOST, graph_finish_host);
}

static void setup_device(problem &p, enum launch_mode mode, bool relaunches)
{
	make_compress(p, BY_DEVICE, graph_finish_device);
	make_classify(p, {{p.compress[METHOD_RUNS], p.compress[METHOD_BITS]}, mode, relaunches},
		      relaunches ? FIRST_BY_HOST : BY_HOST,
		      relaunches ? graph_finish_device : graph_finish_host);
}

static void setup_fire_and_forget(problem &p)
{
	setup_device(p, LAUNCH_FIRE_AND_FORGET, false);
}

static void setup_tail(problem &p)
{
	setup_device(p, LAUNCH_TAIL, false);
}

static void setup_relaunch(problem &p)
{
	setup_device(p, LAUNCH_TAIL, true);
}

static void teardown(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.classify));
	for (cudaGraphExec_t graph : p.compress)
		CUDA_CHECK(cudaGraphExecDestroy(graph));
}

/* ---- variants ---- */

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaGraphLaunch(p.classify, p.stream));
		CUDA_CHECK(cudaMemcpyAsync(p.seen, p.chunks.choice, sizeof(*p.seen),
					   cudaMemcpyDeviceToHost, p.stream));
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		CUDA_CHECK(cudaGraphLaunch(p.compress[p.seen->method], p.stream));
	}
}

static void run_both(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaGraphLaunch(p.classify, p.stream));
		for (cudaGraphExec_t graph : p.compress)
			CUDA_CHECK(cudaGraphLaunch(graph, p.stream));
	}
}

static void run_device(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.classify, p.stream));
}

static void run_once(problem &p, int)
{
	CUDA_CHECK(cudaGraphLaunch(p.classify, p.stream));
}

/* ---- the scalar reference ---- */

static std::vector<uint8_t> reference_runs(const uint8_t *data, int count)
{
	std::vector<uint8_t> out(2);
	int runs = 0;

	for (int begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && data[end] == data[begin]; end++)
			;
		out.push_back(end - begin);
		out.push_back((end - begin) >> 8);
		out.push_back(data[begin]);
		runs++;
	}
	out[0] = runs;
	out[1] = runs >> 8;
	return out;
}

static std::vector<uint8_t> reference_bits(const uint8_t *data, int count)
{
	int low = *std::min_element(data, data + count),
	    high = *std::max_element(data, data + count);
	int width = bits_for(high - low), used = 0;
	uint32_t pending = 0;
	std::vector<uint8_t> out = {(uint8_t)low, (uint8_t)width};

	for (int i = 0; i < count; i++) {
		pending |= (uint32_t)(data[i] - low) << used;
		for (used += width; used >= 8; used -= 8, pending >>= 8)
			out.push_back(pending);
	}
	if (used > 0)
		out.push_back(pending);
	return out;
}

static std::vector<uint8_t> reference_chunk(const uint8_t *data, long size, enum method method)
{
	std::vector<uint8_t> out(header_size);

	for (long begin = 0; begin < size; begin += segment_size) {
		int count = (int)std::min((long)segment_size, size - begin);
		std::vector<uint8_t> segment = method == METHOD_RUNS
						       ? reference_runs(data + begin, count)
						       : reference_bits(data + begin, count);

		out.insert(out.end(), segment.begin(), segment.end());
	}
	write_header(out.data(), method, (uint32_t)out.size());
	return out;
}

/* The shorter one.  Returns the method. */
static enum method reference(const uint8_t *data, long size, std::vector<uint8_t> &out)
{
	std::vector<uint8_t> runs = reference_chunk(data, size, METHOD_RUNS);

	out = reference_chunk(data, size, METHOD_BITS);
	if (runs.size() >= out.size())
		return METHOD_BITS;
	out = runs;
	return METHOD_RUNS;
}

/* ---- the problem ---- */

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

/* Every third chunk has runs of 1 to 64 bytes, the others have bytes of 16 neighboring values. */
static void fill_chunk(uint8_t *data, long size, int chunk)
{
	uint32_t state = chunk + 1;
	long left = 0;

	for (long i = 0; i < size; i++) {
		if (chunk % 3) {
			data[i] = 100 + next_random(&state) % 16;
			continue;
		}
		if (left == 0)
			left = 1 + next_random(&state) % 64;
		data[i] = left == 1 || i == 0 ? next_random(&state) : data[i - 1];
		left--;
	}
}

static void prepare_expected(problem &p, const std::vector<uint8_t> &input)
{
	const struct chunks &c = p.chunks;

	p.expected.assign(c.chunk_count * c.capacity, 0);
	for (int chunk = 0; chunk < c.chunk_count; chunk++) {
		std::vector<uint8_t> out;
		enum method method = reference(&input[chunk * c.size], c.size, out);

		std::copy(out.begin(), out.end(), p.expected.begin() + chunk * c.capacity);
		p.expected_taken[method] +=
			(p.iterations - chunk + c.chunk_count - 1) / c.chunk_count;
	}
}

static void prepare(problem &p, long size, int iterations)
{
	struct chunks &c = p.chunks;

	p.iterations = iterations;
	c.size = size;
	c.chunk_count = std::min(longest_list, iterations);
	c.segment_count = (int)((size + segment_size - 1) / segment_size);
	c.capacity = header_size + size + 2 * c.segment_count;
	std::vector<uint8_t> input(c.chunk_count * size);
	for (int chunk = 0; chunk < c.chunk_count; chunk++)
		fill_chunk(&input[chunk * size], size, chunk);
	prepare_expected(p, input);
	c.input = device_copy(input);
	c.output = device_array<uint8_t>(p.expected.size());
	c.segments = device_array<struct segment>(c.segment_count);
	c.choice = device_array<struct choice>(1);
	CUDA_CHECK(cudaMallocHost(&p.seen, sizeof(*p.seen)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	struct choice choice = {};

	choice.limit = p.iterations;
	CUDA_CHECK(cudaMemcpy(p.chunks.choice, &choice, sizeof(choice), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.chunks.output, 0, p.expected.size()));
}

/* The bytes, and before them how often each method was used: index 0 and 1. */
static struct difference check(const problem &p)
{
	struct choice choice;

	device_launches_require("device_choice");
	CUDA_CHECK(cudaMemcpy(&choice, p.chunks.choice, sizeof(choice), cudaMemcpyDeviceToHost));
	for (int method = 0; method < METHOD_COUNT; method++)
		if (choice.taken[method] != p.expected_taken[method])
			return {method, choice.taken[method], p.expected_taken[method]};
	return compare(p.chunks.output, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree((void *)p.chunks.input));
	CUDA_CHECK(cudaFree(p.chunks.output));
	CUDA_CHECK(cudaFree(p.chunks.segments));
	CUDA_CHECK(cudaFree(p.chunks.choice));
	CUDA_CHECK(cudaFreeHost(p.seen));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads the decision and launches the method's graph", run_naive,
	 setup_host, teardown},
	{"both", "the host launches both graphs, the one not chosen does nothing", run_both,
	 setup_host, teardown},
	{"fire_and_forget", "the kernel that decides launches the method's graph at once",
	 run_device, setup_fire_and_forget, teardown, why_no_device_launch},
	{"tail", "the kernel that decides launches the method's graph in the tail", run_device,
	 setup_tail, teardown, why_no_device_launch},
	{"relaunch", "as tail, and then its own graph for the next chunk", run_once, setup_relaunch,
	 teardown, why_no_device_launch},
};

static const struct workload<problem> device_choice = {
	.name = "device_choice", .size = 1 << 21, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = stamp_names,
};
RUN_WORKLOAD(device_choice)
