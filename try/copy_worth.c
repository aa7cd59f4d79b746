/* copy_worth.c - whether copies through pinned memory pay. */
#include "copy_worth.h"

#include <pthread.h>

#include "latest.h"
#include "process.h"
#include "staging.h"

enum {
	LEFT_PART = 4,		   /* of a copy, one of so many, */
	LEFT_MOST_BYTES = 8 << 20, /* and no more than that */
	SAMPLES_LEAST = 3,
	BETWEEN = 31, /* copies without, once there are enough samples; then fewer and fewer */
	BETWEEN_MOST = 511,
	GAIN_LEAST_PERCENT =
		10 /* what the driver copies here is short, so that its start counts for more */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct direction {
	struct latest ratios; /* of the time through pinned memory to that of the driver */
	unsigned copies, between;
	bool has_begun; /* the first copy is not compared: threads and memory are made for it */
	bool is_over;
} directions[2];

size_t copy_worth_left(bool is_to_host, size_t bytes)
{
	struct direction *direction = &directions[is_to_host];
	size_t left = bytes / LEFT_PART;
	bool is_due;

	if (process_is_stubborn())
		return 0;
	pthread_mutex_lock(&lock);
	is_due = direction->has_begun && (direction->ratios.count < SAMPLES_LEAST ||
					  ++direction->copies > direction->between);
	direction->has_begun = true;
	pthread_mutex_unlock(&lock);
	if (!is_due)
		return 0;
	left = left < LEFT_MOST_BYTES ? left : LEFT_MOST_BYTES;
	left -= left % STAGING_PIECE_BYTES;
	return left ? left : bytes > STAGING_PIECE_BYTES ? STAGING_PIECE_BYTES : 0;
}

bool copy_worth_note(bool is_to_host, double staged_ns_per_byte, double passed_ns_per_byte)
{
	struct direction *direction = &directions[is_to_host];
	bool was_over, is_over;

	pthread_mutex_lock(&lock);
	was_over = direction->is_over;
	latest_add(&direction->ratios, staged_ns_per_byte / passed_ns_per_byte);
	direction->copies = 0;
	if (direction->ratios.count >= SAMPLES_LEAST && direction->between < BETWEEN_MOST)
		direction->between = direction->between ? 2 * direction->between + 1 : BETWEEN;
	if (direction->ratios.count >= SAMPLES_LEAST &&
	    latest_median(&direction->ratios) * 100 > 100 - GAIN_LEAST_PERCENT)
		direction->is_over = true;
	is_over = direction->is_over;
	pthread_mutex_unlock(&lock);
	return is_over && !was_over;
}

bool copy_worth_pays(bool is_to_host)
{
	return !__atomic_load_n(&directions[is_to_host].is_over, __ATOMIC_RELAXED);
}
