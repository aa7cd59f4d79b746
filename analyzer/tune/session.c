/* session.c - the trials, and the repeats of the best few. */
#include "tune/session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE_TO_BEST 1.1 /* a trial that is further off is no finalist unless it is the second */

struct run {
	struct tune_session *session;
	const struct tune_settings *settings;
	struct tune_task task;
	tune_measure measure;
	void *context;
	struct err *err;
};

static int measure_one(struct run *run, unsigned int round, struct tune_trial *trial)
{
	double seconds = 0;
	int rc = run->measure(run->context, round, trial, &seconds, run->err);

	run->session->seconds += seconds;
	return rc;
}

static bool is_out_of_time(const struct run *run)
{
	return run->settings->most_seconds > 0 &&
	       run->session->seconds >= run->settings->most_seconds;
}

/* ---- trials ---- */

/* Marks what the GPU cannot launch by all that is known now. */
static int find_impossible(struct run *run)
{
	struct tune_session *session = run->session;
	struct tune_launches launches;
	int rc = tune_launches_predict(&launches, &session->history, run->settings->device);

	session->impossible_count = 0;
	for (size_t i = 0; rc == 0 && i < session->history.space->point_count; i++) {
		const char *why =
			launches.points && launches.is_exact && !session->history.is_tried[i]
				? tune_launch_why_impossible(&launches.points[i],
							     run->settings->device)
				: NULL;

		session->is_impossible[i] = why;
		session->impossible_count += why != NULL;
		session->why_impossible = why ? why : session->why_impossible;
	}
	tune_launches_free(&launches);
	return rc;
}

static size_t next_point(struct run *run)
{
	const struct tune_settings *settings = run->settings;

	if (run->session->history.count == 0 && settings->first_point != TUNE_NO_POINT)
		return settings->first_point;
	run->task.least_value = settings->least_value ? *settings->least_value : 0;
	return settings->search->next(&run->task);
}

static int try_next(struct run *run, bool *is_done)
{
	struct tune_session *session = run->session;
	struct tune_trial trial = {.point = next_point(run)};
	int rc;

	*is_done = trial.point == TUNE_NO_POINT;
	if (*is_done)
		return 0;
	rc = measure_one(run, 0, &trial);
	if (rc == 0)
		rc = tune_history_add(&session->history, &trial);
	return rc < 0 ? rc : find_impossible(run);
}

static int try_all(struct run *run)
{
	struct tune_session *session = run->session;
	bool is_done = false;
	int rc = 0;

	session->end = TUNE_END_DONE;
	while (rc == 0 && !is_done) {
		if (session->history.count >= run->settings->most_trials)
			session->end = TUNE_END_TRIALS;
		else if (is_out_of_time(run))
			session->end = TUNE_END_SECONDS;
		else
			rc = try_next(run, &is_done);
		if (session->end != TUNE_END_DONE)
			break;
	}
	return rc;
}

/* ---- the best few ---- */

static bool is_finalist(const struct tune_session *session, size_t point)
{
	for (size_t i = 0; i < session->finalist_count; i++)
		if (session->finalists[i].point == point)
			return true;
	return false;
}

static const struct tune_trial *next_best(const struct tune_session *session)
{
	const struct tune_history *history = &session->history;
	const struct tune_trial *best = NULL;

	for (size_t i = 0; i < history->count; i++) {
		const struct tune_trial *trial = &history->trials[i];

		if (trial->status == TUNE_OK && !is_finalist(session, trial->point) &&
		    (!best || tune_is_better(history, trial->value, best->value)))
			best = trial;
	}
	return best;
}

/* Far off the best of them all. */
static bool is_far(const struct tune_session *session, double value)
{
	double best = session->finalists[0].values[0];

	return session->history.is_maximized ? value * CLOSE_TO_BEST < best
					     : value > best * CLOSE_TO_BEST;
}

static void choose_finalists(struct tune_session *session)
{
	const struct tune_trial *trial;

	while (session->finalist_count < TUNE_MOST_FINALISTS && (trial = next_best(session))) {
		if (session->finalist_count >= 2 && is_far(session, trial->value))
			return;
		session->finalists[session->finalist_count++] =
			(struct tune_finalist){.point = trial->point,
					       .values = {trial->value},
					       .count = 1,
					       .median = trial->value};
	}
}

static int repeat_one(struct run *run, struct tune_finalist *finalist, unsigned int round)
{
	struct tune_trial trial = {.point = finalist->point};
	int rc = measure_one(run, round, &trial);

	if (rc == 0 && trial.status == TUNE_OK)
		finalist->values[finalist->count++] = trial.value;
	return rc;
}

/* A round that one of them failed in is none. */
static int repeat_all(struct run *run)
{
	struct tune_session *session = run->session;
	int rc = 0;

	for (unsigned int round = 1; rc == 0 && round <= run->settings->repeats; round++) {
		bool is_whole = true;

		if (is_out_of_time(run) || session->finalist_count < 2)
			break;
		for (size_t i = 0; rc == 0 && i < session->finalist_count; i++) {
			rc = repeat_one(run, &session->finalists[i], round);
			is_whole &= session->finalists[i].count == session->rounds + 2;
		}
		if (rc == 0 && is_whole)
			session->rounds++;
		for (size_t i = 0; i < session->finalist_count; i++)
			session->finalists[i].count = session->rounds + 1;
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The trial itself is left out: it was chosen because it was good, perhaps by luck. */
static void set_median(struct tune_finalist *finalist)
{
	double sorted[TUNE_MOST_REPEATS];
	size_t count = finalist->count - 1;

	if (!count)
		return;
	memcpy(sorted, finalist->values + 1, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	finalist->median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* The best median first; those of equal medians stay in the order of their trials. */
static void order_finalists(struct tune_session *session)
{
	for (size_t i = 0; i < session->finalist_count; i++)
		set_median(&session->finalists[i]);
	for (size_t i = 1; i < session->finalist_count; i++)
		for (size_t j = i;
		     j > 0 && tune_is_better(&session->history, session->finalists[j].median,
					     session->finalists[j - 1].median);
		     j--) {
			struct tune_finalist moved = session->finalists[j];

			session->finalists[j] = session->finalists[j - 1];
			session->finalists[j - 1] = moved;
		}
	for (unsigned int round = 1; session->finalist_count > 1 && round <= session->rounds;
	     round++)
		session->won +=
			tune_is_better(&session->history, session->finalists[0].values[round],
				       session->finalists[1].values[round]);
}

int tune_session_run(struct tune_session *session, const struct tune_space *space,
		     bool is_maximized, const struct tune_settings *settings, tune_measure measure,
		     void *context, struct err *err)
{
	struct run run = {.session = session,
			  .settings = settings,
			  .measure = measure,
			  .context = context,
			  .err = err};
	int rc;

	*session = (struct tune_session){0};
	rc = tune_history_open(&session->history, space, is_maximized);
	session->is_impossible = calloc(space->point_count, sizeof(*session->is_impossible));
	if (rc < 0 || !session->is_impossible)
		return err_set(err, -ENOMEM, "out of memory");
	run.task = (struct tune_task){.history = &session->history,
				      .most_trials = settings->most_trials,
				      .device = settings->device,
				      .noise = settings->tolerance,
				      .is_impossible = session->is_impossible};
	tune_seed(&run.task, settings->seed);
	rc = try_all(&run);
	choose_finalists(session);
	if (rc == 0)
		rc = repeat_all(&run);
	order_finalists(session);
	return rc;
}

void tune_session_free(struct tune_session *session)
{
	tune_history_free(&session->history);
	free(session->is_impossible);
	session->is_impossible = NULL;
}

/* Upper tail of the binomial distribution with probability 1/2. */
double tune_session_chance(const struct tune_session *session)
{
	double term = pow(0.5, session->rounds), sum = 0;

	if (!session->rounds)
		return 1;
	for (unsigned int won = 0; won <= session->rounds; won++) {
		if (won >= session->won)
			sum += term;
		term *= (double)(session->rounds - won) / (won + 1);
	}
	return sum;
}

bool tune_session_is_separated(const struct tune_session *session)
{
	return session->finalist_count == 1 || tune_session_chance(session) < 0.05;
}
