/*
 * kernel_types.h - types in the names of kernels as people call them, and the functors among them.
 *
 * A functor is a type that says what a kernel of a library computes: CUDAFunctor_add, the sum_functor of a
 * ReduceOp<...>, of a lambda the function that it is in.
 */
#ifndef ROOFLINE_KERNEL_TYPES_H
#define ROOFLINE_KERNEL_TYPES_H

#include <stdbool.h>

#include "base/names/slice.h"

struct functor {
	struct slice name; /* "CUDAFunctor_add"; no length: there is none */
	struct slice type; /* "float": of its template arguments, or of its parameters, the first */
};

/* Of functors that wrap another one the innermost: MulFunctor of AUnaryFunctor<float, float, float, MulFunctor<float>>.
 * depth: in how many others type is. */
struct functor functor_find(struct slice type, unsigned depth);

/* With its type, where it is not to be bare. */
void functor_put(struct slice_text *out, struct functor functor, bool is_bare, unsigned depth);

/* Without namespaces, in all brackets. */
void type_put(struct slice_text *out, struct slice type, unsigned depth);

/* The same of a list of types; false where it does not fit into size. */
bool type_put_list(char *buffer, size_t size, struct slice types);

/* "128x64x32" of the types that CUTLASS writes tiles as; false, and nothing is put, where it is another one. */
bool type_put_tile(struct slice_text *out, struct slice base, struct slice arguments);

/* The number in a type that stands for one, such as cute::C<128>; empty where it is none. */
struct slice type_constant(struct slice type);
long type_number_value(struct slice number);

#endif
