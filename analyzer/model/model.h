/*
 * model.h - the run as what waits for what, found once in a recording.
 *
 * An operation waits for its launching call, for the operation before it in its
 * stream, and for at most one of another stream (an event, the legacy default
 * stream).  A call waits for the calls of its thread before it; a wait, a blocking
 * copy and a free return after one operation has ended.  What time each such step
 * typically takes is the median over the recording where it was the one that
 * decided; what a single step took beyond that stays with it (replay.h).
 *
 * What is not known from the records is inferred from times and said here:
 * - a wait waits for the operation of its process that ended last before the wait
 *   returned: CUPTI tells a wait's stream only with --syncs;
 * - the first operation after cudaStreamWaitEvent waits for the one of another
 *   stream that ended last before it started;
 * - the operations of one graph launch keep their distances to the first.
 */
#ifndef ROOFLINE_MODEL_H
#define ROOFLINE_MODEL_H

#include "model/submitted.h"
#include "trace/profile.h"

/* How a call spends its time. */
enum call_behaviour {
	CALL_WORKS,	/* the host's own time, whatever the GPU does */
	CALL_WAITS,	/* until an operation has ended */
	CALL_WAITS_OWN, /* until its own operation has: a blocking copy */
};

/* Medians of a device, ns; 0 where the recording has none. */
struct model_device {
	int64_t launch_to_start_ns; /* call entered to operation started, on an idle stream */
	int64_t kernel_gap_ns;	    /* between queued operations of a stream, from a kernel */
	int64_t copy_gap_ns;	    /* likewise, from a copy or memset */
	uint64_t launch_sample_count, kernel_gap_sample_count;
};

struct model {
	const struct profile *profile; /* borrowed */
	struct submitted submitted;
	uint32_t *order;    /* all calls by start_ns */
	uint8_t *behaviour; /* by call: enum call_behaviour */
	uint32_t *awaited;  /* by call: ops[], PROFILE_NONE where it waits for none */
	uint32_t *before;   /* by op: ops[] before it in its stream, or PROFILE_NONE */
	uint32_t *other;    /* by op: ops[] of another stream that it waits for, or PROFILE_NONE */
	struct model_device *devices; /* as profile->devices[] */
};

/* Linear in calls and operations.  The profile must outlive the model.  Fails with -ENOMEM only;
 * the caller frees with model_free. */
int model_build(struct model **out, const struct profile *profile, struct err *err);
void model_free(struct model *model);

/* When everything that an operation waits for on the GPU had ended in the recording; INT64_MIN when
 * it waits for nothing there. */
int64_t model_ready_ns(const struct model *model, size_t op);

/* What starting typically takes from a call, and after that operation. */
int64_t model_launch_ns(const struct model *model, const struct profile_op *op);
int64_t model_gap_ns(const struct model *model, const struct profile_op *before);

#endif
