#include "advice/gain.h"

#include <math.h>

#include "replay/prediction.h"

static struct predicted_speedup speedup_of(const struct predicted_ratio *ratio)
{
	return (struct predicted_speedup){ratio->speedup, ratio->low, ratio->high};
}

struct predicted_gain gain_of_prediction(const struct prediction *prediction)
{
	return (struct predicted_gain){.program = speedup_of(&prediction->program),
				       .place = speedup_of(&prediction->place),
				       .steady = speedup_of(&prediction->steady)};
}

enum gain_part gain_part_of(const struct predicted_gain *gain, bool has_range)
{
	if (has_range)
		return GAIN_PLACE;
	return gain->steady.speedup > gain->program.speedup ? GAIN_STEADY : GAIN_PROGRAM;
}

const struct predicted_speedup *gain_of_part(const struct predicted_gain *gain, enum gain_part part)
{
	switch (part) {
	case GAIN_PLACE:
		return &gain->place;
	case GAIN_STEADY:
		return &gain->steady;
	default:
		return &gain->program;
	}
}

double gain_saved_ratio(double speedup)
{
	return speedup > 1 ? 1 - 1 / speedup : 0;
}

/* What may bring nothing costs the work of making it: as much as a prediction may be off, so that what is sure to bring
 * as much goes first. */
static double low_for_order(double low)
{
	return low > 1 ? low : fmin(low, 1 / (1 + MODEL_MARGIN));
}

#define MOST_OF_IT 0.5

bool gain_is_most(double part_speedup, double whole_speedup)
{
	return part_speedup > 1 &&
	       gain_saved_ratio(part_speedup) >= MOST_OF_IT * gain_saved_ratio(whole_speedup);
}

static double expected_of(const struct predicted_gain *gain,
			  const struct predicted_speedup *predicted)
{
	if (!gain->is_assuming)
		return predicted->speedup;
	return gain->keeps_results && predicted->low > 0
		       ? 2 / (1 / low_for_order(predicted->low) + 1 / predicted->speedup)
		       : predicted->low;
}

double gain_expected_speedup(const struct predicted_gain *gain, bool has_range)
{
	if (has_range)
		return expected_of(gain, &gain->place);
	return fmax(expected_of(gain, &gain->program), expected_of(gain, &gain->steady));
}

double gain_least_speedup(const struct predicted_gain *gain, enum gain_part part)
{
	const struct predicted_speedup *predicted = gain_of_part(gain, part);

	return gain->is_assuming && gain->keeps_results ? expected_of(gain, predicted)
							: predicted->low;
}
