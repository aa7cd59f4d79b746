#include "techniques/shared/flag_loops.h"

#include "analysis/time/gaps.h"

/* Fewer iterations that are as the one before them have a branch in them, and no common body. */
#define LEAST_ALIKE 0.75

bool flag_loops_is_flag(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST &&
	       profile->copies[op->detail].bytes <= GAP_DECISION_BYTES;
}

/* Copies differ in where they are kept, not in what they are. */
static bool is_alike(const struct profile *profile, const struct profile_op *left,
		     const struct profile_op *right)
{
	if (left->kind != right->kind ||
	    profile_op_graph(profile, left) != profile_op_graph(profile, right))
		return false;
	if (left->kind == OP_KERNEL)
		return left->detail == right->detail;
	return left->kind != OP_COPY ||
	       (profile->copies[left->detail].kind == profile->copies[right->detail].kind &&
		profile->copies[left->detail].bytes == profile->copies[right->detail].bytes);
}

/* What an iteration submitted, in ops[] of submissions. */
struct submitted {
	uint32_t first, end;
};

static struct submitted submitted_in(const struct model *model, const struct loop *loop,
				     size_t iteration)
{
	const struct submissions *submissions = &model->submissions;

	return (struct submitted){submissions_first(submissions, loop->iterations[iteration]),
				  submissions_first(submissions, loop->iterations[iteration + 1])};
}

static bool are_alike(const struct model *model, struct submitted left, struct submitted right)
{
	const struct profile *profile = model->profile;
	const struct submissions *submissions = &model->submissions;

	if (left.end - left.first != right.end - right.first)
		return false;
	for (uint32_t i = 0; i < left.end - left.first; i++)
		if (!is_alike(profile, &profile->ops[submissions_op(submissions, left.first + i)],
			      &profile->ops[submissions_op(submissions, right.first + i)]))
			return false;
	return true;
}

/* Whether the last that it submitted, and nothing else, is read to decide by. */
static bool ends_with_flag(const struct model *model, struct submitted submitted)
{
	const struct profile *profile = model->profile;
	uint32_t flag_count = 0;

	for (uint32_t i = submitted.first; i < submitted.end; i++)
		flag_count +=
			flag_loops_is_flag(profile,
					   &profile->ops[submissions_op(&model->submissions, i)]);
	return flag_count == 1 && submitted.end - submitted.first > 1 &&
	       flag_loops_is_flag(
		       profile,
		       &profile->ops[submissions_op(&model->submissions, submitted.end - 1)]);
}

bool flag_loops_is_one(const struct model *model, const struct loop *loop)
{
	size_t alike_count = 0;

	for (size_t i = 1; i < loop->iteration_count; i++) {
		struct submitted submitted = submitted_in(model, loop, i);

		alike_count += ends_with_flag(model, submitted) &&
			       are_alike(model, submitted_in(model, loop, i - 1), submitted);
	}
	return (double)alike_count >= LEAST_ALIKE * (double)(loop->iteration_count - 1);
}
