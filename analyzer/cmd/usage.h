/*
 * usage.h - the command line, for every command alike: --help and -h, one line on stderr and exit code 2 for wrong
 * arguments, with what was probably meant, and the options that several commands have.
 */
#ifndef ROOFLINE_USAGE_H
#define ROOFLINE_USAGE_H

#include <argp.h>

#include "output/outputs.h"

/* In place of argp_parse: parses, or says what is wrong with an option; without memory for it, it ends the program.  Returns 0, or not and then the exit code is
 * EXIT_USAGE.  Where options are listed (usage_list) nothing is parsed, and it is not 0 either. */
int usage_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* For ARGP_KEY_INIT.  argp then adds nothing to what is said here, and usage_parse returns instead of ending the
 * program. */
void usage_init(struct argp_state *state);

/* Says what is wrong and ends the program. */
__attribute__((format(printf, 2, 3), noreturn)) void usage_fail(const struct argp_state *state,
								const char *format, ...);

/* ", did you mean 'kernels'?" where one of the words, with spaces between them, is near; else "". */
struct suggestion {
	char text[96];
};
struct suggestion usage_suggest(const char *word, const char *words);

/* Of each option of a command that --help shows; dashes are left out. */
struct usage_option {
	const char *name; /* NULL: it has none */
	char letter;	  /* '\0': likewise */
	const char *
		argument; /* what stands for its value, as in "text|json|csv"; NULL: it takes none */
	bool is_optional;    /* the value, which then stands behind = */
	const char *meaning; /* of --help */
};

/* From now on usage_parse calls visit with each option, and parses nothing; NULL: no longer. */
typedef void (*usage_visitor)(void *context, const struct usage_option *option);
void usage_list(usage_visitor visit, void *context);

/* ---- options that several commands have ---- */

/* Rows of an option table.  Of the format: an index into arrays that OUTPUTS() of output/outputs.h makes. */
#define OPTION_FORMAT(meaning)                                \
	{                                                     \
		"format", 'f', "text|json|csv", 0, meaning, 0 \
	}
#define OPTION_TOP(meaning)                    \
	{                                      \
		"top", 'n', "N", 0, meaning, 0 \
	}
#define OPTION_WIDE(meaning)                     \
	{                                        \
		"wide", 'w', NULL, 0, meaning, 0 \
	}

#define USAGE_FORMAT(name, summary) USAGE_FORMAT_##name,
enum usage_format { OUTPUTS(USAGE_FORMAT) USAGE_FORMAT_COUNT };
#undef USAGE_FORMAT

/* Their values, or the end of the program. */
enum usage_format usage_format(const struct argp_state *state, const char *name);
/* Where there is no table of rows to write as CSV: whether it is json, not text. */
bool usage_is_json(const struct argp_state *state, const char *name);
size_t usage_rows(const struct argp_state *state, const char *text);

/* The value of --option: a number from least to most, or a whole one; or the end of the program. */
double usage_number(const struct argp_state *state, const char *option, const char *text,
		    double least, double most);
size_t usage_count(const struct argp_state *state, const char *option, const char *text,
		   double least, double most);

#endif
