/*
 * sides.h - two or more sides of a comparison, each with one recording or several repeats, figure by figure.
 *
 * The first side is what the others are compared with.  A figure of a side is the mean of its repeats, and lies between the
 * least and the greatest of them; with one recording it lies where that one tells (measures.h).  Two sides differ for sure
 * where these intervals do not meet.
 *
 * Pure.  Knows nothing of output.
 */
#ifndef ROOFLINE_SIDES_H
#define ROOFLINE_SIDES_H

#include "analysis/compare/measures.h"
#include "base/groups.h"
#include "base/sentences.h"

/* CHANGE(constant, key): what became of a figure */
#define CHANGES(CHANGE)                                                                         \
	CHANGE(NONE, "not_compared") /* of the first side, or iterations that are other ones */ \
	CHANGE(EQUAL, "equal")                                                                  \
	CHANGE(NOISE, "within_noise")                                                           \
	CHANGE(LESS, "less") /* for sure: beyond noise, or a count */                           \
	CHANGE(MORE, "more")                                                                    \
	CHANGE(UNSURE, "noise_unknown")                                                         \
	CHANGE(APPEARED, "appeared")                                                            \
	CHANGE(DISAPPEARED, "disappeared")

#define CHANGE_CONSTANT(constant, key) CHANGE_##constant,
enum change { CHANGES(CHANGE_CONSTANT) CHANGE_COUNT };
#undef CHANGE_CONSTANT

struct side_value {
	size_t repeat_count; /* repeats that have it; 0: this side has no such figure */
	double value;	     /* their mean */
	double low, high;    /* both NAN: not known */
	double ratio;	     /* value by that of the first side, of the same work; NAN: not known */
	enum change change;  /* from the first side */
};

struct side_row {
	struct measure what; /* owned texts; its values are of no meaning */
	size_t item;	     /* equal for figures of one thing: of one kernel, one cause */
	double weight; /* of the item: its greatest change, or what it takes where nothing changed */
	bool has_change;	   /* of the item: some figure of it is not equal on all sides */
	struct side_value *values; /* owned; by side */
};

struct side {
	char *name;   /* owned: the path of a recording, or a name for several */
	char **paths; /* owned: its repeats */
	size_t path_count;
	char *limit;	 /* owned: what limits the first repeat, in words; NULL: not told */
	char *selection; /* owned; what part of each recording it is, in words; NULL: all of it */
	struct compared_side
		steady; /* of the first repeat; row_count: iterations in a row that are compared, 0: none */
	uint64_t first_row_count;     /* with so many of the first side, which do the same work */
	struct sentences differences; /* from the first side: why it is not the same work */
	struct sentences obstacles;   /* why its times cannot be compared with the first side's */
	struct sentences warnings;
};

struct sides {
	struct side *items; /* owned */
	size_t count, capacity;
	struct side_row *rows; /* owned; by group, item, then as they were added */
	size_t row_count, row_capacity;
	struct groups numbers, item_numbers;
};

/* A further side; all of them before the first figures. */
int sides_add(struct sides *sides, const char *name);

/* A repeat of the last side. */
int sides_add_path(struct sides *sides, const char *path);

/* The figures of one repeat of a side, in the order of sides and repeats. */
int sides_add_measures(struct sides *sides, size_t side, const struct measures *measures);

/* By what an iteration's figures are multiplied to be of an iteration of the first side's work; 0: not compared. */
double sides_steady_factor(const struct sides *sides, size_t side);

/* Once all are there: compares and sorts.  Returns 0 or -ENOMEM, as those above. */
int sides_compare(struct sides *sides);

void sides_free(struct sides *sides);

/* What a side is judged by: an iteration where both repeat the same, else the time from first to last operation; NULL
 * where there is neither, as where nothing ran. */
const struct side_row *sides_judged(const struct sides *sides, size_t side);

/* Whether a side did the same work as the first, and was recorded in the same way. */
bool sides_is_sound(const struct side *side);

/* Whether the side is slower than the first by more than that share, beyond what is known of noise. */
bool sides_is_slower(const struct sides *sides, size_t side, double share);

const char *change_key(enum change change);

#endif
