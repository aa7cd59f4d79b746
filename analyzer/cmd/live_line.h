/*
 * live_line.h - what a recording under way does now, as one line: rates between two answers of its collectors.
 */
#ifndef ROOFLINE_LIVE_LINE_H
#define ROOFLINE_LIVE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/control.h"

/* Figures of one process, or of several added up. */
struct live_figures {
	int64_t time_ns; /* CLOCK_MONOTONIC; 0: there are none yet */
	struct control_status sum;
	unsigned int process_count;
};

/* Asks all processes of a recording's folder that are alive.  Returns 0, or a negative errno when none answers. */
int live_figures_ask(struct live_figures *figures, const char *folder, struct err *err);

/* "12,345 launches/s  12,345 kernels/s  GPU 0 98%  1.23 GB, 12 MB/s  0 lost" */
void live_line_format(char *text, size_t size, const struct live_figures *before,
		      const struct live_figures *now);

/* The same figures as an object; NULL without memory. */
json_t *live_object(const struct live_figures *before, const struct live_figures *now);

#endif
