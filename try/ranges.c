/* ranges.c - what the driver says of an address. */
#include "ranges.h"

#include <stdint.h>

#include "driver.h"
#include "pool.h"

static bool is_of_type(CUdeviceptr address, size_t bytes, unsigned wanted)
{
	CUcontext of_memory = NULL, current = NULL;
	unsigned type = 0, is_managed = 1;
	CUdeviceptr start = 0;
	size_t size = 0;
	CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_CONTEXT,
				       CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				       CU_POINTER_ATTRIBUTE_IS_MANAGED,
				       CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
				       CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	void *answers[] = {&of_memory, &type, &is_managed, &start, &size};
	const struct driver *driver = driver_open();

	if (driver->pointer_attributes(sizeof(asked) / sizeof(asked[0]), asked, answers, address) !=
		    CUDA_SUCCESS ||
	    driver->get_current(&current) != CUDA_SUCCESS)
		return false;
	return of_memory && of_memory == current && type == wanted && !is_managed && start &&
	       address >= start && bytes && address - start <= size &&
	       bytes <= size - (address - start);
}

bool ranges_is_on_gpu(CUdeviceptr address, size_t bytes)
{
	pool_return_at(address);
	return is_of_type(address, bytes, CU_MEMORYTYPE_DEVICE);
}

bool ranges_is_pinned(const void *address, size_t bytes)
{
	return is_of_type((CUdeviceptr)(uintptr_t)address, bytes, CU_MEMORYTYPE_HOST);
}

bool ranges_has_context(CUdeviceptr address)
{
	CUcontext of_memory = NULL;
	CUpointer_attribute asked = CU_POINTER_ATTRIBUTE_CONTEXT;

	return driver_open()->pointer_attributes(1, &asked, (void *[]){&of_memory}, address) ==
		       CUDA_SUCCESS &&
	       of_memory;
}

static bool is_known(CUdeviceptr address)
{
	unsigned type = 0, is_managed = 0;
	CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				       CU_POINTER_ATTRIBUTE_IS_MANAGED};
	void *answers[] = {&type, &is_managed};

	return driver_open()->pointer_attributes(sizeof(asked) / sizeof(asked[0]), asked, answers,
						 address) != CUDA_SUCCESS ||
	       type || is_managed;
}

bool ranges_is_pageable(const void *address, size_t bytes)
{
	CUdeviceptr first = (CUdeviceptr)(uintptr_t)address;

	return first && bytes && first + bytes > first && !is_known(first) &&
	       !is_known(first + bytes - 1);
}
