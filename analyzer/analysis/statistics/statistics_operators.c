/* statistics_operators.c - which operator of PyTorch launched most of a kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/statistics_parts.h"
#include "base/array.h"
#include "base/groups.h"
#include "base/names/range_fold.h"
#include "base/sums.h"

/* One kernel of one operator. */
struct pair {
	uint32_t kernel;	/* kernel_names[] */
	uint32_t operator_name; /* number of its name */
};

struct operator_pass {
	const struct profile *profile;
	struct groups names;	 /* of operators */
	const char **texts;	 /* by number of their names */
	uint32_t *operator_of;	 /* by range; PROFILE_NONE: it is no operator */
	uint32_t *operator_call; /* by call: the innermost operator around it */
	uint32_t *open;		 /* ranges around a call, the innermost last */
	struct groups groups;
	struct pair *pairs; /* by group */
	int64_t *times_ns;  /* likewise */
	size_t pair_capacity, time_capacity;
};

static void pass_close(struct operator_pass *pass)
{
	groups_free(&pass->names);
	groups_free(&pass->groups);
	free(pass->texts);
	free(pass->operator_of);
	free(pass->operator_call);
	free(pass->open);
	free(pass->pairs);
	free(pass->times_ns);
}

static int pass_open(struct operator_pass *pass, const struct profile *profile)
{
	*pass = (struct operator_pass){.profile = profile};
	pass->texts = calloc(profile->range_count + 1, sizeof(*pass->texts));
	pass->operator_of = calloc(profile->range_count + 1, sizeof(*pass->operator_of));
	pass->open = calloc(profile->range_count + 1, sizeof(*pass->open));
	pass->operator_call = calloc(profile->call_count + 1, sizeof(*pass->operator_call));
	return pass->texts && pass->operator_of && pass->open && pass->operator_call ? 0 : -ENOMEM;
}

static int number_operators(struct operator_pass *pass)
{
	for (size_t i = 0; i < pass->profile->range_count; i++) {
		const struct profile_range *range = &pass->profile->ranges[i];
		uint32_t *number = &pass->operator_of[i];

		*number = PROFILE_NONE;
		if (!range->is_push_pop ||
		    !(range->recorded_name || range_is_operator(range->name)))
			continue;
		if (groups_find(&pass->names, range->name, strlen(range->name), number) < 0)
			return -ENOMEM;
		pass->texts[*number] = range->name;
	}
	return 0;
}

/* Ranges of a thread nest, and both they and its calls come by their starts. */
static void find_operators_of_thread(struct operator_pass *pass,
				     const struct profile_thread *thread)
{
	const struct profile_range *ranges = pass->profile->ranges;
	size_t next = thread->first_range, end = next + thread->range_count, depth = 0;

	for (size_t i = 0; i < thread->call_count; i++) {
		size_t call = thread->first_call + i;
		int64_t now_ns = pass->profile->calls[call].start_ns;

		for (; next < end && ranges[next].start_ns <= now_ns; next++) {
			while (depth &&
			       ranges[pass->open[depth - 1]].end_ns <= ranges[next].start_ns)
				depth--;
			if (pass->operator_of[next] != PROFILE_NONE)
				pass->open[depth++] = (uint32_t)next;
		}
		while (depth && ranges[pass->open[depth - 1]].end_ns <= now_ns)
			depth--;
		pass->operator_call[call] =
			depth ? pass->operator_of[pass->open[depth - 1]] : PROFILE_NONE;
	}
}

static int add_time(struct operator_pass *pass, const struct pair *pair, int64_t time_ns)
{
	uint32_t known = pass->groups.count, number;
	struct pair *pairs;
	int64_t *times_ns;

	if (groups_find(&pass->groups, pair, sizeof(*pair), &number) < 0)
		return -ENOMEM;
	if (number == known) {
		pairs = ARRAY_NEXT(pass->pairs, pass->pair_capacity, number);
		times_ns = ARRAY_NEXT(pass->times_ns, pass->time_capacity, number);
		if (!pairs || !times_ns)
			return -ENOMEM;
		*pairs = *pair;
		*times_ns = 0;
	}
	sum_add_ns(&pass->times_ns[number], time_ns);
	return 0;
}

static int sum_kernels(struct operator_pass *pass)
{
	const struct profile *profile = pass->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->op_count && rc == 0; i++) {
		const struct profile_op *op = &profile->ops[i];
		struct pair pair = {0};

		if (op->kind != OP_KERNEL || op->call == PROFILE_NONE ||
		    pass->operator_call[op->call] == PROFILE_NONE)
			continue;
		pair.kernel = profile->signatures[op->detail].kernel;
		pair.operator_name = pass->operator_call[op->call];
		rc = add_time(pass, &pair, op->end_ns - op->start_ns);
	}
	return rc;
}

/* Of a kernel the operator with more than half of its time. */
static int choose(struct statistics *statistics, const struct operator_pass *pass)
{
	const struct profile *profile = pass->profile;
	uint32_t *best = malloc((profile->kernel_name_count + 1) * sizeof(*best));

	if (!best)
		return -ENOMEM;
	memset(best, 0xff, (profile->kernel_name_count + 1) * sizeof(*best));
	for (uint32_t i = 0; i < pass->groups.count; i++) {
		uint32_t *of = &best[pass->pairs[i].kernel];

		if (*of == PROFILE_NONE || pass->times_ns[i] > pass->times_ns[*of])
			*of = i;
	}
	for (size_t i = 0; i < statistics->kernel_count; i++) {
		struct kernel_statistics *kernel = &statistics->kernels[i];
		uint32_t chosen = best[profile->signatures[kernel->signature].kernel];

		if (chosen == PROFILE_NONE || pass->times_ns[chosen] <= kernel->time.total_ns / 2)
			continue;
		kernel->operator_name = pass->texts[pass->pairs[chosen].operator_name];
		kernel->operator_ns = pass->times_ns[chosen];
	}
	free(best);
	return 0;
}

int statistics_collect_operators(struct statistics *statistics, const struct profile *profile,
				 const struct steady_state *steady_state)
{
	(void)steady_state;
	struct operator_pass pass;
	int rc = pass_open(&pass, profile);

	if (rc == 0)
		rc = number_operators(&pass);
	if (rc == 0 && pass.names.count) {
		for (size_t i = 0; i < profile->thread_count; i++)
			find_operators_of_thread(&pass, &profile->threads[i]);
		rc = sum_kernels(&pass);
		if (rc == 0)
			rc = choose(statistics, &pass);
	}
	pass_close(&pass);
	return rc;
}
