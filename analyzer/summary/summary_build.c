/* summary_build.c - each rank of a recording as a summary of its own, merged: as if each had been summarized where it ran. */
#define _GNU_SOURCE /* strcasestr */
#include "summary/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/statistics/library_kernel.h"
#include "base/sums.h"

/* One rank on its way into a summary of its own. */
struct build {
	const struct report *report;
	const struct job_rank *from;
	struct summary *one;
	uint32_t rank; /* one->ranks[]: the only one */
};

static bool is_of_rank(const struct build *build, const struct profile_op *op)
{
	return profile_op_process(build->report->profile, op) == build->from->process;
}

/* The operations of its GPU, others' among them. */
static const struct profile_op *first_op(const struct build *build, const struct profile_op **end)
{
	const struct profile *profile = build->report->profile;
	const struct profile_device *device = &profile->devices[build->from->device];

	*end = profile->ops + device->first_op + device->op_count;
	return profile->ops + device->first_op;
}

/* ---- the rank ---- */

static uint64_t lost_by(const struct profile *profile, uint32_t process)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->loss_count; i++)
		if (profile->losses[i].process == process)
			sum_add_count(&count, profile->losses[i].count);
	return count;
}

/* Rows that cannot be read are counted; what is behind the end of a file is not. */
static const char *how_much(const struct profile_loss *loss)
{
	return strcmp(loss->kind, "unreadable_rows") ? ": how much is missing is unknown" : "";
}

static int add_damage(struct summary_rank *rank, const struct profile *profile, uint32_t process)
{
	int rc = 0;

	for (size_t i = 0; i < profile->loss_count && rc == 0; i++) {
		const struct profile_loss *loss = &profile->losses[i];

		if (loss->process == process && profile_loss_is_damage(profile, loss))
			rc = sentences_add(&rank->damage, "%s%s", profile_loss_place(loss),
					   how_much(loss));
	}
	return rc;
}

static void add_up_operations(struct summary_rank *rank, const struct build *build)
{
	const struct profile_op *end, *op = first_op(build, &end);

	for (; op < end; op++) {
		if (!is_of_rank(build, op))
			continue;
		rank->operation_count++;
		if (op->kind == OP_COPY)
			sum_add_count(&rank->copied_bytes,
				      build->report->profile->copies[op->detail].bytes);
	}
}

/* When the process began, as recorded: a part of the recording may begin later, and is of the same rank. */
static int64_t recorded_start_ns(const struct profile_process *process)
{
	long long start_ns = strtoll(profile_property(process, "start_ns", "0"), NULL, 10);

	return start_ns > 0 && start_ns < LLONG_MAX ? start_ns : 0;
}

static int add_rank(struct build *build)
{
	const struct profile *profile = build->report->profile;
	const struct profile_process *process = &profile->processes[build->from->process];
	const struct profile_device *device = &profile->devices[build->from->device];
	char number[32];
	struct summary_rank rank = {.rank = process->rank,
				    .pid = process->pid,
				    .start_ns = recorded_start_ns(process),
				    .device = number,
				    .model = device->name ? device->name : "",
				    .first_ns = build->from->first_ns,
				    .last_ns = build->from->last_ns,
				    .times = build->from->times,
				    .has_causes = build->from->has_causes,
				    .lost_count = lost_by(profile, build->from->process),
				    .is_cut_off = !process->sealed_ns};
	int rc = summary_host(build->one, *process->host ? process->host : process->folder,
			      &rank.host);

	snprintf(number, sizeof(number), "GPU %" PRIu32, build->from->device);
	if (device->uuid && *device->uuid)
		rank.device = device->uuid;
	rank.times.wait_ns = rank.times.exposed_wait_ns = 0;
	add_up_operations(&rank, build);
	if (rc == 0)
		rc = add_damage(&rank, profile, build->from->process);
	if (rc == 0)
		rc = summary_rank(build->one, &rank, &build->rank);
	sentences_free(&rank.damage);
	return rc;
}

/* ---- kernels ---- */

struct kernel_time {
	const char *name;
	int64_t total_ns;
	struct summary_times times;
	bool is_kept;
};

static int compare_kernels(const void *left, const void *right)
{
	const struct kernel_time *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int gather_kernels(struct kernel_time *kernels, const struct build *build)
{
	const struct profile *profile = build->report->profile;
	const struct profile_op *end, *op = first_op(build, &end);
	int rc = 0;

	for (size_t i = 0; i < profile->kernel_name_count; i++)
		kernels[i].name = profile->kernel_names[i];
	for (; op < end && rc == 0; op++) {
		struct kernel_time *kernel;

		if (op->kind != OP_KERNEL || !is_of_rank(build, op))
			continue;
		kernel = &kernels[profile->signatures[op->detail].kernel];
		sum_add_ns(&kernel->total_ns, op->end_ns - op->start_ns);
		rc = summary_times_add(&kernel->times, op->end_ns - op->start_ns);
	}
	return rc;
}

/* Those with most time, as far as there is room. */
static void choose_kernels(struct kernel_time *kernels, size_t count)
{
	size_t kept = 0, name_bytes = 0, buckets = 0;

	qsort(kernels, count, sizeof(*kernels), compare_kernels);
	for (size_t i = 0; i < count; i++) {
		size_t name = strlen(kernels[i].name) + 1;
		size_t used = sketch_used(&kernels[i].times.sketch);

		kernels[i].is_kept = kept < SUMMARY_RANK_KERNELS &&
				     name_bytes + name <= SUMMARY_RANK_NAME_BYTES &&
				     buckets + used <= SUMMARY_RANK_BUCKETS;
		kept += kernels[i].is_kept;
		name_bytes += kernels[i].is_kept ? name : 0;
		buckets += kernels[i].is_kept ? used : 0;
	}
}

static int put_kernels(struct summary *one, struct kernel_time *kernels, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		struct summary_times *times = &one->other_kernels;
		uint32_t index = 0;

		if (!kernels[i].times.count)
			continue;
		if (kernels[i].is_kept) {
			rc = summary_kernel(one, kernels[i].name, &index);
			times = &one->kernels[index].times;
		}
		if (rc == 0)
			rc = summary_times_merge(times, &kernels[i].times);
	}
	return rc;
}

static int add_kernels(const struct build *build)
{
	size_t count = build->report->profile->kernel_name_count;
	struct kernel_time *kernels = calloc(count + 1, sizeof(*kernels));
	int rc = kernels ? gather_kernels(kernels, build) : -ENOMEM;

	if (rc == 0) {
		choose_kernels(kernels, count);
		rc = put_kernels(build->one, kernels, count);
	}
	for (size_t i = 0; i < count && kernels; i++)
		summary_times_free(&kernels[i].times);
	free(kernels);
	return rc;
}

/* ---- gaps ---- */

static int add_gap(const struct gap *gap, void *context)
{
	struct summary *one = context;

	return summary_times_add(&one->gaps[gap->cause], gap->end_ns - gap->start_ns);
}

/* ---- collectives ---- */

/* No rank can leave one of these before all of its team have come, so that their ends are at about the same time.  A
 * broadcast's root can. */
static bool is_blocking(const char *kernel)
{
	static const char *const kinds[] = {"AllReduce", "AllGather", "ReduceScatter",
					    "AllToAll",	 "Barrier",   "FCollect"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcasestr(kernel, kinds[i]))
			return true;
	return false;
}

/* NVSHMEM's may be of a team of one, which its start-up has; NCCL's are of a whole communicator. */
static bool is_added_up(const char *kernel)
{
	const char *library = library_kernel_of(kernel);

	return is_blocking(kernel) && library && !strcmp(library, "NCCL");
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	/* FNV-1a, with the end of the text */
	do
		hash = (hash ^ (unsigned char)*text) * 1099511628211U;
	while (*text++);
	return hash;
}

/* Ranks whose sequences are alike have the same: they belong together, as in analysis/time/collectives.h. */
static void name_group(char *buffer, size_t size, const struct build *build,
		       const struct collective *items, size_t count)
{
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < count; i++)
		hash = hash_text(hash, build->report->profile->kernel_names[items[i].kernel]);
	snprintf(buffer, size, "%016" PRIx64, hash);
}

static int add_arrival(struct summary_part *part, uint64_t number, const struct collective *item)
{
	struct summary_arrivals *arrivals = summary_arrive(part);

	if (!arrivals)
		return -ENOMEM;
	*arrivals = (struct summary_arrivals){.number = number,
					      .count = 1,
					      .sum_ns = (uint64_t)item->start_ns,
					      .first_ns = item->start_ns,
					      .last_ns = item->start_ns,
					      .before_last_ns = INT64_MIN,
					      .end_ns = item->end_ns};
	return 0;
}

static int add_collective(struct summary *one, struct summary_part *part, uint32_t group,
			  struct summary_level *levels, uint64_t number,
			  const struct collective *item, const char *kernel)
{
	int rc = 0;

	if (is_added_up(kernel)) {
		summary_count(levels, number, item->start_ns);
	} else {
		one->groups[group].alone_length++;
		rc = summary_arrive_alone(part, &(struct summary_alone){number, item->start_ns,
									item->end_ns, 0});
	}
	return rc == 0 && is_blocking(kernel) ? add_arrival(part, number, item) : rc;
}

static int add_sequence(const struct build *build, const struct collective *items, size_t count)
{
	struct summary *one = build->one;
	struct summary_level levels[SUMMARY_LEVELS] = {{0}};
	struct summary_member member = {.count = count,
					.levels = levels,
					.level_count = SUMMARY_LEVELS};
	uint32_t part = 0;
	char key[32];
	int rc;

	name_group(key, sizeof(key), build, items, count);
	rc = summary_group(one, key, &member.group);
	if (rc == 0)
		rc = summary_part(one, member.group, one->ranks[build->rank].host, &part);
	if (rc < 0)
		return rc;
	one->groups[member.group].length = count;
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_collective(one, &one->parts[part], member.group, levels, i, &items[i],
				    build->report->profile->kernel_names[items[i].kernel]);
	return rc < 0 ? rc : summary_join(one, &one->ranks[build->rank], &member);
}

static int add_collectives(const struct build *build)
{
	const struct collectives *all = build->report->collectives;
	uint32_t at = build->from->collective_rank;
	const struct collective_rank *rank;

	if (at == PROFILE_NONE)
		return 0;
	rank = &all->ranks[at];
	if (!rank->count || rank->count > SUMMARY_MOST_COLLECTIVES)
		return 0;
	return add_sequence(build, all->items + rank->first, rank->count);
}

/* ---- all of it ---- */

static int build_one(struct build *build)
{
	int rc = add_rank(build);

	if (rc == 0)
		rc = add_kernels(build);
	if (rc == 0 && build->from->has_causes)
		rc = gaps_visit(build->report->gaps, build->from->device, add_gap, build->one);
	if (rc == 0)
		rc = add_collectives(build);
	if (rc == 0)
		summary_thin(build->one, SUMMARY_RANK_ARRIVALS);
	return rc;
}

static int build_ranks(struct summary *summary, const struct report *report, const struct job *job,
		       struct err *err)
{
	const char *path = report->profile->path;
	int rc = 0;

	if (!job->rank_count)
		return err_set(err, -ENOENT, "%s: nothing ran on a GPU there", path);
	for (size_t i = 0; i < job->rank_count && rc == 0; i++) {
		struct summary one = {0};

		rc = build_one(&(struct build){report, &job->ranks[i], &one, 0});
		if (rc < 0)
			err_set(err, rc, "out of memory for the summary");
		else
			rc = summary_merge(summary, &one, path, err);
		summary_free(&one);
	}
	return rc;
}

int summary_build(struct summary *summary, const struct report *report, struct err *err)
{
	struct job *job = NULL;
	int rc = job_build_times(&job, report->profile, report->gaps, report->collectives, err);

	if (rc == 0)
		rc = build_ranks(summary, report, job, err);
	job_free(job);
	return rc;
}
