/*
 * record_untraced.h - runs a recorded program again without recording it, for when it launches and waits then.
 */
#ifndef ROOFLINE_RECORD_UNTRACED_H
#define ROOFLINE_RECORD_UNTRACED_H

#include <sys/types.h>

#include "cmd/record_run.h"

/* After a run that was recorded into first->folder, and that ended well: so many more of first->program, whose calls go
 * there as well (try/calls.h).  input: where stdin began, negative where it cannot be rewound.  A run that fails is told in
 * one line and is the last one; then it returns false.  So is a library that cannot be preloaded, without any run.
 * Signals must be held. */
bool record_untraced(const struct record_run *first, unsigned count, off_t input);

#endif
