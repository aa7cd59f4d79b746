#include "model/predict.h"

#include <errno.h>
#include <math.h>

/* The greatest error over the devices that did anything. */
static int measure_error(struct predictor *predictor)
{
	const struct model *model = predictor->model;
	struct replay same = {0};
	int rc = replay_run(&same, model, NULL, NULL);

	for (size_t i = 0; rc == 0 && i < model->profile->device_count; i++) {
		const struct profile_device *device = &model->profile->devices[i];
		int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, wall_ns;
		double error;

		for (size_t j = device->first_op; j < device->first_op + device->op_count; j++) {
			const struct profile_op *op = &model->profile->ops[j];

			first_ns = op->start_ns < first_ns ? op->start_ns : first_ns;
			last_ns = op->end_ns > last_ns ? op->end_ns : last_ns;
		}
		wall_ns = last_ns > first_ns ? last_ns - first_ns : 0;
		error = wall_ns ? fabs((double)replay_wall_ns(&same, model, i) / (double)wall_ns -
				       1)
				: 0;
		predictor->replay_error =
			error > predictor->replay_error ? error : predictor->replay_error;
	}
	replay_free(&same);
	return rc;
}

static bool has_counted(const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].counted)
			return true;
	return false;
}

static void judge(struct predictor *predictor, bool has_costs)
{
	if (has_counted(predictor->model->profile))
		predictor->why_not =
			"hardware counters were read, which takes time: record without";
	else if (!has_costs)
		predictor->why_not = "no measured ceilings of this GPU: run rooflinectl ceilings";
	else if (predictor->replay_error > REPLAY_ERROR_MOST)
		predictor->why_not = "replaying the recording does not give its own time again";
	predictor->is_usable = !predictor->why_not;
}

int predictor_open(struct predictor *predictor, const struct model *model,
		   const struct ceilings *ceilings)
{
	int64_t gap_ns = model->profile->device_count ? model->devices[0].kernel_gap_ns : 0;
	bool has_costs = true;
	int rc;

	*predictor = (struct predictor){.model = model, .ceilings = ceilings};
	for (int end = COSTS_LOW; end <= COSTS_HIGH; end++)
		has_costs =
			costs_of(&predictor->costs[end], ceilings, gap_ns, (enum costs_end)end) &&
			has_costs;
	rc = measure_error(predictor);
	judge(predictor, has_costs);
	if (rc == 0 && predictor->is_usable)
		rc = replay_run(&predictor->before, model, NULL, &predictor->costs[COSTS_MIDDLE]);
	return rc;
}

void predictor_free(struct predictor *predictor)
{
	replay_free(&predictor->before);
	*predictor = (struct predictor){0};
}

/* From a place's first call to the last of its calls and operations. */
static int64_t place_ns(const struct replay *replay, const struct model *model,
			const struct place *place)
{
	int64_t last_ns = replay->call_end_ns[place->end - 1];

	for (size_t i = place->first; i < place->end; i++)
		for (uint32_t j = model->submitted.first[i]; j < model->submitted.first[i + 1];
		     j++) {
			int64_t end_ns = replay->op_end_ns[model->submitted.ops[j]];

			last_ns = end_ns > last_ns ? end_ns : last_ns;
		}
	return last_ns - replay->call_start_ns[place->first];
}

static int64_t places_ns(const struct replay *replay, const struct model *model,
			 const struct place *places, size_t place_count)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < place_count; i++)
		sum_ns += place_ns(replay, model, &places[i]);
	return sum_ns;
}

static double ratio(int64_t before_ns, double after_ns)
{
	return after_ns > 0 ? (double)before_ns / after_ns : 1;
}

/* One end of the interval: what that replay says, and the margin. */
static void take_end(struct predicted_ratio *out, enum costs_end end, int64_t before_ns,
		     double after_ns, double margin_ns)
{
	if (end == COSTS_MIDDLE)
		out->speedup = ratio(before_ns, after_ns);
	else if (end == COSTS_LOW)
		out->high = ratio(before_ns, after_ns - margin_ns);
	else
		out->low = ratio(before_ns, after_ns + margin_ns);
}

int predictor_run(struct prediction *out, const struct predictor *predictor,
		  const struct change *change, size_t device, const struct place *places,
		  size_t place_count, double setup_ns)
{
	const struct model *model = predictor->model;
	int64_t wall_ns = replay_wall_ns(&predictor->before, model, device);
	int rc = 0;

	*out = (struct prediction){.place_before_ns = places_ns(&predictor->before, model, places,
								place_count),
				   .program_before_ns = wall_ns};
	for (int end = COSTS_LOW; rc == 0 && end <= COSTS_HIGH; end++) {
		struct replay after = {0};

		rc = replay_run(&after, model, change, &predictor->costs[end]);
		if (rc == 0) {
			int64_t after_ns = places_ns(&after, model, places, place_count);
			double program_ns =
				(double)replay_wall_ns(&after, model, device) + setup_ns;
			double margin_ns = MODEL_MARGIN * (double)after_ns;

			take_end(&out->place, (enum costs_end)end, out->place_before_ns,
				 (double)after_ns, margin_ns);
			take_end(&out->program, (enum costs_end)end, wall_ns, program_ns,
				 margin_ns);
			if (end == COSTS_MIDDLE) {
				out->place_after_ns = after_ns;
				out->program_after_ns = (int64_t)program_ns;
			}
		}
		replay_free(&after);
	}
	return rc;
}

int predictor_untraced_share(double *share, const struct predictor *predictor, size_t device,
			     const struct place *places, size_t place_count)
{
	const struct model *model = predictor->model;
	struct replay recorded = {0};
	int64_t recorded_ns, untraced_ns;
	int rc;

	*share = 1;
	if (!predictor->is_usable)
		return 0;
	rc = replay_run(&recorded, model, NULL, NULL);
	if (rc == 0) {
		recorded_ns = place_count ? places_ns(&recorded, model, places, place_count)
					  : replay_wall_ns(&recorded, model, device);
		untraced_ns = place_count
				      ? places_ns(&predictor->before, model, places, place_count)
				      : replay_wall_ns(&predictor->before, model, device);
		if (recorded_ns > 0 && untraced_ns > 0)
			*share = (double)untraced_ns / (double)recorded_ns;
	}
	replay_free(&recorded);
	return rc;
}
