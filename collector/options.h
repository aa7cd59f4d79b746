/*
 * options.h - what the environment asks of the collector, read once.
 */
#ifndef ROOFLINE_OPTIONS_H
#define ROOFLINE_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
	char output[PATH_MAX]; /* absolute folder of the recording */
	const char
		*record; /* which call of `rooflinectl record` this belongs to, or NULL; borrowed */
	int64_t max_bytes;	/* of the recording, 0: no limit */
	int64_t last_ns, last_bytes; /* of a flight recorder, which keeps only the newest; both 0: all */
	bool has_control;	     /* what rooflinectl ctl asks for is done */
	const char *when_slower;     /* RANGE=50ms or NULL; borrowed */
	int64_t min_free_bytes; /* of the disk; SIZE_MIN_FREE_AUTO: less of 1 GiB and 5% */
	bool has_command_line;	/* its arguments too are recorded */
	bool is_graph_level;	/* whole graph launches instead of their nodes */
	int run;		/* of a program that is recorded twice: 1 or 2, else 0 */
	const char *kernels;	/* regular expression or NULL; borrowed from the environment */
	int64_t delay_ns;
	int64_t duration_ns; /* 0: all */
	bool profiler_api;
	enum options_api { API_NONE, API_CHOSEN, API_ALL } api;
	bool nvtx, syncs, power, events, allocations, launch_attributes, managed, args;
	const char *counters; /* sets and counters, or NULL; borrowed */
	bool is_replay;
	double counters_share;	   /* of the program's time that counting may take */
	const char *counters_skip; /* regular expression or NULL; borrowed */
	int64_t sample_ns;	   /* length of a sample, 0: none are taken */
	unsigned int
		sample_sets; /* bit 1 << SAMPLE_SET_name, 0: as many as can be decoded in time */
	enum options_windows { WINDOWS_AUTO, WINDOWS_CONTINUOUS, WINDOWS_PERIODIC } sample_windows;
	int64_t window_ns, window_period_ns; /* of WINDOWS_PERIODIC */
	const char *sample_range;	     /* regular expression or NULL; borrowed */
	size_t sample_buffer_bytes;
	size_t buffer_limit_bytes;
	unsigned int flush_period_ms;
	bool yield;	   /* leave CUPTI to the program when it has it */
	const char *cupti; /* library to load; borrowed */
	bool discard;
	bool quiet;
};

/* Reads ROOFLINE_* (include/roofline/collector_env.h); what cannot be understood is reported once
 * and takes its default. */
void options_read(struct options *options);

/* Writes the default recording folder, <cwd>/roofline.<time>.<pid>, into buffer. */
void options_default_output(char *buffer, size_t size);

#endif
