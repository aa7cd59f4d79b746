/*
 * memory.c - the start, memory, and what functions there are.
 *
 * What is freed is overwritten, and counts as free: FAKE_DRIVER_MEMORY bytes are all that there is.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_ADDRESS ((void *)0x200000000000)
enum { ARENA_BYTES = 1 << 28, BLOCKS = 1 << 14, POISON = 0xdd };

/* Memory of the GPU; it is never used again in another size. */
struct block {
	unsigned char *address;
	size_t bytes;
	long name;
	CUcontext context;
	bool is_live, is_host, is_managed;
	unsigned long number, freed_at;
};

static unsigned char *arena;
static size_t arena_used, live_bytes;
static struct block blocks[BLOCKS];
static unsigned block_count;
static unsigned long allocations, frees;

CUresult cuInit(unsigned flags)
{
	(void)flags;
	fake_make_kernels();
	arena = mmap(ARENA_ADDRESS, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
	return arena == ARENA_ADDRESS ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

/* FAKE_DRIVER_MEMORY: bytes of the GPU. */
static size_t total_bytes(void)
{
	const char *bytes = getenv("FAKE_DRIVER_MEMORY");

	return bytes ? strtoul(bytes, NULL, 10) : ARENA_BYTES;
}

static struct block *block_at(uint64_t address)
{
	for (unsigned i = 0; i < block_count; i++)
		if (address >= (uint64_t)(uintptr_t)blocks[i].address &&
		    address < (uint64_t)(uintptr_t)blocks[i].address + blocks[i].bytes)
			return &blocks[i];
	return NULL;
}

unsigned long fake_memory_number(uint64_t address)
{
	const struct block *block = block_at(address);

	return block && block->is_live ? block->number : 0;
}

uint64_t fake_address(uint64_t address)
{
	const struct block *block = block_at(address);

	if (!block || !block->name)
		return address;
	return ((uint64_t)block->name << 48) + address - (uint64_t)(uintptr_t)block->address;
}

void fake_name(CUdeviceptr address, long name)
{
	pthread_mutex_lock(&fake_lock);
	block_at(address)->name = name;
	pthread_mutex_unlock(&fake_lock);
}

/* The one of that size that was freed last, else a new one. */
static struct block *find_room(size_t bytes)
{
	struct block *found = NULL;

	for (unsigned i = 0; i < block_count; i++)
		if (!blocks[i].is_live && blocks[i].bytes == bytes &&
		    (!found || blocks[i].freed_at > found->freed_at))
			found = &blocks[i];
	if (found)
		return found;
	if (block_count == BLOCKS || arena_used + bytes > ARENA_BYTES)
		abort();
	found = &blocks[block_count++];
	*found = (struct block){.address = arena + arena_used, .bytes = bytes};
	arena_used += (bytes + 255) / 256 * 256;
	return found;
}

static CUresult allocate(void *address, size_t bytes, bool is_host)
{
	struct block *block = NULL;

	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!address || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_current()->error)
		return fake_current()->error;
	pthread_mutex_lock(&fake_lock);
	if (is_host || bytes <= total_bytes() - live_bytes) {
		block = find_room(bytes);
		block->context = fake_current();
		block->is_live = true;
		block->number = ++allocations;
		block->is_host = is_host;
		block->is_managed = false;
		live_bytes += is_host ? 0 : bytes;
		*(unsigned char **)address = block->address;
	}
	pthread_mutex_unlock(&fake_lock);
	return block ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
	return allocate(address, bytes, false);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	return allocate(address, bytes, true);
}

/* What is freed is overwritten. */
static void clear(struct block *block)
{
	memset(block->address, POISON, block->bytes);
	block->is_live = false;
	block->name = 0;
	block->freed_at = ++frees;
	live_bytes -= block->is_host ? 0 : block->bytes;
}

void fake_free_all(CUcontext context)
{
	pthread_mutex_lock(&fake_lock);
	for (unsigned i = 0; i < block_count; i++)
		if (blocks[i].is_live && blocks[i].context == context)
			clear(&blocks[i]);
	pthread_mutex_unlock(&fake_lock);
}

static CUresult release(CUdeviceptr address)
{
	struct block *block;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	if (fake_current()->error)
		return fake_current()->error;
	pthread_mutex_lock(&fake_lock);
	fake_settle_pieces();
	block = block_at(address);
	if (block && block->is_live && (CUdeviceptr)(uintptr_t)block->address == address) {
		clear(block);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&fake_lock);
	return result;
}

CUresult cuMemFree(CUdeviceptr address)
{
	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!address)
		return CUDA_SUCCESS;
	(void)fake_wait();
	return release(address);
}

CUresult cuMemFreeHost(void *address)
{
	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	(void)fake_wait();
	return release((CUdeviceptr)(uintptr_t)address);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	(void)stream;
	return release(address);
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream)
{
	return cuMemFreeAsync(address, stream);
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
	*total = total_bytes();
	*free_bytes = *total - live_bytes;
	return fake_answer();
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	const struct block *block = block_at(address);

	if (!block || !block->is_live)
		return CUDA_ERROR_NOT_FOUND;
	*base = (CUdeviceptr)(uintptr_t)block->address;
	*bytes = block->bytes;
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
	const struct block *block = block_at(address);

	if (!block || !block->is_live)
		return fake_registered_attribute(value, attribute, address);
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)value = block->context;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)value = block->is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)value = block->is_managed;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)block->address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)value = block->bytes;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
				CUdeviceptr address)
{
	for (unsigned i = 0; i < count; i++)
		if (cuPointerGetAttribute(values[i], attributes[i], address) != CUDA_SUCCESS)
			*(unsigned *)values[i] = 0;
	return CUDA_SUCCESS;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
	memset(handle, 0, sizeof(*handle));
	memcpy(handle, &address, sizeof(address));
	return block_at(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool fake_is_allocated(CUdeviceptr address, size_t bytes)
{
	const struct block *block = block_at(address);

	return block && block->is_live &&
	       address + bytes <= (CUdeviceptr)(uintptr_t)block->address + block->bytes;
}

static CUresult set(CUdeviceptr address, unsigned value, unsigned element, size_t count,
		    CUstream stream)
{
	struct work work;
	CUresult result = fake_fill_set(&work, address, value, element, count);

	return result == CUDA_SUCCESS && count ? fake_give(&work, stream) : result;
}

#define SET(name, type, element)                                                             \
	CUresult name(CUdeviceptr address, type value, size_t count, CUstream stream)        \
	{                                                                                    \
		return set(address, value, element, count, stream);                          \
	}                                                                                    \
	CUresult name##_ptsz(CUdeviceptr address, type value, size_t count, CUstream stream) \
	{                                                                                    \
		return set(address, value, element, count,                                   \
			   stream ? stream : CU_STREAM_PER_THREAD);                          \
	}

SET(cuMemsetD8Async, unsigned char, 1)
SET(cuMemsetD16Async, unsigned short, 2)
SET(cuMemsetD32Async, unsigned, 4)

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
	CUresult result = allocate(address, bytes, true);

	(void)flags;
	if (result == CUDA_SUCCESS)
		block_at(*address)->is_managed = true;
	return result;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	struct work work;
	CUresult result = fake_fill_copy(&work, to, from, bytes);

	return result == CUDA_SUCCESS && bytes ? fake_give(&work, stream) : result;
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return cuMemcpyDtoDAsync(to, from, bytes, stream ? stream : CU_STREAM_PER_THREAD);
}

/* FAKE_DRIVER_NEWER=1: from VERSION_NEWER on each function is another one, which takes numbers. */
static CUresult newer(const char *name, const long numbers[7])
{
	CUresult result;

	pthread_mutex_lock(&fake_lock);
	fake_mix(numbers, 7 * sizeof(numbers[0]));
	result = fake_observe(name, numbers[6]);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

#define NEWER(name)                                                                          \
	static CUresult newer_##name(long a, long b, long c, long d, long e, long f, long g) \
	{                                                                                    \
		return newer(#name, (const long[]){a, b, c, d, e, f, g});                    \
	}
/* Not by NEWER(), as cuda.h defines such names to be others. */
#define NEWER_COPY(name, exported, suffix)                                                   \
	static CUresult newer_##name(long a, long b, long c, long d, long e, long f, long g) \
	{                                                                                    \
		return newer(#name, (const long[]){a, b, c, d, e, f, g});                    \
	}
FAKE_DRIVER_FUNCTIONS(NEWER, NEWER)
FAKE_DRIVER_COPIES(NEWER_COPY)
NEWER(cuStreamBeginCapture)
NEWER(cuMemcpyDtoDAsync)
NEWER(cuGetProcAddress)
NEWER(cuCtxCreate)

/* A version that is newer than any known one, by the name that a driver would export. */
CUresult cuMemFree_v9(CUdeviceptr address, long more)
{
	CUresult result;

	pthread_mutex_lock(&fake_lock);
	fake_mix(&more, sizeof(more));
	result = fake_observe("newer free", more);
	pthread_mutex_unlock(&fake_lock);
	return result == CUDA_SUCCESS ? cuMemFree(address) : result;
}

/* As the newest version, that of one stream for each thread where flags ask for it. */
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
			  CUdriverProcAddressQueryResult *status)
{
	static const struct {
		const char *name;
		void *function, *per_thread, *newer;
	} all[] = {
#define EXPORTED(name) {#name, (void *)(name), (void *)(name), (void *)(newer_##name)},
#define EXPORTED_TWICE(name) {#name, (void *)(name), (void *)(name##_ptsz), (void *)(newer_##name)},
		FAKE_DRIVER_FUNCTIONS(EXPORTED, EXPORTED_TWICE){
			"cuStreamBeginCapture", (void *)cuStreamBeginCapture,
			(void *)cuStreamBeginCapture_v2_ptsz, (void *)newer_cuStreamBeginCapture},
		{"cuMemcpyDtoDAsync", (void *)cuMemcpyDtoDAsync, (void *)cuMemcpyDtoDAsync_v2_ptsz,
		 (void *)newer_cuMemcpyDtoDAsync},
#define EXPORTED_COPY(name, exported, suffix) \
	{#name, (void *)(name), (void *)(exported##suffix), (void *)(newer_##name)},
		FAKE_DRIVER_COPIES(EXPORTED_COPY){"cuGetProcAddress", (void *)cuGetProcAddress,
						  (void *)cuGetProcAddress,
						  (void *)newer_cuGetProcAddress},
		{"cuCtxCreate", (void *)cuCtxCreate_v4, (void *)cuCtxCreate_v4,
		 (void *)newer_cuCtxCreate}};
	bool is_newer = version >= VERSION_NEWER && getenv("FAKE_DRIVER_NEWER");

	*function = NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			*function = is_newer ? all[i].newer
				    : flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					    ? all[i].per_thread
					    : all[i].function;
	if (!is_newer && version >= 13000 && !strcmp(name, "cuCtxSynchronize"))
		*function = (void *)cuCtxSynchronize_v2;
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
