#include "techniques/shared/pinning.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "techniques/shared/lengths.h"

/* More than the greatest buffer that the ceilings measure is as many of these. */
#define MEASURED_BYTES (UINT64_C(256) << 20)

static const struct profile_copy *pageable_copy(const struct profile *profile,
						const struct profile_op *op)
{
	const struct profile_copy *copy = op->kind == OP_COPY ? &profile->copies[op->detail] : NULL;

	return copy && copy->bytes &&
			       (copy->src_memory == MEMORY_PAGEABLE ||
				copy->dst_memory == MEMORY_PAGEABLE)
		       ? copy
		       : NULL;
}

static double register_ns(const struct ceilings *ceilings, uint64_t bytes)
{
	double whole = (double)bytes / (double)MEASURED_BYTES;

	if (whole > 1)
		return whole * ceilings_at(ceilings, CEILING_host_register, MEASURED_BYTES);
	return ceilings_at(ceilings, CEILING_host_register, bytes);
}

/* One buffer: copies of the same key share it. */
static int compare_keys(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The direction in the lowest bit. */
static uint64_t key_of(const struct profile_copy *copy)
{
	return copy->bytes << 1 | (copy->kind == COPY_TO_DEVICE);
}

/* By its key, or each for itself. */
static void add_buffers(struct pinning *pinning, const struct ceilings *ceilings, uint64_t *keys,
			bool are_shared)
{
	if (are_shared)
		qsort(keys, pinning->copy_count, sizeof(*keys), compare_keys);
	for (uint64_t i = 0; i < pinning->copy_count; i++) {
		if (are_shared && i > 0 && keys[i] == keys[i - 1])
			continue;
		pinning->buffer_count++;
		pinning->bytes += (double)(keys[i] >> 1);
		pinning->cost_ns += register_ns(ceilings, keys[i] >> 1);
	}
}

/* Which copies are meant: NULL: all of the device. */
struct choice {
	bool (*is_one)(const struct profile_op *op, const void *context);
	const void *context;
};

static int pinning_of_some(struct pinning *pinning, const struct profile *profile,
			   const struct ceilings *ceilings, size_t device,
			   const struct choice *choice)
{
	const struct profile_device *where = &profile->devices[device];
	uint64_t *keys = calloc(where->op_count + 1, sizeof(*keys));
	double saved_by_ops_ns = 0;

	*pinning = (struct pinning){0};
	if (!keys)
		return -ENOMEM;
	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_copy *copy = pageable_copy(profile, op);

		if (!copy || (choice->is_one && !choice->is_one(op, choice->context)))
			continue;
		keys[pinning->copy_count++] = key_of(copy);
		pinning->saved_ns += lengths_saved_by_pinning_ns(profile, ceilings, op);
		saved_by_ops_ns += fmax((double)(op->end_ns - op->start_ns) -
						lengths_pinned_copy_ns(ceilings, copy),
					0);
	}
	/* what else makes a call long that happens once, as a first one, is not the driver's buffer */
	if (choice->is_one || pinning->copy_count < PINNING_FEW_COPIES)
		pinning->saved_ns = saved_by_ops_ns;
	add_buffers(pinning, ceilings, keys,
		    !choice->is_one && pinning->copy_count >= PINNING_FEW_COPIES);
	free(keys);
	return 0;
}

int pinning_of(struct pinning *pinning, const struct profile *profile,
	       const struct ceilings *ceilings, size_t device)
{
	return pinning_of_some(pinning, profile, ceilings, device, &(struct choice){0});
}

int pinning_once_of(struct pinning *pinning, const struct profile *profile,
		    const struct ceilings *ceilings, size_t device,
		    bool (*happens_once)(const struct profile_op *op, const void *context),
		    const void *context)
{
	return pinning_of_some(pinning, profile, ceilings, device,
			       &(struct choice){happens_once, context});
}
