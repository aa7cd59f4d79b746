/*
 * events.h - a recording as tracks with slices, counters and arrows: what formats for timelines are written from.
 *
 * Slices of a track come in order of their beginnings and are properly nested: one ends no later than those around it.
 * Operations of a stream that overlap, as nodes of a graph do, have further tracks of that stream.  Nothing is collected:
 * a format writes each item as it comes.
 */
#ifndef ROOFLINE_EVENTS_H
#define ROOFLINE_EVENTS_H

#include "analysis/report.h"

enum track_kind {
	TRACK_PROCESS, /* the group of its threads */
	TRACK_DEVICE,  /* the group of what runs there */
	TRACK_CALLS,   /* of a thread */
	TRACK_RANGES,  /* of a thread */
	TRACK_STREAM,
	TRACK_GAPS,
	TRACK_COUNTER,
};

struct event_track {
	uint32_t id;	 /* from 1 */
	uint32_t parent; /* the group, 0: it is one */
	enum track_kind kind;
	const char *name;
	const char *unit; /* of counters: "%", "B/s", ... */
	uint64_t pid;	  /* of the process that it is of, 0: none */
	uint32_t thread;  /* of TRACK_CALLS and TRACK_RANGES: system thread id */
	uint32_t order;	  /* within the group */
};

enum event_field_kind { FIELD_NUMBER, FIELD_FRACTION, FIELD_TEXT };

struct event_field {
	const char *name;
	enum event_field_kind kind;
	uint64_t number;
	double fraction;
	const char *text;
};

struct event_slice {
	uint32_t track;
	int64_t start_ns, end_ns; /* of CLOCK_REALTIME */
	const char *category;	  /* "kernel", "copy", "memset", "graph", "call", "range", "gap" */
	const char *name;
	uint64_t flow_from, flow_to; /* an arrow of that number leaves or arrives; 0: none */
	const struct event_field *fields;
	size_t field_count;
};

/* Each returns 0 or a negative errno, which ends the walk; NULL leaves that kind out. */
struct event_sink {
	int (*track)(void *context, const struct event_track *track);
	int (*slice)(void *context, const struct event_slice *slice);
	int (*count)(void *context, uint32_t track, int64_t time_ns, double value);
	void *context;
};

int events_walk(const struct report *report, const struct event_sink *sink);

/* The first moment of any event; 0 without any. */
int64_t events_first_ns(const struct report *report);

#endif
