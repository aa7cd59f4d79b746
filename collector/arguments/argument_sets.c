#include "arguments/argument_sets.h"

#include <stddef.h>

#define SLOTS 65536u
#define PROBES 16
#define GENERATION_BITS UINT64_C(0xffff)
#define GENERATIONS_MOST 65535u /* with as many slots: 32 bits of numbers */

/* The low bits of a slot: in which generation it was taken, 0 for never; the others: of which set.  The slot and its
 * generation are the number, so that taking the one gives the other. */
static uint64_t slots[SLOTS];
static uint32_t generation = 1;

static uint32_t number_of(size_t slot, uint32_t taken_in)
{
	return (taken_in - 1) * SLOTS + (uint32_t)slot + 1;
}

/* True when the slot has the set or could be taken for it; *is_new tells which.  One that was taken in a later generation
 * than this thread knows of is not free: its number of this one may have been given. */
static bool try_slot(size_t slot, uint64_t wanted, bool *is_new)
{
	uint64_t found = __atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE);

	*is_new = false;
	while (found != wanted) {
		if ((found & GENERATION_BITS) >= (wanted & GENERATION_BITS))
			return false;
		*is_new = __atomic_compare_exchange_n(&slots[slot], &found, wanted, false,
						      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (*is_new)
			return true;
	}
	return true;
}

static uint32_t find(uint64_t hash, uint32_t now, bool *is_new)
{
	uint64_t wanted = (hash & ~GENERATION_BITS) | now;

	for (size_t probe = 0; probe < PROBES; probe++) {
		size_t slot = ((hash >> 32) + probe) % SLOTS;

		if (try_slot(slot, wanted, is_new))
			return number_of(slot, now);
	}
	return 0;
}

/* Of several threads that have found no room one begins anew. */
static void begin_anew(uint32_t now)
{
	__atomic_compare_exchange_n(&generation, &now, now + 1, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

uint32_t argument_sets_number(uint64_t hash, bool *is_new)
{
	uint32_t now, number = 0;

	*is_new = false;
	while ((now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE)) < GENERATIONS_MOST &&
	       !(number = find(hash, now, is_new)))
		begin_anew(now);
	return number;
}
