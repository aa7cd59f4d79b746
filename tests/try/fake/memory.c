/* memory.c - the start, memory, and what functions there are. */
#define _GNU_SOURCE
#include "fake.h"

#include <string.h>
#include <sys/mman.h>

#define ARENA_ADDRESS ((void *)0x200000000000)
enum { ARENA_BYTES = 1 << 28 };

static unsigned char *arena;
static size_t arena_used;

CUresult cuInit(unsigned flags)
{
	(void)flags;
	fake_make_kernels();
	arena = mmap(ARENA_ADDRESS, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
	return arena == ARENA_ADDRESS ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

static CUresult allocate(void *address, size_t bytes)
{
	pthread_mutex_lock(&fake_lock);
	*(unsigned char **)address = arena + arena_used;
	arena_used += (bytes + 255) / 256 * 256;
	pthread_mutex_unlock(&fake_lock);
	return arena_used <= ARENA_BYTES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
	return allocate(address, bytes);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	return allocate(address, bytes);
}

CUresult cuMemFree(CUdeviceptr address)
{
	return fake_observe("free", (long)address);
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
	memset((void *)address, value, count);
	return fake_observe("memset", fake_stream_of(stream)->id);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	memcpy(to, (const void *)from, bytes);
	return fake_observe("copy_to_host", (long)from);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	memmove((void *)to, (const void *)from, bytes);
	return fake_observe("copy", fake_stream_of(stream)->id);
}

/* As the newest version, that of one stream for each thread where flags ask for it. */
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
			  CUdriverProcAddressQueryResult *status)
{
	static const struct {
		const char *name;
		void *function, *per_thread;
	} all[] = {
#define EXPORTED(name) {#name, (void *)(name), (void *)(name)},
#define EXPORTED_TWICE(name) {#name, (void *)(name), (void *)(name##_ptsz)},
		FAKE_DRIVER_FUNCTIONS(EXPORTED,
				      EXPORTED_TWICE){"cuStreamBeginCapture",
						      (void *)cuStreamBeginCapture,
						      (void *)cuStreamBeginCapture_v2_ptsz},
		{"cuGetProcAddress", (void *)cuGetProcAddress, (void *)cuGetProcAddress},
		{"cuCtxCreate", (void *)cuCtxCreate_v4, (void *)cuCtxCreate_v4}};

	(void)version;
	*function = NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			*function = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					    ? all[i].per_thread
					    : all[i].function;
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
