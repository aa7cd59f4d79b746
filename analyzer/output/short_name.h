/*
 * short_name.h - kernel names that fit a picture.
 *
 * Demangled C++ names run to kilobytes; what tells two kernels apart is mostly
 * the function's own name.
 */
#ifndef ROOFLINE_SHORT_NAME_H
#define ROOFLINE_SHORT_NAME_H

#include <stddef.h>

/*
 * Writes name without return type, parameters, template arguments and, while it
 * is still longer than limit bytes, without namespaces; then it ends in "..".
 * Never cuts a UTF-8 sequence.  buffer holds size bytes, limit < size.
 */
void short_name(char *buffer, size_t size, const char *name, size_t limit);

#endif
