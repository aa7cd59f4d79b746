/*
 * advice.h - what would help, with the evidence for it.
 *
 * Each rule in rules/ looks at a report and adds at most a few recommendations.
 * A recommendation states what was measured and how much idle time is at stake;
 * that is an upper bound of what can be gained and not a prediction.  Must not
 * know any output format.
 */
#ifndef ROOFLINE_ADVICE_H
#define ROOFLINE_ADVICE_H

#include "analysis/report.h"

struct recommendation {
	const char *id;	      /* of the rule; stable, for programs */
	const char *strategy; /* what to change, one word or two; stable */
	const char *title;    /* one line for people */
	char *target;	      /* what it is about: device, thread, kernel */
	char **evidence;      /* measured sentences */
	size_t evidence_count;
	const char *pattern;   /* a few lines of CUDA, newline separated */
	const char *risk;      /* what to watch when doing it */
	const char *workload;  /* the bundled workload that shows it, or NULL */
	int64_t at_stake_ns;   /* time that this could remove at most */
	double at_stake_ratio; /* of the device's wall time */
};

struct advice {
	struct recommendation *items; /* most at stake first */
	size_t count;
};

/* Runs every rule.  Fails with -ENOMEM only.  Texts may borrow from report: free advice first. */
int advice_find(struct advice **out, const struct report *report, struct err *err);
void advice_free(struct advice *advice);

#endif
