/*
 * ceilings.h - the roofs of one GPU: measured, or from its datasheet.
 *
 * roofline/ceilings.h names every ceiling; here are their values.  Knows no file
 * and no GPU: cmd/ceilings_file.c reads and writes them, cmd/ceilings_choice.c
 * finds those that fit a recording.
 */
#ifndef ROOFLINE_ANALYSIS_CEILINGS_H
#define ROOFLINE_ANALYSIS_CEILINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/counters/datasheets.h"
#include "roofline/ceilings.h"

#define CEILING_LEAST_SAMPLES 5 /* of a measured row, see roofline/ceilings.h */

#define CEILING_PROGRAM_CONSTANT(name, what) CEILING_PROGRAM_##name,
enum ceiling_program { CEILING_PROGRAMS(CEILING_PROGRAM_CONSTANT) CEILING_PROGRAM_COUNT };
#undef CEILING_PROGRAM_CONSTANT

/* A CEILING row as data. */
struct ceiling_kind {
	const char *name;
	enum ceiling_program program;
	const char *unit;      /* B/s, FLOP/s, op/s: more is better; ns: less is better */
	const char *parameter; /* what the parameter counts; "" when it is always 0 */
	const char *meaning;
};

/* A PROGRAM row as data. */
struct ceiling_program_kind {
	const char *name, *what;
};

struct ceiling {
	enum ceiling_id id;
	uint64_t parameter;
	double value;	  /* median of the samples, in the unit of its kind */
	double low, high; /* 10th and 90th percentile of the samples */
	uint32_t sample_count;
	double sm_mhz_low, sm_mhz_high; /* least and most SM clock seen; 0 when nothing ran there */
};

/* A ceiling that this GPU cannot have. */
struct ceiling_skip {
	enum ceiling_id id;
	uint64_t parameter;
	char *reason; /* owned */
};

struct ceilings {
	char *gpu, *driver, *cuda; /* owned; the driver's version, and the CUDA version it has */
	char *date, *command;	   /* owned; when and how measured, ISO 8601 in UTC */
	char *path;		   /* owned; the file, NULL when there is none */
	bool is_datasheet;	   /* nothing measured: the manufacturer's figures */
	bool is_quick;		   /* few and short samples */
	struct ceiling *rows;	   /* owned; by id, then parameter; each pair once */
	size_t count;
	struct ceiling_skip *skips; /* owned */
	size_t skip_count;
	size_t unknown_count; /* rows of a newer file that this version does not know */
};

/* One sample, as a measuring program prints it. */
struct ceiling_sample {
	enum ceiling_id id;
	uint64_t parameter;
	double value, sm_mhz;
};

/* ---- names ---- */

const struct ceiling_kind *ceiling_kind(enum ceiling_id id);
const struct ceiling_program_kind *ceiling_program_kind(enum ceiling_program program);

/* The id of that name, or -1. */
int ceiling_find(const char *name);

/* The program of that name, or -1. */
int ceiling_program_find(const char *name);

/* Whether a row of that kind may have this parameter: 0 where it counts nothing, else from 1. */
bool ceiling_parameter_fits(enum ceiling_id id, uint64_t parameter);

/* ---- values ---- */

/* The row of exactly this parameter, or NULL. */
const struct ceiling *ceilings_get(const struct ceilings *ceilings, enum ceiling_id id,
				   uint64_t parameter);

/* The value at any parameter: between two measured ones on the straight line through both in a
 * log-log chart, beyond the least and the greatest the value there.  0 when none was measured. */
double ceilings_at(const struct ceilings *ceilings, enum ceiling_id id, uint64_t parameter);

/* Of a row in ns by bytes, the same; but what is larger than all that was measured takes as much longer as it has more bytes
 * than the largest. */
double ceilings_ns_at(const struct ceilings *ceilings, enum ceiling_id id, uint64_t bytes);

/* The best of reading, writing, copying and triad, or NULL. */
const struct ceiling *ceilings_dram(const struct ceilings *ceilings);

/* Half the distance between low and high by the value: 0.01 for +-1%. */
double ceiling_spread(const struct ceiling *ceiling);

/* The row's value divided by the datasheet's; 0 when the datasheet has none.  sheet may be NULL. */
double ceiling_share(const struct ceiling *ceiling, const struct datasheet *sheet);

/* A ceiling so far under the datasheet that its measuring kernel is to blame until shown otherwise. */
struct ceiling_doubt {
	const struct ceiling *ceiling; /* of memory: the best of its modes */
	double share, least_share;     /* of the datasheet's figure */
};

enum { CEILING_DOUBTS_MOST = 4 };

/* Fills in the doubts and returns their number; none without a datasheet. */
size_t ceilings_doubts(struct ceiling_doubt doubts[CEILING_DOUBTS_MOST],
		       const struct ceilings *ceilings, const struct datasheet *sheet);

/* ---- building ---- */

/* Adds a row for each id and parameter that has at least CEILING_LEAST_SAMPLES of the samples,
 * which it reorders.  Returns 0 or -ENOMEM. */
int ceilings_add_samples(struct ceilings *ceilings, struct ceiling_sample *samples, size_t count);

/* Adds one row at the end; ceilings_sort brings them into order.  Returns 0 or -ENOMEM. */
int ceilings_add(struct ceilings *ceilings, const struct ceiling *row);
int ceilings_add_skip(struct ceilings *ceilings, enum ceiling_id id, uint64_t parameter,
		      const char *reason);

/* Orders the rows by id and parameter.  Returns the first row whose pair is there twice, or NULL. */
const struct ceiling *ceilings_sort(struct ceilings *ceilings);

/*
 * What the manufacturer promises for a GPU of that name: every row that its
 * datasheet has, and L1 and shared memory from multiprocessors and clock where
 * those are not 0.  *out is NULL when nothing is known.  Returns 0 or -ENOMEM;
 * the caller frees with ceilings_free.
 */
int ceilings_of_datasheet(struct ceilings **out, const char *gpu, uint32_t sm_count,
			  uint32_t sm_clock_khz);

void ceilings_free(struct ceilings *ceilings);

#endif
