/*
 * source.h - the recording that a command reads, taken alike by all that read one.
 *
 * source_argp knows DIR and --ceilings, source_range_argp --range.  A command names them as children of
 * its own parser and hands each its struct source in ARGP_KEY_INIT:
 *
 *	state->child_inputs[0] = &arguments->source;
 */
#ifndef ROOFLINE_SOURCE_H
#define ROOFLINE_SOURCE_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "analysis/report.h"
#include "cmd/selection.h"

struct advice;

struct source {
	const char *path;	   /* NULL: the newest recording here */
	const char *ceilings_path; /* NULL: those that fit the GPU */
	const char *range;	   /* NVTX range that predictions are for; NULL: none */
	/* Others that the recording has to have, NULL among them. */
	const char **ranges;
	size_t range_count;
	struct selection selection; /* the part of it that is asked for */
};

/* For the help of a command whose argument is DIR. */
#define SOURCE_DOC                                                                                   \
	"DIR is a recording, as a folder or packed, - a packed one on stdin; without it, it is the " \
	"newest one under the current folder."

extern const struct argp source_argp, source_range_argp;

/* Loads it, with its roofs.  who: "rooflinectl report", for what is told on stderr.  Fails like
 * report_build and report_choose_ceilings, and without a recording here.  The caller frees with
 * report_free, also after a failure. */
int source_load(struct report **out, const struct source *source, const char *who, struct err *err);

/* The same with what an answer needs, and nothing else. */
int source_load_for(struct report **out, const struct source *source,
		    const struct report_needs *needs, const char *who, struct err *err);

/* The same of a recording at that path, or of the newest one in that folder, of which a part may be selected (selection.h) and then everything is
 * loaded. */
int source_build(struct report **out, const char *path, const struct selection *selection,
		 const struct report_needs *needs, const char *ceilings_path, const char *who,
		 struct err *err);

/* advice_find(), which may take long. */
int source_find_advice(struct advice **out, const struct report *report, const char *range,
		       struct err *err);

/* Of what failed: -EDOM is an argument that does not fit the recording. */
int source_exit_code(int rc);

/* The whole name of the recording's NVTX range that *range means; NULL stays.  Fails with -ENOENT, and err says which it has. */
int source_find_range(const char **range, const struct profile *profile, struct err *err);

/* All that a command does that may ask for a range and is named command ("rooflinectl advise"): loads the recording,
 * checks that it has the ranges, has answer told with the arguments, says on stderr what failed, and returns the exit
 * code.  answer returns a negative errno with err set where it fails. */
int source_answer(struct source *source, const char *command,
		  int (*answer)(const void *arguments, struct report *report, struct err *err),
		  const void *arguments);

/* Columns of the terminal there; 0 where it is none, or does not tell. */
size_t terminal_width(FILE *out);

/* Whether escape sequences may go there: a terminal, and NO_COLOR is not set. */
bool is_color_wanted(FILE *out);

#endif
