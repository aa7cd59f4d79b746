/*
 * comparison.h - a recording before a change and one after it: how much faster, and was that predicted.
 *
 * Compared are the runs, or an NVTX range; beside the runs what repeats in each, iteration by iteration.
 *
 * Pure.  Knows nothing of who predicted a speedup or how.
 */
#ifndef ROOFLINE_COMPARISON_H
#define ROOFLINE_COMPARISON_H

#include "analysis/compare/jit_return.h"
#include "analysis/compare/traffic_change.h"
#include "base/sentences.h"
#include "trace/profile.h"

/* What is compared: one wall time, or the occurrences of a range. */
struct compared_time {
	uint64_t count;
	int64_t min_ns, max_ns;
	double mean_ns;
};

/* Recordings of one side, of which that with the median time is compared. */
struct compared_repeats {
	size_t count;
	double low_ns,
		high_ns; /* the least and the greatest of their times; 0 for both where there is one */
};

/* What one of them repeats (analysis/time/steady_state.h). */
struct compared_side {
	uint64_t count;	    /* iterations, with those of warm-up; 0: nothing repeats */
	uint64_t run_count; /* times that the loop runs, with other work in between */
	uint64_t
		row_count; /* iterations in a row that do the work of one of the other, or as many */
	double row_ns;	   /* of such a row, the median of all, as recorded */
	double share;	   /* of that time, without the recording overhead */
};

/* A measured speedup beside a predicted one; both 0 where they are not known. */
struct compared_speedup {
	double measured;
	double predicted, low, high;
	double error_ratio; /* (predicted - measured) / measured, where both are known */
	bool is_inside;	    /* low <= measured <= high */
};

/* Of what the runs repeat. */
struct compared_steady {
	struct compared_side before, after;
	struct compared_speedup speedup;
};

struct comparison {
	const struct profile *before_profile, *after_profile; /* borrowed */
	const char *range; /* borrowed; NULL: the whole run is compared */
	struct compared_time before, after;
	struct compared_repeats before_repeats, after_repeats;
	double before_share,
		after_share; /* of these times, without the recording overhead; 1: all */
	bool before_is_measured, after_is_measured; /* that share, in a run without recording */
	/* From the first kernel to the last one's end on any device, without the recording overhead, so without what
	 * the program does once before and after; 0 where a range is compared, or one has no kernel. */
	double before_kernels_ns, after_kernels_ns;
	double measured; /* speedup, before by after; 0 where a time of 0 makes it none */
	double measured_low,
		measured_high; /* of repeats, else of single occurrences; equal where there is one each */
	const char *strategy;	       /* borrowed; NULL where no advice was found */
	const char *advice;	       /* borrowed; its id, likewise */
	double predicted, low, high;   /* speedup; 0 where nothing was predicted */
	double error_ratio;	       /* (predicted - measured) / measured, where both are known */
	bool is_inside;		       /* low <= measured <= high */
	bool is_up_to;		       /* the low end of what was predicted leads (technique.h) */
	struct compared_steady steady; /* all 0 where a range is compared */
	bool is_about_steady;	       /* the advice is judged by the steady state */
	struct jit_return jit; /* of the whole runs; all 0 where nothing was compiled at run time */
	struct traffic_change traffic; /* likewise; all 0 where counters do not tell */
	struct sentences differences;  /* why it is not the same work; none when it is */
	struct sentences obstacles;    /* why the times are not the program's own */
	struct sentences warnings;     /* what to know besides */
};

/*
 * Compares the time from the first operation's start to the last one's end on
 * any device, or that of an NVTX range.  An occurrence of a range lasts until
 * the last operation that was launched in it has ended, and begins when the one
 * before it on the same thread has ended where that is later: the occurrences
 * of a loop that runs ahead of the GPU follow one another.  Fails, described in
 * err, with -ENOENT when a recording has no such range, -ENODATA when one has no
 * operation, or -ENOMEM.  The caller frees with comparison_free.
 */
int comparison_make(struct comparison **out, const struct profile *before,
		    const struct profile *after, const char *range, struct err *err);

/* Tells that the profiles are each one of several repeats. */
void comparison_set_repeats(struct comparison *comparison, const struct compared_repeats *before,
			    const struct compared_repeats *after);

/* The time of one recording that comparison_make() compares; fails as that does. */
int comparison_time(struct compared_time *out, const struct profile *profile, const char *range,
		    struct err *err);

/* Removes the recording overhead from the measured speedup: of each side the share that is left, 1 where that is not
 * known.  Then hardware counters that were read are an obstacle.  Returns 0 or -ENOMEM. */
int comparison_without_recording(struct comparison *comparison, double before_share,
				 double after_share);

/* And from the time from kernel to kernel. */
void comparison_kernels_without_recording(struct comparison *comparison, double before_share,
					  double after_share);

/* Compares the measured speedup with a prediction, whose texts are borrowed; 0 is none. */
void comparison_predict(struct comparison *comparison, const char *advice, const char *strategy,
			double predicted, double low, double high);

/* Which iterations of both do the same work, into row_count: one each where there are as many of them, but for a tenth
 * that belong to no loop; where several of one make one of the other, that many.  0 for both where nobody knows: where
 * that is no whole number, or the whole loop of one does the work of an iteration of the other, of which what lies between
 * its runs is part as well. */
void comparison_match_rows(struct compared_side *before, struct compared_side *after);

/* Compares what the runs repeat. */
void comparison_add_steady(struct comparison *comparison, const struct compared_side *before,
			   const struct compared_side *after);

/* Likewise with a prediction of it. */
void comparison_predict_steady(struct comparison *comparison, double predicted, double low,
			       double high);

/* Warns of what is missing in a recording, and so in its times: losses, its end, parts that were left out.
 * Returns 0 or -ENOMEM. */
int comparison_warn_of_missing(struct sentences *warnings, const struct profile *profile);

/* Whether hardware counters were read while it was recorded, which makes its times longer. */
bool comparison_is_counted(const struct profile *profile);

/* Whether predicted and measured speedup are both known, of the run or the range. */
bool comparison_is_judged(const struct comparison *comparison);

/* And of the steady state. */
bool comparison_is_steady_judged(const struct comparison *comparison);

/* Whether that is what the advice is judged by and it was compared: else by the run or the range. */
bool comparison_is_by_steady(const struct comparison *comparison);

/* Whether there is something to judge the prediction by, and whether the measured speedup lies inside the interval. */
bool comparison_can_judge(const struct comparison *comparison);
bool comparison_is_met(const struct comparison *comparison);

/* Whether both did the same work and their times are their own. */
bool comparison_is_sound(const struct comparison *comparison);

void comparison_free(struct comparison *comparison);

#endif
