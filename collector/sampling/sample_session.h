/*
 * sample_session.h - the counters of one GPU over time: CUPTI's PM sampling.
 *
 * The GPU writes a record every interval into a buffer of the driver's; decoding empties it into
 * an image, from which samples are evaluated one by one.  What CUPTI 13.0 does and does not say was
 * measured on an H200 (docs/collector.md): samples that do not fit into the image are lost without a
 * word, a full buffer gives no samples at all until the session is opened anew, and the first sample
 * after a start is none.  Calls on one session must not overlap, but images may be evaluated by
 * several threads while it goes on, each with an evaluator of its own.
 */
#ifndef ROOFLINE_SAMPLE_SESSION_H
#define ROOFLINE_SAMPLE_SESSION_H

#include <stdbool.h>

#include "sampling/sample_config.h"

struct sample_session;

/* Decoded samples. */
struct sample_image {
	uint8_t *bytes;
	size_t size;
	size_t capacity;	  /* samples that it has room for */
	size_t count;		  /* that it holds */
	bool is_after_start;	  /* the first of them is none: it begins before the start */
	int64_t start_ns, end_ns; /* of its samples, on CUPTI's clock; for who fills it to set */
};

/* When a sample began and ended, on CUPTI's clock. */
struct sample_time {
	int64_t start_ns, end_ns;
};

/*
 * Takes the GPU's sampling hardware.  Returns CUPTI_SUCCESS, or what CUPTI said with *out NULL.
 * A session is opened and then configured, once: CUPTI ignores a second configuration.
 */
CUptiResult sample_session_open(struct sample_session **out, const struct cupti_api *cupti,
				uint32_t device);

/* Bytes that one sample of config takes of an image; 0 when CUPTI does not say. */
size_t sample_session_bytes(struct sample_session *session, const struct sample_config *config);

/* Says what is sampled, how often, and how large the hardware's buffer is; config is borrowed until the
 * end.  It costs a third of a second. */
CUptiResult sample_session_configure(struct sample_session *session,
				     const struct sample_config *config, uint64_t interval_ns,
				     size_t buffer_bytes);
void sample_session_close(struct sample_session *session);

CUptiResult sample_session_start(struct sample_session *session);
CUptiResult sample_session_stop(struct sample_session *session);

/* Moves everything that was sampled until now into an empty image.  CUPTI_ERROR_OUT_OF_MEMORY: the
 * hardware buffer had been full, what it held is lost, and the session is of no more use. */
CUptiResult sample_session_decode(struct sample_session *session, struct sample_image *image);

/* Plans an image for so many samples, without bytes yet.  Images of one session may differ in size. */
CUptiResult sample_image_size(struct sample_image *image, struct sample_session *session,
			      size_t capacity);
/* Makes an image that was planned; the caller frees its bytes, also after a failure.  It costs 0.1 s for 100 MB.
 * Several threads may do so, each with an image of its own. */
CUptiResult sample_image_make(struct sample_image *image, struct sample_session *session);
/* Makes it as good as new.  Several threads may do so, each with an image of its own. */
CUptiResult sample_image_reset(struct sample_image *image, struct sample_session *session);
CUptiResult sample_image_time(const struct sample_image *image, struct sample_session *session,
			      size_t sample, struct sample_time *time);

/* What a thread needs to evaluate samples: NULL without memory or when CUPTI refuses. */
CUpti_Profiler_Host_Object *sample_evaluator_open(const struct cupti_api *cupti, const char *chip,
						  const uint8_t *availability,
						  const struct sample_config *config);
/* values: as many as config has names. */
CUptiResult sample_evaluate(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *evaluator,
			    const struct sample_config *config, const struct sample_image *image,
			    size_t sample, double *values);

#endif
