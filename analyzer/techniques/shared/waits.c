#include "techniques/shared/waits.h"

size_t waits_count(const struct model *model, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += model_call_class(model, i) == CALL_SYNC;
	return count;
}

/* Calls [first, end) wait no more where they did not, but for the last wait. */
static void keep_last_wait(struct change *change, const struct model *model, size_t first,
			   size_t end)
{
	for (size_t i = end; i-- > first;)
		if (model_call_class(model, i) == CALL_SYNC) {
			if (change->calls[i] == CALL_DROPPED)
				change->calls[i] = CALL_KEPT;
			return;
		}
}

static void keep_waits(struct change *change, const struct model *model, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (model_call_class(model, i) == CALL_SYNC && change->calls[i] == CALL_DROPPED)
			change->calls[i] = CALL_KEPT;
}

void waits_keep_others(struct change *change, const struct model *model, const struct loop *loop)
{
	const uint32_t *at = loop->iterations;
	size_t last = loop->iteration_count - 1;
	size_t usual_count = waits_count(model, at[1], at[2]);

	for (size_t i = 0; i < last; i++)
		if (waits_count(model, at[i], at[i + 1]) > usual_count)
			keep_waits(change, model, at[i], at[i + 1]);
	keep_last_wait(change, model, at[last], at[last + 1]);
}

static bool is_copy_to_other(const struct profile *profile, uint32_t op)
{
	const struct profile_copy *copy;

	if (op == PROFILE_NONE || profile->ops[op].kind != OP_COPY)
		return false;
	copy = &profile->copies[profile->ops[op].detail];
	return (copy->kind == COPY_BETWEEN_DEVICES || copy->kind == COPY_ON_DEVICE) &&
	       copy->src_device != copy->dst_device;
}

bool waits_hand_over(const struct model *model, const struct loop *loop)
{
	if (model->profile->device_count < 2)
		return false;
	for (size_t i = loop->first_call; i < loop->first_call + loop->call_count; i++)
		if (is_copy_to_other(model->profile, model_awaited(model, i)))
			return true;
	return false;
}
