/*
 * memory.c - memory of the GPU: allocated from what is kept of what was freed (pool.h), or by the driver.
 */
#include "memory.h"

#include "before.h"
#include "checksums.h"
#include "counts.h"
#include "deferred.h"
#include "driver.h"
#include "graphs.h"
#include "pool.h"
#include "ranges.h"
#include "registering.h"
#include "waits.h"

/* From what is kept, else by the driver. */
static CUresult allocate(CUdeviceptr *address, size_t bytes)
{
	const struct driver *driver = driver_open();
	CUresult result;

	if (!pool_is_wanted())
		return driver->allocate(address, bytes);
	counts_add(TRY_ALLOCATIONS_SEEN, 1);
	if (pool_take(address, bytes))
		return CUDA_SUCCESS;
	result = driver->allocate(address, bytes);
	if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_return_all())
		result = driver->allocate(address, bytes);
	if (result == CUDA_SUCCESS)
		pool_note(*address, bytes);
	return result;
}

CUresult try_allocate(CUdeviceptr *address, size_t bytes)
{
	CUresult result;

	if (!driver_open()->allocate)
		return CUDA_ERROR_NOT_FOUND;
	waits_before(TELLS);
	result = allocate(address, bytes);
	if (result == CUDA_SUCCESS)
		checksums_note(*address, bytes);
	return result;
}

/* What was put off may use the memory. */
CUresult try_free(CUdeviceptr address)
{
	const struct driver *driver = driver_open();
	CUresult result;

	if (!driver->free)
		return CUDA_ERROR_NOT_FOUND;
	FLUSH_BEFORE("cuMemFree_v2");
	waits_before(TELLS);
	checksums_before_free(address);
	if (pool_is_wanted() && address && pool_keep(address, &result))
		return result;
	graphs_note_free();
	return driver->free(address);
}

static CUresult free_async(__typeof__(cuMemFreeAsync) *real, CUdeviceptr address, CUstream stream)
{
	if (!real)
		return CUDA_ERROR_NOT_FOUND;
	waits_before(GIVES);
	checksums_before_free_in_stream(address);
	if (pool_is_wanted() && !pool_drop(address))
		return CUDA_ERROR_INVALID_VALUE;
	/* what is stream-ordered is in no graph; during a capture it is not asked */
	if (deferred_count_captures() || ranges_has_context(address))
		graphs_note_free();
	return real(address, stream);
}

CUresult try_free_async(CUdeviceptr address, CUstream stream)
{
	FLUSH_BEFORE("cuMemFreeAsync");
	return free_async(driver_open()->free_async, address, stream);
}

CUresult try_free_async_ptsz(CUdeviceptr address, CUstream stream)
{
	FLUSH_BEFORE("cuMemFreeAsync_ptsz");
	return free_async(driver_open()->free_async_ptsz, address, stream);
}

/* ---- asking ---- */

/* With these tokens other devices read and write the memory. */
static void begin_sharing(void)
{
	pool_before(ENDS);
	waits_before(EXPOSES);
}

CUresult try_pointer_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
	const struct driver *driver = driver_open();

	if (!driver->pointer_attribute)
		return CUDA_ERROR_NOT_FOUND;
	pool_return_at(address);
	registering_release_at(address);
	waits_before(TELLS); /* so asks who is about to give it to something else */
	if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
		begin_sharing();
	return driver->pointer_attribute(value, attribute, address);
}

CUresult try_pointer_attributes(unsigned count, CUpointer_attribute *attributes, void **values,
				CUdeviceptr address)
{
	const struct driver *driver = driver_open();

	if (!driver->pointer_attributes)
		return CUDA_ERROR_NOT_FOUND;
	pool_return_at(address);
	registering_release_at(address);
	waits_before(TELLS);
	for (unsigned i = 0; attributes && i < count; i++)
		if (attributes[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
			begin_sharing();
	return driver->pointer_attributes(count, attributes, values, address);
}

CUresult try_address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	const struct driver *driver = driver_open();

	if (!driver->address_range)
		return CUDA_ERROR_NOT_FOUND;
	pool_return_at(address);
	registering_release_at(address);
	return driver->address_range(base, bytes, address);
}
