#include "counters/counter_launches.h"

#include <stddef.h>

#include "clock.h"
#include "counters/counter_policy.h"
#include "counters/launch_call.h"

#define SLOTS ((size_t)2 * POLICY_MAX_SIGNATURES)
#define PROBES 16

/* Launches whose record is awaited.  Where more are under way some records find nothing: the shares of
 * time are those of the others. */
#define RING 65536

/* What could not be counted is asked about again after 0.1 ms, and after 13 ms at most: in a long run most
 * launches find the credit spent, and asking takes a lock. */
#define FIRST_DELAY_NS INT64_C(50000)
#define DELAY_DOUBLINGS 8

/* Everything in it is read and written as an atomic; a key of 0 is nobody's. */
struct counter_launches {
	uint64_t key, context;
	uint64_t count, told_count;
	uint64_t due_count;
	int64_t due_ns, seen_ns;
	uint32_t refusals;	 /* in a row */
	uint32_t is_seen, round; /* due_count and due_ns are of that round */
};

static struct counter_launches slots[SLOTS];
static uint64_t ring[RING]; /* correlation in the upper half, slot + 1 in the lower */
static uint32_t current_round;
static int64_t all_seen_ns;

#define GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define SET(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)
#define ADD(place, value) __atomic_add_fetch(&(place), value, __ATOMIC_RELAXED)

static struct counter_launches *slot_of(uint64_t key, size_t probe)
{
	return &slots[((key >> 8) + probe) % SLOTS];
}

/* Takes the first free slot; who comes second there looks on. */
static struct counter_launches *make(uint64_t key, CUcontext context)
{
	for (size_t probe = 0; probe < PROBES; probe++) {
		struct counter_launches *slot = slot_of(key, probe);
		uint64_t found = 0;

		if (__atomic_compare_exchange_n(&slot->key, &found, key, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			SET(slot->context, (uintptr_t)context);
			return slot;
		}
		if (found == key)
			return slot;
	}
	return NULL;
}

static struct counter_launches *find(uint64_t key, CUcontext context)
{
	for (size_t probe = 0; probe < PROBES; probe++)
		if (GET(slot_of(key, probe)->key) == key)
			return slot_of(key, probe);
	return make(key, context);
}

struct counter_launches *counter_launches_add(CUcontext context, uint64_t signature,
					      uint32_t correlation)
{
	uint64_t key = launch_call_mix(signature, (uintptr_t)context) | 1;
	struct counter_launches *slot = find(key, context);

	if (!slot)
		return NULL;
	ADD(slot->count, 1);
	SET(ring[correlation % RING], (uint64_t)correlation << 32 | (uint64_t)(slot - slots + 1));
	return slot;
}

bool counter_launches_are_due(const struct counter_launches *launches)
{
	int64_t due_ns = GET(launches->due_ns);

	if (GET(launches->round) != GET(current_round))
		return true;
	if (GET(launches->count) < GET(launches->due_count))
		return false;
	return !due_ns || clock_ns(CLOCK_MONOTONIC) >= due_ns;
}

uint64_t counter_launches_take_news(struct counter_launches *launches, double *time_share)
{
	uint64_t count = GET(launches->count), told_count = GET(launches->told_count);
	int64_t all_ns = GET(all_seen_ns);

	*time_share = all_ns > 0 && GET(launches->is_seen)
			      ? (double)GET(launches->seen_ns) / (double)all_ns
			      : -1;
	SET(launches->told_count, count);
	return count > told_count ? count - told_count - 1 : 0;
}

void counter_launches_put_off(struct counter_launches *launches, uint64_t until_launches,
			      bool is_refused)
{
	uint32_t refusals = is_refused ? GET(launches->refusals) + 1 : 0;
	int64_t delay_ns = FIRST_DELAY_NS
			   << (refusals < DELAY_DOUBLINGS ? refusals : DELAY_DOUBLINGS);

	SET(launches->refusals, refusals);
	SET(launches->due_count, until_launches);
	SET(launches->due_ns, refusals ? clock_ns(CLOCK_MONOTONIC) + delay_ns : 0);
	SET(launches->round, GET(current_round));
}

void counter_launches_renew(void)
{
	ADD(current_round, 1);
}

/* A new context may lie at its address. */
void counter_launches_forget(CUcontext context)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct counter_launches *slot = &slots[i];

		if (!GET(slot->key) || GET(slot->context) != (uintptr_t)context)
			continue;
		SET(slot->count, 0);
		SET(slot->told_count, 0);
		SET(slot->due_count, 0);
		SET(slot->due_ns, 0);
		SET(slot->refusals, 0);
		SET(slot->seen_ns, 0);
		SET(slot->is_seen, 0);
		SET(slot->key, 0);
	}
}

void counter_launches_note_time(uint32_t correlation, int64_t ns)
{
	uint64_t launch = GET(ring[correlation % RING]);
	size_t slot = (size_t)(launch & UINT32_MAX);

	if (!slot || launch >> 32 != correlation || ns <= 0)
		return;
	ADD(slots[slot - 1].seen_ns, ns);
	SET(slots[slot - 1].is_seen, 1);
	ADD(all_seen_ns, ns);
}
