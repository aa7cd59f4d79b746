/*
 * inject.h - the one thing that other parts need of how the collector came in.
 */
#ifndef ROOFLINE_INJECT_H
#define ROOFLINE_INJECT_H

/* Writes the last records and seals the recording, once; waits for that at most some seconds.  Does
 * nothing in a process that is not recorded, so anything that ends may call it. */
void inject_flush_at_exit(void);

#endif
