/* chart_tune.c - how good the best point is after so many trials, for each way to search. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "charts/chart_colors.h"
#include "charts/chart_file.h"
#include "charts/charts.h"
#include "tune/results.h"
#include "tune/search.h"

#define MOST_CURVES 8 /* there are fewer searches */
#define HIGHEST 3.0   /* times the best; curves that begin higher enter from above */
#define CLOSE_ENOUGH 1.03

/* The sessions of one search: the best that each had found after each trial. */
struct curve {
	const char *search;
	uint32_t sessions[1000]; /* by number */
	size_t session_count;
	uint32_t trial_count; /* of the longest */
	double *found; /* session after session, trial_count each; NAN before the first value */
};

struct scene {
	const struct tune_results *results;
	struct curve curves[MOST_CURVES];
	size_t curve_count;
	double best; /* of all results */
	uint32_t trial_count;
	bool is_maximized;
};

static bool is_better(const struct scene *scene, double a, double b)
{
	return isnan(b) || (scene->is_maximized ? a > b : a < b);
}

/* ---- collecting ---- */

/* Only trials: repeats do not choose what is tried next. */
static bool is_trial(const struct tune_result *result)
{
	return result->trial > 0 && result->round == 0;
}

static bool has_value(const struct tune_result *result)
{
	return result->outcome.status == TUNE_OK;
}

/* Its curve, made where there is none yet; NULL: there are too many. */
static struct curve *curve_of(struct scene *scene, const char *search)
{
	for (size_t i = 0; i < scene->curve_count; i++)
		if (!strcmp(scene->curves[i].search, search))
			return &scene->curves[i];
	if (scene->curve_count == MOST_CURVES)
		return NULL;
	scene->curves[scene->curve_count].search = search;
	return &scene->curves[scene->curve_count++];
}

/* Its number among the curve's, or SIZE_MAX: there are too many. */
static size_t session_of(struct curve *curve, uint32_t session)
{
	for (size_t i = 0; i < curve->session_count; i++)
		if (curve->sessions[i] == session)
			return i;
	if (curve->session_count == sizeof(curve->sessions) / sizeof(curve->sessions[0]))
		return SIZE_MAX;
	curve->sessions[curve->session_count] = session;
	return curve->session_count++;
}

static void survey(struct scene *scene)
{
	scene->best = NAN;
	for (size_t i = 0; i < scene->results->count; i++) {
		const struct tune_result *result = &scene->results->items[i];
		struct curve *curve = is_trial(result) ? curve_of(scene, result->search) : NULL;

		if (!curve || session_of(curve, result->session) == SIZE_MAX)
			continue;
		scene->is_maximized = result->is_maximized;
		if (result->trial > curve->trial_count)
			curve->trial_count = result->trial;
		if (curve->trial_count > scene->trial_count)
			scene->trial_count = curve->trial_count;
		if (has_value(result) && is_better(scene, result->outcome.value, scene->best))
			scene->best = result->outcome.value;
	}
}

/* Each trial's own value, then the best up to there: a session that ended keeps what it found. */
static int fill_curve(const struct scene *scene, struct curve *curve)
{
	size_t count = curve->session_count * curve->trial_count;

	curve->found = malloc((count + 1) * sizeof(*curve->found));
	if (!curve->found)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		curve->found[i] = NAN;
	for (size_t i = 0; i < scene->results->count; i++) {
		const struct tune_result *result = &scene->results->items[i];

		if (is_trial(result) && has_value(result) && !strcmp(result->search, curve->search))
			curve->found[session_of(curve, result->session) * curve->trial_count +
				     result->trial - 1] = result->outcome.value;
	}
	for (size_t i = 1; i < count; i++)
		if (i % curve->trial_count && !isnan(curve->found[i - 1]) &&
		    !is_better(scene, curve->found[i], curve->found[i - 1]))
			curve->found[i] = curve->found[i - 1];
		else if (i % curve->trial_count && isnan(curve->found[i]))
			curve->found[i] = curve->found[i - 1];
	return 0;
}

static int collect(struct scene *scene, const struct tune_results *results)
{
	int rc = 0;

	scene->results = results;
	survey(scene);
	for (size_t i = 0; rc == 0 && i < scene->curve_count; i++)
		rc = fill_curve(scene, &scene->curves[i]);
	return rc;
}

/* ---- writing ---- */

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* How many times the best it was, of each session at one trial, in order; those without a value are infinitely bad. */
static size_t ratios_at(const struct scene *scene, const struct curve *curve, uint32_t trial,
			double *ratios)
{
	for (size_t i = 0; i < curve->session_count; i++) {
		double found = curve->found[i * curve->trial_count + trial];

		ratios[i] = isnan(found)	  ? INFINITY
			    : scene->is_maximized ? scene->best / found
						  : found / scene->best;
	}
	qsort(ratios, curve->session_count, sizeof(*ratios), by_value);
	return curve->session_count;
}

static void write_curve(FILE *out, const struct scene *scene, const struct curve *curve,
			char letter)
{
	double ratios[1000];

	fputs("# trial\tlow\tmedian\thigh\tletter, times the best\n", out);
	for (uint32_t trial = 0; curve->found && trial < curve->trial_count; trial++) {
		size_t count = ratios_at(scene, curve, trial, ratios);

		if (isinf(ratios[(count - 1) / 2]))
			continue;
		fprintf(out, "%u\t%.9g\t%.9g\t%.9g\t%c\n", trial + 1, ratios[0],
			ratios[(count - 1) / 2], fmin(ratios[count - 1], 2 * HIGHEST), letter);
	}
	fputs("\n\n", out);
}

static char letter_of(size_t curve)
{
	return (char)('A' + curve);
}

static int write_curves(const struct scene *scene, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "curves.dat", err);

	for (size_t i = 0; rc == 0 && i < scene->curve_count; i++)
		write_curve(file.stream, scene, &scene->curves[i], letter_of(i));
	return chart_file_close(&file, rc, err);
}

/* The first trial after which half of the sessions are close enough; 0: none. */
static uint32_t trials_needed(const struct scene *scene, const struct curve *curve)
{
	double ratios[1000];

	for (uint32_t trial = 0; curve->found && trial < curve->trial_count; trial++) {
		size_t count = ratios_at(scene, curve, trial, ratios);

		if (ratios[(count - 1) / 2] <= CLOSE_ENOUGH)
			return trial + 1;
	}
	return 0;
}

/* What half of the sessions had at the end, or better; infinite: no value at all. */
static double median_at_end(const struct scene *scene, const struct curve *curve)
{
	double ratios[1000];
	size_t count;

	if (!curve->found || !curve->trial_count)
		return INFINITY;
	count = ratios_at(scene, curve, curve->trial_count - 1, ratios);
	return ratios[(count - 1) / 2];
}

static void set_legend(struct chart_file *file, const struct scene *scene)
{
	char text[256], letter[2] = "";

	chart_begin_legend(file, (int)scene->curve_count);
	for (size_t i = 0; i < scene->curve_count; i++) {
		const struct curve *curve = &scene->curves[i];
		uint32_t needed = trials_needed(scene, curve);
		double at_end = median_at_end(scene, curve);
		size_t used = (size_t)snprintf(text, sizeof(text), "%s", curve->search);

		if (curve->session_count > 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %zu times",
						 curve->session_count);
		if (needed)
			snprintf(text + used, sizeof(text) - used, ": 3%% after %u", needed);
		else if (isfinite(at_end))
			snprintf(text + used, sizeof(text) - used, ": %.3gx after %u", at_end,
				 curve->trial_count);
		else
			snprintf(text + used, sizeof(text) - used, ": no value");
		letter[0] = letter_of(i);
		chart_set_legend(file, (int)i + 1, (int)i + 1, text);
		fprintf(file->stream, "legend_letter[%zu] = '%s'\n", i + 1, letter);
	}
	chart_set_number(file, "legend_count", (double)scene->curve_count);
}

static int write_settings(const struct scene *scene, const char *folder, struct err *err)
{
	const char *objective = scene->results->items[0].objective;
	struct chart_file file;
	char title[512];
	int rc = chart_file_open(&file, folder, "tune.gp", err);

	if (rc < 0)
		return rc;
	snprintf(title, sizeof(title), "best %s found after so many trials, by the best of all",
		 objective);
	chart_set_text(&file, "chart_title", title);
	chart_set_text(&file, "chart_subtitle",
		       "line: the median where a search was made several times; area: from the "
		       "luckiest to the unluckiest; dashes: 3% from the best");
	chart_set_data(&file, "curves", folder);
	chart_set_number(&file, "curve_count", (double)scene->curve_count);
	chart_set_number(&file, "trial_count", scene->trial_count);
	chart_set_number(&file, "close_enough", CLOSE_ENOUGH);
	chart_set_number(&file, "highest", HIGHEST);
	set_legend(&file, scene);
	return chart_file_close(&file, 0, err);
}

int chart_tune(const struct report *report, const struct chart_options *options, const char *folder,
	       struct err *err)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	int rc = scene ? collect(scene, options->results) : -ENOMEM;

	(void)report;
	if (rc < 0)
		err_set(err, rc, "out of memory");
	if (rc == 0 && (isnan(scene->best) || !(scene->best > 0)))
		rc = err_set(
			err, -ENODATA,
			"no trial has a value of more than 0, by which others could be divided");
	if (rc == 0)
		rc = write_curves(scene, folder, err);
	if (rc == 0)
		rc = write_settings(scene, folder, err);
	for (size_t i = 0; scene && i < scene->curve_count; i++)
		free(scene->curves[i].found);
	free(scene);
	return rc;
}
