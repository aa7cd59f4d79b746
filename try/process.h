/*
 * process.h - what is asked of this process, its start, its children and its end.
 */
#ifndef ROOFLINE_TRY_PROCESS_H
#define ROOFLINE_TRY_PROCESS_H

#include <stdbool.h>

#include "roofline/try.h"

/* Whether ROOFLINE_TRY names a strategy, or times are wanted of a run without one. */
bool process_is_wanted(void);
bool process_wants(enum try_strategy strategy);

/* Whether it goes on where it does not pay. */
bool process_is_stubborn(void);

/* Whether the kernel is taken for one that does not tell when memory is unmapped. */
bool process_is_unwatched(void);

/* All streams share one queue of the GPU (CUDA_DEVICE_MAX_CONNECTIONS=1): the order of launches matters between them, too. */
bool process_has_one_connection(void);

/* Whether events are not to be put off. */
bool process_has_events_at_once(void);

/* The program uses the driver: from now on its forks and its end are watched. */
void process_start(void);

/* The process becomes another program, or goes on where that fails: what was put off is given to the driver, and what was
 * reached so far is written.  Nothing of a child of vfork. */
void process_before_exec(void);

/* What was put off is given to the driver, and what was reached is written.  Again as often as there is more. */
void process_end(void);

#endif
