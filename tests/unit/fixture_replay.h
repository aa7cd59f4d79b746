/*
 * fixture_replay.h - a profile made by hand, its model and its replay, for tests of replays.
 */
#ifndef ROOFLINE_TEST_FIXTURE_REPLAY_H
#define ROOFLINE_TEST_FIXTURE_REPLAY_H

#include "fixture_change.h"
#include "fixture_random.h"

struct replayed {
	struct builder *b;
	const struct profile *profile;
	struct model *model;
	struct replay replay;
};

/* Takes the profile, which is finished. */
struct replayed replayed_new(struct builder *b);
void replayed_run(struct replayed *it, const struct change *change, const struct costs *costs);
void replayed_free(struct replayed *it);

/* Of its first device. */
int64_t replayed_wall_ns(const struct replayed *it);

/* ---- figures worked out by hand, with random_costs ---- */

#define LOOPS 10
#define CALL_NS 4000  /* of a launch */
#define START_NS 5000 /* call to kernel: the median of each loop */
#define BUSY_NS 10000

extern const struct profile_copy copy_in, copy_out; /* of pinned memory */

uint32_t wait_until(struct builder *b, int64_t start_ns, int64_t end_ns);

/* launch_count launches, their kernels one after the other with gaps of 1 us, and a wait that
 * returns 3 us after the last; 1 us later the next iteration. */
struct replayed replayed_loop(int launch_count);

/* All calls of an iteration from the first launch on, the wait last. */
struct change same_every_time(const struct replayed *it, const uint8_t *calls, size_t count);

#endif
