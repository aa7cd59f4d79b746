/*
 * parameter_layout.h - where each parameter of a kernel lies, and how long it is: the driver tells.
 *
 * Asked once per kernel.  A launch that comes later takes no lock.
 */
#ifndef ROOFLINE_PARAMETER_LAYOUT_H
#define ROOFLINE_PARAMETER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_api.h"

struct parameter_layout {
	uint32_t count;
	struct {
		uint32_t offset; /* into the parameters when they are packed */
		uint32_t bytes;
	} parameters[];
};

/* Finds the driver's functions.  Returns false when it lacks them: before CUDA 12.4. */
bool parameter_layouts_init(void);

/* NULL when it cannot be told.  The layout stays. */
const struct parameter_layout *parameter_layout_of(CUfunction function);

/* A module is about to be unloaded: its handles may come again for other kernels. */
void parameter_layouts_forget(void);

#endif
