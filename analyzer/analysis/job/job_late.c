/*
 * job_late.c - which rank the others waited for in collectives, and what it had done meanwhile.
 *
 * A rank's time between two collectives is split: computation, copies beside none, other communication beside
 * neither, and idle time, which is the host's where it launched the next operation after the idle time had begun, and
 * unknown where the recording does not show that launch, or shows it by another clock.
 * What the late rank had more of than the one that waited made it late: of several, each by its part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/ns.h"
#include "base/spans.h"
#include "base/sums.h"

/* ---- what a rank did before each collective ---- */

#define BIT(work) (1u << (work))
#define CAUSE_COUNT JOB_LATE_CAUSE_COUNT

struct before {
	int64_t by_cause_ns[CAUSE_COUNT];
};

struct lateness {
	struct job_parts *parts;
	struct before *before; /* by collectives->items[] */
};

/* What a moment of one rank is of; no moment is of two. */
struct moments {
	struct spans of[CAUSE_COUNT]; /* of[JOB_LATE_DEVICE] stays empty: the rest */
};

/* Return true if nothing shows when the operation was launched. */
static bool has_no_launch(const struct profile *profile, const struct profile_op *op)
{
	if (profile_op_is_early(profile, op))
		return true;
	return op->call == PROFILE_NONE && op->kind != OP_GRAPH && !profile_op_node(profile, op);
}

/* Idle time whose end the host had not launched when it began, and idle time of which that is not known. */
static int gather_idle(struct spans *host, struct spans *unknown, const struct job_parts *parts,
		       size_t rank)
{
	const struct profile *profile = parts->profile;
	int64_t idle_ns = parts->job->first_ns; /* since when it is idle */
	int rc = 0;

	*host = *unknown = (struct spans){0};
	for (size_t i = parts->first[rank]; i < parts->first[rank + 1] && rc == 0; i++) {
		const struct profile_op *op = &profile->ops[parts->ops[i]];

		if (op->start_ns > idle_ns && has_no_launch(profile, op))
			rc = spans_add(unknown, idle_ns, op->start_ns);
		else if (op->call != PROFILE_NONE && profile->calls[op->call].end_ns > idle_ns)
			rc = spans_add(host, idle_ns, op->start_ns);
		idle_ns = max_ns(idle_ns, op->end_ns);
	}
	spans_seal(host);
	spans_seal(unknown);
	return rc;
}

static void moments_free(struct moments *moments)
{
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		spans_free(&moments->of[cause]);
}

/* Into an empty out. */
static int moments_find(struct moments *out, const struct job_parts *parts, size_t rank)
{
	struct spans *of = out->of;
	int rc = job_gather(&of[JOB_LATE_KERNELS], parts, rank, BIT(WORK_COMPUTATION));

	if (rc == 0)
		rc = job_gather(&of[JOB_LATE_COPIES], parts, rank,
				BIT(WORK_COPY) | BIT(WORK_STAGED) | BIT(WORK_PEER));
	if (rc == 0)
		rc = job_gather(&of[JOB_LATE_COMMUNICATION], parts, rank, BIT(WORK_KERNEL));
	if (rc == 0)
		rc = spans_subtract(&of[JOB_LATE_COPIES], &of[JOB_LATE_KERNELS]);
	if (rc == 0)
		rc = spans_subtract(&of[JOB_LATE_COMMUNICATION], &of[JOB_LATE_KERNELS]);
	if (rc == 0)
		rc = spans_subtract(&of[JOB_LATE_COMMUNICATION], &of[JOB_LATE_COPIES]);
	if (rc == 0)
		rc = gather_idle(&of[JOB_LATE_HOST], &of[JOB_LATE_UNKNOWN], parts, rank);
	return rc;
}

/* From the collective before, or from when the job began, to this one. */
static int64_t begin_ns(const struct job_parts *parts, const struct collective_rank *rank, size_t i)
{
	const struct collective *items = parts->collectives->items;

	if (i == rank->first)
		return parts->job->first_ns;
	return items[i - 1].end_ns < items[i].start_ns ? items[i - 1].end_ns
						       : items[i - 1].start_ns;
}

static void split(struct before *out, const struct moments *moments, int64_t from_ns, int64_t to_ns)
{
	int64_t rest_ns = max_ns(to_ns - from_ns, 0);

	if (to_ns <= from_ns)
		return;
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		out->by_cause_ns[cause] = spans_covered(&moments->of[cause], from_ns, to_ns);
		rest_ns -= out->by_cause_ns[cause];
	}
	out->by_cause_ns[JOB_LATE_DEVICE] += max_ns(rest_ns, 0);
}

static int look_before(struct lateness *all, const struct collective_rank *rank)
{
	const struct job_parts *parts = all->parts;
	struct moments moments = {.of = {{.items = NULL}}};
	int rc = moments_find(&moments, parts,
			      parts->rank_of_collective[rank - parts->collectives->ranks]);

	for (size_t i = rank->first; rc == 0 && i < rank->first + rank->matched_count; i++)
		split(&all->before[i], &moments, begin_ns(parts, rank, i),
		      parts->collectives->items[i].start_ns);
	moments_free(&moments);
	return rc;
}

/* ---- who is waited for ---- */

/* Splits what one rank waited for another by what the other had more of. */
static void blame(struct job_late *late, int64_t wait_ns, const struct before *late_rank,
		  const struct before *waiting)
{
	double more_ns[CAUSE_COUNT], sum_ns = 0;
	int64_t left_ns = wait_ns;
	int most = JOB_LATE_UNKNOWN;

	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		more_ns[cause] =
			(double)max_ns(late_rank->by_cause_ns[cause] - waiting->by_cause_ns[cause],
				       0);
		sum_ns += more_ns[cause];
		if (more_ns[cause] > 0 &&
		    (most == JOB_LATE_UNKNOWN || more_ns[cause] > more_ns[most]))
			most = cause;
	}
	for (int cause = 0; cause < CAUSE_COUNT && sum_ns > 0; cause++) {
		int64_t part_ns =
			cause == most ? 0 : (int64_t)((double)wait_ns * more_ns[cause] / sum_ns);

		sum_add_ns(&late->by_cause_ns[cause], part_ns);
		left_ns -= part_ns;
	}
	sum_add_ns(&late->by_cause_ns[most], left_ns);
}

static void blame_rank(struct lateness *all, const struct collective_rank *rank)
{
	const struct collectives *collectives = all->parts->collectives;
	struct job *job = all->parts->job;
	uint32_t own = all->parts->rank_of_collective[rank - collectives->ranks];

	job->ranks[own].late.matched_count = rank->matched_count;
	for (size_t i = rank->first; i < rank->first + rank->matched_count; i++) {
		const struct collective *item = &collectives->items[i];
		struct job_late *late;

		if (item->awaited == PROFILE_NONE)
			continue;
		late = &job->ranks[all->parts->rank_of_collective[item->awaited]].late;
		sum_add_ns(&late->caused_wait_ns, item->wait_ns);
		late->most_ns = max_ns(late->most_ns, item->wait_ns);
		blame(late, item->wait_ns,
		      &all->before[collectives->ranks[item->awaited].first + i - rank->first],
		      &all->before[i]);
	}
}

/* ---- each collective ---- */

struct instance {
	uint32_t group, kernel, late, rank_count;
	int64_t skew_ns, time_ns, wait_ns;
};

static int compare_instances(const void *left, const void *right)
{
	const struct instance *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->skew_ns > b->skew_ns) - (a->skew_ns < b->skew_ns);
}

/* Adds the collective of one rank to what is known of the instance. */
static void join(struct instance *instance, int64_t *first_ns, int64_t *last_ns,
		 const struct collective *item, uint32_t rank)
{
	*first_ns = min_ns(*first_ns, item->start_ns);
	if (item->start_ns > *last_ns) {
		*last_ns = item->start_ns;
		instance->late = rank;
	}
	instance->rank_count++;
	sum_add_ns(&instance->time_ns, item->end_ns - item->start_ns);
	sum_add_ns(&instance->wait_ns, item->wait_ns);
}

struct member {
	uint32_t group, rank; /* collectives->ranks[] */
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The index-th collective of a group. */
static struct instance meet(const struct job_parts *parts, const struct member *members,
			    size_t member_count, size_t index)
{
	const struct collectives *all = parts->collectives;
	struct instance instance = {.group = members->group};
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < member_count; i++) {
		const struct collective *item =
			&all->items[all->ranks[members[i].rank].first + index];

		instance.kernel = item->kernel;
		join(&instance, &first_ns, &last_ns, item,
		     parts->rank_of_collective[members[i].rank]);
	}
	instance.skew_ns = last_ns - first_ns;
	if (instance.wait_ns)
		parts->job->ranks[instance.late].late.last_count++;
	return instance;
}

static size_t list_members(struct member *members, const struct collectives *all)
{
	size_t count = 0;

	for (uint32_t i = 0; i < all->rank_count; i++)
		if (all->ranks[i].is_matched)
			members[count++] = (struct member){all->ranks[i].group, i};
	qsort(members, count, sizeof(*members), compare_members);
	return count;
}

static size_t list_instances(struct instance *instances, const struct job_parts *parts,
			     const struct member *members, size_t member_count)
{
	const struct collectives *all = parts->collectives;
	size_t count = 0;

	for (size_t first = 0, next; first < member_count; first = next) {
		next = first;
		while (next < member_count && members[next].group == members[first].group)
			next++;
		for (size_t i = 0; i < all->ranks[members[first].rank].matched_count; i++)
			instances[count++] = meet(parts, members + first, next - first, i);
	}
	return count;
}

/* ---- collectives by kernel ---- */

static int compare_collectives(const void *left, const void *right)
{
	const struct job_collective *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static struct job_collective sum_up(const struct instance *instances, size_t count)
{
	const struct instance *most = &instances[count - 1];
	struct job_collective sum = {.kernel = most->kernel,
				     .group = most->group,
				     .rank_count = most->rank_count,
				     .count = count,
				     .median_skew_ns = instances[(count - 1) / 2].skew_ns,
				     .most_skew_ns = most->skew_ns,
				     .most_late = most->late};

	for (size_t i = 0; i < count; i++) {
		sum_add_ns(&sum.time_ns, instances[i].time_ns);
		sum_add_ns(&sum.wait_ns, instances[i].wait_ns);
	}
	return sum;
}

/* instances: sorted. */
static int collect(struct job *job, const struct instance *instances, size_t count)
{
	size_t kinds = 0;

	for (size_t i = 0; i < count; i++)
		kinds += i == 0 || instances[i].group != instances[i - 1].group ||
			 instances[i].kernel != instances[i - 1].kernel;
	job->collectives = calloc(kinds + 1, sizeof(*job->collectives));
	if (!job->collectives)
		return -ENOMEM;
	for (size_t first = 0, next; first < count; first = next) {
		next = first;
		while (next < count && instances[next].group == instances[first].group &&
		       instances[next].kernel == instances[first].kernel)
			next++;
		job->collectives[job->collective_count++] = sum_up(instances + first, next - first);
	}
	qsort(job->collectives, job->collective_count, sizeof(*job->collectives),
	      compare_collectives);
	return 0;
}

static int find_instances(struct job_parts *parts)
{
	const struct collectives *all = parts->collectives;
	struct member *members = calloc(all->rank_count + 1, sizeof(*members));
	struct instance *instances = calloc(all->count + 1, sizeof(*instances));
	int rc = members && instances ? 0 : -ENOMEM;

	if (rc == 0) {
		size_t count =
			list_instances(instances, parts, members, list_members(members, all));

		qsort(instances, count, sizeof(*instances), compare_instances);
		rc = collect(parts->job, instances, count);
	}
	free(members);
	free(instances);
	return rc;
}

int job_late_find(struct job_parts *parts)
{
	const struct collectives *all = parts->collectives;
	struct lateness lateness = {parts, calloc(all->count + 1, sizeof(*lateness.before))};
	int rc = lateness.before ? 0 : -ENOMEM;

	for (size_t i = 0; i < all->rank_count && rc == 0; i++)
		if (all->ranks[i].is_matched)
			rc = look_before(&lateness, &all->ranks[i]);
	for (size_t i = 0; i < all->rank_count && rc == 0; i++)
		if (all->ranks[i].is_matched)
			blame_rank(&lateness, &all->ranks[i]);
	free(lateness.before);
	return rc < 0 ? rc : find_instances(parts);
}
