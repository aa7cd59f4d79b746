#include "cmd/usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"

error_t usage_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input)
{
	error_t rc = argp_parse(parser, argc, argv, flags, NULL, input);

	if (rc == ENOMEM) {
		fprintf(stderr, "%s: out of memory\n", argv[0]);
		exit(EXIT_FAILED);
	}
	return rc;
}

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
