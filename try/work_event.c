/* work_event.c - recording an event, and waiting for one in a stream, by themselves; in a graph they are edges (forks.h). */
#include "driver.h"
#include "work.h"

static CUresult record(const struct item *item)
{
	return driver_open()->event_record(item->kernel->event, item->stream);
}

static CUresult wait(const struct item *item)
{
	return driver_open()->wait_event(item->stream, item->kernel->event, 0);
}

const struct work work_record = {.run = record};
const struct work work_wait = {.run = wait};
