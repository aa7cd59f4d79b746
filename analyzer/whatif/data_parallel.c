#define _GNU_SOURCE /* strcasestr */
#include "whatif/data_parallel.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More parts than bring within this of the best are not worth their launches. */
#define NEARLY_BEST 1.02
/* Of the time of the GPU's kernels, what kernels on another one may take: as where results are checked. */
#define MOST_BESIDE 0.1

static const char *const kept_items[] = {"multi_tensor_apply", "adam", "sgd", "optimizer",
					 "update"};

const struct kept_words data_parallel_kept = {kept_items,
					      sizeof(kept_items) / sizeof(kept_items[0])};

struct predicting {
	struct data_parallel *out;
	const struct data_parallel_request *request;
	const struct report *report;
	struct what_ifs all;
	struct divided_step step;
};

/* ---- one row ---- */

static int simulate(double *out_ns, const struct predicting *it, const struct divided_request *one)
{
	int rc = divided_step_simulate(out_ns, &it->step, one);

	return rc == 0 && !(*out_ns > 0) ? -EDEADLK : rc;
}

/* How much faster samples are done, if that is what an iteration takes; nobody is faster than linear. */
static double speedup_of(const struct predicting *it, const struct divided_request *one,
			 double iteration_ns)
{
	double speedup = it->out->iteration_ns / fmax(iteration_ns, 1);

	return fmin(one->is_weak ? (double)one->gpus * speedup : speedup, (double)one->gpus);
}

/* As other predictions of jobs: the ends of what is assumed, and what a replay and the host may be off. */
static int predict_gain(struct data_parallel_gain *out, const struct predicting *it,
			const struct divided_request *usual)
{
	double margin = hypot(SPREAD_HOST, REPLAY_ERROR_MOST), least_ns = 0, most_ns = 0;
	struct divided_request one = *usual;
	int rc = simulate(&out->iteration_ns, it, &one);

	one.end = ASSUMED_LEAST;
	if (rc == 0)
		rc = simulate(&least_ns, it, &one);
	one.end = ASSUMED_MOST;
	if (rc == 0)
		rc = simulate(&most_ns, it, &one);
	if (rc < 0)
		return rc;
	out->speedup = speedup_of(it, usual, out->iteration_ns);
	out->low = speedup_of(it, usual, (1 + margin) * fmax(least_ns, out->iteration_ns));
	out->high = speedup_of(it, usual, (1 - margin) * fmin(most_ns, out->iteration_ns));
	return 0;
}

static const char *gpu_name(const struct predicting *it)
{
	return it->report->profile->devices[it->out->device].name;
}

static struct divided_request
usual_of(const struct predicting *it, const struct reduce_times *times, uint64_t gpus, bool is_weak)
{
	return (struct divided_request){.gpus = gpus,
					.is_weak = is_weak,
					.parts = 1,
					.bytes = it->request->bytes,
					.divided = it->request->divided,
					.end = ASSUMED_USUAL,
					.times = times};
}

static int predict_row(struct predicting *it, uint64_t gpus, bool is_weak)
{
	struct data_parallel_row *row = &it->out->rows[it->out->row_count++];
	struct reduce_times times = reduce_times_of(it->report->ceilings, gpu_name(it), gpus);
	struct divided_request usual = usual_of(it, &times, gpus, is_weak);
	int rc;

	*row = (struct data_parallel_row){.gpus = gpus,
					  .is_weak = is_weak,
					  .linear = (double)gpus,
					  .source = times.source,
					  .reduce_ns =
						  reduce_ns(&times, usual.bytes, ASSUMED_USUAL)};
	rc = predict_gain(&row->in_turn, it, &usual);
	row->overlapped = row->in_turn;
	usual.parts = it->out->parts;
	return rc == 0 && usual.parts > 1 ? predict_gain(&row->overlapped, it, &usual) : rc;
}

/* ---- all ---- */

/* Of most GPUs, whose iterations have least to hide it behind: one set of parts for all rows. */
static int choose_parts(struct predicting *it)
{
	uint64_t gpus = it->request->gpus[it->request->count - 1];
	struct reduce_times times = reduce_times_of(it->report->ceilings, gpu_name(it), gpus);
	struct divided_request one = usual_of(it, &times, gpus, false);
	double after_ns[8], best_ns = INFINITY;
	int count = 0, rc = 0;

	for (uint64_t parts = 1; rc == 0 && parts <= DATA_PARALLEL_MOST_PARTS; parts *= 2) {
		one.parts = parts;
		rc = simulate(&after_ns[count], it, &one);
		best_ns = fmin(best_ns, rc == 0 ? after_ns[count++] : INFINITY);
	}
	for (int i = count; rc == 0 && i-- > 0;)
		if (after_ns[i] <= NEARLY_BEST * best_ns)
			it->out->parts = 1ULL << i;
	return rc;
}

static int name_kept(struct data_parallel *out, const struct divided_step *step)
{
	const struct profile *profile = out->profile;
	bool *is_named = calloc(profile->kernel_name_count + 1, sizeof(*is_named));

	out->kept = calloc(profile->kernel_name_count + 1, sizeof(*out->kept));
	for (size_t i = 0; is_named && out->kept && i < step->order_count; i++) {
		const struct profile_op *op = &profile->ops[step->order[i]];
		uint32_t kernel;

		if (step->roles[step->order[i]] != ROLE_KEPT)
			continue;
		kernel = profile->signatures[op->detail].kernel;
		if (!is_named[kernel])
			out->kept[out->kept_count++] = profile->kernel_names[kernel];
		is_named[kernel] = true;
	}
	free(is_named);
	return is_named && out->kept ? 0 : -ENOMEM;
}

static int predict_rows(struct predicting *it)
{
	const struct data_parallel_request *request = it->request;
	int rc = 0;

	for (int is_weak = 0; is_weak < 2; is_weak++)
		for (size_t i = 0; rc == 0 && i < request->count; i++)
			rc = predict_row(it, request->gpus[i], is_weak);
	return rc;
}

static int predict(struct predicting *it)
{
	struct data_parallel *out = it->out;
	const struct divided_request alone = {.gpus = 1, .end = ASSUMED_USUAL};
	int rc = divided_step_find(&it->step, &it->all, out->device, &it->request->kept);

	if (rc < 0)
		return rc;
	if (!it->step.usual_count)
		return -ENOENT;
	out->ends_with_kept = it->step.ends_with_kept;
	out->iteration_count = it->step.usual_count;
	out->divided_ns = it->step.divided_ns / fmax((double)it->step.iteration_count, 1);
	out->kept_ns = it->step.kept_ns / fmax((double)it->step.iteration_count, 1);
	out->parts = it->request->bytes > 0 ? it->request->parts : 1;
	rc = name_kept(out, &it->step);
	if (rc == 0)
		rc = simulate(&out->iteration_ns, it, &alone);
	if (rc == 0 && !out->parts)
		rc = choose_parts(it);
	return rc < 0 ? rc : predict_rows(it);
}

static double kernel_ns(const struct profile *profile, size_t device)
{
	const struct profile_device *what = &profile->devices[device];
	double sum_ns = 0;

	for (size_t i = what->first_op; i < what->first_op + what->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL || profile->ops[i].kind == OP_GRAPH)
			sum_ns += (double)(profile->ops[i].end_ns - profile->ops[i].start_ns);
	return sum_ns;
}

/* Other GPUs may be prepared, and not used for the steps. */
static bool are_others_used(const struct profile *profile, size_t device)
{
	double own_ns = kernel_ns(profile, device);

	for (size_t i = 0; i < profile->device_count; i++)
		if (i != device && kernel_ns(profile, i) > MOST_BESIDE * own_ns)
			return true;
	return false;
}

/* NULL: it can be predicted, as far as that can be told before. */
static const char *why_not(const struct report *report, const struct data_parallel *out,
			   const struct data_parallel_request *request)
{
	const struct profile *profile = report->profile;

	if (!profile->device_count || !profile->devices[out->device].op_count)
		return "no operation of a GPU in it";
	if (are_others_used(profile, out->device))
		return "several GPUs have work in it; record the program on one";
	if (request->bytes > 0 &&
	    reduce_times_of(report->ceilings, profile->devices[out->device].name, 2).source ==
		    REDUCE_UNKNOWN)
		return "what GPUs like this one take to add up nobody measured: rooflinectl ceilings "
		       "--links does";
	return NULL;
}

static int fail(const struct profile *profile, const char *reason, struct err *err)
{
	return err_set(err, -ENODATA, "%s: no prediction: %s", profile->path, reason);
}

/* Of a rank of a job each step has waits for the others, and what they add up, in it. */
static int check_alone(const struct profile *profile, struct err *err)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		long long size = strtoll(profile_property(process, "world_size", "0"), NULL, 10);

		if (process->rank >= 0 && size > 1)
			return err_set(
				err, -ENODATA,
				"%s: no prediction: it is of rank %lld of a job of %lld, whose "
				"steps have waits for the others in them; record the program "
				"as one process on one GPU",
				profile->path, (long long)process->rank, size);
	}
	return 0;
}

/* Words that somebody gave have to be in some name: one that is in none would change nothing without a word. */
static int check_words(const struct profile *profile, const struct kept_words *kept,
		       struct err *err)
{
	for (size_t i = 0; kept->items != data_parallel_kept.items && i < kept->count; i++) {
		bool is_found = false;

		for (size_t k = 0; k < profile->kernel_name_count && !is_found; k++)
			is_found = strcasestr(profile->kernel_names[k], kept->items[i]);
		if (!is_found)
			return err_set(
				err, -ENOENT,
				"%s: no kernel with '%s' in its name was recorded (--fixed); "
				"rooflinectl report --section kernels lists them",
				profile->path, kept->items[i]);
	}
	return 0;
}

int data_parallel_predict(struct data_parallel *out, const struct report *report,
			  const struct data_parallel_request *request, struct err *err)
{
	struct predicting it = {.out = out, .request = request, .report = report};
	const char *reason;
	int rc;

	*out = (struct data_parallel){.profile = report->profile,
				      .device = what_if_main_device(report->profile),
				      .bytes = request->bytes,
				      .measured_gpus = reduce_measured_gpus(report->ceilings)};
	rc = check_alone(report->profile, err);
	if (rc == 0)
		rc = check_words(report->profile, &request->kept, err);
	if (rc < 0)
		return rc;
	reason = why_not(report, out, request);
	if (reason)
		return fail(report->profile, reason, err);
	rc = what_ifs_open_report(&it.all, report, NULL);
	if (rc == 0 && !it.all.predictor.is_usable)
		rc = fail(report->profile, it.all.predictor.why_not, err);
	else if (rc == 0)
		rc = predict(&it);
	if (rc == -EDEADLK)
		rc = fail(report->profile,
			  "re-simulated, its operations wait for each other forever", err);
	if (rc == -ENOENT)
		rc = fail(
			report->profile,
			"no kernels are called as if they applied gradients (--fixed), and nothing "
			"repeats for most of the time",
			err);
	divided_step_free(&it.step);
	what_ifs_free(&it.all);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory for the prediction") : rc;
}

void data_parallel_free(struct data_parallel *found)
{
	free(found->kept);
	*found = (struct data_parallel){0};
}
