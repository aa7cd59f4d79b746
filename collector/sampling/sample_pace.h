/*
 * sample_pace.h - how often samples can be taken: by how long decoding took on this machine, in this run.
 *
 * What decoding costs differs from host to host, and with what else the host does.  So it is measured, and
 * where it does not keep up, there is a longer interval that it does keep up with.  Pure arithmetic: no
 * clock, no CUPTI.
 */
#ifndef ROOFLINE_SAMPLE_PACE_H
#define ROOFLINE_SAMPLE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodings that are looked back at, and so many in a row that were too slow are no accident. */
#define PACE_DECODINGS 6

struct sample_pace {
	int64_t interval_ns;		/* from one sample to the next */
	double cost_ns[PACE_DECODINGS]; /* of a sample; the latest decodings, in a ring */
	size_t decode_count;		/* at this interval */
	size_t slow_count; /* the latest ones in a row that took as long as sampling did */
	unsigned int overflow_count; /* though decoding was fast enough; at all intervals */
};

/* What decoding a sample may take while the GPU is busy, from what it takes while that is idle. */
double sample_pace_busy_ns(double idle_decode_ns);

/* Whether decoding that takes so long for a sample leaves time to spare at an interval. */
bool sample_pace_keeps_up(double decode_ns, int64_t interval_ns);

/* The finest interval that decoding keeps up with, rounded up to two digits. */
int64_t sample_pace_finest(double decode_ns);

/* A new interval: what was noted before does not count. */
void sample_pace_begin(struct sample_pace *pace, int64_t interval_ns);

/* Decoding so many samples took so long, waits for room included; whether there were more than had room. */
void sample_pace_note(struct sample_pace *pace, size_t sample_count, int64_t busy_ns, bool is_full);

/* Decoding falls behind: the buffer will overflow, or samples are being lost already.  One decoding that
 * was held up is not enough. */
bool sample_pace_is_behind(const struct sample_pace *pace);

/* What decoding a sample takes: the median of the latest decodings, so that one that was held up does not
 * count; 0 before the first. */
double sample_pace_decode_ns(const struct sample_pace *pace);

/* The buffer overflowed: the interval to go on with.  The same one where decoding is fast enough and was
 * held up, once; then twice as long. */
int64_t sample_pace_after_overflow(struct sample_pace *pace);

#endif
