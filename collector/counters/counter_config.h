/*
 * counter_config.h - what a request for counters means on one chip, as CUPTI wants to hear it.
 *
 * Uses CUPTI's host interface only, which needs neither a GPU nor a driver.
 */
#ifndef ROOFLINE_COUNTER_CONFIG_H
#define ROOFLINE_COUNTER_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "cupti_api.h"
#include "counters/metric_table.h"

struct counter_config {
	struct metric_list list; /* as resolved, gaps among them */
	const char *names[METRIC_LIMIT];
	size_t choice_of[METRIC_LIMIT]; /* list.choices[] of each name */
	size_t name_count;		/* counters that CUPTI is asked for */
	size_t pass_count;
	uint8_t *image;
	size_t image_bytes;
	CUpti_Profiler_Host_Object *host;
};

/* Passes that a counter needs alone, 0 when the chip has none of that name.  availability may be NULL. */
unsigned int counter_config_passes(const struct cupti_api *cupti, const char *chip,
				   const uint8_t *availability, const char *name);

/*
 * Builds the configuration for a request (metric_table.h).  Returns CUPTI_SUCCESS, or what CUPTI said;
 * a request that leaves no counter at all is CUPTI_ERROR_INVALID_METRIC_NAME.  refused as in
 * metric_table_resolve.  The caller frees it with counter_config_free, also after a failure.
 */
CUptiResult counter_config_build(struct counter_config *config, const struct cupti_api *cupti,
				 const char *chip, const uint8_t *availability, const char *request,
				 enum metric_scope scope, unsigned int pass_limit, char *refused,
				 size_t size);
void counter_config_free(struct counter_config *config, const struct cupti_api *cupti);

#endif
