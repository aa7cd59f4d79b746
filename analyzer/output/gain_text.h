/*
 * gain_text.h - what a change is predicted to bring, in words: the same in the verdict, the plan and the advice.
 *
 * Where no recording tells what operations need of each other the low end comes first, as what to count on:
 * "1.56x, up to 6.05x".
 */
#ifndef ROOFLINE_GAIN_TEXT_H
#define ROOFLINE_GAIN_TEXT_H

#include "advice/gain.h"

struct gain_text {
	char text[160];
};

/* Of one part, without its interval: "2.71x". */
struct gain_text gain_text_short(const struct predicted_gain *gain, enum gain_part part);

/* With what it is of: "2.64x per step (2.23x to 2.94x)". */
struct gain_text gain_text_of(const struct predicted_gain *gain, enum gain_part part);

/* With its interval: "2.71x (2.14x to 3.17x)".  What rests on another assumption is "up to 2.71x". */
struct gain_text gain_text_interval(const struct predicted_gain *gain, enum gain_part part);

/* And what that is of the whole: "2.71x (2.14x to 3.17x) in the steady state, 1.09x of this run". */
struct gain_text gain_text_whole(const struct predicted_gain *gain, enum gain_part part);

#endif
