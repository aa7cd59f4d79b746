/*
 * fixture_random.h - profiles and changes by chance, for tests of what must always hold.
 *
 * The same seed gives the same: a failing test names its seed.
 */
#ifndef ROOFLINE_TEST_FIXTURE_RANDOM_H
#define ROOFLINE_TEST_FIXTURE_RANDOM_H

#include "replay/replay.h"
#include "profile_builder.h"

struct random {
	uint64_t state;
};

struct random random_of(uint64_t seed);
uint64_t random_below(struct random *random, uint64_t limit);
bool random_hits(struct random *random, unsigned int percent);

/*
 * Some hundred calls of a few threads, processes, devices and streams: launches, copies and memsets
 * of every kind, graph launches of several nodes, waits, allocations, calls that fail or take no
 * time, operations that the device launched.  Every time is a multiple of unit_ns, and the same one
 * for every unit.  The caller frees with free().
 */
struct builder *random_profile(uint64_t seed, int64_t unit_ns);

/* A change that says anything that struct change allows: calls with and in graphs, dropped waits,
 * asynchronous calls, other lengths, lanes where with_lanes.  The caller frees with change_free. */
struct change random_change(uint64_t seed, const struct model *model, bool with_lanes);

/* One of every cost, in round numbers. */
extern const struct costs random_costs;

#endif
