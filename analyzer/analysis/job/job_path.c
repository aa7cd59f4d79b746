/*
 * job_path.c - the critical path: from the job's last end back to its beginning, through what each operation waited
 * for.
 *
 * An operation waited for the one that ended last before it: of its own rank, or a peer copy to it, or for a copy
 * from the host the copy that brought the data there.  A collective that waited for another rank leads to that rank,
 * at the moment when it came.  Time between the two is idle time of the rank that the path goes on from.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/job/job_parts.h"
#include "base/search.h"
#include "base/stable_sort.h"
#include "base/sums.h"

/* ---- operations by their end ---- */

struct end {
	int64_t end_ns;
	uint32_t op;
};

/* A collective of an operation. */
struct matched {
	uint32_t op, item, rank; /* ops[], collectives->items[], collectives->ranks[] */
};

struct walk {
	struct job_parts *parts;
	struct end *ends; /* rank by rank: those of rank i from first[i] to first[i + 1] */
	size_t *first;
	struct matched *matched; /* by op */
	size_t matched_count;
	int64_t now_ns;
	uint32_t rank; /* that the path is on */
};

static int compare_ends(const void *left, const void *right)
{
	const struct end *a = left, *b = right;

	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int compare_matched(const void *left, const void *right)
{
	const struct matched *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

/* The rank that a peer copy brings data to, where that is another one than it is of. */
static uint32_t receiver(const struct job_parts *parts, uint32_t op)
{
	const struct profile_op *copy = &parts->profile->ops[op];
	uint32_t to;

	if (parts->communication.works[op] != WORK_PEER)
		return PROFILE_NONE;
	to = job_rank_of_peer(parts, profile_op_process(parts->profile, copy),
			      parts->profile->copies[copy->detail].dst_device);
	return to == job_rank_of(parts, copy) ? PROFILE_NONE : to;
}

static void count_ends(struct walk *walk, size_t rank_count)
{
	const struct job_parts *parts = walk->parts;

	for (size_t i = 0; i < rank_count; i++)
		walk->first[i + 1] = parts->first[i + 1] - parts->first[i];
	for (uint32_t i = 0; i < parts->profile->op_count; i++) {
		uint32_t to = receiver(parts, i);

		if (to != PROFILE_NONE)
			walk->first[to + 1]++;
	}
	for (size_t i = 0; i < rank_count; i++)
		walk->first[i + 1] += walk->first[i];
}

static void add_end(struct walk *walk, size_t *next, uint32_t rank, uint32_t op)
{
	walk->ends[next[rank]++] = (struct end){walk->parts->profile->ops[op].end_ns, op};
}

static int sort_ends(struct walk *walk, size_t rank_count)
{
	int rc = 0;

	for (size_t i = 0; i < rank_count && rc == 0; i++)
		rc = stable_sort(walk->ends + walk->first[i], walk->first[i + 1] - walk->first[i],
				 sizeof(*walk->ends), compare_ends);
	return rc;
}

static int list_ends(struct walk *walk)
{
	const struct job_parts *parts = walk->parts;
	size_t rank_count = parts->job->rank_count;
	size_t *next = calloc(rank_count + 1, sizeof(*next));

	walk->first = calloc(rank_count + 1, sizeof(*walk->first));
	if (!next || !walk->first) {
		free(next);
		return -ENOMEM;
	}
	count_ends(walk, rank_count);
	walk->ends = calloc(walk->first[rank_count] + 1, sizeof(*walk->ends));
	for (size_t i = 0; i < rank_count; i++)
		next[i] = walk->first[i];
	for (uint32_t i = 0; walk->ends && i < parts->profile->op_count; i++) {
		uint32_t to = receiver(parts, i);

		add_end(walk, next, job_rank_of(parts, &parts->profile->ops[i]), i);
		if (to != PROFILE_NONE)
			add_end(walk, next, to, i);
	}
	free(next);
	return walk->ends ? sort_ends(walk, rank_count) : -ENOMEM;
}

static int list_matched(struct walk *walk)
{
	const struct collectives *all = walk->parts->collectives;

	walk->matched = calloc(all->count + 1, sizeof(*walk->matched));
	if (!walk->matched)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < all->rank_count; rank++)
		for (size_t i = 0; i < all->ranks[rank].count; i++) {
			size_t item = all->ranks[rank].first + i;

			if (all->items[item].awaited != PROFILE_NONE)
				walk->matched[walk->matched_count++] =
					(struct matched){all->items[item].op, (uint32_t)item, rank};
		}
	qsort(walk->matched, walk->matched_count, sizeof(*walk->matched), compare_matched);
	return 0;
}

/* ---- one step ---- */

static bool is_op_reached(size_t index, const void *context)
{
	const struct matched *const *pair = context;

	return pair[0][index].op >= pair[1]->op;
}

/* The collective that the operation is and that had to wait; NULL: it is none. */
static const struct matched *find_matched(const struct walk *walk, uint32_t op)
{
	const struct matched wanted = {.op = op};
	const struct matched *pair[] = {walk->matched, &wanted};
	size_t found = search_first(0, walk->matched_count, is_op_reached, pair);

	return found < walk->matched_count && walk->matched[found].op == op ? &walk->matched[found]
									    : NULL;
}

struct moment {
	const struct end *ends;
	int64_t ns;
};

static bool is_later(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->ends[index].end_ns > moment->ns;
}

/* What ended last on a rank until now, but for that operation; NULL: nothing. */
static const struct end *last_end(const struct walk *walk, uint32_t but)
{
	size_t begin = walk->first[walk->rank];
	size_t found = search_first(begin, walk->first[walk->rank + 1], is_later,
				    &(struct moment){walk->ends, walk->now_ns});

	if (found > begin && walk->ends[found - 1].op == but)
		found--;
	return found > begin ? &walk->ends[found - 1] : NULL;
}

/* What the operation, or the moment at which it came to a collective, waited for; PROFILE_NONE: nothing. */
static uint32_t find_awaited(const struct walk *walk, uint32_t op)
{
	const struct profile_op *ops = walk->parts->profile->ops;
	const struct staged_copy *staged = communication_staged(&walk->parts->communication, op);
	const struct end *end = last_end(walk, op);

	if (staged && ops[staged->out].end_ns <= walk->now_ns &&
	    (!end || ops[staged->out].end_ns > end->end_ns))
		return staged->out;
	return end ? end->op : PROFILE_NONE;
}

static void lay(struct walk *walk, enum job_path_kind kind, int64_t back_to_ns)
{
	struct job *job = walk->parts->job;

	sum_add_ns(&job->ranks[walk->rank].path_ns[kind], walk->now_ns - back_to_ns);
	sum_add_ns(&job->path_ns[kind], walk->now_ns - back_to_ns);
	walk->now_ns = back_to_ns;
}

static void go_to(struct walk *walk, uint32_t rank)
{
	walk->parts->job->path_hop_count += rank != walk->rank;
	walk->rank = rank;
}

static enum job_path_kind kind_of(const struct walk *walk, uint32_t op)
{
	static const enum job_path_kind kinds[] = {
		[WORK_COMPUTATION] = JOB_PATH_COMPUTATION,
		[WORK_KERNEL] = JOB_PATH_COMMUNICATION,
		[WORK_PEER] = JOB_PATH_COMMUNICATION,
		[WORK_STAGED] = JOB_PATH_COMMUNICATION,
		[WORK_COPY] = JOB_PATH_COPIES,
	};

	return kinds[walk->parts->communication.works[op]];
}

/* From the operation's end to what it waited for.  Returns that, PROFILE_NONE at the beginning. */
static uint32_t step(struct walk *walk, uint32_t op)
{
	const struct collectives *all = walk->parts->collectives;
	const struct matched *matched = find_matched(walk, op);
	const struct profile_op *ops = walk->parts->profile->ops;
	uint32_t awaited;

	if (matched) {
		const struct collective *own = &all->items[matched->item];
		size_t index = matched->item - all->ranks[matched->rank].first;
		const struct collective *late = &all->items[all->ranks[own->awaited].first + index];

		lay(walk, JOB_PATH_COMMUNICATION, late->start_ns);
		go_to(walk, walk->parts->rank_of_collective[own->awaited]);
		op = late->op;
	} else {
		lay(walk, kind_of(walk, op), ops[op].start_ns);
	}
	awaited = find_awaited(walk, op);
	if (awaited != PROFILE_NONE) {
		lay(walk, JOB_PATH_IDLE, ops[awaited].end_ns);
		go_to(walk, job_rank_of(walk->parts, &ops[awaited]));
	}
	return awaited;
}

/* ---- all ---- */

static uint32_t last_op(const struct profile *profile)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < profile->op_count; i++)
		if (profile->ops[i].end_ns > profile->ops[last].end_ns)
			last = i;
	return last;
}

/* Operations that take no time could lead to each other for ever. */
static void walk_back(struct walk *walk)
{
	const struct profile *profile = walk->parts->profile;
	uint32_t op = last_op(profile);

	walk->now_ns = profile->ops[op].end_ns;
	walk->rank = job_rank_of(walk->parts, &profile->ops[op]);
	for (size_t left = 2 * profile->op_count; left > 0 && op != PROFILE_NONE; left--)
		op = step(walk, op);
	if (walk->now_ns > walk->parts->job->first_ns) /* others began before it */
		lay(walk, JOB_PATH_IDLE, walk->parts->job->first_ns);
}

int job_path_find(struct job_parts *parts)
{
	struct walk walk = {.parts = parts};
	int rc = list_ends(&walk);

	if (rc == 0)
		rc = list_matched(&walk);
	if (rc == 0)
		walk_back(&walk);
	free(walk.ends);
	free(walk.first);
	free(walk.matched);
	return rc;
}
