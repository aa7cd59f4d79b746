/*
 * record_ring.h - record --last: the ring that the collector writes into, and what is made of it when.
 */
#ifndef ROOFLINE_RECORD_RING_H
#define ROOFLINE_RECORD_RING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct record_ring {
	const char *who;       /* "rooflinectl record" */
	const char *dumps;     /* the folder that they go to */
	char folder[PATH_MAX]; /* "": there is none */
	char *link;	       /* in that folder, to a ring that is elsewhere, or NULL */
	bool is_dumps_new;     /* the folder was made for it: it goes when it stays empty */
	int64_t next_slow_ns;  /* CLOCK_MONOTONIC: when the next dump of a slow range may be made */
	uint64_t undumped_count;
};

/* Where --last was given: makes the ring, and has the collector write into it.  parent: of --ring, or NULL: in dumps.
 * Returns 0, or the exit code after one line. */
int record_ring_open(struct record_ring *ring, const char *dumps, const char *parent,
		     const char *who);

/* Several times a second: makes a dump where a range was slow, or where somebody asked for one. */
void record_ring_tick(struct record_ring *ring, bool is_asked);

/* The program has ended, as wait(2) tells it, or has not even started: the last dump is made, and the ring goes. */
void record_ring_close(struct record_ring *ring, bool is_started, int status);

#endif
