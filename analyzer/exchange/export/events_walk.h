/*
 * events_walk.h - the state of events_walk(), for its files: events.c has processes and threads, events_device.c what
 * devices did.
 */
#ifndef ROOFLINE_EVENTS_WALK_H
#define ROOFLINE_EVENTS_WALK_H

#include "exchange/export/events.h"
#include "exchange/export/lanes.h"

#define EVENT_FIELD_LIMIT 128

struct events_walk {
	const struct report *report;
	const struct profile *profile;
	const struct event_sink *sink;
	const char *prefix; /* of groups: "" or "second run: " */
	uint32_t track_count;
	uint64_t first_flow; /* arrows of this run are numbered from here on */
	uint8_t *
		launches; /* by call: bit 1: it launched an operation, bit 2: its arrow was drawn */
	struct event_field fields[EVENT_FIELD_LIMIT];
	size_t field_count;
};

/* A new track; returns 0 or a negative errno.  Its id and the name, which is made of format, are filled in. */
__attribute__((format(printf, 3, 4))) int
events_add_track(struct events_walk *walk, struct event_track *track, const char *format, ...);

/* The fields of the slice to come; beyond the limit the last one is replaced. */
void events_add_number(struct events_walk *walk, const char *name, uint64_t number);
void events_add_fraction(struct events_walk *walk, const char *name, double fraction);
void events_add_text(struct events_walk *walk, const char *name, const char *text);

/* Gives the slice with those fields, and forgets them. */
int events_give(struct events_walk *walk, struct event_slice *slice);

int events_walk_device(struct events_walk *walk, uint32_t device);

#endif
