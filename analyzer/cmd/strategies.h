/*
 * strategies.h - the options that name strategies, taken alike by all commands that re-simulate a run.
 *
 * A command names strategies_argp as a child of its own parser and hands it its struct strategies in
 * ARGP_KEY_INIT, and parses ARGP_IN_ORDER: else nothing tells what stood before an argument.
 */
#ifndef ROOFLINE_STRATEGIES_H
#define ROOFLINE_STRATEGIES_H

#include <argp.h>
#include <stdbool.h>

#include "whatif/scenario.h"

extern const struct argp strategies_argp;

/* At ARGP_KEY_END: ends the program with usage_fail where none was named. */
void strategies_require(const struct strategies *strategies, struct argp_state *state);

/* What a usage error goes on with ("; for a range write --graph=run"), or nothing. */
struct remedy {
	char text[256];
};

/* Whether the argument stands right behind an option whose range would have to stand behind '='. */
bool strategies_find_space(struct remedy *remedy, const struct argp_state *state,
			   const char *argument);

/* Where there is one argument too many: for it, or for the one before it (or NULL), which was taken for a recording
 * but is none. */
struct remedy strategies_remedy(const struct argp_state *state, const char *before,
				const char *argument);

#endif
