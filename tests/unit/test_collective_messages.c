/* Which kernel did what NCCL was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/time/collective_messages.h"
#include "profile_builder.h"

static const char reduce[] =
	"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
static const char gather[] = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
static const char pairs[] = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

struct made {
	struct builder *b;
	struct profile_nccl_call calls[1024];
	struct profile_communicator communicators[8];
	struct collective_message *messages;
};

static struct made *begin(size_t devices)
{
	struct made *made = calloc(1, sizeof(*made));

	made->b = builder_new(1, devices);
	made->b->profile.nccl_calls = made->calls;
	made->b->profile.communicators = made->communicators;
	return made;
}

/* NCCL's function, in its own range. */
static void ask(struct made *made, const char *operation, uint64_t communicator, int64_t time_ns,
		int64_t end_ns)
{
	size_t i = made->b->profile.nccl_call_count++;

	made->calls[i] = (struct profile_nccl_call){.time_ns = time_ns + 1,
						    .communicator = communicator,
						    .bytes = 8 * (i + 1),
						    .operation = operation};
	builder_range(made->b, 0, "nccl", time_ns, end_ns)->domain = "NCCL";
}

static void group(struct made *made, bool ends, int64_t start_ns, int64_t end_ns)
{
	builder_range(made->b, 0, ends ? "ncclGroupEnd" : "ncclGroupStart", start_ns, end_ns)
		->domain = "NCCL";
}

static void launch(struct made *made, uint32_t device, const char *kernel, int64_t time_ns)
{
	builder_kernel(made->b, device, kernel, time_ns + 1000, time_ns + 2000,
		       builder_launch(made->b, 0, time_ns, time_ns + 5));
}

static void communicator(struct made *made, uint64_t id, uint32_t rank_count, uint32_t device)
{
	size_t i = made->b->profile.communicator_count++;

	made->communicators[i] = (struct profile_communicator){.communicator = id,
							       .rank_count = rank_count,
							       .device = device};
}

static void find(struct made *made)
{
	assert_int_equal(collective_messages_find(&made->messages, builder_finish(made->b)), 0);
}

/* The kernel's start tells which it is. */
static void expect(const struct made *made, size_t call, int64_t launch_ns, uint32_t call_count)
{
	const struct collective_message *message = &made->messages[call];

	assert_int_equal(message->call_count, call_count);
	if (!call_count)
		assert_int_equal(message->op, PROFILE_NONE);
	else
		assert_int_equal(made->b->ops[message->op].start_ns, launch_ns + 1000);
}

static void done(struct made *made)
{
	free(made->messages);
	free(made->b);
	free(made);
}

static void a_call_has_the_kernel_that_was_launched_before_it_returned(void **state)
{
	struct made *made = begin(1);

	(void)state;
	ask(made, "AllReduce", 1, 100, 200);
	launch(made, 0, reduce, 150);
	ask(made, "AllGather", 1, 300, 400);
	launch(made, 0, gather, 350);
	launch(made, 0, "k", 360);
	find(made);
	expect(made, 0, 150, 1);
	expect(made, 1, 350, 1);
	done(made);
}

/* Its kernel runs when the graph is launched, and the next call has nothing to do with it. */
static void a_call_that_was_captured_has_no_kernel(void **state)
{
	struct made *made = begin(1);

	(void)state;
	ask(made, "AllReduce", 1, 100, 200);
	group(made, false, 210, 211);
	ask(made, "AllReduce", 1, 220, 230);
	group(made, true, 240, 250);
	ask(made, "AllReduce", 1, 300, 400);
	launch(made, 0, reduce, 350);
	find(made);
	expect(made, 0, 0, 0);
	expect(made, 1, 0, 0);
	expect(made, 2, 350, 1);
	done(made);
}

static void calls_of_a_group_that_one_kernel_does_share_it(void **state)
{
	struct made *made = begin(1);

	(void)state;
	group(made, false, 10, 20);
	ask(made, "AllReduce", 1, 100, 110);
	ask(made, "AllReduce", 1, 120, 130);
	ask(made, "AllReduce", 1, 140, 150);
	group(made, true, 200, 300);
	launch(made, 0, reduce, 250);
	find(made);
	for (size_t i = 0; i < 3; i++)
		expect(made, i, 250, 3);
	done(made);
}

/* One thread with all GPUs, whose ranks have one communicator. */
static void kernels_of_a_group_that_are_as_many_as_calls_are_told_by_their_names(void **state)
{
	struct made *made = begin(2);

	(void)state;
	group(made, false, 10, 20);
	ask(made, "AllReduce", 1, 100, 110);
	ask(made, "Send", 1, 120, 130);
	ask(made, "AllGather", 2, 140, 150);
	group(made, true, 200, 300);
	launch(made, 0, gather, 250);
	launch(made, 0, reduce, 260);
	launch(made, 1, pairs, 270);
	find(made);
	expect(made, 0, 260, 1);
	expect(made, 1, 270, 1);
	expect(made, 2, 250, 1);
	assert_int_equal(made->messages[1].device, 1);
	done(made);
}

static void a_kernel_for_each_communicator_does_all_calls_of_it(void **state)
{
	struct made *made = begin(1);

	(void)state;
	group(made, false, 10, 20);
	for (uint64_t id = 1; id <= 2; id++)
		for (int64_t i = 0; i < 2; i++)
			ask(made, "AllReduce", id, 100 * (int64_t)id + 20 * i,
			    100 * (int64_t)id + 20 * i + 5);
	group(made, true, 300, 400);
	launch(made, 0, reduce, 350);
	launch(made, 0, reduce, 360);
	find(made);
	for (size_t i = 0; i < 4; i++)
		expect(made, i, i < 2 ? 350 : 360, 2);
	done(made);
}

static void of_a_group_whose_kernels_are_neither_nothing_is_said(void **state)
{
	struct made *made = begin(1);

	(void)state;
	group(made, false, 10, 20);
	for (int64_t i = 0; i < 3; i++)
		ask(made, "AllReduce", 1, 100 + 20 * i, 105 + 20 * i);
	group(made, true, 200, 300);
	launch(made, 0, reduce, 250);
	launch(made, 0, reduce, 260);
	find(made);
	for (size_t i = 0; i < 3; i++)
		expect(made, i, 0, 0);
	done(made);
}

static void ranks_and_gpu_are_the_communicators_and_one_rank_launches_nothing(void **state)
{
	struct made *made = begin(2);

	(void)state;
	communicator(made, 1, 1, 1);
	communicator(made, 2, 8, 0);
	communicator(made, 3, 4, 0); /* both ranks of this process: which one calls is not known */
	communicator(made, 3, 4, 1);
	group(made, false, 10, 20);
	ask(made, "AllReduce", 1, 100, 110);
	ask(made, "AllReduce", 2, 120, 130);
	group(made, true, 200, 300);
	launch(made, 0, reduce, 250);
	ask(made, "AllReduce", 3, 400, 410);
	find(made);
	expect(made, 0, 0, 0);
	expect(made, 1, 250, 1);
	assert_int_equal(made->messages[0].rank_count, 1);
	assert_int_equal(made->messages[0].device, 1);
	assert_int_equal(made->messages[1].rank_count, 8);
	assert_int_equal(made->messages[2].rank_count, 4);
	assert_int_equal(made->messages[2].device, PROFILE_NONE);
	done(made);
}

static void a_large_group_has_a_kernel_for_each_call(void **state)
{
	struct made *made = begin(1);

	(void)state;
	group(made, false, 10, 20);
	for (int64_t i = 0; i < 1000; i++)
		ask(made, i % 2 ? "AllGather" : "AllReduce", 1, 100 + 2 * i, 101 + 2 * i);
	group(made, true, 5000, 9000);
	for (int64_t i = 0; i < 1000; i++)
		launch(made, 0, i < 500 ? reduce : gather, 5100 + i);
	find(made);
	expect(made, 0, 5100, 1);
	expect(made, 1, 5600, 1);
	expect(made, 998, 5599, 1);
	expect(made, 999, 6099, 1);
	done(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_the_kernel_that_was_launched_before_it_returned),
		cmocka_unit_test(a_call_that_was_captured_has_no_kernel),
		cmocka_unit_test(calls_of_a_group_that_one_kernel_does_share_it),
		cmocka_unit_test(
			kernels_of_a_group_that_are_as_many_as_calls_are_told_by_their_names),
		cmocka_unit_test(a_kernel_for_each_communicator_does_all_calls_of_it),
		cmocka_unit_test(of_a_group_whose_kernels_are_neither_nothing_is_said),
		cmocka_unit_test(ranks_and_gpu_are_the_communicators_and_one_rank_launches_nothing),
		cmocka_unit_test(a_large_group_has_a_kernel_for_each_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
