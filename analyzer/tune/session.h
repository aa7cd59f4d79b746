/*
 * session.h - a search from its first trial to the winner.
 *
 * Trials are measured once each.  Then the best few are measured again, taking turns, so that all of them meet the same
 * moods of the machine; their medians choose.  Knows no program: the caller measures.
 */
#ifndef ROOFLINE_TUNE_SESSION_H
#define ROOFLINE_TUNE_SESSION_H

#include <stdint.h>

#include "tune/search.h"

#define TUNE_MOST_FINALISTS 3
#define TUNE_MOST_REPEATS 100

/* Measures a point; round 0 is its trial, 1 and up its repeats.  Fills in all of trial but point, and seconds: what it
 * took.  Returns a negative errno to end the session. */
typedef int (*tune_measure)(void *context, unsigned int round, struct tune_trial *trial,
			    double *seconds, struct err *err);

struct tune_settings {
	const struct tune_search_kind *search;
	uint32_t seed;
	size_t most_trials;
	double most_seconds; /* of trials and repeats; 0: no limit */
	unsigned int repeats;
	double tolerance;   /* a point is the same as another within this, 0.01 for 1% */
	size_t first_point; /* to try first: the default; TUNE_NO_POINT: what the search says */
	const struct profile_device *device; /* may be filled in by the first trial; NULL: none */
	const double *least_value; /* see struct tune_task; may be filled in likewise; NULL: none */
};

struct tune_finalist {
	size_t point;
	double values[TUNE_MOST_REPEATS + 1]; /* its trial and its repeats, as measured */
	size_t count;
	double median; /* of the repeats; without any, of its trial */
};

struct tune_session {
	struct tune_history history;
	struct tune_finalist finalists[TUNE_MOST_FINALISTS]; /* the winner first */
	size_t finalist_count;				     /* 0: no trial worked */
	unsigned int rounds; /* in which all finalists were repeated */
	unsigned int won;    /* of these the winner was better than the second */
	double seconds;
	bool *is_impossible; /* by point, owned */
	size_t impossible_count;
	const char *why_impossible; /* of one of them */
	enum tune_end { TUNE_END_DONE, TUNE_END_TRIALS, TUNE_END_SECONDS } end;
};

/* Returns 0, or what measure returned; what was measured until then is there in either case.
 * The caller frees with tune_session_free. */
int tune_session_run(struct tune_session *session, const struct tune_space *space,
		     bool is_maximized, const struct tune_settings *settings, tune_measure measure,
		     void *context, struct err *err);
void tune_session_free(struct tune_session *session);

/* How likely the winner would win so many rounds of the second if both were alike: 0.03 for 5 of 5.  1 without rounds. */
double tune_session_chance(const struct tune_session *session);

/* Whether that is less than 5%. */
bool tune_session_is_separated(const struct tune_session *session);

#endif
