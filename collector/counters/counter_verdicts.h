/*
 * counter_verdicts.h - whether a kernel may be counted at all: by its name, asked once for each function.
 *
 * --kernels and the kernels that wait for others (ROOFLINE_COUNTERS_SKIP) are regular expressions, and
 * matching one takes longer than a launch.  So the answer is kept for each function's handle and name, in
 * a table that is read without a lock.  On any thread.
 */
#ifndef ROOFLINE_COUNTER_VERDICTS_H
#define ROOFLINE_COUNTER_VERDICTS_H

#include <stdbool.h>

#include "counters/launch_call.h"
#include "options.h"

/* Compiles the expressions; options are borrowed. */
void counter_verdicts_init(const struct options *options);

/* Of the launch of a kernel. */
bool counter_verdict(const struct launch_call *call);

/* A module is about to be unloaded: other kernels may get its handles. */
void counter_verdicts_forget(void);

#endif
