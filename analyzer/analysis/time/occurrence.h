/*
 * occurrence.h - when the N-th NVTX range or kernel of a name, or the N-th iteration, ran.
 *
 * Pure; knows nothing of what is done with that time.
 */
#ifndef ROOFLINE_OCCURRENCE_H
#define ROOFLINE_OCCURRENCE_H

#include "trace/profile.h"

struct occurrence {
	const char *name;	     /* borrowed from the profile */
	bool is_range, is_iteration; /* neither: a kernel */
	uint64_t number, count;	     /* the number-th of count, from 1, by start on any device */
	int64_t start_ns, end_ns;
	const char *
		within; /* of an iteration the innermost NVTX range that all of it was launched in; NULL: none, borrowed */
};

/* Whether a kernel has that name, demangled or in a form that a report prints, whatever its width. */
bool occurrence_is_kernel_called(const struct profile *profile, const char *name,
				 const char *wanted);

/*
 * Finds what NAME or NAME:N names, N from 1 and the first by default.  The name is looked for as
 * that of a range (or as `domain: name`), then of a kernel (demangled, or as reports print it), then as a part of a
 * range's name and of a kernel's, where only one has it; digits only as a whole number in it.  A name that itself ends in :N wins over
 * that meaning.  `iteration:N` is the N-th iteration of the steady state (iteration.h) unless a range or kernel is
 * called `iteration`.  A range lasts until the last operation that was launched in it has ended: kernels
 * run after the call that launches them.  Fails with -ENOENT, described in err, when there is no
 * such thing, or not so many.
 */
int occurrence_find(struct occurrence *out, const struct profile *profile, const char *what,
		    struct err *err);

/* The whole name of the NVTX range that is called wanted, as above but for :N: all of its occurrences are meant.  *name
 * stays the profile's; NULL where no range has it.  Fails with -ENOENT, described in err, where several have it as a part. */
int occurrence_range(const char **name, const struct profile *profile, const char *wanted,
		     struct err *err);

#endif
