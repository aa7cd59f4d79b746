/*
 * buffers.c - the stand-in for CUPTI's activity records and the buffers that they go into.
 *
 * A buffer is asked for when a thread makes its first record, every thread fills its own, full ones
 * are handed back by a worker thread, an unforced flush withholds buffers with unfinished records, and
 * an empty buffer is never handed back.
 */
#define _GNU_SOURCE
#include "buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "callbacks.h"
#include "environment.h"
#include "samples.h"
#include "../record_lengths.h"

#define UNKNOWN_RECORD_BYTES 64 /* of a kind that this CUPTI does not have */

/* One thread's buffer.  Never freed: threads come and go, the collector's buffers stay its own. */
struct thread_buffer {
	struct thread_buffer *next;
	uint8_t *bytes; /* NULL: none was asked for, or it was refused */
	size_t size, used;
	unsigned int unfinished_count;
};

struct full_buffer {
	struct full_buffer *next;
	uint8_t *bytes;
	size_t size, used;
};

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* never held while the collector is called */
static pthread_cond_t is_work = PTHREAD_COND_INITIALIZER, is_idle = PTHREAD_COND_INITIALIZER;
static struct thread_buffer *thread_buffers;
static __thread struct thread_buffer *own_buffer;
static struct full_buffer *full_buffers, **full_tail = &full_buffers;
static bool has_worker;
static unsigned long taken_count, handed_back_count; /* by the worker */
static size_t dropped_count;

static _Atomic CUpti_BuffersCallbackRequestFunc request;
static _Atomic CUpti_BuffersCallbackCompleteFunc complete;
static atomic_bool enabled_kinds[CUPTI_ACTIVITY_KIND_COUNT];
static _Atomic enum mock_place fork_place;

/* ---- fork while the collector is being called ---- */

/* Returns true in the child. */
bool mock_fork_if_asked(enum mock_place place)
{
	enum mock_place asked = place;
	pid_t child;

	if (!atomic_compare_exchange_strong(&fork_place, &asked, MOCK_NOWHERE))
		return false;
	child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	return child == 0;
}

static void call_request(uint8_t **bytes, size_t *size)
{
	CUpti_BuffersCallbackRequestFunc ask = request; /* a call through an atomic is none */
	size_t most_records = 0;
	bool is_child = mock_fork_if_asked(MOCK_REQUEST);

	ask(bytes, size, &most_records);
	if (is_child)
		exit(0);
}

static void call_complete(uint8_t *bytes, size_t size, size_t used)
{
	CUpti_BuffersCallbackCompleteFunc hand_back = complete;
	bool is_child = mock_fork_if_asked(MOCK_COMPLETION);

	hand_back(NULL, 0, bytes, size, used);
	if (is_child)
		exit(0);
}

/* ---- buffers ---- */

static size_t record_bytes(CUpti_ActivityKind kind)
{
	size_t grown_bytes = mock_number("MOCK_GROWN_BYTES", 0);

	for (size_t i = 0; i < RECORD_LENGTH_COUNT; i++)
		if (record_lengths[i].kind == kind)
			return record_length_in(&record_lengths[i], mock_version()) + grown_bytes;
	return UNKNOWN_RECORD_BYTES + grown_bytes;
}

/* Under the lock; there must be one. */
static struct full_buffer *next_full(void)
{
	struct full_buffer *full = full_buffers;

	full_buffers = full->next;
	if (!full_buffers)
		full_tail = &full_buffers;
	return full;
}

static void *worker_main(void *unused)
{
	for (;;) {
		struct full_buffer *full;

		pthread_mutex_lock(&lock);
		while (!full_buffers)
			pthread_cond_wait(&is_work, &lock);
		full = next_full();
		taken_count++;
		pthread_mutex_unlock(&lock);
		call_complete(full->bytes, full->size, full->used);
		free(full);
		pthread_mutex_lock(&lock);
		handed_back_count++;
		pthread_cond_broadcast(&is_idle);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void start_worker(void)
{
	pthread_t worker;

	if (has_worker)
		return;
	has_worker = true;
	pthread_create(&worker, NULL, worker_main, NULL);
	pthread_detach(worker);
}

/* Both under the lock. */
static struct full_buffer *detach(struct thread_buffer *buffer)
{
	struct full_buffer *full = calloc(1, sizeof(*full));

	if (!full)
		abort();
	*full = (struct full_buffer){NULL, buffer->bytes, buffer->size, buffer->used};
	buffer->bytes = NULL;
	buffer->used = 0;
	buffer->unfinished_count = 0;
	return full;
}

static void give_to_worker(struct full_buffer *full)
{
	start_worker();
	*full_tail = full;
	full_tail = &full->next;
	pthread_cond_signal(&is_work);
}

static struct thread_buffer *this_threads_buffer(void)
{
	if (own_buffer)
		return own_buffer;
	own_buffer = calloc(1, sizeof(*own_buffer));
	if (!own_buffer)
		abort();
	pthread_mutex_lock(&lock);
	own_buffer->next = thread_buffers;
	thread_buffers = own_buffer;
	pthread_mutex_unlock(&lock);
	return own_buffer;
}

/* Leaves the lock held and room for bytes, or returns NULL without it. */
static struct thread_buffer *lock_with_room(size_t bytes)
{
	struct thread_buffer *buffer = this_threads_buffer();
	uint8_t *memory = NULL;
	size_t size = 0;

	pthread_mutex_lock(&lock);
	if (buffer->bytes && buffer->used + bytes > buffer->size)
		give_to_worker(detach(buffer));
	if (buffer->bytes)
		return buffer;
	pthread_mutex_unlock(&lock);
	call_request(&memory, &size);
	pthread_mutex_lock(&lock);
	if (memory && size >= bytes) {
		buffer->bytes = memory;
		buffer->size = size;
		return buffer;
	}
	dropped_count++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

void mock_append_record(const void *record, bool is_finished)
{
	CUpti_ActivityKind kind = ((const CUpti_Activity *)record)->kind;
	size_t bytes = record_bytes(kind);
	size_t known_bytes = bytes - mock_number("MOCK_GROWN_BYTES", 0);
	struct thread_buffer *buffer = request ? lock_with_room(bytes) : NULL;

	if (!buffer)
		return;
	memcpy(buffer->bytes + buffer->used, record, known_bytes);
	memset(buffer->bytes + buffer->used + known_bytes, 0xa5, bytes - known_bytes);
	buffer->used += bytes;
	buffer->unfinished_count += !is_finished;
	pthread_mutex_unlock(&lock);
}

/* Hands back what there is when it is called, and waits for what the worker has taken before, as
 * CUPTI's flush does.  What threads make meanwhile is left for the next time. */
static void deliver(bool is_forced)
{
	struct full_buffer *list = NULL, **tail = &list, *full;

	pthread_mutex_lock(&lock);
	while (full_buffers) {
		*tail = next_full();
		tail = &(*tail)->next;
		*tail = NULL;
	}
	for (struct thread_buffer *buffer = thread_buffers; buffer; buffer = buffer->next)
		if (buffer->bytes && buffer->used && (is_forced || !buffer->unfinished_count)) {
			*tail = detach(buffer);
			tail = &(*tail)->next;
		}
	for (unsigned long before = taken_count; handed_back_count < before;)
		pthread_cond_wait(&is_idle, &lock);
	pthread_mutex_unlock(&lock);
	while ((full = list)) {
		list = full->next;
		call_complete(full->bytes, full->size, full->used);
		free(full);
	}
}

/* ---- the test program's side ---- */

/* Whoever samples the GPU hears of a kernel that has a record. */
static void run_recorded(const void *record)
{
	const CUpti_ActivityKernel10 *kernel = record;
	struct mock_kernel ran = {.is_recorded = true};

	if (!mock_sample_kernel || kernel->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		return;
	ran.device = mock_device_of(kernel->contextId);
	ran.name = kernel->name;
	ran.blocks = (unsigned int)kernel->gridX * (unsigned int)kernel->gridY *
		     (unsigned int)kernel->gridZ;
	ran.start_ns = kernel->start;
	ran.end_ns = kernel->end < kernel->start ? kernel->start : kernel->end;
	mock_sample_kernel(&ran);
}

void mock_emit(const void *record)
{
	run_recorded(record);
	mock_append_record(record, true);
}

void mock_begin(const void *record)
{
	run_recorded(record);
	mock_append_record(record, false);
}

void mock_finish_all(void)
{
	pthread_mutex_lock(&lock);
	for (struct thread_buffer *buffer = thread_buffers; buffer; buffer = buffer->next)
		buffer->unfinished_count = 0;
	pthread_mutex_unlock(&lock);
}

int mock_enabled_count(void)
{
	int count = 0;

	for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		count += mock_is_enabled((CUpti_ActivityKind)kind);
	return count;
}

bool mock_is_enabled(CUpti_ActivityKind kind)
{
	return kind < CUPTI_ACTIVITY_KIND_COUNT && enabled_kinds[kind];
}

void mock_fork_at(enum mock_place place)
{
	fork_place = place;
}

static CUpti_BuffersCallbackRequestFunc collectors_request;
static CUpti_BuffersCallbackCompleteFunc collectors_complete;

static void CUPTIAPI request_own(uint8_t **bytes, size_t *size, size_t *most_records)
{
	*size = 65536;
	*bytes = malloc(*size);
	*most_records = 0;
}

static void CUPTIAPI complete_own(CUcontext context, uint32_t stream, uint8_t *bytes, size_t size,
				  size_t used)
{
	(void)context;
	(void)stream;
	(void)size;
	(void)used;
	free(bytes);
}

void mock_take_records(void)
{
	collectors_request = request;
	collectors_complete = complete;
	cuptiActivityRegisterCallbacks(request_own, complete_own);
}

void mock_give_back(void)
{
	cuptiActivityRegisterCallbacks(collectors_request, collectors_complete);
}

void mock_deliver_all(void)
{
	deliver(true);
}

/* ---- CUPTI: activity ---- */

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
						    CUpti_BuffersCallbackCompleteFunc on_complete)
{
	CUptiResult result = (CUptiResult)mock_number("MOCK_REGISTER", 0);

	MOCK_NOTE_CALL();
	if (result == CUPTI_SUCCESS) {
		request = on_request;
		complete = on_complete;
	}
	return result;
}

static bool is_listed(const char *list, unsigned long wanted)
{
	while (list && *list) {
		char *end;

		if (strtoul(list, &end, 10) == wanted)
			return true;
		list = *end ? end + 1 : end;
	}
	return false;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	MOCK_NOTE_CALL();
	if (is_listed(getenv("MOCK_REFUSED_KINDS"), kind))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	enabled_kinds[kind] = true;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUpti_ActivityDevice5 device = {.kind = kind, .name = "Imaginary GPU"};

	MOCK_NOTE_CALL();
	mock_append_record(&device, true);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	MOCK_NOTE_CALL();
	enabled_kinds[kind] = false;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	MOCK_NOTE_CALL();
	deliver((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes,
						CUpti_Activity **record)
{
	uint8_t *at = buffer;

	MOCK_NOTE_CALL();
	if (*record)
		at = (uint8_t *)*record + record_bytes((*record)->kind);
	if (at >= buffer + valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (((CUpti_Activity *)at)->kind == CUPTI_ACTIVITY_KIND_INVALID)
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)at;
	return CUPTI_SUCCESS;
}

/* As CUPTI: the count starts anew each time that it is asked for. */
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
						       size_t *dropped)
{
	(void)context;
	(void)stream;
	MOCK_NOTE_CALL();
	pthread_mutex_lock(&lock);
	*dropped = dropped_count;
	dropped_count = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size,
					       void *value)
{
	MOCK_NOTE_CALL();
	return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER && *size == 1 &&
			       *(uint8_t *)value == 1
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
	(void)id;
	(void)enable;
	MOCK_NOTE_CALL();
	return CUPTI_SUCCESS;
}

#define CALLS_MOST 2048
static atomic_bool enabled_calls[CALLS_MOST];

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
	MOCK_NOTE_CALL();
	if (id < CALLS_MOST)
		enabled_calls[id] = enable;
	return CUPTI_SUCCESS;
}

void mock_record_call(CUpti_CallbackId id)
{
	uint64_t now_ns = mock_now_ns();
	CUpti_ActivityAPI call = {.kind = CUPTI_ACTIVITY_KIND_DRIVER,
				  .cbid = id,
				  .start = now_ns,
				  .end = now_ns + 1,
				  .threadId = (uint32_t)gettid()};

	if (id < CALLS_MOST && enabled_calls[id])
		mock_append_record(&call, true);
}

CUptiResult CUPTIAPI cuptiActivityConfigureUnifiedMemoryCounter(
	CUpti_ActivityUnifiedMemoryCounterConfig *wanted, uint32_t count)
{
	MOCK_FAULT_RETURN();
	return wanted && count ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	(void)enable;
	MOCK_NOTE_CALL();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDeviceGraph(uint8_t enable)
{
	(void)enable;
	MOCK_NOTE_CALL();
	return CUPTI_SUCCESS;
}
