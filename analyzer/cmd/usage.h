/*
 * usage.h - wrong arguments: one line on stderr, exit code 2, for every command alike.
 */
#ifndef ROOFLINE_USAGE_H
#define ROOFLINE_USAGE_H

#include <argp.h>

/* For ARGP_KEY_INIT.  argp then adds nothing to getopt's own line, and argp_parse returns an
 * error instead of ending the program. */
void usage_init(struct argp_state *state);

/* Says what is wrong and ends the program. */
__attribute__((format(printf, 2, 3), noreturn)) void usage_fail(const struct argp_state *state,
								const char *format, ...);

#endif
