/*
 * transfers.c - memsets, and copies within memory of the GPU: put off as launches are, or passed on at once.
 *
 * The driver refuses a memset beyond what was allocated at once.  So one is put off only where the driver says that it lies in
 * memory of the current context, which is neither managed nor the host's: with such memory it may wait, too.
 */
#include <stdint.h>

#include "deferred.h"
#include "driver.h"
#include "launches.h"
#include "process.h"
#include "ranges.h"
#include "waits.h"
#include "work.h"

static enum try_reason why_not_set(const struct memory_set *set)
{
	if (set->count > SIZE_MAX / set->element_bytes || set->address % set->element_bytes)
		return TRY_MEMORY_RANGE;
	return ranges_is_on_gpu(set->address, set->count * set->element_bytes) ? TRY_REASON_COUNT
									       : TRY_MEMORY_RANGE;
}

static enum try_reason why_not_copy(const struct memory_copy *copy)
{
	if (copy->to < copy->from + copy->bytes && copy->from < copy->to + copy->bytes)
		return TRY_MEMORY_RANGE;
	return ranges_is_on_gpu(copy->to, copy->bytes) && ranges_is_on_gpu(copy->from, copy->bytes)
		       ? TRY_REASON_COUNT
		       : TRY_MEMORY_RANGE;
}

/* Without a stream a function for per-thread default streams means the calling thread's. */
static bool put(struct kernel *kernel, void *parameter, CUstream stream, bool is_of_thread,
		enum try_reason known, CUresult *late)
{
	const struct launch launch = {.kernel = kernel,
				      .stream = stream,
				      .parameters = (void *[]){parameter}};

	waits_note_work(stream, is_of_thread);
	if (is_of_thread && !stream)
		known = TRY_STREAM;
	return deferred_put(&launch, known, &known, late);
}

static bool put_set(CUdeviceptr address, unsigned value, unsigned element_bytes, size_t count,
		    CUstream stream, bool is_of_thread, CUresult *late)
{
	struct memory_set set = {address, count, value, element_bytes};

	return put(work_set(element_bytes), &set, stream, is_of_thread,
		   deferred_is_on() ? why_not_set(&set) : TRY_REASON_COUNT, late);
}

static bool put_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream,
		     bool is_of_thread, CUresult *late)
{
	struct memory_copy copy = {to, from, bytes};

	return put(work_copy(), &copy, stream, is_of_thread,
		   deferred_is_on() ? why_not_copy(&copy) : TRY_REASON_COUNT, late);
}

/* The host may not touch it before it has waited, and then all that was put off was given to the driver.  Memory that this
 * library registered is pageable for the program: there is some with --pinned alone. */
static bool put_host(struct kernel *kernel, struct memory_copy copy, CUdeviceptr on_gpu,
		     CUdeviceptr host, CUstream stream, bool is_of_thread, CUresult *late)
{
	if (!deferred_is_putting_off() || process_wants(TRY_PINNED) || (is_of_thread && !stream) ||
	    !ranges_is_pinned((const void *)(uintptr_t)host, copy.bytes) ||
	    !ranges_is_on_gpu(on_gpu, copy.bytes))
		return false;
	waits_before(GIVES);
	return put(kernel, &copy, stream, is_of_thread, TRY_REASON_COUNT, late);
}

bool transfers_put_from_host(CUdeviceptr to, const void *from, size_t bytes, CUstream stream,
			     bool is_of_thread, CUresult *late)
{
	CUdeviceptr host = (CUdeviceptr)(uintptr_t)from;

	return put_host(work_copy_from_host(), (struct memory_copy){to, host, bytes}, to, host,
			stream, is_of_thread, late);
}

bool transfers_put_to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream,
			   bool is_of_thread, CUresult *late)
{
	CUdeviceptr host = (CUdeviceptr)(uintptr_t)to;

	return put_host(work_copy_to_host(), (struct memory_copy){host, from, bytes}, from, host,
			stream, is_of_thread, late);
}

#define SET(name, member, type, element_bytes, is_of_thread)                                    \
	CUresult name(CUdeviceptr address, type value, size_t count, CUstream stream)           \
	{                                                                                       \
		__typeof__(driver_open()->member) real = driver_open()->member;                 \
		CUresult late = CUDA_SUCCESS, result;                                           \
                                                                                                \
		if (put_set(address, value, element_bytes, count, stream, is_of_thread, &late)) \
			return late;                                                            \
		result = real ? real(address, value, count, stream) : CUDA_ERROR_NOT_FOUND;     \
		deferred_end_passing();                                                         \
		return result;                                                                  \
	}

SET(try_set_8, set_8, unsigned char, 1, false)
SET(try_set_8_ptsz, set_8_ptsz, unsigned char, 1, true)
SET(try_set_16, set_16, unsigned short, 2, false)
SET(try_set_16_ptsz, set_16_ptsz, unsigned short, 2, true)
SET(try_set_32, set_32, unsigned, 4, false)
SET(try_set_32_ptsz, set_32_ptsz, unsigned, 4, true)

#define COPY(name, member, is_of_thread)                                               \
	CUresult name(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) \
	{                                                                              \
		__typeof__(driver_open()->member) real = driver_open()->member;        \
		CUresult late = CUDA_SUCCESS, result;                                  \
                                                                                       \
		if (put_copy(to, from, bytes, stream, is_of_thread, &late))            \
			return late;                                                   \
		result = real ? real(to, from, bytes, stream) : CUDA_ERROR_NOT_FOUND;  \
		deferred_end_passing();                                                \
		return result;                                                         \
	}

COPY(try_copy, copy, false)
COPY(try_copy_ptsz, copy_ptsz, true)
