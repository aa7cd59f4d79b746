/* trial.c - what running a program with and without a strategy found. */
#include "trial/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- filling in ---- */

int trial_open(struct trial *trial, size_t repeats)
{
	for (int i = 0; i < TRIAL_SIDES; i++) {
		trial->sides[i].times_ns = calloc(repeats, sizeof(double));
		trial->runs[i].times_ns = calloc(repeats, sizeof(double));
		if (!trial->sides[i].times_ns || !trial->runs[i].times_ns)
			return -ENOMEM;
	}
	return 0;
}

struct trial_channel *trial_add_channel(struct trial *trial, const char *name, bool is_judged,
					size_t repeats)
{
	size_t size = (trial->channel_count + 1) * sizeof(*trial->channels);
	struct trial_channel *channels = realloc(trial->channels, size), *channel;

	if (!channels)
		return NULL;
	trial->channels = channels;
	channel = &channels[trial->channel_count];
	*channel = (struct trial_channel){.name = name, .is_judged = is_judged};
	trial->channel_count++;
	for (int i = 0; i < TRIAL_SIDES; i++) {
		channel->texts[i] = calloc(repeats, sizeof(*channel->texts[i]));
		if (!channel->texts[i])
			return NULL;
	}
	return channel;
}

/* The first one of all, which others share that are equal. */
static const struct trial_text *first_of(const struct trial_channel *channel)
{
	return &channel->texts[TRIAL_BARE][0];
}

static bool is_first(const struct trial_channel *channel, const struct trial_text *text)
{
	return text == first_of(channel);
}

void trial_add_text(struct trial_channel *channel, int side, struct trial_text *text)
{
	const struct trial_text *first = first_of(channel);
	struct trial_text *kept = &channel->texts[side][channel->counts[side]++];

	*kept = *text;
	*text = (struct trial_text){0};
	if (is_first(channel, kept) || !kept->bytes || !first->bytes ||
	    !trial_text_is_same(kept, first))
		return;
	free(kept->bytes);
	*kept = *first;
}

void trial_add_run(struct trial *trial, int side, double ns)
{
	struct trial_side *runs = &trial->runs[side];

	if (ns > 0)
		runs->times_ns[runs->count++] = ns;
}

/* ---- how much faster ---- */

static int by_value(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static int summarize(struct trial_side *side)
{
	size_t count = side->count;
	double *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	if (count) {
		memcpy(sorted, side->times_ns, count * sizeof(*sorted));
		qsort(sorted, count, sizeof(*sorted), by_value);
		side->min_ns = sorted[0];
		side->max_ns = sorted[count - 1];
		side->median_ns = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	}
	free(sorted);
	return 0;
}

static struct trial_ratio ratio_of(const struct trial_side *sides)
{
	const struct trial_side *bare = &sides[TRIAL_BARE], *tried = &sides[TRIAL_TRIED];

	if (!(bare->min_ns > 0 && tried->min_ns > 0))
		return (struct trial_ratio){0};
	return (struct trial_ratio){.speedup = bare->median_ns / tried->median_ns,
				    .low = bare->min_ns / tried->max_ns,
				    .high = bare->max_ns / tried->min_ns};
}

static void measure(struct trial *trial)
{
	trial->measured = ratio_of(trial->sides);
	trial->run = ratio_of(trial->runs);
	trial->is_noise = trial->measured.low <= 1 && trial->measured.high >= 1;
}

/* ---- whether the results are equal ---- */

static int compare_channel(struct trial_channel *channel)
{
	int rc = 0;

	if (channel->counts[TRIAL_BARE] && channel->counts[TRIAL_TRIED])
		rc = trial_compare(&channel->difference, channel->texts[TRIAL_BARE],
				   channel->counts[TRIAL_BARE], channel->texts[TRIAL_TRIED],
				   channel->counts[TRIAL_TRIED]);
	if (channel->is_missing)
		channel->difference.match = TRIAL_DIFFERENT;
	return rc;
}

/* That nothing differs where nothing is written tells nothing. */
static bool is_something(const struct trial_channel *channel)
{
	return first_of(channel)->length > 0 || channel->difference.match == TRIAL_DIFFERENT;
}

static int compare(struct trial *trial)
{
	const struct trial_side *bare = &trial->sides[TRIAL_BARE];
	const struct trial_side *tried = &trial->sides[TRIAL_TRIED];
	bool is_known = false;
	int rc = 0;

	trial->results = TRIAL_EQUAL;
	for (size_t i = 0; rc == 0 && i < trial->channel_count; i++) {
		struct trial_channel *channel = &trial->channels[i];

		rc = compare_channel(channel);
		if (channel->is_judged && channel->difference.match > trial->results)
			trial->results = channel->difference.match;
		is_known |= channel->is_judged && is_something(channel);
	}
	if (!is_known)
		trial->results = TRIAL_UNKNOWN;
	trial->has_equal_ends = bare->status == tried->status && !tried->is_timed_out;
	if (!trial->has_equal_ends)
		trial->results = TRIAL_DIFFERENT;
	return rc;
}

int trial_judge(struct trial *trial)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < TRIAL_SIDES; i++)
		rc = summarize(&trial->sides[i]) < 0 ? -ENOMEM : summarize(&trial->runs[i]);
	if (rc == 0)
		rc = compare(trial);
	if (rc == 0 && trial->has_equal_ends)
		measure(trial);
	return rc;
}

/* ---- the end ---- */

static void free_channel(struct trial_channel *channel)
{
	const struct trial_text first =
		channel->texts[TRIAL_BARE] ? *first_of(channel) : (struct trial_text){0};

	for (int side = 0; side < TRIAL_SIDES; side++) {
		for (size_t i = 0; channel->texts[side] && i < channel->counts[side]; i++)
			if (channel->texts[side][i].bytes != first.bytes)
				free(channel->texts[side][i].bytes);
		free(channel->texts[side]);
	}
	free(first.bytes);
	trial_difference_free(&channel->difference);
}

void trial_free(struct trial *trial)
{
	for (size_t i = 0; i < trial->channel_count; i++)
		free_channel(&trial->channels[i]);
	free(trial->channels);
	for (int i = 0; i < TRIAL_SIDES; i++) {
		free(trial->sides[i].times_ns);
		free(trial->runs[i].times_ns);
	}
	trial_reach_free(&trial->reach);
	free(trial->prediction.techniques);
	free(trial->prediction.why_not);
	sentences_free(&trial->notes);
}
