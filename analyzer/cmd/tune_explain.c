/* tune_explain.c - why one point is faster than another. */
#include "cmd/tune_explain.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/next/next.h"
#include "analysis/counters/occupancy.h"
#include "base/format.h"
#include "cmd/source.h"
#include "cmd/tune_measure.h"
#include "cmd/tune_run.h"

#define POINT_BYTES 1024
#define ALIKE \
	0.05 /* figures that differ by less are named, not shown: counters vary by some percent */

/* ---- facts ---- */

enum unit { UNIT_NS, UNIT_BYTES, UNIT_COUNT, UNIT_PERCENT, UNIT_NUMBER };

/* FACT(name, unit, title) */
#define FACTS(FACT)                                                                    \
	FACT(TIME, UNIT_NS, "time of all launches")                                    \
	FACT(LAUNCHES, UNIT_COUNT, "launches")                                         \
	FACT(THREADS, UNIT_COUNT, "threads of a block")                                \
	FACT(BLOCKS, UNIT_COUNT, "blocks")                                             \
	FACT(REGISTERS, UNIT_COUNT, "registers of a thread")                           \
	FACT(SHARED, UNIT_BYTES, "shared memory of a block")                           \
	FACT(LOCAL, UNIT_BYTES, "local memory of a thread")                            \
	FACT(OCCUPANCY, UNIT_PERCENT, "theoretical occupancy")                         \
	FACT(ACHIEVED, UNIT_PERCENT, "achieved occupancy")                             \
	FACT(WAVES, UNIT_NUMBER, "waves of blocks")                                    \
	FACT(FLOPS, UNIT_COUNT, "FLOPs")                                               \
	FACT(DRAM_BYTES, UNIT_BYTES, "bytes of DRAM")                                  \
	FACT(L2_BYTES, UNIT_BYTES, "bytes of L2")                                      \
	FACT(L1_BYTES, UNIT_BYTES, "bytes of L1")                                      \
	FACT(SHARED_BYTES, UNIT_BYTES, "bytes of shared memory")                       \
	FACT(SHARED_CYCLES, UNIT_COUNT, "cycles of shared memory")                     \
	FACT(CONFLICTS, UNIT_COUNT, "bank conflicts among these")                      \
	FACT(STALL_GLOBAL, UNIT_NUMBER, "stalls on global memory, of an instruction")  \
	FACT(STALL_SHARED, UNIT_NUMBER, "stalls on shared memory, of an instruction")  \
	FACT(STALL_QUEUE, UNIT_NUMBER, "stalls on the queue to it, of an instruction") \
	FACT(STALL_BARRIER, UNIT_NUMBER, "stalls at barriers, of an instruction")      \
	FACT(ROOF_SHARE, UNIT_PERCENT, "share of the nearest roof")

#define FACT_CONSTANT(name, unit, title) FACT_##name,
enum fact { FACTS(FACT_CONSTANT) FACT_COUNT };
#undef FACT_CONSTANT

static const struct {
	enum unit unit;
	const char *title;
} facts[] = {
#define FACT_ROW(name, unit, title) {unit, title},
	FACTS(FACT_ROW)
#undef FACT_ROW
};

struct side {
	double values[FACT_COUNT]; /* NAN: not known */
	const char *roof;	   /* the nearest, "" where it is not known */
	const char *limit;	   /* of theoretical occupancy */
};

/* ---- collecting ---- */

/* Total of a role over the kernels that are tuned; NAN where none was counted. */
static double total_of(const struct report *report, const char *name, enum metric_role role)
{
	double sum = NAN;

	for (size_t i = 0; i < report->profile->kernel_name_count; i++) {
		const struct counted_role *counted = &report->counted->kernels[i].roles[role];

		if (strstr(report->profile->kernel_names[i], name) && counted->sample_count)
			sum = (isnan(sum) ? 0 : sum) + counted->total;
	}
	return sum;
}

/* Means of percentages and of stalls are per launch. */
static double mean_of(const struct report *report, const char *name, enum metric_role role,
		      double launches)
{
	return total_of(report, name, role) / launches;
}

/* The one with most time of those that are tuned, or NULL. */
static const struct kernel_statistics *main_kernel(const struct report *report, const char *name)
{
	const struct statistics *statistics = report->statistics;

	for (size_t i = 0; i < statistics->kernel_count; i++)
		if (strstr(statistics->kernels[i].name, name))
			return &statistics->kernels[i];
	return NULL;
}

static void add_shape(struct side *side, const struct report *report,
		      const struct kernel_statistics *kernel)
{
	const struct profile_signature *shape = &report->profile->signatures[kernel->signature];
	struct occupancy occupancy;

	side->values[FACT_THREADS] = (double)profile_block_threads(shape);
	side->values[FACT_BLOCKS] = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
	side->values[FACT_REGISTERS] = shape->registers_per_thread;
	side->values[FACT_SHARED] =
		(double)shape->static_shared_bytes + shape->dynamic_shared_bytes;
	side->values[FACT_LOCAL] = shape->local_bytes_per_thread;
	if (!occupancy_of(&occupancy, &report->profile->devices[kernel->device], shape))
		return;
	side->values[FACT_OCCUPANCY] = occupancy.warps_ratio;
	side->values[FACT_WAVES] = occupancy.waves;
	side->limit = occupancy_limit_name(occupancy.limit);
}

static void add_roof(struct side *side, const struct report *report,
		     const struct kernel_statistics *kernel)
{
	const struct roofline *roofline = report->roofline;

	for (size_t i = 0; i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];

		if (strcmp(point->name, kernel->name))
			continue;
		side->values[FACT_TIME] = point->time_ns;
		if (point->has_flops)
			side->values[FACT_FLOPS] = point->flops;
		if (point->binding == ROOF_NONE)
			return;
		side->values[FACT_ROOF_SHARE] = point->binding_share;
		side->roof = roofline_roof_title(point->binding);
	}
}

static void add_counted(struct side *side, const struct report *report, const char *name)
{
	double *values = side->values, launches = values[FACT_LAUNCHES];

	values[FACT_DRAM_BYTES] = total_of(report, name, METRIC_dram_read_bytes) +
				  total_of(report, name, METRIC_dram_write_bytes);
	values[FACT_L2_BYTES] = total_of(report, name, METRIC_l2_bytes);
	values[FACT_L1_BYTES] = total_of(report, name, METRIC_l1_bytes);
	values[FACT_SHARED_BYTES] = total_of(report, name, METRIC_shared_bytes);
	values[FACT_SHARED_CYCLES] = total_of(report, name, METRIC_shared_wavefronts);
	values[FACT_CONFLICTS] = total_of(report, name, METRIC_shared_conflicts);
	values[FACT_ACHIEVED] = mean_of(report, name, METRIC_warps_active_percent, launches) / 100;
	values[FACT_STALL_GLOBAL] = mean_of(report, name, METRIC_stall_long_scoreboard, launches);
	values[FACT_STALL_SHARED] = mean_of(report, name, METRIC_stall_short_scoreboard, launches);
	values[FACT_STALL_QUEUE] = mean_of(report, name, METRIC_stall_mio_throttle, launches);
	values[FACT_STALL_BARRIER] = mean_of(report, name, METRIC_stall_barrier, launches);
}

static int collect(struct side *side, const struct report *report, const char *name,
		   struct err *err)
{
	const struct kernel_statistics *kernel = main_kernel(report, name);

	*side = (struct side){.roof = "", .limit = ""};
	for (int i = 0; i < FACT_COUNT; i++)
		side->values[i] = NAN;
	if (!kernel)
		return err_set(err, -ENOENT, "%s: no kernel with '%s' in its name was recorded",
			       report->profile->path, name);
	side->values[FACT_LAUNCHES] = (double)kernel->time.count;
	add_shape(side, report, kernel);
	add_roof(side, report, kernel);
	add_counted(side, report, name);
	return 0;
}

/* What their arithmetic takes at its roof, of all kernels that are tuned. */
static double least_ns(const struct report *report, const char *name)
{
	double sum = 0;

	for (size_t i = 0; i < report->roofline->kernel_count; i++) {
		const struct roofline_point *point = &report->roofline->kernels[i];
		double share = point->tensor_share;

		for (int roof = ROOF_MEMORY_END; roof < ROOF_TENSOR; roof++)
			share = fmax(share, point->quantities[roof].share);
		if (strstr(point->name, name))
			sum += fmin(share, 1) * point->time_ns;
	}
	return sum;
}

/* report: the recording, which the caller frees with report_free, also after a failure. */
static int record_report(struct report **report, const struct tune_options *options,
			 const char *folder, const char *counters, size_t point, struct err *err)
{
	struct tune_run run = {
		.process.command = tune_command_of(options->command, &options->space, point),
		.process.timeout_s = options->trial_timeout_s,
		.is_shown = options->is_shown,
	};
	struct source source = {.path = folder, .ceilings_path = options->ceilings_path};
	int rc = run.process.command ? 0 : err_set(err, -ENOMEM, "out of memory");

	*report = NULL;
	tune_bench_remove(folder);
	if (rc == 0)
		rc = tune_bench_record(options, &run, folder, counters, err);
	if (rc == 0)
		rc = source_load(report, &source, WHO, err);
	tune_run_free(&run);
	tune_command_free(run.process.command);
	return rc;
}

static int record(struct side *side, const struct tune_options *options, const char *folder,
		  size_t point, struct err *err)
{
	struct report *report = NULL;
	int rc = record_report(&report, options, folder, NEXT_CAUSES, point, err);

	if (rc == 0)
		rc = collect(side, report, options->objective.argument, err);
	report_free(report);
	return rc;
}

double tune_roof(const struct tune_options *options, const char *folder, size_t point)
{
	struct report *report = NULL;
	struct err err = {""};
	double ns = 0;

	if (record_report(&report, options, folder, "roofline", point, &err) == 0)
		ns = least_ns(report, options->objective.argument);
	report_free(report);
	tune_bench_remove(folder);
	return ns;
}

/* ---- telling ---- */

static struct figure format_fact(enum unit unit, double value)
{
	struct figure figure;

	switch (unit) {
	case UNIT_NS:
		return format_ns(value);
	case UNIT_BYTES:
		return format_bytes(value);
	case UNIT_PERCENT:
		return format_percent(value, 1);
	case UNIT_COUNT:
		if (value < 1e6)
			return format_count((uint64_t)llround(value));
		snprintf(figure.text, sizeof(figure.text), "%.3g", value);
		return figure;
	default:
		snprintf(figure.text, sizeof(figure.text), "%.2f", value);
		return figure;
	}
}

/* How far apart, by the logarithm; from or to nothing is as far as can be. */
static double distance(const struct side *before, const struct side *after, int fact)
{
	double a = before->values[fact], b = after->values[fact];

	if (isnan(a) || isnan(b) || a == b)
		return 0;
	return a > 0 && b > 0 ? fabs(log(b / a)) : INFINITY;
}

static void print_fact(const struct side *before, const struct side *after, int fact)
{
	double a = before->values[fact], b = after->values[fact];

	printf("  %-46s %10s %10s", facts[fact].title, format_fact(facts[fact].unit, a).text,
	       format_fact(facts[fact].unit, b).text);
	if (a > 0 && b > 0)
		printf("  %5.2fx", b / a);
	if (fact == FACT_ROOF_SHARE && (*before->roof || *after->roof))
		printf("  %s, %s", before->roof, after->roof);
	if (fact == FACT_OCCUPANCY)
		printf("  limit: %s, %s", before->limit, after->limit);
	putchar('\n');
}

/* The time, then what differs, most first. */
static void print_different(const struct side *before, const struct side *after)
{
	bool is_told[FACT_COUNT] = {[FACT_TIME] = true};

	print_fact(before, after, FACT_TIME);
	for (;;) {
		int farthest = FACT_COUNT;

		for (int i = 0; i < FACT_COUNT; i++)
			if (!is_told[i] && distance(before, after, i) > log(1 + ALIKE) &&
			    (farthest == FACT_COUNT ||
			     distance(before, after, i) > distance(before, after, farthest)))
				farthest = i;
		if (farthest == FACT_COUNT)
			return;
		is_told[farthest] = true;
		print_fact(before, after, farthest);
	}
}

static void print_alike(const struct side *before, const struct side *after)
{
	const char *separator = "  alike: ";

	for (int i = 0; i < FACT_COUNT; i++) {
		if (isnan(before->values[i]) || isnan(after->values[i]) ||
		    before->values[i] + after->values[i] == 0 || i == FACT_TIME ||
		    distance(before, after, i) > log(1 + ALIKE))
			continue;
		printf("%s%s", separator, facts[i].title);
		separator = "; ";
	}
	if (*separator == ';')
		putchar('\n');
}

int tune_explain(const struct tune_options *options, const char *folder, size_t before,
		 size_t after, struct err *err)
{
	char path[2 * PATH_MAX], point[POINT_BYTES];
	struct side sides[2] = {0};
	int rc;

	snprintf(path, sizeof(path), "%s/default", folder);
	rc = record(&sides[0], options, path, before, err);
	snprintf(path, sizeof(path), "%s/best", folder);
	if (rc == 0)
		rc = record(&sides[1], options, path, after, err);
	if (rc < 0)
		return rc;
	tune_space_describe(&options->space, before, point, sizeof(point));
	printf("\nWhy     %s is slower\n%-48s %10s %10s\n", point, "", "it", "the best");
	print_different(&sides[0], &sides[1]);
	print_alike(&sides[0], &sides[1]);
	printf("  recorded in %s/default and %s/best: rooflinectl report reads them\n",
	       format_path(folder).text, format_path(folder).text);
	return 0;
}
