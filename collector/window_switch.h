/*
 * window_switch.h - switches recording off in CUPTI outside of what was asked for, so that the program runs there
 * as it does alone.
 */
#ifndef ROOFLINE_WINDOW_SWITCH_H
#define ROOFLINE_WINDOW_SWITCH_H

#include <stdint.h>

#include "cupti_api.h"
#include "options.h"

/* Everything is enabled by now; both are borrowed. */
void window_switch_start(const struct cupti_api *cupti, const struct options *options);

/* Switches to what window.h says of this moment.  Any thread; none waits for another. */
void window_switch_follow(void);

/* When to call that again; CLOCK_REALTIME, INT64_MAX for never. */
int64_t window_switch_next_ns(void);

/* Counts for how long it was off. */
void window_switch_count(void);

#endif
