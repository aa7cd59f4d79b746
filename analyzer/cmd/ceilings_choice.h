/*
 * ceilings_choice.h - which stored ceilings fit a GPU.
 *
 * The file that was asked for; else the user's own of this GPU and driver, of
 * this GPU and another driver; then those that come with rooflinectl, likewise;
 * then the datasheet; then none.
 */
#ifndef ROOFLINE_CEILINGS_CHOICE_H
#define ROOFLINE_CEILINGS_CHOICE_H

#include <stddef.h>

#include "analysis/counters/ceilings.h"
#include "base/err.h"
#include "trace/profile.h"

struct ceilings_choice {
	struct ceilings *ceilings; /* owned; NULL when nothing is known of this GPU */
	char note[1024]; /* where they are from, for the report; no full stop at its end */
	struct err
		passed_over; /* the first file that would have fitted and cannot be used, or "" */
};

/*
 * For a device of a recording; path is the file asked for with --ceilings, or
 * NULL.  Fails (described in err) when that file cannot be read, or memory is
 * short; finding nothing is no failure.  ceilings_choice_close in any case.
 */
int ceilings_for(struct ceilings_choice *choice, const struct profile *profile,
		 const struct profile_device *device, const char *path, struct err *err);

/* The same for a GPU and driver by name; sm_count and sm_clock_khz are 0 when unknown. */
int ceilings_for_gpu(struct ceilings_choice *choice, const char *gpu, const char *driver,
		     uint32_t sm_count, uint32_t sm_clock_khz, const char *path, struct err *err);

void ceilings_choice_close(struct ceilings_choice *choice);

/* Where the user's file of that GPU and driver lies.  Fails with -ENOENT when the user has neither
 * XDG_DATA_HOME nor HOME, or -ENAMETOOLONG. */
int ceilings_user_path(char *buffer, size_t size, const char *gpu, const char *driver,
		       struct err *err);

#endif
