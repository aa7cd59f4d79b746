#include "analysis/time/steady_state.h"

#include "analysis/statistics/library_kernel.h"
#include "base/ns.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>

/* One device is looked at. */
struct search {
	struct looped_run run;
	const struct timeline_device *times;
	const struct gap_analysis *gaps;
	size_t index; /* of the device */
	struct steady_device *device;
	struct spans *host_when;  /* of the process that runs the loop */
	bool *is_counted;	  /* by call */
	const bool *communicates; /* by signature: of a library that moves data between GPUs */
	bool is_job;		  /* some do, or several GPUs were used */
};

/* ---- when it is ---- */

/* Of one set of iterations: those that follow each other are one span. */
struct stretch {
	struct spans *spans;
	int64_t first_ns, last_ns; /* nothing before and behind them counts */
	int64_t start_ns, end_ns;
};

/* Of a part of a recording what lies within: operations may reach beyond it. */
static int stretch_end(struct stretch *stretch)
{
	return spans_add(stretch->spans, max_ns(stretch->start_ns, stretch->first_ns),
			 min_ns(stretch->end_ns, stretch->last_ns));
}

static int stretch_add(struct stretch *stretch, int64_t start_ns, int64_t end_ns)
{
	int rc = 0;

	if (start_ns > stretch->end_ns) {
		rc = stretch_end(stretch);
		stretch->start_ns = start_ns;
	}
	stretch->start_ns = min_ns(stretch->start_ns, start_ns);
	stretch->end_ns = max_ns(stretch->end_ns, end_ns);
	return rc;
}

struct stretches {
	struct stretch steady, usual, host;
	struct steady_device *device;
	const struct profile *profile;
	bool is_job;
};

/* Whether an iteration of a job takes longer than all of them usually do together: something that happens once lies in it, such
 * as the check of a result, for which the ranks meet. */
static bool is_torn(const struct stretches *stretches, int64_t run_ns)
{
	const struct steady_loop *loop = &stretches->device->loop;

	return stretches->is_job && (double)run_ns > (double)loop->median_ns * (double)loop->count;
}

static int add_iteration(const struct steady_iteration *iteration, void *context)
{
	struct stretches *stretches = context;
	struct steady_device *device = stretches->device;
	bool is_begun_anew = is_torn(stretches, iteration->run_ns);
	int64_t start_ns = is_begun_anew ? iteration->first_ns : iteration->start_ns;
	int64_t end_ns = iteration->end_ns;
	int64_t call_ns = stretches->profile->calls[iteration->first_call].start_ns;
	int rc;

	if (is_torn(stretches, end_ns - start_ns))
		return 0;
	rc = stretch_add(&stretches->steady, start_ns, end_ns);
	if (rc == 0)
		rc = stretch_add(&stretches->host, min_ns(call_ns, start_ns), end_ns);
	if (end_ns - start_ns > device->loop.high_ns)
		device->pause_ns += end_ns - start_ns - device->loop.median_ns;
	if (rc < 0 || !iteration->is_usual)
		return rc;
	device->usual_count++;
	return stretch_add(&stretches->usual, start_ns, end_ns);
}

static int find_spans(struct search *search)
{
	int64_t first_ns = search->times->first_ns, last_ns = search->times->last_ns;
	struct stretches stretches = {
		.steady = {&search->device->when, first_ns, last_ns, 0, 0},
		.usual = {&search->device->usual_when, first_ns, last_ns, 0, 0},
		.host = {search->host_when, INT64_MIN, last_ns, 0, 0},
		.device = search->device,
		.profile = search->run.profile,
		.is_job = search->is_job,
	};
	int rc = steady_loop_visit(&search->device->loop, &search->run, add_iteration, &stretches);

	if (rc == 0)
		rc = stretch_end(&stretches.steady);
	if (rc == 0)
		rc = stretch_end(&stretches.usual);
	if (rc == 0)
		rc = stretch_end(&stretches.host);
	spans_seal(&search->device->when);
	spans_seal(&search->device->usual_when);
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

/* How much of a time lies in the steady state, and in usual iterations. */
struct covered {
	int64_t steady_ns, usual_ns;
};

static struct covered cover(const struct steady_device *device, struct steady_walk *walk,
			    int64_t start_ns, int64_t end_ns)
{
	return (struct covered){spans_covered_next(&device->when, &walk->next_steady, start_ns,
						   end_ns),
				spans_covered_next(&device->usual_when, &walk->next_usual, start_ns,
						   end_ns)};
}

/* What of the time with at least one operation, of some kinds, lies in both. */
struct busy_time {
	struct busy busy, over; /* over: what was covered last */
	struct steady_walk walk;
	struct covered last, all;
};

/* alike: another one that has had this operation; what is over for both has been looked up for it. */
static void busy_time_add(struct busy_time *time, const struct steady_device *device,
			  const struct profile_op *op, const struct busy_time *alike)
{
	if (!busy_next(&time->busy, op, &time->over))
		return;
	if (alike && alike->over.start_ns == time->over.start_ns &&
	    alike->over.end_ns == time->over.end_ns)
		time->last = alike->last;
	else
		time->last = cover(device, &time->walk, time->over.start_ns, time->over.end_ns);
	time->all.steady_ns += time->last.steady_ns;
	time->all.usual_ns += time->last.usual_ns;
}

static void find_busy(struct search *search)
{
	const struct profile *profile = search->run.profile;
	const struct profile_device *slice = &profile->devices[search->index];
	struct steady_device *device = search->device;
	const struct busy begin = {search->times->first_ns, search->times->first_ns};
	struct busy_time any = {.busy = begin}, kernels = {.busy = begin};

	for (size_t i = slice->first_op; i <= slice->first_op + slice->op_count; i++) {
		bool is_last = i == slice->first_op + slice->op_count;
		const struct profile_op *op = is_last ? &past_the_last : &profile->ops[i];

		busy_time_add(&any, device, op, NULL);
		if (op->kind == OP_KERNEL || op->kind == OP_GRAPH)
			busy_time_add(&kernels, device, op, &any);
	}
	device->steady.busy_ns = any.all.steady_ns;
	device->usual.busy_ns = any.all.usual_ns;
	device->steady.kernel_ns = kernels.all.steady_ns;
	device->usual.kernel_ns = kernels.all.usual_ns;
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

static void add_gap(struct steady_device *device, const struct gap *gap)
{
	struct covered covered = cover(device, &device->gaps, gap->start_ns, gap->end_ns);

	add_idle(&device->steady, gap, covered.steady_ns);
	add_idle(&device->usual, gap, covered.usual_ns);
}

void steady_state_add_gap(struct steady_state *state, const struct profile *profile,
			  const struct gap *gap)
{
	struct steady_device *device =
		&state->devices[profile_op_device(profile, &profile->ops[gap->after])];

	if (device->is_found)
		add_gap(device, gap);
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
		if (spans_covered_next(&search->device->when, &next, op->start_ns,
				       op->start_ns + 1))
			count_op(&device->steady, launches);
	}
}

/* ---- and the rest ---- */

/* In which process the loop runs. */
static uint32_t process_of(const struct looped_run *run, const struct steady_loop *loop)
{
	return run->profile->threads[run->loops->items[loop->members[0]].thread].process;
}

static struct once_span span_of(const struct search *search)
{
	const struct profile *profile = search->run.profile;
	uint32_t index = process_of(&search->run, &search->device->loop);
	const struct profile_process *process = &profile->processes[index];
	struct once_span span = {.process = index,
				 .start_ns = search->times->first_ns,
				 .end_ns = max_ns(search->times->last_ns, process->last_ns),
				 .steady = &search->device->when};

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

/* As the timeline; where no two operations ever ran at once, without another look at each. */
static int find_concurrency(struct search *search)
{
	struct steady_device *device = search->device;

	if (search->times->concurrency_ns[1] == search->times->busy_ns) {
		device->concurrency_ns[0] = device->steady.wall_ns - device->steady.busy_ns;
		device->concurrency_ns[1] = device->steady.busy_ns;
		return 0;
	}
	return timeline_concurrency(device->concurrency_ns, search->run.profile, search->index,
				    &device->when);
}

/* Of kernels of no library that moves data between GPUs, beside others of one: whether they run for longer in it than in all the rest. */
static bool is_most_of_own(const struct search *search)
{
	const struct profile *profile = search->run.profile;
	const struct profile_device *slice = &profile->devices[search->index];
	int64_t all_ns = 0, steady_ns = 0;
	bool is_job = false;
	size_t next = 0;

	for (size_t i = slice->first_op; i < slice->first_op + slice->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL && op->kind != OP_GRAPH)
			continue;
		if (op->kind == OP_KERNEL && search->communicates[op->detail]) {
			is_job = true;
			continue;
		}
		sum_add_ns(&all_ns, op->end_ns - op->start_ns);
		sum_add_ns(&steady_ns, spans_covered_next(&search->device->when, &next,
							  op->start_ns, op->end_ns));
	}
	return is_job && steady_ns > all_ns / 2;
}

static int find(struct search *search)
{
	struct steady_device *device = search->device;
	int rc = steady_loop_find(&device->loop, &search->run, search->index);

	if (rc < 0 || !device->loop.count)
		return rc;
	rc = find_spans(search);
	if (rc < 0)
		return rc;
	device->steady.wall_ns = wall_of(&device->when);
	device->usual.wall_ns = wall_of(&device->usual_when);
	find_busy(search);
	device->is_found =
		device->steady.kernel_ns > search->times->kernel_ns / 2 || is_most_of_own(search);
	return device->is_found ? find_concurrency(search) : 0;
}

/* ---- all of them ---- */

static struct search search_of(struct steady_state *state, const struct profile *profile,
			       const struct timeline *timeline, size_t index)
{
	return (struct search){.run = {.profile = profile,
				       .submissions = &state->submissions,
				       .loops = &state->repeated},
			       .times = &timeline->devices[index],
			       .index = index,
			       .device = &state->devices[index]};
}

/* The host's times are kept where the loop is the device's steady state. */
static int find_device(struct steady_state *state, const struct profile *profile,
		       const struct timeline *timeline, size_t index, const bool *communicates)
{
	struct search search = search_of(state, profile, timeline, index);
	struct spans host_when = {0}, *kept;
	int rc;

	search.communicates = communicates;
	search.is_job = profile_only_device(profile) == PROFILE_NONE;
	for (size_t i = 0; !search.is_job && i < profile->signature_count; i++)
		search.is_job = communicates[i];
	search.host_when = &host_when;
	rc = find(&search);
	if (rc == 0 && search.device->is_found) {
		kept = &state->host_when[process_of(&search.run, &search.device->loop)];
		for (size_t i = 0; rc == 0 && i < host_when.count; i++)
			rc = spans_add(kept, host_when.items[i].start_ns,
				       host_when.items[i].end_ns);
	}
	spans_free(&host_when);
	return rc;
}

/* Loops, and then those around them. */
static int find_repeated(struct steady_state *state, const struct profile *profile)
{
	struct loops around;
	int rc = loops_find_around(&around, profile, &state->submissions, &state->loops);
	size_t count = state->loops.count + around.count;

	state->repeated.items = malloc((count + 1) * sizeof(*state->repeated.items));
	if (rc < 0 || !state->repeated.items) {
		loops_free(&around);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		state->repeated.items[i] = i < state->loops.count
						   ? state->loops.items[i]
						   : around.items[i - state->loops.count];
	state->repeated.count = count;
	free(around.items);
	return 0;
}

static int open_all(struct steady_state *state, const struct profile *profile)
{
	int rc = submissions_find(&state->submissions, profile);

	state->device_count = profile->device_count;
	state->process_count = profile->process_count;
	state->devices = calloc(profile->device_count + 1, sizeof(*state->devices));
	state->host_when = calloc(profile->process_count + 1, sizeof(*state->host_when));
	if (!state->devices || !state->host_when)
		rc = -ENOMEM;
	if (rc == 0)
		rc = loops_find(&state->loops, profile, &state->submissions);
	return rc == 0 ? find_repeated(state, profile) : rc;
}

int steady_state_open(struct steady_state **out, const struct profile *profile, struct err *err)
{
	struct steady_state *state = calloc(1, sizeof(*state));
	int rc = state ? open_all(state, profile) : -ENOMEM;

	if (rc < 0) {
		steady_state_free(state);
		return err_set(err, rc, "out of memory for the steady state");
	}
	*out = state;
	return 0;
}

int steady_state_find(struct steady_state *state, const struct profile *profile,
		      const struct timeline *timeline, struct err *err)
{
	bool *communicates = calloc(profile->signature_count + 1, sizeof(*communicates));
	int rc = communicates ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < profile->signature_count; i++)
		communicates[i] = library_kernel_is_between_gpus(
			profile->kernel_names[profile->signatures[i].kernel]);
	for (size_t i = 0; rc == 0 && i < state->device_count; i++)
		rc = find_device(state, profile, timeline, i, communicates);
	free(communicates);
	for (size_t i = 0; rc == 0 && i < state->process_count; i++)
		spans_seal(&state->host_when[i]);
	return rc < 0 ? err_set(err, rc, "out of memory for the steady state") : 0;
}

int steady_state_count(struct steady_state *state, const struct profile *profile,
		       const struct timeline *timeline, struct err *err)
{
	bool *is_counted = calloc(profile->call_count + 1, sizeof(*is_counted));

	for (size_t i = 0; is_counted && i < state->device_count; i++) {
		struct search search = search_of(state, profile, timeline, i);

		search.is_counted = is_counted;
		if (state->devices[i].is_found)
			count_ops(&search);
	}
	free(is_counted);
	return is_counted ? 0 : err_set(err, -ENOMEM, "out of memory for the steady state");
}

int steady_state_measure(struct steady_state *state, const struct profile *profile,
			 const struct timeline *timeline, const struct gap_analysis *gaps,
			 struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < state->device_count; i++) {
		struct search search = search_of(state, profile, timeline, i);

		search.gaps = gaps;
		if (state->devices[i].is_found)
			rc = find_once(&search);
	}
	submissions_free(&state->submissions);
	return rc < 0 ? err_set(err, rc, "out of memory for the steady state") : 0;
}

static int add_to_device(const struct gap *gap, void *device)
{
	add_gap(device, gap);
	return 0;
}

static int add_gaps(struct steady_state *state, const struct gap_analysis *gaps)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < state->device_count; i++)
		if (state->devices[i].is_found)
			rc = gaps_visit(gaps, i, add_to_device, &state->devices[i]);
	return rc;
}

int steady_state_build(struct steady_state **out, const struct profile *profile,
		       const struct timeline *timeline, const struct gap_analysis *gaps,
		       struct err *err)
{
	struct steady_state *state = NULL;
	int rc = steady_state_open(&state, profile, err);

	if (!state)
		return rc;
	rc = steady_state_find(state, profile, timeline, err);
	if (rc == 0)
		rc = add_gaps(state, gaps);
	if (rc == 0)
		rc = steady_state_count(state, profile, timeline, err);
	if (rc == 0)
		rc = steady_state_measure(state, profile, timeline, gaps, err);
	if (rc < 0) {
		steady_state_free(state);
		return rc;
	}
	*out = state;
	return 0;
}

static void free_spans(struct steady_state *state)
{
	for (size_t i = 0; state->devices && i < state->device_count; i++) {
		steady_loop_free(&state->devices[i].loop);
		spans_free(&state->devices[i].when);
		spans_free(&state->devices[i].usual_when);
	}
	for (size_t i = 0; state->host_when && i < state->process_count; i++)
		spans_free(&state->host_when[i]);
}

void steady_state_free(struct steady_state *state)
{
	if (!state)
		return;
	free_spans(state);
	free(state->devices);
	free(state->host_when);
	for (size_t i = state->loops.count; i < state->repeated.count; i++)
		free(state->repeated.items[i].iterations);
	free(state->repeated.items);
	loops_free(&state->loops);
	submissions_free(&state->submissions);
	free(state);
}
