/*
 * trial.h - what running a program with and without a strategy found.
 *
 * Filled in by `rooflinectl try`; trial_judge() then says how much faster it was and whether the results were equal.
 */
#ifndef ROOFLINE_TRIAL_H
#define ROOFLINE_TRIAL_H

#include "base/sentences.h"
#include "trial/difference.h"
#include "trial/reach.h"

#define TRIAL_MOST_REPEATS 1000

/* Runs without a strategy, or with it. */
struct trial_side {
	double *times_ns; /* owned; of each run, in their order */
	uint64_t count;
	int status; /* as wait(2) tells it: of the first run, or of one that ended otherwise */
	bool is_timed_out;
	char end[512]; /* how a run ended that ended otherwise than bare ones; "" */
	double median_ns, min_ns, max_ns; /* by trial_judge */
};

/* What is compared of the runs: stdout, stderr, or a file. */
struct trial_channel {
	const char *name; /* borrowed */
	bool is_judged;	  /* what differs here makes the results differ */
	bool is_missing;  /* a run with the strategy did not write it, while bare ones did */
	struct trial_text *texts[2]; /* owned; of runs without the strategy, and with it */
	size_t counts[2];
	struct trial_difference difference;
};

enum { TRIAL_BARE, TRIAL_TRIED, TRIAL_SIDES };

struct trial_ratio {
	double speedup, low, high; /* 0: not known */
};

/* What was predicted for the techniques of the strategy, from a recording of the program without it. */
struct trial_prediction {
	const char *recording; /* borrowed; NULL: there is none */
	char *techniques;      /* owned; their ids, by commas; NULL: none can be predicted */
	char *why_not;	       /* owned; NULL: it is predicted */
	bool is_up_to;	       /* the low end is told first */
	struct trial_ratio process, run, steady;
	/* Of recordings of both, without what recording added; 0: not known. */
	double run_measured, steady_measured;
};

struct trial {
	const char *command;	/* borrowed; words of a shell */
	const char *strategies; /* borrowed; "graph,pool", as ROOFLINE_TRY has it */
	struct trial_side sides[TRIAL_SIDES];
	/* Times alone, of other bare runs and of the same tried ones: from the first launch to the end of the last wait, as
	 * the library took them.  None where it saw no launch. */
	struct trial_side runs[TRIAL_SIDES];
	struct trial_channel *channels; /* owned */
	size_t channel_count;
	struct trial_reach reach; /* of the last run with the strategy */
	struct trial_prediction prediction;
	const char *keep;	/* borrowed; the command line that has the strategy */
	struct sentences notes; /* what to know besides */
	/* by trial_judge */
	struct trial_ratio measured; /* of the process; low and high: of single runs */
	struct trial_ratio run;	     /* the same from the first launch to the last wait */
	enum trial_match results;
	bool is_noise;	     /* times of both sides overlap */
	bool has_equal_ends; /* exit codes, or signals */
};

/* Room for the runs and the channels that are added.  Returns 0 or -ENOMEM. */
int trial_open(struct trial *trial, size_t repeats);
struct trial_channel *trial_add_channel(struct trial *trial, const char *name, bool is_judged,
					size_t repeats);

/* Takes the text, also when it fails.  One that is as the first of all is not kept twice. */
void trial_add_text(struct trial_channel *channel, int side, struct trial_text *text);

/* A time from the first launch to the last wait; at most as many for a side as repeats were opened for. */
void trial_add_run(struct trial *trial, int side, double ns);

/* How much faster, and whether the results are equal.  Returns 0 or -ENOMEM. */
int trial_judge(struct trial *trial);

void trial_free(struct trial *trial);

#endif
