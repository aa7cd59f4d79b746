/*
 * copies.c - copies between the host and the GPU, and memory of the host that is registered.
 *
 * It refuses to copy memory of which a part is registered.  From or to a bad address of the host a copy is done as far as it goes, and fails.  What is copied by way of memory that was
 * registered for all contexts, as the tested library does it and the programs do not, is one operation in the hash however many
 * pieces it is made of, with what it leaves to the driver; and its pieces are done as late as can be.
 * FAKE_DRIVER_STALLS=1: those for the GPU only when something else is.  FAKE_DRIVER_SLOW_COPIES=pieces or whole: each of these, or
 * of other copies, takes two milliseconds for a megabyte.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, REGISTERED_MOST = 64, PIECES_MOST = 1 << 12, EVENTS_MOST = 1 << 12 };

struct copy {
	bool is_to_host, is_async;
	void *host;
	CUdeviceptr device;
	size_t bytes;
	CUstream stream;
};

/* ---- memory that is registered ---- */

/* The GPU has the pages that were there when it was registered: what was in those that the program unmapped since is in old. */
static struct registered {
	unsigned char *address;
	size_t bytes;
	bool is_of_library;
	CUcontext context;
	unsigned char *old;
	bool *is_old; /* by page */
} registered[REGISTERED_MOST];

/* Memory of the host, whatever the program may do with it. */
static int memory_file;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_memory(void)
{
	memory_file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (memory_file < 0)
		abort();
}

static struct registered *registered_at(const void *address)
{
	for (int i = 0; i < REGISTERED_MOST; i++)
		if (registered[i].address &&
		    (const unsigned char *)address >= registered[i].address &&
		    (const unsigned char *)address < registered[i].address + registered[i].bytes)
			return &registered[i];
	return NULL;
}

bool fake_is_registered(CUdeviceptr address)
{
	bool is_registered;

	pthread_mutex_lock(&fake_lock);
	is_registered = registered_at((void *)address) != NULL;
	pthread_mutex_unlock(&fake_lock);
	return is_registered;
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags)
{
	CUresult result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;

	pthread_mutex_lock(&fake_lock);
	fake_disturb();
	for (int i = 0; i < REGISTERED_MOST && !registered_at(address); i++)
		if (!registered[i].address) {
			registered[i] = (struct registered){
				address,	bytes, flags == CU_MEMHOSTREGISTER_PORTABLE,
				fake_current(), NULL,  NULL};
			result = fake_answer();
		}
	pthread_mutex_unlock(&fake_lock);
	return result;
}

static CUresult answer_of(const struct registered *one, void *value, CUpointer_attribute attribute)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)value = one->context;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)value = CU_MEMORYTYPE_HOST;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)value = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)one->address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)value = one->bytes;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult fake_registered_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
	const struct registered *found;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&fake_lock);
	found = registered_at((void *)address);
	if (found)
		result = answer_of(found, value, attribute);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *address)
{
	*flags = 0;
	return fake_is_registered((CUdeviceptr)(uintptr_t)address) ? CUDA_SUCCESS
								   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostUnregister(void *address)
{
	struct registered *found;

	pthread_mutex_lock(&fake_lock);
	fake_disturb();
	fake_settle_pieces();
	found = registered_at(address);
	if (found && found->address != address)
		found = NULL;
	if (found) {
		free(found->old);
		free(found->is_old);
		*found = (struct registered){0};
	}
	pthread_mutex_unlock(&fake_lock);
	return found ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

static void keep_old(struct registered *one, uintptr_t start, uintptr_t end)
{
	size_t pages = one->bytes / PAGE_BYTES + 2;

	if (end <= (uintptr_t)one->address || start >= (uintptr_t)one->address + one->bytes)
		return;
	if (!one->old) {
		one->old = malloc(one->bytes);
		one->is_old = calloc(pages, 1);
	}
	if (!one->old || !one->is_old)
		abort();
	for (size_t from = 0; from < one->bytes; from += PAGE_BYTES) {
		uintptr_t page = (uintptr_t)one->address + from;
		size_t bytes = one->bytes - from < PAGE_BYTES ? one->bytes - from : PAGE_BYTES;

		if (page + PAGE_BYTES <= start || page >= end || one->is_old[from / PAGE_BYTES])
			continue;
		one->is_old[from / PAGE_BYTES] = true;
		if (pread(memory_file, one->old + from, bytes, (off_t)page) != (ssize_t)bytes)
			memset(one->old + from, 0, bytes);
	}
}

void fake_unmaps(const void *address, size_t bytes)
{
	pthread_once(&once, open_memory);
	pthread_mutex_lock(&fake_lock);
	fake_settle_pieces();
	for (int i = 0; i < REGISTERED_MOST; i++)
		if (registered[i].address)
			keep_old(&registered[i], (uintptr_t)address, (uintptr_t)address + bytes);
	pthread_mutex_unlock(&fake_lock);
}

/* ---- pieces, which are done late ---- */

static struct copy pieces[PIECES_MOST];
static unsigned long pieces_given, pieces_done, pieces_before[EVENTS_MOST];
static bool was_asked[EVENTS_MOST];

/* The operation in the hash that the last pieces belong to; without bytes: there is none. */
static struct copy operation;

static void take_time(const struct copy *copy, const char *of)
{
	const char *slow = getenv("FAKE_DRIVER_SLOW_COPIES");

	if (slow && !strcmp(slow, of))
		usleep((unsigned)(copy->bytes /
				  100)); /* much longer than a busy machine takes for it */
}

/* From or to the page that was registered; it may have been unmapped, or be one that the program cannot touch. */
static void move_of_page(bool is_to_host, uintptr_t host, unsigned char *device, size_t bytes)
{
	const struct registered *one = registered_at((void *)host);
	size_t from = one ? host - (uintptr_t)one->address : 0;

	if (one && one->old && one->is_old[from / PAGE_BYTES]) {
		if (is_to_host)
			memcpy(one->old + from, device, bytes);
		else
			memcpy(device, one->old + from, bytes);
	} else if ((is_to_host
			    ? pwrite(memory_file, device, bytes, (off_t)host)
			    : pread(memory_file, device, bytes, (off_t)host)) != (ssize_t)bytes) {
		abort();
	}
}

/* Much faster than by page; as far as the program can touch the memory. */
static bool move_at_once(const struct copy *copy)
{
	struct iovec device = {(void *)copy->device, copy->bytes};
	struct iovec host = {copy->host, copy->bytes};
	ssize_t moved = copy->is_to_host ? process_vm_writev(getpid(), &device, 1, &host, 1, 0)
					 : process_vm_readv(getpid(), &device, 1, &host, 1, 0);

	return moved == (ssize_t)copy->bytes;
}

/* A page of it is no longer the one that was registered. */
static bool has_old(const struct copy *copy)
{
	const struct registered *one = registered_at(copy->host);
	size_t from = one ? (size_t)((unsigned char *)copy->host - one->address) : 0;

	if (!one || !one->old)
		return false;
	for (size_t i = from / PAGE_BYTES; i * PAGE_BYTES < from + copy->bytes; i++)
		if (one->is_old[i])
			return true;
	return false;
}

static void move_bytes(const struct copy *copy)
{
	take_time(copy, "pieces");
	if (!has_old(copy) && move_at_once(copy))
		return;
	pthread_once(&once, open_memory);
	for (size_t from = 0, bytes; from < copy->bytes; from += bytes) {
		uintptr_t host = (uintptr_t)copy->host + from;

		bytes = PAGE_BYTES - host % PAGE_BYTES;
		bytes = bytes < copy->bytes - from ? bytes : copy->bytes - from;
		move_of_page(copy->is_to_host, host, (unsigned char *)copy->device + from, bytes);
	}
}

static void settle_until(unsigned long until)
{
	for (; pieces_done < until; pieces_done++)
		move_bytes(&pieces[pieces_done % PIECES_MOST]);
}

void fake_settle_pieces(void)
{
	settle_until(pieces_given);
}

void fake_settle_pieces_behind(CUevent event)
{
	settle_until(fake_is_silent(event) ? pieces_before[(size_t)event % EVENTS_MOST]
					   : pieces_given);
}

void fake_note_pieces(CUevent event)
{
	pieces_before[(size_t)event % EVENTS_MOST] = pieces_given;
	was_asked[(size_t)event % EVENTS_MOST] = false;
}

/* FAKE_DRIVER_STALLS=1: pieces for the GPU are not done before anything else is. */
static bool is_stalled(unsigned long piece)
{
	return getenv("FAKE_DRIVER_STALLS") && piece > pieces_done &&
	       !pieces[(piece - 1) % PIECES_MOST].is_to_host;
}

/* FAKE_DRIVER_TIME=1: what is in front of an event is done the second time that it is asked, though nobody waited for that. */
static bool has_time(void)
{
	return getenv("FAKE_DRIVER_TIME") != NULL;
}

/* The first time that it is asked they are not done. */
bool fake_settle_pieces_before(CUevent event)
{
	size_t i = (size_t)event % EVENTS_MOST;
	bool is_first = !was_asked[i];

	if (!fake_is_silent(event) || (!pieces_before[i] && !has_time()))
		return true;
	if (is_stalled(pieces_before[i]))
		return false;
	was_asked[i] = true;
	if (is_first && (pieces_before[i] > pieces_done || has_time()))
		return false;
	settle_until(pieces_before[i]);
	fake_wait_for_event(event);
	return true;
}

/* ---- copies ---- */

/* What the library leaves to the driver may have been in a piece before; nothing is done between. */
static bool is_rest(const struct copy *copy, bool is_piece)
{
	CUdeviceptr end = operation.device + operation.bytes;

	if (!operation.bytes || copy->is_to_host != operation.is_to_host ||
	    copy->stream != operation.stream)
		return false;
	if (is_piece && copy->device == operation.device) {
		operation.bytes = 0; /* all over again: it was given up */
		return true;
	}
	return copy->device == end ||
	       (!is_piece && copy->device >= operation.device && copy->device < end);
}

void fake_end_operation(void)
{
	operation.bytes = 0;
}

static CUresult log_copy(const struct copy *copy, bool is_piece)
{
	int stream = fake_stream_of(copy->stream)->id;

	if (is_rest(copy, is_piece))
		return fake_answer();
	operation = *copy;
	operation.bytes = 0;
	fake_order(stream);
	fake_mix(&stream, sizeof(stream));
	return fake_observe(copy->is_to_host ? "copy_to_host" : "copy_from_host",
			    (long)fake_address(copy->device));
}

static CUresult give_piece(const struct copy *copy)
{
	CUresult result;

	if (pieces_given - pieces_done == PIECES_MOST)
		abort();
	result = log_copy(copy, true);
	pieces[pieces_given++ % PIECES_MOST] = *copy;
	operation.bytes += copy->bytes;
	return result;
}

/* Where not all of it can be moved, as many of its pages as can. */
static bool move_pages(const struct copy *copy)
{
	size_t bytes = PAGE_BYTES - (uintptr_t)copy->host % PAGE_BYTES;

	if (move_at_once(copy))
		return true;
	for (size_t from = 0; from < copy->bytes; from += bytes, bytes = PAGE_BYTES) {
		struct copy page = *copy;

		page.host = (unsigned char *)copy->host + from;
		page.device = copy->device + from;
		page.bytes = bytes < copy->bytes - from ? bytes : copy->bytes - from;
		if (!move_at_once(&page))
			return false;
	}
	return true;
}

bool fake_is_pinned(CUdeviceptr address, size_t bytes)
{
	unsigned type[2] = {0};

	for (int i = 0; i < 2; i++)
		if (cuPointerGetAttribute(&type[i], CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
					  address + (i ? bytes - 1 : 0)) != CUDA_SUCCESS ||
		    type[i] != CU_MEMORYTYPE_HOST)
			return false;
	return bytes;
}

/* It returns before it is done. */
static bool is_later(const struct copy *copy)
{
	return copy->is_async && fake_is_pinned((CUdeviceptr)(uintptr_t)copy->host, copy->bytes);
}

/* What of the host's memory it copies is there once its stream has done what is in front. */
static bool is_behind_stream(const struct copy *copy)
{
	return !copy->is_to_host && !copy->is_async &&
	       !fake_is_pinned((CUdeviceptr)(uintptr_t)copy->host, copy->bytes);
}

static CUresult copy_now(const struct copy *copy)
{
	CUresult result;

	fake_settle_pieces();
	if (is_behind_stream(copy))
		fake_wait_for_stream(fake_stream_of(copy->stream)->id);
	take_time(copy, "whole");
	result = log_copy(copy, false);
	fake_end_operation();
	if (result == CUDA_SUCCESS && !move_pages(copy))
		result = CUDA_ERROR_INVALID_VALUE;
	if (copy->is_to_host && !is_later(copy))
		fake_wait_for_stream(fake_stream_of(copy->stream)->id);
	return result;
}

CUresult fake_run_host_copy(const struct work *work, CUstream stream)
{
	bool is_to_host = !strcmp(work->kind->name, "copy_to_host");
	CUdeviceptr to, from;
	size_t bytes;

	memcpy(&to, work->parameters, 8);
	memcpy(&from, work->parameters + 8, 8);
	memcpy(&bytes, work->parameters + 16, 8);
	return copy_now(&(struct copy){is_to_host, true, (void *)(is_to_host ? to : from),
				       is_to_host ? from : to, bytes, stream});
}

/* A part of it is registered, and another one is not. */
static bool is_mixed(const struct copy *copy)
{
	const unsigned char *start = copy->host, *end = start + copy->bytes;

	for (int i = 0; i < REGISTERED_MOST; i++) {
		const struct registered *one = &registered[i];

		if (one->address && one->address < end && start < one->address + one->bytes &&
		    (one->address > start || one->address + one->bytes < end))
			return true;
	}
	return false;
}

static CUresult copy_locked(const struct copy *copy)
{
	const struct registered *pinned = registered_at(copy->host);

	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (fake_current()->error)
		return fake_current()->error;
	if (fake_stream_of(copy->stream)->captured)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (!fake_is_allocated(copy->device, copy->bytes) || is_mixed(copy))
		return CUDA_ERROR_INVALID_VALUE;
	return pinned && pinned->is_of_library && copy->is_async ? give_piece(copy)
								 : copy_now(copy);
}

static CUresult copy_between(struct copy copy)
{
	CUresult result;

	if (!copy.bytes)
		return fake_answer();
	pthread_mutex_lock(&fake_lock);
	result = copy_locked(&copy);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

static CUstream named(CUstream stream, CUstream usual)
{
	return stream ? stream : usual;
}

#define COPIES(from_host, to_host, usual)                                                         \
	CUresult from_host(CUdeviceptr to, const void *from, size_t bytes)                        \
	{                                                                                         \
		return copy_between((struct copy){false, false, (void *)from, to, bytes, usual}); \
	}                                                                                         \
	CUresult to_host(void *to, CUdeviceptr from, size_t bytes)                                \
	{                                                                                         \
		return copy_between((struct copy){true, false, to, from, bytes, usual});          \
	}

#define COPIES_ASYNC(from_host, to_host, usual)                                             \
	CUresult from_host(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) \
	{                                                                                   \
		return copy_between((struct copy){false, true, (void *)from, to, bytes,     \
						  named(stream, usual)});                   \
	}                                                                                   \
	CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream)         \
	{                                                                                   \
		return copy_between(                                                        \
			(struct copy){true, true, to, from, bytes, named(stream, usual)});  \
	}

COPIES(cuMemcpyHtoD, cuMemcpyDtoH, CU_STREAM_LEGACY)
COPIES(cuMemcpyHtoD_v2_ptds, cuMemcpyDtoH_v2_ptds, CU_STREAM_PER_THREAD)
COPIES_ASYNC(cuMemcpyHtoDAsync, cuMemcpyDtoHAsync, CU_STREAM_LEGACY)
COPIES_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyDtoHAsync_v2_ptsz, CU_STREAM_PER_THREAD)

static CUresult copy_any(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream,
			 bool is_async)
{
	bool is_to_host = fake_is_allocated(from, 1);

	return copy_between((struct copy){is_to_host, is_async, (void *)(is_to_host ? to : from),
					  is_to_host ? from : to, bytes, stream});
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return copy_any(to, from, bytes, CU_STREAM_LEGACY, false);
}

CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return copy_any(to, from, bytes, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy_any(to, from, bytes, named(stream, CU_STREAM_LEGACY), true);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy_any(to, from, bytes, named(stream, CU_STREAM_PER_THREAD), true);
}
