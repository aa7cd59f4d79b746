#include "analysis/time/collective_messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "base/groups.h"

/* ---- what a thread did, in turn ---- */

enum step_kind {
	CALL,	/* nccl_calls[] */
	LAUNCH, /* ops[] */
	GROUP_BEGINS,
	GROUP_ENDS, /* its launches are behind us */
	RETURNS,    /* from a call: outside of a group, its launch is behind us */
};

struct step {
	int64_t time_ns;
	uint32_t thread, index;
	enum step_kind kind;
};

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* A group of calls, and the launches that do it: nccl_calls[] and ops[]. */
struct batch {
	uint32_t *calls, *launches;
	size_t call_count, launch_count;
	size_t depth; /* groups that are open */
};

struct finding {
	const struct profile *profile;
	struct collective_message *messages;
	bool *is_nccl; /* by kernel_names[] */
	struct step *steps;
	size_t step_count;
	struct batch batch;
};

static bool is_nccls(const char *name)
{
	const char *library = library_kernel_of(name);

	return library && !strcmp(library, "NCCL");
}

static bool is_launch(const struct finding *finding, const struct profile_op *op)
{
	return op->kind == OP_KERNEL && op->call != PROFILE_NONE &&
	       finding->is_nccl[finding->profile->signatures[op->detail].kernel] &&
	       profile_op_graph(finding->profile, op) == 0;
}

static bool is_step(const struct profile_range *range)
{
	return range->is_push_pop && !range->is_open && !strcmp(range->domain, "NCCL");
}

static void add(struct finding *finding, struct step step)
{
	finding->steps[finding->step_count++] = step;
}

static void add_range(struct finding *finding, const struct profile_range *range)
{
	enum step_kind kind = !strcmp(range->name, "ncclGroupStart") ? GROUP_BEGINS
			      : !strcmp(range->name, "ncclGroupEnd") ? GROUP_ENDS
								     : RETURNS;

	add(finding, (struct step){range->end_ns, range->thread, 0, kind});
}

/* A communicator of one rank launches nothing. */
static void add_call(struct finding *finding, uint32_t index)
{
	const struct profile_nccl_call *call = &finding->profile->nccl_calls[index];

	if (finding->messages[index].rank_count != 1)
		add(finding, (struct step){call->time_ns, call->thread, index, CALL});
}

static int gather(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	size_t room = profile->nccl_call_count;

	for (size_t i = 0; i < profile->op_count; i++)
		room += is_launch(finding, &profile->ops[i]);
	for (size_t i = 0; i < profile->range_count; i++)
		room += is_step(&profile->ranges[i]);
	finding->steps = calloc(room + 1, sizeof(*finding->steps));
	finding->batch.calls = calloc(room + 1, sizeof(*finding->batch.calls));
	finding->batch.launches = calloc(room + 1, sizeof(*finding->batch.launches));
	if (!finding->steps || !finding->batch.calls || !finding->batch.launches)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->nccl_call_count; i++)
		add_call(finding, i);
	for (uint32_t i = 0; i < profile->op_count; i++)
		if (is_launch(finding, &profile->ops[i])) {
			const struct profile_call *call = &profile->calls[profile->ops[i].call];

			add(finding, (struct step){call->start_ns, call->thread, i, LAUNCH});
		}
	for (size_t i = 0; i < profile->range_count; i++)
		if (is_step(&profile->ranges[i]))
			add_range(finding, &profile->ranges[i]);
	qsort(finding->steps, finding->step_count, sizeof(*finding->steps), compare_steps);
	return 0;
}

/* ---- calls and their launches ---- */

static void join(struct finding *finding, uint32_t call, uint32_t launch)
{
	finding->messages[call].op = launch;
	finding->messages[call].device =
		profile_op_device(finding->profile, &finding->profile->ops[launch]);
}

/* What the kernel's name calls it: ncclDevKernel_AllReduce_Sum_f32_RING_LL. */
static const char *name_in_kernel(const char *operation)
{
	static const char *const by_pairs[] = {"Send", "Recv", "AlltoAll", "Gather", "Scatter"};

	for (size_t i = 0; i < sizeof(by_pairs) / sizeof(*by_pairs); i++)
		if (!strcmp(operation, by_pairs[i]))
			return "SendRecv";
	return operation;
}

static bool fits(const struct finding *finding, uint32_t call, uint32_t launch)
{
	const struct profile *profile = finding->profile;
	const char *wanted = name_in_kernel(profile->nccl_calls[call].operation);
	const char *found = profile->signatures[profile->ops[launch].detail].name;
	size_t length = strlen(wanted);

	while ((found = strchr(found, '_')) != NULL)
		if (!strncmp(++found, wanted, length) && strchr("_(", found[length]))
			return true; /* also where the name ends there */
	return false;
}

/* The calls of one operation in a batch, of which those before `next` have their kernel. */
struct kind {
	const char *operation; /* interned */
	size_t next;
};

#define KINDS_MOST 16 /* NCCL has fewer */

static size_t find_kinds(const struct finding *finding, struct kind kinds[KINDS_MOST])
{
	size_t count = 0;

	for (size_t k = 0; k < finding->batch.call_count; k++) {
		const char *operation =
			finding->profile->nccl_calls[finding->batch.calls[k]].operation;
		size_t i = 0;

		while (i < count && kinds[i].operation != operation)
			i++;
		if (i == count && count < KINDS_MOST)
			kinds[count++] = (struct kind){operation, k};
	}
	return count;
}

/* To the next call of that operation, or behind all. */
static void advance(const struct finding *finding, struct kind *kind)
{
	const struct batch *batch = &finding->batch;

	do
		kind->next++;
	while (kind->next < batch->call_count &&
	       finding->profile->nccl_calls[batch->calls[kind->next]].operation != kind->operation);
}

/* In a group NCCL orders what one communicator does as it likes: a kernel does the first call that its name fits. */
static void join_each(struct finding *finding)
{
	const struct batch *batch = &finding->batch;
	struct kind kinds[KINDS_MOST];
	size_t count = find_kinds(finding, kinds);

	for (size_t i = 0; i < batch->launch_count; i++) {
		struct kind *found = NULL;

		for (size_t k = 0; k < count; k++)
			if (kinds[k].next < (found ? found->next : batch->call_count) &&
			    fits(finding, batch->calls[kinds[k].next], batch->launches[i]))
				found = &kinds[k];
		if (!found)
			continue;
		join(finding, batch->calls[found->next], batch->launches[i]);
		advance(finding, found);
	}
}

/* Communicators launch in the order of their first calls. */
static int join_communicators(struct finding *finding)
{
	const struct batch *batch = &finding->batch;
	uint32_t *places = calloc(batch->call_count + 1, sizeof(*places));
	struct groups groups = {0};
	int rc = places ? 0 : -ENOMEM;

	for (size_t k = 0; k < batch->call_count && rc == 0; k++) {
		uint64_t id = finding->profile->nccl_calls[batch->calls[k]].communicator;

		rc = groups_find(&groups, (const char *)&id, sizeof(id), &places[k]);
	}
	for (size_t k = 0; k < batch->call_count && rc == 0 && groups.count == batch->launch_count;
	     k++)
		join(finding, batch->calls[k], batch->launches[places[k]]);
	groups_free(&groups);
	free(places);
	return rc;
}

static int join_batch(struct finding *finding)
{
	struct batch *batch = &finding->batch;
	int rc = 0;

	if (batch->launch_count == 1)
		for (size_t k = 0; k < batch->call_count; k++)
			join(finding, batch->calls[k], batch->launches[0]);
	else if (batch->launch_count && batch->launch_count == batch->call_count)
		join_each(finding);
	else if (batch->launch_count && batch->call_count)
		rc = join_communicators(finding);
	batch->call_count = batch->launch_count = 0;
	return rc;
}

static int take(struct finding *finding, const struct step *step)
{
	struct batch *batch = &finding->batch;
	int rc = 0;

	switch (step->kind) {
	case CALL:
		if (batch->launch_count)
			rc = join_batch(finding);
		batch->calls[batch->call_count++] = step->index;
		break;
	case LAUNCH:
		batch->launches[batch->launch_count++] = step->index;
		break;
	case GROUP_BEGINS:
		batch->depth++;
		break;
	case GROUP_ENDS:
		batch->depth -= batch->depth > 0;
		/* fall through */
	case RETURNS:
		if (!batch->depth)
			rc = join_batch(finding);
		break;
	}
	return rc;
}

static int join_all(struct finding *finding)
{
	int rc = 0;

	for (size_t i = 0; i < finding->step_count && rc == 0; i++) {
		if (i && finding->steps[i].thread != finding->steps[i - 1].thread) {
			rc = join_batch(finding);
			finding->batch.depth = 0;
		}
		if (rc == 0)
			rc = take(finding, &finding->steps[i]);
	}
	return rc < 0 ? rc : join_batch(finding);
}

/* ---- how many calls each kernel did ---- */

static int count_calls(struct finding *finding)
{
	uint32_t *counts = calloc(finding->profile->op_count + 1, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < finding->profile->nccl_call_count; i++)
		if (finding->messages[i].op != PROFILE_NONE)
			counts[finding->messages[i].op]++;
	for (size_t i = 0; i < finding->profile->nccl_call_count; i++)
		if (finding->messages[i].op != PROFILE_NONE)
			finding->messages[i].call_count = counts[finding->messages[i].op];
	free(counts);
	return 0;
}

/* ---- communicators ---- */

struct known {
	uint64_t communicator;
	uint32_t process;
	uint32_t rank_count, device; /* device: PROFILE_NONE where the process has several ranks */
};

static int compare_known(const void *left, const void *right)
{
	const struct known *a = left, *b = right;

	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

/* One of each communicator and process: of ranks that do not agree nothing is known.  Returns how many. */
static size_t merge(struct known *all, size_t count)
{
	size_t kept = 0;

	qsort(all, count, sizeof(*all), compare_known);
	for (size_t i = 0; i < count; i++) {
		if (kept && !compare_known(&all[kept - 1], &all[i])) {
			all[kept - 1].device = PROFILE_NONE;
			if (all[kept - 1].rank_count != all[i].rank_count)
				all[kept - 1].rank_count = 0;
		} else {
			all[kept++] = all[i];
		}
	}
	return kept;
}

static void look_up(struct finding *finding, const struct known *all, size_t count)
{
	const struct profile *profile = finding->profile;

	for (size_t i = 0; i < profile->nccl_call_count; i++) {
		const struct profile_nccl_call *call = &profile->nccl_calls[i];
		struct collective_message *message = &finding->messages[i];
		struct known wanted = {.communicator = call->communicator};
		const struct known *found;

		if (call->thread == PROFILE_NONE)
			continue;
		wanted.process = profile->threads[call->thread].process;
		found = bsearch(&wanted, all, count, sizeof(*all), compare_known);
		if (!found)
			continue;
		message->rank_count = found->rank_count;
		message->device = found->device;
	}
}

static int add_communicators(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	struct known *all = calloc(profile->communicator_count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < profile->communicator_count; i++) {
		const struct profile_communicator *from = &profile->communicators[i];

		all[i] = (struct known){from->communicator, from->process, from->rank_count,
					from->device};
	}
	look_up(finding, all, merge(all, profile->communicator_count));
	free(all);
	return 0;
}

/* ---- all ---- */

static int find(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	int rc;

	for (size_t i = 0; i < profile->kernel_name_count; i++)
		finding->is_nccl[i] = is_nccls(profile->kernel_names[i]);
	for (size_t i = 0; i < profile->nccl_call_count; i++)
		finding->messages[i] =
			(struct collective_message){.op = PROFILE_NONE, .device = PROFILE_NONE};
	rc = add_communicators(finding);
	if (rc == 0)
		rc = gather(finding);
	if (rc == 0)
		rc = join_all(finding);
	return rc < 0 ? rc : count_calls(finding);
}

int collective_messages_find(struct collective_message **out, const struct profile *profile)
{
	struct finding finding = {.profile = profile};
	int rc;

	*out = finding.messages = calloc(profile->nccl_call_count + 1, sizeof(*finding.messages));
	if (!*out)
		return -ENOMEM;
	if (!profile->nccl_call_count)
		return 0;
	finding.is_nccl = calloc(profile->kernel_name_count + 1, sizeof(*finding.is_nccl));
	rc = finding.is_nccl ? find(&finding) : -ENOMEM;
	free(finding.is_nccl);
	free(finding.steps);
	free(finding.batch.calls);
	free(finding.batch.launches);
	return rc;
}
