/* When kernels that share a GPU start: in their order, or as soon as there is room.  The figures are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/engines.h"
#include "profile_builder.h"

#define LENGTH 100

struct gpu {
	struct builder *b;
	struct engines engines;
};

static struct gpu gpu_new(bool starts_early)
{
	struct gpu gpu = {.b = builder_new(1, 1)};

	engines_open(&gpu.engines);
	gpu.engines.starts_early = starts_early;
	return gpu;
}

/* A kernel that could start then: when it does. */
static int64_t put(struct gpu *gpu, unsigned int fill, int64_t ready_ns)
{
	uint32_t op = (uint32_t)gpu->b->profile.op_count;
	int64_t start_ns;

	builder_kernel(gpu->b, 0, "k", 1000 * op, 1000 * op + LENGTH, PROFILE_NONE);
	start_ns = engines_start_ns(&gpu->engines, &gpu->b->profile, op, fill, ready_ns);
	engines_add(&gpu->engines, &gpu->b->profile, op, fill, start_ns, start_ns + LENGTH);
	return start_ns;
}

static void test_ordered(void **state)
{
	struct gpu gpu = gpu_new(false);

	(void)state;
	assert_int_equal(put(&gpu, 50, 0), 0);
	assert_int_equal(put(&gpu, 50, 200), 200);
	assert_int_equal(put(&gpu, 50, 0), 200);
	assert_int_equal(put(&gpu, 50, 0), 300);
	free(gpu.b);
}

static void test_early(void **state)
{
	struct gpu gpu = gpu_new(true);

	(void)state;
	assert_int_equal(put(&gpu, 50, 0), 0);
	assert_int_equal(put(&gpu, 50, 200), 200);
	assert_int_equal(put(&gpu, 50, 0), 0);
	assert_int_equal(put(&gpu, 50, 50), 100);  /* both have ended then */
	assert_int_equal(put(&gpu, 100, 0), 300);  /* no hole is as long as it takes */
	assert_int_equal(put(&gpu, 50, 110), 110); /* beside the one at 100, and that at 200 */
	assert_int_equal(put(&gpu, 50, 0), 400); /* from 210 on it would run into the one at 300 */
	free(gpu.b);
}

/* What waits for all comes behind them, and nothing before it. */
static void test_forgotten(void **state)
{
	struct gpu gpu = gpu_new(true);

	(void)state;
	put(&gpu, 50, 0);
	engines_forget(&gpu.engines, 500);
	assert_int_equal(put(&gpu, 50, 0), 500);
	free(gpu.b);
}

/* Of more kernels than are kept nothing starts beside one that is not known any more. */
static void test_many(void **state)
{
	struct gpu gpu = gpu_new(true);

	(void)state;
	for (int64_t i = 0; i < 2 * TAKEN_STEPS; i++)
		assert_int_equal(put(&gpu, i % 2 ? 60 : 100, 2 * i * LENGTH), 2 * i * LENGTH);
	assert_true(gpu.engines.taken.floor_ns > 0);
	assert_in_range(put(&gpu, 50, 0), (uintmax_t)gpu.engines.taken.floor_ns,
			4 * TAKEN_STEPS * LENGTH);
	free(gpu.b);
}

/* By chance: no more than the whole GPU is ever taken. */
static void test_never_more(void **state)
{
	struct gpu gpu = gpu_new(true);
	unsigned int seed = 3, fills[100];
	int64_t starts_ns[100];

	(void)state;
	for (int i = 0; i < 100; i++) {
		fills[i] = 1 + (unsigned int)rand_r(&seed) % 100;
		starts_ns[i] = put(&gpu, fills[i], rand_r(&seed) % 2000);
	}
	for (int i = 0; i < 100; i++) {
		unsigned int taken = 0;

		for (int j = 0; j < 100; j++)
			if (starts_ns[j] <= starts_ns[i] && starts_ns[j] + LENGTH > starts_ns[i])
				taken += fills[j];
		assert_in_range(taken, 1, 100);
	}
	free(gpu.b);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("kernels start in the order in which they are asked for", test_ordered),
		SENTENCE("where dependences are known, a kernel starts as soon as there is room",
			 test_early),
		SENTENCE("what waits for all parts what is before and behind it", test_forgotten),
		SENTENCE("nothing starts among what is forgotten", test_many),
		SENTENCE("never is more taken than there is", test_never_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
