/*
 * check_command.h - the command that holds a recommendation against what following it brought.
 */
#ifndef ROOFLINE_CHECK_COMMAND_H
#define ROOFLINE_CHECK_COMMAND_H

#include "output/outputs.h"

/* "rooflinectl verify --range run DIR AFTER --strategy ID", names quoted for a shell where they need it;
 * NULL when memory runs out.  range may be NULL.  The caller frees. */
char *check_command(const struct report *report, const struct recommendation *item,
		    const char *range);

#endif
