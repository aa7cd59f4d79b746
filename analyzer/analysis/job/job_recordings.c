/*
 * job_recordings.c - what is wrong with the recordings of a job's ranks: files that were damaged, and ranks of several
 * runs in one recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/format.h"

/* ---- damage ---- */

/* The first rank of the process; NULL: nothing of it ran on a GPU. */
static const struct job_rank *rank_of(const struct job_parts *parts, uint32_t process)
{
	for (size_t i = 0; i < parts->job->rank_count; i++)
		if (parts->job->ranks[i].process == process)
			return &parts->job->ranks[i];
	return NULL;
}

static void name_process(char *buffer, size_t size, const struct job_parts *parts, uint32_t process,
			 const struct job_rank *rank)
{
	const struct profile_process *facts = &parts->profile->processes[process];

	if (rank)
		job_name_rank(buffer, size, parts->profile, rank);
	else if (facts->rank >= 0)
		snprintf(buffer, size, "rank %" PRId64, facts->rank);
	else
		snprintf(buffer, size, "%s", facts->folder);
}

static const char *effect_on_waits(const struct job_parts *parts, const struct job_rank *rank)
{
	bool is_any = false;

	if (!rank)
		return "no figure has it, and no wait for it is seen";
	for (size_t i = 0; i < parts->job->rank_count; i++)
		is_any |= parts->job->ranks[i].has_waits;
	if (!is_any)
		return "figures are of what is left";
	return rank->has_waits ? "figures and waits are of what is left"
			       : "its collectives could not be matched with those of other ranks, "
				 "whose waits for it are in no figure";
}

static int tell_damage(struct job_parts *parts, const struct profile_loss *loss)
{
	const struct job_rank *rank = rank_of(parts, loss->process);
	const char *place = profile_loss_place(loss);
	struct figure count = format_count(loss->count);
	char name[256];

	name_process(name, sizeof(name), parts, loss->process, rank);
	if (strstr(place, "/process.csv:"))
		return sentences_add(&parts->job->problems,
				     "what %s was is not known for sure: %s%s", name, place,
				     strcmp(loss->kind, "unreadable_rows")
					     ? "; copy its folder again, or record again"
					     : "");
	if (!strcmp(loss->kind, "unreadable_rows"))
		return sentences_add(
			&parts->job->problems,
			"%s has lost %s row%s, first %s: %s; copy its folder again, or record again",
			name, count.text, loss->count == 1 ? "" : "s", place,
			effect_on_waits(parts, rank));
	return sentences_add(
		&parts->job->problems,
		"%s has lost rows, how many is unknown: %s: %s; copy its folder again, or record again",
		name, place, effect_on_waits(parts, rank));
}

static int find_damage(struct job_parts *parts)
{
	const struct profile *profile = parts->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->loss_count && rc == 0; i++)
		if (profile_loss_is_damage(profile, &profile->losses[i]))
			rc = tell_damage(parts, &profile->losses[i]);
	return rc;
}

/* ---- several runs ---- */

static const struct profile_process *process_at(const struct job_parts *parts, size_t rank)
{
	return &parts->profile->processes[parts->job->ranks[rank].process];
}

/* Ranks with the same number are neighbours: one stands twice where another process has it as well. */
static bool is_double(const struct job_parts *parts, size_t rank)
{
	return rank && process_at(parts, rank)->rank >= 0 &&
	       process_at(parts, rank)->rank == process_at(parts, rank - 1)->rank &&
	       process_at(parts, rank) != process_at(parts, rank - 1);
}

static void name_doubles(struct job_names *names, const struct job_parts *parts)
{
	for (size_t i = 0; i < parts->job->rank_count; i++) {
		char text[640];

		if (!is_double(parts, i))
			continue;
		snprintf(text, sizeof(text), "rank %" PRId64 " in %.200s and %.200s",
			 process_at(parts, i)->rank, process_at(parts, i - 1)->folder,
			 process_at(parts, i)->folder);
		job_name_add(names, text);
	}
}

static void name_sizes(struct job_names *sizes, const struct job_parts *parts)
{
	int64_t told = 0;

	/* Each that is larger than those before: they need not be in order. */
	for (size_t found = 1; found;) {
		int64_t next = INT64_MAX;

		for (size_t i = 0; i < parts->job->rank_count; i++) {
			const struct profile_process *process = process_at(parts, i);
			int64_t size =
				strtoll(profile_property(process, "world_size", "0"), NULL, 10);

			if (process->rank >= 0 && size > told && size < next)
				next = size;
		}
		found = next < INT64_MAX && sizes->count < 3;
		if (found) {
			char text[32];

			snprintf(text, sizeof(text), "%" PRId64, next);
			job_name_add(sizes, text);
			told = next;
		}
	}
}

/* Whether some had ended before others began; where clocks of several hosts may differ, that is not known. */
static bool is_apart(const struct job_parts *parts)
{
	int64_t last_first_ns = INT64_MIN, first_last_ns = INT64_MAX;

	if (parts->job->host_count > 1 || parts->profile->window.is_part)
		return false;
	for (size_t i = 0; i < parts->job->rank_count; i++) {
		const struct profile_process *process = process_at(parts, i);

		if (process->rank < 0)
			continue;
		last_first_ns = max_ns(last_first_ns, process->first_ns);
		first_last_ns = min_ns(first_last_ns, process->last_ns);
	}
	return last_first_ns > first_last_ns;
}

/* A rank is one process: those of two runs, or a number that is wrong, make figures of no job. */
static int find_runs(struct job_parts *parts)
{
	struct job_names doubles = {"", 0}, sizes = {"", 0};
	bool are_apart = is_apart(parts);
	char of_sizes[400] = "";

	name_doubles(&doubles, parts);
	name_sizes(&sizes, parts);
	if (sizes.count > 1)
		snprintf(of_sizes, sizeof(of_sizes), "jobs of %s ranks", sizes.text);
	if (doubles.count && !are_apart && sizes.count < 2)
		return sentences_add(
			&parts->job->problems,
			"two processes have the same rank, and ran at the same time: %s; correct "
			"the line rank in process.csv of one of them, or record each run into a "
			"folder of its own",
			doubles.text);
	if (!doubles.count && !are_apart && sizes.count < 2)
		return 0;
	return sentences_add(
		&parts->job->problems,
		"these are ranks of several runs, and no figure of all ranks means anything: %s%s%s%s%s; "
		"keep each run in a folder of its own",
		of_sizes, *of_sizes && (are_apart || doubles.count) ? "; " : "",
		are_apart ? "some had ended before others began" : "",
		are_apart && doubles.count ? "; " : "", doubles.text);
}

int job_recordings_find(struct job_parts *parts)
{
	int rc = find_damage(parts);

	return rc < 0 ? rc : find_runs(parts);
}
