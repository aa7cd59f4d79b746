/*
 * memory.h - the functions of handlers.h that allocate and free memory of the GPU or ask about it, with the arguments of cuda.h.
 */
#ifndef ROOFLINE_TRY_MEMORY_H
#define ROOFLINE_TRY_MEMORY_H

#include <cuda.h>

CUresult try_allocate(CUdeviceptr *address, size_t bytes);
CUresult try_free(CUdeviceptr address);
CUresult try_free_async(CUdeviceptr address, CUstream stream);
CUresult try_free_async_ptsz(CUdeviceptr address, CUstream stream);
CUresult try_pointer_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address);
CUresult try_pointer_attributes(unsigned count, CUpointer_attribute *attributes, void **values,
				CUdeviceptr address);
CUresult try_address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);

#endif
