#include "machine_code.h"

#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allocation_calls.h"
#include "clock.h"
#include "cubin.h"
#include "guard.h"
#include "program_rows.h"

#define KERNELS_MOST (1u << 20) /* 56 MB; what comes beyond is not known */

/* A kernel; several may have one name, as those have that Triton compiles. */
struct entry {
	uint64_t key;  /* of its name, 0: free */
	uint64_t code; /* of its module */
	struct cubin_counts counts;
	uint32_t sm, local_bytes;
	uint32_t name; /* names.id, once one of the name ran */
	bool is_unwritten;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* nothing is called with it held */
static struct entry *entries;				 /* open addressing */
static size_t entry_count, entry_room;			 /* room is a power of two */
static bool has_unwritten;				 /* read without the lock */

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/); never 0. */
static uint64_t key_of(const char *name)
{
	uint64_t key = 0xcbf29ce484222325u;

	for (; *name; name++)
		key = (key ^ (unsigned char)*name) * 0x100000001b3u;
	return key | 1;
}

static void note_unwritten(void)
{
	__atomic_store_n(&has_unwritten, true, __ATOMIC_RELAXED);
}

static size_t first_slot(uint64_t key)
{
	return (size_t)(key >> 1) & (entry_room - 1);
}

/* Of the entries in a row from first_slot on, which a free one ends. */
static struct entry *next_of(uint64_t key, size_t *at)
{
	while (entries[*at].key && entries[*at].key != key)
		*at = (*at + 1) & (entry_room - 1);
	return &entries[*at];
}

static void put(const struct entry *entry)
{
	size_t at = first_slot(entry->key);

	while (entries[at].key)
		at = (at + 1) & (entry_room - 1);
	entries[at] = *entry;
}

/* There is always a free entry. */
static bool make_room(void)
{
	size_t old_room = entry_room, room = old_room ? 2 * old_room : 1024;
	struct entry *old = entries, *larger;

	if (2 * (entry_count + 1) <= entry_room)
		return true;
	larger = entry_count < KERNELS_MOST ? calloc(room, sizeof(*larger)) : NULL;
	if (!larger)
		return false;
	entries = larger;
	entry_room = room;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].key)
			put(&old[i]);
	free(old);
	note_unwritten(); /* who is going through them may have passed one by */
	return true;
}

static bool is_equal(const struct entry *a, const struct entry *b)
{
	return a->code == b->code && a->sm == b->sm && a->local_bytes == b->local_bytes &&
	       !memcmp(&a->counts, &b->counts, sizeof(a->counts));
}

/* One of a name that has run is taken to run too. */
static void add_entry(struct entry *added)
{
	size_t at = first_slot(added->key);
	struct entry *known;

	while ((known = next_of(added->key, &at))->key) {
		if (is_equal(known, added))
			return;
		added->name = known->name;
		at = (at + 1) & (entry_room - 1);
	}
	added->is_unwritten = added->name != 0;
	*known = *added;
	entry_count++;
	if (added->is_unwritten)
		note_unwritten();
}

struct loaded_module {
	CUcontext context;
	struct trace_modules_row row;
};

static void add_variable(const struct cubin_variable *variable, void *loaded)
{
	const struct loaded_module *module = loaded;

	allocation_calls_on_static(module->context, variable->bytes, variable->is_managed);
}

static void add_kernel(const struct cubin_kernel *kernel, void *loaded)
{
	struct trace_modules_row *module = &((struct loaded_module *)loaded)->row;
	struct entry added = {.key = key_of(kernel->name),
			      .code = module->code,
			      .counts = kernel->counts,
			      .sm = kernel->sm,
			      .local_bytes = kernel->local_bytes_per_thread};

	module->sm = kernel->sm;
	pthread_mutex_lock(&lock);
	if (make_room())
		add_entry(&added);
	pthread_mutex_unlock(&lock);
}

/* Eight bytes at a time: libraries have modules of tens of megabytes.  The mixing step is one of MurmurHash3's. */
static uint64_t hash_of(const void *code, size_t size)
{
	const unsigned char *bytes = code;
	uint64_t hash = size, word = 0;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 33;
	}
	for (; size; size--)
		hash = (hash ^ *bytes++) * 0x100000001b3u;
	return hash;
}

void machine_code_on_module(CUcontext context, const CUpti_ModuleResourceData *module)
{
	static const struct cubin_visitor visitor = {add_kernel, add_variable};
	struct loaded_module loaded = {context, {.time_ns = clock_ns(CLOCK_REALTIME)}};
	struct trace_modules_row *row = &loaded.row;
	struct guard guard;

	if (!module || !module->pCubin)
		return;
	guard_enter(&guard); /* for the lock, and for memory that is being allocated */
	row->thread = (uint32_t)syscall(SYS_gettid);
	row->bytes = module->cubinSize;
	row->code = hash_of(module->pCubin, module->cubinSize);
	row->kernel_count =
		(uint32_t)cubin_read(module->pCubin, module->cubinSize, &visitor, &loaded);
	program_rows_put_module(row);
	guard_leave(&guard);
}

/* The first of a name to run, or another shape of it. */
static void note_run(struct entry *entry, const struct trace_signatures_row *row)
{
	if (!entry->name) {
		entry->name = row->name;
		entry->is_unwritten = true;
		note_unwritten();
	}
}

/* A kernel ran for the first time with this shape.  The trace writer calls, under its lock.  Of several kernels of one
 * name the most local memory is taken, where CUPTI says none. */
static void complete_signature(struct trace_signatures_row *row, const char *mangled_name)
{
	uint64_t key = key_of(mangled_name);
	uint32_t local_bytes = 0;
	struct entry *entry;
	size_t at;

	pthread_mutex_lock(&lock);
	if (entry_room)
		for (at = first_slot(key); (entry = next_of(key, &at))->key;
		     at = (at + 1) & (entry_room - 1)) {
			if (entry->local_bytes > local_bytes)
				local_bytes = entry->local_bytes;
			note_run(entry, row);
		}
	pthread_mutex_unlock(&lock);
	if (!row->local_bytes_per_thread)
		row->local_bytes_per_thread = local_bytes;
}

/* The next entry from *at on that has to be written, copied out.  Returns false when there is none. */
static bool take_unwritten(size_t *at, struct entry *out)
{
	bool is_found = false;

	pthread_mutex_lock(&lock);
	for (; !is_found && *at < entry_room; ++*at)
		if (entries[*at].is_unwritten) {
			*out = entries[*at];
			entries[*at].is_unwritten = false;
			is_found = true;
		}
	pthread_mutex_unlock(&lock);
	return is_found;
}

void machine_code_write(struct trace_rows *rows)
{
	struct entry entry;

	if (!__atomic_exchange_n(&has_unwritten, false, __ATOMIC_RELAXED))
		return;
	for (size_t at = 0; take_unwritten(&at, &entry);) {
		struct trace_machine_code_row row = {
			.name = entry.name,
			.code = entry.code,
			.sm = entry.sm,
			.instruction_count = entry.counts.instructions,
			.half_constant_count = entry.counts.half_constants,
			.half_conversion_count = entry.counts.half_conversions,
			.half_arithmetic_count = entry.counts.half_arithmetic,
			.dependency_wait_count = entry.counts.dependency_waits,
			.dependent_launch_count = entry.counts.dependent_launches,
			.load_count = entry.counts.loads,
			.load_before_wait_count = entry.counts.loads_before_wait,
		};

		trace_write_machine_code(rows, &row);
	}
}

void machine_code_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber)
{
	trace_signature_complete(complete_signature);
	cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				   CUPTI_CBID_RESOURCE_MODULE_LOADED);
}
