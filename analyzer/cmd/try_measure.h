/*
 * try_measure.h - runs a program bare and with a strategy, in turn, and keeps what each run wrote.
 */
#ifndef ROOFLINE_TRY_MEASURE_H
#define ROOFLINE_TRY_MEASURE_H

#include <limits.h>

#include "cmd/quiet_run.h"
#include "cmd/try_options.h"
#include "trial/trial.h"

struct try_bench {
	const struct try_options *options;
	struct trial *trial;	/* borrowed */
	char library[PATH_MAX]; /* that is preloaded */
	char folder[64];	/* a temporary one: what processes reached */
	char reached[128];	/* the file in it of this run, to which processes add their ids */
	size_t run_count;	/* so far */
	bool is_tried;		/* this run has it */
	bool is_watched;	/* this run is bare, but for the library that takes times */
	char memory
		[128]; /* the file in the folder for hashes of memory of this run, to which processes add their ids; "" */
	int interrupted_by; /* a signal, or 0 */
};

/* Fails where the library is not there.  Closed with try_bench_close in both cases. */
int try_bench_open(struct try_bench *bench, const struct try_options *options, struct trial *trial,
		   struct err *err);
void try_bench_close(struct try_bench *bench);

/* All runs.  Fails with -EINTR where somebody interrupts us, and with -ECHILD where the program fails without a strategy. */
int try_bench_run(struct try_bench *bench, struct err *err);

/* Whether a run with the strategy has ended otherwise than bare ones: it is not run again. */
bool try_bench_has_ended_otherwise(const struct try_bench *bench);

/* One more run, of which nothing is kept but how it ended, in words: "" where it ended as it should. */
struct try_end {
	char text[512];
};
int try_bench_run_once(struct try_bench *bench, int side, struct try_end *end, struct err *err);

#endif
