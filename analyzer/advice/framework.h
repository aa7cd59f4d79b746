/*
 * framework.h - which framework launches the kernels of a recording.
 */
#ifndef ROOFLINE_FRAMEWORK_H
#define ROOFLINE_FRAMEWORK_H

#include <stdbool.h>

#include "roofline/frameworks.h"
#include "trace/profile.h"

/* Return the framework that made most of the kernels by their names; else the first of those that a process had loaded
 * (key frameworks of process.csv, which older recordings and imported files do not have); else FRAMEWORK_NONE. */
enum framework framework_of(const struct profile *profile);

/* Return the name that its users know it by; NULL of FRAMEWORK_NONE. */
const char *framework_name(enum framework framework);

/* Return whether a command line starts Python. */
bool framework_is_python(const char *command);

#endif
