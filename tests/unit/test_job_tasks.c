/* Tasks of several ranks that wait for each other, one event after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "replay/job/tasks.h"

static uint32_t add(struct tasks *tasks, double length_ns, uint32_t device, enum task_kind kind)
{
	uint32_t index;

	tasks->device_count = 2;
	assert_int_equal(tasks_add(tasks,
				   &(struct task){.length_ns = length_ns,
						  .device = device,
						  .meeting = TASK_NONE,
						  .kind = kind},
				   &index),
			 0);
	return index;
}

static void need(struct tasks *tasks, uint32_t task, uint32_t other, double lag_ns)
{
	assert_int_equal(tasks_need(tasks, task, other, false, lag_ns), 0);
}

static void expect(const struct tasks *tasks, uint32_t task, double start_ns, double end_ns)
{
	assert_float_equal(tasks->items[task].start_ns, start_ns, 1e-6);
	assert_float_equal(tasks->items[task].end_ns, end_ns, 1e-6);
}

static void test_needs(void **state)
{
	struct tasks tasks = {0};
	uint32_t call = add(&tasks, 5, 2, TASK_HOST), first = add(&tasks, 100, 0, TASK_COMPUTATION);
	uint32_t second = add(&tasks, 10, 0, TASK_COMPUTATION), other;

	(void)state;
	assert_int_equal(tasks_need(&tasks, first, call, true, 3), 0);
	need(&tasks, second, first, 2);
	tasks.items[second].rest_ns = 4;
	other = add(&tasks, 1, 1, TASK_COPY);
	need(&tasks, other, first, -50); /* never before what it needs */
	need(&tasks, other, second, 0);
	tasks.needs[tasks.need_count - 1].other = TASK_NONE; /* taken back */
	assert_int_equal(tasks_run(&tasks), 0);
	expect(&tasks, call, 0, 5);
	expect(&tasks, first, 3, 103);
	expect(&tasks, second, 109, 119);
	expect(&tasks, other, 103, 104);
	tasks_free(&tasks);
}

/* Two ranks, each a kernel and then a collective of 10; what follows on both begins when the slower one's has ended. */
static void test_meeting(void **state)
{
	struct tasks tasks = {0};
	uint32_t kernels[2], reduces[2], after[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		kernels[i] = add(&tasks, i ? 300 : 100, i, TASK_COMPUTATION);
		reduces[i] = add(&tasks, 10, i, TASK_COMMUNICATION);
		after[i] = add(&tasks, 1, i, TASK_COMPUTATION);
		tasks.items[reduces[i]].meeting = 0;
		need(&tasks, reduces[i], kernels[i], 0);
		need(&tasks, after[i], reduces[i], 0);
	}
	tasks.meeting_count = 1;
	assert_int_equal(tasks_run(&tasks), 0);
	expect(&tasks, reduces[0], 100, 310); /* it waits in its kernel */
	expect(&tasks, reduces[1], 300, 310);
	expect(&tasks, after[0], 310, 311);
	expect(&tasks, after[1], 310, 311);
	tasks_free(&tasks);
}

static void test_shared_sms(void **state)
{
	struct tasks tasks = {0};
	uint32_t kernel = add(&tasks, 100, 0, TASK_COMPUTATION);
	uint32_t reduce = add(&tasks, 40, 0, TASK_COMMUNICATION);
	uint32_t elsewhere = add(&tasks, 100, 1, TASK_COMPUTATION);

	(void)state;
	tasks.items[reduce].sm_share = 0.25;
	tasks.items[reduce].from_ns = 20;
	assert_int_equal(tasks_run(&tasks), 0);
	expect(&tasks, reduce, 20, 60);
	expect(&tasks, kernel, 0, 110); /* 20 alone, 40 at three quarters, 50 alone */
	expect(&tasks, elsewhere, 0, 100);
	tasks_free(&tasks);
}

static void test_deadlock(void **state)
{
	struct tasks tasks = {0};
	uint32_t first = add(&tasks, 1, 0, TASK_COMPUTATION);
	uint32_t second = add(&tasks, 1, 0, TASK_COMPUTATION);

	(void)state;
	need(&tasks, first, second, 0);
	need(&tasks, second, first, 0);
	assert_int_equal(tasks_run(&tasks), -EDEADLK);
	tasks_free(&tasks);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a task begins when all that it needs is there", test_needs),
		SENTENCE(
			"a collective goes on when its last rank has come, and so does what follows it",
			test_meeting),
		SENTENCE("computation beside a collective has the SMs that it leaves",
			 test_shared_sms),
		SENTENCE("tasks that wait for each other forever are an error", test_deadlock),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
