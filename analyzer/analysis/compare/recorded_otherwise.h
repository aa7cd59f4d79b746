/*
 * recorded_otherwise.h - what runs otherwise while it is recorded, so that a comparison of two recordings tells less
 * than two runs without one.
 */
#ifndef ROOFLINE_RECORDED_OTHERWISE_H
#define ROOFLINE_RECORDED_OTHERWISE_H

#include "base/sentences.h"
#include "trace/profile.h"

/* A sentence for each such thing; -ENOMEM. */
int recorded_otherwise_warn(struct sentences *warnings, const struct profile *profile);

#endif
