/*
 * untraced_launches.h - what recording added to launches, where the program also ran without (profile->untraced_calls).
 */
#ifndef ROOFLINE_UNTRACED_LAUNCHES_H
#define ROOFLINE_UNTRACED_LAUNCHES_H

#include "analysis/loops/submissions.h"
#include "trace/profile.h"

struct model;

/* What recording adds to launches of one kind: from the call to the next one of the thread, the mean without outliers. */
struct untraced_launch {
	uint32_t call_class; /* enum profile_call_class */
	uint32_t op_count;   /* operations that the call submits */
	int64_t added_ns;    /* 0: no more than the times of two runs differ */
};

struct untraced_launches {
	struct untraced_launch *items; /* owned; by class, then number of operations */
	size_t count;
	/* Owned; by call_names[]: what it adds to a call that is neither launch nor wait, of which the run without recording
	 * tells nothing but when the launch or wait before and after them was: the mean without outliers; negative: too few
	 * were seen.  NULL: none was. */
	int64_t *others_ns;
	/* Without recording, in a launch of one operation behind another launch, as long as no queue can be full: the median;
	 * 0: too few were seen. */
	int64_t launch_call_ns;
};

/* Nothing where there was no run without recording.  Of the model calls, operations, what each call waits for and when
 * counters were read.  Returns 0 or -ENOMEM; untraced_launches_free also after a failure. */
int untraced_launches_find(struct untraced_launches *out, const struct model *model);
void untraced_launches_free(struct untraced_launches *launches);

/* ns; negative: too few were seen to tell. */
int64_t untraced_added_ns(const struct untraced_launches *launches,
			  enum profile_call_class call_class, uint32_t op_count);

/* Likewise of a call that is neither launch nor wait: call_names[]. */
int64_t untraced_other_added_ns(const struct untraced_launches *launches, uint32_t call_name);

#endif
