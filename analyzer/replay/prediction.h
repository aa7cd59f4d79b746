/*
 * prediction.h - how much faster a run gets by a change, with an interval.
 *
 * Both sides are replays without the time that recording added.  The interval
 * comes from replaying with every cost at the low and the high end of what was
 * measured, widened by how far such changes were off elsewhere (struct part, spread)
 * and by what a replay may be off.
 */
#ifndef ROOFLINE_PREDICTION_H
#define ROOFLINE_PREDICTION_H

#include "analysis/time/steady_loop.h"
#include "replay/replay.h"
#include "replay/time_parts.h"

/* How far a prediction may be off, of the time after the change, whatever it rests on: the widest spread of
 * techniques/technique.h. */
#define MODEL_MARGIN 0.20
/* A replay without rest that is so far off says that the recording does not tell what the run waited for: no
 * prediction. */
#define REPLAY_ERROR_MOST 0.03
/* Where the times of more of the kernels are not known nothing is predicted: half of what a prediction may be off. */
#define UNTIMED_MOST (MODEL_MARGIN / 2)
/* Times beyond this, 146 years either way of the epoch, come from a damaged file: arithmetic on them
 * would overflow. */
#define MODEL_TIME_MOST_NS (INT64_MAX / 2)

/* Replays that run at the same time: those of a change with costs in the middle, low and high. */
#define PREDICTOR_WORKS 3

struct predicted_ratio {
	double speedup, low, high; /* time before by time after */
};

/* Launches that were counted by instrumented code, and so are no operations. */
struct unrecorded {
	double share;	      /* of all launches of kernels; 0: there are none */
	double untimed_share; /* likewise of those of which no launch is recorded */
	/* What the others take: those of kernels that a change leaves as long as they are, and of others before and after it. */
	double kept_ns, before_ns, after_ns;
};

struct run_before;

struct predictor {
	const struct model *model; /* borrowed */
	const struct ceilings *ceilings;
	struct costs costs[COSTS_HIGH + 1];
	struct replay
		*works; /* owned; PREDICTOR_WORKS replays, whose memory the next ones use again */
	struct run_before
		*before; /* owned; the run without a change, replayed when it is first asked for */
	struct unrecorded unrecorded;
	bool is_usable;
	char why_not[160]; /* where it is not */
	/* of replay_run_typical, against the recorded wall time; as a share of that without reading counters */
	double replay_error;
};

struct prediction {
	struct predicted_ratio program; /* of the device's wall time; setup_ns counts */
	struct predicted_ratio place;	/* setup_ns does not */
	struct predicted_ratio
		steady; /* of the usual iterations of the steady state; all 0 without one */
	int64_t place_before_ns, place_after_ns;
	int64_t program_before_ns, program_after_ns; /* with setup_ns */
	int64_t changed_before_ns, changed_after_ns; /* of the part that changes */
	struct time_parts parts;		     /* of that, after the change */
	int64_t place_margin_ns; /* that the place may be off, beside what costs are */
	/* Of these times after the change, launches that are no operations. */
	int64_t place_unrecorded_ns, program_unrecorded_ns;
	int64_t steady_before_ns, steady_after_ns; /* of one iteration */
};

/* The device of which predictions will ask, and its steady state and the loops that it is one of, or NULL. */
struct asked {
	size_t device;
	const struct steady_loop *steady;
	const struct loops *loops;
};

/* asked: the run without a change is replayed at once, while another replay tells how far replays are off; NULL: when it
 * is first asked for.  Fails with -ENOMEM only; the caller frees with predictor_free, also after a failure.  Without
 * measured ceilings it is not usable. */
int predictor_open(struct predictor *predictor, const struct model *model,
		   const struct ceilings *ceilings, const struct asked *asked);

/* Whether a model of it can be made at all; says in why_not why not. */
bool predictor_fits(struct predictor *predictor, const struct profile *profile);
void predictor_free(struct predictor *predictor);

/* What is asked for of an interval: an end that is not is left out of the prediction. */
enum interval_end {
	INTERVAL_BOTH,
	INTERVAL_LOW,
	INTERVAL_HIGH,
};

/* The part that is asked for, and what a change changes, which is what may be off: each all its places together,
 * which come by first and are apart. */
struct part {
	const struct place *places, *changed;
	size_t place_count, changed_count;
	/* The device's steady state, and the loops that it is one of; NULL: it has none. */
	const struct steady_loop *steady;
	const struct loops *loops;
	double spread; /* how far what changes may be off, as a share of its time after the change */
	enum interval_end end;
};

/* setup_ns: what the change costs once.  Returns 0 or -ENOMEM.  The predictor must be usable. */
int predictor_run(struct prediction *out, const struct predictor *predictor,
		  const struct change *change, size_t device, const struct part *part,
		  double setup_ns);

/* Times without what recording added, as shares of what was recorded; 1 where nothing can be said. */
struct untraced_shares {
	double part;	/* of the places, or without any of the device's time */
	double kernels; /* of the time from the device's first kernel to the end of its last one */
	double steady;	/* of iterations of its steady state in a row, the median of all */
	bool is_measured; /* the part's, in a run without recording */
};

/* Nothing changes in the part; row_count: iterations in a row.  Returns 0 or -ENOMEM. */
int predictor_untraced_shares(struct untraced_shares *out, const struct predictor *predictor,
			      size_t device, const struct part *part, size_t row_count);

#endif
