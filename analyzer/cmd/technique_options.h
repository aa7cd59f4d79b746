/*
 * technique_options.h - the options that name techniques, the same in all commands that re-simulate a run.
 *
 * A command names technique_options_argp as a child of its own parser and hands it its struct chosen_techniques in
 * ARGP_KEY_INIT, and parses ARGP_IN_ORDER: else nothing tells what stood before an argument.
 */
#ifndef ROOFLINE_TECHNIQUE_OPTIONS_H
#define ROOFLINE_TECHNIQUE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "whatif/scenario.h"

extern const struct argp technique_options_argp;

/* Before that is used: its options are those of techniques/. */
void technique_options_open(void);

/* At ARGP_KEY_END: ends the program with usage_fail where none was named. */
void technique_options_require(const struct chosen_techniques *chosen, struct argp_state *state);

/* What a usage error goes on with ("; for a range write --graph=run"), or nothing. */
struct remedy {
	char text[256];
};

/* Whether the argument stands right behind an option whose range would have to stand behind '='. */
bool technique_options_find_space(struct remedy *remedy, const struct argp_state *state,
				  const char *argument);

/* Where there is one argument too many: for it, or for the one before it (or NULL), which was taken for a recording
 * but is none. */
struct remedy technique_options_remedy(const struct argp_state *state, const char *before,
				       const char *argument);

#endif
