/*
 * sample_workers.h - decoded samples become rows, on threads of their own.
 *
 * The images of one GPU: its sampler takes a free one, fills it and submits it; a worker writes its rows,
 * empties it and puts it back.  Some images are large and held in reserve, for when decoding is late.
 * Knows nothing of windows and intervals.
 */
#ifndef ROOFLINE_SAMPLE_WORKERS_H
#define ROOFLINE_SAMPLE_WORKERS_H

#include <pthread.h>
#include <time.h>

#include "sampling/sample_plan.h"
#include "sampling/sample_rows.h"

enum image_state {
	IMAGE_PLANNED, /* workers make them before there is anything to write */
	IMAGE_MAKING,
	IMAGE_FREE,
	IMAGE_SUBMITTED,
	IMAGE_BUSY,
	IMAGE_UNUSABLE
};

struct pooled_image {
	struct sample_image image;
	enum image_state state;
	uint64_t age; /* order in which they were submitted */
};

/* lock guards the states of images and all below it. */
struct sample_workers {
	const struct sample_source
		*source; /* borrowed; does not change while an image is in work */
	struct pooled_image images[IMAGE_LIMIT]; /* those in reserve come last */
	size_t image_count, reserve_count;	 /* of both kinds; of the latter */
	pthread_t threads[WORKER_LIMIT];
	CUpti_Profiler_Host_Object *evaluators[WORKER_LIMIT];
	size_t thread_count; /* that could be started */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t submit_count;
	bool is_finished;    /* no more are submitted */
	CUptiResult failure; /* why an image that has to be there could not be emptied */
	bool is_abandoned;   /* atomic: CUPTI must not be asked any more */
};

/* source may be filled in later.  There is nothing to close: what it holds goes with the process. */
void sample_workers_init(struct sample_workers *workers, struct sample_source *source);

/* Plans the plan's images: the threads make them while the program goes on.  Those in reserve are done without where
 * memory or CUPTI refuses them. */
CUptiResult sample_workers_plan_images(struct sample_workers *workers,
				       const struct sample_plan *plan);
/* Before threads are started. */
void sample_workers_forget_images(struct sample_workers *workers);

/* Empties all of them for another session of the same source, while none is in work. */
CUptiResult sample_workers_reset_images(struct sample_workers *workers);

/* What so many threads evaluate with. */
CUptiResult sample_workers_open_evaluators(struct sample_workers *workers, size_t count,
					   const char *chip, const uint8_t *availability);
/* Starts as many threads of these as there can be; CUPTI_ERROR_OUT_OF_MEMORY when there is none. */
CUptiResult sample_workers_start(struct sample_workers *workers, size_t count);

/* Waits for an image to fill: one in reserve rather than the others from late_ns (CLOCK_MONOTONIC) on.
 * NULL when images cannot be emptied any more (see failure), or are abandoned. */
struct pooled_image *sample_workers_get_image(struct sample_workers *workers, int64_t late_ns);

/* Has it written.  One that was taken and not submitted stays free. */
void sample_workers_submit_image(struct sample_workers *workers, struct pooled_image *image);

bool sample_workers_is_reserve(const struct sample_workers *workers,
			       const struct pooled_image *image);

/* True when nothing waits to be written. */
bool sample_workers_are_idle(struct sample_workers *workers);
/* Until no image is in work. */
void sample_workers_wait_idle(struct sample_workers *workers);

/* No more will be submitted: threads end when all is written. */
void sample_workers_finish(struct sample_workers *workers);
/* Threads end as soon as CUPTI returns to them; what they had to write is lost, and counted. */
void sample_workers_abandon(struct sample_workers *workers);
/* Returns 0, or ETIMEDOUT when they have not ended until then (CLOCK_MONOTONIC); it may be called again. */
int sample_workers_join(struct sample_workers *workers, const struct timespec *until);

#endif
