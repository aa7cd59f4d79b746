/*
 * sample_time.h - when a sample ends.
 */
#ifndef ROOFLINE_SAMPLE_TIME_H
#define ROOFLINE_SAMPLE_TIME_H

#include "trace/profile.h"

static inline int64_t sample_end_ns(const struct profile_sample *sample)
{
	return sample->start_ns + (int64_t)sample->length_ns;
}

#endif
