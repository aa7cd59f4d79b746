#include "analysis/job/communication.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "analysis/time/gaps.h"
#include "base/search.h"

/* ---- one operation ---- */

static bool is_between_devices(const struct profile_copy *copy)
{
	return copy->kind == COPY_ON_DEVICE || copy->kind == COPY_BETWEEN_DEVICES;
}

bool communication_is_peer_copy(const struct profile_copy *copy)
{
	return is_between_devices(copy) && copy->src_device != copy->dst_device;
}

static enum job_work copy_work(const struct profile_copy *copy)
{
	if (communication_is_peer_copy(copy))
		return WORK_PEER;
	return is_between_devices(copy) ? WORK_COMPUTATION : WORK_COPY;
}

static int classify(struct communication *out, const struct profile *profile)
{
	bool *is_communication = calloc(profile->kernel_name_count + 1, sizeof(*is_communication));

	out->works = calloc(profile->op_count + 1, sizeof(*out->works));
	if (!is_communication || !out->works) {
		free(is_communication);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		is_communication[i] = library_kernel_communicates(profile->kernel_names[i]);
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_COPY)
			out->works[i] = (uint8_t)copy_work(&profile->copies[op->detail]);
		else if (op->kind == OP_KERNEL &&
			 is_communication[profile->signatures[op->detail].kernel])
			out->works[i] = WORK_KERNEL;
	}
	free(is_communication);
	return 0;
}

/* ---- pairs through the host ---- */

/* A copy to the host at its end, or one from it at its start. */
struct half {
	uint64_t bytes;
	int64_t time_ns;
	uint32_t op, rank, process;
	bool is_in;	  /* to a GPU */
	bool is_numbered; /* by a launcher */
};

static int compare_halves(const void *left, const void *right)
{
	const struct half *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->is_in != b->is_in)
		return a->is_in ? 1 : -1;
	return (a->op > b->op) - (a->op < b->op);
}

static bool is_half(const struct communication *all, const struct profile *profile, size_t op)
{
	const struct profile_copy *copy;

	if (all->works[op] != WORK_COPY)
		return false;
	copy = &profile->copies[profile->ops[op].detail];
	return copy->bytes > GAP_DECISION_BYTES &&
	       (copy->kind == COPY_TO_DEVICE || copy->kind == COPY_TO_HOST);
}

static int gather(struct half **out, size_t *count, const struct communication *all,
		  const struct profile *profile, const uint32_t *rank_of_stream)
{
	size_t room = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		room += is_half(all, profile, i);
	*count = 0;
	*out = calloc(room + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t process = profile_op_process(profile, op);
		bool is_in;

		if (!is_half(all, profile, i))
			continue;
		is_in = profile->copies[op->detail].kind == COPY_TO_DEVICE;
		(*out)[(*count)++] =
			(struct half){.bytes = profile->copies[op->detail].bytes,
				      .time_ns = is_in ? op->start_ns : op->end_ns,
				      .op = (uint32_t)i,
				      .rank = rank_of_stream[op->stream],
				      .process = process,
				      .is_in = is_in,
				      .is_numbered = profile->processes[process].rank >= 0};
	}
	qsort(*out, *count, sizeof(**out), compare_halves);
	return 0;
}

/* Copies to the host that nobody took up yet, the latest last. */
struct waiting {
	struct half *items;
	size_t count;
};

#define LOOKED_AT_MOST 64 /* of the latest; those before are results that stayed on the host */

static bool may_meet(const struct half *out, const struct half *in)
{
	return out->rank != in->rank &&
	       (out->process == in->process || (out->is_numbered && in->is_numbered));
}

/* Takes the latest of another rank; returns false when there is none. */
static bool take(struct waiting *waiting, const struct half *in, uint32_t *out)
{
	for (size_t back = 1; back <= waiting->count && back <= LOOKED_AT_MOST; back++) {
		struct half *item = &waiting->items[waiting->count - back];

		if (!may_meet(item, in))
			continue;
		*out = item->op;
		memmove(item, item + 1, (back - 1) * sizeof(*item));
		waiting->count--;
		return true;
	}
	return false;
}

static int compare_staged(const void *left, const void *right)
{
	const struct staged_copy *a = left, *b = right;

	return (a->in > b->in) - (a->in < b->in);
}

static void pair(struct communication *all, const struct half *halves, size_t count,
		 struct waiting *waiting)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t out;

		if (i == 0 || halves[i].bytes != halves[i - 1].bytes)
			waiting->count = 0;
		if (!halves[i].is_in)
			waiting->items[waiting->count++] = halves[i];
		else if (take(waiting, &halves[i], &out))
			all->staged[all->staged_count++] = (struct staged_copy){out, halves[i].op};
	}
	qsort(all->staged, all->staged_count, sizeof(*all->staged), compare_staged);
	for (size_t i = 0; i < all->staged_count; i++)
		all->works[all->staged[i].in] = all->works[all->staged[i].out] = WORK_STAGED;
}

static int find_staged(struct communication *all, const struct profile *profile,
		       const uint32_t *rank_of_stream)
{
	struct waiting waiting = {0};
	struct half *halves;
	size_t count;
	int rc = gather(&halves, &count, all, profile, rank_of_stream);

	if (rc == 0) {
		waiting.items = calloc(count + 1, sizeof(*waiting.items));
		all->staged = calloc(count / 2 + 1, sizeof(*all->staged));
		rc = waiting.items && all->staged ? 0 : -ENOMEM;
	}
	if (rc == 0)
		pair(all, halves, count, &waiting);
	free(waiting.items);
	free(halves);
	return rc;
}

/* ---- all ---- */

int communication_find(struct communication *out, const struct profile *profile,
		       const uint32_t *rank_of_stream)
{
	int rc;

	*out = (struct communication){0};
	rc = classify(out, profile);
	return rc < 0 ? rc : find_staged(out, profile, rank_of_stream);
}

void communication_free(struct communication *communication)
{
	free(communication->works);
	free(communication->staged);
	*communication = (struct communication){0};
}

struct wanted {
	const struct communication *all;
	uint32_t in;
};

static bool is_reached(size_t index, const void *context)
{
	const struct wanted *wanted = context;

	return wanted->all->staged[index].in >= wanted->in;
}

const struct staged_copy *communication_staged(const struct communication *communication,
					       uint32_t in)
{
	size_t found = search_first(0, communication->staged_count, is_reached,
				    &(struct wanted){communication, in});

	return found < communication->staged_count && communication->staged[found].in == in
		       ? &communication->staged[found]
		       : NULL;
}
