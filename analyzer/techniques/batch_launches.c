/*
 * batch_launches.c - launches of one small kernel, one after the other, are a single launch with the blocks of all.
 *
 * Side by side they take what their blocks do on all SMs, which have several at a time where these have few warps, each at
 * the speed that it had, but no less than the longest of them, nor less than their work does at the roof that counters show
 * nearest; at the high end SMs hold as many of the blocks as fit, each as fast as alone.  Where it was recorded what kernels
 * are given, one that depends on another of a row begins the next.  Small memsets may lie between them, as of a result that
 * each launch then has for itself: they become one.
 */
#include "techniques/batch_launches.h"

#include <math.h>

#include "analysis/counters/occupancy.h"
#include "base/ns.h"
#include "replay/calls.h"
#include "techniques/shared/dependences.h"
#include "techniques/shared/full_sm.h"
#include "techniques/shared/needed_time.h"
#include "techniques/shared/streams.h"
#include "techniques/techniques.h"

static const char no_batch[] =
	"no small kernel is launched again and again with nothing but small memsets between its launches";

static const char dependent[] =
	"each launch depends on the one before it: it was given memory that one of them writes";

/* A kernel with more of the blocks that the SMs hold at once has little room beside it.  One with a block for more of the
 * SMs, always of the same grid, is rather a step of one computation than a part. */
#define FILL_MOST 0.5
#define THREADS_TO_FILL (FULL_SM_WARPS * 32)
/* A memset of so many bytes takes as long as an empty one: at DRAM's roof they are 14 ns on an H200. */
#define SMALL_MEMSET_BYTES 65536
/* At the low end. */
#define PAIR 2

static const struct call_change batched_launch = {.pause = PAUSE_GONE,
						  .host = COST_NONE,
						  .submission = SUBMITS_FUSED};

/* One launch that is made of several. */
struct batch {
	size_t first_call, end_call; /* end_call: behind its last launch */
	uint64_t count;
	uint64_t memset_count; /* behind its last launch */
	uint32_t kernel, stream;
	double work_ns; /* of all of its blocks, on all SMs */
	bool is_varied; /* grids differ */
	struct batched_launches told;
};

/* Going through the calls of a loop. */
struct batching {
	const struct recorded_run *run;
	struct change *change; /* NULL: only to look */
	enum assumed_end end;
	struct batch batch;	      /* count 0: none has begun */
	double needed_share;	      /* of the kernel of the batch */
	struct kernels_beside beside; /* its launches */
	uint64_t untold_count, dependent_count;
	struct batched_launches found;
};

/* The part of the SMs that a kernel has a block for. */
static double share_of_sms(const struct profile *profile, const struct profile_op *op)
{
	const uint32_t *grid = profile->signatures[op->detail].grid;
	uint32_t sm_count = profile->devices[profile_op_device(profile, op)].sm_count;

	return sm_count ? fmin((double)grid[0] * grid[1] * grid[2] / sm_count, 1) : 1;
}

/* The part that its blocks keep busy, of which several with few warps share one; at the high end of all blocks that fit. */
static double fill_of(const struct profile *profile, const struct profile_op *op,
		      enum assumed_end end)
{
	const struct profile_device *device = &profile->devices[profile_op_device(profile, op)];
	const struct profile_signature *launch = &profile->signatures[op->detail];
	double threads = (double)profile_block_threads(launch);
	struct occupancy occupancy;

	if (!occupancy_of(&occupancy, device, launch))
		return 1;
	if (end == ASSUMED_MOST)
		return occupancy.waves;
	return fmax(occupancy.waves,
		    share_of_sms(profile, op) * fmin(threads / THREADS_TO_FILL, 1));
}

/* A kernel of its own call that leaves room for others; NULL: none. */
static const struct profile_op *small_kernel(const struct batching *it, size_t call)
{
	const struct profile *profile = it->run->model->profile;
	const struct profile_op *op = call_only_kernel(it->run->model, call);

	return op && !op->counted && fill_of(profile, op, ASSUMED_MOST) <= FILL_MOST ? op : NULL;
}

/* A memset of its own call that takes no longer than an empty one; NULL: none. */
static const struct profile_op *small_memset(const struct batching *it, size_t call)
{
	const struct profile *profile = it->run->model->profile;
	const struct profile_op *op = call_op(it->run->model, call, OP_MEMSET);

	return op && profile->memsets[op->detail].bytes <= SMALL_MEMSET_BYTES ? op : NULL;
}

/* ---- a batch ---- */

static double batch_ns(const struct batching *it)
{
	const struct batch *batch = &it->batch;

	return fmax(fmax(batch->work_ns, (double)batch->told.longest_ns),
		    it->needed_share * (double)batch->told.sum_ns);
}

/* Its first launch takes as long as all do together, and the others are gone, as are the memsets between them. */
static void change_batch(const struct batching *it)
{
	const struct model *model = it->run->model;
	int64_t first_ns = 1 + (int64_t)batch_ns(it);

	for (size_t i = it->batch.first_call; i < it->batch.end_call; i++) {
		const struct profile_op *op = call_only_kernel(model, i);

		if (!op)
			op = small_memset(it, i);
		if (!op)
			continue;
		it->change->op_ns[op - model->profile->ops] =
			i == it->batch.first_call ? first_ns : OP_GONE;
		if (i > it->batch.first_call)
			it->change->calls[i] = change_number(it->change, &batched_launch);
	}
}

static void end_batch(struct batching *it)
{
	struct batched_launches *found = &it->found;
	const struct batch *batch = &it->batch;

	if (batch->count > 1 && (batch->is_varied || batch->told.fill <= FILL_MOST)) {
		uint64_t launch_count = found->launch_count + batch->count;
		uint64_t batch_count = found->batch_count + 1;

		if (batch->count > found->most_launches)
			*found = batch->told;
		found->launch_count = launch_count;
		found->batch_count = batch_count;
		if (it->change)
			change_batch(it);
	}
	it->batch.count = 0;
}

static void begin_batch(struct batching *it, size_t call, const struct profile_op *op)
{
	uint32_t kernel = it->run->model->profile->signatures[op->detail].kernel;

	it->batch = (struct batch){.first_call = call,
				   .kernel = kernel,
				   .stream = op->stream,
				   .told = {.signature = op->detail, .shortest_ns = INT64_MAX}};
	it->needed_share = needed_time_share(it->run, kernel);
	it->beside = kernels_beside_of(it->run->report, 1);
}

static void add_launch(struct batching *it, size_t call, const struct profile_op *op)
{
	const struct profile *profile = it->run->model->profile;
	struct batched_launches *told = &it->batch.told;
	int64_t length_ns = op->end_ns - op->start_ns;

	it->untold_count += it->batch.memset_count;
	it->batch.memset_count = 0;
	it->batch.count++;
	it->batch.end_call = call + 1;
	it->batch.is_varied |= op->detail != told->signature;
	it->batch.work_ns += (double)length_ns * fill_of(profile, op, it->end);
	told->most_launches = it->batch.count;
	told->fill += (share_of_sms(profile, op) - told->fill) / (double)it->batch.count;
	told->shortest_ns = min_ns(told->shortest_ns, length_ns);
	told->longest_ns = max_ns(told->longest_ns, length_ns);
	told->sum_ns += length_ns;
}

/* ---- a loop ---- */

static size_t index_of(const struct batching *it, const struct profile_op *op)
{
	return (size_t)(op - it->run->model->profile->ops);
}

/* Whether a launch depends on one of the batch: it begins another. */
static bool depends(struct batching *it, const struct profile_op *op)
{
	struct lane_beside where = kernels_beside_add(&it->beside, index_of(it, op), false);

	it->dependent_count += where.found == DEPENDENCE_THERE;
	it->untold_count += where.found == DEPENDENCE_UNTOLD || where.is_full;
	return where.found == DEPENDENCE_THERE;
}

/* Whether the host has time for more than the next launch, before that or before what lies between. */
static bool host_works_before(const struct batching *it, size_t call)
{
	return it->batch.count && call_pause_ns(it->run->model, call) > LONG_HOST_NS;
}

static bool goes_on(const struct batching *it, const struct profile_op *op)
{
	const struct profile *profile = it->run->model->profile;

	return it->batch.count && profile->signatures[op->detail].kernel == it->batch.kernel &&
	       op->stream == it->batch.stream &&
	       (it->end != ASSUMED_LEAST || it->batch.count < PAIR);
}

static bool may_be_between(const struct batching *it, size_t call)
{
	enum profile_call_class class = model_call_class(it->run->model, call);

	return !submissions_count(&it->run->model->submissions, call) && class == CALL_OTHER;
}

/* What it writes, perhaps for the launch behind it, no recording tells. */
static bool is_memset_between(struct batching *it, size_t call)
{
	const struct profile_op *op = it->batch.count ? small_memset(it, call) : NULL;

	if (!op || op->stream != it->batch.stream)
		return false;
	it->batch.memset_count++;
	return true;
}

static void batch_calls(struct batching *it, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct profile_op *op = small_kernel(it, i);

		if (host_works_before(it, i))
			end_batch(it);
		if (may_be_between(it, i) || is_memset_between(it, i))
			continue;
		if (!op || !goes_on(it, op) || depends(it, op))
			end_batch(it);
		if (op && !it->batch.count) {
			begin_batch(it, i, op);
			(void)kernels_beside_add(&it->beside, index_of(it, op), true);
		}
		if (op)
			add_launch(it, i, op);
	}
	end_batch(it);
}

/* Of launches of graphs that were recorded as a whole no operation may be known. */
static bool is_on_device(const struct model *model, const struct loop *loop, size_t device)
{
	const struct submissions *submissions = &model->submissions;
	uint32_t first = submissions_first(submissions, loop->first_call);

	return first < submissions_first(submissions, loop->first_call + loop->call_count) &&
	       profile_op_device(model->profile,
				 &model->profile->ops[submissions_op(submissions, first)]) ==
		       device;
}

struct batched_launches batch_launches_find(const struct recorded_run *run,
					    const struct loops *loops, size_t device)
{
	struct batching it = {.run = run, .end = ASSUMED_USUAL};

	for (size_t i = 0; i < loops->count; i++) {
		const struct loop *loop = &loops->items[i];

		if (is_on_device(run->model, loop, device) &&
		    !streams_are_many(run->model, loop, true, 2))
			batch_calls(&it, loop->first_call, loop->first_call + loop->call_count);
	}
	return it.found;
}

/* Whether it is known of all launches of a row that they need nothing of each other. */
static bool is_all_told(const struct recorded_run *run, const struct loop *loop)
{
	struct batching it = {.run = run, .end = ASSUMED_USUAL};

	if (!dependences_recorded(run->report))
		return false;
	batch_calls(&it, loop->first_call, loop->first_call + loop->call_count);
	return !it.untold_count;
}

/* Fewer launches than half of the loop's are not what it consists of. */
static const char *change_loop(struct application *application, const struct loop *loop)
{
	struct effect *effect = application->effect;
	bool is_proven = is_all_told(application->run, loop);
	struct batching it = {.run = application->run,
			      .change = &application->change,
			      .end = is_proven && application->end == ASSUMED_LEAST
					     ? ASSUMED_USUAL
					     : application->end};

	if (streams_are_many(application->run->model, loop, true, 2))
		return refused_streamed;
	batch_calls(&it, loop->first_call, loop->first_call + loop->call_count);
	if (2 * it.found.launch_count < loop->iteration_count)
		return it.dependent_count ? dependent : no_batch;
	effect->is_proven = is_proven && (effect->is_proven || !effect->changed_count);
	effect->is_assuming = !effect->is_proven;
	effect->changed_count += it.found.launch_count;
	return NULL;
}

const struct technique technique_batch_launches = {
	.id = "batch_launches",
	.option = "batch-launches",
	.argument = ARGUMENT_RANGE,
	.help = "launches of one small kernel in a row are one launch; as far as they are independent",
	.effect =
		"Launches of one kernel that follow one another in a stream, each with at most half of the blocks that "
		"the SMs hold at once, become one launch with the blocks of all; of grids that are all alike, each with "
		"blocks for at most half of the SMs. It takes what these do on all SMs, and no less "
		"than the longest of them, or than their work at the roof that counters show nearest. With a recording "
		"by --args a launch that depends on one of a row begins another row. Memsets of at most 64 KiB between them "
		"become one, too.",
	.changed = "launches are one with others",
	.assumes =
		"no launch reads what one before it in the row wrote, and each has memory of its own for what a memset "
		"between them sets; at the low end only two become one, at the high end SMs hold as many of their blocks as "
		"fit, each as fast as alone",
	.refusal = no_batch,
	.always_assumes = true,
	.is_up_to = true,
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_KERNELS | BOUND_SMS | BOUND_MEMSETS,
	.spread = SPREAD_LAUNCH,
	.has_most = true,
	.is_blind_to_device_work = true,
	.has_ops = true,
	.change_loop = change_loop,
};
