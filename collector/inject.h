/*
 * inject.h - what other parts need of how the collector starts and ends.
 */
#ifndef ROOFLINE_INJECT_H
#define ROOFLINE_INJECT_H

#include <stdbool.h>

bool inject_is_recording(void); /* false in a child that was forked */

/* Writes the last records and seals the recording, once; waits for that at most some seconds.  Does
 * nothing in a process that is not recorded, so anything that ends may call it. */
void inject_flush_at_exit(void);

/* Has that done before anything else that has asked so far to be called at exit.  Exit handlers run in
 * reverse, and CUPTI's libraries add theirs while they are used: destructors of what they made then. */
void inject_exit_first(void);

#endif
