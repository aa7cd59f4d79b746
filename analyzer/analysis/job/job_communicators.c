/*
 * job_communicators.c - ranks of one communicator that ask NCCL for different things: the n-th call of each has to be the
 * same collective of as many bytes.  Calls are told of when they begin, also those whose kernels never end: so where
 * recordings were cut off, a rank that has not asked for a second for what another one has is one that it waits for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/format.h"

#define TOLD_MOST 3 /* communicators: more say the same */
#define BEHIND_NS \
	INT64_C(1000000000) /* hosts run ahead of each other, and rows are written four times a second */

/* A call of a rank in a communicator; PROFILE_NONE: it joined the communicator. */
struct asked {
	uint64_t communicator;
	uint32_t rank, call; /* job->ranks[], nccl_calls[] */
};

struct asking {
	struct asked *items;
	size_t count;
	bool *is_whole; /* by process: all that it asked for is there */
};

static int compare_asked(const void *left, const void *right)
{
	const struct asked *a = left, *b = right;

	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if ((a->call == PROFILE_NONE) != (b->call == PROFILE_NONE))
		return a->call == PROFILE_NONE ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

/* Losses of the collector after which calls may be missing. */
static bool may_lack_calls(const char *kind)
{
	static const char *const kinds[] = {"unwritten_rows", "late_attachments", "size_limit",
					    "low_disk"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

/* What a process asked for is there from its beginning to its end: not only of a part of its time, and no row is lost. */
static int find_whole(struct asking *asking, const struct profile *profile)
{
	asking->is_whole = calloc(profile->process_count + 1, sizeof(*asking->is_whole));
	if (!asking->is_whole)
		return -ENOMEM;
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		asking->is_whole[i] = !profile->window.is_part && !process->is_filtered &&
				      !process->has_lost_nccl_calls &&
				      !*profile_property(process, "last", "") &&
				      !*profile_property(process, "dump_reason", "");
	}
	for (size_t i = 0; i < profile->loss_count; i++)
		if (may_lack_calls(profile->losses[i].kind))
			asking->is_whole[profile->losses[i].process] = false;
	return 0;
}

static void add(struct asking *asking, const struct job_parts *parts, uint64_t communicator,
		uint32_t process, uint32_t device, uint32_t call)
{
	uint32_t rank;

	if (!communicator || device == PROFILE_NONE || !asking->is_whole[process])
		return;
	rank = job_rank_at(parts, process, device);
	if (rank != PROFILE_NONE)
		asking->items[asking->count++] = (struct asked){communicator, rank, call};
}

/* Sends and receives are between two. */
static bool is_of_all(const struct profile_nccl_call *call)
{
	return strcmp(call->operation, "Send") && strcmp(call->operation, "Recv");
}

static int gather(struct asking *asking, const struct job_parts *parts)
{
	const struct profile *profile = parts->profile;
	int rc = find_whole(asking, profile);

	if (rc < 0)
		return rc;
	asking->items = calloc(profile->communicator_count + profile->nccl_call_count + 1,
			       sizeof(*asking->items));
	if (!asking->items)
		return -ENOMEM;
	for (size_t i = 0; i < profile->communicator_count; i++) {
		const struct profile_communicator *made = &profile->communicators[i];

		add(asking, parts, made->communicator, made->process, made->device, PROFILE_NONE);
	}
	for (uint32_t i = 0; i < profile->nccl_call_count; i++) {
		const struct profile_nccl_call *call = &profile->nccl_calls[i];

		if (is_of_all(call) && call->thread != PROFILE_NONE)
			add(asking, parts, call->communicator,
			    profile->threads[call->thread].process,
			    parts->collectives->messages[i].device, i);
	}
	qsort(asking->items, asking->count, sizeof(*asking->items), compare_asked);
	return 0;
}

/* ---- two ranks ---- */

/* The calls of a rank in a communicator. */
struct turn {
	const struct asked *calls;
	size_t count;
	uint32_t rank;
};

static bool is_same(const struct profile_nccl_call *a, const struct profile_nccl_call *b)
{
	return !strcmp(a->operation, b->operation) && a->bytes == b->bytes && a->peer == b->peer &&
	       a->reduction == b->reduction;
}

/* "rank 1 asks for an AllReduce of 4.00 MiB" */
static void describe(char *text, size_t size, const struct job_parts *parts,
		     const struct turn *turn, size_t index)
{
	char name[256];

	job_name_rank(name, sizeof(name), parts->profile, &parts->job->ranks[turn->rank]);
	if (index < turn->count) {
		const struct profile_nccl_call *call =
			&parts->profile->nccl_calls[turn->calls[index].call];

		snprintf(text, size, "%s asks for %s of %s", name, call->operation,
			 format_bytes((double)call->bytes).text);
	} else {
		snprintf(text, size, "%s asks for nothing", name);
	}
}

static bool is_sealed(const struct job_parts *parts, uint32_t rank)
{
	return parts->profile->processes[parts->job->ranks[rank].process].sealed_ns != 0;
}

/* Where one has fewer calls than the other it lacks some, unless its recording was cut off (tell_behind). */
static bool differs(const struct job_parts *parts, const struct turn *one, const struct turn *other,
		    size_t *index)
{
	const struct profile_nccl_call *calls = parts->profile->nccl_calls;
	size_t i = 0;

	while (i < one->count && i < other->count &&
	       is_same(&calls[one->calls[i].call], &calls[other->calls[i].call]))
		i++;
	*index = i;
	if (i < one->count && i < other->count)
		return true;
	return one->count != other->count && is_sealed(parts, one->rank) &&
	       is_sealed(parts, other->rank);
}

static int tell(struct job_parts *parts, uint64_t communicator, const struct turn *one,
		const struct turn *other, size_t index)
{
	char first[512], second[512];

	describe(first, sizeof(first), parts, one, index);
	describe(second, sizeof(second), parts, other, index);
	return sentences_add(&parts->job->problems,
			     "the ranks of communicator %#" PRIx64
			     " differ in collective %s: %s, and %s",
			     communicator, format_count(index + 1).text, first, second);
}

/* ---- recordings that were cut off ---- */

/* Of all ranks of a communicator, alike up to where the first has no more calls. */
struct progress {
	struct turn least, most;
	int64_t heard_ns; /* up to when all that were cut off are known; INT64_MAX: none was */
};

static void add_turn(struct progress *progress, const struct job_parts *parts,
		     const struct turn *turn)
{
	const struct profile_process *process =
		&parts->profile->processes[parts->job->ranks[turn->rank].process];

	if (turn->count < progress->least.count)
		progress->least = *turn;
	if (turn->count > progress->most.count)
		progress->most = *turn;
	if (!process->sealed_ns)
		progress->heard_ns = min_ns(progress->heard_ns, process->heard_ns);
}

/* How long ago a rank asked for what another one had not asked for by then; 0: not long enough to mean anything. */
static int64_t behind_ns(const struct progress *progress, const struct job_parts *parts)
{
	int64_t asked_ns;

	if (progress->heard_ns == INT64_MAX || progress->least.count == progress->most.count)
		return 0;
	asked_ns = parts->profile->nccl_calls[progress->most.calls[progress->least.count].call]
			   .time_ns;
	return progress->heard_ns - asked_ns >= BEHIND_NS ? progress->heard_ns - asked_ns : 0;
}

/* ---- a communicator ---- */

/* The calls from an item on, and where the next rank's begin. */
static size_t turn_at(const struct asking *asking, size_t first, struct turn *turn)
{
	size_t next = first;

	*turn = (struct turn){.rank = asking->items[first].rank};
	while (next < asking->count && asking->items[next].rank == turn->rank &&
	       asking->items[next].communicator == asking->items[first].communicator) {
		if (asking->items[next].call != PROFILE_NONE && !turn->count++)
			turn->calls = &asking->items[next];
		next++;
	}
	return next;
}

/* The ranks that have asked for nothing more, and those that wait for them. */
static int tell_behind(struct job_parts *parts, const struct asking *asking, size_t first,
		       size_t next, const struct progress *progress)
{
	const struct profile_nccl_call *call =
		&parts->profile->nccl_calls[progress->most.calls[progress->least.count].call];
	struct job_names behind = {"", 0}, waiting = {"", 0};
	struct turn turn;

	while (first < next) {
		first = turn_at(asking, first, &turn);
		job_name_add_rank(turn.count == progress->least.count ? &behind : &waiting, parts,
				  turn.rank);
	}
	return sentences_add(
		&parts->job->problems,
		"when the recording was cut off, %s had not asked for collective %s of "
		"communicator %#" PRIx64
		", %s of %s, for %s; it is what %s asked for and may wait in",
		behind.text, format_count(progress->least.count + 1).text, call->communicator,
		call->operation, format_bytes((double)call->bytes).text,
		format_ns((double)behind_ns(progress, parts)).text, waiting.text);
}

/* Each rank against the first; one difference is told.  Returns where the next communicator begins. */
static int look_at(struct job_parts *parts, const struct asking *asking, size_t first, size_t *next,
		   bool *is_told)
{
	uint64_t communicator = asking->items[first].communicator;
	struct progress progress = {.heard_ns = INT64_MAX};
	struct turn one, other;
	size_t index;
	int rc = 0;

	*is_told = false;
	*next = turn_at(asking, first, &one);
	progress.least = progress.most = one;
	add_turn(&progress, parts, &one);
	while (*next < asking->count && asking->items[*next].communicator == communicator) {
		*next = turn_at(asking, *next, &other);
		add_turn(&progress, parts, &other);
		if (!*is_told && differs(parts, &one, &other, &index)) {
			rc = tell(parts, communicator, &one, &other, index);
			*is_told = true;
		}
	}
	if (rc < 0 || *is_told || !behind_ns(&progress, parts))
		return rc;
	*is_told = true;
	return tell_behind(parts, asking, first, *next, &progress);
}

int job_communicators_find(struct job_parts *parts, bool *is_any)
{
	struct asking asking = {0};
	size_t told = 0;
	int rc = gather(&asking, parts);

	*is_any = false;
	for (size_t first = 0, next; rc == 0 && first < asking.count && told < TOLD_MOST;
	     first = next) {
		bool is_told;

		rc = look_at(parts, &asking, first, &next, &is_told);
		told += is_told;
	}
	*is_any = told > 0;
	free(asking.items);
	free(asking.is_whole);
	return rc;
}
