/*
 * comparison.h - a recording before a change and one after it: how much faster, and was that predicted.
 *
 * Pure.  Knows nothing of who predicted a speedup or how.
 */
#ifndef ROOFLINE_COMPARISON_H
#define ROOFLINE_COMPARISON_H

#include "base/sentences.h"
#include "trace/profile.h"

/* What is compared: one wall time, or the occurrences of a range. */
struct compared_time {
	uint64_t count;
	int64_t min_ns, max_ns;
	double mean_ns;
};

struct comparison {
	const struct profile *before_profile, *after_profile; /* borrowed */
	const char *range; /* borrowed; NULL: the whole run is compared */
	struct compared_time before, after;
	double before_share,
		after_share; /* of these times, without the recording overhead; 1: all */
	/* From the first kernel to the last one's end on any device, without the recording overhead, so without what
	 * the program does once before and after; 0 where a range is compared, or one has no kernel. */
	double before_kernels_ns, after_kernels_ns;
	double measured; /* speedup, before by after; 0 where a time of 0 makes it none */
	double measured_low,
		measured_high;	      /* of single occurrences; equal where there is one each */
	const char *strategy;	      /* borrowed; NULL where no advice was found */
	const char *advice;	      /* borrowed; its id, likewise */
	double predicted, low, high;  /* speedup; 0 where nothing was predicted */
	double error_ratio;	      /* (predicted - measured) / measured, where both are known */
	bool is_inside;		      /* low <= measured <= high */
	struct sentences differences; /* why it is not the same work; none when it is */
	struct sentences obstacles;   /* why the times are not the program's own */
	struct sentences warnings;    /* what to know besides */
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

/* Warns of what is missing in a recording, and so in its times: losses, its end, parts that were left out.
 * Returns 0 or -ENOMEM. */
int comparison_warn_of_missing(struct sentences *warnings, const struct profile *profile);

/* Whether predicted and measured speedup are both known. */
bool comparison_is_judged(const struct comparison *comparison);

/* Whether both did the same work and their times are their own. */
bool comparison_is_sound(const struct comparison *comparison);

void comparison_free(struct comparison *comparison);

#endif
