/*
 * check_command.h - commands that go on from what was predicted: what following a recommendation
 * brought, and what it is that would change.
 */
#ifndef ROOFLINE_CHECK_COMMAND_H
#define ROOFLINE_CHECK_COMMAND_H

#include "whatif/scenario.h"
#include "output/outputs.h"

/* "rooflinectl verify --range run DIR AFTER --strategy ID", names quoted for a shell where they need it;
 * NULL when memory runs out.  range may be NULL.  The caller frees. */
char *check_command(const struct report *report, const struct recommendation *item,
		    const char *range);

/* "rooflinectl plot whatif --graph --range run DIR", likewise. */
char *picture_command(const struct scenario *scenario);

#endif
