#include "charts/timelines/raster.h"

#include <string.h>

#include "base/sums.h"
#include "base/ns.h"

/* Runs end after so many columns, so that a change in how busy a row is stays visible. */
#define RUN_COLUMNS 6

/* Shares that differ less than this look the same: half a pixel of a row. */
#define ALIKE_RATIO 0.02

void raster_init(struct raster *raster, int64_t from_ns, int64_t to_ns, int columns,
		 raster_emit emit, void *context)
{
	memset(raster, 0, sizeof(*raster));
	raster->from_ns = from_ns;
	raster->to_ns = to_ns;
	raster->column_ns = max_ns((to_ns - from_ns) / max_ns(columns, 1), 1);
	raster->emit = emit;
	raster->context = context;
}

/* A run reaches to the next one when the space between is under a column; one that stands alone
 * is a column wide, so that it can be seen. */
static int64_t drawn_end(const struct raster *raster, int64_t next_ns)
{
	const struct raster_run *run = &raster->run;

	if (run->is_exact)
		return raster->busy_end_ns;
	if (next_ns - raster->busy_end_ns < raster->column_ns)
		return next_ns;
	return max_ns(raster->busy_end_ns, min_ns(run->start_ns + raster->column_ns, next_ns));
}

/* Whether two runs that touch would look the same, so that one bar without a seam can show both. */
static bool looks_alike(const struct raster_run *a, const struct raster_run *b)
{
	double a_ns = (double)(a->end_ns - a->start_ns), b_ns = (double)(b->end_ns - b->start_ns);
	double difference = (double)a->busy_ns / a_ns - (double)b->busy_ns / b_ns;

	if (!a->interval_count || a->is_exact || b->is_exact || a->end_ns != b->start_ns)
		return false;
	for (int i = 0; i < RASTER_CLASSES && difference < ALIKE_RATIO && difference > -ALIKE_RATIO;
	     i++)
		difference = (double)a->class_ns[i] / a_ns - (double)b->class_ns[i] / b_ns;
	return difference < ALIKE_RATIO && difference > -ALIKE_RATIO;
}

static void append_run(struct raster_run *run, const struct raster_run *next)
{
	run->end_ns = next->end_ns;
	run->busy_ns += next->busy_ns;
	run->interval_count += next->interval_count;
	for (int i = 0; i < RASTER_CLASSES; i++)
		sum_add_ns(&run->class_ns[i], next->class_ns[i]);
}

static int emit_finished(struct raster *raster)
{
	int rc = 0;

	if (raster->finished.interval_count)
		rc = raster->emit(&raster->finished, raster->context);
	raster->finished.interval_count = 0;
	return rc;
}

static int finish_run(struct raster *raster, int64_t next_ns)
{
	struct raster_run *run = &raster->run;
	int rc = 0;

	if (!run->interval_count)
		return 0;
	run->end_ns = drawn_end(raster, next_ns);
	if (looks_alike(&raster->finished, run)) {
		append_run(&raster->finished, run);
	} else {
		rc = emit_finished(raster);
		raster->finished = *run;
	}
	memset(run, 0, sizeof(*run));
	return rc;
}

/* Whether the interval from start_ns on belongs to the run being collected. */
static bool joins_run(const struct raster *raster, int64_t start_ns, int64_t end_ns)
{
	const struct raster_run *run = &raster->run;

	if (!run->interval_count)
		return false;
	if (end_ns <= raster->busy_end_ns) /* wholly under it: they share its height */
		return true;
	return !run->is_exact &&
	       end_ns - max_ns(start_ns, raster->busy_end_ns) < raster->column_ns &&
	       start_ns - raster->busy_end_ns < raster->column_ns &&
	       raster->busy_end_ns - run->start_ns < RUN_COLUMNS * raster->column_ns;
}

static int begin_run(struct raster *raster, int64_t start_ns, int64_t end_ns, const char *label)
{
	int rc;

	if (raster->run.interval_count)
		start_ns = max_ns(start_ns, raster->busy_end_ns);
	rc = finish_run(raster, start_ns);
	raster->run.start_ns = raster->busy_end_ns = start_ns;
	raster->run.is_exact = end_ns - start_ns >= raster->column_ns;
	raster->run.label = label;
	return rc;
}

/* Makes room for the interval and cuts it to the window; its length is 0 when it lies outside. */
static int add_interval(struct raster *raster, int64_t *start_ns, int64_t *end_ns,
			const char *label)
{
	int rc = 0;

	*end_ns = max_ns(*end_ns, *start_ns + 1);
	*start_ns = max_ns(*start_ns, raster->from_ns);
	*end_ns = min_ns(*end_ns, raster->to_ns);
	if (*end_ns <= *start_ns) {
		*end_ns = *start_ns;
		return 0;
	}
	if (!joins_run(raster, *start_ns, *end_ns))
		rc = begin_run(raster, *start_ns, *end_ns, label);
	raster->run.interval_count++;
	if (*end_ns > raster->busy_end_ns) {
		raster->run.busy_ns += *end_ns - max_ns(*start_ns, raster->busy_end_ns);
		raster->busy_end_ns = *end_ns;
	}
	return rc;
}

int raster_add(struct raster *raster, int64_t start_ns, int64_t end_ns, unsigned class_index,
	       const char *label)
{
	int rc = add_interval(raster, &start_ns, &end_ns, label);

	sum_add_ns(&raster->run.class_ns[class_index % RASTER_CLASSES], end_ns - start_ns);
	return rc;
}

int raster_add_mixed(struct raster *raster, int64_t start_ns, int64_t end_ns,
		     const int64_t class_ns[RASTER_CLASSES])
{
	double length_ns = (double)max_ns(end_ns - start_ns, 1);
	int rc = add_interval(raster, &start_ns, &end_ns, NULL);
	double visible_ratio = (double)(end_ns - start_ns) / length_ns;

	for (int i = 0; i < RASTER_CLASSES; i++)
		sum_add_ns(&raster->run.class_ns[i],
			   (int64_t)((double)class_ns[i] * visible_ratio));
	return rc;
}

int raster_finish(struct raster *raster)
{
	int rc = finish_run(raster, raster->to_ns);

	return rc ? rc : emit_finished(raster);
}
