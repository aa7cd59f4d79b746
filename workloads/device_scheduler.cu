/*
 * device_scheduler (C2): requests wait in a queue, each takes as many tokens as it turns out to need.
 *
 * One graph decodes one token.  The host launches it, reads whether the request has ended, and takes
 * the next one; or a scheduler kernel does all of that on the GPU: it takes a request with an atomic
 * addition on the head of the queue, launches the decode graph, and itself again in its tail.
 */
#include <algorithm>

#include "workload.cuh"
#include "block.cuh"
#include "churn.cuh"
#include "graph_launch.cuh"

struct request {
	uint32_t seed; /* what it starts from, in place of a prompt */
	int budget;    /* tokens at most */
};

/* Where the work stands, on the device; the host of `naive` reads and writes it whole. */
struct schedule {
	unsigned int head; /* of the queue: the first request that nobody has taken */
	unsigned int request_count;
	unsigned int request; /* the one being decoded, when active */
	int active;
	int length;	/* its tokens so far */
	uint32_t token; /* its last one, or its seed */
	int made;	/* tokens of all requests */
	int runs;	/* of the scheduler */
};

struct decoder {
	struct schedule *schedule;
	const struct request *requests;
	uint32_t *hidden; /* the state of the one request being decoded */
	uint32_t *tokens;
	int size; /* of hidden */
};

struct problem {
	struct decoder decoder;
	std::vector<struct request> queue;
	std::vector<uint32_t> expected;
	struct schedule *seen; /* on the host */
	cudaStream_t stream;
	std::vector<cudaGraphExec_t> graphs; /* the host launches the last one */
};

static const int block_size = 256, sample_threads = 1024;
static const int decode_steps = 256; /* of churn for every element and token */
static const int longest_request = 32;

enum { STAMP_DECODE, STAMP_SAMPLE, STAMP_SCHEDULER };
static const char *const stamp_names[] = {"decode", "sample", "scheduler"};

/* ---- what host and device agree on ---- */

static __host__ __device__ uint32_t mix(uint32_t x)
{
	x = (x ^ (x >> 15)) * 2246822519u;
	return x ^ (x >> 13);
}

static __host__ __device__ uint32_t first_hidden(int i)
{
	return i * 2654435761u;
}

/* One token of eight ends its request. */
static __host__ __device__ bool ends_request(uint32_t token, int length, int budget)
{
	return token >> 29 == 0 || length == budget;
}

static __host__ __device__ void begin_request(struct schedule *schedule,
					      const struct request *requests, unsigned int request)
{
	schedule->request = request;
	schedule->token = requests[request].seed;
	schedule->length = 0;
	schedule->active = 1;
}

/* ---- kernels ---- */

/* The token before changes the whole state. */
static __global__ void decode_kernel(struct decoder d, enum launched_by by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	const struct schedule *schedule = d.schedule;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (schedule->active && i < d.size) {
		uint32_t before = schedule->length ? d.hidden[i] : first_hidden(i);

		d.hidden[i] = churn(before ^ schedule->token, decode_steps);
	}
	stamp_end(&start_ns, stamp_launcher(by, schedule->runs - 1), STAMP_DECODE);
}

static __device__ void add_token(struct decoder &d, uint32_t token)
{
	struct schedule *schedule = d.schedule;

	d.tokens[schedule->made++] = token;
	schedule->token = token;
	schedule->active =
		!ends_request(token, ++schedule->length, d.requests[schedule->request].budget);
}

/* The token follows from the whole state: one block reads it. */
static __global__ void sample_kernel(struct decoder d, enum launched_by by)
{
	unsigned long long start_ns;
	uint32_t sum = 0;

	stamp_begin(&start_ns);
	if (d.schedule->active) {
		for (int i = threadIdx.x; i < d.size; i += sample_threads)
			sum += mix(d.hidden[i]);
		sum = block_sum<sample_threads>(sum);
		if (threadIdx.x == 0)
			add_token(d, mix(sum));
	}
	stamp_end(&start_ns, stamp_launcher(by, d.schedule->runs - 1), STAMP_SAMPLE);
}

/* true: there is a token to decode. */
static __device__ bool have_request(struct decoder &d)
{
	unsigned int request;

	if (d.schedule->active)
		return true;
	request = atomicAdd(&d.schedule->head, 1);
	if (request >= d.schedule->request_count)
		return false;
	begin_request(d.schedule, d.requests, request);
	return true;
}

/* decode: the graph to launch, nullptr where it is the rest of this kernel's own graph. */
static __global__ void scheduler_kernel(struct decoder d, cudaGraphExec_t decode,
					enum launch_mode mode)
{
	int run = d.schedule->runs++;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (have_request(d)) {
		if (decode)
			graph_launch(decode, mode);
		graph_relaunch_self();
	}
	stamp_end(&start_ns, stamp_launcher(FIRST_BY_HOST, run), STAMP_SCHEDULER);
}

/* ---- graphs ---- */

static void enqueue_decode(problem &p, enum launched_by by)
{
	int blocks = (p.decoder.size + block_size - 1) / block_size;

	CUDA_LAUNCH(decode_kernel<<<blocks, block_size, 0, p.stream>>>(p.decoder, by));
	CUDA_LAUNCH(sample_kernel<<<1, sample_threads, 0, p.stream>>>(p.decoder, by));
}

static void enqueue_scheduler(problem &p, cudaGraphExec_t decode, enum launch_mode mode)
{
	CUDA_LAUNCH(scheduler_kernel<<<1, 1, 0, p.stream>>>(p.decoder, decode, mode));
}

static void setup_naive(problem &p)
{
	graph_begin(p.stream);
	enqueue_decode(p, BY_HOST);
	p.graphs.push_back(graph_finish_host(p.stream));
}

static void setup_scheduler(problem &p, enum launch_mode mode)
{
	graph_begin(p.stream);
	enqueue_decode(p, BY_DEVICE);
	p.graphs.push_back(graph_finish_device(p.stream));
	graph_begin(p.stream);
	enqueue_scheduler(p, p.graphs[0], mode);
	p.graphs.push_back(graph_finish_device(p.stream));
}

static void setup_tail(problem &p)
{
	setup_scheduler(p, LAUNCH_TAIL);
}

static void setup_fire_and_forget(problem &p)
{
	setup_scheduler(p, LAUNCH_FIRE_AND_FORGET);
}

/* The scheduler is the first node, so it runs once more than there are tokens; the decode nodes of
 * that last run find no request and do nothing. */
static void setup_one_graph(problem &p)
{
	graph_begin(p.stream);
	enqueue_scheduler(p, nullptr, LAUNCH_TAIL);
	enqueue_decode(p, FIRST_BY_HOST);
	p.graphs.push_back(graph_finish_device(p.stream));
}

static void teardown(problem &p)
{
	for (cudaGraphExec_t graph : p.graphs)
		CUDA_CHECK(cudaGraphExecDestroy(graph));
	p.graphs.clear();
}

/* ---- variants ---- */

static void copy_schedule(problem &p, enum cudaMemcpyKind kind)
{
	bool to_host = kind == cudaMemcpyDeviceToHost;

	CUDA_CHECK(cudaMemcpyAsync(to_host ? p.seen : p.decoder.schedule,
				   to_host ? p.decoder.schedule : p.seen, sizeof(*p.seen), kind,
				   p.stream));
}

/* What a serving loop does: see each token before it can say what runs next. */
static void run_naive(problem &p, int)
{
	struct schedule *seen = p.seen;

	*seen = {};
	for (;;) {
		if (!seen->active) {
			if (seen->head == p.queue.size())
				return;
			begin_request(seen, p.queue.data(), seen->head++);
			copy_schedule(p, cudaMemcpyHostToDevice);
		}
		CUDA_CHECK(cudaGraphLaunch(p.graphs.back(), p.stream));
		copy_schedule(p, cudaMemcpyDeviceToHost);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
	}
}

static void run_once(problem &p, int)
{
	CUDA_CHECK(cudaGraphLaunch(p.graphs.back(), p.stream));
}

/* ---- the problem ---- */

/* The scalar reference of one request; its tokens go behind those of the requests before it. */
static void reference(const struct request &request, int size, std::vector<uint32_t> &tokens)
{
	struct churn_steps steps = churn_at_once(decode_steps);
	std::vector<uint32_t> hidden(size);
	uint32_t token = request.seed, sum;
	int length = 0;

	for (int i = 0; i < size; i++)
		hidden[i] = first_hidden(i);
	do {
		sum = 0;
		for (uint32_t &value : hidden) {
			value = churn_apply(steps, value ^ token);
			sum += mix(value);
		}
		token = mix(sum);
		tokens.push_back(token);
	} while (!ends_request(token, ++length, request.budget));
}

/* As many requests as it takes to make so many tokens; the last one's budget ends it there. */
static void prepare_queue(problem &p, int tokens)
{
	for (uint32_t i = 0; (int)p.expected.size() < tokens; i++) {
		int left = tokens - (int)p.expected.size();

		p.queue.push_back({mix(i + 1), std::min(longest_request, left)});
		reference(p.queue.back(), p.decoder.size, p.expected);
	}
}

static void prepare(problem &p, long size, int iterations)
{
	p.decoder.size = size;
	prepare_queue(p, iterations);
	p.decoder.requests = device_copy(p.queue);
	p.decoder.hidden = device_array<uint32_t>(size);
	p.decoder.tokens = device_array<uint32_t>(iterations);
	p.decoder.schedule = device_array<struct schedule>(1);
	CUDA_CHECK(cudaMallocHost(&p.seen, sizeof(*p.seen)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	struct schedule schedule = {};

	schedule.request_count = p.queue.size();
	CUDA_CHECK(cudaMemcpy(p.decoder.schedule, &schedule, sizeof(schedule),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.decoder.hidden, 0, p.decoder.size * sizeof(*p.decoder.hidden)));
	CUDA_CHECK(cudaMemset(p.decoder.tokens, 0, p.expected.size() * sizeof(*p.decoder.tokens)));
}

static struct difference check(const problem &p)
{
	device_launches_require("device_scheduler");
	return compare(p.decoder.tokens, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree((void *)p.decoder.requests));
	CUDA_CHECK(cudaFree(p.decoder.hidden));
	CUDA_CHECK(cudaFree(p.decoder.tokens));
	CUDA_CHECK(cudaFree(p.decoder.schedule));
	CUDA_CHECK(cudaFreeHost(p.seen));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host launches the graph of each token and reads it before the next",
	 run_naive, setup_naive, teardown},
	{"tail", "a scheduler puts the decode graph, then itself into its tail", run_once,
	 setup_tail, teardown, why_no_device_launch},
	{"fire_and_forget", "a scheduler launches the decode graph at once, itself in its tail",
	 run_once, setup_fire_and_forget, teardown, why_no_device_launch},
	{"one_graph", "scheduler and decode are one graph, which launches itself in its tail",
	 run_once, setup_one_graph, teardown, why_no_device_launch},
};

static const struct workload<problem> device_scheduler = {
	.name = "device_scheduler", .size = 1 << 18, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = stamp_names,
};
RUN_WORKLOAD(device_scheduler)
