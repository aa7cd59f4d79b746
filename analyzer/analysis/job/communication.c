#include "analysis/job/communication.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/job/staged_copies.h"
#include "analysis/statistics/library_kernel.h"
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

/* ---- all ---- */

int communication_find(struct communication *out, const struct profile *profile,
		       const uint32_t *rank_of_stream)
{
	int rc;

	*out = (struct communication){0};
	rc = classify(out, profile);
	return rc < 0 ? rc : staged_copies_find(out, profile, rank_of_stream);
}

void communication_free(struct communication *communication)
{
	free(communication->works);
	free(communication->staged);
	free(communication->unknown);
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
