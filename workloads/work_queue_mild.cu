/*
 * work_queue_mild (A5): the control.  Items are as unequal as can be, and a queue gains nothing.
 *
 * The cost of an item is its index modulo 256, a favourite of textbooks, and a block has 256
 * threads: so every block holds the same mix, every SM gets the same work, and there is no tail
 * that a queue could cut.  Look at the work of whole blocks before blaming unequal items.
 */
#include "work_queue.cuh"

static const uint32_t steps_per_cost = 4; /* makes the kernel long against its launch */

static void prepare(problem &p, long size, int)
{
	std::vector<uint32_t> costs(size);

	for (long item = 0; item < size; item++)
		costs[item] = item % 256 * steps_per_cost;
	prepare_items(p, costs, block_size);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "thread i works on item i", run_static},
	{"queue", "every warp takes its next 32 items from a queue", run_queue},
};

static const struct workload<problem> work_queue_mild = {
	.name = "work_queue_mild", .size = 1 << 19, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(work_queue_mild)
