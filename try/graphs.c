#include "graphs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counts.h"
#include "driver.h"
#include "pool.h"
#include "process.h"
#include "work.h"

enum {
	SHORTEST = 2, /* a single launch costs less than a graph of one */
	TIMES = 3,    /* the third time the sequence comes it becomes a graph */
	SEEN = 4096,  /* sequences whose number of times is kept */
	GRAPHS = 128, /* graphs that are kept */
	ALWAYS_MADE =
		64, /* then one more for so many launches of graphs: making one takes as long */
	LAUNCHES_FOR_ONE = 16,
	JUDGED =
		16, /* launches of a graph after which it must have been faster than its launches */
	LONGEST_NS = 100000 /* of a measurement: longer ones waited for the GPU */
};

struct recorded {
	uint64_t hash;
	unsigned count;
	CUcontext context;
	CUgraph graph;
	CUgraphExec exec; /* NULL: the driver refused it, or it is slower than its launches */
	CUgraphNode nodes[QUEUE_MAX];
	struct item items[QUEUE_MAX]; /* as the nodes are now */
	unsigned char *bytes;	      /* their parameters */
	unsigned long last_used;
	unsigned launches;
	uint64_t spent_ns;
};

static struct {
	uint64_t hash;
	unsigned times;
} seen[SEEN];

static struct recorded *recorded[GRAPHS];
static unsigned recorded_count;
static unsigned long uses, made;
static uint64_t plain_ns, plain_launches;

static uint64_t hash_of(const struct item *items, unsigned count, CUcontext context)
{
	uint64_t hash = (uintptr_t)context ^ (uintptr_t)items->stream * 31;

	for (unsigned i = 0; i < count; i++) {
		hash = (hash ^ (uintptr_t)items[i].kernel) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

/* All of them also after an error, as the program would have made them. */
static CUresult launch_each(const struct item *items, unsigned count)
{
	CUresult first = CUDA_SUCCESS, result;
	uint64_t start_ns = clock_ns(), took_ns;

	for (unsigned i = 0; i < count; i++) {
		result = items[i].kernel->work->run(&items[i]);
		if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_return_all())
			result = items[i].kernel->work->run(&items[i]);
		if (first == CUDA_SUCCESS)
			first = result;
	}
	took_ns = clock_ns() - start_ns;
	if (took_ns < LONGEST_NS) {
		plain_ns += took_ns;
		plain_launches += count;
	}
	return first;
}

static void drop_exec(struct recorded *entry)
{
	const struct driver *driver = driver_open();

	if (entry->exec)
		driver->exec_destroy(entry->exec);
	if (entry->graph)
		driver->graph_destroy(entry->graph);
	entry->exec = NULL;
	entry->graph = NULL;
}

static bool instantiate(struct recorded *entry)
{
	const struct driver *driver = driver_open();

	if (driver->graph_create(&entry->graph, 0) != CUDA_SUCCESS)
		return false;
	for (unsigned i = 0; i < entry->count; i++) {
		const struct item *item = &entry->items[i];

		if (item->kernel->work->add(&entry->nodes[i], entry->graph,
					    i ? &entry->nodes[i - 1] : NULL, item,
					    entry->context) != CUDA_SUCCESS)
			return false;
	}
	return driver->instantiate(&entry->exec, entry->graph, 0) == CUDA_SUCCESS;
}

static bool copy_items(struct recorded *entry, const struct item *items)
{
	size_t size = 0;

	for (unsigned i = 0; i < entry->count; i++)
		size += (items[i].kernel->parameter_bytes + 63) & ~(size_t)63;
	entry->bytes = aligned_alloc(64, size ? size : 64);
	if (!entry->bytes)
		return false;
	size = 0;
	for (unsigned i = 0; i < entry->count; i++) {
		entry->items[i] = items[i];
		entry->items[i].parameters = entry->bytes + size;
		memcpy(entry->bytes + size, items[i].parameters, items[i].kernel->parameter_bytes);
		size += (items[i].kernel->parameter_bytes + 63) & ~(size_t)63;
	}
	return true;
}

static void free_recorded(struct recorded *entry)
{
	drop_exec(entry);
	free(entry->bytes);
	free(entry);
}

/* In the place of the one that was not used for longest. */
static void keep(struct recorded *entry)
{
	unsigned oldest = 0;

	if (recorded_count < GRAPHS) {
		recorded[recorded_count++] = entry;
		return;
	}
	for (unsigned i = 1; i < recorded_count; i++)
		if (recorded[i]->last_used < recorded[oldest]->last_used)
			oldest = i;
	free_recorded(recorded[oldest]);
	recorded[oldest] = entry;
}

static struct recorded *record(uint64_t hash, const struct item *items, unsigned count,
			       CUcontext context)
{
	struct recorded *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	*entry = (struct recorded){.hash = hash, .count = count, .context = context};
	if (!copy_items(entry, items)) {
		free(entry);
		return NULL;
	}
	made++;
	if (instantiate(entry))
		counts_add(TRY_INSTANTIATED, 1);
	else
		drop_exec(entry);
	keep(entry);
	return entry;
}

static bool is_of(const struct recorded *entry, uint64_t hash, const struct item *items,
		  unsigned count, CUcontext context)
{
	if (entry->hash != hash || entry->count != count || entry->context != context ||
	    entry->items[0].stream != items[0].stream)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (entry->items[i].kernel != items[i].kernel)
			return false;
	return true;
}

/* How often the sequence came, this time included; sequences that fall on one place begin again. */
static unsigned count_times(uint64_t hash)
{
	size_t i = hash % SEEN;

	if (seen[i].hash != hash)
		seen[i].times = 0;
	seen[i].hash = hash;
	return ++seen[i].times;
}

static struct recorded *find(const struct item *items, unsigned count, CUcontext context)
{
	uint64_t hash = hash_of(items, count, context);

	for (unsigned i = 0; i < recorded_count; i++)
		if (is_of(recorded[i], hash, items, count, context))
			return recorded[i];
	if (made >= ALWAYS_MADE + uses / LAUNCHES_FOR_ONE)
		return NULL;
	return count_times(hash) >= TIMES ? record(hash, items, count, context) : NULL;
}

static bool set_node(struct recorded *entry, unsigned i, const struct item *item)
{
	struct item *kept = &entry->items[i];

	if (!memcmp(&kept->shape, &item->shape, sizeof(kept->shape)) &&
	    !memcmp(kept->parameters, item->parameters, item->kernel->parameter_bytes))
		return true;
	kept->shape = item->shape;
	memcpy((unsigned char *)kept->parameters, item->parameters, item->kernel->parameter_bytes);
	counts_add(TRY_NODES_SET, 1);
	return kept->kernel->work->set(entry->exec, entry->nodes[i], kept, entry->context) ==
	       CUDA_SUCCESS;
}

/* Slower than its launches by what both took the program's thread: from now on each by itself. */
static void judge(struct recorded *entry, uint64_t took_ns)
{
	if (took_ns >= LONGEST_NS || process_is_stubborn())
		return;
	entry->spent_ns += took_ns;
	if (++entry->launches % JUDGED || !plain_launches)
		return;
	if (entry->spent_ns / JUDGED > entry->count * plain_ns / plain_launches)
		drop_exec(entry);
	entry->spent_ns = 0;
}

static bool run_as_graph(struct recorded *entry, const struct item *items)
{
	uint64_t start_ns = clock_ns();
	bool is_launched = true;

	entry->last_used = ++uses;
	for (unsigned i = 0; is_launched && i < entry->count; i++)
		is_launched = set_node(entry, i, &items[i]);
	is_launched = is_launched &&
		      driver_open()->graph_launch(entry->exec, items->stream) == CUDA_SUCCESS;
	if (!is_launched) {
		drop_exec(entry);
		return false;
	}
	counts_add(TRY_GRAPH_LAUNCHES, 1);
	counts_add(TRY_GRAPH_NODES, entry->count);
	judge(entry, clock_ns() - start_ns);
	return true;
}

CUresult graphs_run(const struct item *items, unsigned count, CUcontext context)
{
	struct recorded *entry = count >= SHORTEST ? find(items, count, context) : NULL;

	if (entry && entry->exec && run_as_graph(entry, items))
		return CUDA_SUCCESS;
	return launch_each(items, count);
}

void graphs_forget(void)
{
	for (unsigned i = 0; i < recorded_count; i++)
		free_recorded(recorded[i]);
	recorded_count = 0;
	memset(seen, 0, sizeof(seen));
}
