/*
 * fixture_steady.h - the run of a program that starts, warms up, repeats something and pauses, for tests of what is
 * told of it.
 *
 * All on one host thread and one stream.  An iteration launches kernel A of 10 us and kernel B of 5 us, waits, and
 * goes on 3 us later: 26 us, of which the GPU is busy for 15.
 */
#ifndef ROOFLINE_TEST_FIXTURE_STEADY_H
#define ROOFLINE_TEST_FIXTURE_STEADY_H

#include "analysis/time/steady_state.h"
#include "profile_builder.h"

#define STEADY_ITERATION_NS 26000
#define STEADY_BUSY_NS 15000

struct steady_run {
	struct builder *b;
	int64_t now_ns;
};

struct steady_run steady_run_new(void);

/* A call that does not concern the GPU. */
void steady_run_call(struct steady_run *run, const char *name, enum profile_call_class class,
		     int64_t ns);
/* A call that launches a kernel of that length, and another that waits for it. */
void steady_run_kernel(struct steady_run *run, const char *name, int64_t ns);
/* Iterations, of which the launches take more_ns longer. */
void steady_run_iterate(struct steady_run *run, int count, int64_t more_ns);
/* The host's own code. */
void steady_run_pause(struct steady_run *run, int64_t ns);

struct steady_found {
	struct timeline *timeline;
	struct gap_analysis *gaps;
	struct steady_state *state;
	const struct steady_device *device; /* the first one */
};
struct steady_found steady_find_in(const struct profile *profile);
struct steady_found steady_find(struct builder *b); /* finishes the profile */
void steady_done(struct builder *b, struct steady_found *found);

#endif
