#include "analysis/job/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/groups.h"

static int count_hosts(struct job_parts *parts)
{
	struct groups hosts = {0};
	int rc = 0;

	for (size_t i = 0; i < parts->job->rank_count && rc == 0; i++) {
		const char *host = parts->profile->processes[parts->job->ranks[i].process].host;
		uint32_t number;

		if (*host) /* else it is unknown, and counts as none of its own */
			rc = groups_find(&hosts, host, strlen(host), &number);
	}
	parts->job->host_count = hosts.count ? hosts.count : 1;
	groups_free(&hosts);
	return rc;
}

static int analyze(struct job_parts *parts)
{
	int rc = communication_find(&parts->communication, parts->profile, parts->rank_of_stream);

	if (rc == 0)
		rc = count_hosts(parts);
	if (rc == 0)
		rc = job_times_measure(parts);
	if (rc == 0)
		rc = job_late_find(parts);
	if (rc == 0)
		rc = job_transfers_find(parts);
	if (rc == 0)
		rc = job_path_find(parts);
	return rc < 0 ? rc : job_problems_find(parts);
}

static void parts_free(struct job_parts *parts)
{
	communication_free(&parts->communication);
	free(parts->rank_of_stream);
	free(parts->places);
	free(parts->only_on_device);
	free(parts->ops);
	free(parts->first);
	free(parts->rank_of_collective);
}

static int build(struct job **out, struct job_parts *parts, int (*fill)(struct job_parts *parts),
		 struct err *err)
{
	int rc;

	parts->job = calloc(1, sizeof(*parts->job));
	rc = parts->job ? job_ranks_find(parts) : -ENOMEM;
	if (rc == 0 && parts->job->rank_count)
		rc = fill(parts);
	parts_free(parts);
	if (rc < 0) {
		job_free(parts->job);
		return err_set(err, rc, "out of memory for the ranks of the job");
	}
	*out = parts->job;
	return 0;
}

int job_build(struct job **out, const struct profile *profile, const struct gap_analysis *gaps,
	      const struct collectives *collectives, struct err *err)
{
	struct job_parts parts = {.profile = profile, .gaps = gaps, .collectives = collectives};

	return build(out, &parts, analyze, err);
}

static int measure(struct job_parts *parts)
{
	int rc = communication_find(&parts->communication, parts->profile, parts->rank_of_stream);

	return rc < 0 ? rc : job_times_measure(parts);
}

int job_build_times(struct job **out, const struct profile *profile,
		    const struct gap_analysis *gaps, const struct collectives *collectives,
		    struct err *err)
{
	struct job_parts parts = {.profile = profile,
				  .gaps = gaps,
				  .collectives = collectives,
				  .may_be_no_job = true};

	return build(out, &parts, measure, err);
}

void job_free(struct job *job)
{
	if (!job)
		return;
	sentences_free(&job->problems);
	free(job->ranks);
	free(job->collectives);
	free(job->transfers);
	free(job);
}

/* ---- names ---- */

void job_name_rank(char *buffer, size_t size, const struct profile *profile,
		   const struct job_rank *rank)
{
	int64_t number = profile->processes[rank->process].rank;

	if (number >= 0 && rank->is_alone)
		snprintf(buffer, size, "rank %" PRId64, number);
	else if (number >= 0)
		snprintf(buffer, size, "GPU %" PRIu32 " of rank %" PRId64, rank->device, number);
	else if (profile->process_count == 1)
		snprintf(buffer, size, "GPU %" PRIu32, rank->device);
	else
		collectives_name_rank(buffer, size, profile, rank->process, rank->device);
}

const struct job_rank *job_latest(const struct job *job)
{
	const struct job_rank *latest = NULL;

	for (size_t i = 0; i < job->rank_count; i++)
		if (job->ranks[i].late.caused_wait_ns > (latest ? latest->late.caused_wait_ns : 0))
			latest = &job->ranks[i];
	return latest;
}

enum job_late_cause job_late_cause(const struct job_late *late)
{
	int most = JOB_LATE_UNKNOWN;

	for (int cause = 0; cause < JOB_LATE_CAUSE_COUNT; cause++)
		if (late->by_cause_ns[cause] > late->by_cause_ns[most])
			most = cause;
	return (enum job_late_cause)most;
}

static const struct {
	const char *key, *words;
} late_causes[] = {
#define LATE_ROW(constant, key, words) {key, words},
	JOB_LATE_CAUSES(LATE_ROW)
#undef LATE_ROW
};

static const struct {
	const char *key, *title;
} path_kinds[] = {
#define PATH_ROW(constant, key, title) {key, title},
	JOB_PATH_KINDS(PATH_ROW)
#undef PATH_ROW
};

const char *job_late_key(enum job_late_cause cause)
{
	return late_causes[cause].key;
}

const char *job_late_words(enum job_late_cause cause)
{
	return late_causes[cause].words;
}

const char *job_path_key(enum job_path_kind kind)
{
	return path_kinds[kind].key;
}

const char *job_path_title(enum job_path_kind kind)
{
	return path_kinds[kind].title;
}
