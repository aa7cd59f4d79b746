/*
 * part_times.h - how long parts of a run take in a replay, added up as its calls are taken.
 *
 * So a replay that is asked for these times only needs not keep those of ten million calls.
 */
#ifndef ROOFLINE_PART_TIMES_H
#define ROOFLINE_PART_TIMES_H

#include "base/spans.h"
#include "trace/profile.h"

/* A part of a run: calls [first, end) of one thread, and what they submitted. */
struct place {
	size_t first, end; /* calls[] */
};

/* Whether a call lies in one of these places, which come by first and are apart. */
bool places_hold(const struct place *places, size_t count, size_t call);

/* The first of them that ends behind a call; count: none does. */
size_t places_find(const struct place *places, size_t count, size_t call);

/* Of a thread. */
struct part_progress {
	size_t next;	  /* places[]: the one that it is in, or comes to */
	int64_t start_ns; /* of that one's first call */
	int64_t end_ns;	  /* of what its calls submitted until now */
};

struct part_time {
	const struct place *places; /* borrowed; by first, apart */
	size_t count;
	struct part_progress *progress; /* owned; by thread */
	/* owned, with room for all; each place from its first call to the last of its calls and operations */
	struct spans spans;
};

/* Returns 0 or -ENOMEM; the caller frees with part_time_free, also after a failure. */
int part_time_open(struct part_time *part_time, const struct place *places, size_t count,
		   const struct profile *profile);
void part_time_free(struct part_time *part_time);

/* A call that lies in the place that its thread is in, or comes to. */
void part_time_add_within(struct part_time *part_time, uint32_t thread, size_t call,
			  int64_t start_ns, int64_t end_ns, int64_t work_end_ns);

/* Each call of a thread in turn.  work_end_ns: of the last operation that it submitted; INT64_MIN without any. */
static inline void part_time_add_call(struct part_time *part_time, uint32_t thread, size_t call,
				      int64_t start_ns, int64_t end_ns, int64_t work_end_ns)
{
	size_t next = part_time->progress[thread].next;

	if (next < part_time->count && call >= part_time->places[next].first)
		part_time_add_within(part_time, thread, call, start_ns, end_ns, work_end_ns);
}

/* After all calls: how long they took together.  Where places overlap, as one submits while the work of the one before
 * it runs, or in several threads, that time counts once: so a part takes no longer than the run. */
int64_t part_time_ns(struct part_time *part_time);

#endif
