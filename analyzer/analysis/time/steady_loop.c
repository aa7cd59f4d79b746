#include "analysis/time/steady_loop.h"

#include "analysis/statistics/library_kernel.h"
#include "base/distribution.h"
#include "base/ns.h"
#include "base/radix.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- one iteration after the other ---- */

/* Over the iterations of some loops that submitted to the device. */
struct walk {
	const struct looped_run *run;
	size_t device;
	const uint32_t *members;
	size_t member_count;
	size_t member, next; /* the loop that it is in, and its iteration that comes */
	int64_t end_ns, run_end_ns;
};

static struct walk walk_open(const struct looped_run *run, size_t device, const uint32_t *members,
			     size_t member_count)
{
	return (struct walk){.run = run,
			     .device = device,
			     .members = members,
			     .member_count = member_count,
			     .end_ns = INT64_MIN,
			     .run_end_ns = INT64_MIN};
}

/* First start and last end. */
struct extent {
	int64_t start_ns, end_ns;
};

static void widen(struct extent *extent, int64_t start_ns, int64_t end_ns)
{
	extent->start_ns = min_ns(extent->start_ns, start_ns);
	extent->end_ns = max_ns(extent->end_ns, end_ns);
}

static const struct extent nothing = {INT64_MAX, INT64_MIN};

static int64_t start_ns_of(const struct looped_run *run, uint32_t op)
{
	const struct profile_op *recorded = &run->profile->ops[op];
	int64_t changed_ns = run->changed_ns ? run->changed_ns[op] : 0;

	if (run->op_start_ns)
		return run->op_start_ns[op];
	return op_ends_ns(run->op_ends, op) -
	       (changed_ns ? max_ns(changed_ns, 0) : recorded->end_ns - recorded->start_ns);
}

/* Of what calls [first, end) submitted to the device: as recorded, and in the run, whose start few ask for. */
static bool find_extents(const struct walk *walk, size_t first, size_t end, bool needs_start,
			 struct extent *recorded, struct extent *replayed)
{
	const struct looped_run *run = walk->run;
	const struct submissions *submissions = run->submissions;

	*recorded = *replayed = nothing;
	for (uint32_t i = submissions_first(submissions, first),
		      behind = submissions_first(submissions, end);
	     i < behind; i++) {
		uint32_t index = submissions_op(submissions, i);
		const struct profile_op *op = &run->profile->ops[index];

		if (profile_op_device(run->profile, op) != walk->device)
			continue;
		widen(recorded, op->start_ns, op->end_ns);
		if (run->op_ends)
			widen(replayed, needs_start ? start_ns_of(run, index) : INT64_MAX,
			      op_ends_ns(run->op_ends, index));
	}
	if (!run->op_ends)
		*replayed = *recorded;
	return recorded->end_ns != INT64_MIN;
}

/* Whether calls [first, end) are an iteration that the device worked on.  The first of a loop begins with its first
 * operation, as what was before it is no part of the loop. */
static bool walk_take(struct walk *walk, size_t first, size_t end, bool begins_loop,
		      struct steady_iteration *out)
{
	bool begins = begins_loop || walk->end_ns == INT64_MIN;
	struct extent recorded, replayed;
	int64_t run_start_ns;

	if (!find_extents(walk, first, end, begins, &recorded, &replayed))
		return false;
	if (begins) {
		walk->end_ns = max_ns(walk->end_ns, recorded.start_ns);
		walk->run_end_ns = max_ns(walk->run_end_ns, replayed.start_ns);
	}
	run_start_ns = walk->run_end_ns;
	*out = (struct steady_iteration){.start_ns = walk->end_ns,
					 .first_ns = recorded.start_ns,
					 .first_call = first,
					 .end_call = end};
	walk->end_ns = max_ns(walk->end_ns, recorded.end_ns);
	walk->run_end_ns = max_ns(walk->run_end_ns, replayed.end_ns);
	out->end_ns = walk->end_ns;
	out->run_ns = walk->run_end_ns - run_start_ns;
	return true;
}

static bool walk_next(struct walk *walk, struct steady_iteration *out)
{
	for (; walk->member < walk->member_count; walk->member++, walk->next = 0) {
		const struct loop *loop = &walk->run->loops->items[walk->members[walk->member]];

		while (walk->next < loop->iteration_count) {
			const uint32_t *at = &loop->iterations[walk->next++];

			if (walk_take(walk, at[0], at[1], walk->next == 1, out))
				return true;
		}
	}
	return false;
}

/* ---- the loop with most time ---- */

/* Of all loops, which of them are the same one, and how much time each takes. */
struct choice {
	const struct looped_run *run;
	size_t device;
	uint32_t *order;  /* loops->items[]: those that are the same come together, by first call */
	int64_t *time_ns; /* by loop: its median iteration times how many there are */
};

static uint32_t shape_of(uint32_t index, const void *context)
{
	return ((const struct loop *)context)[index].shape;
}

static int order_loops(struct choice *choice)
{
	const struct loops *loops = choice->run->loops;
	uint32_t *scratch = malloc((loops->count + 1) * sizeof(*scratch));

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; i < loops->count; i++)
		choice->order[i] = (uint32_t)i;
	radix_sort(choice->order, scratch, loops->count, shape_of, loops->items);
	free(scratch);
	return 0;
}

/* Fewer than were announced where the device worked on fewer of them. */
static void add_durations(struct durations *durations, size_t group, struct walk walk)
{
	struct steady_iteration iteration;

	while (walk_next(&walk, &iteration))
		durations_add(durations, group, iteration.run_ns);
}

/* Whether its usual iteration runs a kernel: to copy results is not what a program is for. */
static bool has_kernel(const struct looped_run *run, const struct loop *loop, size_t device)
{
	const struct submissions *submissions = run->submissions;
	size_t middle = loop->iteration_count / 2;

	for (uint32_t i = submissions_first(submissions, loop->iterations[middle]),
		      end = submissions_first(submissions, loop->iterations[middle + 1]);
	     i < end; i++) {
		const struct profile_op *op = &run->profile->ops[submissions_op(submissions, i)];

		if (profile_op_device(run->profile, op) == device &&
		    (op->kind == OP_KERNEL || op->kind == OP_GRAPH))
			return true;
	}
	return false;
}

static bool is_joining(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_copy *copy;

	if (op->kind == OP_KERNEL)
		return library_kernel_communicates(
			profile->kernel_names[profile->signatures[op->detail].kernel]);
	if (op->kind != OP_COPY)
		return false;
	copy = &profile->copies[op->detail];
	return (copy->kind == COPY_ON_DEVICE || copy->kind == COPY_BETWEEN_DEVICES) &&
	       copy->src_device != copy->dst_device;
}

/* Whether its usual iteration communicates with other GPUs. */
static bool joins_ranks(const struct looped_run *run, const struct loop *loop)
{
	const struct submissions *submissions = run->submissions;
	size_t middle = loop->iteration_count / 2;

	for (uint32_t i = submissions_first(submissions, loop->iterations[middle]),
		      end = submissions_first(submissions, loop->iterations[middle + 1]);
	     i < end; i++)
		if (is_joining(run->profile, &run->profile->ops[submissions_op(submissions, i)]))
			return true;
	return false;
}

/* A step of a job ends where its GPUs meet: a loop within one is a part of it, where that does not communicate. */
static bool is_step(const struct looped_run *run, const struct loop *loop)
{
	if (!joins_ranks(run, loop))
		return false;
	for (size_t i = 0; i < loop->within_count; i++)
		if (joins_ranks(run, &run->loops->items[loop->first_within + i]))
			return false;
	return true;
}

static int64_t time_of(int64_t median_ns, size_t count)
{
	int64_t time_ns;

	return __builtin_mul_overflow(median_ns, (int64_t)count, &time_ns) ? INT64_MAX : time_ns;
}

static int time_loops(struct choice *choice)
{
	const struct loops *loops = choice->run->loops;
	struct durations durations;
	int rc = durations_open(&durations, loops->count);

	if (rc == 0) {
		for (size_t i = 0; i < loops->count; i++)
			durations.first[i + 1] = loops->items[i].iteration_count;
		rc = durations_lay_out(&durations);
	}
	for (size_t i = 0; rc == 0 && i < loops->count; i++) {
		choice->time_ns[i] = 0;
		if (!has_kernel(choice->run, &loops->items[i], choice->device) ||
		    (loops->items[i].within_count && !is_step(choice->run, &loops->items[i])))
			continue;
		add_durations(&durations, i,
			      walk_open(choice->run, choice->device, &(uint32_t){(uint32_t)i}, 1));
		choice->time_ns[i] =
			time_of(durations_percentile(&durations, i, 50), durations.filled[i]);
	}
	durations_free(&durations);
	return rc;
}

/* How many loops from order[first] on are the same one. */
static size_t count_same(const struct choice *choice, size_t first)
{
	const struct loops *loops = choice->run->loops;
	const struct loop *loop = &loops->items[choice->order[first]];
	size_t end = first;

	while (end < loops->count && loops->items[choice->order[end]].shape == loop->shape &&
	       loops->items[choice->order[end]].thread == loop->thread)
		end++;
	return end - first;
}

/* The members of the loop with most time; none where no loop takes any. */
static int choose(struct steady_loop *out, const struct choice *choice)
{
	size_t count, best = 0;
	int64_t most_ns = 0;

	for (size_t i = 0; i < choice->run->loops->count; i += count) {
		int64_t time_ns = 0;

		count = count_same(choice, i);
		for (size_t j = i; j < i + count; j++)
			sum_add_ns(&time_ns, choice->time_ns[choice->order[j]]);
		if (time_ns <= most_ns)
			continue;
		most_ns = time_ns;
		best = i;
		out->member_count = count;
	}
	out->members = malloc((out->member_count + 1) * sizeof(*out->members));
	if (!out->members)
		return -ENOMEM;
	memcpy(out->members, choice->order + best, out->member_count * sizeof(*out->members));
	return 0;
}

static int find_members(struct steady_loop *out, const struct looped_run *run)
{
	size_t count = run->loops->count;
	struct choice choice = {.run = run,
				.device = out->device,
				.order = malloc((count + 1) * sizeof(*choice.order)),
				.time_ns = malloc((count + 1) * sizeof(*choice.time_ns))};
	int rc = choice.order && choice.time_ns ? order_loops(&choice) : -ENOMEM;

	if (rc == 0)
		rc = time_loops(&choice);
	if (rc == 0)
		rc = choose(out, &choice);
	free(choice.order);
	free(choice.time_ns);
	return rc;
}

/* ---- its iterations ---- */

static struct walk walk_members(const struct steady_loop *steady, const struct looped_run *run)
{
	return walk_open(run, steady->device, steady->members, steady->member_count);
}

static size_t count_iterations(const struct steady_loop *steady, const struct loops *loops)
{
	size_t count = 0;

	for (size_t i = 0; i < steady->member_count; i++)
		count += loops->items[steady->members[i]].iteration_count;
	return count;
}

/* The first iteration, and those after it that take longer than nine of ten of the second half. */
static size_t count_warm_up(const struct durations *durations, int64_t usual_most_ns)
{
	size_t count = 1;

	while (count < durations->filled[0] / 2 && durations->values_ns[count] > usual_most_ns)
		count++;
	return count;
}

enum { ALL, SECOND_HALF, STEADY, GROUP_COUNT };

static void add_range(struct durations *durations, size_t group, size_t first)
{
	for (size_t i = first; i < durations->filled[ALL]; i++)
		durations_add(durations, group, durations->values_ns[i]);
}

static void measure(struct steady_loop *out, struct durations *durations)
{
	add_range(durations, SECOND_HALF, durations->filled[ALL] / 2);
	out->warm_up_count =
		count_warm_up(durations, durations_percentile(durations, SECOND_HALF, 90));
	add_range(durations, STEADY, out->warm_up_count);
	if (durations->filled[STEADY] < LOOP_LEAST_ITERATIONS)
		return;
	out->count = durations->filled[STEADY];
	out->low_ns = durations_percentile(durations, STEADY, 10);
	out->median_ns = durations_percentile(durations, STEADY, 50);
	out->high_ns = durations_percentile(durations, STEADY, 90);
}

static int measure_iterations(struct steady_loop *out, const struct looped_run *run)
{
	size_t count = count_iterations(out, run->loops);
	struct durations durations;
	int rc = durations_open(&durations, GROUP_COUNT);

	if (rc == 0) {
		for (size_t i = 0; i < GROUP_COUNT; i++)
			durations.first[i + 1] = count;
		rc = durations_lay_out(&durations);
	}
	if (rc == 0) {
		add_durations(&durations, ALL, walk_members(out, run));
		measure(out, &durations);
	}
	durations_free(&durations);
	return rc;
}

int steady_loop_find(struct steady_loop *out, const struct looped_run *run, size_t device)
{
	int rc;

	*out = (struct steady_loop){.device = device};
	rc = find_members(out, run);
	return rc == 0 && out->member_count ? measure_iterations(out, run) : rc;
}

void steady_loop_free(struct steady_loop *steady)
{
	free(steady->members);
	*steady = (struct steady_loop){0};
}

int steady_loop_visit(const struct steady_loop *steady, const struct looped_run *run,
		      steady_visitor visit, void *context)
{
	struct walk walk = walk_members(steady, run);
	struct steady_iteration iteration;
	int rc = 0;

	for (size_t i = 0; rc == 0 && walk_next(&walk, &iteration); i++) {
		int64_t recorded_ns = iteration.end_ns - iteration.start_ns;

		iteration.is_usual =
			recorded_ns >= steady->low_ns && recorded_ns <= steady->high_ns;
		if (i >= steady->warm_up_count)
			rc = visit(&iteration, context);
	}
	return rc;
}

/* ---- what they take ---- */

static int add_usual(const struct steady_iteration *iteration, void *context)
{
	struct steady_usual *sum = context;

	if (iteration->is_usual) {
		sum_add_ns(&sum->ns, iteration->run_ns);
		sum->count++;
		sum->empty_count += iteration->run_ns <= 0;
	}
	return 0;
}

struct steady_usual steady_loop_usual(const struct steady_loop *steady,
				      const struct looped_run *run)
{
	struct steady_usual sum = {0};

	(void)steady_loop_visit(steady, run, add_usual, &sum);
	return sum;
}

/* Iterations in a row, whose times are added up. */
struct rows {
	struct durations durations;
	size_t row_count, count; /* iterations of a row, and of the one that is begun */
	int64_t row_ns;
};

static int add_to_row(const struct steady_iteration *iteration, void *context)
{
	struct rows *rows = context;

	sum_add_ns(&rows->row_ns, iteration->run_ns);
	if (++rows->count < rows->row_count)
		return 0;
	durations_add(&rows->durations, 0, rows->row_ns);
	rows->count = 0;
	rows->row_ns = 0;
	return 0;
}

int steady_loop_median_ns(int64_t *out, const struct steady_loop *steady,
			  const struct looped_run *run, size_t row_count)
{
	struct rows rows = {.row_count = row_count};
	int rc = durations_open(&rows.durations, 1);

	*out = 0;
	if (rc == 0) {
		rows.durations.first[1] = count_iterations(steady, run->loops);
		rc = durations_lay_out(&rows.durations);
	}
	if (rc == 0)
		rc = steady_loop_visit(steady, run, add_to_row, &rows);
	if (rc == 0 && rows.durations.filled[0])
		*out = durations_percentile(&rows.durations, 0, 50);
	durations_free(&rows.durations);
	return rc;
}
