#include "cmd/usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
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
	char text[4096], safe[sizeof(text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)format_text(safe, sizeof(safe), text, sizeof(safe));
	fprintf(stderr, "%s: %s; see %s --help\n", state->name, safe, state->name);
	exit(EXIT_USAGE);
}
