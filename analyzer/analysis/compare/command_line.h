/*
 * command_line.h - the program, the options and the numbers of a recorded command.
 *
 * Pure.  A recorded command is its arguments with spaces between them: one that
 * contains a space looks like two.
 */
#ifndef ROOFLINE_COMMAND_LINE_H
#define ROOFLINE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct command_argument {
	const char *name; /* "--size", "-n", not terminated; NULL for one of no option */
	size_t name_length;
	const char *value; /* NULL for an option without one */
};

struct command_line {
	char *text;	     /* owned: what the others point into */
	const char *program; /* without its folder; of an interpreter, the script or module */
	struct command_argument *arguments; /* owned, in order */
	size_t count;
};

/*
 * Parses a command.  --size=4, --size 4 and -n4 are an option with its
 * value; the word after an option is its value unless it is an option itself.
 * Returns 0 or -ENOMEM; command_line_free in either case.
 */
int command_line_parse(struct command_line *out, const char *command);

void command_line_free(struct command_line *command);

/* Of another command, the argument that answers to arguments[index] of this one: as many of that name
 * go before it.  NULL when there is none. */
const struct command_argument *command_line_counterpart(const struct command_line *command,
							size_t index,
							const struct command_line *other);

/* Whether a value is a number, perhaps with a unit or of several parts: 10, -3.5, 4K, 512x512. */
bool command_is_number(const char *value);

/* Whether two numbers are the same: 1000 and 1e3 are. */
bool command_is_same_number(const char *a, const char *b);

#endif
