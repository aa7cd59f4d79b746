/*
 * watch.h - the kernel tells when memory of the program is unmapped, moved or emptied.
 *
 * By userfaultfd, of which only these events are used: nothing is protected, so that no access is ever stopped.  Whoever unmaps waits
 * until a thread of ours has read that, some ten microseconds; by then who asks watch_is_current() and looks at what was told sees it.
 */
#ifndef ROOFLINE_TRY_WATCH_H
#define ROOFLINE_TRY_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Called in the thread of ours: it takes no lock, allocates nothing and calls no driver, as others wait for it. */
typedef void watch_gone_fn(uintptr_t start, uintptr_t end);

/* False: this kernel does not tell, or not us. */
bool watch_open(watch_gone_fn *gone);

struct mapping {
	uintptr_t start, end; /* 0: none */
};

/* From now on gone is told of these pages, and of all of the mapping that they lie in: a part alone would become a mapping of its own,
 * and mremap() tells two from one.  False: they are not memory of the process alone and in one mapping, or were emptied just now. */
bool watch_add(uintptr_t start, uintptr_t end, struct mapping *mapping);

/* It is not told any more. */
void watch_remove(const struct mapping *mapping);

/* Whether all that is gone by now was told.  False: it was not within a while. */
bool watch_is_current(void);

/* In the child of a fork: nothing is told there. */
void watch_forked(void);

#endif
