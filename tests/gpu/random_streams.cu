/*
 * random_streams [--seed N] [--steps N] [--threads N] [--spin 1] [--pinned 1] - kernels, memsets and copies in several streams, ordered by
 * events and waits as chance has it, the same for the same seed.
 *
 * It prints what memory contains at some steps and in the end.  Each use of a buffer comes after the one before it, by its
 * stream, an event or a wait of the host: so that is the same in every run, unless somebody changes the order.
 * Most of a step is a phrase that is repeated, which is what becomes a graph.  Events are of both kinds, are recorded again
 * and again, asked, waited for and destroyed.  With --spin 1 a kernel waits for the host now and then, which waits for another
 * stream first: who makes that stream wait for the kernel is found out after a second.
 */
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "trial.cuh"

constexpr int stream_count = 5, buffer_count = 6, event_count = 8, length = 4096,
	      longest_phrase = 12;
constexpr int spin_ms = 1000;

struct op {
	int kind, stream, to, from, event;
	uint32_t salt;
};

/* What one thread works with, and chance. */
struct work {
	uint64_t chance;
	cudaStream_t streams[stream_count], witness;
	cudaEvent_t events[event_count];
	int recorded_in[event_count]; /* -1: it was not recorded */
	uint32_t *buffers[buffer_count];
	int owner[buffer_count]; /* the stream that used it last */
	std::vector<op> phrase;
	std::vector<uint32_t> host;
	volatile int *flag; /* what a kernel waits for, and behind it what that saw */
	bool has_spin;
	uint32_t *
		pinned; /* page-locked: what is copied from, and behind it what comes back of each buffer; or NULL */
	std::vector<char> told;
};

static unsigned below(work &w, unsigned limit)
{
	w.chance = w.chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w.chance >> 33) % limit;
}

static void tell(work &w, const char *what, uint64_t value)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%s %llx\n", what, (unsigned long long)value);

	w.told.insert(w.told.end(), line, line + n);
}

static __global__ void mix(uint32_t *to, const uint32_t *from, uint32_t salt)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	long long start = clock64();

	while (clock64() - start < (long long)(salt % 4) * 6000)
		;
	/* Of memory that it writes itself it reads what no other thread writes. */
	to[i] = to[i] * 31 + from[to == from ? i : (i + salt) % length] + salt;
}

static __global__ void spin(volatile int *flag, long long clocks)
{
	long long start = clock64();

	while (!*flag && clock64() - start < clocks)
		;
	flag[1] = flag[0];
}

/* The stream goes on after what the buffer's last use was. */
static void take(work &w, int stream, int buffer, int event)
{
	int owner = w.owner[buffer];

	w.owner[buffer] = stream;
	if (owner == stream)
		return;
	CUDA_CHECK(cudaEventRecord(w.events[event], w.streams[owner]));
	w.recorded_in[event] = owner;
	CUDA_CHECK(cudaStreamWaitEvent(w.streams[stream], w.events[event], 0));
}

static void run(work &w, const op &one, uint32_t more)
{
	cudaStream_t stream = w.streams[one.stream];
	size_t bytes = length * sizeof(uint32_t);

	take(w, one.stream, one.to, one.event);
	take(w, one.stream, one.from, (one.event + 1) % event_count);
	switch (one.kind) {
	case 0:
		CUDA_CHECK(cudaMemsetAsync(w.buffers[one.to], (int)(one.salt + more) & 0xff,
					   bytes / 2, stream));
		break;
	case 1:
		if (one.to != one.from)
			CUDA_CHECK(cudaMemcpyAsync(w.buffers[one.to], w.buffers[one.from], bytes,
						   cudaMemcpyDeviceToDevice, stream));
		break;
	case 3:
		if (w.pinned)
			CUDA_CHECK(cudaMemcpyAsync(w.buffers[one.to], w.pinned + one.salt % 100,
						   bytes / 2, cudaMemcpyHostToDevice, stream));
		break;
	case 4:
		if (w.pinned)
			CUDA_CHECK(cudaMemcpyAsync(w.pinned + (one.to + 1) * length,
						   w.buffers[one.to], bytes, cudaMemcpyDeviceToHost,
						   stream));
		break;
	case 2: /* an event that nobody waits for now */
		CUDA_CHECK(cudaEventRecord(w.events[one.event], stream));
		w.recorded_in[one.event] = one.stream;
		break;
	default:
		CUDA_LAUNCH(mix<<<length / 256, 256, 0, stream>>>(w.buffers[one.to],
								  w.buffers[one.from],
								  one.salt + more));
	}
}

/* Three branches of what the first stream has, as an application that knows its dependencies writes it. */
static void fork_and_join(work &w, uint32_t more)
{
	for (int branch = 1; branch < 4; branch++)
		take(w, branch, branch, 0);
	for (int branch = 1; branch < 4; branch++)
		run(w, {5, branch, branch, branch, 1, (uint32_t)branch}, more);
	for (int branch = 1; branch < 4; branch++)
		take(w, 1, branch, 1 + branch);
	run(w, {5, 1, 0, 1, 5, 9}, more);
}

static void new_phrase(work &w)
{
	unsigned most = below(w, 2) ? stream_count : 2;

	w.phrase.resize(1 + below(w, longest_phrase));
	for (size_t i = 0; i < w.phrase.size(); i++)
		w.phrase[i] = {(int)below(w, 12),	    (int)below(w, most),
			       (int)below(w, buffer_count), (int)below(w, buffer_count),
			       (int)i % event_count,	    below(w, 1000)};
}

static uint64_t hash(const std::vector<uint32_t> &values)
{
	uint64_t sum = 1469598103934665603u;

	for (uint32_t value : values)
		sum = (sum ^ value) * 1099511628211u;
	return sum;
}

/* By a stream of its own, which waits for nothing: whoever calls has waited. */
static void look(work &w, const char *what, int buffer)
{
	CUDA_CHECK(cudaMemcpyAsync(w.host.data(), w.buffers[buffer], length * sizeof(uint32_t),
				   cudaMemcpyDeviceToHost, w.witness));
	CUDA_CHECK(cudaStreamSynchronize(w.witness));
	tell(w, what, hash(w.host));
}

/* The event stands for all that its stream had then, so also for the buffer that this stream used last. */
static void look_behind_event(work &w, bool is_polled)
{
	int buffer = below(w, buffer_count), event = below(w, event_count);

	CUDA_CHECK(cudaEventRecord(w.events[event], w.streams[w.owner[buffer]]));
	w.recorded_in[event] = w.owner[buffer];
	if (is_polled)
		while (cudaEventQuery(w.events[event]) == cudaErrorNotReady)
			;
	else
		CUDA_CHECK(cudaEventSynchronize(w.events[event]));
	look(w, is_polled ? "polled" : "event", buffer);
}

/* An event in the middle of the last fork and join stands for its branch alone, whose buffer nothing has changed since. */
static void look_inside(work &w)
{
	int branch = 2 + below(w, 2);
	cudaEvent_t event = w.events[1 + branch];

	switch (below(w, 3)) {
	case 0:
		while (cudaEventQuery(event) == cudaErrorNotReady)
			;
		break;
	case 1:
		CUDA_CHECK(cudaEventSynchronize(event));
		break;
	default:
		CUDA_CHECK(cudaStreamWaitEvent(w.witness, event, 0));
	}
	look(w, "inside", branch);
}

static void renew_event(work &w, int event)
{
	CUDA_CHECK(cudaEventDestroy(w.events[event]));
	CUDA_CHECK(cudaEventCreateWithFlags(&w.events[event], below(w, 4) ? cudaEventDisableTiming
									  : cudaEventDefault));
	w.recorded_in[event] = -1;
}

/* A stream that waits for the host must not hold up another one. */
static void wait_for_host(work &w)
{
	int here = 1 + below(w, 3), there = 1 + (here + below(w, 2)) % 3, clocks_per_ms;
	int buffer = below(w, buffer_count);

	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaDeviceGetAttribute(&clocks_per_ms, cudaDevAttrClockRate, 0));
	w.flag[0] = w.flag[1] = 0;
	for (int i = 0; i < 3; i++)
		fork_and_join(w, i);
	take(w, there, buffer, 6);
	CUDA_LAUNCH(spin<<<1, 1, 0, w.streams[here]>>>(w.flag, (long long)clocks_per_ms * spin_ms));
	run(w, {5, there, buffer, buffer, 6, 5}, 0);
	CUDA_CHECK(cudaStreamSynchronize(w.streams[there]));
	w.flag[0] = 1;
	CUDA_CHECK(cudaDeviceSynchronize());
	tell(w, "spun", w.flag[1]);
}

/* All was waited for: what came back is there, and what is copied from may be changed. */
static void look_at_pinned(work &w)
{
	uint64_t sum = 0;

	if (!w.pinned)
		return;
	for (int i = 0; i < buffer_count * length; i++)
		sum = (sum ^ w.pinned[length + i]) * 1099511628211u;
	tell(w, "back", sum);
	for (int i = 0; i < length; i++)
		w.pinned[i] = (uint32_t)(sum + i);
}

static void observe(work &w)
{
	int buffer = below(w, buffer_count), event = below(w, event_count);

	switch (below(w, w.has_spin ? 10 : 9)) {
	case 0:
		CUDA_CHECK(cudaDeviceSynchronize());
		look(w, "device", buffer);
		look_at_pinned(w);
		break;
	case 1:
	case 2:
		CUDA_CHECK(cudaStreamSynchronize(w.streams[w.owner[buffer]]));
		look(w, "stream", buffer);
		break;
	case 3:
	case 4:
		look_behind_event(w, true);
		break;
	case 5:
		look_behind_event(w, false);
		break;
	case 6:
		renew_event(w, event);
		break;
	case 7:
		if (w.recorded_in[event] >= 0) /* once more waited for, by another stream */
			CUDA_CHECK(cudaStreamWaitEvent(w.streams[below(w, stream_count)],
						       w.events[event], 0));
		break;
	case 8:
		while (cudaStreamQuery(w.streams[w.owner[buffer]]) == cudaErrorNotReady)
			;
		look(w, "asked", buffer);
		break;
	default:
		wait_for_host(w);
	}
}

static void step(work &w)
{
	unsigned times = 1 + below(w, 12);
	bool is_forked = below(w, 3) == 0;

	if (below(w, 3) == 0)
		new_phrase(w);
	for (unsigned i = 0; i < times; i++) {
		uint32_t more = below(w, 2) ? 0 : i;

		if (is_forked)
			fork_and_join(w, more);
		else
			for (const op &one : w.phrase)
				run(w, one, more);
	}
	if (is_forked && below(w, 2))
		look_inside(w);
	observe(w);
}

static void open_work(work &w, uint64_t seed, bool has_spin, bool has_pinned)
{
	w.chance = seed * 7919 + 1;
	w.has_spin = has_spin;
	w.streams[0] = 0;
	for (int s = 1; s < stream_count;
	     s++) /* the last one waits for the default stream as well */
		CUDA_CHECK(
			cudaStreamCreateWithFlags(&w.streams[s], s == 4 ? cudaStreamDefault
									: cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreateWithFlags(&w.witness, cudaStreamNonBlocking));
	for (int e = 0; e < event_count; e++) {
		CUDA_CHECK(cudaEventCreateWithFlags(&w.events[e], e < 6 ? cudaEventDisableTiming
									: cudaEventDefault));
		w.recorded_in[e] = -1;
	}
	for (int b = 0; b < buffer_count; b++) {
		CUDA_CHECK(cudaMalloc(&w.buffers[b], length * sizeof(uint32_t)));
		CUDA_CHECK(cudaMemset(w.buffers[b], b, length * sizeof(uint32_t)));
		w.owner[b] = 0;
	}
	w.host.resize(length);
	if (has_pinned) {
		size_t bytes = (buffer_count + 1) * length * sizeof(uint32_t);

		CUDA_CHECK(cudaMallocHost((void **)&w.pinned, bytes));
		memset(w.pinned, 1, bytes);
	}
	if (has_spin)
		CUDA_CHECK(cudaMallocHost((void **)&w.flag, 2 * sizeof(int)));
	CUDA_CHECK(cudaDeviceSynchronize());
	new_phrase(w);
}

static void run_thread(work *w, long steps)
{
	for (long i = 0; i < steps; i++)
		step(*w);
	CUDA_CHECK(cudaDeviceSynchronize());
	for (int b = 0; b < buffer_count; b++)
		look(*w, "end", b);
}

int main(int argc, char **argv)
{
	long seed = 1, steps = 60, thread_count = 1, has_spin = 0, has_pinned = 0;
	std::vector<std::thread> threads;
	std::vector<work> works;

	trial_parse(argc, argv,
		    {{"seed", &seed},
		     {"steps", &steps},
		     {"threads", &thread_count},
		     {"spin", &has_spin},
		     {"pinned", &has_pinned}});
	works.resize(thread_count);
	for (long t = 0; t < thread_count; t++)
		open_work(works[t], (uint64_t)(seed * 100 + t), has_spin && t == 0, has_pinned);
	for (long t = 0; t < thread_count; t++)
		threads.emplace_back(run_thread, &works[t], steps);
	for (long t = 0; t < thread_count; t++)
		threads[t].join();
	for (const work &w : works)
		fwrite(w.told.data(), 1, w.told.size(), stdout);
	return 0;
}
