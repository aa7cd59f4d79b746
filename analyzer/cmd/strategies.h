/*
 * strategies.h - the options that name strategies, taken alike by all commands that re-simulate a run.
 *
 * A command names strategies_argp as a child of its own parser and hands it its struct strategies in
 * ARGP_KEY_INIT.
 */
#ifndef ROOFLINE_STRATEGIES_H
#define ROOFLINE_STRATEGIES_H

#include <argp.h>

#include "advice/scenario.h"

extern const struct argp strategies_argp;

/* At ARGP_KEY_END: ends the program with usage_fail where none was named. */
void strategies_require(const struct strategies *strategies, struct argp_state *state);

#endif
