#include "counters/local_memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "guard.h"

/* More kernels than programs have; what does not fit is not known. */
#define SLOTS 8192
#define PROBES 16

/* Without counters nothing is: then names need not be gone through. */
static bool is_any_noted;

/* Filled in once: bytes before key, which is 0 until then. */
static struct slot {
	uint64_t key;
	uint32_t bytes;
} slots[SLOTS];

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/); never 0. */
static uint64_t key_of(const char *name)
{
	uint64_t key = 0xcbf29ce484222325u;

	for (; *name; name++)
		key = (key ^ (unsigned char)*name) * 0x100000001b3u;
	return key | 1;
}

static struct slot *slot_of(uint64_t key, size_t probe)
{
	return &slots[(key / 2 + probe) % SLOTS];
}

/* NULL: not noted; then *free_probe leads to a slot, or is PROBES where there is none. */
static const struct slot *find(uint64_t key, size_t *free_probe)
{
	for (*free_probe = 0; *free_probe < PROBES; ++*free_probe) {
		const struct slot *slot = slot_of(key, *free_probe);
		uint64_t found = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);

		if (found == key)
			return slot;
		if (!found)
			break;
	}
	return NULL;
}

void local_memory_note(const struct launch_call *call)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t key = key_of(call->name);
	uint32_t bytes;
	size_t probe;
	sigset_t before;

	if (call->kind != LAUNCH_KERNEL || find(key, &probe))
		return;
	bytes = launch_call_local_bytes(call); /* may load the kernel: not under the lock */
	guard_lock(&lock, &before);
	if (!find(key, &probe) && probe < PROBES) {
		struct slot *slot = slot_of(key, probe);

		slot->bytes = bytes;
		__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
		__atomic_store_n(&is_any_noted, true, __ATOMIC_RELEASE);
	}
	guard_unlock(&lock, &before);
}

uint32_t local_memory_of(const char *name)
{
	const struct slot *slot;
	size_t probe;

	if (!name || !__atomic_load_n(&is_any_noted, __ATOMIC_ACQUIRE))
		return 0;
	slot = find(key_of(name), &probe);
	return slot ? slot->bytes : 0;
}
