/*
 * own_descriptor.h - descriptors of ours that take none of the program's.
 *
 * A program has as many numbers as its limit (ulimit -n) allows, may close any, and hands all to its children.  So a thread of
 * ours has a table of descriptors of its own (CLOSE_RANGE_UNSHARE, or unshare(2)), which is empty at first, and files are
 * opened, written and closed there: the program, its other threads and its children see nothing of them.  Where the system
 * forbids that, ours are among the program's: the highest that it may have, out of the way of those that count on low ones.
 */
#ifndef ROOFLINE_OWN_DESCRIPTOR_H
#define ROOFLINE_OWN_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts that thread; the first call counts.  Returns whether the table is its own. */
bool own_descriptors_start(void);

/* Calls work(data) on that thread, and waits for it; at once where this is that thread, or where there is none.  What it warns
 * of is printed by the caller: the thread has no stderr. */
void own_descriptors_do(void (*work)(void *data), void *data);

/* Within work: opens a file, closed by exec, on a number that is not 0, 1 or 2.  Returns it, or a negative errno. */
int own_descriptor_open(int folder, const char *path, int flags, mode_t mode);

/* In a forked child, which does not have the thread.  Returns whether it has the descriptors, and should close them. */
bool own_descriptors_forget(void);

#endif
