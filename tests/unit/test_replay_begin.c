/* When threads and processes begin that have others before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_replay.h"

/* A wait of 50 us that nothing needs, [0, 50000), and from 60000 on a call of another thread, perhaps of another process. */
static struct builder *waits_then(uint32_t process, uint32_t *thread)
{
	struct builder *b = builder_new(2, 1);

	*thread = process ? process : builder_thread(b, 0);
	builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, 0, 50000);
	builder_call(b, *thread, "cudaGetLastError", CALL_OTHER, 60000, 61000);
	return b;
}

/* Where the call with that number is gone, by how much the last one of a thread is sooner. */
static int64_t sooner_by(struct builder *b, size_t dropped, uint32_t thread)
{
	const struct profile_thread *calls;
	struct replayed it;
	struct change change;
	size_t last;
	int64_t ns;

	builder_finish(b);
	it = replayed_new(b);
	calls = &it.profile->threads[thread];
	last = calls->first_call + calls->call_count - 1;
	usual_changes_begin(&change, it.model, true);
	change.calls[dropped] = CALL_DROPPED;
	replayed_run(&it, &change, &random_costs);
	ns = it.profile->calls[last].start_ns - it.replay.call_start_ns[last];
	change_free(&change);
	replayed_free(&it);
	return ns;
}

static int64_t sooner_ns(struct builder *b, size_t dropped)
{
	return sooner_by(b, dropped, (uint32_t)b->profile.thread_count - 1);
}

static void test_thread(void **state)
{
	uint32_t thread;
	struct builder *b = waits_then(0, &thread);

	(void)state;
	assert_int_equal(sooner_ns(b, 0), 50000);
}

static void test_process(void **state)
{
	uint32_t thread;
	struct builder *b = waits_then(1, &thread);

	(void)state;
	assert_int_equal(sooner_ns(b, 0), 50000);
}

/* The first one goes on: nobody waited for its end. */
static void test_process_beside(void **state)
{
	uint32_t thread;
	struct builder *b = waits_then(1, &thread);

	(void)state;
	builder_call(b, 0, "cudaGetLastError", CALL_OTHER, 60500, 60600);
	builder_call(b, thread, "cudaGetLastError", CALL_OTHER, 62000, 63000);
	assert_int_equal(sooner_ns(b, 0), 0);
}

/* The thread that made it waits already, for what the other one does perhaps: it was made before that wait. */
static void test_thread_within_a_call(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t thread = builder_thread(b, 0);

	(void)state;
	builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, 0, 50000);
	builder_call(b, thread, "cudaGetLastError", CALL_OTHER, 1000, 2000);
	assert_int_equal(sooner_ns(b, 0), 0);
}

/* Another process calls between the thread that made it and its first call. */
static void test_thread_beside_another_process(void **state)
{
	uint32_t thread;
	struct builder *b = waits_then(0, &thread);

	(void)state;
	builder_call(b, 1, "cudaGetLastError", CALL_OTHER, 55000, 56000);
	assert_int_equal(sooner_by(b, 0, thread), 50000);
}

/* Processes 0 and 1 run side by side until 50000 and 45000.  What comes when both have ended begins no sooner than both. */
static void test_process_after_two(void **state)
{
	struct builder *b = builder_new(3, 1);

	(void)state;
	builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, 0, 50000);
	builder_call(b, 1, "cudaGetLastError", CALL_OTHER, 10000, 45000);
	builder_call(b, 2, "cudaGetLastError", CALL_OTHER, 60000, 61000);
	assert_int_equal(sooner_by(b, 0, 2), 5000);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a thread begins as much sooner as the one that made it", test_thread),
		SENTENCE("a process that began when the one before it had ended, too",
			 test_process),
		SENTENCE("but not beside one that goes on", test_process_beside),
		SENTENCE(
			"a thread that begins within the last call, as much as that call began sooner",
			test_thread_within_a_call),
		SENTENCE("one that begins after a call of another process, as its own process",
			 test_thread_beside_another_process),
		SENTENCE("a process after two side by side, when the later of them has ended",
			 test_process_after_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
