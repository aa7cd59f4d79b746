/* try_predict.c - what was predicted for a strategy, beside what it brought. */
#define _GNU_SOURCE
#include "cmd/try_predict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "cmd/progress.h"
#include "cmd/record_options.h"
#include "cmd/record_output.h"
#include "cmd/record_run.h"
#include "cmd/report_ceilings.h"
#include "roofline/control.h"
#include "whatif/scenario.h"
#include "whatif/subtract_recording.h"

/* ---- recordings ---- */

static int read_recording(struct report **report, const char *path,
			  const struct try_options *options, struct err *err)
{
	struct progress progress;
	int rc;

	progress_begin(&progress, "reading and analyzing the recording");
	rc = report_build(report, path, err);
	progress_end(&progress);
	if (rc == 0)
		rc = report_choose_ceilings(*report, options->ceilings_path, TRY_WHO, err);
	return rc;
}

int try_read_trace(struct try_recordings *recordings, const struct try_options *options,
		   struct err *err)
{
	if (!options->trace)
		return 0;
	recordings->paths[TRIAL_BARE] = strdup(options->trace);
	if (!recordings->paths[TRIAL_BARE])
		return err_set(err, -ENOMEM, "out of memory");
	return read_recording(&recordings->reports[TRIAL_BARE], options->trace, options, err);
}

static const char *const side_names[] = {"bare", "tried"};

int try_make_folders(const struct try_options *options, struct err *err)
{
	char path[PATH_MAX], found[PATH_MAX];
	int rc = 0;

	for (int side = 0; options->record && rc == 0 && side < TRIAL_SIDES; side++) {
		snprintf(path, sizeof(path), "%s/%s", options->record, side_names[side]);
		if (path_newest_recording(found, sizeof(found), path) == 0)
			return err_set(
				err, -EEXIST,
				"--record: %s holds a recording already: choose another folder, "
				"or remove that one",
				path);
		snprintf(path, sizeof(path), "%s/%s/", options->record, side_names[side]);
		rc = path_make_parents(path, 1);
	}
	return rc < 0 ? err_set(err, rc, "--record: cannot make %s: %s", path, strerror(-rc)) : 0;
}

/* Chooses the folder and sets what the collector reads. */
static int choose_folder(char *path, struct err *err)
{
	struct record_output output;

	record_set_variable(ENV_OUTPUT, path);
	if (record_output_choose(&output, TRY_WHO) || record_inject(TRY_WHO) < 0)
		return err_set(err, -EEXIST, "%s cannot be recorded, for the reason above", path);
	return 0;
}

static int note(struct trial *trial, const char *what, const char *why, struct err *err)
{
	return sentences_add(&trial->notes, "%s: %s", what, why) < 0
		       ? err_set(err, -ENOMEM, "out of memory")
		       : 0;
}

static int record_side(struct try_recordings *recordings, struct try_bench *bench, int side,
		       struct err *err)
{
	const struct try_options *options = bench->options;
	struct err problem = {""};
	struct try_end end = {0};
	char found[PATH_MAX];
	char *path;
	int rc;

	if (asprintf(&recordings->paths[side], "%s/%s", options->record, side_names[side]) < 0) {
		recordings->paths[side] = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	path = recordings->paths[side];
	rc = choose_folder(path, err);
	if (rc == 0)
		rc = try_bench_run_once(bench, side, &end, err);
	if (rc < 0)
		return rc;
	if (path_newest_recording(found, sizeof(found), path) < 0)
		return note(bench->trial, path,
			    *end.text ? end.text
				      : "nothing was recorded: the program did not use CUDA, or it "
					"could not be recorded",
			    err);
	rc = read_recording(&recordings->reports[side], path, options, &problem);
	return rc < 0 ? note(bench->trial, path, problem.text, err) : 0;
}

int try_record(struct try_recordings *recordings, struct try_bench *bench, struct err *err)
{
	int rc = 0;

	if (!bench->options->record)
		return 0;
	for (int side = 0; rc == 0 && side < TRIAL_SIDES; side++)
		rc = record_side(recordings, bench, side, err);
	return rc;
}

/* ---- the prediction ---- */

static void add_techniques(struct chosen_techniques *chosen, enum try_strategy strategy)
{
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		if (techniques[i]->tried_by &&
		    !strcmp(techniques[i]->tried_by, try_strategy_name(strategy)))
			chosen->items[chosen->count++] = (enum technique_id)i;
}

/* The strategies of roofline/try.h from the last to the first: a graph, which is that, contains what the others leave. */
static void choose_techniques(struct chosen_techniques *chosen, const struct try_options *options)
{
	*chosen = (struct chosen_techniques){.count = 0};
	for (int i = TRY_STRATEGY_COUNT; i-- > 0;)
		if (options->is_chosen[i])
			add_techniques(chosen, (enum try_strategy)i);
}

/* "cuda_graph, pinned_memory", of those that change something; NULL without memory. */
static char *join_techniques(const struct scenario *scenario)
{
	char list[512] = "";

	for (size_t i = 0; i < scenario->part_count; i++) {
		const struct scenario_part *part = &scenario->parts[i];
		size_t used = strlen(list);

		if (!part->together.effect.refusal)
			snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
				 techniques[part->technique]->id);
	}
	return strdup(list);
}

/* Why each changes nothing. */
static char *join_refusals(const struct scenario *scenario)
{
	char list[1024] = "";

	for (size_t i = 0; i < scenario->part_count; i++) {
		const struct scenario_part *part = &scenario->parts[i];
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s: %s", used ? "; " : "",
			 techniques[part->technique]->id, part->together.effect.refusal);
	}
	return strdup(list);
}

static struct trial_ratio ratio_of(const struct predicted_ratio *ratio)
{
	return (struct trial_ratio){ratio->speedup, ratio->low, ratio->high};
}

/* Of the process, where that part of it gets so many times as fast and the rest takes as long as it did. */
static double of_process(double process_ns, double part_ns, double speedup)
{
	double after_ns = process_ns - part_ns + part_ns / speedup;

	return speedup > 0 && process_ns > 0 && after_ns > 0 ? process_ns / after_ns : 0;
}

static void set_process(struct trial *trial, const struct prediction *prediction)
{
	const struct predicted_ratio *run = &prediction->program;
	double process_ns = trial->sides[TRIAL_BARE].median_ns;
	double part_ns = (double)prediction->program_before_ns;

	if (part_ns > process_ns) /* the recording is of a longer run than this one */
		return;
	trial->prediction.process =
		(struct trial_ratio){of_process(process_ns, part_ns, run->speedup),
				     of_process(process_ns, part_ns, run->low),
				     of_process(process_ns, part_ns, run->high)};
}

static int set_prediction(struct trial *trial, const struct scenario *scenario)
{
	struct trial_prediction *prediction = &trial->prediction;

	if (!scenario->is_changed) {
		prediction->why_not = join_refusals(scenario);
		return prediction->why_not ? 0 : -ENOMEM;
	}
	prediction->techniques = join_techniques(scenario);
	prediction->is_up_to = scenario->is_up_to;
	prediction->run = ratio_of(&scenario->prediction.program);
	prediction->steady = ratio_of(&scenario->prediction.steady);
	set_process(trial, &scenario->prediction);
	return prediction->techniques ? 0 : -ENOMEM;
}

static int predict(struct trial *trial, const struct report *bare,
		   const struct try_options *options)
{
	struct chosen_techniques chosen;
	struct scenario scenario;
	struct err problem = {""};
	int rc;

	choose_techniques(&chosen, options);
	rc = scenario_predict(&scenario, bare, &chosen, NULL, &problem);
	if (rc == -ENODATA) {
		trial->prediction.why_not = strdup(problem.text);
		return trial->prediction.why_not ? 0 : -ENOMEM;
	}
	return rc < 0 ? rc : set_prediction(trial, &scenario);
}

/* ---- what the recordings tell ---- */

static int add_sentences(struct trial *trial, const struct sentences *sentences, const char *what)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sentences->count; i++)
		rc = sentences_add(&trial->notes, "%s: %s", what, sentences->items[i]);
	return rc;
}

static int compare(struct trial *trial, const struct report *bare, const struct report *tried,
		   struct err *err)
{
	struct comparison *comparison = NULL;
	int rc = comparison_make(&comparison, bare->profile, tried->profile, NULL, err);

	if (rc == 0)
		rc = what_if_subtract_recording(comparison, bare, tried, err);
	if (rc == 0) {
		trial->prediction.run_measured = comparison->measured;
		trial->prediction.steady_measured = comparison->steady.speedup.measured;
		rc = add_sentences(trial, &comparison->warnings, "recordings");
	}
	if (rc == 0)
		rc = add_sentences(trial, &comparison->differences, "recordings of other work");
	comparison_free(comparison);
	return rc;
}

int try_predict(struct trial *trial, const struct try_recordings *recordings,
		const struct try_options *options, struct err *err)
{
	const struct report *bare = recordings->reports[TRIAL_BARE];
	const struct report *tried = recordings->reports[TRIAL_TRIED];
	struct err problem = {""};
	int rc;

	if (!bare)
		return 0;
	trial->prediction.recording = recordings->paths[TRIAL_BARE];
	rc = predict(trial, bare, options);
	if (rc == 0 && tried && compare(trial, bare, tried, &problem) < 0)
		rc = note(trial, "recordings", problem.text, err);
	return rc < 0 ? err_set(err, rc, "out of memory for the prediction") : 0;
}

void try_recordings_free(struct try_recordings *recordings)
{
	for (int i = 0; i < TRIAL_SIDES; i++) {
		report_free(recordings->reports[i]);
		free(recordings->paths[i]);
	}
}
