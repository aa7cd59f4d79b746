/*
 * library_kernel.h - kernels that come out of a library: their callers choose what they call, and not how it is written.
 *
 * Pure; goes by names alone.
 */
#ifndef ROOFLINE_LIBRARY_KERNEL_H
#define ROOFLINE_LIBRARY_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* The library that a kernel of that demangled name is of, as people call it: "cuBLAS"; NULL: none that is known.
 * What a compiler of a framework wrote (Triton) is of none. */
const char *library_kernel_of(const char *name);

/* Of a library that moves data between GPUs, whatever the kernel does: NCCL, NVSHMEM. */
bool library_kernel_is_between_gpus(const char *name);

/* Of these, but for those that fill NVSHMEM's arrays at start-up. */
bool library_kernel_communicates(const char *name);

/* Of these, one that all ranks of a group have to come to; sends, receives and signals are between two. */
bool library_kernel_is_collective(const char *name);

/* Return whether PyTorch or CuPy launches it for an operation on each element: a compiler of theirs makes one kernel of several
 * of these.  least, most: how many elements a thread takes, a power of two. */
bool library_kernel_elements(const char *name, uint32_t *least, uint32_t *most);
bool library_kernel_is_elementwise(const char *name);

/* Return whether it is a reduction of PyTorch, which a compiler joins to the elementwise kernels before it. */
bool library_kernel_is_reduction(const char *name);

/* Return whether it multiplies matrices, or convolves, in FP32 without tensor cores.  A product of a matrix and a vector does not
 * count, as memory bounds it, nor does a convolution by Winograd's algorithm, which does less arithmetic. */
bool library_kernel_is_fp32_product(const char *name);

#endif
