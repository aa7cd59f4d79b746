#include "graphs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counts.h"
#include "driver.h"
#include "graph_events.h"
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
	LOSSES_MOST = 3,
	JUDGED =
		16, /* launches of a graph after which it must have been faster than its launches */
	LONGEST_NS = 100000 /* of a measurement: longer ones waited for the GPU */
};

struct recorded {
	uint64_t hash;
	unsigned count, node_count;
	CUcontext context;
	CUgraph graph;
	CUgraphExec exec;    /* NULL: the driver refused it, or it is slower than its launches */
	bool is_lost;	     /* an event of it is gone */
	bool has_memory;     /* it sets or copies some, */
	unsigned long frees; /* which was allocated when so many times some had been freed */
	CUgraphNode nodes[QUEUE_ITEMS];
	struct item items[QUEUE_ITEMS]; /* as the nodes are now */
	struct graph_events events;
	unsigned char *bytes; /* their parameters */
	unsigned long last_used, launched;
	unsigned losses; /* lose() */
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
static unsigned long frees;

static uint64_t hash_of(const struct item *items, unsigned count, CUcontext context)
{
	uint64_t hash = (uintptr_t)context;

	for (unsigned i = 0; i < count; i++) {
		hash ^= (uintptr_t)items[i].kernel ^ (uintptr_t)items[i].stream * 31;
		hash *= 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

/* All of them also after an error, as the program would have made them. */
CUresult graphs_run_each(const struct item *items, unsigned count)
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
	graph_events_free(&entry->events);
}

static bool add_node(struct recorded *entry, const struct forks *forks, unsigned i,
		     CUgraphNode *by_bit)
{
	const struct item *item = &entry->items[i];
	CUgraphNode after[FORKS_BITS];
	unsigned count =
		graph_events_nodes(forks_last(forks, forks->before[i]), forks->bits, by_bit, after);

	if (item->kernel->work->add(&entry->nodes[i], entry->graph, after, count, item,
				    entry->context) != CUDA_SUCCESS)
		return false;
	by_bit[forks->bit[i]] = entry->nodes[i];
	return true;
}

static bool instantiate(struct recorded *entry, const struct forks *forks)
{
	const struct driver *driver = driver_open();
	CUgraphNode by_bit[FORKS_BITS];

	if (driver->graph_create(&entry->graph, 0) != CUDA_SUCCESS ||
	    !graph_events_begin(&entry->events, forks, entry->graph, by_bit))
		return false;
	for (unsigned i = 0; i < entry->count; i++)
		if (forks_is_node(&entry->items[i]) && !add_node(entry, forks, i, by_bit))
			return false;
	return graph_events_end(&entry->events, forks, entry->items, entry->graph, by_bit) &&
	       driver->instantiate(&entry->exec, entry->graph, 0) == CUDA_SUCCESS;
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

static bool has_memory(const struct item *items, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (forks_is_node(&items[i]) && !items[i].kernel->function)
			return true;
	return false;
}

/* What has the same address now may be other memory, of which the driver knows nothing in this graph. */
static bool is_of_freed_memory(const struct recorded *entry)
{
	return entry->has_memory && entry->frees != __atomic_load_n(&frees, __ATOMIC_SEQ_CST);
}

void graphs_note_free(void)
{
	__atomic_fetch_add(&frees, 1, __ATOMIC_SEQ_CST);
}

static struct recorded *record(uint64_t hash, const struct item *items, const struct forks *forks,
			       CUcontext context)
{
	struct recorded *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->hash = hash;
	entry->count = forks->items;
	entry->node_count = forks->nodes;
	entry->context = context;
	entry->has_memory = has_memory(items, forks->items);
	entry->frees = __atomic_load_n(&frees, __ATOMIC_SEQ_CST);
	if (!copy_items(entry, items)) {
		free(entry);
		return NULL;
	}
	made++;
	if (instantiate(entry, forks))
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
	    entry->is_lost)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (entry->items[i].kernel != items[i].kernel ||
		    entry->items[i].stream != items[i].stream)
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

/* Where memory was freed: how often in a row it was then made anew before it had paid.  A graph that is lost after each few
 * launches stays given up, as one that is slower than its launches. */
static unsigned lose(unsigned i)
{
	struct recorded *entry = recorded[i];
	unsigned losses = entry->launched < JUDGED ? entry->losses + 1 : 0;

	if (losses < LOSSES_MOST) {
		free_recorded(entry);
		recorded[i] = recorded[--recorded_count];
		return losses;
	}
	drop_exec(entry);
	entry->has_memory = false;
	return losses;
}

static struct recorded *find(const struct item *items, const struct forks *forks, CUcontext context)
{
	unsigned count = forks->items, losses = 0;
	uint64_t hash = hash_of(items, count, context);
	struct recorded *entry;

	for (unsigned i = 0; i < recorded_count; i++)
		if (is_of(recorded[i], hash, items, count, context)) {
			if (!is_of_freed_memory(recorded[i]))
				return recorded[i];
			losses = lose(i);
			break;
		}
	if (losses >= LOSSES_MOST || made >= ALWAYS_MADE + uses / LAUNCHES_FOR_ONE ||
	    count_times(hash) < TIMES)
		return NULL;
	entry = record(hash, items, forks, context);
	if (entry)
		entry->losses = losses;
	return entry;
}

static bool set_node(struct recorded *entry, unsigned i, const struct item *item)
{
	struct item *kept = &entry->items[i];

	if (!forks_is_node(item))
		return true;
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

/* What is recorded in front of it is recorded again where the graph is refused. */
static bool launch_graph(struct recorded *entry, CUstream stream)
{
	return graph_events_before_launch(&entry->events, stream) == CUDA_SUCCESS &&
	       driver_open()->graph_launch(entry->exec, stream) == CUDA_SUCCESS;
}

static bool run_as_graph(struct recorded *entry, const struct item *items, CUresult *result)
{
	uint64_t start_ns = clock_ns();
	bool is_launched = true;

	entry->last_used = ++uses;
	entry->launched++;
	for (unsigned i = 0; is_launched && i < entry->count; i++)
		is_launched = set_node(entry, i, &items[i]);
	if (!is_launched || !launch_graph(entry, items->stream)) {
		drop_exec(entry);
		return false;
	}
	*result = graph_events_after_launch(&entry->events, items->stream);
	counts_add(TRY_GRAPH_LAUNCHES, 1);
	counts_add(TRY_GRAPH_NODES, entry->node_count);
	judge(entry, clock_ns() - start_ns);
	return true;
}

CUresult graphs_run(const struct item *items, const struct forks *forks, CUcontext context)
{
	struct recorded *entry = forks->nodes >= SHORTEST ? find(items, forks, context) : NULL;
	CUresult result = CUDA_SUCCESS;

	if (entry && entry->exec && run_as_graph(entry, items, &result))
		return result;
	return graphs_run_each(items, forks->items);
}

bool graphs_lose(CUevent event, bool can_drop)
{
	bool must_stay = false;

	for (unsigned i = 0; i < recorded_count; i++)
		if (graph_events_has(&recorded[i]->events, event)) {
			recorded[i]->is_lost = true;
			must_stay = must_stay || !can_drop;
			if (can_drop)
				drop_exec(recorded[i]);
		}
	return must_stay;
}

void graphs_forget(void)
{
	for (unsigned i = 0; i < recorded_count; i++)
		free_recorded(recorded[i]);
	recorded_count = 0;
	memset(seen, 0, sizeof(seen));
}
