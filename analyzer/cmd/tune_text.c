/* tune_text.c - what a search has found. */
#include "cmd/tune_text.h"

#include <errno.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/shell.h"
#include "cmd/tune_run.h"

#define POINT_BYTES 1024

struct point_text {
	char text[POINT_BYTES];
};

static struct point_text describe(const struct tune_options *options, size_t point)
{
	struct point_text text = {""};

	tune_space_describe(&options->space, point, text.text, sizeof(text.text));
	return text;
}

void tune_text_head(FILE *out, const struct tune_options *options)
{
	const struct tune_space *space = &options->space;

	fprintf(out, "%s: %zu of %zu points", options->settings.search->name,
		options->settings.most_trials, space->point_count);
	if (space->point_count < space->grid_count)
		fprintf(out, " (--where leaves these of %zu)", space->grid_count);
	fprintf(out, ", objective %s, seed %u\n", options->objective.text, options->settings.seed);
}

/* ---- of trials ---- */

/* How many ended so. */
static size_t count_status(const struct tune_history *history, enum tune_status status)
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		count += history->trials[i].status == status;
	return count;
}

static const char *status_meaning(enum tune_status status)
{
#define STATUS_MEANING(constant, name, meaning) meaning,
	static const char *const meanings[] = {TUNE_STATUSES(STATUS_MEANING)};
#undef STATUS_MEANING

	return meanings[status];
}

static void print_failures(FILE *out, const struct tune_bench *bench,
			   const struct tune_session *session)
{
	for (int i = TUNE_OK + 1; i < TUNE_STATUS_COUNT; i++) {
		size_t count = count_status(&session->history, (enum tune_status)i);

		if (count)
			fprintf(out, "  %zu without a value: %s\n", count,
				status_meaning((enum tune_status)i));
	}
	if (*bench->complaint)
		fprintf(out, "    the last of them: %s\n", bench->complaint);
	if (session->impossible_count)
		fprintf(out, "  %zu points were not tried: %s\n", session->impossible_count,
			session->why_impossible);
}

static void print_trials(FILE *out, const struct tune_bench *bench,
			 const struct tune_session *session)
{
	const struct tune_options *options = bench->options;
	size_t count = session->history.count, points = options->space.point_count;
	static const char *const ends[] = {
		[TUNE_END_DONE] = "",
		[TUNE_END_TRIALS] = "",
		[TUNE_END_SECONDS] = "; --seconds were over",
	};

	fprintf(out, "Trials  %zu of %zu points (%.0f%%)%s", count, points,
		100.0 * (double)count / (double)points, ends[session->end]);
	if (session->end == TUNE_END_DONE && count < points &&
	    count + session->impossible_count < points)
		fputs("; then no point was expected to be better", out);
	fprintf(out, "\n  %zu measured, %zu of them or their repeats from earlier results\n",
		bench->measured_count + bench->stored_count, bench->stored_count);
	if (bench->other_count && !options->source)
		fprintf(out,
			"  %zu earlier results are of another command, program, objective, GPU, "
			"environment or --trial-timeout, and were not used\n",
			bench->other_count);
	print_failures(out, bench, session);
}

/* ---- of the best ---- */

/* What a program prints may be 0 or less: then no share of it says anything. */
static bool have_ratio(double one, double other)
{
	return one > 0 && other > 0;
}

static double ratio(const struct tune_options *options, double worse, double better)
{
	return options->objective.is_maximized ? better / worse : worse / better;
}

static void print_finalist(FILE *out, const struct tune_options *options, const char *name,
			   const struct tune_finalist *finalist, unsigned int rounds)
{
	double low = finalist->values[rounds ? 1 : 0], high = low;

	for (size_t i = 1; i < finalist->count; i++) {
		low = finalist->values[i] < low ? finalist->values[i] : low;
		high = finalist->values[i] > high ? finalist->values[i] : high;
	}
	fprintf(out, "%-8s%s  %s", name, describe(options, finalist->point).text,
		tune_objective_format(&options->objective, finalist->median).text);
	if (rounds)
		fprintf(out, "  (median of %u repeats, %s to %s)", rounds,
			tune_objective_format(&options->objective, low).text,
			tune_objective_format(&options->objective, high).text);
	fputc('\n', out);
}

static void print_verdict(FILE *out, const struct tune_options *options,
			  const struct tune_session *session)
{
	const struct tune_finalist *best = &session->finalists[0], *second = best + 1;

	if (session->finalist_count < 2) {
		fputs("  nothing to compare it with: no other trial worked\n", out);
	} else if (!session->rounds) {
		fputs("  each was measured once, so chance may have chosen: --repeats 5 tells\n",
		      out);
	} else if (tune_session_is_separated(session)) {
		fputs("  better than the second", out);
		if (have_ratio(second->median, best->median))
			fprintf(out, " by %.1f%%",
				100 * (ratio(options, second->median, best->median) - 1));
		fprintf(out, ", in %u of %u repeats that took turns\n", session->won,
			session->rounds);
	} else {
		fprintf(out,
			"  a tie with the second: better in %u of %u repeats that took turns, which "
			"chance does with %.0f%%\n",
			session->won, session->rounds, 100 * tune_session_chance(session));
	}
}

/* What the program has today, where that was said. */
static void print_default(FILE *out, const struct tune_options *options,
			  const struct tune_session *session)
{
	const struct tune_trial *first = session->history.trials;
	const struct tune_finalist *best = &session->finalists[0];

	if (options->settings.first_point == TUNE_NO_POINT || !session->history.count)
		return;
	fprintf(out, "Default %s  ", describe(options, first->point).text);
	if (first->status != TUNE_OK)
		fprintf(out, "%s\n", tune_status_name(first->status));
	else if (first->point == best->point)
		fputs("is the best\n", out);
	else if (!have_ratio(first->value, best->median))
		fprintf(out, "%s\n", tune_objective_format(&options->objective, first->value).text);
	else
		fprintf(out, "%s; the best is %.2fx as good\n",
			tune_objective_format(&options->objective, first->value).text,
			ratio(options, first->value, best->median));
}

static void print_command(FILE *out, const struct tune_options *options, size_t point)
{
	char **command = tune_command_of(options->command, &options->space, point);

	fputs("Run     ", out);
	for (char **word = command; word && *word; word++) {
		if (word > command)
			fputc(' ', out);
		shell_put_word(out, *word);
	}
	fputc('\n', out);
	tune_command_free(command);
}

void tune_text_result(FILE *out, const struct tune_bench *bench, const struct tune_session *session)
{
	const struct tune_options *options = bench->options;

	if (session->finalist_count) {
		print_finalist(out, options, "Best", &session->finalists[0], session->rounds);
		print_verdict(out, options, session);
		for (size_t i = 1; i < session->finalist_count; i++)
			print_finalist(out, options, i == 1 ? "Second" : "Third",
				       &session->finalists[i], session->rounds);
		print_default(out, options, session);
	}
	print_trials(out, bench, session);
	if (session->finalist_count)
		print_command(out, options, session->finalists[0].point);
	if (bench->file)
		fprintf(out, "Results %s/" TUNE_RESULTS_FILE, format_path(bench->folder).text);
	if (bench->file && session->finalist_count)
		fprintf(out, "; rooflinectl plot tune %s", shell_path_text(bench->folder).text);
	if (bench->file)
		fputc('\n', out);
}

/* ---- JSON ---- */

static json_t *json_of_finalist(struct json_builder *json, const struct tune_space *space,
				const struct tune_finalist *finalist)
{
	json_t *repeats = json_array();

	for (size_t i = 1; i < finalist->count; i++)
		json_builder_append(json, repeats, json_real(finalist->values[i]));
	return json_pack("{s:o, s:f, s:f, s:o}", "parameters",
			 tune_results_parameters(json, space, finalist->point), "median",
			 finalist->median, "trial", finalist->values[0], "repeats", repeats);
}

static json_t *json_of_trials(struct json_builder *json, const struct tune_space *space,
			      const struct tune_history *history)
{
	json_t *trials = json_array();

	for (size_t i = 0; i < history->count; i++) {
		const struct tune_trial *trial = &history->trials[i];
		json_t *object = json_pack("{s:o, s:s}", "parameters",
					   tune_results_parameters(json, space, trial->point),
					   "status", tune_status_name(trial->status));

		if (trial->status == TUNE_OK)
			json_builder_put(json, object, "value", json_real(trial->value));
		json_builder_append(json, trials, object);
	}
	return trials;
}

int tune_json_result(FILE *out, const struct tune_bench *bench, const struct tune_session *session,
		     struct err *err)
{
	const struct tune_options *options = bench->options;
	struct json_builder json = {0};
	json_t *finalists = json_array(), *root;

	for (size_t i = 0; i < session->finalist_count; i++)
		json_builder_append(&json, finalists,
				    json_of_finalist(&json, &options->space,
						     &session->finalists[i]));
	root = json_pack("{s:s, s:b, s:s, s:i, s:i, s:i, s:i, s:o, s:i, s:i, s:f, s:b, s:f, s:o}",
			 "objective", options->objective.text, "maximize",
			 (int)options->objective.is_maximized, "search",
			 options->settings.search->name, "seed", (int)options->settings.seed,
			 "points", (int)options->space.point_count, "impossible",
			 (int)session->impossible_count, "measured", (int)bench->measured_count,
			 "best", finalists, "rounds", (int)session->rounds, "won",
			 (int)session->won, "chance", tune_session_chance(session), "separated",
			 (int)(session->finalist_count && tune_session_is_separated(session)),
			 "seconds", session->seconds, "trials",
			 json_of_trials(&json, &options->space, &session->history));
	return json_builder_write(&json, root, out, JSON_INDENT(2), "the result", err);
}
