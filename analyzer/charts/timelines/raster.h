/*
 * raster.h - reduces the intervals of one row to what a picture can show.
 *
 * A picture has a few thousand columns, a recording has millions of intervals.
 * Intervals at least one column wide are kept as they are.  Shorter ones that
 * lie closer together than a column become one run, which carries how much of
 * it was busy and with what: drawn as a bar whose height is that share, it
 * shows neither more nor less than there was.  A run that looks like the one it
 * touches is drawn as one bar with it.  Nothing is left out: a single
 * short interval becomes a run of its own, one column wide.
 *
 * Pure, constant memory, one pass.  It must not know what the classes mean.
 */
#ifndef ROOFLINE_RASTER_H
#define ROOFLINE_RASTER_H

#include <stdbool.h>
#include <stdint.h>

#define RASTER_CLASSES 20

struct raster_run {
	int64_t start_ns, end_ns;	  /* as drawn: at least one column wide */
	int64_t busy_ns;		  /* union of its intervals, at most end_ns - start_ns */
	int64_t class_ns[RASTER_CLASSES]; /* by class; more than busy_ns where intervals overlap */
	uint64_t interval_count;
	const char *label; /* of its first interval */
	bool is_exact;	   /* one interval at least a column wide, drawn as it is */
};

/* Returns 0, or a negative errno that ends the reduction and is passed on. */
typedef int (*raster_emit)(const struct raster_run *run, void *context);

struct raster {
	int64_t from_ns, to_ns, column_ns;
	raster_emit emit;
	void *context;
	struct raster_run run;	    /* being collected; interval_count 0: none */
	struct raster_run finished; /* the one before it, still to be emitted, likewise */
	int64_t busy_end_ns;	    /* where the run's last interval ends */
};

/* Shows [from_ns, to_ns) with so many columns; emit gets the runs in time order. */
void raster_init(struct raster *raster, int64_t from_ns, int64_t to_ns, int columns,
		 raster_emit emit, void *context);

/* Adds an interval; starts must not decrease.  Parts outside the window are cut off, and one
 * without length counts as 1 ns.  label is borrowed until the run is emitted, NULL is fine. */
int raster_add(struct raster *raster, int64_t start_ns, int64_t end_ns, unsigned class_index,
	       const char *label);

/* As raster_add for an interval made of several classes, whose class_ns add up to its length. */
int raster_add_mixed(struct raster *raster, int64_t start_ns, int64_t end_ns,
		     const int64_t class_ns[RASTER_CLASSES]);

/* Emits what is left. */
int raster_finish(struct raster *raster);

#endif
