#include "analysis/time/steady_state.h"

#include "base/ns.h"

#include <errno.h>
#include <stdlib.h>

/* One device is looked at. */
struct search {
	struct looped_run run;
	const struct timeline_device *times;
	const struct gap_analysis *gaps;
	size_t index; /* of the device */
	struct steady_device *device;
	struct spans steady, usual; /* sealed once found */
	bool *is_counted;	    /* by call */
};

/* ---- when it is ---- */

/* Of one set of iterations: those that follow each other are one span. */
struct stretch {
	struct spans *spans;
	const struct timeline_device *times;
	int64_t start_ns, end_ns;
};

/* Of a part of a recording what lies within: operations may reach beyond it. */
static int stretch_end(struct stretch *stretch)
{
	int64_t start_ns = max_ns(stretch->start_ns, stretch->times->first_ns);
	int64_t end_ns = min_ns(stretch->end_ns, stretch->times->last_ns);

	return end_ns > start_ns ? spans_add(stretch->spans, start_ns, end_ns) : 0;
}

static int stretch_add(struct stretch *stretch, const struct steady_iteration *iteration)
{
	int rc = 0;

	if (iteration->start_ns != stretch->end_ns) {
		rc = stretch_end(stretch);
		stretch->start_ns = iteration->start_ns;
	}
	stretch->end_ns = iteration->end_ns;
	return rc;
}

struct stretches {
	struct stretch steady, usual;
	struct steady_device *device;
};

static int add_iteration(const struct steady_iteration *iteration, void *context)
{
	struct stretches *stretches = context;
	struct steady_device *device = stretches->device;
	int rc = stretch_add(&stretches->steady, iteration);

	if (iteration->run_ns > device->loop.high_ns)
		device->pause_ns += iteration->run_ns - device->loop.median_ns;
	if (rc < 0 || !iteration->is_usual)
		return rc;
	device->usual_count++;
	return stretch_add(&stretches->usual, iteration);
}

static int find_spans(struct search *search)
{
	struct stretches stretches = {.steady = {&search->steady, search->times, 0, 0},
				      .usual = {&search->usual, search->times, 0, 0},
				      .device = search->device};
	int rc = steady_loop_visit(&search->device->loop, &search->run, add_iteration, &stretches);

	if (rc == 0)
		rc = stretch_end(&stretches.steady);
	if (rc == 0)
		rc = stretch_end(&stretches.usual);
	spans_seal(&search->steady);
	spans_seal(&search->usual);
	return rc;
}

/* ---- what the device did in it ---- */

static int64_t wall_of(const struct spans *spans)
{
	const struct span *last = spans->count ? &spans->items[spans->count - 1] : NULL;

	return last ? last->before_ns + (last->end_ns - last->start_ns) : 0;
}

/* Operations in order of start; those that touch or overlap are one busy time. */
struct busy {
	int64_t start_ns, end_ns;
};

static const struct profile_op past_the_last = {.start_ns = INT64_MAX,
						.end_ns = INT64_MAX,
						.kind = OP_KERNEL};

/* Hands over what has been busy until now when an operation begins after that, and goes on with it. */
static bool busy_next(struct busy *busy, const struct profile_op *op, struct busy *over)
{
	bool is_over = op->start_ns > busy->end_ns;

	*over = *busy;
	if (is_over)
		busy->start_ns = op->start_ns;
	busy->end_ns = max_ns(busy->end_ns, op->end_ns);
	return is_over;
}

/* How much of times that come in order lies in the steady state, and in usual iterations. */
struct covered {
	size_t next_steady, next_usual;
	int64_t steady_ns, usual_ns; /* of the time added last */
};

static void cover(struct covered *covered, const struct search *search, int64_t start_ns,
		  int64_t end_ns)
{
	covered->steady_ns =
		spans_covered_next(&search->steady, &covered->next_steady, start_ns, end_ns);
	covered->usual_ns =
		spans_covered_next(&search->usual, &covered->next_usual, start_ns, end_ns);
}

/* Time with at least one of the operations that the device has of that kind: all, or kernels and graphs. */
static void find_busy(struct search *search, bool only_kernels, int64_t *steady_ns,
		      int64_t *usual_ns)
{
	const struct profile *profile = search->run.profile;
	const struct profile_device *slice = &profile->devices[search->index];
	struct busy busy = {search->times->first_ns, search->times->first_ns}, over;
	struct covered covered = {0};

	for (size_t i = slice->first_op; i <= slice->first_op + slice->op_count; i++) {
		bool is_last = i == slice->first_op + slice->op_count;
		const struct profile_op *op = is_last ? &past_the_last : &profile->ops[i];

		if ((only_kernels && op->kind != OP_KERNEL && op->kind != OP_GRAPH) ||
		    !busy_next(&busy, op, &over))
			continue;
		cover(&covered, search, over.start_ns, over.end_ns);
		*steady_ns += covered.steady_ns;
		*usual_ns += covered.usual_ns;
	}
}

/* A gap of which only so much lies in a part: of each cause as much of it, and of the largest what rounding leaves. */
static void add_idle(struct run_part *part, const struct gap *gap, int64_t covered_ns)
{
	int64_t gap_ns = gap->end_ns - gap->start_ns, left_ns = covered_ns;
	uint32_t left;
	int cause;

	if (!covered_ns)
		return;
	GAP_EACH_CAUSE(left, cause, gap)
	{
		int64_t ns = gap->by_cause_ns[cause];

		if (covered_ns < gap_ns)
			ns = (int64_t)((double)ns * (double)covered_ns / (double)gap_ns);
		part->by_cause_ns[cause] += ns;
		left_ns -= ns;
	}
	part->by_cause_ns[gap->cause] += left_ns;
	part->idle_ns += covered_ns;
}

struct gap_walk {
	struct search *search;
	struct covered covered;
};

static int add_gap(const struct gap *gap, void *context)
{
	struct gap_walk *walk = context;
	struct steady_device *device = walk->search->device;

	cover(&walk->covered, walk->search, gap->start_ns, gap->end_ns);
	add_idle(&device->steady, gap, walk->covered.steady_ns);
	add_idle(&device->usual, gap, walk->covered.usual_ns);
	return 0;
}

/* Whether it is the first operation of a call that launches kernels or a graph. */
static bool is_launch(struct search *search, const struct profile_op *op)
{
	const struct profile *profile = search->run.profile;
	enum profile_call_class class;

	if (op->call == PROFILE_NONE || search->is_counted[op->call])
		return false;
	search->is_counted[op->call] = true;
	class = profile->call_names[profile->calls[op->call].name].call_class;
	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH;
}

static void count_op(struct run_part *part, bool is_launch)
{
	part->operation_count++;
	part->launch_count += is_launch;
}

/* once holds all of them until the steady ones are taken out. */
static void count_ops(struct search *search)
{
	const struct profile *profile = search->run.profile;
	const struct profile_device *slice = &profile->devices[search->index];
	struct steady_device *device = search->device;
	size_t next = 0;

	for (size_t i = slice->first_op; i < slice->first_op + slice->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		bool launches = is_launch(search, op);

		count_op(&device->once, launches);
		if (spans_covered_next(&search->steady, &next, op->start_ns, op->start_ns + 1))
			count_op(&device->steady, launches);
	}
}

/* ---- and the rest ---- */

static struct once_span span_of(const struct search *search)
{
	const struct profile *profile = search->run.profile;
	const struct loop *loop = &search->run.loops->items[search->device->loop.members[0]];
	uint32_t index = profile->threads[loop->thread].process;
	const struct profile_process *process = &profile->processes[index];
	struct once_span span = {.process = index,
				 .start_ns = search->times->first_ns,
				 .end_ns = max_ns(search->times->last_ns, process->last_ns),
				 .steady = &search->steady};

	if (process->first_ns)
		span.start_ns = min_ns(span.start_ns, process->first_ns);
	if (process->start_ns)
		span.start_ns = min_ns(span.start_ns, process->start_ns);
	return span;
}

static int find_once(struct search *search)
{
	const struct gap_device *gaps = &search->gaps->devices[search->index];
	struct steady_device *device = search->device;
	struct once_span span = span_of(search);

	device->run_ns = span.end_ns - span.start_ns;
	device->once.wall_ns = device->run_ns - device->steady.wall_ns;
	device->once.busy_ns = gaps->busy_ns - device->steady.busy_ns;
	device->once.kernel_ns = search->times->kernel_ns - device->steady.kernel_ns;
	device->once.idle_ns = gaps->idle_ns - device->steady.idle_ns;
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		device->once.by_cause_ns[i] = gaps->by_cause_ns[i] - device->steady.by_cause_ns[i];
	device->once.operation_count -= device->steady.operation_count;
	device->once.launch_count -= device->steady.launch_count;
	return once_measure(device->once_ns, search->run.profile, search->run.submissions, &span);
}

/* ---- a device ---- */

static int measure(struct search *search)
{
	struct steady_device *device = search->device;
	int rc = find_spans(search);

	if (rc < 0)
		return rc;
	device->steady.wall_ns = wall_of(&search->steady);
	device->usual.wall_ns = wall_of(&search->usual);
	find_busy(search, false, &device->steady.busy_ns, &device->usual.busy_ns);
	find_busy(search, true, &device->steady.kernel_ns, &device->usual.kernel_ns);
	device->is_found = device->steady.kernel_ns > search->times->kernel_ns / 2;
	if (!device->is_found)
		return 0;
	rc = gaps_visit(search->gaps, search->index, add_gap, &(struct gap_walk){.search = search});
	if (rc < 0)
		return rc;
	count_ops(search);
	return find_once(search);
}

static int search_device(struct search *search)
{
	int rc = steady_loop_find(&search->device->loop, &search->run, search->index);

	if (rc == 0 && search->device->loop.count)
		rc = measure(search);
	spans_free(&search->steady);
	spans_free(&search->usual);
	return rc;
}

static int search_devices(struct steady_state *state, const struct looped_run *run,
			  const struct timeline *timeline, const struct gap_analysis *gaps)
{
	bool *is_counted = calloc(run->profile->call_count + 1, sizeof(*is_counted));
	int rc = is_counted ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < state->device_count; i++)
		rc = search_device(&(struct search){.run = *run,
						    .times = &timeline->devices[i],
						    .gaps = gaps,
						    .index = i,
						    .device = &state->devices[i],
						    .is_counted = is_counted});
	free(is_counted);
	return rc;
}

static int search_all(struct steady_state *state, const struct profile *profile,
		      const struct timeline *timeline, const struct gap_analysis *gaps)
{
	struct submissions submissions;
	int rc = submissions_find(&submissions, profile);

	state->device_count = profile->device_count;
	state->devices = calloc(profile->device_count + 1, sizeof(*state->devices));
	if (!state->devices)
		rc = -ENOMEM;
	if (rc == 0)
		rc = loops_find(&state->loops, profile, &submissions);
	if (rc == 0)
		rc = search_devices(state,
				    &(struct looped_run){.profile = profile,
							 .submissions = &submissions,
							 .loops = &state->loops},
				    timeline, gaps);
	submissions_free(&submissions);
	return rc;
}

int steady_state_build(struct steady_state **out, const struct profile *profile,
		       const struct timeline *timeline, const struct gap_analysis *gaps,
		       struct err *err)
{
	struct steady_state *state = calloc(1, sizeof(*state));
	int rc = state ? search_all(state, profile, timeline, gaps) : -ENOMEM;

	if (rc < 0) {
		steady_state_free(state);
		return err_set(err, rc, "out of memory for the steady state");
	}
	*out = state;
	return 0;
}

void steady_state_free(struct steady_state *state)
{
	if (!state)
		return;
	for (size_t i = 0; state->devices && i < state->device_count; i++)
		steady_loop_free(&state->devices[i].loop);
	free(state->devices);
	loops_free(&state->loops);
	free(state);
}
