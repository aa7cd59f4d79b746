#include "counters/counter_verdicts.h"

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/kernel_filter.h"
#include "counters/local_memory.h"

#define SLOTS 16384
#define PROBES 8

/* The low bits of a slot; the others are of what the verdict is about. */
#define IS_WANTED UINT64_C(1)
#define IS_USED UINT64_C(2)
#define VERDICT_BITS (IS_WANTED | IS_USED)

/* One word each, so that a reader sees all of a verdict or nothing of it.  Those of earlier generations are
 * overwritten when there is no room. */
static uint64_t slots[SLOTS];
static uint64_t generation;

static const struct options *options;
static regex_t skipped; /* kernels that need others beside them */
static bool has_skipped;

void counter_verdicts_init(const struct options *asked)
{
	options = asked;
	has_skipped = asked->counters_skip &&
		      regcomp(&skipped, asked->counters_skip, REG_EXTENDED | REG_NOSUB) == 0;
}

void counter_verdicts_forget(void)
{
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
}

static uint64_t subject_of(const struct launch_call *call)
{
	uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);

	return (launch_call_mix(call->kernel, now) & ~VERDICT_BITS) | IS_USED;
}

static uint64_t *slot_of(uint64_t subject, size_t probe)
{
	return &slots[((subject >> 8) + probe) % SLOTS];
}

static bool is_wanted(const char *name)
{
	if (has_skipped && regexec(&skipped, name, 0, NULL, 0) == 0)
		return false;
	return !options->kernels || kernel_filter_wants(name);
}

/* Two threads that come at once both find out, and the slots agree. */
static bool judge(const struct launch_call *call, uint64_t subject)
{
	uint64_t verdict = subject | (is_wanted(call->name) ? IS_WANTED : 0);
	uint64_t *slot =
		slot_of(subject, (subject >> 32) % PROBES); /* of those that are all taken */

	for (size_t probe = 0; probe < PROBES; probe++)
		if (!__atomic_load_n(slot_of(subject, probe), __ATOMIC_RELAXED)) {
			slot = slot_of(subject, probe);
			break;
		}
	__atomic_store_n(slot, verdict, __ATOMIC_RELAXED);
	local_memory_note(call);
	return verdict & IS_WANTED;
}

bool counter_verdict(const struct launch_call *call)
{
	uint64_t subject = subject_of(call);

	for (size_t probe = 0; probe < PROBES; probe++) {
		uint64_t found = __atomic_load_n(slot_of(subject, probe), __ATOMIC_RELAXED);

		if ((found & ~IS_WANTED) == subject)
			return found & IS_WANTED;
		if (!found)
			break;
	}
	return judge(call, subject);
}
