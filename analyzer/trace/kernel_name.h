/*
 * kernel_name.h - the name that a person wrote, from the one that nvcc made of it.
 *
 * Knows nothing of profiles.
 */
#ifndef ROOFLINE_KERNEL_NAME_H
#define ROOFLINE_KERNEL_NAME_H

#include "trace/demangler.h"

/*
 * Demangles by the Itanium C++ ABI.  nvcc's additions are taken away: a static kernel of separately
 * compiled code is called __nv_static_<n>_<n characters of module>_<mangled>, and an anonymous
 * namespace _INTERNAL_<hash>_<file>_....  Names of C and of PTX stay as they are, and those
 * that would take too much (demangler.h).  The caller frees the result; NULL when memory is out.
 */
char *kernel_name_demangle(struct demangler *demangler, const char *mangled);

#endif
