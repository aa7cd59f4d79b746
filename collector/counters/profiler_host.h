/*
 * profiler_host.h - CUPTI's host interface: what a chip can count, and a configuration for it.
 *
 * Needs neither a GPU nor a driver.  Used for counters of launches (range profiler) and for
 * counters over time (PM sampling), whose lists of counters differ.
 */
#ifndef ROOFLINE_PROFILER_HOST_H
#define ROOFLINE_PROFILER_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "cupti_api.h"

/* A configuration as CUPTI wants it back; bytes is the owner's to free, also after a failure. */
struct profiler_image {
	uint8_t *bytes;
	size_t size, pass_count;
};

/* availability, the counters that this GPU lets us read, may be NULL: all of the chip.  *host is
 * NULL after a failure. */
CUptiResult profiler_host_open(const struct cupti_api *cupti, CUpti_ProfilerType type,
			       const char *chip, const uint8_t *availability,
			       CUpti_Profiler_Host_Object **host);
void profiler_host_close(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host);

/* All counters in one call: a call each would make a pass each. */
CUptiResult profiler_host_add(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host,
			      const char **names, size_t count);

/* Adds the counters and makes the configuration; *image starts as zeros. */
CUptiResult profiler_host_configure(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host,
				    const char **names, size_t count, struct profiler_image *image);

#endif
