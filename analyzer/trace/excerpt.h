/*
 * excerpt.h - a part of the time of a recording, as a recording of its own.
 *
 * It has the rows of that time, those around it that tell what an idle device waited for at its ends, and whole what is of
 * no time: names, devices, counters, losses.  Facts in process.csv tell what was taken out of what (excerpt_*), and
 * reading it selects the same part again (profile_select.h), so that a report of it is that of the part of the whole one.
 */
#ifndef ROOFLINE_EXCERPT_H
#define ROOFLINE_EXCERPT_H

#include "trace/profile.h"

/* Writes the part of the recording at path to which the profile was reduced (profile_select), which told describes.  folder
 * is there and empty.  The runs with whole graphs and with samples are left out, as they are of another time. */
int excerpt_write(const struct profile *profile, const char *path, const char *told,
		  const char *folder, struct err *err);

/* Reduces a profile that was read of an excerpt to its part; others stay as they are.  Returns 0 or -ENOMEM. */
int excerpt_select(struct profile *profile);

#endif
