#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counts.h"
#include "deferred.h"
#include "driver.h"
#include "graphs.h"
#include "process.h"

enum {
	BUCKETS = 1 << 14,
	SIZES = 1 << 12, /* of which it is known whether they were freed before */
	KEPT_MOST = 1024,
	/* So much of the GPU's memory stays free, or nothing is kept: the driver takes some where nobody sees it, as for the
	 * local memory of a kernel.  And no more than half of it is kept. */
	FREE_LEAST_PART = 16,
	KEPT_MOST_PART = 2,
	LOOK_PART = 64, /* after the driver gave so much more it is asked again how much is free */
	CAPTURE_WAITS_NS = 100000000
};

struct block {
	CUdeviceptr address;
	size_t bytes;
	CUcontext context;
	bool is_freed; /* by the program: it is kept, or about to be */
	struct block *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks[BUCKETS]; /* all that the program allocated, and what is kept */
static struct block *kept[KEPT_MOST]; /* the one freed last is the last */
static unsigned kept_count;
static size_t kept_bytes, total_bytes;
static CUcontext room_of; /* where the GPU was found to have memory left; NULL: it is not known */
static size_t taken_since;
static bool is_ended;
static int waits; /* threads that are about to wait for the GPU, or do */

static struct {
	CUcontext context;
	size_t bytes;
} freed_before[SIZES];

bool pool_is_wanted(void)
{
	return process_wants(TRY_POOL) && driver_open()->is_complete;
}

/* Around what must not be done while a stream is captured.  False: one is. */
static bool begin_wait(void)
{
	__atomic_fetch_add(&waits, 1, __ATOMIC_SEQ_CST);
	return !deferred_count_captures();
}

static void end_wait(void)
{
	__atomic_fetch_sub(&waits, 1, __ATOMIC_SEQ_CST);
}

/* ---- blocks by their addresses ---- */

static struct block **place_of(CUdeviceptr address)
{
	struct block **place = &blocks[((uint64_t)address * 0x9e3779b97f4a7c15u >> 32) % BUCKETS];

	while (*place && (*place)->address != address)
		place = &(*place)->next;
	return place;
}

static void forget_block(CUdeviceptr address)
{
	struct block **place = place_of(address), *block = *place;

	if (!block)
		return;
	*place = block->next;
	free(block);
}

static void forget_all(void)
{
	for (size_t i = 0; i < BUCKETS; i++)
		while (blocks[i])
			forget_block(blocks[i]->address);
}

static CUcontext current_context(void)
{
	CUcontext context = NULL;

	return driver_open()->get_current(&context) == CUDA_SUCCESS ? context : NULL;
}

/* ---- giving back ---- */

static void take_out(unsigned i)
{
	kept_bytes -= kept[i]->bytes;
	kept_count--;
	memmove(kept + i, kept + i + 1, (kept_count - i) * sizeof(struct block *));
}

static void give_back(unsigned i)
{
	const struct driver *driver = driver_open();
	CUdeviceptr address = kept[i]->address;
	CUcontext popped;

	if (driver->push_current(kept[i]->context) == CUDA_SUCCESS) {
		graphs_note_free();
		driver->free(address);
		driver->pop_current(&popped);
	}
	take_out(i);
	forget_block(address);
	counts_add(TRY_BLOCKS_RETURNED, 1);
}

/* Nothing may be freed while a stream is captured; then nothing is kept. */
static bool return_all(void)
{
	bool had_any = kept_count;

	while (kept_count)
		give_back(kept_count - 1);
	return had_any;
}

bool pool_return_all(void)
{
	bool had_any;

	if (!pool_is_wanted() || deferred_count_captures())
		return false;
	pthread_mutex_lock(&lock);
	had_any = return_all();
	room_of = NULL;
	pthread_mutex_unlock(&lock);
	return had_any;
}

bool pool_return_at(CUdeviceptr address)
{
	bool is_found = false;

	if (!pool_is_wanted() || deferred_count_captures())
		return false;
	pthread_mutex_lock(&lock);
	for (unsigned i = kept_count; i-- > 0 && !is_found;)
		if (address >= kept[i]->address && address - kept[i]->address < kept[i]->bytes) {
			give_back(i);
			is_found = true;
		}
	pthread_mutex_unlock(&lock);
	return is_found;
}

void pool_before(enum function_memory memory)
{
	bool is_capturing;

	if (memory == LEAVES || !pool_is_wanted())
		return;
	is_capturing = deferred_count_captures();
	pthread_mutex_lock(&lock);
	if (!is_capturing)
		return_all();
	room_of = NULL;
	/* What is captured takes memory when the graph is launched. */
	is_ended |= memory == ENDS || is_capturing;
	if (memory == LOSES && !kept_count)
		forget_all();
	pthread_mutex_unlock(&lock);
}

/* A thread that saw no capture may be on its way into the driver, where it must not wait during one. */
void pool_begin_capture(void)
{
	uint64_t start_ns;

	if (!pool_is_wanted())
		return;
	start_ns = clock_ns();
	while (__atomic_load_n(&waits, __ATOMIC_SEQ_CST) &&
	       clock_ns() - start_ns < CAPTURE_WAITS_NS)
		sched_yield();
	if (deferred_count_captures() > 1)
		return;
	pthread_mutex_lock(&lock);
	return_all();
	pthread_mutex_unlock(&lock);
}

void pool_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	is_ended = true;
	kept_count = 0;
	waits = 0;
}

/* ---- allocating ---- */

/* Whether nothing is captured, and there is no error of the GPU, which allocating tells as well. */
static bool is_well(void)
{
	CUresult result = begin_wait() ? driver_open()->stream_query(CU_STREAM_LEGACY)
				       : CUDA_ERROR_NOT_PERMITTED;

	end_wait();
	return result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY;
}

bool pool_take(CUdeviceptr *address, size_t bytes)
{
	CUcontext context = current_context();
	bool is_found = false;

	if (!address || !bytes || !context || !is_well())
		return false;
	pthread_mutex_lock(&lock);
	for (unsigned i = is_ended ? 0 : kept_count; i-- > 0 && !is_found;)
		if (kept[i]->bytes == bytes && kept[i]->context == context) {
			kept[i]->is_freed = false;
			*address = kept[i]->address;
			take_out(i);
			is_found = true;
		}
	pthread_mutex_unlock(&lock);
	if (is_found)
		counts_add(TRY_ALLOCATIONS_REUSED, 1);
	return is_found;
}

/* Where the GPU has little memory left nothing is kept. */
static bool has_room(CUcontext context)
{
	size_t free_bytes = 0;

	if (context == room_of)
		return true;
	if (driver_open()->memory_info(&free_bytes, &total_bytes) != CUDA_SUCCESS ||
	    free_bytes < total_bytes / FREE_LEAST_PART)
		return false;
	room_of = context;
	taken_since = 0;
	return true;
}

static void note_taken(size_t bytes, CUcontext context)
{
	taken_since += bytes;
	if (taken_since <= total_bytes / LOOK_PART)
		return;
	room_of = NULL;
	if (kept_count && !deferred_count_captures() && !has_room(context))
		return_all();
}

void pool_note(CUdeviceptr address, size_t bytes)
{
	CUcontext context = current_context();
	struct block **place;

	pthread_mutex_lock(&lock);
	place = place_of(address);
	if (!*place)
		*place = calloc(1, sizeof(struct block));
	if (*place) {
		(*place)->address = address;
		(*place)->bytes = bytes;
		(*place)->context = context;
		(*place)->is_freed = false;
	}
	note_taken(bytes, context);
	pthread_mutex_unlock(&lock);
}

/* ---- freeing ---- */

/* Memory of a size that is freed once is not kept: it may never be asked for again. */
static bool is_freed_again(const struct block *block)
{
	size_t i = ((uint64_t)block->bytes * 0x9e3779b97f4a7c15u >> 32) % SIZES;

	if (freed_before[i].bytes == block->bytes && freed_before[i].context == block->context)
		return true;
	freed_before[i].bytes = block->bytes;
	freed_before[i].context = block->context;
	return false;
}

static enum try_reason why_not_keep(const struct block *block)
{
	if (is_ended)
		return TRY_MEMORY_SHARED;
	if (!block || block->context != current_context())
		return TRY_OTHER_MEMORY;
	if (!is_freed_again(block))
		return TRY_NEW_SIZE;
	if (!has_room(block->context) || block->bytes > total_bytes / KEPT_MOST_PART)
		return TRY_MEMORY_FULL;
	return TRY_REASON_COUNT;
}

/* The block is kept from here on, unless somebody took it away meanwhile. */
static void push(CUdeviceptr address)
{
	struct block *block = *place_of(address);

	if (!block)
		return;
	if ((kept_count == KEPT_MOST || kept_bytes + block->bytes > total_bytes / KEPT_MOST_PART) &&
	    !deferred_count_captures())
		return_all();
	if (kept_count == KEPT_MOST)
		return;
	kept[kept_count++] = block;
	kept_bytes += block->bytes;
	counts_add(TRY_FREES_KEPT, 1);
}

/* All that the GPU was given is done afterwards; where that is an error, freeing tells it as well. */
static CUresult wait_and_push(CUdeviceptr address)
{
	const struct driver *driver = driver_open();
	CUresult result = driver->synchronize(), freed;

	pthread_mutex_lock(&lock);
	if (result == CUDA_SUCCESS)
		push(address);
	else
		forget_block(address);
	pthread_mutex_unlock(&lock);
	if (result == CUDA_SUCCESS)
		return CUDA_SUCCESS;
	graphs_note_free();
	freed = driver->free(address);
	return freed == CUDA_SUCCESS ? result : freed;
}

/* Under the lock.  A block that is not kept is the driver's to free. */
static enum try_reason begin_to_keep(CUdeviceptr address, bool is_capturing, bool *is_freed_twice)
{
	struct block *block = *place_of(address);
	enum try_reason reason;

	*is_freed_twice = block && block->is_freed;
	if (*is_freed_twice)
		return TRY_REASON_COUNT;
	reason = is_capturing ? TRY_CAPTURE : why_not_keep(block);
	if (reason != TRY_REASON_COUNT)
		forget_block(address);
	else
		block->is_freed = true;
	return reason;
}

bool pool_keep(CUdeviceptr address, CUresult *result)
{
	enum try_reason reason;
	bool is_freed_twice, is_capturing;

	counts_add(TRY_FREES_SEEN, 1);
	is_capturing = !begin_wait();
	pthread_mutex_lock(&lock);
	reason = begin_to_keep(address, is_capturing, &is_freed_twice);
	pthread_mutex_unlock(&lock);
	*result = CUDA_ERROR_INVALID_VALUE;
	if (reason != TRY_REASON_COUNT)
		counts_add_passed(reason);
	else if (!is_freed_twice)
		*result = wait_and_push(address);
	end_wait();
	return reason == TRY_REASON_COUNT;
}

bool pool_drop(CUdeviceptr address)
{
	struct block *block;
	bool is_freed;

	pthread_mutex_lock(&lock);
	block = *place_of(address);
	is_freed = block && block->is_freed;
	if (!is_freed)
		forget_block(address);
	pthread_mutex_unlock(&lock);
	return !is_freed;
}
