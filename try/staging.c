/* staging.c - a copy between pageable memory and the GPU, piece by piece through pinned memory of the library's own. */
#define _GNU_SOURCE
#include "staging.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "copiers.h"
#include "driver.h"
#include "host_memory.h"

enum {
	PORTION_BYTES = 128 << 10,			/* that a thread copies at a time */
	PORTIONS = STAGING_PIECE_BYTES / PORTION_BYTES, /* in a piece */
	PIECES = 16,	/* in a lane: what the GPU copies while threads copy others */
	LANES_MOST = 8, /* copies at the same time, 8 MiB of pinned memory each */
	STALLED_MS =
		100, /* without a piece that the GPU has copied: it may wait for the program itself */
	FORGET_MS = 2000
};

/* Pinned memory for one piece. */
struct slot {
	CUevent event;	   /* behind what the GPU was given of it last */
	bool is_in_flight; /* that may not be done */
	unsigned ready;	   /* portions that are copied */
};

/* Pinned memory for one copy at a time, in one context. */
struct lane {
	unsigned char *memory; /* NULL: there is no lane here */
	CUcontext context;
	bool is_taken;
	struct slot slots[PIECES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lane lanes[LANES_MOST];

/* ---- lanes ---- */

static void close_lane(struct lane *lane)
{
	const struct driver *driver = driver_open();

	for (unsigned i = 0; i < PIECES; i++)
		if (lane->slots[i].event)
			driver->event_destroy(lane->slots[i].event);
	if (driver->host_unregister(lane->memory) == CUDA_SUCCESS)
		munmap(lane->memory, PIECES * STAGING_PIECE_BYTES);
	*lane = (struct lane){0};
}

static bool make_events(struct lane *lane)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (driver_open()->event_create(&lane->slots[i].event, CU_EVENT_DISABLE_TIMING) !=
		    CUDA_SUCCESS) {
			lane->slots[i].event = NULL;
			return false;
		}
	return true;
}

static bool open_lane(struct lane *lane, CUcontext context)
{
	size_t bytes = PIECES * STAGING_PIECE_BYTES;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	if (madvise(memory, bytes, MADV_DONTFORK) != 0 ||
	    driver_open()->host_register(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE) !=
		    CUDA_SUCCESS) {
		munmap(memory, bytes);
		return false;
	}
	*lane = (struct lane){.memory = memory, .context = context, .is_taken = true};
	if (make_events(lane))
		return true;
	close_lane(lane);
	return false;
}

/* Whether the GPU is done with a slot; an error of the context is told by what is copied next. */
static bool is_done(struct slot *slot)
{
	if (slot->is_in_flight && driver_open()->event_query(slot->event) == CUDA_SUCCESS)
		slot->is_in_flight = false;
	return !slot->is_in_flight;
}

static bool is_idle(struct lane *lane)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (!is_done(&lane->slots[i]))
			return false;
	return true;
}

static struct lane *find_lane(CUcontext context, struct lane **room)
{
	*room = NULL;
	for (unsigned i = 0; i < LANES_MOST; i++) {
		if (!lanes[i].memory)
			*room = &lanes[i];
		else if (!lanes[i].is_taken && lanes[i].context == context && is_idle(&lanes[i]))
			return &lanes[i];
	}
	return NULL;
}

/* One that nothing is under way in.  NULL: there is none, for that reason. */
static struct lane *take_lane(enum try_reason *reason)
{
	struct lane *lane = NULL, *room;
	CUcontext context = NULL;

	*reason = TRY_CONTEXT;
	if (driver_open()->get_current(&context) != CUDA_SUCCESS || !context)
		return NULL;
	*reason = TRY_NO_MEMORY;
	pthread_mutex_lock(&lock);
	lane = find_lane(context, &room);
	if (lane)
		lane->is_taken = true;
	else if (room && open_lane(room, context))
		lane = room;
	pthread_mutex_unlock(&lock);
	return lane;
}

static void give_back(struct lane *lane)
{
	pthread_mutex_lock(&lock);
	lane->is_taken = false;
	pthread_mutex_unlock(&lock);
}

/* ---- one copy ---- */

struct staging {
	const struct copy *copy;
	struct lane *lane;
	size_t bytes, pieces;
	struct portions portions;
	size_t open;   /* pieces that threads may copy */
	size_t issued; /* that the GPU was given */
	size_t ended;  /* to the GPU: that it has copied; to the host: that threads have copied */
	CUresult result;
	uint64_t start_ns, moved_ns; /* when the last piece was done */
};

static struct slot *slot_of(const struct staging *staging, size_t piece)
{
	return &staging->lane->slots[piece % PIECES];
}

static unsigned char *memory_of(const struct staging *staging, size_t piece)
{
	return staging->lane->memory + piece % PIECES * STAGING_PIECE_BYTES;
}

static size_t bytes_of(const struct staging *staging, size_t piece)
{
	size_t from = piece * STAGING_PIECE_BYTES, left = staging->bytes - from;

	return left < STAGING_PIECE_BYTES ? left : STAGING_PIECE_BYTES;
}

static size_t portions_before(const struct staging *staging, size_t piece)
{
	return piece < staging->pieces ? piece * PORTIONS
				       : (staging->bytes + PORTION_BYTES - 1) / PORTION_BYTES;
}

/* By any thread. */
static bool copy_portion(void *context, size_t portion)
{
	struct staging *staging = context;
	const struct copy *copy = staging->copy;
	size_t from = portion * PORTION_BYTES, left = staging->bytes - from;
	size_t bytes = left < PORTION_BYTES ? left : PORTION_BYTES;
	unsigned char *host = (unsigned char *)copy->host + from;
	unsigned char *pinned = memory_of(staging, portion / PORTIONS) + from % STAGING_PIECE_BYTES;

	if (!(copy->is_to_host ? host_memory_write(host, pinned, bytes)
			       : host_memory_read(pinned, host, bytes)))
		return false;
	__atomic_fetch_add(&slot_of(staging, portion / PORTIONS)->ready, 1, __ATOMIC_RELEASE);
	return true;
}

static bool is_copied(const struct staging *staging, size_t piece)
{
	size_t portions = (bytes_of(staging, piece) + PORTION_BYTES - 1) / PORTION_BYTES;

	return __atomic_load_n(&slot_of(staging, piece)->ready, __ATOMIC_ACQUIRE) == portions;
}

/* Threads may copy the next piece. */
static void open_piece(struct staging *staging)
{
	__atomic_store_n(&slot_of(staging, staging->open)->ready, 0, __ATOMIC_RELEASE);
	staging->open++;
	copiers_allow(&staging->portions, portions_before(staging, staging->open));
}

/* The GPU is given the next piece, and an event behind it. */
static void issue_piece(struct staging *staging)
{
	const struct driver *driver = driver_open();
	const struct copy *copy = staging->copy;
	struct slot *slot = slot_of(staging, staging->issued);
	CUdeviceptr device = copy->device + staging->issued * STAGING_PIECE_BYTES;
	unsigned char *pinned = memory_of(staging, staging->issued);
	size_t bytes = bytes_of(staging, staging->issued);

	staging->result =
		copy->is_to_host
			? driver->copy_to_host_async(pinned, device, bytes, copy->stream)
			: driver->copy_from_host_async(device, pinned, bytes, copy->stream);
	if (staging->result != CUDA_SUCCESS)
		return;
	slot->is_in_flight = true;
	staging->result = driver->event_record(slot->event, copy->stream);
	staging->issued++;
}

static void note_move(struct staging *staging)
{
	staging->moved_ns = clock_ns();
}

/* Where nothing of the copy can be done at once. */
static void pause_or_help(struct staging *staging)
{
	if (!copiers_help(&staging->portions))
		sched_yield();
}

static bool is_failed(const struct staging *staging)
{
	return staging->result != CUDA_SUCCESS ||
	       __atomic_load_n(&staging->portions.has_failed, __ATOMIC_SEQ_CST);
}

/* What is in the stream before this copy may wait for what the program does after it. */
static bool is_stalled(const struct staging *staging)
{
	return !staging->copy->is_to_host && staging->open == staging->issued &&
	       clock_ns() - staging->moved_ns > STALLED_MS * 1000000ull;
}

/* The time until the first piece is done is that of what was in the stream before. */
static void note_first(struct staging *staging)
{
	if (staging->ended == 0)
		staging->start_ns += clock_ns() - staging->moved_ns;
}

/* To the GPU, until it was given all of it. */
static void copy_in(struct staging *staging)
{
	while (staging->issued < staging->pieces && !is_failed(staging) && !is_stalled(staging)) {
		if (staging->issued < staging->open && is_copied(staging, staging->issued)) {
			issue_piece(staging);
			note_move(staging);
		} else if (staging->open < staging->pieces &&
			   staging->open < staging->ended + PIECES) {
			open_piece(staging);
		} else if (staging->ended < staging->issued &&
			   is_done(slot_of(staging, staging->ended))) {
			if (staging->open == staging->issued)
				note_first(staging);
			staging->ended++;
			note_move(staging);
		} else {
			pause_or_help(staging);
		}
	}
}

/* To the host: the first piece is waited for in the driver, as the program has chosen that it waits. */
static void copy_out(struct staging *staging)
{
	const struct driver *driver = driver_open();

	while (staging->ended < staging->pieces && !is_failed(staging)) {
		if (staging->issued < staging->pieces &&
		    staging->issued < staging->ended + PIECES) {
			issue_piece(staging);
		} else if (staging->open == 0) {
			staging->result = driver->event_synchronize(slot_of(staging, 0)->event);
			staging->start_ns = clock_ns();
			if (staging->result == CUDA_SUCCESS)
				open_piece(staging);
		} else if (staging->open < staging->issued &&
			   is_done(slot_of(staging, staging->open))) {
			open_piece(staging);
		} else if (staging->ended < staging->open && is_copied(staging, staging->ended)) {
			staging->ended++;
		} else {
			pause_or_help(staging);
		}
	}
}

static CUresult wait_for_piece(const struct staging *staging, size_t piece)
{
	return driver_open()->event_synchronize(slot_of(staging, piece)->event);
}

/* Whether the GPU begins in time: what is in the stream before this copy may wait for what the program does after it. */
static bool begins_in_time(struct staging *staging)
{
	uint64_t start_ns = clock_ns();

	while (!is_done(slot_of(staging, staging->ended)))
		if (clock_ns() - start_ns > STALLED_MS * 1000000ull)
			return false;
		else
			sched_yield();
	return true;
}

/* A blocking copy to the GPU is of what is in memory once its stream has done what is in front of it, as the driver's is: callbacks may
 * write there. */
static bool is_stream_done(struct staging *staging)
{
	const struct copy *copy = staging->copy;
	struct slot *slot = slot_of(staging, 0);

	if (copy->is_to_host || copy->is_async)
		return true;
	staging->result = driver_open()->event_record(slot->event, copy->stream);
	slot->is_in_flight = staging->result == CUDA_SUCCESS;
	return slot->is_in_flight && begins_in_time(staging);
}

/* The program goes on once an asynchronous copy to the GPU was given to it; the GPU is still to be waited for where what it took is
 * compared. */
static bool is_waited_for(struct staging *staging, bool is_compared)
{
	if (staging->copy->is_to_host || !staging->copy->is_async ||
	    staging->result != CUDA_SUCCESS)
		return true;
	return is_compared && staging->ended < staging->issued && begins_in_time(staging);
}

/* Waits for what the GPU was given: pieces are done in order.  How long that took behind the first of them, which comes after what was
 * in the stream before. */
static uint64_t finish_pieces(struct staging *staging)
{
	CUresult result = CUDA_SUCCESS;
	uint64_t first_ns;

	if (staging->result != CUDA_SUCCESS) /* there may be no event behind the last one */
		(void)driver_open()->stream_synchronize(staging->copy->stream);
	if (staging->ended < staging->issued)
		result = wait_for_piece(staging, staging->ended);
	first_ns = clock_ns();
	if (result == CUDA_SUCCESS && staging->issued)
		result = wait_for_piece(staging, staging->issued - 1);
	if (staging->result == CUDA_SUCCESS)
		staging->result = result;
	for (unsigned i = 0; result == CUDA_SUCCESS && i < PIECES; i++)
		staging->lane->slots[i].is_in_flight = false;
	return clock_ns() - first_ns;
}

static size_t bytes_before(const struct staging *staging, size_t piece)
{
	return piece < staging->pieces ? piece * STAGING_PIECE_BYTES : staging->bytes;
}

static struct staged result_of(const struct staging *staging, uint64_t end_ns)
{
	const struct copy *copy = staging->copy;
	struct staged staged = {.reason = TRY_REASON_COUNT, .took_ns = end_ns - staging->start_ns};

	staged.bytes = bytes_before(staging, copy->is_to_host ? staging->ended : staging->issued);
	staged.is_error = staging->result != CUDA_SUCCESS;
	if (staged.is_error)
		staged.reason = TRY_ERROR;
	else if (staged.bytes < staging->bytes)
		staged.reason = staging->portions.has_failed ? TRY_BAD_ADDRESS : TRY_STALLED;
	return staged;
}

static struct staged copy_through(struct lane *lane, const struct copy *copy, size_t bytes,
				  bool is_compared)
{
	struct staging staging = {.copy = copy,
				  .lane = lane,
				  .bytes = bytes,
				  .pieces = (bytes + STAGING_PIECE_BYTES - 1) / STAGING_PIECE_BYTES,
				  .portions = {.copy = copy_portion, .context = &staging}};
	struct staged staged;
	uint64_t end_ns;
	bool is_over;

	if (!is_stream_done(&staging))
		return result_of(&staging, staging.start_ns);
	staging.start_ns = staging.moved_ns = clock_ns();
	(void)copiers_begin(&staging.portions);
	if (copy->is_to_host)
		copy_out(&staging);
	else
		copy_in(&staging);
	copiers_end(&staging.portions);
	end_ns = clock_ns();
	is_over = is_waited_for(&staging, is_compared);
	if (is_over)
		end_ns += finish_pieces(&staging);
	staged = result_of(&staging, end_ns);
	staged.is_over = is_over;
	return staged;
}

struct staged staging_copy(const struct copy *copy, size_t bytes, bool is_compared)
{
	struct staged staged = {0};
	struct lane *lane = take_lane(&staged.reason);

	if (!lane)
		return staged;
	staged = copy_through(lane, copy, bytes, is_compared);
	give_back(lane);
	return staged;
}

/* ---- the process ---- */

static void forget_lane(struct lane *lane)
{
	const struct driver *driver = driver_open();
	uint64_t start_ns = clock_ns();
	CUcontext before;

	if (driver->push_current(lane->context) != CUDA_SUCCESS)
		return;
	while (!is_idle(lane) && clock_ns() - start_ns < FORGET_MS * 1000000ull)
		sched_yield();
	if (is_idle(lane))
		close_lane(lane);
	driver->pop_current(&before);
}

/* What cannot be forgotten belongs to no context any more: it is never used again. */
void staging_forget(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < LANES_MOST; i++)
		if (lanes[i].context && !lanes[i].is_taken) {
			forget_lane(&lanes[i]);
			lanes[i].context = NULL;
		}
	pthread_mutex_unlock(&lock);
}

void staging_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(lanes, 0, sizeof(lanes));
}
