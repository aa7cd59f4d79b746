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

/* Where the call with that number is gone, by how much the last one is sooner. */
static int64_t sooner_ns(struct builder *b, size_t dropped)
{
	struct replayed it;
	struct change change;
	size_t last;
	int64_t ns;

	builder_finish(b);
	it = replayed_new(b);
	last = it.profile->call_count - 1;
	usual_changes_begin(&change, it.model, true);
	change.calls[dropped] = CALL_DROPPED;
	replayed_run(&it, &change, &random_costs);
	ns = it.profile->calls[last].start_ns - it.replay.call_start_ns[last];
	change_free(&change);
	replayed_free(&it);
	return ns;
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
