/*
 * kernel_fold.h - one demangled kernel name in few columns, with what people know it by.
 *
 * Namespaces, return types and parameters go first, then template arguments that say how a library does
 * its work (policies, offset calculators); functors stay longest, of a lambda the function that it is in:
 *
 *   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(...)
 *     as vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>, in 38 columns vectorized_ele...<CUDAFunctor_add>
 *
 * Different names may fold alike: kernel_labels.h keeps them apart.
 */
#ifndef ROOFLINE_KERNEL_FOLD_H
#define ROOFLINE_KERNEL_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names/kernel_parts.h"

#define KERNEL_FOLD_WIDTH_MOST 80 /* columns */
#define KERNEL_FOLD_SIZE (4 * KERNEL_FOLD_WIDTH_MOST + 1)

/* At most width columns, and no byte that a terminal must not get.  wanted: bit i for each template
 * argument that is shown before all others. */
void kernel_fold(char buffer[KERNEL_FOLD_SIZE], const struct kernel_parts *parts, uint32_t wanted,
		 size_t width);

/* All template arguments, however long; false where that does not fit into size. */
bool kernel_fold_whole(char *buffer, size_t size, const struct kernel_parts *parts);

#endif
