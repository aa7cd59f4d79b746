#include "techniques/shared/dependences.h"

const struct accesses *dependences_recorded(const struct report *report)
{
	return report && report->accesses && report->accesses->of_op ? report->accesses : NULL;
}

struct kernels_beside kernels_beside_of(const struct report *report, uint32_t lane_count)
{
	return (struct kernels_beside){.accesses = dependences_recorded(report),
				       .lane_count = lane_count};
}

uint32_t kernels_beside_next_lane(struct kernels_beside *beside)
{
	return beside->next_lane++ % beside->lane_count;
}

/* Also of a kernel beside another launch of the same with the same memory. */
static void judge(struct lane_beside *out, const struct kernels_beside *beside, uint32_t list)
{
	uint32_t lane = PROFILE_NONE;

	for (size_t i = 0; i < beside->count && !out->is_joined; i++) {
		enum dependence one = accesses_judge(beside->accesses, beside->items[i].list, list);

		out->found = one > out->found ? one : out->found;
		if (one != DEPENDENCE_THERE)
			continue;
		out->is_joined = lane != PROFILE_NONE && lane != beside->items[i].lane;
		lane = beside->items[i].lane;
	}
	out->lane = lane;
}

static void keep(struct kernels_beside *beside, uint32_t list, uint32_t lane)
{
	size_t i = 0;

	while (i < beside->count && beside->items[i].list != list)
		i++;
	beside->items[i].list = list;
	beside->items[i].lane = lane;
	beside->count += i == beside->count;
}

struct lane_beside kernels_beside_add(struct kernels_beside *beside, size_t op, bool is_joined)
{
	struct lane_beside out = {.lane = PROFILE_NONE, .is_joined = is_joined};
	uint32_t list = beside->accesses ? beside->accesses->of_op[op] : PROFILE_NONE;

	if (!is_joined && !beside->accesses) {
		out.found = DEPENDENCE_UNTOLD;
	} else if (!is_joined) {
		judge(&out, beside, list);
		out.is_full = !out.is_joined && beside->count == BESIDE_MOST;
		out.is_joined |= out.is_full;
	}
	if (out.is_joined)
		beside->count = 0;
	if (out.lane == PROFILE_NONE || out.is_joined)
		out.lane = kernels_beside_next_lane(beside);
	if (beside->accesses)
		keep(beside, list, out.lane);
	return out;
}

bool dependences_are_none(const struct accesses *accesses, size_t first_op, size_t second_op)
{
	return accesses && accesses_judge(accesses, accesses->of_op[first_op],
					  accesses->of_op[second_op]) == DEPENDENCE_NONE;
}

bool dependences_reach_host(const struct accesses *accesses, const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;

	for (uint32_t i = submissions_first(submissions, call);
	     accesses && i < submissions_first(submissions, call + 1); i++) {
		uint32_t list = accesses->of_op[submissions_op(submissions, i)];

		if (list != PROFILE_NONE &&
		    accesses_share_with_host(accesses, model->profile, list))
			return true;
	}
	return false;
}

/* ---- from one iteration to the next ---- */

/* The operations that calls [first, end) submitted. */
struct submitted {
	const struct model *model;
	uint32_t first, end; /* of submissions */
};

static struct submitted submitted_by(const struct model *model, size_t first, size_t end)
{
	return (struct submitted){model, submissions_first(&model->submissions, first),
				  submissions_first(&model->submissions, end)};
}

/* Where a copy goes nobody recorded. */
static bool has_other_writers(const struct submitted *all)
{
	const struct profile *profile = all->model->profile;

	for (uint32_t i = all->first; i < all->end; i++) {
		const struct profile_op *op =
			&profile->ops[submissions_op(&all->model->submissions, i)];

		if (op->kind == OP_MEMSET || op->kind == OP_GRAPH ||
		    (op->kind == OP_COPY && profile->copies[op->detail].kind != COPY_TO_HOST))
			return true;
	}
	return false;
}

static const struct access_list *list_of(const struct accesses *accesses,
					 const struct submitted *all, uint32_t i)
{
	uint32_t list = accesses->of_op[submissions_op(&all->model->submissions, i)];

	return list == PROFILE_NONE ? NULL : &accesses->lists[list];
}

static bool is_same_place(const struct kernel_access *a, const struct kernel_access *b)
{
	return a->allocation == b->allocation && a->offset == b->offset;
}

/* Whether a kernel is known to write there. */
static bool writes(const struct accesses *accesses, const struct access_list *list,
		   const struct kernel_access *place)
{
	for (uint32_t i = 0; list && !list->varies && i < list->count; i++) {
		const struct kernel_access *access = &accesses->items[list->first + i];

		if (access->kind == ACCESS_CHANGED && is_same_place(access, place))
			return true;
	}
	return false;
}

/* Whether a kernel may write to that memory. */
static bool may_write(const struct accesses *accesses, const struct access_list *list,
		      const struct kernel_access *place)
{
	for (uint32_t i = 0; list && i < list->count; i++)
		if (accesses->items[list->first + i].kind != ACCESS_READ &&
		    accesses->items[list->first + i].allocation == place->allocation)
			return true;
	return !list || !list->is_whole;
}

/* One that reads it, of the operations before end not one that may have written it. */
static bool reads_older(const struct accesses *accesses, const struct submitted *all, uint32_t end,
			const struct kernel_access *place)
{
	for (uint32_t i = all->first; i < end; i++)
		if (all->model->profile->ops[submissions_op(&all->model->submissions, i)].kind ==
			    OP_KERNEL &&
		    may_write(accesses, list_of(accesses, all, i), place))
			return false;
	return true;
}

static bool is_written_by_any(const struct accesses *accesses, const struct submitted *all,
			      const struct kernel_access *place)
{
	for (uint32_t i = all->first; i < all->end; i++)
		if (writes(accesses, list_of(accesses, all, i), place))
			return true;
	return false;
}

static bool carries_on(const struct accesses *accesses, const struct submitted *before,
		       const struct submitted *after)
{
	for (uint32_t i = after->first; i < after->end; i++) {
		const struct access_list *list = list_of(accesses, after, i);

		for (uint32_t j = 0; list && !list->varies && j < list->count; j++) {
			const struct kernel_access *read = &accesses->items[list->first + j];

			if (read->kind == ACCESS_READ &&
			    is_written_by_any(accesses, before, read) &&
			    reads_older(accesses, after, i, read))
				return true;
		}
	}
	return false;
}

/* By its second and third iteration: the first may set up what others go on with. */
bool dependences_carry_on(const struct accesses *accesses, const struct model *model,
			  const struct loop *loop)
{
	const uint32_t *at = loop->iterations;
	struct submitted before, after;

	if (!accesses || loop->iteration_count < 3)
		return false;
	before = submitted_by(model, at[1], at[2]);
	after = submitted_by(model, at[2], at[3]);
	return !has_other_writers(&before) && !has_other_writers(&after) &&
	       carries_on(accesses, &before, &after);
}
