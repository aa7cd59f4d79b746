/*
 * ring.h - which segments of a flight recorder to keep: the newest that cover a span of time or a size.
 *
 * Segments have numbers, one after the other.  All but the newest are closed: nothing is written into them any more.
 * Knows no files and no clock.
 */
#ifndef ROOFLINE_RING_H
#define ROOFLINE_RING_H

#include <stdbool.h>
#include <stdint.h>

#define RING_PARTS 8	    /* a segment is that part of what is kept */
#define RING_CLOSED_MOST 32 /* more than there ever are */

struct ring {
	int64_t span_ns, most_bytes; /* one of them is 0 */
	uint32_t oldest, newest;     /* numbers, from 1 */
	int64_t opened_ns, bytes;    /* of the newest */
	struct {
		int64_t closed_ns, bytes;
	} closed[RING_CLOSED_MOST]; /* number n is at n % RING_CLOSED_MOST */
};

void ring_init(struct ring *ring, int64_t span_ns, int64_t most_bytes, int64_t now_ns);

/* So many bytes were written into the newest. */
void ring_add(struct ring *ring, int64_t bytes);

/* Whether it is time for the next segment. */
bool ring_is_due(const struct ring *ring, int64_t now_ns);

/* Closes the newest; the next one has the number ring->newest from here on. */
void ring_turn(struct ring *ring, int64_t now_ns);

/* Whether those behind it cover what is to be kept, so that the oldest can go. */
bool ring_has_old(const struct ring *ring, int64_t now_ns);

/* The oldest is gone. */
void ring_drop(struct ring *ring);

#endif
