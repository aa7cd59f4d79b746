/* pinned.c - copies of pageable memory: through pinned memory of the library's own, or passed on as they came. */
#include "pinned.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "before.h"
#include "clock.h"
#include "copy_worth.h"
#include "counts.h"
#include "deferred.h"
#include "driver.h"
#include "host_memory.h"
#include "launches.h"
#include "pool.h"
#include "process.h"
#include "ranges.h"
#include "registered.h"
#include "registering.h"
#include "run_time.h"
#include "staging.h"
#include "waits.h"

enum {
	/* The driver copies a megabyte in 60 us (h2d_pageable of ceilings/): of less there is little to gain, and threads wake slowly. */
	STAGED_LEAST_BYTES = 1 << 20,
	/* Before anything is pinned the program has copied this much: making 8 MiB and pinning them (host_register of ceilings/) takes
	 * longer than what is saved of less. */
	FIRST_BYTES = 32 << 20,
	CAPTURE_WAIT_MS = 200
};

static uint64_t seen_bytes;	       /* of copies that are large enough */
static unsigned under_way;	       /* copies through pinned memory */
static int stopped = TRY_REASON_COUNT; /* why none is staged any more */

static bool is_wanted(void)
{
	return process_wants(TRY_PINNED) && driver_open()->is_complete;
}

static CUdeviceptr address_of(const void *host)
{
	return (CUdeviceptr)(uintptr_t)host;
}

/* ---- whether ---- */

static bool is_plain_stream(CUstream stream)
{
	CUcontext of_stream = NULL, current = NULL;
	const struct driver *driver = driver_open();

	if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
		return true;
	return driver->get_current(&current) == CUDA_SUCCESS && current &&
	       driver->stream_context(stream, &of_stream) == CUDA_SUCCESS && of_stream == current;
}

static enum try_reason why_not_memory(const struct copy *copy)
{
	pool_return_at((CUdeviceptr)(uintptr_t)copy->host);
	if (!ranges_is_pageable(copy->host, copy->bytes) ||
	    registered_has_any(copy->host, copy->bytes))
		return TRY_KNOWN_MEMORY;
	if (!ranges_is_on_gpu(copy->device, copy->bytes))
		return TRY_MEMORY_RANGE;
	if (!host_memory_has_ends(copy->host, copy->bytes, copy->is_to_host))
		return TRY_BAD_ADDRESS;
	return TRY_REASON_COUNT;
}

static bool is_first(size_t bytes)
{
	uint64_t seen = __atomic_add_fetch(&seen_bytes, bytes, __ATOMIC_RELAXED);

	return seen < FIRST_BYTES && !process_is_stubborn();
}

/* What is cheap to know first. */
static enum try_reason why_not(const struct copy *copy)
{
	int why = __atomic_load_n(&stopped, __ATOMIC_RELAXED);

	if (copy->bytes < STAGED_LEAST_BYTES)
		return TRY_SMALL_COPY;
	if (why != TRY_REASON_COUNT)
		return (enum try_reason)why;
	if (!copy_worth_pays(copy->is_to_host))
		return TRY_ASIDE;
	if (deferred_count_captures())
		return TRY_CAPTURE;
	if (!is_plain_stream(copy->stream))
		return TRY_STREAM;
	why = (int)why_not_memory(copy);
	if (why != TRY_REASON_COUNT)
		return (enum try_reason)why;
	return is_first(copy->bytes) ? TRY_FIRST_COPIES : TRY_REASON_COUNT;
}

/* ---- how ---- */

static void note_worth(const struct copy *copy, const struct staged *staged, size_t passed_bytes,
		       uint64_t passed_ns)
{
	if (copy_worth_note(copy->is_to_host, (double)staged->took_ns / (double)staged->bytes,
			    (double)passed_ns / (double)passed_bytes))
		counts_add(TRY_STEPPED_ASIDE, 1);
}

/* What was not staged is the driver's, and so is what it says of that. */
static CUresult pass_rest(const struct copy *copy, const struct staged *staged, size_t left)
{
	size_t from = staged->is_error ? 0 : staged->bytes;
	uint64_t start_ns = clock_ns();
	CUresult result = copy->pass(copy, from, copy->bytes - from);

	if (left && staged->is_over && staged->reason == TRY_REASON_COUNT && result == CUDA_SUCCESS)
		note_worth(copy, staged, left, clock_ns() - start_ns);
	return result;
}

/* It was copied as the program would have it copied otherwise, with pageable memory: so that is what it takes. */
static bool reason_is_of_worth(enum try_reason reason)
{
	return reason == TRY_REASON_COUNT || reason == TRY_FIRST_COPIES || reason == TRY_ASIDE;
}

static CUresult stage(const struct copy *copy)
{
	size_t left = copy_worth_left(copy->is_to_host, copy->bytes);
	struct staged staged = staging_copy(copy, copy->bytes - left, left > 0);

	if (staged.reason != TRY_REASON_COUNT)
		counts_add_passed(staged.reason);
	if (!staged.is_error && staged.bytes) {
		counts_add(TRY_COPIES_STAGED, 1);
		counts_add(TRY_STAGED_BYTES, staged.bytes);
	}
	return !staged.is_error && staged.bytes == copy->bytes ? CUDA_SUCCESS
							       : pass_rest(copy, &staged, left);
}

static bool may_be_registered(const struct copy *copy)
{
	if (!registering_may_have(copy->bytes) ||
	    __atomic_load_n(&stopped, __ATOMIC_RELAXED) != TRY_REASON_COUNT)
		return false;
	if (deferred_count_captures())
		return false;
	pool_return_at(address_of(copy->host));
	return is_plain_stream(copy->stream) && ranges_is_on_gpu(copy->device, copy->bytes);
}

/* Either end: the program may take one for the other, and the driver is to say so. */
static void begin_unregistered(const struct copy *copy, int numbers[2])
{
	numbers[0] = registering_begin(copy->host, copy->bytes);
	numbers[1] = registering_begin((const void *)(uintptr_t)copy->device, copy->bytes);
}

/* The legacy default stream never is, and must not be asked. */
static bool is_captured(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return stream != CU_STREAM_LEGACY &&
	       (driver_open()->is_capturing(stream, &status) != CUDA_SUCCESS ||
		status != CU_STREAM_CAPTURE_STATUS_NONE);
}

/* Through pinned memory of the library's own, or passed on. */
static CUresult copy_unregistered(const struct copy *copy, bool is_plain)
{
	enum try_reason reason = why_not(copy);
	bool is_compared = is_plain && reason_is_of_worth(reason) && registering_compares(copy);
	uint64_t start_ns = is_compared ? clock_ns() : 0;
	CUresult result;

	if (reason == TRY_REASON_COUNT)
		result = stage(copy);
	__atomic_fetch_sub(&under_way, 1, __ATOMIC_SEQ_CST);
	if (reason != TRY_REASON_COUNT) {
		counts_add_passed(reason);
		result = copy->pass(copy, 0, copy->bytes);
	}
	if (reason == TRY_CAPTURE && result == CUDA_SUCCESS && is_captured(copy->stream))
		registering_before(TAKES); /* a graph copies the memory later */
	if (is_compared && result == CUDA_SUCCESS)
		registering_note(copy, clock_ns() - start_ns);
	return result;
}

/* Counted before it is known whether anything is captured: who begins to, looks at this after that. */
static CUresult copy_or_pass(const struct copy *copy)
{
	int numbers[2];
	bool is_plain;
	CUresult result;

	if (!is_wanted())
		return copy->pass(copy, 0, copy->bytes);
	counts_add(TRY_COPIES_SEEN, 1);
	__atomic_fetch_add(&under_way, 1, __ATOMIC_SEQ_CST);
	is_plain = may_be_registered(copy);
	if (is_plain && registering_copy(copy)) {
		__atomic_fetch_sub(&under_way, 1, __ATOMIC_SEQ_CST);
		return CUDA_SUCCESS;
	}
	begin_unregistered(copy, numbers);
	result = copy_unregistered(copy, is_plain);
	registering_end(numbers[0]);
	registering_end(numbers[1]);
	return result;
}

static CUresult copy_between(const struct copy *copy)
{
	CUresult result = copy_or_pass(copy);

	deferred_end_passing();
	return result;
}

/* ---- the functions ---- */

/* The stream by its name: where none is given it is the default one. */
static CUstream named(CUstream given, CUstream usual)
{
	return given ? given : usual;
}

static void *host_at(const struct copy *copy, size_t from)
{
	return (unsigned char *)copy->host + from;
}

#define FROM_HOST(name, exported, member, wait, usual)                                         \
	static CUresult pass_##name(const struct copy *copy, size_t from, size_t bytes)        \
	{                                                                                      \
		return driver_open()->member(copy->device + from, host_at(copy, from), bytes); \
	}                                                                                      \
                                                                                               \
	CUresult name(CUdeviceptr to, const void *from, size_t bytes)                          \
	{                                                                                      \
		if (!driver_open()->member)                                                    \
			return CUDA_ERROR_NOT_FOUND;                                           \
		PASS_BEFORE(exported);                                                         \
		waits_before(wait);                                                            \
		return copy_between(&(struct copy){.host = (void *)from,                       \
						   .device = to,                               \
						   .bytes = bytes,                             \
						   .stream = usual,                            \
						   .pass = pass_##name});                      \
	}

#define FROM_HOST_ASYNC(name, exported, member, usual)                                        \
	static CUresult pass_##name(const struct copy *copy, size_t from, size_t bytes)       \
	{                                                                                     \
		return driver_open()->member(copy->device + from, host_at(copy, from), bytes, \
					     copy->given);                                    \
	}                                                                                     \
                                                                                              \
	CUresult name(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)        \
	{                                                                                     \
		CUresult late = CUDA_SUCCESS;                                                 \
                                                                                              \
		if (!driver_open()->member)                                                   \
			return CUDA_ERROR_NOT_FOUND;                                          \
		if (transfers_put_from_host(to, from, bytes, stream,                          \
					    (usual) == CU_STREAM_PER_THREAD, &late))          \
			return late;                                                          \
		PASS_BEFORE(exported);                                                        \
		waits_before(GIVES);                                                          \
		return copy_between(&(struct copy){.is_async = true,                          \
						   .host = (void *)from,                      \
						   .device = to,                              \
						   .bytes = bytes,                            \
						   .stream = named(stream, usual),            \
						   .given = stream,                           \
						   .pass = pass_##name});                     \
	}

/* It waits for the copy. */
#define TO_HOST(name, exported, member, usual)                                                 \
	static CUresult pass_##name(const struct copy *copy, size_t from, size_t bytes)        \
	{                                                                                      \
		return driver_open()->member(host_at(copy, from), copy->device + from, bytes); \
	}                                                                                      \
                                                                                               \
	CUresult name(void *to, CUdeviceptr from, size_t bytes)                                \
	{                                                                                      \
		CUresult result;                                                               \
                                                                                               \
		if (!driver_open()->member)                                                    \
			return CUDA_ERROR_NOT_FOUND;                                           \
		PASS_BEFORE(exported);                                                         \
		waits_before(TELLS);                                                           \
		result = copy_between(&(struct copy){.is_to_host = true,                       \
						     .host = to,                               \
						     .device = from,                           \
						     .bytes = bytes,                           \
						     .stream = usual,                          \
						     .pass = pass_##name});                    \
		run_time_end();                                                                \
		return result;                                                                 \
	}

#define TO_HOST_ASYNC(name, exported, member, usual)                                          \
	static CUresult pass_##name(const struct copy *copy, size_t from, size_t bytes)       \
	{                                                                                     \
		return driver_open()->member(host_at(copy, from), copy->device + from, bytes, \
					     copy->given);                                    \
	}                                                                                     \
                                                                                              \
	CUresult name(void *to, CUdeviceptr from, size_t bytes, CUstream stream)              \
	{                                                                                     \
		CUresult late = CUDA_SUCCESS;                                                 \
                                                                                              \
		if (!driver_open()->member)                                                   \
			return CUDA_ERROR_NOT_FOUND;                                          \
		if (transfers_put_to_host(to, from, bytes, stream,                            \
					  (usual) == CU_STREAM_PER_THREAD, &late))            \
			return late;                                                          \
		PASS_BEFORE(exported);                                                        \
		waits_before(GIVES);                                                          \
		return copy_between(&(struct copy){.is_to_host = true,                        \
						   .is_async = true,                          \
						   .host = to,                                \
						   .device = from,                            \
						   .bytes = bytes,                            \
						   .stream = named(stream, usual),            \
						   .given = stream,                           \
						   .pass = pass_##name});                     \
	}

FROM_HOST(try_copy_from_host, "cuMemcpyHtoD_v2", copy_from_host, LEGACY, CU_STREAM_LEGACY)
FROM_HOST(try_copy_from_host_ptds, "cuMemcpyHtoD_v2_ptds", copy_from_host_ptds, GIVES,
	  CU_STREAM_PER_THREAD)
FROM_HOST_ASYNC(try_copy_from_host_async, "cuMemcpyHtoDAsync_v2", copy_from_host_async,
		CU_STREAM_LEGACY)
FROM_HOST_ASYNC(try_copy_from_host_async_ptsz, "cuMemcpyHtoDAsync_v2_ptsz",
		copy_from_host_async_ptsz, CU_STREAM_PER_THREAD)
TO_HOST(try_copy_to_host, "cuMemcpyDtoH_v2", copy_to_host, CU_STREAM_LEGACY)
TO_HOST(try_copy_to_host_ptds, "cuMemcpyDtoH_v2_ptds", copy_to_host_ptds, CU_STREAM_PER_THREAD)
TO_HOST_ASYNC(try_copy_to_host_async, "cuMemcpyDtoHAsync_v2", copy_to_host_async, CU_STREAM_LEGACY)
TO_HOST_ASYNC(try_copy_to_host_async_ptsz, "cuMemcpyDtoHAsync_v2_ptsz", copy_to_host_async_ptsz,
	      CU_STREAM_PER_THREAD)

/* ---- the same where the addresses say what is the host's ---- */

static CUdeviceptr to_of(const struct copy *copy, size_t from)
{
	return (copy->is_to_host ? address_of(copy->host) : copy->device) + from;
}

static CUdeviceptr from_of(const struct copy *copy, size_t from)
{
	return (copy->is_to_host ? copy->device : address_of(copy->host)) + from;
}

static CUresult copy_of_any(struct copy copy, CUdeviceptr to, CUdeviceptr from)
{
	copy.is_to_host = is_wanted() && registering_may_have(copy.bytes) &&
			  ranges_is_on_gpu(from, copy.bytes);
	copy.device = copy.is_to_host ? from : to;
	copy.host = (void *)(uintptr_t)(copy.is_to_host ? to : from);
	return copy_between(&copy);
}

#define ANY(name, exported, member, usual)                                                   \
	static CUresult pass_##name(const struct copy *copy, size_t from, size_t bytes)      \
	{                                                                                    \
		return driver_open()->member(to_of(copy, from), from_of(copy, from), bytes); \
	}                                                                                    \
                                                                                             \
	CUresult name(CUdeviceptr to, CUdeviceptr from, size_t bytes)                        \
	{                                                                                    \
		if (!driver_open()->member)                                                  \
			return CUDA_ERROR_NOT_FOUND;                                         \
		PASS_BEFORE(exported);                                                       \
		waits_before(GIVES);                                                         \
		return copy_of_any((struct copy){.bytes = bytes,                             \
						 .stream = usual,                            \
						 .pass = pass_##name},                       \
				   to, from);                                                \
	}

#define ANY_ASYNC(name, exported, member, usual)                                            \
	static CUresult pass_##name(const struct copy *copy, size_t from, size_t bytes)     \
	{                                                                                   \
		return driver_open()->member(to_of(copy, from), from_of(copy, from), bytes, \
					     copy->given);                                  \
	}                                                                                   \
                                                                                            \
	CUresult name(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)      \
	{                                                                                   \
		if (!driver_open()->member)                                                 \
			return CUDA_ERROR_NOT_FOUND;                                        \
		PASS_BEFORE(exported);                                                      \
		waits_before(GIVES);                                                        \
		return copy_of_any((struct copy){.is_async = true,                          \
						 .bytes = bytes,                            \
						 .stream = named(stream, usual),            \
						 .given = stream,                           \
						 .pass = pass_##name},                      \
				   to, from);                                               \
	}

ANY(try_copy_any, "cuMemcpy", copy_any, CU_STREAM_LEGACY)
ANY(try_copy_any_ptds, "cuMemcpy_ptds", copy_any_ptds, CU_STREAM_PER_THREAD)
ANY_ASYNC(try_copy_any_async, "cuMemcpyAsync", copy_any_async, CU_STREAM_LEGACY)
ANY_ASYNC(try_copy_any_async_ptsz, "cuMemcpyAsync_ptsz", copy_any_async_ptsz, CU_STREAM_PER_THREAD)

/* ---- the process ---- */

void pinned_before(enum function_memory memory, enum function_host host)
{
	if (!is_wanted())
		return;
	registering_before(host);
	if (memory == LOSES)
		staging_forget();
}

/* A copy may wait for a thread that is to capture: it is not waited for without end. */
void pinned_begin_capture(void)
{
	uint64_t start_ns = clock_ns();

	while (__atomic_load_n(&under_way, __ATOMIC_SEQ_CST) &&
	       clock_ns() - start_ns < CAPTURE_WAIT_MS * 1000000ull)
		sched_yield();
	registering_before(SEES);
}

/* The driver does not work in the child of a process that used it, and the threads are not there. */
void pinned_forked(void)
{
	under_way = 0;
	stopped = TRY_FORKED;
	staging_forked();
	registering_forked();
	registered_forked();
}
