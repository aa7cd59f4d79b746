#include "analysis/time/events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/stable_sort.h"

static int compare_starts(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Calls first: of what begins at the same time they keep that place. */
static void fill(struct events *events, const struct profile *profile)
{
	struct event *event = events->events;

	for (size_t i = 0; i < profile->call_count; i++)
		*event++ = (struct event){profile->calls[i].start_ns, (uint32_t)i, true};
	for (size_t i = 0; i < profile->op_count; i++)
		*event++ = (struct event){profile->ops[i].start_ns, (uint32_t)i, false};
}

int events_build(struct events **out, const struct profile *profile, struct err *err)
{
	struct events *events = calloc(1, sizeof(*events));
	size_t count = profile->call_count + profile->op_count;

	if (events)
		events->events = calloc(count + 1, sizeof(*events->events));
	if (events && events->events) {
		events->event_count = count;
		events->op_count = profile->op_count;
		fill(events, profile);
		if (!stable_sort(events->events, count, sizeof(*events->events), compare_starts)) {
			*out = events;
			return 0;
		}
	}
	events_free(events);
	return err_set(err, -ENOMEM, "out of memory for the report");
}

void events_free(struct events *events)
{
	if (!events)
		return;
	free(events->events);
	free(events);
}
