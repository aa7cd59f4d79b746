/*
 * check_command.h - commands that go on from what was predicted: what following a recommendation
 * brought, what it would bring without a change of the source, and what it is that would change.
 */
#ifndef ROOFLINE_CHECK_COMMAND_H
#define ROOFLINE_CHECK_COMMAND_H

#include "whatif/scenario.h"
#include "output/outputs.h"

/* "rooflinectl verify --range run DIR AFTER --strategy ID", names quoted for a shell where they need it;
 * NULL when memory runs out.  range may be NULL.  The caller frees. */
char *check_command(const struct report *report, const struct recommendation *item,
		    const char *range);

/* Whether something does it to an unchanged program, and it is known what was run. */
bool can_be_tried(const struct report *report, const struct recommendation *item);

/* "rooflinectl try --graph -- PROGRAM ARGUMENT", with what was recorded; it must be possible.  NULL when memory runs out.
 * The caller frees. */
char *try_command(const struct report *report, const struct recommendation *item);

/* "rooflinectl plot whatif --graph --range run DIR", likewise. */
char *picture_command(const struct scenario *scenario);

#endif
