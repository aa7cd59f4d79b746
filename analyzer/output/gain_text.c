#include "output/gain_text.h"

#include <stdio.h>

struct gain_text gain_text_short(const struct predicted_gain *gain, enum gain_part part)
{
	const struct predicted_speedup *predicted = gain_of_part(gain, part);
	struct gain_text out;

	if (gain->is_up_to)
		snprintf(out.text, sizeof(out.text), "%.2fx, up to %.2fx", predicted->low,
			 predicted->speedup);
	else
		snprintf(out.text, sizeof(out.text), "%.2fx", predicted->speedup);
	return out;
}

struct gain_text gain_text_of(const struct predicted_gain *gain, enum gain_part part)
{
	static const char *const parts[] = {[GAIN_PROGRAM] = "for the run",
					    [GAIN_STEADY] = "per step",
					    [GAIN_PLACE] = "in the range"};
	const struct predicted_speedup *predicted = gain_of_part(gain, part);
	struct gain_text out;

	snprintf(out.text, sizeof(out.text), "%s%.60s %s (%.2fx to %.2fx)",
		 gain->is_assuming && !gain->is_up_to ? "up to " : "",
		 gain_text_short(gain, part).text, parts[part], predicted->low, predicted->high);
	return out;
}

struct gain_text gain_text_interval(const struct predicted_gain *gain, enum gain_part part)
{
	const struct predicted_speedup *predicted = gain_of_part(gain, part);
	struct gain_text out;

	snprintf(out.text, sizeof(out.text), "%s%.60s (%.2fx to %.2fx)",
		 gain->is_assuming && !gain->is_up_to ? "up to " : "",
		 gain_text_short(gain, part).text, predicted->low, predicted->high);
	return out;
}

struct gain_text gain_text_whole(const struct predicted_gain *gain, enum gain_part part)
{
	struct gain_text interval = gain_text_interval(gain, part), out;

	if (part == GAIN_PROGRAM)
		snprintf(out.text, sizeof(out.text), "the whole run %.90s", interval.text);
	else if (part == GAIN_PLACE)
		snprintf(out.text, sizeof(out.text), "the range %.80s, %.40s of this run",
			 interval.text, gain_text_short(gain, GAIN_PROGRAM).text);
	else
		snprintf(out.text, sizeof(out.text), "%.80s in the steady state, %.40s of this run",
			 interval.text, gain_text_short(gain, GAIN_PROGRAM).text);
	return out;
}
