/*
 * sample_config.h - what the sets of samples mean on one chip, as CUPTI wants to hear it.
 *
 * Roles and sets are those of include/roofline/sampled.h.  Everything has to fit into one
 * pass: hardware that runs by itself cannot be asked twice.  A role whose counters the chip
 * lacks, or that would need a second pass, is a gap, and the recording says so.  Uses CUPTI's
 * host interface only, which needs neither a GPU nor a driver.
 */
#ifndef ROOFLINE_SAMPLE_CONFIG_H
#define ROOFLINE_SAMPLE_CONFIG_H

#include "counters/profiler_host.h"
#include "roofline/sampled.h"

#define SAMPLE_NAMES_PER_ROLE 2
#define SAMPLE_NAME_LIMIT (SAMPLED_ROLE_COUNT * SAMPLE_NAMES_PER_ROLE)

struct sample_config {
	const char *names[SAMPLE_NAME_LIMIT]; /* static; asked of CUPTI in this order */
	size_t name_count;
	/* Of every role: how many of names, from which on; 0 is a gap or was not asked for. */
	struct {
		size_t first, count;
	} roles[SAMPLED_ROLE_COUNT];
	struct profiler_image image;
};

/*
 * Builds the configuration for the sets (bit 1 << SAMPLE_SET_name; front is always there) on a chip.
 * Returns CUPTI_SUCCESS, or what CUPTI said of the front set.  The caller frees it with
 * sample_config_free, also after a failure.
 */
CUptiResult sample_config_build(struct sample_config *config, const struct cupti_api *cupti,
				const char *chip, const uint8_t *availability, unsigned int sets);
void sample_config_free(struct sample_config *config);

/* The values of one sample, in the order of names, as counts by role. */
void sample_config_counts(const struct sample_config *config, const double *values,
			  uint64_t counts[SAMPLED_ROLE_COUNT]);

#endif
