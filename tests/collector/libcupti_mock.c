/*
 * libcupti_mock.c - a CUPTI without a GPU, for the collector's tests.
 *
 * Behaves as CUPTI 13.0 does where the collector could notice: a buffer is asked for when a thread
 * makes its first record, every thread fills its own, full ones are handed back by a worker thread,
 * an unforced flush withholds buffers with unfinished records, an empty buffer is never handed back,
 * and nothing works before a subscription.  mock_cupti.h says how a test moves it; mock_counters.h is
 * the part that counts, mock_sampling.h the part that samples.
 */
#define _GNU_SOURCE
#include "mock_cupti.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cupti_pmsampling.h>

#include "cupti_api.h"

#define MOCK_PROTOTYPE(result, name, parameters) result name parameters;
MOCK_FUNCTIONS(MOCK_PROTOTYPE)

/* Lengths that CUPTI 13.0 gives its records; real_cupti.c compares them with the library's own. */
static const struct {
	CUpti_ActivityKind kind;
	size_t bytes;
} lengths[] = {
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10)},
	{CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6)},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4)},
	{CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4)},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, sizeof(CUpti_ActivityGraphTrace2)},
	{CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, sizeof(CUpti_ActivityDeviceGraphTrace)},
	{CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI)},
	{CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI)},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2)},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3)},
	{CUPTI_ACTIVITY_KIND_JIT, sizeof(CUpti_ActivityJit2)},
	{CUPTI_ACTIVITY_KIND_MARKER, sizeof(CUpti_ActivityMarker2)},
	{CUPTI_ACTIVITY_KIND_NAME, sizeof(CUpti_ActivityName)},
	{CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice5)},
	{CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(CUpti_ActivityContext3)},
	{CUPTI_ACTIVITY_KIND_STREAM, sizeof(CUpti_ActivityStream)},
};
#define UNKNOWN_RECORD_BYTES 64 /* of a kind that this CUPTI does not have */

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
	const char *name;
} callback_names[] = {
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	 "cudaLaunchKernel_v7000"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
	 "cudaMemcpyAsync_v3020"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
	 "cudaGetDevice_v3020"},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
	 "cudaProfilerStart_v4000"},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
	 "cuMemcpyHtoDAsync_v2"},
};

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

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_CallbackFunc subscriber;
static bool enabled_kinds[CUPTI_ACTIVITY_KIND_COUNT];
static bool enabled_callbacks[CUPTI_CB_DOMAIN_SIZE][2048];
static enum mock_place fork_place;
static void (*on_kernel)(
	struct mock_kernel *kernel); /* NULL until a GPU is sampled; may delay it */

/* ---- what the environment asks for ---- */

static unsigned long from_environment(const char *name, unsigned long fallback)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : fallback;
}

/* Each function once in a row: looking for callback names takes thousands of calls. */
static void note_call(const char *function)
{
	static const char *last;
	const char *path = getenv("MOCK_CALLS");
	int file;

	if (!path || __atomic_exchange_n(&last, function, __ATOMIC_RELAXED) == function)
		return;
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (file < 0)
		return;
	dprintf(file, "%s\n", function);
	close(file);
}

#define NOTE_CALL() note_call(__func__)

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- fork while the collector is being called ---- */

/* Returns true in the child. */
static bool fork_if_asked(enum mock_place place)
{
	pid_t child;

	if (fork_place != place)
		return false;
	fork_place = MOCK_NOWHERE;
	child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	return child == 0;
}

static void call_request(uint8_t **bytes, size_t *size)
{
	size_t most_records = 0;
	bool is_child = fork_if_asked(MOCK_REQUEST);

	request(bytes, size, &most_records);
	if (is_child)
		exit(0);
}

static void call_complete(uint8_t *bytes, size_t size, size_t used)
{
	bool is_child = fork_if_asked(MOCK_COMPLETION);

	complete(NULL, 0, bytes, size, used);
	if (is_child)
		exit(0);
}

/* ---- buffers ---- */

static size_t record_bytes(CUpti_ActivityKind kind)
{
	size_t grown_bytes = from_environment("MOCK_GROWN_BYTES", 0);

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (lengths[i].kind == kind)
			return lengths[i].bytes + grown_bytes;
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

static void append(const void *record, bool is_finished)
{
	CUpti_ActivityKind kind = ((const CUpti_Activity *)record)->kind;
	size_t bytes = record_bytes(kind);
	size_t known_bytes = bytes - from_environment("MOCK_GROWN_BYTES", 0);
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

/* Device 1 has the contexts of even number. */
static uint32_t device_of(uint64_t context)
{
	return context % 2 == 0;
}

/* Whoever samples the GPU hears of a kernel that has a record. */
static void run_recorded(const void *record)
{
	const CUpti_ActivityKernel10 *kernel = record;
	struct mock_kernel ran = {.is_recorded = true};

	if (!on_kernel || kernel->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		return;
	ran.device = device_of(kernel->contextId);
	ran.name = kernel->name;
	ran.blocks = (unsigned int)kernel->gridX * (unsigned int)kernel->gridY *
		     (unsigned int)kernel->gridZ;
	ran.start_ns = kernel->start;
	ran.end_ns = kernel->end < kernel->start ? kernel->start : kernel->end;
	on_kernel(&ran);
}

void mock_emit(const void *record)
{
	run_recorded(record);
	append(record, true);
}

void mock_begin(const void *record)
{
	run_recorded(record);
	append(record, false);
}

void mock_finish_all(void)
{
	pthread_mutex_lock(&lock);
	for (struct thread_buffer *buffer = thread_buffers; buffer; buffer = buffer->next)
		buffer->unfinished_count = 0;
	pthread_mutex_unlock(&lock);
}

bool mock_is_enabled(CUpti_ActivityKind kind)
{
	return kind < CUPTI_ACTIVITY_KIND_COUNT && enabled_kinds[kind];
}

void mock_call(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER};
	bool is_child;

	if (!subscriber || !enabled_callbacks[domain][id])
		return;
	is_child = fork_if_asked(MOCK_CALLBACK);
	subscriber(NULL, domain, id, &data);
	data.callbackSite = CUPTI_API_EXIT;
	subscriber(NULL, domain, id, &data);
	if (is_child)
		exit(0);
}

void mock_copy(CUcontext context)
{
	CUpti_CallbackId id = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2;
	CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER, .context = context};

	if (!mock_calls_back(CUPTI_CB_DOMAIN_DRIVER_API, id))
		return;
	subscriber(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
	data.callbackSite = CUPTI_API_EXIT;
	subscriber(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

bool mock_calls_back(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return subscriber && enabled_callbacks[domain][id];
}

void mock_begin_context(CUcontext context)
{
	CUpti_ResourceData data = {.context = context};
	CUpti_CallbackId id = CUPTI_CBID_RESOURCE_CONTEXT_CREATED;

	if (mock_calls_back(CUPTI_CB_DOMAIN_RESOURCE, id))
		subscriber(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

/* CUPTI tells of a call of NVTX when it has returned. */
void mock_nvtx(CUpti_CallbackId id, const void *parameters, const void *returned)
{
	CUpti_NvtxData data = {.functionParams = parameters, .functionReturnValue = returned};

	if (mock_calls_back(CUPTI_CB_DOMAIN_NVTX, id))
		subscriber(NULL, CUPTI_CB_DOMAIN_NVTX, id, &data);
}

void mock_fork_at(enum mock_place place)
{
	fork_place = place;
}

void mock_deliver_all(void)
{
	deliver(true);
}

/* ---- CUPTI: the library ---- */

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	NOTE_CALL();
	*version = (uint32_t)from_environment("MOCK_VERSION", 130001);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct {
		CUptiResult result;
		const char *text;
	} texts[] = {
		{CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
		{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
		{CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
		{CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
		{CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
		{CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
		{CUPTI_ERROR_OUT_OF_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY"},
		{CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
	};

	NOTE_CALL();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].result == result) {
			*text = texts[i].text;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
	NOTE_CALL();
	*timestamp = realtime_ns();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	NOTE_CALL();
	return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS
							    : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- CUPTI: callbacks ---- */

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
				       void *user, CUpti_SubscriberParams *parameters)
{
	CUptiResult result = (CUptiResult)from_environment("MOCK_SUBSCRIBE", 0);

	(void)user;
	NOTE_CALL();
	if (subscriber)
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize,
			 "Another Tool");
	if (result == CUPTI_SUCCESS) {
		subscriber = callback;
		*handle = (CUpti_SubscriberHandle)&subscriber;
	}
	return result;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
					 CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	NOTE_CALL();
	if (handle != (CUpti_SubscriberHandle)&subscriber || id >= 2048)
		return CUPTI_ERROR_INVALID_PARAMETER;
	enabled_callbacks[domain][id] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
				       CUpti_CallbackDomain domain)
{
	NOTE_CALL();
	if (handle != (CUpti_SubscriberHandle)&subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (CUpti_CallbackId id = 0; id < 2048; id++)
		enabled_callbacks[domain][id] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
					  const char **name)
{
	NOTE_CALL();
	for (size_t i = 0; i < sizeof(callback_names) / sizeof(*callback_names); i++)
		if (callback_names[i].domain == domain && callback_names[i].id == id) {
			*name = callback_names[i].name;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *device)
{
	NOTE_CALL();
	*device = device_of((uintptr_t)context);
	return CUPTI_SUCCESS;
}

/* ---- CUPTI: activity ---- */

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
						    CUpti_BuffersCallbackCompleteFunc on_complete)
{
	CUptiResult result = (CUptiResult)from_environment("MOCK_REGISTER", 0);

	NOTE_CALL();
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
	NOTE_CALL();
	if (is_listed(getenv("MOCK_REFUSED_KINDS"), kind))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	enabled_kinds[kind] = true;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	NOTE_CALL();
	enabled_kinds[kind] = false;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	NOTE_CALL();
	deliver((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes,
						CUpti_Activity **record)
{
	uint8_t *at = buffer;

	NOTE_CALL();
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
	NOTE_CALL();
	pthread_mutex_lock(&lock);
	*dropped = dropped_count;
	dropped_count = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size,
					       void *value)
{
	NOTE_CALL();
	return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER && *size == 1 &&
			       *(uint8_t *)value == 1
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
	(void)id;
	(void)enable;
	NOTE_CALL();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
	(void)id;
	(void)enable;
	NOTE_CALL();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	(void)enable;
	NOTE_CALL();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDeviceGraph(uint8_t enable)
{
	(void)enable;
	NOTE_CALL();
	return CUPTI_SUCCESS;
}

/* ---- CUPTI: NVTX ---- */

/* CUPTI 13.0 U1 crashes here when nobody has subscribed before. */
static CUptiResult initialize_nvtx(void)
{
	if (!subscriber)
		abort();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiNvtxInitialize(void *table)
{
	(void)table;
	NOTE_CALL();
	return initialize_nvtx();
}

CUptiResult cuptiNvtxInitialize2(void *table)
{
	(void)table;
	NOTE_CALL();
	return initialize_nvtx();
}

CUptiResult cuptiNvtxExtensionInitialize(void *table)
{
	(void)table;
	NOTE_CALL();
	return initialize_nvtx();
}

#ifndef MOCK_WITHOUT_COUNTERS
#include "mock_counters.h"
#ifndef MOCK_WITHOUT_SAMPLING
#include "mock_sampling.h"
#endif
#endif
