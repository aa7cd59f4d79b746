/*
 * usage.h - wrong arguments: one line on stderr, exit code 2, for every command alike.
 */
#ifndef ROOFLINE_USAGE_H
#define ROOFLINE_USAGE_H

#include <argp.h>

/* argp_parse; without memory for it, it says so and ends the program. */
error_t usage_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input);

/* For ARGP_KEY_INIT.  argp then adds nothing to getopt's own line, and argp_parse returns an
 * error instead of ending the program. */
void usage_init(struct argp_state *state);

/* Says what is wrong and ends the program. */
__attribute__((format(printf, 2, 3), noreturn)) void usage_fail(const struct argp_state *state,
								const char *format, ...);

#endif
