#include "replay/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct call_change call_change_kept = {0};

static const struct call_change first_changes[] = {
	[CALL_KEPT] = {0},
	[CALL_DROPPED] = {.host = COST_NONE, .submission = SUBMITS_NOTHING},
};

int change_begin(struct change *change, const struct model *model, bool with_ops)
{
	const struct profile *profile = model->profile;

	*change = (struct change){.calls = calloc(profile->call_count + 1, 1),
				  .call_change_count =
					  sizeof(first_changes) / sizeof(first_changes[0])};
	memcpy(change->call_changes, first_changes, sizeof(first_changes));
	if (with_ops)
		change->op_ns = calloc(profile->op_count + 1, sizeof(*change->op_ns));
	return change->calls && (change->op_ns || !with_ops) ? 0 : -ENOMEM;
}

int change_begin_lanes(struct change *change, const struct model *model, uint32_t lane_count)
{
	size_t op_count = model->profile->op_count;

	change->lanes = malloc(op_count + 1);
	change->fill = calloc(op_count + 1, 1);
	if (!change->lanes || !change->fill)
		return -ENOMEM;
	memset(change->lanes, LANE_NONE, op_count);
	change->lane_count = lane_count;
	return 0;
}

void change_free(struct change *change)
{
	free(change->calls);
	free(change->op_ns);
	free(change->lanes);
	free(change->fill);
	*change = (struct change){0};
}

bool change_has(const struct change *change, enum submission submission)
{
	for (size_t i = 0; i < change->call_change_count; i++)
		if (change->call_changes[i].submission == submission)
			return true;
	return false;
}

/* Of more than there is room for the call stays as recorded. */
uint8_t change_number(struct change *change, const struct call_change *what)
{
	size_t number = 0;

	while (number < change->call_change_count &&
	       memcmp(&change->call_changes[number], what, sizeof(*what)) != 0)
		number++;
	if (number == CALL_CHANGES_MOST)
		return CALL_KEPT;
	if (number == change->call_change_count)
		change->call_changes[change->call_change_count++] = *what;
	return (uint8_t)number;
}
