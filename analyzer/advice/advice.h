/*
 * advice.h - what would help, with the evidence for it.
 *
 * Each rule in rules/ looks at a report and adds at most a few recommendations.
 * A recommendation states what was measured and how much idle time is at stake,
 * an upper bound of what can be gained; where model/ can re-simulate the run with
 * the change, it also predicts the speedup.  Must not know any output format.
 */
#ifndef ROOFLINE_ADVICE_H
#define ROOFLINE_ADVICE_H

#include "advice/gain.h"
#include "analysis/report.h"

struct recommendation {
	const char *id;	      /* of the rule; stable, for programs */
	const char *strategy; /* what to change: a technique's id, or one word or two; stable */
	const char *title;    /* one line for people */
	size_t device;	      /* as profile->devices[] */
	char *target;	      /* what it is about, in words: the device, and its loop */
	char **evidence;      /* measured sentences */
	size_t evidence_count;
	const char *pattern;  /* a few lines of CUDA, newline separated */
	const char *risk;     /* what to watch when doing it */
	const char *workload; /* the bundled workload that shows it, or NULL */
	int64_t at_stake_ns;  /* time that this could remove at most */
	double at_stake_ratio; /* of the device's wall time; no gain is predicted beyond it, up to the high end */
	const char *
		part_of; /* id of the one that contains it, and that it was put before; NULL: of none */
	bool is_dropping; /* it only leaves calls out: little to do, and it leaves most to other changes */
	bool is_once;  /* it is about what happens once, beside what the program repeats */
	bool is_minor; /* what is predicted of the run and of what it repeats is less than runs on two machines differ by */
	bool is_at_roof; /* it is about kernels at their roof, which nothing else makes faster */
	bool is_unsure; /* it may also lose: all low ends are below 1, and what is expected where only the gain is assumed; or no
			 * recording tells whether there is anything to gain */
	const char *
		bound; /* the condition of a bound, which shows how much is left to gain, not how; else NULL */
	struct predicted_gain gain;
	double expected_speedup; /* of it, as gain_expected_speedup has it: what the order is by */
};

/* What was considered and is not recommended. */
struct rejection {
	const char *id, *strategy, *title; /* of the rule */
	char *target;			   /* owned */
	char *reason;			   /* owned */
};

/* A change that goes together with those before it. */
struct plan_step {
	const char *strategy;		/* a technique's id */
	const char *title;		/* of the rule */
	char *options;			/* owned; of whatif, for this step and those before it */
	struct predicted_gain together; /* of all of them, re-simulated together */
};

/* What to do next, and why. */
struct next_step {
	const char *id; /* of NEXT_STEPS (next/next.h); stable, for programs */
	char *command;	/* owned; can be pasted into a shell */
	char *why;	/* owned */
};

struct advice {
	/* Changes to what happens once follow the others, and a bound is last.  The greatest gain first, on the steady state or the whole run,
	 * whichever is more, or of the range that was asked for; then most at stake.  Of gains that are nearly the same the
	 * simplest to have, and before a change what it contains, where that brings most of the gain: see advice.c. */
	struct recommendation *items;
	size_t count;
	struct rejection *rejections; /* in the order of the rules */
	size_t rejection_count;
	struct plan_step *plan; /* on the device with most operations, the greatest gain first */
	size_t plan_count;
	enum gain_part plan_part; /* that all its steps are judged by: that of the first */
	struct next_step *next;	  /* the most useful first; none where the run is at its roof */
	size_t next_count;
};

/* What is surely to be done first: the first one, but neither what is about what happens once, nor what may lose, behind
 * which only what surely gains counts.  NULL: nothing is. */
const struct recommendation *advice_first(const struct advice *advice);

/* Where that is NULL: what may bring most of what a change is judged by (gain.h), if all that it assumes holds, but nothing that is
 * about what happens once.  NULL: nothing does. */
const struct recommendation *advice_perhaps(const struct advice *advice, bool has_range);

/* Runs every rule.  range: the NVTX range that predictions of a place are for; NULL: the loops that
 * change.  Fails with -ENOMEM only.  Texts may borrow from report: free advice first. */
int advice_find(struct advice **out, const struct report *report, const char *range,
		struct err *err);
void advice_free(struct advice *advice);

#endif
