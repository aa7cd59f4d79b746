/*
 * copiers.h - threads that copy memory of the host, portion by portion, beside the thread that called the driver.
 *
 * One thread copies about as fast as the driver itself does for pageable memory; what is gained comes from several.
 */
#ifndef ROOFLINE_TRY_COPIERS_H
#define ROOFLINE_TRY_COPIERS_H

#include <stdbool.h>
#include <stddef.h>

/* What is to be copied.  Portions are taken in order, each by one thread. */
struct portions {
	bool (*copy)(void *context,
		     size_t portion); /* false: it cannot be copied, and no further one is */
	void *context;
	size_t allowed; /* so many may be taken */
	size_t next;
	bool has_failed;
};

/* From now on other threads take portions, as soon as they are allowed; false: there are none to do so, and who calls this
 * copies all of it. */
bool copiers_begin(struct portions *portions);

/* So many portions, of all, may be taken. */
void copiers_allow(struct portions *portions, size_t count);

/* Copies one.  False: none is left that may be taken. */
bool copiers_help(struct portions *portions);

/* No other thread works on it any more. */
void copiers_end(struct portions *portions);

#endif
