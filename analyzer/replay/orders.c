#include "replay/orders.h"

#include <errno.h>
#include <stdlib.h>

#include "base/radix.h"
#include "base/search.h"

/* A moment as two keys, the first the less significant. */
static uint32_t low_key(int64_t ns)
{
	return (uint32_t)(uint64_t)ns;
}

static uint32_t high_key(int64_t ns)
{
	return (uint32_t)((uint64_t)ns >> 32) ^ 0x80000000U;
}

static uint32_t call_low(uint32_t index, const void *context)
{
	return low_key(((const struct profile *)context)->calls[index].start_ns);
}

static uint32_t call_high(uint32_t index, const void *context)
{
	return high_key(((const struct profile *)context)->calls[index].start_ns);
}

static uint32_t end_low(uint32_t index, const void *context)
{
	return low_key(((const struct profile *)context)->ops[index].end_ns);
}

static uint32_t end_high(uint32_t index, const void *context)
{
	return high_key(((const struct profile *)context)->ops[index].end_ns);
}

static bool is_before(const struct profile *profile, size_t left, size_t right, radix_key low,
		      radix_key high)
{
	uint32_t left_high = high((uint32_t)left, profile), right_high;

	right_high = high((uint32_t)right, profile);
	return left_high < right_high ||
	       (left_high == right_high &&
		low((uint32_t)left, profile) <= low((uint32_t)right, profile));
}

/* Indexes 0 to count by a moment; NULL where they are in that order, as those of one thread are.  Returns 0 or -ENOMEM. */
static int order_by(uint32_t **order, const struct profile *profile, size_t count, radix_key low,
		    radix_key high)
{
	uint32_t *scratch;
	size_t sorted_count = 1;

	*order = NULL;
	while (sorted_count < count &&
	       is_before(profile, sorted_count - 1, sorted_count, low, high))
		sorted_count++;
	if (sorted_count >= count)
		return 0;
	*order = malloc(count * sizeof(**order));
	scratch = malloc(count * sizeof(*scratch));
	if (*order && scratch) {
		for (size_t i = 0; i < count; i++)
			(*order)[i] = (uint32_t)i;
		radix_sort(*order, scratch, count, low, profile);
		radix_sort(*order, scratch, count, high, profile);
	}
	free(scratch);
	return *order && scratch ? 0 : -ENOMEM;
}

int order_of_calls(uint32_t **order, const struct profile *profile)
{
	return order_by(order, profile, profile->call_count, call_low, call_high);
}

/* ---- operations by end ---- */

int ends_open(struct ends *ends, const struct profile *profile)
{
	*ends = (struct ends){.profile = profile};
	return order_by(&ends->order, profile, profile->op_count, end_low, end_high);
}

void ends_close(struct ends *ends)
{
	free(ends->order);
	*ends = (struct ends){0};
}

static uint32_t op_at(const struct ends *ends, size_t i)
{
	return ends->order ? ends->order[i] : (uint32_t)i;
}

static bool has_ended(const struct ends *ends, size_t i, int64_t moment_ns)
{
	return ends->profile->ops[op_at(ends, i)].end_ns <= moment_ns;
}

struct end_moment {
	const struct ends *ends;
	int64_t ns;
};

static bool is_running(size_t index, const void *context)
{
	const struct end_moment *moment = context;

	return !has_ended(moment->ends, index, moment->ns);
}

/* How many of them had ended by then: in growing steps from the last answer on. */
static size_t ended_by(struct ends *ends, int64_t moment_ns)
{
	size_t count = ends->profile->op_count, low = ends->last, high = low, step = 1;

	for (; high < count && has_ended(ends, high, moment_ns); step *= 2) {
		low = high + 1;
		high = count - high > step ? high + step : count;
	}
	for (; low > 0 && !has_ended(ends, low - 1, moment_ns); step *= 2) {
		high = low - 1;
		low = low > step ? low - step : 0;
	}
	ends->last = search_first(low, high, is_running, &(struct end_moment){ends, moment_ns});
	return ends->last;
}

uint32_t ends_last(struct ends *ends, uint32_t process, uint32_t not_stream, int64_t moment_ns,
		   int64_t submitted_before_ns)
{
	const struct profile *profile = ends->profile;
	size_t from = ended_by(ends, moment_ns), least = from > LOOK_BACK ? from - LOOK_BACK : 0;

	for (size_t i = from; i-- > least;) {
		const struct profile_op *op = &profile->ops[op_at(ends, i)];

		if (op->call != PROFILE_NONE && op->stream != not_stream &&
		    profile_op_process(profile, op) == process &&
		    profile->calls[op->call].start_ns < submitted_before_ns)
			return op_at(ends, i);
	}
	return PROFILE_NONE;
}
