/*
 * spilled_kernels.h - kernels whose threads need more registers than they have.
 *
 * What does not fit is stored to local memory and loaded back.  Local memory also holds arrays that variables index,
 * which no number of registers would hold: a kernel that leaves registers unused which it may have spilled nothing.
 */
#ifndef ROOFLINE_SPILLED_KERNELS_H
#define ROOFLINE_SPILLED_KERNELS_H

#include <stdbool.h>

#include "trace/profile.h"

/* Whether a launch with it spills at least eight registers of each thread. */
bool spilled_signature(const struct profile_signature *signature);

/* Whether any launch of the kernel does; kernel: of kernel_names[]. */
bool spilled_kernel(const struct profile *profile, uint32_t kernel);

#endif
