/*
 * gain.h - what a change is predicted to bring, and which part of it the change is judged by.
 *
 * What goes on for hours a recording has for seconds, beside a start-up that is as long in both.  So a change is judged
 * by what it brings of the steady state, or of the whole run where it brings more of that.  Where an NVTX range is asked
 * for it is judged by what it brings there.
 */
#ifndef ROOFLINE_GAIN_H
#define ROOFLINE_GAIN_H

#include <stdbool.h>

struct prediction;

/* Predicted: time before by time after, with an interval; 0 where nothing is predicted. */
struct predicted_speedup {
	double speedup, low, high;
};

/* Of a change, or of several together. */
struct predicted_gain {
	struct predicted_speedup
		program; /* of the device's wall time, what it costs to set up included */
	struct predicted_speedup place; /* of the part that changes, set-up left out */
	struct predicted_speedup
		steady;	  /* of the device's steady state, likewise; 0 where it has none */
	bool is_up_to;	  /* its low end is told first, and the speedup as "up to" (technique.h) */
	bool is_assuming; /* it rests on what no recording tells */
	bool keeps_results; /* of such a one: its results stay right either way (technique.h) */
};

enum gain_part { GAIN_PROGRAM, GAIN_STEADY, GAIN_PLACE };

struct predicted_gain gain_of_prediction(const struct prediction *prediction);

enum gain_part gain_part_of(const struct predicted_gain *gain, bool has_range);
const struct predicted_speedup *gain_of_part(const struct predicted_gain *gain,
					     enum gain_part part);

/* Share of a time that a speedup takes away; 0 where it is none. */
double gain_saved_ratio(double speedup);

/* Whether what a part of a change saves is most of what all of it does: then the rest is a step of its own, which may not
 * be worth it any more. */
bool gain_is_most(double part_speedup, double whole_speedup);

/* Of the range that was asked for, else of the steady state or of the whole run, whichever is more; 0 where nothing is
 * predicted.  Where nobody knows whether an
 * assumption holds, at its low end, for the change may be wrong; where only its gain is not known, either end is as
 * likely: what both save in the mean. */
double gain_expected_speedup(const struct predicted_gain *gain, bool has_range);

/* The low end; where an assumption can cost nothing but the gain, what is expected of it. */
double gain_least_speedup(const struct predicted_gain *gain, enum gain_part part);

#endif
