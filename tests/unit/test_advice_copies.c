/* A few large copies of pageable memory, with what pinning them costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

/* Copies of 256 MiB at 10 GB/s, then a kernel that runs for kernel_ns. */
static struct builder *copies(int count, int64_t kernel_ns)
{
	const struct profile_copy copy = {.kind = COPY_TO_DEVICE,
					  .src_memory = MEMORY_PAGEABLE,
					  .dst_memory = 3,
					  .bytes = 256 << 20};
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	for (int i = 0; i < count; i++, now_ns += 26870000) {
		uint32_t call =
			builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns, now_ns + 26860000);

		builder_copy(b, 0, copy, now_ns + 10000, now_ns + 26850000, call);
	}
	builder_kernel(b, 0, "k", now_ns + 5000, now_ns + 5000 + kernel_ns,
		       builder_launch(b, 0, now_ns, now_ns + 4000));
	return b;
}

/* bytes_per_ns: that are pinned; 0: the ceilings do not tell. */
static void advise(struct advised *it, struct builder *b, double bytes_per_ns)
{
	const double bytes = 256 << 20;
	struct ceilings *ceilings = predicted_ceilings(0);

	if (bytes_per_ns > 0)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = CEILING_host_register,
								.parameter = (uint64_t)bytes,
								.value = bytes / bytes_per_ns}),
				 0);
	assert_null(ceilings_sort(ceilings));
	advised_begin_by(it, b, (struct device_work){0}, ceilings);
}

static void test_few(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advise(&it, copies(3, 100000000), 32);
	item = advised_item(&it, "one_time_copy");
	assert_non_null(item);
	assert_string_equal(item->strategy, "pinned_memory");
	assert_string_equal(item->evidence[0], "3 copies of pageable memory, 768 MiB, would take "
					       "64.4 ms less from pinned memory");
	assert_true(advised_says(item, "pinning them takes about 25.2 ms, once"));
	assert_in_range((uint64_t)item->at_stake_ns, 39000000, 39500000);
	assert_true(item->gain.program.speedup == 0); /* no gain of what repeats */
	advised_end(&it);
}

static void test_left_alone(void **state)
{
	struct advised it;

	(void)state;
	advise(&it, copies(3, 100000000), 12); /* pinning takes longer than it saves */
	assert_null(advised_item(&it, "one_time_copy"));
	advised_end(&it);
	advise(&it, copies(1, 400000000), 32); /* next to nothing of the run */
	assert_null(advised_item(&it, "one_time_copy"));
	advised_end(&it);
	/* before its first operation the process made a context */
	struct builder *b = copies(3, 100000000);

	b->processes[0].first_ns -= 1000000000;
	advise(&it, b, 32);
	assert_null(advised_item(&it, "one_time_copy"));
	advised_end(&it);
	advise(&it, copies(12, 100000000), 32); /* pageable_copy's */
	assert_null(advised_item(&it, "one_time_copy"));
	advised_end(&it);
}

/* A copy of 256 MiB at 10 GB/s, then so many kernels of 100 us, each with a copy of four bytes behind it. */
static struct builder *copy_and_loop(int count)
{
	const struct profile_copy flag = {.kind = COPY_TO_HOST,
					  .src_memory = 3,
					  .dst_memory = MEMORY_PAGEABLE,
					  .bytes = 4};
	struct builder *b = copies(1, 100000);
	int64_t now_ns = 27000000;

	for (int i = 0; i < count; i++, now_ns += 120000) {
		uint32_t call;

		builder_kernel(b, 0, "step", now_ns + 5000, now_ns + 105000,
			       builder_launch(b, 0, now_ns, now_ns + 4000));
		call = builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns + 4000, now_ns + 112000);
		builder_copy(b, 0, flag, now_ns + 107000, now_ns + 108000, call);
	}
	return b;
}

static void test_once(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advise(&it, copies(3, 100000000), 32); /* nothing repeats */
	assert_ptr_equal(advice_first(it.advice), advised_item(&it, "one_time_copy"));
	advised_end(&it);
	advise(&it, copy_and_loop(100), 32);
	item = advised_item(&it, "one_time_copy");
	assert_non_null(item);
	assert_true(item->is_once);
	assert_string_equal(item->evidence[0], "1 copy of pageable memory, 256 MiB, would take "
					       "21.5 ms less from pinned memory");
	assert_ptr_equal(item, &it.advice->items[it.advice->count - 1]);
	assert_ptr_not_equal(advice_first(it.advice), item);
	assert_null(advised_item(&it, "pageable_copy")); /* those of the loop are short */
	advised_end(&it);
}

/* 39.2 ms of a run of 180 and of 241 ms: 1.28 and 1.19 times as fast. */
static void test_least(void **state)
{
	struct advised it;

	(void)state;
	advise(&it, copies(3, 100000000), 32);
	assert_non_null(advised_item(&it, "one_time_copy"));
	advised_end(&it);
	advise(&it, copies(3, 160000000), 32);
	assert_null(advised_item(&it, "one_time_copy"));
	advised_end(&it);
}

static void test_unknown_cost(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advise(&it, copies(3, 100000000), 0);
	item = advised_item(&it, "one_time_copy");
	assert_non_null(item);
	assert_true(advised_says(item, "if pinning them takes less than that"));
	advised_end(&it);
}

/* Each of 40 times 1 MiB of GPU 0 to the host, 1 MiB from there to GPU 1, and a kernel of kernel_ns there; bytes_in other
 * bytes go in, and without waits both at once. */
static struct builder *exchange(uint64_t bytes_in, bool is_waiting, int64_t kernel_ns)
{
	struct builder *b = builder_new(1, 2);
	int64_t now_ns = 0;

	for (int i = 0; i < 40; i++, now_ns += 210000 + kernel_ns) {
		const struct profile_copy out = {.kind = COPY_TO_HOST,
						 .src_memory = 3,
						 .dst_memory = MEMORY_PINNED,
						 .bytes = 1 << 20,
						 .is_async = true};
		const struct profile_copy in = {.kind = COPY_TO_DEVICE,
						.src_memory = MEMORY_PINNED,
						.dst_memory = 3,
						.bytes = bytes_in,
						.is_async = true};
		int64_t in_ns = is_waiting ? now_ns + 105000 : now_ns + 50000;
		uint32_t call =
			builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns, now_ns + 2000);

		builder_copy(b, 0, out, now_ns + 3000, now_ns + 100000, call);
		if (is_waiting)
			builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 2500,
				     now_ns + 103000);
		call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, in_ns, in_ns + 2000);
		builder_copy(b, 1, in, in_ns + 3000, in_ns + 100000, call);
		call = builder_launch(b, 0, in_ns + 3000, in_ns + 6000);
		builder_kernel(b, 1, "k", in_ns + 101000, in_ns + 101000 + kernel_ns, call);
	}
	return b;
}

static void test_through_host(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advise(&it, exchange(1 << 20, true, 50000), 0);
	item = advised_item(&it, "staged_peer_copy");
	assert_non_null(item);
	assert_int_equal(item->device, 1);
	assert_string_equal(item->strategy, "peer_copy");
	assert_string_equal(
		item->evidence[0],
		"40 copies, 40.0 MiB, to the host from GPU 0 and then from there to GPU 1, "
		"which take 7.76 ms");
	assert_true(advised_says(item, "assumes: they are the same bytes"));
	advised_end(&it);
}

/* 40 MiB at 400 GB/s. */
static void test_peer_rate(void **state)
{
	const struct ceiling rate = {.id = CEILING_peer_copy, .value = 400e9};
	struct ceilings *ceilings = predicted_ceilings(0);
	const struct recommendation *item;
	struct advised it;

	(void)state;
	assert_int_equal(ceilings_add(ceilings, &rate), 0);
	assert_null(ceilings_sort(ceilings));
	advised_begin_by(&it, exchange(1 << 20, true, 50000), (struct device_work){0}, ceilings);
	item = advised_item(&it, "staged_peer_copy");
	assert_non_null(item);
	assert_true(advised_says(item, "from GPU to GPU they would take 105 us"));
	assert_in_range((uint64_t)item->at_stake_ns, 7600000, 7700000);
	advised_end(&it);
}

static void test_own_copies(void **state)
{
	struct advised it;

	(void)state;
	advise(&it, exchange(1 << 19, true, 50000), 0); /* other bytes */
	assert_null(advised_item(&it, "staged_peer_copy"));
	advised_end(&it);
	advise(&it, exchange(1 << 20, false, 50000), 0); /* begun before the others were there */
	assert_null(advised_item(&it, "staged_peer_copy"));
	advised_end(&it);
	advise(&it, exchange(1 << 20, true, 3000000), 0); /* next to no time */
	assert_null(advised_item(&it, "staged_peer_copy"));
	advised_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"at stake is what copies through the host take longer than from GPU to GPU",
			test_peer_rate),
		SENTENCE("a few large copies are told of with what pinning costs taken off",
			 test_few),
		SENTENCE("where pinning costs more, or little is at stake, they are left alone",
			 test_left_alone),
		SENTENCE("copies from a GPU to another one through the host are told",
			 test_through_host),
		SENTENCE(
			"copies of several GPUs that have nothing to do with each other are left alone",
			test_own_copies),
		SENTENCE("beside a loop of kernels they are told of last, as what happens once",
			 test_once),
		SENTENCE("they are told of from what is more than a prediction may be off",
			 test_least),
		SENTENCE("where nobody knows what pinning costs that is said", test_unknown_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
