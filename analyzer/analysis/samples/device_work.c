#include "analysis/samples/device_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/samples/run_matcher.h"
#include "base/distribution.h"
#include "base/groups.h"
#include "base/spans.h"
#include "base/array.h"
#include "trace/samples.h"

/* Everything while it is built. */
struct build {
	const struct profile *profile;
	struct device_work *work;
	size_t burst_capacity, launcher_capacity;
	struct groups keys;	    /* of launchers */
	uint32_t *last_correlation; /* of every launcher, while launches are counted */
	uint32_t *burst_launcher;
	size_t burst_launcher_capacity;
	struct spans sampled; /* of one device at a time */
	struct sample_cursor cursor;
};

/* A device while its runs are gone through. */
struct device_runs {
	struct build *build;
	const struct run_matcher *matcher;
};

/* ---- bursts ---- */

/* Of whose launches a burst is one; equal keys are one launcher. */
struct launcher_key {
	uint32_t is_graph, name, process, is_inside;
};

static struct launcher_key key_of(const struct profile *profile, const struct profile_op *op,
				  bool is_inside)
{
	struct launcher_key key = {0, PROFILE_NONE, PROFILE_NONE, is_inside};
	uint32_t graph = op ? profile_op_graph(profile, op) : 0;

	if (op && (op->kind == OP_GRAPH || (graph && !is_inside))) {
		key.is_graph = 1;
		key.name = graph;
		key.process = profile_op_process(profile, op);
	} else if (op && op->kind == OP_KERNEL && op->detail != PROFILE_NONE) {
		key.name = profile->signatures[op->detail].kernel;
	}
	return key;
}

static int find_launcher(struct build *build, const struct burst *burst, uint32_t *number)
{
	const struct profile *profile = build->profile;
	const struct profile_op *op = burst->op == PROFILE_NONE ? NULL : &profile->ops[burst->op];
	struct launcher_key key = key_of(profile, op, burst->is_inside);
	struct launcher *launcher;

	if (groups_find(&build->keys, &key, sizeof(key), number) < 0)
		return -ENOMEM;
	if (*number < build->work->launcher_count)
		return 0;
	launcher = ARRAY_NEXT(build->work->launchers, build->launcher_capacity,
			      build->work->launcher_count);
	if (!launcher)
		return -ENOMEM;
	*launcher = (struct launcher){
		.is_graph = key.is_graph,
		.kernel = key.is_graph ? PROFILE_NONE : key.name,
		.process = key.process,
		.graph = key.is_graph ? key.name : 0,
		.is_inside = burst->is_inside,
	};
	build->work->launcher_count++;
	return 0;
}

static int add_burst(struct build *build, const struct run_matcher *matcher, struct burst *burst)
{
	struct device_work *work = build->work;
	ptrdiff_t cover = run_matcher_find_cover(matcher, burst->start_ns);
	ptrdiff_t op = cover >= 0 ? cover : run_matcher_find_before(matcher, burst->start_ns);
	uint32_t *launcher = ARRAY_NEXT(build->burst_launcher, build->burst_launcher_capacity,
					work->burst_count);
	struct burst *added = ARRAY_NEXT(work->bursts, build->burst_capacity, work->burst_count);

	if (!launcher || !added)
		return -ENOMEM;
	burst->device = matcher->device;
	burst->is_inside = cover >= 0;
	burst->op = op < 0 ? PROFILE_NONE : (uint32_t)(matcher->ops - matcher->profile->ops + op);
	*added = *burst;
	work->burst_count++;
	return find_launcher(build, burst, launcher);
}

static struct burst burst_of_run(const struct sample_run *run)
{
	return (struct burst){
		.start_ns = run->start_ns,
		.end_ns = run->end_ns,
		.dispatch_count = run->dispatch_count,
		.block_count = run->block_count,
		.dram_bytes = run->dram_bytes,
	};
}

/* A run that begins with an operation has more blocks than the operations of the trace: from the sample
 * on in which they are too many, the device launched some of them.  A surplus of one block a dispatch is
 * what launching itself takes. */
static bool find_beside(struct sample_cursor *cursor, const struct sample_run *run,
			const struct known_run *known, struct burst *burst)
{
	int64_t start_ns;
	uint64_t surplus_blocks = run->block_count - known->block_count;
	uint64_t surplus_kernels = run->dispatch_count > known->kernel_count
					   ? run->dispatch_count - known->kernel_count
					   : 0;
	uint64_t sum = 0;
	size_t i = run->first;

	if (!known->is_counted || run->block_count < known->block_count || !surplus_kernels ||
	    surplus_blocks <= surplus_kernels)
		return false;
	while (i < run->last &&
	       (sum += (uint64_t)sample_at(cursor, i)->blocks) <= known->block_count)
		i++;
	*burst = burst_of_run(run);
	start_ns = sample_at(cursor, i)->start_ns;
	burst->start_ns = start_ns > run->start_ns ? start_ns : run->start_ns;
	burst->is_beside = true;
	burst->dispatch_count = surplus_kernels;
	burst->block_count = surplus_blocks;
	burst->dram_bytes = 0;
	for (; i <= run->last; i++) {
		const struct profile_sample *sample = sample_at(cursor, i);

		burst->dram_bytes +=
			(double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	}
	return burst->end_ns > burst->start_ns;
}

/* Nodes of a graph that the host launched, of which the recording has the whole only. */
static bool is_hidden_node(const struct run_matcher *matcher, const struct sample_run *run)
{
	ptrdiff_t cover = run_matcher_find_cover(matcher, run->start_ns);

	return cover >= 0 && matcher->ops[cover].kind == OP_GRAPH &&
	       !run_matcher_is_device_graph(matcher, &matcher->ops[cover]);
}

static int add_run(const struct sample_run *run, void *context)
{
	const struct device_runs *runs = context;
	const struct run_matcher *matcher = runs->matcher;
	struct build *build = runs->build;
	struct known_run known = run_matcher_look_up(matcher, run);
	struct burst burst = burst_of_run(run);

	if (is_hidden_node(matcher, run))
		return 0;
	if (known.first >= 0)
		return find_beside(&build->cursor, run, &known, &burst)
			       ? add_burst(build, matcher, &burst)
			       : 0;
	if (known.next_ns < burst.end_ns) /* goes over into what the trace knows */
		burst.end_ns = known.next_ns;
	if (burst.end_ns <= burst.start_ns)
		return 0;
	return add_burst(build, matcher, &burst);
}

/* ---- launchers ---- */

/* The launcher of bursts inside an operation, or after it; PROFILE_NONE.  One that is neither kernel
 * nor graph launches nothing. */
static uint32_t launcher_of(const struct build *build, const struct profile_op *op, bool is_inside)
{
	struct launcher_key key = key_of(build->profile, op, is_inside);

	return key.name == PROFILE_NONE ? PROFILE_NONE
					: groups_look(&build->keys, &key, sizeof(key));
}

static bool is_sampled(const struct build *build, const struct profile_op *op)
{
	return op->end_ns > op->start_ns && spans_covered(&build->sampled, op->start_ns,
							  op->end_ns) == op->end_ns - op->start_ns;
}

/* Nodes of one launch of a graph are one launch. */
static void count_launch(struct build *build, const struct profile_op *op, uint32_t number)
{
	struct launcher *launcher = &build->work->launchers[number];
	uint32_t correlation = profile_op_ids(build->profile, op).correlation;

	launcher->span_ns += op->end_ns - op->start_ns;
	if (launcher->is_graph && op->kind != OP_GRAPH &&
	    correlation == build->last_correlation[number])
		return;
	build->last_correlation[number] = correlation;
	launcher->launch_count++;
}

/* Launches that were sampled whole. */
static void count_launches(struct build *build, const struct run_matcher *matcher)
{
	for (size_t i = 0; i < matcher->op_count; i++) {
		const struct profile_op *op = &matcher->ops[i];

		for (int is_inside = 0; is_inside <= 1; is_inside++) {
			uint32_t number = launcher_of(build, op, is_inside);

			if (number != PROFILE_NONE && is_sampled(build, op))
				count_launch(build, op, number);
		}
	}
}

/* The time that launchers themselves kept SMs busy: the runs with which they begin. */
static int add_own_time(const struct sample_run *run, void *context)
{
	const struct device_runs *runs = context;
	const struct run_matcher *matcher = runs->matcher;
	struct build *build = runs->build;
	struct known_run known = run_matcher_look_up(matcher, run);
	const struct profile_op *op;
	int64_t end_ns;

	if (known.first < 0)
		return 0;
	op = &matcher->ops[known.first];
	end_ns = run->end_ns < op->end_ns ? run->end_ns : op->end_ns;
	if (end_ns <= run->start_ns || !is_sampled(build, op))
		return 0;
	for (int is_inside = 0; is_inside <= 1; is_inside++) {
		uint32_t number = launcher_of(build, op, is_inside);

		if (number != PROFILE_NONE)
			build->work->launchers[number].own_ns += end_ns - run->start_ns;
	}
	return 0;
}

static int add_sampled_spans(struct build *build, uint32_t device)
{
	const struct profile_device *of = &build->profile->devices[device];

	spans_free(&build->sampled);
	build->sampled = (struct spans){0};
	for (size_t i = 0; i < of->span_count; i++) {
		const struct profile_sampled_span *span =
			&build->profile->sampled_spans[of->first_span + i];

		if (spans_add(&build->sampled, span->start_ns, span->end_ns) < 0)
			return -ENOMEM;
	}
	spans_seal(&build->sampled);
	return 0;
}

static int find_bursts(struct build *build, struct run_matcher *matchers)
{
	uint64_t single_block_count = 0;
	int rc = 0;

	for (uint32_t i = 0; i < build->profile->device_count && rc == 0; i++) {
		rc = run_matcher_open(&matchers[i], build->profile, i);
		if (rc == 0)
			rc = sample_runs_find(build->profile, i, add_run,
					      &(struct device_runs){build, &matchers[i]},
					      &single_block_count);
		build->work->single_block_count += single_block_count;
	}
	return rc;
}

/* Once the launchers of all devices are known: runs are found again, for there may be more of them than memory takes. */
static int measure_launchers(struct build *build, const struct run_matcher *matchers)
{
	uint64_t single_block_count;
	int rc = 0;

	if (!build->work->launcher_count)
		return 0;
	build->last_correlation =
		calloc(build->work->launcher_count, sizeof(*build->last_correlation));
	if (!build->last_correlation)
		return -ENOMEM;
	for (uint32_t i = 0; i < build->profile->device_count && rc == 0; i++) {
		rc = add_sampled_spans(build, i);
		if (rc == 0) {
			count_launches(build, &matchers[i]);
			rc = sample_runs_find(build->profile, i, add_own_time,
					      &(struct device_runs){build, &matchers[i]},
					      &single_block_count);
		}
	}
	return rc;
}

static int build_devices(struct build *build)
{
	struct run_matcher *matchers = calloc(build->profile->device_count + 1, sizeof(*matchers));
	int rc = matchers ? find_bursts(build, matchers) : -ENOMEM;

	if (rc == 0)
		rc = measure_launchers(build, matchers);
	for (size_t i = 0; matchers && i < build->profile->device_count; i++)
		run_matcher_close(&matchers[i]);
	free(matchers);
	return rc;
}

/* Sums and percentiles of the bursts of every launcher. */
static int sum_up(struct build *build)
{
	struct device_work *work = build->work;
	struct durations times;
	int rc = durations_open(&times, work->launcher_count);

	for (size_t i = 0; rc == 0 && i < work->burst_count; i++)
		durations_count(&times, build->burst_launcher[i]);
	if (rc == 0)
		rc = durations_lay_out(&times);
	for (size_t i = 0; rc == 0 && i < work->burst_count; i++) {
		const struct burst *burst = &work->bursts[i];
		struct launcher *launcher = &work->launchers[build->burst_launcher[i]];

		durations_add(&times, build->burst_launcher[i], burst->end_ns - burst->start_ns);
		launcher->dispatch_count += burst->dispatch_count;
		launcher->block_count += burst->block_count;
		launcher->dram_bytes += burst->dram_bytes;
	}
	for (size_t i = 0; rc == 0 && i < work->launcher_count; i++) {
		struct launcher *launcher = &work->launchers[i];
		int64_t active_ns;

		launcher->time = durations_distribution(&times, i);
		active_ns = launcher->own_ns + launcher->time.total_ns;
		launcher->quiet_ns = launcher->is_inside && launcher->span_ns > active_ns
					     ? launcher->span_ns - active_ns
					     : 0;
	}
	durations_free(&times);
	return rc;
}

static int compare_launchers(const void *left, const void *right)
{
	const struct launcher *a = left, *b = right;

	if (a->time.total_ns != b->time.total_ns)
		return a->time.total_ns < b->time.total_ns ? 1 : -1;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->graph > b->graph) - (a->graph < b->graph);
}

int device_work_build(struct device_work **out, const struct profile *profile, struct err *err)
{
	struct device_work *work = calloc(1, sizeof(*work));
	struct build build = {.profile = profile,
			      .work = work,
			      .cursor = sample_cursor_open(profile)};
	int rc = work ? 0 : -ENOMEM, cursor_rc;

	if (rc == 0 && profile->sample_count)
		rc = build_devices(&build);
	if (rc == 0)
		rc = sum_up(&build);
	cursor_rc = sample_cursor_close(&build.cursor);
	rc = rc < 0 ? rc : cursor_rc;
	spans_free(&build.sampled);
	groups_free(&build.keys);
	free(build.last_correlation);
	free(build.burst_launcher);
	if (rc < 0) {
		device_work_free(work);
		return err_set(err, rc, "%s for the work that the GPU launched", samples_why(rc));
	}
	if (work->launcher_count)
		qsort(work->launchers, work->launcher_count, sizeof(*work->launchers),
		      compare_launchers);
	*out = work;
	return 0;
}

void device_work_free(struct device_work *work)
{
	if (!work)
		return;
	free(work->bursts);
	free(work->launchers);
	free(work);
}
