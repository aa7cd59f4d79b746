#include "whatif/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/counters/occupancy.h"
#include "base/array.h"
#include "base/ns.h"
#include "base/reals.h"
#include "replay/calls.h"
#include "techniques/shared/readbacks.h"
#include "techniques/technique.h"

/* Kernels at a time that are looked at; of more than that the SMs are full anyway. */
#define RUNNING_MOST 128

/* What kernels of a name need of the GPU, as shares of their time; by kernel_names[]. */
struct needs {
	double arithmetic, dram;
};

struct running {
	int64_t end_ns;
	double fill; /* of the SMs */
};

/* What bounds go by. */
struct rules {
	const struct application *application;
	const struct bound_terms *terms;
	const struct needs *needs;
	const double *fills; /* by signature: of the SMs */
	double tensor_ratio; /* time of arithmetic on tensor cores by that without */
	double to_device_rate, to_host_rate; /* of pinned memory, bytes a second; 0: not measured */
};

/* What is kept busy by operations of one device, as they are gone through by start: those that are submitted in some
 * places, or of all. */
struct load {
	const struct rules *rules;
	const struct place *places; /* NULL: everywhere */
	size_t place_count, near;   /* near: the place that held the last one */
	double *stream_ns;	    /* by stream */
	int64_t *stream_end_ns;	    /* likewise, recorded; of the last one until now */
	double copy_ns[2];	    /* to the device, to the host */
	int64_t copy_end_ns[2];
	double dram_ns;
	double sm_ns;	 /* by the share of the SMs */
	double fewer_ns; /* of that, what kernels are shorter */
	int64_t sm_until_ns;
	struct running running[RUNNING_MOST];
	size_t running_count;
};

/* ---- one operation ---- */

static bool may(const struct rules *rules, enum bound bound)
{
	return rules->terms->bounds & bound;
}

static bool is_readback(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST &&
	       profile->copies[op->detail].bytes <= READBACK_BYTES;
}

/* What an operation takes at least, if a change may shorten it at all; as recorded otherwise. */
static double floor_ns(const struct rules *rules, const struct profile_op *op)
{
	const struct profile *profile = rules->application->run->model->profile;
	double length_ns = (double)(op->end_ns - op->start_ns);
	double rate = rules->to_device_rate;

	if (may(rules, BOUND_READS) && is_readback(profile, op))
		return 0;
	if (may(rules, BOUND_STAGED))
		return 0; /* of what changes, the tasks of the job say how long it takes */
	if (op->kind == OP_MEMSET && may(rules, BOUND_MEMSETS))
		return 0;
	if (op->kind == OP_KERNEL && may(rules, BOUND_KERNELS))
		return length_ns * rules->needs[profile->signatures[op->detail].kernel].arithmetic *
		       (may(rules, BOUND_TENSOR) ? rules->tensor_ratio : 1);
	if (op->kind != OP_COPY || !may(rules, BOUND_COPIES))
		return length_ns;
	if (profile->copies[op->detail].kind == COPY_TO_HOST)
		rate = rules->to_host_rate;
	return rate > 0
		       ? min_real((double)profile->copies[op->detail].bytes / rate * 1e9, length_ns)
		       : length_ns;
}

/* By how much it gets shorter at most.  How long a kernel takes that a change shortens is a model's word, so only its floor
 * counts.  Of what was a node of a graph recording may have added a part. */
static double shorter_ns(const struct rules *rules, const struct profile_op *op)
{
	const struct change *change = &rules->application->change;
	const struct model *model = rules->application->run->model;
	size_t index = (size_t)(op - model->profile->ops);
	double length_ns = (double)(op->end_ns - op->start_ns);

	if (change_op_ns(change->op_ns, index) >= 0 && op->kind == OP_KERNEL &&
	    may(rules, BOUND_KERNELS))
		return length_ns - floor_ns(rules, op);
	if (change_op_ns(change->op_ns, index) >= 0)
		return max_real(length_ns - max_real((double)change_op_ns(change->op_ns, index),
						     floor_ns(rules, op)),
				0);
	return model_call_class(model, op->call) == CALL_GRAPH_LAUNCH
		       ? min_real((double)rules->terms->trace_node_ns, length_ns * 3 / 4)
		       : 0;
}

/* Whether it runs beside what it followed. */
static bool leaves_stream(const struct rules *rules, const struct profile_op *op)
{
	const struct change *change = &rules->application->change;
	size_t index = (size_t)(op - rules->application->run->model->profile->ops);

	return may(rules, BOUND_ENGINES) &&
	       ((change->lanes && change->lanes[index] != LANE_NONE) ||
		change_of_call(change, op->call)->submission == SUBMITS_CHILDREN);
}

/* ---- what is kept busy ---- */

/* What an operation adds to the time of those before it, of which the last one ends at *end_ns. */
static double add_time(int64_t *end_ns, const struct profile_op *op, double fewer_ns)
{
	int64_t from_ns = max_ns(op->start_ns, *end_ns);

	*end_ns = max_ns(*end_ns, op->end_ns);
	return max_real((double)(op->end_ns - from_ns) - fewer_ns, 0);
}

/* Goes on to a moment: kernels that end before it make room there. */
static void run_until(struct load *load, int64_t moment_ns)
{
	while (load->running_count) {
		size_t first = 0;
		double fill = 0;
		int64_t until_ns;

		for (size_t i = 0; i < load->running_count; i++) {
			fill += load->running[i].fill;
			if (load->running[i].end_ns < load->running[first].end_ns)
				first = i;
		}
		until_ns = min_ns(load->running[first].end_ns, moment_ns);
		load->sm_ns += (double)max_ns(until_ns - load->sm_until_ns, 0) * min_real(fill, 1);
		load->sm_until_ns = max_ns(load->sm_until_ns, until_ns);
		if (until_ns < load->running[first].end_ns)
			return;
		load->running[first] = load->running[--load->running_count];
	}
	load->sm_until_ns = max_ns(load->sm_until_ns, moment_ns);
}

static void add_kernel(struct load *load, const struct profile_op *op, double fewer_ns)
{
	const struct profile *profile = load->rules->application->run->model->profile;
	double fill = load->rules->fills[op->detail];
	const struct needs *needs = &load->rules->needs[profile->signatures[op->detail].kernel];

	run_until(load, op->start_ns);
	if (load->running_count < RUNNING_MOST)
		load->running[load->running_count++] = (struct running){op->end_ns, fill};
	load->fewer_ns += may(load->rules, BOUND_SMS) ? 0 : fewer_ns * fill;
	load->dram_ns += needs->dram * (double)(op->end_ns - op->start_ns);
}

static void add_op(struct load *load, const struct profile_op *op, double fewer_ns,
		   bool leaves_its_stream)
{
	const struct profile *profile = load->rules->application->run->model->profile;

	if (!leaves_its_stream)
		load->stream_ns[op->stream] +=
			add_time(&load->stream_end_ns[op->stream], op, fewer_ns);
	if (op->kind == OP_KERNEL)
		add_kernel(load, op, fewer_ns);
	if (op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_DEVICE)
		load->copy_ns[0] += add_time(&load->copy_end_ns[0], op, fewer_ns);
	if (op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST)
		load->copy_ns[1] += add_time(&load->copy_end_ns[1], op, fewer_ns);
}

/* One that does not count, nor what runs beside it: no one knows in whose time that will be. */
static void pass_op(struct load *load, const struct profile_op *op)
{
	const struct profile *profile = load->rules->application->run->model->profile;

	(void)add_time(&load->stream_end_ns[op->stream], op, 0);
	if (op->kind == OP_KERNEL) {
		run_until(load, op->start_ns);
		load->running_count = 0;
		load->sm_until_ns = max_ns(load->sm_until_ns, op->end_ns);
	}
	if (op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_DEVICE)
		(void)add_time(&load->copy_end_ns[0], op, 0);
	if (op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST)
		(void)add_time(&load->copy_end_ns[1], op, 0);
}

static double dram_ns(const struct load *load)
{
	const struct report *report = load->rules->application->run->report;
	const struct roofline *roofline = report ? report->roofline : NULL;
	double roof = roofline ? roofline->roofs[ROOF_dram] : 0;
	double ns = load->dram_ns;

	if (load->rules->terms->fewer_bytes > 1)
		ns /= (double)load->rules->terms->fewer_bytes;
	return roof > 0 ? fmax(ns - load->rules->terms->vanished_bytes / roof * 1e9, 0) : 0;
}

static double most_ns(struct load *load)
{
	size_t stream_count = load->rules->application->run->model->profile->stream_count;
	double most = fmax(fmax(load->copy_ns[0], load->copy_ns[1]), dram_ns(load));

	run_until(load, INT64_MAX);
	most = fmax(most, load->sm_ns - load->fewer_ns);
	for (size_t i = 0; i < stream_count; i++)
		most = fmax(most, load->stream_ns[i]);
	return most;
}

/* ---- what kernels need ---- */

static double share_of(const struct roofline_point *point, enum roofline_roof roof)
{
	return point->is_wrong ? 0 : fmin(point->quantities[roof].share, 1);
}

/* All 0 without counters, or with those of several devices together. */
static struct needs *find_needs(const struct recorded_run *run)
{
	const struct profile *profile = run->model->profile;
	const struct roofline *roofline = run->report ? run->report->roofline : NULL;
	struct needs *needs = calloc(profile->kernel_name_count + 1, sizeof(*needs));

	for (size_t i = 0; needs && roofline && profile_only_device(profile) != PROFILE_NONE &&
			   i < roofline->kernel_count;
	     i++) {
		const struct roofline_point *point = &roofline->kernels[i];
		struct needs *need = &needs[point->subject];

		need->dram = share_of(point, ROOF_dram);
		for (int roof = ROOF_MEMORY_END; roof < ROOF_COMPUTE_END; roof++)
			need->arithmetic =
				fmax(need->arithmetic, share_of(point, (enum roofline_roof)roof));
	}
	return needs;
}

/* ---- what kernels fill ---- */

/* The share of the blocks that all SMs hold at once: beside one that waits for memory there is room for others.  Where no
 * limits were recorded, of the SMs that get a block. */
static double fill_of(const struct profile_device *device, const struct profile_signature *launch)
{
	const uint32_t *grid = launch->grid;
	struct occupancy occupancy;

	if (occupancy_of(&occupancy, device, launch))
		return min_real(occupancy.waves, 1);
	return device->sm_count
		       ? min_real((double)grid[0] * grid[1] * grid[2] / device->sm_count, 1)
		       : 1;
}

/* By signature; NULL: out of memory. */
static double *find_fills(const struct profile *profile, const struct profile_device *device)
{
	double *fills = malloc((profile->signature_count + 1) * sizeof(*fills));

	for (size_t i = 0; fills && i < profile->signature_count; i++)
		fills[i] = fill_of(device, &profile->signatures[i]);
	return fills;
}

/* ---- bounds ---- */

static int load_open(struct load *load, const struct rules *rules, const struct place *places,
		     size_t place_count)
{
	size_t stream_count = rules->application->run->model->profile->stream_count;

	*load = (struct load){.rules = rules,
			      .places = places,
			      .place_count = place_count,
			      .stream_ns = calloc(stream_count + 1, sizeof(double)),
			      .stream_end_ns = malloc((stream_count + 1) * sizeof(int64_t)),
			      .copy_end_ns = {INT64_MIN, INT64_MIN},
			      .sm_until_ns = INT64_MIN};
	for (size_t i = 0; load->stream_end_ns && i < stream_count; i++)
		load->stream_end_ns[i] = INT64_MIN;
	return load->stream_ns && load->stream_end_ns ? 0 : -ENOMEM;
}

static void load_close(struct load *load)
{
	free(load->stream_ns);
	free(load->stream_end_ns);
}

/* Most operations lie in the place of the one before. */
static bool holds(struct load *load, size_t call)
{
	if (!load->places)
		return true;
	if (load->near < load->place_count && call >= load->places[load->near].first &&
	    call < load->places[load->near].end)
		return true;
	load->near = places_find(load->places, load->place_count, call);
	return load->near < load->place_count && load->places[load->near].first <= call;
}

/* All loads in one walk over the operations of the device.  One that the device launched has no place of its own in a
 * replay. */
static void add_ops(struct load *loads, size_t count, const struct rules *rules)
{
	const struct profile *profile = rules->application->run->model->profile;
	const struct profile_device *device = &profile->devices[rules->application->device];

	for (size_t i = device->first_op; i < device->first_op + device->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		bool leaves_its_stream;
		double fewer_ns;

		if (op->call == PROFILE_NONE)
			continue;
		fewer_ns = shorter_ns(rules, op);
		leaves_its_stream = leaves_stream(rules, op);
		for (size_t j = 0; j < count; j++)
			if (holds(&loads[j], op->call))
				add_op(&loads[j], op, fewer_ns, leaves_its_stream);
			else
				pass_op(&loads[j], op);
	}
}

/* Iterations as places, of which those in a row are one. */
struct iterations {
	struct place *items;
	size_t count, capacity;
	double iteration_count;
};

static int add_iteration(const struct steady_iteration *iteration, void *context)
{
	struct iterations *usual = context;
	struct place *next;

	if (!iteration->is_usual)
		return 0;
	usual->iteration_count++;
	if (usual->count && usual->items[usual->count - 1].end == iteration->first_call) {
		usual->items[usual->count - 1].end = iteration->end_call;
		return 0;
	}
	next = ARRAY_NEXT(usual->items, usual->capacity, usual->count);
	if (!next)
		return -ENOMEM;
	*next = (struct place){iteration->first_call, iteration->end_call};
	usual->count++;
	return 0;
}

static int find_usual(struct iterations *usual, const struct application *application,
		      const struct part *part)
{
	const struct model *model = application->run->model;
	const struct looped_run run = {.profile = model->profile,
				       .submissions = &model->submissions,
				       .loops = part->loops};

	return part->steady ? steady_loop_visit(part->steady, &run, add_iteration, usual) : 0;
}

enum { LOAD_PROGRAM, LOAD_PLACE, LOAD_STEADY, LOAD_COUNT };

static int find(struct bounds *out, const struct rules *rules, const struct part *part,
		const struct iterations *usual)
{
	struct load loads[LOAD_COUNT] = {{0}};
	size_t count = usual->count ? LOAD_COUNT : LOAD_STEADY;
	int rc = load_open(&loads[LOAD_PROGRAM], rules, NULL, 0);

	if (rc == 0)
		rc = load_open(&loads[LOAD_PLACE], rules, part->places, part->place_count);
	if (rc == 0)
		rc = load_open(&loads[LOAD_STEADY], rules, usual->items, usual->count);
	if (rc == 0) {
		add_ops(loads, count, rules);
		out->program_ns = most_ns(&loads[LOAD_PROGRAM]);
		out->place_ns = most_ns(&loads[LOAD_PLACE]);
		if (usual->count)
			out->steady_ns = most_ns(&loads[LOAD_STEADY]) / usual->iteration_count;
	}
	for (size_t i = 0; i < LOAD_COUNT; i++)
		load_close(&loads[i]);
	return rc;
}

static double tensor_ratio(const struct ceilings *ceilings)
{
	double plain = ceilings_at(ceilings, CEILING_fp32_fma, 0);
	double tensor = ceilings_at(ceilings, CEILING_tensor_tf32, 0);

	return tensor > 0 ? min_real(plain / tensor, 1) : 1;
}

int bounds_find(struct bounds *out, const struct application *application,
		const struct bound_terms *terms, const struct part *part)
{
	const struct ceilings *ceilings = application->run->ceilings;
	const struct profile *profile = application->run->model->profile;
	struct needs *needs = find_needs(application->run);
	double *fills = find_fills(profile, &profile->devices[application->device]);
	const struct rules rules = {.application = application,
				    .terms = terms,
				    .needs = needs,
				    .fills = fills,
				    .tensor_ratio = tensor_ratio(ceilings),
				    .to_device_rate = ceilings_at(ceilings, CEILING_h2d_pinned, 0),
				    .to_host_rate = ceilings_at(ceilings, CEILING_d2h_pinned, 0)};
	struct iterations usual = {0};
	int rc = needs && fills ? find_usual(&usual, application, part) : -ENOMEM;

	*out = (struct bounds){0};
	if (rc == 0)
		rc = find(out, &rules, part, &usual);
	free(usual.items);
	free(fills);
	free(needs);
	return rc;
}

/* What a replay may be off is off its bounds as well. */
static double loosened_ns(double least_ns)
{
	return (1 - REPLAY_ERROR_MOST) * least_ns;
}

static bool is_possible(double after_ns, double least_ns)
{
	return after_ns >= loosened_ns(least_ns);
}

bool bounds_hold(const struct bounds *bounds, const struct prediction *prediction)
{
	double rest_ns = (double)(prediction->program_before_ns - prediction->changed_before_ns);
	double program_ns = (double)prediction->program_after_ns;
	double unrecorded_ns = (double)prediction->program_unrecorded_ns;
	double place_ns = (double)(prediction->place_after_ns - prediction->place_unrecorded_ns);

	return is_possible(program_ns - unrecorded_ns, bounds->program_ns) &&
	       is_possible(program_ns, rest_ns) && is_possible(place_ns, bounds->place_ns) &&
	       (!prediction->steady_before_ns ||
		is_possible((double)prediction->steady_after_ns, bounds->steady_ns));
}

static void limit(struct predicted_ratio *ratio, int64_t before_ns, double least_ns,
		  int64_t unrecorded_ns)
{
	double after_ns = loosened_ns(least_ns) + (double)unrecorded_ns;
	double most = least_ns > 0 ? (double)before_ns / after_ns : ratio->high;

	ratio->high = fmax(fmin(ratio->high, most), ratio->speedup);
}

/* Amdahl: a run gains what its part does, of which all is that changes. */
static void limit_whole(struct prediction *prediction)
{
	double before_ns = (double)prediction->program_before_ns;
	double part_ns = (double)prediction->place_before_ns;
	double most;

	if (prediction->place_before_ns != prediction->changed_before_ns ||
	    !(prediction->place.high > 0))
		return;
	most = before_ns / (before_ns - part_ns + part_ns / prediction->place.high);
	prediction->program.high =
		fmax(fmin(prediction->program.high, most), prediction->program.speedup);
}

void bounds_limit(const struct bounds *bounds, struct prediction *prediction)
{
	limit(&prediction->program, prediction->program_before_ns, bounds->program_ns,
	      prediction->program_unrecorded_ns);
	limit(&prediction->place, prediction->place_before_ns, bounds->place_ns,
	      prediction->place_unrecorded_ns);
	limit(&prediction->steady, prediction->steady_before_ns, bounds->steady_ns, 0);
	limit_whole(prediction);
}

/* ---- the steady state ---- */

static bool is_launched(const struct application *application, size_t call)
{
	const struct model *model = application->run->model;

	return call_is_submitting(model, call) && submissions_count(&model->submissions, call) &&
	       !call_change_is_gone(change_of_call(&application->change, call));
}

double bounds_steady_ns(const struct application *application, const struct steady_loop *steady,
			const struct loops *loops, int64_t launch_ns)
{
	double launch_count = 0, iteration_count = 0;

	for (size_t i = 0; i < steady->member_count; i++) {
		const struct loop *loop = &loops->items[steady->members[i]];

		for (size_t j = loop->first_call; j < loop->first_call + loop->call_count; j++)
			launch_count += is_launched(application, j);
		iteration_count += (double)loop->iteration_count;
	}
	return iteration_count > 0 ? launch_count / iteration_count * (double)launch_ns : 0;
}

void bounds_limit_steady(struct prediction *prediction, double least_ns)
{
	struct predicted_ratio *steady = &prediction->steady;
	double most;

	if (!prediction->steady_before_ns || !(least_ns > 0))
		return;
	/* it may be as fast already, with all that a replay leaves out */
	most = fmax((double)prediction->steady_before_ns / loosened_ns(least_ns), 1);
	if (steady->speedup > most)
		prediction->steady_after_ns = lround((double)prediction->steady_before_ns / most);
	steady->speedup = fmin(steady->speedup, most);
	steady->high = fmin(steady->high, most);
	steady->low = fmin(steady->low, steady->speedup);
}
