/*
 * functions.h - every function of the driver, one row each: what it may observe.
 *
 * What was put off must be done before anything that could tell.  A function that is in no row FREES; so does each that
 * cuda.h declares but for those of which this is certain:
 *
 *   ASKS     neither sees nor changes what the GPU does: it is called without flushing
 *   FLUSHES  what was put off is given to the driver first
 *   FREES    the same, and memory may be gone: a graph that sets or copies some is made anew, as the driver has noted in it
 *            which memory that was, and with other memory at the same address writes to the old one, or ends the program
 *   RENAMES  the same as FLUSHES, and handles of streams may stand for other ones afterwards
 *   FORGETS  the same, and what is known of kernels, streams and graphs may not hold any more
 *   STOPS    the same, and from then on nothing is put off: launches would need what we do not keep, or what no graph may have
 *            (cuda.h: kernels in graphs must not use texture and surface references)
 *   HANDLED  has a function of its own, a row in handlers.h
 *
 * The second column is for memory that was freed and kept (pool.h).  A function that is in no row RETURNS it; so does each
 * but for those of which this is certain:
 *
 *   LEAVES   neither takes memory of the GPU nor tells how much there is
 *   RETURNS  what is kept is given back to the driver first
 *   ENDS     the same, and from then on nothing is kept: it shares memory with others, or graphs take it later
 *   LOSES    the same, and memory that the program has may be gone afterwards
 *
 * The third column is for waits that were left out (waits.h).  A function that is in no row EXPOSES; so does each but for
 * those of which this is certain:
 *
 *   QUIET    gives the GPU nothing, and tells nothing of what it has done
 *   LEGACY   gives it work in the legacy default stream alone, which the host cannot see
 *   TELLS    tells what the GPU has done, or how far it is: what was left out is made first
 *   GIVES    the same, and gives the GPU work, which the host cannot see, in some stream
 *            An asynchronous copy to the host has returned when it is done, as all memory of the host is pageable then.
 *   SHOWS    the same, and the host may see that: waits are made until one for everything was
 *   EXPOSES  the same, and from then on every wait is made: the host, or somebody else, may see memory that the GPU writes
 *
 * The fourth column is for memory of the host that was registered (registering.h).  A function that is in no row TAKES; so does
 * each but for those of which this is certain:
 *
 *   UNAWARE  neither takes memory of the host that is not pinned, nor tells what memory of the host the driver knows
 *   SEES     may tell, or may make a process itself: all that was registered is released first
 *   TAKES    copies memory of the host, or gives it to the GPU later: the same, and from then on nothing is registered
 *
 * tests/try/try.bats compares the rows with what cuda.h and the headers beside it declare.  All versions of a function (_v2, _ptsz) need their row:
 * programs that are linked with libcuda.so call them by these names.
 */
#ifndef ROOFLINE_TRY_FUNCTIONS_H
#define ROOFLINE_TRY_FUNCTIONS_H

#include "functions_graphs.h"
#include "functions_memory.h"
#include "functions_programs.h"

/* FUNCTION(name, kind, memory, wait, host) */
#define TRY_FUNCTIONS(FUNCTION)        \
	TRY_FUNCTIONS_GRAPHS(FUNCTION) \
	TRY_FUNCTIONS_MEMORY(FUNCTION) \
	TRY_FUNCTIONS_PROGRAMS(FUNCTION)

/* The more is to be done before it, the later. */
enum function_kind { HANDLED, ASKS, FLUSHES, FREES, RENAMES, FORGETS, STOPS };
enum function_memory { LEAVES, RETURNS, ENDS, LOSES };
enum function_wait { QUIET, LEGACY, TELLS, GIVES, SHOWS, EXPOSES };
enum function_host { UNAWARE, SEES, TAKES };

#endif
