/*
 * busy_kernels.h - which kernels of a recording under way took most time, from one moment to the next.
 *
 * Reads what was appended to kernels.csv of each process: the collector is not asked, and does no more than it does anyway.
 * Kernels are there a flush period after they have ended.  A ring of the last seconds (--last) has its rows elsewhere.
 */
#ifndef ROOFLINE_BUSY_KERNELS_H
#define ROOFLINE_BUSY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define BUSY_KERNELS_MOST 100

struct busy_kernel {
	char label[64]; /* as reports call it */
	int64_t time_ns;
	uint64_t launch_count;
};

struct busy_kernels;

/* NULL without memory. */
struct busy_kernels *busy_kernels_open(void);

/* Of the recording in that folder what was appended since the call before; of the first call none.  Most time first,
 * at most that many.  Returns how many, or -ENOMEM. */
int busy_kernels_read(struct busy_kernels *kernels, const char *folder, struct busy_kernel *out,
		      size_t most);

void busy_kernels_close(struct busy_kernels *kernels);

#endif
