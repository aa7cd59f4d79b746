/*
 * cuts.h - calls that no graph can hold: they stay, and cut an iteration into several graphs.
 */
#ifndef ROOFLINE_CUTS_H
#define ROOFLINE_CUTS_H

#include <stddef.h>
#include <stdint.h>

struct profile;

/* The iteration with most graphs. */
struct cuts {
	uint64_t graph_count; /* of it; 0: no iteration is cut */
	uint32_t call;	      /* profile->calls[]: the first that cuts it */
	const char *reason;   /* why a graph cannot hold that call; borrowed, static */
};

#define CUTS_TEXT_SIZE 256

/* Write "up to 2 graphs in an iteration, which cudaMemcpy of 4 B cuts: REASON"; "" where none is cut. */
void cuts_text(char text[CUTS_TEXT_SIZE], const struct cuts *cuts, const struct profile *profile);

#endif
