/*
 * sample_rows.h - decoded samples become rows.
 *
 * Samples in a row in which nothing ran become one row; a hole between two samples ends a span and is
 * counted as lost.  Knows nothing of threads and windows.
 */
#ifndef ROOFLINE_SAMPLE_ROWS_H
#define ROOFLINE_SAMPLE_ROWS_H

#include "sampling/sample_session.h"

struct sample_source {
	const struct cupti_api *cupti;
	const struct sample_config *config;
	struct sample_session *session;
	uint32_t device;
	uint64_t interval_ns;
	bool is_continuous; /* time without samples is lost; otherwise it lies between windows */
	/* Set by another thread: CUPTI must not be asked any more, what is not yet written is lost. */
	const bool *is_abandoned;
	/* Bytes over PCIe or of DRAM that the sampling itself may cause in a sample. */
	uint64_t own_bytes;
};

/* Writes the samples of an image.  The first after a start is none: it begins when sampling stopped
 * before, or when the session was opened, and is left out. */
void sample_rows_write(const struct sample_source *source, CUpti_Profiler_Host_Object *evaluator,
		       const struct sample_image *image);

/* When the first and the last sample of an image were taken; -1 when it has none. */
int sample_rows_bounds(const struct sample_source *source, const struct sample_image *image,
		       struct sample_time *first, struct sample_time *last);

/* Writes which counters stand for which columns. */
void sample_rows_write_metrics(const struct sample_source *source);

#endif
