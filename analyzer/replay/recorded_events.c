#include "replay/recorded_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/search.h"

static uint32_t *none(size_t count)
{
	uint32_t *ops = malloc((count + 1) * sizeof(*ops));

	if (ops)
		memset(ops, 0xff, (count + 1) * sizeof(*ops));
	return ops;
}

struct event_key {
	uint64_t event;
	uint32_t process, unused;
};

static int number_events(struct recorded_events *events)
{
	const struct profile *profile = events->profile;
	struct groups groups = {0};
	int rc = 0;

	for (size_t i = 0; i < profile->event_call_count && rc == 0; i++) {
		const struct event_key key = {profile->event_calls[i].event,
					      profile->event_calls[i].process, 0};

		rc = groups_find(&groups, &key, sizeof(key), &events->numbers[i]);
	}
	groups_free(&groups);
	return rc;
}

int recorded_events_open(struct recorded_events *events, const struct profile *profile)
{
	size_t count = profile->event_call_count;

	*events = (struct recorded_events){
		.profile = profile,
		.numbers = none(count),
		.behind = none(count),
		.is_recorded = calloc(count + 1, sizeof(bool)),
		.awaited = none(profile->stream_count),
	};
	if (!events->numbers || !events->behind || !events->is_recorded || !events->awaited)
		return -ENOMEM;
	return number_events(events);
}

void recorded_events_close(struct recorded_events *events)
{
	free(events->numbers);
	free(events->behind);
	free(events->is_recorded);
	free(events->awaited);
}

struct call_search {
	const struct profile_event_call *rows;
	uint32_t call;
};

static bool is_call_reached(size_t index, const void *context)
{
	const struct call_search *search = context;

	return search->rows[index].call >= search->call;
}

const struct profile_event_call *recorded_events_of(const struct recorded_events *events,
						    uint32_t call)
{
	const struct profile *profile = events->profile;
	const struct call_search search = {profile->event_calls, call};
	size_t i = search_first(0, profile->event_call_count, is_call_reached, &search);

	if (i == profile->event_call_count || profile->event_calls[i].call != call ||
	    profile->event_calls[i].stream == PROFILE_NONE)
		return NULL;
	return &profile->event_calls[i];
}

static uint32_t number_of(const struct recorded_events *events,
			  const struct profile_event_call *row)
{
	return events->numbers[row - events->profile->event_calls];
}

void recorded_events_record(struct recorded_events *events, const struct profile_event_call *row,
			    uint32_t op)
{
	events->behind[number_of(events, row)] = op;
	events->is_recorded[number_of(events, row)] = true;
}

/* Of several that a stream waits for what ended last. */
bool recorded_events_wait(struct recorded_events *events, const struct profile_event_call *row)
{
	const struct profile_op *ops = events->profile->ops;
	uint32_t op = events->behind[number_of(events, row)];
	uint32_t *awaited = &events->awaited[row->stream];

	if (op != PROFILE_NONE && ops[op].stream != row->stream &&
	    (*awaited == PROFILE_NONE || ops[op].end_ns > ops[*awaited].end_ns))
		*awaited = op;
	return events->is_recorded[number_of(events, row)];
}

uint32_t recorded_events_take(struct recorded_events *events, uint32_t stream)
{
	uint32_t op = events->awaited[stream];

	events->awaited[stream] = PROFILE_NONE;
	return op;
}
