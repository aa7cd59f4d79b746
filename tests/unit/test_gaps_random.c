/* Gaps of random profiles: the causes add up, and are what counting each nanosecond finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_gaps.h"

static const struct {
	const char *name;
	enum profile_call_class class;
	enum gap_cause inside, launching;
} random_calls[] = {
	{"cudaLaunchKernel", CALL_LAUNCH, GAP_LAUNCH, GAP_LAUNCH},
	{"cudaMemcpyAsync", CALL_COPY, GAP_LAUNCH, GAP_LAUNCH},
	{"cudaMemcpy", CALL_COPY, GAP_COPY, GAP_COPY},
	{"cudaStreamSynchronize", CALL_SYNC, GAP_SYNC, GAP_COPY},
	{"cudaMalloc", CALL_MEMORY, GAP_ALLOCATION, GAP_ALLOCATION},
	{"cudaGraphInstantiate", CALL_GRAPH_MANAGE, GAP_INSTANTIATE, GAP_INSTANTIATE},
	{"cudaGraphUpload", CALL_GRAPH_MANAGE, GAP_GRAPH, GAP_GRAPH},
	{"cudaStreamWaitEvent", CALL_EVENT, GAP_LAUNCH, GAP_LAUNCH},
	{"cuModuleLoad", CALL_MODULE, GAP_MODULE, GAP_MODULE},
	{"cudaGetDevice", CALL_OTHER, GAP_HOST, GAP_LAUNCH},
};

static size_t random_call_of(const char *name)
{
	size_t i = 0;

	while (strcmp(random_calls[i].name, name))
		i++;
	return i;
}

/* A few bytes to the host, or too many of them to decide by. */
static void random_read(struct builder *b, uint32_t thread, uint32_t call, int64_t start_ns,
			int scale)
{
	struct profile_copy copy = {.bytes = 1 + (uint64_t)rand() % (2 * GAP_DECISION_BYTES),
				    .kind = COPY_TO_HOST};

	builder_copy(b, builder_stream(b, b->threads[thread].process, rand() % 4 == 0), copy,
		     start_ns, start_ns + rand() % (3 * scale), call);
}

/* Calls one after the other on each thread; each may launch some kernels somewhat later. */
static struct builder *random_profile(int scale)
{
	struct builder *b = builder_new(2, 2);

	builder_thread(b, 0);
	/* the first launches of the kernel are short: none of the others loads code */
	for (uint32_t process = 0; process < 2; process++)
		builder_kernel(b, builder_stream(b, process, 0), "k", -19, -15,
			       builder_launch(b, process, -20, -19));
	for (uint32_t thread = 0; thread < 3; thread++) {
		int64_t now = rand() % (10 * scale);

		for (int i = 0; i < 12; i++) {
			size_t kind = (size_t)rand() % 10;
			int64_t end = now + 1 + rand() % (8 * scale);
			uint32_t call = builder_call(b, thread, random_calls[kind].name,
						     random_calls[kind].class, now, end);

			if (random_calls[kind].class == CALL_COPY && rand() % 2)
				random_read(b, thread, call, now + rand() % (8 * scale), scale);
			for (int j = rand() % 3; j > 0; j--) {
				int64_t start = now + rand() % (20 * scale) - scale;
				uint32_t device = rand() % 4 == 0;

				builder_kernel(b,
					       builder_stream(b, b->threads[thread].process,
							      device),
					       "k", start, start + rand() % (6 * scale),
					       rand() % 10 ? call : PROFILE_NONE);
			}
			now = end + rand() % (6 * scale);
		}
	}
	for (int i = 0; i < 6; i++) {
		int64_t start = rand() % (100 * scale);
		uint32_t thread = (uint32_t)rand() % 3;

		builder_overhead(b, b->threads[thread].process, rand() % 4 ? thread : PROFILE_NONE,
				 rand() % 2, start, start + rand() % (5 * scale));
	}
	return b;
}

static void test_sums(void **state)
{
	(void)state;
	srand(20240602);
	for (int round = 0; round < 2000; round++) {
		struct builder *b = random_profile(round % 2 ? 4 : 2000);
		struct gaps_result result = gaps_of(b, 7);

		for (size_t i = 0; i < 2; i++) {
			const struct gap_device *device = &result.gaps->devices[i];
			int64_t sum = 0;

			for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
				assert_true(device->by_cause_ns[cause] >= 0);
				sum += device->by_cause_ns[cause];
			}
			assert_int_equal(sum, device->idle_ns);
			assert_int_equal(device->wall_ns, device->busy_ns + device->idle_ns);
		}
		for (size_t i = 0; i < result.gaps->longest_count; i++) {
			const struct gap *gap = &result.gaps->longest[i];
			int64_t sum = 0;

			for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
				sum += gap->by_cause_ns[cause];
			assert_int_equal(sum, gap->end_ns - gap->start_ns);
		}
		gaps_done(b, result);
	}
}

static const struct profile_op *small_read_of(const struct profile *profile, uint32_t call)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call == call && profile->ops[i].kind == OP_COPY &&
		    profile->copies[profile->ops[i].detail].bytes <= GAP_DECISION_BYTES)
			return &profile->ops[i];
	return NULL;
}

static bool submits(const struct profile *profile, uint32_t call)
{
	enum profile_call_class class = profile->call_names[profile->calls[call].name].call_class;

	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call == call)
			return true;
	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH || class == CALL_COPY;
}

/* The call of that name since the thread's last work before launch, or that work with NULL. */
static uint32_t last_before(const struct profile *profile, uint32_t launch, const char *name)
{
	for (uint32_t i = launch;
	     i-- > 0 && profile->calls[i].thread == profile->calls[launch].thread;) {
		const char *text = profile->call_names[profile->calls[i].name].text;

		if (submits(profile, i))
			return name ? PROFILE_NONE : i;
		if (name && !strcmp(text, name))
			return i;
	}
	return PROFILE_NONE;
}

static bool is_decided(const struct profile *profile, const struct profile_op *after, int64_t t)
{
	uint32_t work = last_before(profile, after->call, NULL);
	uint32_t wait = last_before(profile, after->call, "cudaStreamSynchronize");
	const struct profile_op *read = work == PROFILE_NONE ? NULL : small_read_of(profile, work);

	if (!read || t < read->end_ns || after->kind == OP_COPY)
		return false;
	if (wait != PROFILE_NONE)
		return profile->calls[wait].end_ns >= read->end_ns;
	return !strcmp(profile->call_names[profile->calls[work].name].text, "cudaMemcpy") &&
	       profile->calls[work].end_ns >= read->end_ns;
}

/* The rule for one nanosecond, without decisions, written down a second time without any arithmetic on spans. */
static enum gap_cause cause_of_moment(const struct profile *profile, const struct profile_op *after,
				      int64_t gap_start, int64_t latency_ns, int64_t t)
{
	const struct profile_call *call;
	bool in_call = false;
	enum gap_cause cause;

	if (after->call == PROFILE_NONE)
		return GAP_UNKNOWN;
	call = &profile->calls[after->call];
	if (t >= call->end_ns + latency_ns)
		return call->end_ns <= gap_start &&
				       last_before(profile, after->call, "cudaStreamWaitEvent") !=
					       PROFILE_NONE
			       ? GAP_DEPENDENCY
			       : GAP_DEVICE;
	for (size_t i = 0; t < call->end_ns && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];

		if (overhead->is_profiler && overhead->start_ns <= t && t < overhead->end_ns &&
		    overhead->thread == call->thread)
			return GAP_PROFILER;
	}
	for (size_t i = 0; t < call->end_ns && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];

		if (!overhead->is_profiler && overhead->start_ns <= t && t < overhead->end_ns &&
		    overhead->thread == call->thread)
			return GAP_MODULE;
	}
	if (t >= call->start_ns)
		return random_calls[random_call_of(profile->call_names[call->name].text)].launching;
	cause = GAP_HOST;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *other = &profile->calls[i];

		if (other->thread != call->thread || other->start_ns > t || t >= other->end_ns)
			continue;
		assert_false(in_call);
		in_call = true;
		cause = random_calls[random_call_of(profile->call_names[other->name].text)].inside;
	}
	return cause;
}

static enum gap_cause decided_cause(const struct profile *profile, const struct profile_op *after,
				    int64_t gap_start, int64_t latency_ns, int64_t t)
{
	enum gap_cause cause = cause_of_moment(profile, after, gap_start, latency_ns, t);

	if (after->call == PROFILE_NONE || profile->calls[after->call].end_ns <= gap_start ||
	    !is_decided(profile, after, t))
		return cause;
	return cause == GAP_LAUNCH || cause == GAP_SYNC || cause == GAP_HOST || cause == GAP_COPY ||
			       cause == GAP_DEVICE
		       ? GAP_DECISION
		       : cause;
}

static const struct profile_op *after_of(const struct profile *profile, size_t device, int64_t end)
{
	const struct profile_op *best = NULL;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (profile_op_device(profile, op) != device || op->start_ns != end)
			continue;
		if (!best ||
		    (op->call != PROFILE_NONE &&
		     (best->call == PROFILE_NONE ||
		      profile->calls[op->call].start_ns < profile->calls[best->call].start_ns)))
			best = op;
	}
	return best;
}

static bool is_busy(const struct profile *profile, size_t device, int64_t t)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile_op_device(profile, &profile->ops[i]) == device &&
		    profile->ops[i].start_ns <= t && t < profile->ops[i].end_ns)
			return true;
	return false;
}

/* The gap that begins at t, when it does: its end, or t. */
static int64_t gap_end(const struct profile *profile, const struct timeline_device *times,
		       size_t device, int64_t t)
{
	int64_t end = t;

	if (is_busy(profile, device, t))
		return t;
	/* operations of no length end a gap too */
	do
		end++;
	while (!is_busy(profile, device, end) && !after_of(profile, device, end) &&
	       end < times->last_ns);
	return end;
}

/* The median of the latencies that are no longer than the limit, by counting. */
static int64_t latency_of(const struct profile *profile, const struct timeline_device *times,
			  size_t device)
{
	uint32_t counts[1000] = {0}, count = 0, seen = 0;

	for (int64_t t = times->first_ns; t < times->last_ns; t++) {
		int64_t end = gap_end(profile, times, device, t), latency_ns;
		const struct profile_op *after = end > t ? after_of(profile, device, end) : NULL;

		if (!after || after->call == PROFILE_NONE) {
			t = end > t ? end - 1 : t;
			continue;
		}
		latency_ns = end - profile->calls[after->call].end_ns;
		if (latency_ns > 0 && latency_ns < end - t) {
			assert_true(latency_ns < 1000);
			counts[latency_ns]++;
			count++;
		}
		t = end - 1;
	}
	for (int64_t i = 0; count && i < 1000; i++)
		if (2 * (seen += counts[i]) > count)
			return i;
	return GAP_LATENCY_NS;
}

static void count_moments(const struct profile *profile, const struct timeline_device *times,
			  size_t device, int64_t *by_cause_ns)
{
	int64_t latency_ns = latency_of(profile, times, device);

	for (int64_t t = times->first_ns; t < times->last_ns;) {
		int64_t end = gap_end(profile, times, device, t);
		const struct profile_op *after = after_of(profile, device, end);

		for (int64_t moment = t; moment < end; moment++)
			by_cause_ns[decided_cause(profile, after, t, latency_ns, moment)]++;
		t = end > t ? end : t + 1;
	}
}

static void test_against_counting(void **state)
{
	(void)state;
	srand(20240603);
	for (int round = 0; round < 300; round++) {
		struct builder *b = random_profile(4);
		struct gaps_result result = gaps_of(b, 0);

		for (size_t i = 0; i < 2; i++) {
			int64_t expected[GAP_CAUSE_COUNT] = {0};

			count_moments(&b->profile, &result.timeline->devices[i], i, expected);
			for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
				if (expected[cause] != result.gaps->devices[i].by_cause_ns[cause])
					fail_msg("round %d, %s: %lld, counted %lld", round,
						 gap_cause_key(cause),
						 (long long)result.gaps->devices[i]
							 .by_cause_ns[cause],
						 (long long)expected[cause]);
		}
		gaps_done(b, result);
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("causes add up to idle time in random recordings", test_sums),
		SENTENCE("random recordings agree with judging every nanosecond",
			 test_against_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
