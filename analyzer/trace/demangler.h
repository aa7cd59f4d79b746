/*
 * demangler.h - C++ names demangled in bounded time and memory.
 *
 * A mangled name refers to its own parts, so 270 characters may stand for gigabytes, and names come from recordings.  Short
 * names with few references are demangled here.  All others are demangled by one child process, which is killed when one
 * takes longer than any honest name does; its stack is all the memory that it needs.
 */
#ifndef ROOFLINE_DEMANGLER_H
#define ROOFLINE_DEMANGLER_H

#include <sys/types.h>

#define DEMANGLER_LONGEST ((size_t)64 * 1024) /* name, and what it becomes */

/* All 0 to begin with. */
struct demangler {
	pid_t child; /* 0: none was needed so far */
	int channel;
	unsigned lost_count; /* children that names have cost */
	char text[DEMANGLER_LONGEST];
};

/* Of a name that begins with _Z: valid until the next call.  NULL where it is none, or would take too much. */
const char *demangler_name(struct demangler *demangler, const char *mangled);

void demangler_close(struct demangler *demangler);

#endif
