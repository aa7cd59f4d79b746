/* measures.c - the list itself, and the figures of the run, of an iteration and of idle time. */
#include "analysis/compare/measures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ns.h"
#include "base/sums.h"

static const struct {
	const char *key, *title;
	bool is_fixed;
	int (*take)(struct measures *measures, const struct report *report);
} groups[] = {
#define GROUP_ROW(constant, key, title, is_fixed) {#key, title, is_fixed, measure_##key},
	MEASURE_GROUPS(GROUP_ROW)
#undef GROUP_ROW
};

const char *measure_group_key(enum measure_group group)
{
	return groups[group].key;
}

const char *measure_group_title(enum measure_group group)
{
	return groups[group].title;
}

bool measure_group_is_fixed(enum measure_group group)
{
	return groups[group].is_fixed;
}

int measure_add(struct measures *measures, const struct measure *measure)
{
	struct measure *item = ARRAY_NEXT(measures->items, measures->capacity, measures->count);

	if (!item)
		return -ENOMEM;
	*item = *measure;
	item->name = strdup(measure->name);
	item->shape = strdup(measure->shape ? measure->shape : "");
	measures->count++;
	return item->name && item->shape ? 0 : -ENOMEM;
}

int measures_take(struct measures *out, const struct report *report)
{
	int rc = 0;

	*out = (struct measures){0};
	for (size_t i = 0; i < MEASURE_GROUP_COUNT && rc == 0; i++)
		rc = groups[i].take(out, report);
	return rc;
}

void measures_free(struct measures *measures)
{
	for (size_t i = 0; i < measures->count; i++) {
		free(measures->items[i].name);
		free(measures->items[i].shape);
	}
	free(measures->items);
	*measures = (struct measures){0};
}

/* ---- the run ---- */

/* One figure whose noise a single recording does not tell. */
static int add(struct measures *measures, enum measure_group group, const char *name,
	       enum measure_unit unit, double value)
{
	const struct measure measure = {.group = group,
					.name = (char *)name,
					.quantity = unit == UNIT_NS ? "time" : "count",
					.unit = unit,
					.value = value,
					.low = NAN,
					.high = NAN};

	return measure_add(measures, &measure);
}

static int64_t wall_ns(const struct report *report)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < report->profile->device_count; i++) {
		const struct timeline_device *device = &report->timeline->devices[i];

		if (!device->wall_ns && !report->profile->devices[i].op_count)
			continue;
		first_ns = min_ns(first_ns, device->first_ns);
		last_ns = max_ns(last_ns, device->last_ns);
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

int measure_run(struct measures *measures, const struct report *report)
{
	const struct statistics *statistics = report->statistics;
	struct timeline_device sum = {0};
	int rc;

	for (size_t i = 0; i < report->timeline->device_count; i++) {
		sum_add_ns(&sum.busy_ns, report->timeline->devices[i].busy_ns);
		sum_add_ns(&sum.idle_ns, report->timeline->devices[i].idle_ns);
		sum_add_ns(&sum.kernel_ns, report->timeline->devices[i].kernel_ns);
		sum_add_ns(&sum.copy_ns, report->timeline->devices[i].copy_ns);
	}
	rc = add(measures, MEASURE_RUN, "first to last operation", UNIT_NS,
		 (double)wall_ns(report));
	rc = rc ? rc : add(measures, MEASURE_RUN, "GPU busy", UNIT_NS, (double)sum.busy_ns);
	rc = rc ? rc : add(measures, MEASURE_RUN, "GPU idle", UNIT_NS, (double)sum.idle_ns);
	rc = rc ? rc : add(measures, MEASURE_RUN, "kernels", UNIT_NS, (double)sum.kernel_ns);
	rc = rc ? rc : add(measures, MEASURE_RUN, "copies", UNIT_NS, (double)sum.copy_ns);
	rc = rc ? rc
		: add(measures, MEASURE_RUN, "operations", UNIT_COUNT,
		      (double)report->profile->op_count);
	rc = rc ? rc
		: add(measures, MEASURE_RUN, "launch calls", UNIT_COUNT,
		      (double)statistics->launch_call_count);
	return rc ? rc
		  : add(measures, MEASURE_RUN, "waits of the host", UNIT_COUNT,
			(double)statistics->sync_call_count);
}

/* ---- an iteration ---- */

/* Of the devices on which something repeats the one with most operations. */
static const struct steady_device *main_steady(const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct steady_device *found = NULL;

	for (size_t i = 0; i < profile->device_count; i++) {
		const struct steady_device *device = &report->steady_state->devices[i];

		if (device->is_found &&
		    (!found ||
		     profile->devices[i].op_count > profile->devices[found->loop.device].op_count))
			found = device;
	}
	return found;
}

/* Half the interval that 95 in 100 medians of so many lie in, by the distance from the 10th to the 90th percentile: of
 * a normal distribution 2.56 standard deviations, and a median's deviation is 1.25 by the root of the count. */
static double median_noise(const struct steady_loop *loop)
{
	return 1.96 * 1.2533 / 2.563 * (double)(loop->high_ns - loop->low_ns) /
	       sqrt((double)loop->count);
}

static int add_median(struct measures *measures, const struct steady_loop *loop)
{
	double median_ns = (double)loop->median_ns, noise_ns = median_noise(loop);
	const struct measure measure = {.group = MEASURE_STEADY,
					.name = "an iteration",
					.quantity = "median",
					.unit = UNIT_NS,
					.value = median_ns,
					.low = median_ns - noise_ns,
					.high = median_ns + noise_ns};

	return measure_add(measures, &measure);
}

static int add_parts(struct measures *measures, const struct steady_device *device)
{
	const struct run_part *usual = &device->usual;
	double count = (double)device->usual_count;
	int rc = add(measures, MEASURE_STEADY, "GPU busy", UNIT_NS, (double)usual->busy_ns / count);

	for (int cause = 0; cause < GAP_CAUSE_COUNT && rc == 0; cause++)
		if (usual->by_cause_ns[cause])
			rc = add(measures, MEASURE_STEADY, gap_cause_title((enum gap_cause)cause),
				 UNIT_NS, (double)usual->by_cause_ns[cause] / count);
	if (rc == 0)
		rc = add(measures, MEASURE_STEADY, "launch calls", UNIT_COUNT,
			 (double)device->steady.launch_count / (double)device->loop.count);
	return rc;
}

int measure_steady_state(struct measures *measures, const struct report *report)
{
	const struct steady_device *device = main_steady(report);
	int rc;

	if (!device || !device->usual_count)
		return 0;
	measures->steady =
		(struct compared_side){.count = device->loop.warm_up_count + device->loop.count,
				       .run_count = device->loop.member_count};
	rc = add_median(measures, &device->loop);
	return rc < 0 ? rc : add_parts(measures, device);
}

/* ---- idle time ---- */

int measure_idle(struct measures *measures, const struct report *report)
{
	int rc = 0;

	for (int cause = 0; cause < GAP_CAUSE_COUNT && rc == 0; cause++) {
		int64_t sum_ns = 0;

		for (size_t i = 0; i < report->gaps->device_count; i++)
			sum_add_ns(&sum_ns, report->gaps->devices[i].by_cause_ns[cause]);
		if (sum_ns)
			rc = add(measures, MEASURE_IDLE, gap_cause_title((enum gap_cause)cause),
				 UNIT_NS, (double)sum_ns);
	}
	return rc;
}
