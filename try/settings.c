/*
 * settings.c - calls after which kernels may be launched in another way: only where they change something.
 *
 * Libraries set the shared memory of a kernel before each of its launches, nearly always to what it was.
 */
#include "deferred.h"
#include "driver.h"
#include "launches.h"
#include "registering.h"
#include "waits.h"

CUresult try_set_function_attribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	const struct driver *driver = driver_open();
	int before;

	if (!driver->set_function_attribute)
		return CUDA_ERROR_NOT_FOUND;
	if (!driver->function_attribute ||
	    driver->function_attribute(&before, attribute, function) != CUDA_SUCCESS ||
	    before != value)
		deferred_forget();
	return driver->set_function_attribute(function, attribute, value);
}

CUresult try_set_kernel_attribute(CUfunction_attribute attribute, int value, CUkernel kernel,
				  CUdevice device)
{
	const struct driver *driver = driver_open();
	int before;

	if (!driver->set_kernel_attribute)
		return CUDA_ERROR_NOT_FOUND;
	if (!driver->kernel_attribute ||
	    driver->kernel_attribute(&before, attribute, kernel, device) != CUDA_SUCCESS ||
	    before != value)
		deferred_forget();
	return driver->set_kernel_attribute(attribute, value, kernel, device);
}

/* A context that has a part of the GPU, or shares it with graphics: whether graphs keep to that is not known. */
CUresult try_create_context_v3(CUcontext *context, void *affinities, int count, unsigned flags,
			       CUdevice device)
{
	const struct driver *driver = driver_open();

	waits_before(TELLS);
	registering_before(SEES);
	if (count)
		deferred_stop(TRY_STOPPED);
	return driver->create_context_v3
		       ? driver->create_context_v3(context, affinities, count, flags, device)
		       : CUDA_ERROR_NOT_FOUND;
}

CUresult try_create_context_v4(CUcontext *context, void *parameters, unsigned flags,
			       CUdevice device)
{
	const struct driver *driver = driver_open();

	waits_before(parameters ? EXPOSES : TELLS);
	registering_before(SEES);
	if (parameters)
		deferred_stop(TRY_STOPPED);
	return driver->create_context_v4
		       ? driver->create_context_v4(context, parameters, flags, device)
		       : CUDA_ERROR_NOT_FOUND;
}
