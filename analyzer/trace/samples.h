/*
 * samples.h - the samples of a profile, however many there are: one after the other, or any of them.
 *
 * So many as samples_in_memory are profile->samples[].  Of more only an index is in memory: the samples are in a file without
 * a name (sample_file.h), in the same order, and a cursor reads it block by block.  So a hundred million samples take
 * the memory of a million.
 *
 *	struct sample_cursor cursor = sample_cursor_open(profile);
 *
 *	for (size_t i = 0; i < device->sample_count; i++)
 *		add(sample_at(&cursor, device->first_sample + i));
 *	rc = sample_cursor_close(&cursor);
 */
#ifndef ROOFLINE_SAMPLES_H
#define ROOFLINE_SAMPLES_H

#include "trace/profile.h"

/* Most samples of a run that are kept in memory: 92 MB.  Smaller in tests. */
extern size_t samples_in_memory;

/* Reads samples; one for each that reads at the same time. */
struct sample_cursor {
	const struct profile *profile;
	const struct profile_sample
		*items; /* those that need no reading: of samples[], from first on */
	size_t first, count;
	size_t read_count;		  /* blocks that were read from the file */
	struct profile_sample *blocks[2]; /* owned; the last two that were read */
	size_t block_numbers[2];
	int last_slot;
	int rc; /* what went wrong */
};

struct sample_cursor sample_cursor_open(const struct profile *profile);

/* Frees what the cursor holds.  Returns 0, or -ENOMEM or -ENODATA when a sample could not be read: sample_at() has given one
 * with nothing in it instead. */
int sample_cursor_close(struct sample_cursor *cursor);
const char *samples_why(int rc); /* what these say: "out of memory" */

const struct profile_sample *sample_cursor_move(struct sample_cursor *cursor, size_t index);

/* Sample index of the profile; stays valid while only its neighbors are read. */
static inline const struct profile_sample *sample_at(struct sample_cursor *cursor, size_t index)
{
	if (index - cursor->first < cursor->count)
		return &cursor->items[index - cursor->first];
	return sample_cursor_move(cursor, index);
}

static inline int64_t sample_end_ns(const struct profile_sample *sample)
{
	return sample->start_ns + (int64_t)sample->length_ns;
}

enum sample_bound { SAMPLE_STARTS_FROM, SAMPLE_STARTS_AFTER, SAMPLE_ENDS_AFTER };

/* The first sample of a device that starts from that moment on, starts after it, or ends after it; the one behind its last
 * when there is none. */
size_t sample_search(struct sample_cursor *cursor, const struct profile_device *device,
		     enum sample_bound bound, int64_t ns);

#endif
