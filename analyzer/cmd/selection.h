/*
 * selection.h - the part of a recording that was asked for, by the same options for every command that reads one.
 *
 * It is taken out of the profile before anything is analyzed, so that no analysis, section or chart knows of it.
 */
#ifndef ROOFLINE_SELECTION_H
#define ROOFLINE_SELECTION_H

#include <argp.h>
#include <stdbool.h>

#include "trace/profile.h"

/* A time after the first operation, or a number of operations. */
struct selection_moment {
	bool is_given, is_count;
	int64_t ns;
	uint64_t count;
};

struct selection {
	const char *range;   /* NVTX range or kernel, NAME or NAME:N; NULL: none */
	const char *kernels; /* extended regular expression; NULL: all operations */
	const char *stream, *rank;
	struct selection_moment from, to, skip;
};

/* Their input is a struct selection.  The second is without --range, --from and --to: for a command that has some of its
 * own; the third has these alone. */
extern const struct argp selection_argp, selection_choice_argp, selection_time_argp;

/* Nanoseconds of "12ms", or of "12", which is of milliseconds; ends the program where it is neither. */
int64_t selection_parse_time(const char *option, const char *text, const struct argp_state *state);

/* The argument of --range, of which there is one at most: given is an earlier one or NULL. */
const char *selection_parse_range(const char *given, const char *argument,
				  const struct argp_state *state);

bool selection_is_any(const struct selection *selection);

/* Whether operations within the time were left out, so that idle time is not the program's. */
bool selection_has_holes(const struct selection *selection);

/* Reduces the profile to it.  sentence: owned by the caller, what was chosen, without its full stop; NULL where nothing was
 * asked for.  Fails, described in err, with -EDOM where an argument is wrong (the recording has no such range, stream, rank or
 * kernel, or a regular expression is none), or with -ENOMEM. */
int selection_apply(const struct selection *selection, struct profile *profile, char **sentence,
		    struct err *err);

/* The options that choose it again, each followed by a space, as words of a shell: "--range run "; NULL when memory runs
 * out.  The caller frees. */
char *selection_options(const struct selection *selection);

/* The same for the name of a file, another one for every part: "range-run", "from-1ms+to-2ms"; "" where nothing was asked
 * for.  What cannot stand in such a name is told apart by digits.  size: SELECTION_FILE_NAME_SIZE.  False when memory runs out. */
bool selection_file_name(char *name, size_t size, const struct selection *selection);

#define SELECTION_FILE_NAME_SIZE 96

#endif
