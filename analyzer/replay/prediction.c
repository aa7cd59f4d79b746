#include "replay/prediction.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/ns.h"
#include "base/worker.h"
#include "replay/latencies.h"
#include "replay/untraced_shares.h"

static int64_t recorded_wall_ns(const struct profile *profile, size_t device)
{
	const struct profile_device *what = &profile->devices[device];
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = what->first_op; i < what->first_op + what->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		first_ns = op->start_ns < first_ns ? op->start_ns : first_ns;
		last_ns = op->end_ns > last_ns ? op->end_ns : last_ns;
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* Time of the places, of what changes, of a device's whole run, and of the usual iterations of its steady state. */
struct times {
	int64_t place_ns, changed_ns, wall_ns;
	struct time_parts parts,
		place_parts; /* after a change: of what changes, and of the place */
	struct steady_usual steady;
};

/* The run without a change is the same one before every change.  Times of other places of it follow from those of its
 * calls, which take less room than those of its operations. */
struct run_before {
	struct call_times calls;
	struct device_before {
		bool is_known;
		const struct steady_loop *steady; /* of which times tell */
		struct times times;		  /* without those of places */
	} * devices;				  /* owned; as profile->devices[] */
};

__attribute__((format(printf, 2, 3))) static void refuse(struct predictor *predictor,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(predictor->why_not, sizeof(predictor->why_not), format, arguments);
	va_end(arguments);
}

/* What is recorded of the launches of a kernel's shape, and what a change makes of it. */
struct recorded_launches {
	uint64_t count;
	double before_ns, after_ns;
};

static struct recorded_launches *launches_of(const struct profile *profile,
					     const struct change *change)
{
	struct recorded_launches *launches =
		calloc(profile->signature_count + 1, sizeof(*launches));

	for (size_t i = 0; launches && i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		int64_t changed_ns = change ? change_op_ns(change->op_ns, i) : -1;
		int64_t length_ns = op->end_ns - op->start_ns;

		if (op->kind != OP_KERNEL)
			continue;
		launches[op->detail].count++;
		launches[op->detail].before_ns += (double)length_ns;
		launches[op->detail].after_ns += (double)(changed_ns >= 0 ? changed_ns : length_ns);
	}
	return launches;
}

/* Launches that were counted by instrumented code are no operation: they are taken to be as long as others of their shape. */
static void add_unrecorded(struct unrecorded *out, double count,
			   const struct recorded_launches *launches)
{
	double each = count / (double)launches->count;

	if (launches->before_ns == launches->after_ns) {
		out->kept_ns += each * launches->before_ns;
		return;
	}
	out->before_ns += each * launches->before_ns;
	out->after_ns += each * launches->after_ns;
}

/* change: NULL without. */
static int find_unrecorded(struct unrecorded *out, const struct profile *profile,
			   const struct change *change)
{
	struct recorded_launches *launches = launches_of(profile, change);
	double all_count = 0, unrecorded_count = 0, untimed_count = 0;

	*out = (struct unrecorded){0};
	if (!launches)
		return -ENOMEM;
	for (size_t i = 0; i < profile->signature_count; i++) {
		double count = (double)profile->signatures[i].unrecorded_count;

		all_count += count + (double)launches[i].count;
		unrecorded_count += count;
		if (!launches[i].count)
			untimed_count += count;
		else if (count > 0)
			add_unrecorded(out, count, &launches[i]);
	}
	free(launches);
	if (unrecorded_count > 0) {
		out->share = unrecorded_count / all_count;
		out->untimed_share = untimed_count / all_count;
	}
	return 0;
}

/* Times of kernels that were repeated for their counters are not their own. */
static bool has_replays(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].is_replay)
			return true;
	return false;
}

/* Refuse to predict from an imported file that lacks operations or has them at impossible times. */
static void refuse_doubts(struct predictor *predictor, const struct profile *profile)
{
	if (profile->lost_launch_count)
		refuse(predictor,
		       "%zu launches have no operation in the imported file, so that what the GPU "
		       "did is not known",
		       profile->lost_launch_count);
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		if (process->early_ns)
			refuse(predictor,
			       "%" PRIu64
			       " operations begin before the calls that launched them, by "
			       "up to %s: the clocks of GPU and host differ in the imported file",
			       process->early_count, format_ns((double)process->early_ns).text);
		else if (process->impossible_count)
			refuse(predictor,
			       "%" PRIu64 " operation%s of the imported file %s an impossible time",
			       process->impossible_count, process->impossible_count == 1 ? "" : "s",
			       process->impossible_count == 1 ? "has" : "have");
	}
}

static void judge(struct predictor *predictor, bool has_costs)
{
	const struct profile *profile = predictor->model->profile;
	double untimed_share = predictor->unrecorded.untimed_share;

	refuse_doubts(predictor, profile);
	if (*predictor->why_not)
		return;
	if (!has_costs && !profile_is_nvidias(profile))
		refuse(predictor, "there are no ceilings of GPUs that are not NVIDIA's");
	else if (!has_costs)
		refuse(predictor, "no measured ceilings of this GPU: run rooflinectl ceilings");
	else if (has_replays(profile))
		refuse(predictor, "kernels were repeated for hardware counters: record without");
	else if (untimed_share > UNTIMED_MOST)
		refuse(predictor,
		       "%.0f%% of the kernels were counted by instrumented code, which leaves "
		       "no times, in each of their launches: record without hardware counters",
		       100 * untimed_share);
	else if (predictor->replay_error > REPLAY_ERROR_MOST)
		refuse(predictor,
		       "replaying it gives a time %.1f%% off the recorded one; above %.0f%% nothing is "
		       "predicted",
		       100 * predictor->replay_error, 100 * REPLAY_ERROR_MOST);
	predictor->is_usable = !*predictor->why_not;
}

static bool is_sane(int64_t start_ns, int64_t end_ns)
{
	return start_ns > -MODEL_TIME_MOST_NS && end_ns < MODEL_TIME_MOST_NS;
}

bool predictor_fits(struct predictor *predictor, const struct profile *profile)
{
	bool fits = true;

	for (size_t i = 0; i < profile->op_count; i++)
		fits = fits && is_sane(profile->ops[i].start_ns, profile->ops[i].end_ns);
	for (size_t i = 0; i < profile->call_count; i++)
		fits = fits && is_sane(profile->calls[i].start_ns, profile->calls[i].end_ns);
	if (!fits)
		refuse(predictor, "it holds times that no run can have");
	return fits;
}

/* Of the device that has most samples of gaps between queued kernels, and of the one that has calls. */
static struct recorded_latencies usual_steps(const struct model *model)
{
	int64_t added_ns = untraced_added_ns(&model->untraced, CALL_LAUNCH, 1);
	struct recorded_latencies steps = {.untraced_call_ns = model->untraced.launch_call_ns,
					   .is_added_measured = added_ns >= 0,
					   .added_to_launch_ns = added_ns};
	size_t most_count = 0;

	for (size_t i = 0; i < model->profile->device_count; i++) {
		const struct device_latencies *device = &model->devices[i];

		if (device->gap_sample_count[GAP_AFTER_KERNEL] > most_count) {
			most_count = device->gap_sample_count[GAP_AFTER_KERNEL];
			steps.kernel_gap_ns = device->kernel_gap_ns;
		}
		if (!steps.launch_call_ns && device->common_kernel)
			steps.launch_call_ns = device->common_kernel->call_ns;
		if (!steps.graph_call_ns && device->common_graph) {
			steps.graph_call_ns = device->common_graph->call_ns;
			steps.graph_start_ns = device->common_graph->idle_ns;
		}
	}
	return steps;
}

void predictor_free(struct predictor *predictor)
{
	for (size_t i = 0; predictor->works && i < PREDICTOR_WORKS; i++)
		replay_free(&predictor->works[i]);
	free(predictor->works);
	if (predictor->before) {
		call_times_free(&predictor->before->calls);
		free(predictor->before->devices);
	}
	free(predictor->before);
	*predictor = (struct predictor){0};
}

/* A replay, and what its times are. */
struct timing {
	const struct change *change;
	const struct costs *costs;
	struct run_before
		*before; /* where it is that: its calls are kept; NULL: it is another one */
	struct times times;
};

/* Those that one thread answers: every third one. */
struct timings {
	const struct model *model;
	const struct part *part;
	size_t device;
	struct timing *items;
	size_t count;
	struct replay *work;
};

static struct looped_run looped_run_of(const struct replay *replay, const struct model *model,
				       const struct part *part)
{
	return (struct looped_run){.profile = model->profile,
				   .submissions = &model->submissions,
				   .loops = part->loops,
				   .op_start_ns = replay->op_start_ns,
				   .changed_ns = replay->changed_ns,
				   .op_ends = &replay->op_ends};
}

static void time_steady(struct times *times, const struct timings *all)
{
	const struct part *part = all->part;
	const struct looped_run run = looped_run_of(all->work, all->model, part);

	if (part->steady)
		times->steady = steady_loop_usual(part->steady, &run);
}

/* Whether what changes is all that is asked for. */
static bool is_all_of(const struct part *part)
{
	return part->places == part->changed && part->place_count == part->changed_count;
}

/* NULL: of that device it was not replayed yet, or not all of it can be kept. */
static struct device_before *known_before(const struct timing *timing, const struct timings *all)
{
	struct run_before *before = timing->before;
	struct device_before *known = before ? &before->devices[all->device] : NULL;

	return known && known->is_known && known->steady == all->part->steady &&
			       before->calls.is_whole
		       ? known
		       : NULL;
}

/* Once: calls that cannot be kept now cannot be later. */
static int keep_calls(struct call_watch *watch, const struct timing *timing,
		      const struct profile *profile)
{
	if (!timing->before || timing->before->calls.profile)
		return 0;
	watch->call_times = &timing->before->calls;
	return call_times_open(watch->call_times, profile);
}

static int replay_one(struct timing *timing, const struct timings *all,
		      struct part_time *part_times)
{
	struct call_watch watch = {.part_times = part_times,
				   .part_time_count = is_all_of(all->part) ? 1 : 2};
	int rc = keep_calls(&watch, timing, all->model->profile);

	if (rc == 0)
		rc = replay_time(all->work, all->model, timing->change, timing->costs, &watch);
	if (rc < 0)
		return rc;
	timing->times.wall_ns = replay_wall_ns(all->work, all->model, all->device);
	time_steady(&timing->times, all);
	if (timing->before)
		timing->before->devices[all->device] =
			(struct device_before){true, all->part->steady, timing->times};
	return 0;
}

/* Of the replay that was just made. */
static void find_parts(struct timing *timing, const struct timings *all)
{
	const struct part *part = all->part;
	struct times *times = &timing->times;

	if (!timing->change)
		return;
	times->parts = time_parts_of(all->work, all->model, timing->change, part->changed,
				     part->changed_count, times->changed_ns);
	times->place_parts = times->parts;
	if (!is_all_of(part))
		times->place_parts =
			time_parts_of(all->work, all->model, timing->change, part->places,
				      part->place_count, times->place_ns);
}

static int time_one(struct timing *timing, const struct timings *all)
{
	const struct part *part = all->part;
	const struct device_before *known = known_before(timing, all);
	struct part_time part_times[2];
	int rc = part_time_open(&part_times[0], part->places, part->place_count,
				all->model->profile);
	int changed_rc = part_time_open(&part_times[1], part->changed, part->changed_count,
					all->model->profile);

	if (rc == 0)
		rc = changed_rc;
	if (rc == 0 && known) {
		timing->times = known->times;
		call_times_tell(&timing->before->calls, &part_times[0]);
		if (!is_all_of(part))
			call_times_tell(&timing->before->calls, &part_times[1]);
	} else if (rc == 0) {
		rc = replay_one(timing, all, part_times);
	}
	if (rc == 0) {
		timing->times.place_ns = part_time_ns(&part_times[0]);
		timing->times.changed_ns =
			is_all_of(part) ? timing->times.place_ns : part_time_ns(&part_times[1]);
		find_parts(timing, all);
	}
	part_time_free(&part_times[0]);
	part_time_free(&part_times[1]);
	return rc;
}

static int answer_each(void *context)
{
	const struct timings *timings = context;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < timings->count; i += PREDICTOR_WORKS)
		rc = time_one(&timings->items[i], timings);
	return rc;
}

/* Each of a few on a thread of its own: a replay follows one call after the other, and several know nothing of each other.
 * The run before, which comes first, is mostly known. */
static int time_all(struct timing *items, size_t count, const struct predictor *predictor,
		    size_t device, const struct part *part)
{
	struct timings each[PREDICTOR_WORKS];
	struct worker workers[PREDICTOR_WORKS];
	int rc = 0;

	for (size_t i = 0; i < PREDICTOR_WORKS; i++) {
		each[i] = (struct timings){.model = predictor->model,
					   .part = part,
					   .device = device,
					   .items = items + i,
					   .count = count > i ? count - i : 0,
					   .work = &predictor->works[i]};
		worker_start(&workers[i], profile_item_count(predictor->model->profile),
			     answer_each, &each[i]);
	}
	for (size_t i = 0; i < PREDICTOR_WORKS; i++) {
		int own_rc = worker_join(&workers[i]);

		rc = rc == 0 ? own_rc : rc;
	}
	/* techniques are applied in its room */
	replay_free(&predictor->works[PREDICTOR_WORKS - 1]);
	return rc;
}

/* ---- how far replays are off ---- */

/* The greatest error over the devices that did anything, of the time without what reading counters took: they
 * may have taken most of it. */
static void compare_with_recorded(struct predictor *predictor)
{
	const struct model *model = predictor->model;
	const struct replay *typical = &predictor->works[0], *uncounted = &predictor->works[1];

	for (size_t i = 0; i < model->profile->device_count; i++) {
		int64_t wall_ns = recorded_wall_ns(model->profile, i);
		int64_t off_ns = replay_wall_ns(typical, model, i) - wall_ns;
		double error;

		if (model->profiler)
			wall_ns = replay_wall_ns(uncounted, model, i);
		error = wall_ns ? fabs((double)off_ns / (double)wall_ns) : 0;
		predictor->replay_error =
			error > predictor->replay_error ? error : predictor->replay_error;
	}
}

static int replay_typical(void *context)
{
	struct predictor *predictor = context;

	return replay_run_typical(&predictor->works[0], predictor->model);
}

/* The run without a change; kept where it is asked for. */
static int replay_before(struct predictor *predictor, const struct asked *asked)
{
	struct timing timing = {.costs = &predictor->costs[COSTS_MIDDLE],
				.before = predictor->before};
	struct part part = {0};
	struct timings all = {.model = predictor->model,
			      .part = &part,
			      .work = &predictor->works[1]};

	if (!asked)
		return replay_time(all.work, all.model, NULL, timing.costs,
				   &(struct call_watch){0});
	part.steady = asked->steady;
	part.loops = asked->loops;
	all.device = asked->device;
	return time_one(&timing, &all);
}

static int measure_error(struct predictor *predictor, const struct asked *asked)
{
	struct worker worker;
	int rc = 0, typical_rc;

	worker_start(&worker, profile_item_count(predictor->model->profile), replay_typical,
		     predictor);
	if (asked || predictor->model->profiler)
		rc = replay_before(predictor, asked);
	typical_rc = worker_join(&worker);
	if (rc == 0)
		rc = typical_rc;
	if (rc == 0)
		compare_with_recorded(predictor);
	return rc;
}

int predictor_open(struct predictor *predictor, const struct model *model,
		   const struct ceilings *ceilings, const struct asked *asked)
{
	const struct recorded_latencies steps = usual_steps(model);
	bool has_costs = true;
	int rc;

	*predictor =
		(struct predictor){.model = model,
				   .ceilings = ceilings,
				   .works = calloc(PREDICTOR_WORKS, sizeof(*predictor->works))};
	predictor->before = calloc(1, sizeof(*predictor->before));
	if (predictor->before)
		predictor->before->devices = calloc(model->profile->device_count + 1,
						    sizeof(*predictor->before->devices));
	if (!predictor->works || !predictor->before || !predictor->before->devices)
		return -ENOMEM;
	for (int end = COSTS_LOW; end <= COSTS_HIGH; end++)
		has_costs =
			costs_of(&predictor->costs[end], ceilings, &steps, (enum costs_end)end) &&
			has_costs;
	rc = find_unrecorded(&predictor->unrecorded, model->profile, NULL);
	if (rc == 0)
		rc = measure_error(predictor, has_costs ? asked : NULL);
	judge(predictor, has_costs);
	return rc;
}

static double ratio(double before_ns, double after_ns)
{
	return after_ns > 0 ? before_ns / after_ns : 1;
}

/* One end of the interval: what that replay says, and the margin. */
static void set_end(struct predicted_ratio *out, enum costs_end end, double before_ns,
		    double after_ns, double margin_ns)
{
	if (end == COSTS_MIDDLE)
		out->speedup = ratio(before_ns, after_ns);
	else if (end == COSTS_LOW)
		out->high = ratio(before_ns, after_ns - margin_ns);
	else
		out->low = ratio(before_ns, after_ns + margin_ns);
}

/* How far a time may be off: what the change concerns of it by the spread of such changes, and all of it by what a replay may
 * be, which have nothing to do with each other. */
static double margin_ns(double concerned_ns, double all_ns, double spread)
{
	return concerned_ns > 0 ? hypot(spread * concerned_ns, REPLAY_ERROR_MOST * all_ns) : 0;
}

static double changed_margin_ns(const struct times *times, double spread)
{
	return margin_ns(time_parts_concerned_ns(&times->parts), (double)times->changed_ns, spread);
}

/* Of a place, which may have more in it than what changes, or a part of that. */
static double place_margin_ns(const struct times *times, double spread)
{
	double concerned_ns = fmin(time_parts_concerned_ns(&times->place_parts),
				   time_parts_concerned_ns(&times->parts));

	return margin_ns(concerned_ns, fmin((double)times->place_ns, (double)times->changed_ns),
			 spread);
}

/* Of a part of that time; of more than all of it the same. */
static double share_ns(double margin_ns, double part_ns, double all_ns)
{
	return all_ns > part_ns ? margin_ns * part_ns / all_ns : margin_ns;
}

/* A steady state in which nothing changes is not off either.  It may be where most of the change is: in the place. */
static void set_steady(struct prediction *out, enum costs_end end, const struct times *before,
		       const struct times *after, double spread)
{
	double steady_ns = (double)after->steady.ns, margin = 0;

	if (!before->steady.count)
		return;
	if (after->steady.ns != before->steady.ns)
		margin = fmax(share_ns(changed_margin_ns(after, spread), steady_ns,
				       (double)after->changed_ns),
			      share_ns(place_margin_ns(after, spread), steady_ns,
				       (double)after->place_ns));
	set_end(&out->steady, end, (double)before->steady.ns, steady_ns, margin);
	out->steady_before_ns = before->steady.ns / (int64_t)before->steady.count;
	if (end == COSTS_MIDDLE)
		out->steady_after_ns = after->steady.ns / (int64_t)after->steady.count;
}

/* The calls of the first place may begin before the run, with which its first operation does.  Where nothing changes nothing
 * can be off. */
static void set_times(struct prediction *out, enum costs_end end, const struct times *before,
		      const struct times *after, double setup_ns, double spread)
{
	double wall_ns = (double)after->wall_ns, margin = changed_margin_ns(after, spread);
	double place_margin =
		after->place_ns == before->place_ns ? 0 : place_margin_ns(after, spread);

	set_steady(out, end, before, after, spread);
	set_end(&out->place, end, before->place_ns, (double)after->place_ns, place_margin);
	set_end(&out->program, end, before->wall_ns, wall_ns + setup_ns,
		share_ns(margin, wall_ns, (double)after->changed_ns));
	if (end == COSTS_MIDDLE) {
		out->place_after_ns = after->place_ns;
		out->program_after_ns = (int64_t)(wall_ns + setup_ns);
		out->place_margin_ns = (int64_t)place_margin;
	}
}

/* Whether counters were read within that launch, which is no operation. */
static bool is_unrecorded(const struct model *model, size_t call)
{
	const struct profile_call *what = &model->profile->calls[call];

	return model_call_class(model, call) == CALL_LAUNCH &&
	       !submissions_count(&model->submissions, call) &&
	       model_profiler_ns(model, what->thread, what->start_ns, what->end_ns) > 0;
}

static size_t unrecorded_count(const struct model *model, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += is_unrecorded(model, i);
	return count;
}

/* The share of such launches that lies in the places; where no call tells, that of their time. */
static double unrecorded_share(const struct model *model, const struct place *places, size_t count,
			       int64_t places_ns, int64_t wall_ns)
{
	size_t all_count = unrecorded_count(model, 0, model->profile->call_count), places_count = 0;

	if (!all_count)
		return wall_ns ? fmin((double)places_ns / (double)wall_ns, 1) : 0;
	for (size_t i = 0; i < count; i++)
		places_count += unrecorded_count(model, places[i].first, places[i].end);
	return fmin((double)places_count / (double)all_count, 1);
}

/* Launches that are no operations take their time before and after the change.  Those that change are all in what does. */
static int count_unrecorded(struct prediction *out, struct timing *before_and_ends, size_t count,
			    const struct predictor *predictor, size_t device,
			    const struct part *part)
{
	const struct model *model = predictor->model;
	const struct profile *profile = model->profile;
	const struct times before = before_and_ends[0].times;
	double of_device = (double)profile->devices[device].op_count / (double)profile->op_count;
	double in_places = unrecorded_share(model, part->places, part->place_count, before.place_ns,
					    before.wall_ns);
	double in_changed = unrecorded_share(model, part->changed, part->changed_count,
					     before.changed_ns, before.wall_ns);
	struct unrecorded unrecorded;
	int rc = find_unrecorded(&unrecorded, profile, before_and_ends[1].change);

	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct times *times = &before_and_ends[i].times;
		double kept_ns = of_device * unrecorded.kept_ns;
		double own_ns = of_device * (i ? unrecorded.after_ns : unrecorded.before_ns);
		double changed_ns = in_changed * kept_ns + own_ns;

		out->place_unrecorded_ns =
			(int64_t)(is_all_of(part) ? changed_ns : in_places * (kept_ns + own_ns));
		out->program_unrecorded_ns = (int64_t)(kept_ns + own_ns);
		times->place_ns += out->place_unrecorded_ns;
		times->wall_ns += out->program_unrecorded_ns;
		times->changed_ns += (int64_t)changed_ns;
	}
	return rc;
}

/* Where iterations went into others they are none any more. */
static bool is_gone(const struct steady_usual *steady)
{
	return 2 * steady->empty_count > steady->count;
}

/* Costs at their low end may start an operation later than in the middle, by what waited for what. */
static void widen_to(struct predicted_ratio *ratio)
{
	ratio->low = fmin(ratio->low, ratio->speedup);
	ratio->high = fmax(ratio->high, ratio->speedup);
}

int predictor_run(struct prediction *out, const struct predictor *predictor,
		  const struct change *change, size_t device, const struct part *part,
		  double setup_ns)
{
	const struct costs *costs = predictor->costs;
	struct timing before_and_ends[4] = {{.costs = &costs[COSTS_MIDDLE],
					     .before = predictor->before},
					    {.change = change, .costs = &costs[COSTS_MIDDLE]}};
	const struct times *before = &before_and_ends[0].times;
	size_t count = 2;
	int rc;

	/* high costs give the low end */
	if (part->end != INTERVAL_LOW)
		before_and_ends[count++] = (struct timing){.change = change, &costs[COSTS_LOW]};
	if (part->end != INTERVAL_HIGH)
		before_and_ends[count++] = (struct timing){.change = change, &costs[COSTS_HIGH]};
	rc = time_all(before_and_ends, count, predictor, device, part);
	*out = (struct prediction){0};
	if (rc < 0)
		return rc;
	if (predictor->unrecorded.share > 0)
		rc = count_unrecorded(out, before_and_ends, count, predictor, device, part);
	if (rc < 0)
		return rc;
	out->place_before_ns = before->place_ns;
	out->program_before_ns = before->wall_ns;
	out->changed_before_ns = before->changed_ns;
	out->changed_after_ns = before_and_ends[1].times.changed_ns;
	out->parts = before_and_ends[1].times.parts;
	for (size_t i = 1; i < count; i++)
		set_times(out, (enum costs_end)(before_and_ends[i].costs - costs), before,
			  &before_and_ends[i].times, setup_ns, part->spread);
	widen_to(&out->program);
	widen_to(&out->place);
	widen_to(&out->steady);
	if (is_gone(&before_and_ends[1].times.steady)) {
		out->steady = (struct predicted_ratio){0};
		out->steady_before_ns = 0;
	}
	return 0;
}

/* From the first kernel's start to the last one's end; a graph that was recorded as a whole is one. */
static int64_t kernels_ns(const struct replay *replay, const struct profile *profile, size_t device)
{
	const struct profile_device *what = &profile->devices[device];
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = what->first_op; i < what->first_op + what->op_count; i++) {
		if (profile->ops[i].kind != OP_KERNEL && profile->ops[i].kind != OP_GRAPH)
			continue;
		first_ns = min_ns(first_ns, replay_op_start_ns(replay, i));
		last_ns = max_ns(last_ns, replay_op_end_ns(replay, i));
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

static double share_of(int64_t untraced_ns, int64_t recorded_ns)
{
	return recorded_ns > 0 && untraced_ns > 0 ? (double)untraced_ns / (double)recorded_ns : 1;
}

/* Of the two replays that were made last. */
static int share_steady(double *share, const struct predictor *predictor, const struct part *part,
			size_t row_count)
{
	int64_t median_ns[2];
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++) {
		const struct looped_run run =
			looped_run_of(&predictor->works[i], predictor->model, part);

		rc = steady_loop_median_ns(&median_ns[i], part->steady, &run, row_count);
	}
	if (rc == 0)
		*share = share_of(median_ns[1], median_ns[0]);
	return rc;
}

/* In place of what the model says, where the program also ran without recording. */
static void take_measured(struct untraced_shares *out, const struct predictor *predictor,
			  const struct part *part)
{
	const struct looped_run run = {.profile = predictor->model->profile,
				       .submissions = &predictor->model->submissions,
				       .loops = part->loops};
	double share = untraced_share(run.profile, part->places, part->place_count);
	/* Where counters are read now and then the usual iteration is not that much longer. */
	bool is_steady_known = part->steady && !predictor->model->profiler;
	double steady = is_steady_known ? untraced_steady_share(part->steady, &run) : 0;

	if (share > 0) {
		out->part = share;
		out->is_measured = true;
	}
	if (steady > 0)
		out->steady = steady;
}

int predictor_untraced_shares(struct untraced_shares *out, const struct predictor *predictor,
			      size_t device, const struct part *part, size_t row_count)
{
	struct timing timings[] = {{0}, {.costs = &predictor->costs[COSTS_MIDDLE]}};
	const struct times *recorded = &timings[0].times, *untraced = &timings[1].times;
	const struct replay *works = predictor->works; /* each of one of the two */
	const struct profile *profile;
	int rc;

	*out = (struct untraced_shares){.part = 1, .kernels = 1, .steady = 1};
	if (!predictor->model)
		return 0;
	if (!predictor->is_usable) {
		take_measured(out, predictor, part);
		return 0;
	}
	profile = predictor->model->profile;
	rc = time_all(timings, 2, predictor, device, part);
	if (rc < 0)
		return rc;
	out->part = part->place_count ? share_of(untraced->place_ns, recorded->place_ns)
				      : share_of(untraced->wall_ns, recorded->wall_ns);
	out->kernels = share_of(kernels_ns(&works[1], profile, device),
				kernels_ns(&works[0], profile, device));
	rc = part->steady ? share_steady(&out->steady, predictor, part, row_count) : 0;
	if (rc == 0)
		take_measured(out, predictor, part);
	return rc;
}
