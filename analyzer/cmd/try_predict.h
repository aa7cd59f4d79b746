/*
 * try_predict.h - what was predicted for a strategy, beside what it brought.
 */
#ifndef ROOFLINE_TRY_PREDICT_H
#define ROOFLINE_TRY_PREDICT_H

#include "analysis/report.h"
#include "cmd/try_measure.h"

/* The recordings of the program, bare and with the strategy; NULL: there is none. */
struct try_recordings {
	struct report *reports[TRIAL_SIDES];
	char *paths[TRIAL_SIDES]; /* owned */
};

/* That of --trace, so that one that cannot be read is told before the program runs.  Returns 0 or a negative errno. */
int try_read_trace(struct try_recordings *recordings, const struct try_options *options,
		   struct err *err);

/* Makes the folders of --record, so that one that cannot be made, or holds a trial already, is told before the program runs.
 * Returns 0 or a negative errno. */
int try_make_folders(const struct try_options *options, struct err *err);

/* Those of --record: runs the program twice more.  What cannot be recorded is a note of the trial.  Fails with -EINTR and
 * -ENOMEM, and where the folders hold other recordings, with -EEXIST. */
int try_record(struct try_recordings *recordings, struct try_bench *bench, struct err *err);

/* Fills in trial->prediction from them; the trial has been judged.  Returns 0 or -ENOMEM. */
int try_predict(struct trial *trial, const struct try_recordings *recordings,
		const struct try_options *options, struct err *err);

void try_recordings_free(struct try_recordings *recordings);

#endif
