#include "exchange/export/lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Takes away what ended by then. */
static void close_ended(struct lane *lane, int64_t now_ns)
{
	while (lane->depth && lane->ends_ns[lane->depth - 1] <= now_ns)
		lane->depth--;
}

static bool has_room(const struct lane *lane, int64_t end_ns, bool may_nest)
{
	if (!lane->depth)
		return true;
	return may_nest && lane->depth < LANE_DEPTH && lane->ends_ns[lane->depth - 1] >= end_ns;
}

static int open_span(struct lane *lane, int64_t end_ns)
{
	int64_t *place = ARRAY_NEXT(lane->ends_ns, lane->capacity, lane->depth);

	if (!place)
		return -ENOMEM;
	*place = end_ns;
	lane->depth++;
	return 0;
}

int lanes_place(struct lanes *lanes, int64_t start_ns, int64_t *end_ns, bool may_nest)
{
	struct lane *last = &lanes->lanes[LANE_LIMIT - 1];

	for (size_t i = 0; i < LANE_LIMIT; i++) {
		if (i == lanes->count)
			lanes->count++;
		close_ended(&lanes->lanes[i], start_ns);
		if (has_room(&lanes->lanes[i], *end_ns, may_nest))
			return open_span(&lanes->lanes[i], *end_ns) < 0 ? -ENOMEM : (int)i;
	}
	if (last->ends_ns[last->depth - 1] < *end_ns)
		*end_ns = last->ends_ns[last->depth - 1];
	return open_span(last, *end_ns) < 0 ? -ENOMEM : LANE_LIMIT - 1;
}

void lanes_clear(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->count; i++)
		free(lanes->lanes[i].ends_ns);
	*lanes = (struct lanes){.count = 0};
}
