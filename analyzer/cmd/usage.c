#include "cmd/usage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"

void usage_init(struct argp_state *state)
{
	state->err_stream = NULL;
}

void usage_fail(const struct argp_state *state, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", state->name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "; see %s --help\n", state->name);
	exit(EXIT_USAGE);
}
