/*
 * kernel_filter.h - --kernels: which kernels to keep, by name.
 */
#ifndef ROOFLINE_KERNEL_FILTER_H
#define ROOFLINE_KERNEL_FILTER_H

#include <stdbool.h>

/* Compiles an extended regular expression.  Returns false after a warning when it is not one. */
bool kernel_filter_init(const char *expression);

/* True when the mangled name or the demangled one matches. */
bool kernel_filter_wants(const char *mangled_name);

#endif
