/*
 * time_parts.h - what the time after a change is made of, as a prediction can only be off in what changes.
 */
#ifndef ROOFLINE_TIME_PARTS_H
#define ROOFLINE_TIME_PARTS_H

#include "replay/replay.h"

struct time_parts {
	double kept_ns;	   /* of operations as long as they were recorded */
	double changed_ns; /* of operations that the change makes longer or shorter */
	double rest_ns;	   /* of the host, of launches, gaps and waits */
	bool has_changed_calls; /* the host does something else, or what it submits waits for something else */
};

/* Of what is submitted in the places, which come by first and are apart, and takes that long together.  Where operations
 * run side by side, each has its share of the time. */
struct time_parts time_parts_of(const struct replay *replay, const struct model *model,
				const struct change *change, const struct place *places,
				size_t place_count, int64_t place_ns);

/* How much of that time a change concerns: operations alone where it changes nothing else, or all of it. */
double time_parts_concerned_ns(const struct time_parts *parts);

#endif
