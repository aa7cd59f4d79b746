/*
 * control.h - does what `rooflinectl ctl`, `top` and `record` ask for while the program runs.
 *
 * roofline/control.h has how they ask.  All of it happens on our own thread, the flush thread, between two looks at
 * CUPTI's buffers; the program is not interrupted, and where nobody asks a look costs one system call.
 */
#ifndef ROOFLINE_COLLECTOR_CONTROL_H
#define ROOFLINE_COLLECTOR_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* After the recording was opened. */
void control_start(const struct options *options);

/* When the thread has to look again at the latest: until_ns, or earlier (CLOCK_MONOTONIC). */
int64_t control_wait_until(int64_t until_ns);

/* Does what is asked for; flush brings all that is finished into the files.  Not more often than it is time to. */
void control_serve(void (*flush)(void));

/* The recording is sealed: whoever still asks sees that nobody answers. */
void control_end(void);

#endif
