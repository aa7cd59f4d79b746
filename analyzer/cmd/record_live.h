/*
 * record_live.h - record --live: a line on the terminal of what the program does now.
 */
#ifndef ROOFLINE_RECORD_LIVE_H
#define ROOFLINE_RECORD_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/live_line.h"

struct record_live {
	bool is_on;
	const char *folder; /* of the recording */
	int64_t start_ns, next_ns;
	struct live_figures before;
};

/* It is shown where it was asked for and stderr is a terminal. */
void record_live_start(struct record_live *live, const char *folder, bool is_asked);

/* Several times a second; once a second the line is replaced. */
void record_live_tick(struct record_live *live);

/* The line goes. */
void record_live_end(struct record_live *live);

#endif
