/* before.h - what a function of ours does first that takes the place of one before which all that was put off is flushed. */
#ifndef ROOFLINE_TRY_BEFORE_H
#define ROOFLINE_TRY_BEFORE_H

#include "deferred.h"
#include "lookup.h"
#include "stubs.h"

/* exported: the name of its row, which is looked up once. */
#define FLUSH_BEFORE(exported)                                                          \
	do {                                                                            \
		static unsigned row;                                                    \
                                                                                        \
		if (!__atomic_load_n(&try_pending, __ATOMIC_ACQUIRE))                   \
			break;                                                          \
		if (!__atomic_load_n(&row, __ATOMIC_RELAXED))                           \
			__atomic_store_n(&row, lookup_row(exported), __ATOMIC_RELAXED); \
		deferred_before(__atomic_load_n(&row, __ATOMIC_RELAXED), FLUSHES);      \
	} while (0)

/* The same before a call that gives a stream something; deferred_end_passing() after it. */
#define PASS_BEFORE(exported)             \
	do {                              \
		deferred_begin_passing(); \
		FLUSH_BEFORE(exported);   \
	} while (0)

#endif
