/*
 * sampler.h - one GPU that is sampled: opened, then a thread that samples and decodes until it is stopped.
 *
 * sampler_open.c chooses what is sampled and measures how fast this machine decodes it; sampler.c is the
 * thread: windows or without end, and what it does when decoding falls behind.  Knows nothing of launches
 * and NVTX: the caller decides when a window begins.
 */
#ifndef ROOFLINE_SAMPLER_H
#define ROOFLINE_SAMPLER_H

#include "options.h"
#include "sampling/sample_health.h"
#include "sampling/sample_pace.h"
#include "sampling/sample_workers.h"

/* lock guards all but what opening sets once.  Set while the lock is not held: is_decoding, which keeps
 * everybody else from the session. */
struct sampler {
	const struct cupti_api *cupti;
	const struct options *options;
	uint32_t device;
	char chip[64];
	uint8_t *availability;
	struct sample_config config;
	size_t sample_bytes; /* that one takes of an image */
	struct sample_source source;
	struct sample_plan plan;
	struct sample_workers workers;
	pthread_t thread;
	bool has_thread; /* to be joined */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* anything below */
	bool is_running;	/* the hardware samples */
	bool is_after_start;	/* and nothing has been decoded since it was started */
	bool is_decoding;
	bool is_stopping; /* atomic: the program ends */
	bool is_over; /* the session is asked for nothing more: it failed, or the program ends */
	int64_t started_ns;   /* CLOCK_MONOTONIC: this window */
	int64_t decoded_ns;   /* CLOCK_MONOTONIC: the last decoding began, or else this window */
	int64_t range_end_ns; /* of the last NVTX range; 0 while one is open, or without them */
	int64_t last_end_ns;  /* of the last sample, 0 before the first */
	unsigned int reopen_count;
	struct sample_pace pace;
	struct sample_health health;
};

/* Opens a zeroed sampler of a device; options are borrowed.  False, after one warning, when it cannot be
 * sampled; the others then do nothing.  It is never closed: it goes with the process. */
bool sampler_open(struct sampler *sampler, const struct cupti_api *cupti,
		  const struct options *options, uint32_t device);

/* A window begins now, unless one is open or the last one is still being decoded. */
void sampler_begin_window(struct sampler *sampler);
/* The NVTX range of the window has ended; the window goes on for a while. */
void sampler_end_range(struct sampler *sampler);

/* At the end of the program: asks it to end.  Times are CLOCK_MONOTONIC. */
void sampler_stop(struct sampler *sampler, const struct timespec *until);
/* It has taken too long: not one call of CUPTI more.  What has not been written yet is lost, and counted. */
void sampler_abandon(struct sampler *sampler);
/* Returns 0, or ETIMEDOUT when its threads have not ended until then; it may be called again. */
int sampler_join(struct sampler *sampler, const struct timespec *until);
/* Counts what was lost at the end, and returns how decoding went. */
struct sample_health sampler_finish(struct sampler *sampler);

/* ---- for sampler.c and sampler_open.c ---- */

/* Warns once why there are no samples, and records it.  The trace goes on.  Under the lock, once there are
 * threads. */
void sampler_give_up(struct sampler *sampler, const char *what, CUptiResult result);

/* Warns once that the interval is longer than was asked for, and why. */
void sampler_warn_slower(const struct sampler *sampler, double decode_ns, int64_t interval_ns,
			 const char *consequence);

/* The sampler's thread; takes it. */
void *sampler_main(void *sampler);

#endif
