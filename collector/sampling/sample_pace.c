#include "sampling/sample_pace.h"

/* Of the interval, what decoding may take for sampling to go on without end. */
#define PACE_SHARE 0.8
/* From here on it falls behind, or will with the next disturbance. */
#define BEHIND_SHARE 0.95

/* A busy GPU's samples took up to 1.5 times as long as an idle one's: docs/results/sampling.txt, where the line on
 * what decoding takes up to has this factor in it already, and sampling-before.txt, where it has not; of four sets of
 * metrics each. */
#define BUSY_TIMES 1.5

double sample_pace_busy_ns(double idle_decode_ns)
{
	return BUSY_TIMES * idle_decode_ns;
}

bool sample_pace_keeps_up(double decode_ns, int64_t interval_ns)
{
	return decode_ns <= PACE_SHARE * (double)interval_ns;
}

int64_t sample_pace_finest(double decode_ns)
{
	double wanted_ns = decode_ns / PACE_SHARE;
	int64_t unit_ns = 1, interval_ns;

	while (wanted_ns > 100.0 * (double)unit_ns)
		unit_ns *= 10;
	interval_ns = (int64_t)(wanted_ns / (double)unit_ns) * unit_ns;
	return (double)interval_ns < wanted_ns ? interval_ns + unit_ns : interval_ns;
}

void sample_pace_begin(struct sample_pace *pace, int64_t interval_ns)
{
	pace->interval_ns = interval_ns;
	pace->decode_count = 0;
	pace->slow_count = 0;
}

void sample_pace_note(struct sample_pace *pace, size_t sample_count, int64_t busy_ns, bool is_full)
{
	double cost_ns;

	if (!sample_count)
		return;
	cost_ns = (double)busy_ns / (double)sample_count;
	pace->cost_ns[pace->decode_count++ % PACE_DECODINGS] = cost_ns;
	if (cost_ns < BEHIND_SHARE * (double)pace->interval_ns)
		pace->slow_count = 0;
	else
		pace->slow_count += is_full ? PACE_DECODINGS : 1;
}

/* Into the order of their size; there are few. */
static void insert(double *sorted, size_t count, double value)
{
	while (count > 0 && sorted[count - 1] > value) {
		sorted[count] = sorted[count - 1];
		count--;
	}
	sorted[count] = value;
}

double sample_pace_decode_ns(const struct sample_pace *pace)
{
	size_t count = pace->decode_count < PACE_DECODINGS ? pace->decode_count : PACE_DECODINGS;
	double sorted[PACE_DECODINGS] = {0};

	for (size_t i = 0; i < count; i++)
		insert(sorted, i, pace->cost_ns[i]);
	return count ? sorted[(count - 1) / 2] : 0;
}

bool sample_pace_is_behind(const struct sample_pace *pace)
{
	return pace->slow_count >= PACE_DECODINGS &&
	       !sample_pace_keeps_up(sample_pace_decode_ns(pace), pace->interval_ns);
}

int64_t sample_pace_after_overflow(struct sample_pace *pace)
{
	double decode_ns = sample_pace_decode_ns(pace);

	if (!sample_pace_keeps_up(decode_ns, pace->interval_ns))
		return sample_pace_finest(decode_ns);
	return pace->overflow_count++ ? 2 * pace->interval_ns : pace->interval_ns;
}
