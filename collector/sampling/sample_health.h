/*
 * sample_health.h - how well decoding kept up: what a recording says for whoever wonders about its losses.
 */
#ifndef ROOFLINE_SAMPLE_HEALTH_H
#define ROOFLINE_SAMPLE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_health {
	size_t buffer_bytes, image_samples; /* of the largest image */
	int64_t interval_ns;		    /* in use at last, of the slowest device */
	uint64_t decode_count;
	uint64_t sample_count, decoding_ns; /* in all of them */
	uint64_t full_count;	/* decodings that filled their image: the rest was lost */
	uint64_t reserve_count; /* into an image in reserve */
	/* The longest of each. */
	int64_t gap_ns;	 /* continuous: from the beginning of one decoding to that of the next */
	int64_t wait_ns; /* for a free image */
	int64_t decode_ns;
};

/* One call that decoded. */
struct sample_decoding {
	size_t sample_count;
	int64_t gap_ns, wait_ns, decode_ns;
	bool is_full, is_reserve;
};

void sample_health_note(struct sample_health *health, const struct sample_decoding *decoding);

/* The health of several devices: sums of counts, and the longest times. */
void sample_health_merge(struct sample_health *sum, const struct sample_health *other);

/* Writes it as properties of the process; nothing when nothing was decoded. */
void sample_health_write(const struct sample_health *health);

#endif
