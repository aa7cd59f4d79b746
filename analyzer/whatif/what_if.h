/*
 * what_if.h - techniques applied to all loops of a device where they can be, and what that would bring.
 */
#ifndef ROOFLINE_WHAT_IF_H
#define ROOFLINE_WHAT_IF_H

#include "replay/prediction.h"
#include "techniques/techniques.h"

/* Calls made in the occurrences of a range: by first, apart. */
struct places {
	struct place *items; /* owned; with no call in it, not NULL either */
	size_t count;
};

/* The recording made ready for predictions, once for all rules. */
struct what_ifs {
	struct recorded_run run;
	struct loops loops; /* owned, or where is_given its maker's */
	bool is_given, has_loops;
	uint32_t *alike; /* owned; by loop: the first one that is the same loop */
	struct predictor predictor;
	const char *range; /* borrowed; its name, or NULL */
	struct place
		*places; /* owned; of the range that is asked for; NULL: of each technique's own */
	size_t place_count;
	struct places within
		[TECHNIQUE_COUNT]; /* owned; where each changes loops; items NULL: everywhere */
	/* By technique: N of its option, at least 2; 0: of each kernel what it needs (ARGUMENT_NUMBER). */
	uint64_t numbers[TECHNIQUE_COUNT];
};

struct what_if {
	struct prediction prediction; /* where effect has no refusal */
	struct effect effect;
};

/* range: the NVTX range whose occurrences are the part that a prediction is for; NULL: the loops that
 * change.  Returns 0 or -ENOMEM; the caller frees with what_ifs_free, also after a failure. */
int what_ifs_open(struct what_ifs *all, const struct profile *profile,
		  const struct ceilings *ceilings, const char *range);

/* The same for a report, which has found the loops and outlives it. */
int what_ifs_open_report(struct what_ifs *all, const struct report *report, const char *range);

/* In two steps: the model, loops and places; and the predictor, while which is made ready these may be read.  Both return
 * 0 or -ENOMEM. */
int what_ifs_begin(struct what_ifs *all, const struct report *report, const char *range);
int what_ifs_predict(struct what_ifs *all);

/* What counters and samples tell, for techniques that go by them; the predictor need not be usable.  Returns 0 or
 * -ENOMEM. */
int what_ifs_add_report(struct what_ifs *all, const struct report *report);

/* From now on the technique changes only iterations of loops that lie in occurrences of that NVTX range; for those that
 * change loops.  The predictor must be usable.  Returns 0 or -ENOMEM. */
int what_ifs_keep_within(struct what_ifs *all, enum technique_id id, const char *range);
void what_ifs_free(struct what_ifs *all);

/* Iterations of the steady state of a recording, so many in a row. */
struct steady_rows {
	const struct steady_loop *steady; /* NULL: there is none */
	const struct loops *loops;
	size_t row_count;
};

/* Of the device with most operations; one iteration a row. */
struct steady_rows what_if_steady_rows(const struct report *report);

/* A recording's time without what recording added, as shares. */
struct not_recorded {
	struct untraced_shares shares;
	int64_t row_ns; /* of such a row with what recording added, the median of all; 0: there is none */
};

/* Of the range, or of the device with most operations, and of that one's steady state; 1 where nothing can be said.
 * rows may be NULL.  Returns 0 or -ENOMEM. */
int what_if_not_recorded(struct not_recorded *out, const struct profile *profile,
			 const struct ceilings *ceilings, const char *range,
			 const struct steady_rows *rows);

/* The device with most operations; 0 without any. */
size_t what_if_main_device(const struct profile *profile);

/* Whether it changes a whole job: all that it does, or the calls of ranks that wait for each other in collectives. */
bool what_if_is_of_job(const struct what_ifs *all, enum technique_id id);

/* Several techniques at once, in one replay.  A loop that one of them changes is left alone by those
 * after it, so their order matters.  parts: one of each technique, what it changed beside the others or
 * why nothing, without a prediction of its own.  out is all zero where nothing changes.  The predictor
 * must be usable.  Returns 0 or -ENOMEM. */
int what_if_together(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		     size_t count, const struct what_ifs *all, size_t device);

/* The same where each must do its part: where one is refused nothing is replayed, and out is all zero. */
int what_if_each_together(struct prediction *out, struct what_if *parts,
			  const enum technique_id *ids, size_t count, const struct what_ifs *all,
			  size_t device);

/* Refuses a technique that is blind to device work where there is some. */
int what_if_alone(struct what_if *out, enum technique_id id, const struct what_ifs *all,
		  size_t device);

/* The same run, to look at: of what changes between these moments of the recording.  Returns 0 or
 * -ENOMEM; the caller frees with side_by_side_free, also after a failure. */
struct side_by_side;
int what_if_side_by_side(struct side_by_side *out, const enum technique_id *ids, size_t count,
			 const struct what_ifs *all, size_t device, int64_t from_ns, int64_t to_ns);

#endif
