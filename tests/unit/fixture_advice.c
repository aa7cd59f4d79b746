#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

void advised_set_device(struct builder *b)
{
	struct profile_device *device = &b->devices[0];

	device->sm_count = 100;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = 32;
	device->max_registers_per_sm = 1 << 16;
	device->max_shared_bytes_per_sm = 200 << 10;
}

/* What else is in it is set already. */
static void begin(struct advised *it, struct builder *b)
{
	struct report *report = &it->report;
	struct err err = {""};

	it->b = b;
	builder_finish(b);
	*report = (struct report){.profile = &b->profile,
				  .device_work = &it->device_work,
				  .roofline = &it->roofline,
				  .counted = it->counted,
				  .sm_activity = it->activity,
				  .ceilings = it->ceilings};
	assert_int_equal(timeline_build(&report->timeline, report->profile, &err), 0);
	assert_int_equal(statistics_collect(&report->statistics, report->profile, NULL, &err), 0);
	assert_int_equal(jit_build(&report->jit, report->profile, &err), 0);
	assert_int_equal(gaps_analyze(&report->gaps, report->profile, report->timeline, 10, &err),
			 0);
	assert_int_equal(collectives_build(&report->collectives, report->profile, &err), 0);
	assert_int_equal(managed_memory_build(&report->managed_memory, report->profile, &err), 0);
	assert_int_equal(device_graphs_build(&report->device_graphs, report->profile, &err), 0);
	assert_int_equal(advice_find(&it->advice, report, NULL, &err), 0);
}

void advised_begin_by(struct advised *it, struct builder *b, struct device_work work,
		      struct ceilings *ceilings)
{
	*it = (struct advised){.ceilings = ceilings, .device_work = work};
	begin(it, b);
}

void advised_begin_counted(struct advised *it, struct builder *b, struct roofline roofline)
{
	advised_begin_counters(it, b, roofline, NULL);
}

void advised_begin_counters(struct advised *it, struct builder *b, struct roofline roofline,
			    struct counted *counted)
{
	*it = (struct advised){.ceilings = predicted_ceilings(0),
			       .roofline = roofline,
			       .counted = counted};
	begin(it, b);
}

void advised_begin_sampled(struct advised *it, struct builder *b, struct sm_activity *activity)
{
	*it = (struct advised){.ceilings = predicted_ceilings(0), .activity = activity};
	begin(it, b);
}

void advised_begin(struct advised *it, struct builder *b)
{
	advised_begin_with(it, b, (struct device_work){0});
}

void advised_begin_with(struct advised *it, struct builder *b, struct device_work work)
{
	advised_begin_by(it, b, work, predicted_ceilings(0));
}

void advised_end(struct advised *it)
{
	advice_free(it->advice);
	device_graphs_free(it->report.device_graphs);
	collectives_free(it->report.collectives);
	jit_free(it->report.jit);
	managed_memory_free(it->report.managed_memory);
	gaps_free(it->report.gaps);
	statistics_free(it->report.statistics);
	timeline_free(it->report.timeline);
	ceilings_free(it->ceilings);
	free(it->b);
}

const struct recommendation *advised_item(const struct advised *it, const char *rule)
{
	for (size_t i = 0; i < it->advice->count; i++)
		if (!strcmp(it->advice->items[i].id, rule))
			return &it->advice->items[i];
	return NULL;
}

bool advised_says(const struct recommendation *item, const char *part)
{
	for (size_t i = 0; i < item->evidence_count; i++)
		if (strstr(item->evidence[i], part))
			return true;
	return false;
}
