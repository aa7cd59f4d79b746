/*
 * taken_time.h - how much of a GPU is taken over time, so that what is asked for later may start earlier where there is
 * room.
 *
 * Times before the floor are forgotten: nothing starts there.
 */
#ifndef ROOFLINE_TAKEN_TIME_H
#define ROOFLINE_TAKEN_TIME_H

#include <stddef.h>
#include <stdint.h>

#define TAKEN_STEPS 256

struct taken_time {
	struct {
		int64_t from_ns;
		unsigned int percent; /* from then on, until the next step; of the last one 0 */
	} steps[TAKEN_STEPS];
	size_t count;
	int64_t floor_ns;
};

void taken_time_open(struct taken_time *taken);

/* When so many percent are free for that long, from start_ns on. */
int64_t taken_time_find(const struct taken_time *taken, int64_t start_ns, int64_t length_ns,
			unsigned int percent);

/* They are taken in [start_ns, end_ns); what begins before the floor is taken from there on. */
void taken_time_add(struct taken_time *taken, int64_t start_ns, int64_t end_ns,
		    unsigned int percent);

/* Nothing starts before that moment any more. */
void taken_time_forget(struct taken_time *taken, int64_t moment_ns);

#endif
