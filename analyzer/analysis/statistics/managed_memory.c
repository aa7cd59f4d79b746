#include "analysis/statistics/managed_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/spans.h"
#include "base/sums.h"

#define KIND_ROW(constant, name, text, is_bytes) [constant] = {name, text, is_bytes},
static const struct {
	const char *key, *title;
	bool has_bytes;
} kinds[MANAGED_KIND_COUNT] = {MANAGED_KINDS(KIND_ROW)};

const char *managed_kind_key(uint32_t kind)
{
	return kinds[kind].key;
}

const char *managed_kind_title(uint32_t kind)
{
	return kinds[kind].title;
}

bool managed_kind_has_bytes(uint32_t kind)
{
	return kinds[kind].has_bytes;
}

bool managed_kind_is_move(uint32_t kind)
{
	return kind == MANAGED_TO_DEVICE || kind == MANAGED_TO_HOST ||
	       kind == MANAGED_BETWEEN_DEVICES;
}

const char *managed_cause_name(uint32_t cause)
{
	static const char *const names[] = {NULL,	  "program",
					    "page fault", "near page fault",
					    "eviction",	  "access counters"};

	return cause < sizeof(names) / sizeof(*names) ? names[cause] : NULL;
}

struct key {
	uint32_t kind, source, destination, cause;
};

static bool has_destination(uint32_t kind)
{
	return managed_kind_is_move(kind) || kind == MANAGED_REMOTE_MAP;
}

/* What CUPTI leaves undefined of a kind does not make a row of its own. */
static struct key key_of(const struct profile_managed *managed)
{
	return (struct key){
		.kind = managed->kind,
		.source = managed->source,
		.destination = has_destination(managed->kind) ? managed->destination : PROFILE_NONE,
		.cause = managed_kind_is_move(managed->kind) ? managed->cause : 0,
	};
}

/* Rows as they are filled in, and the time of each. */
struct pass {
	struct groups groups;
	struct managed_row *rows;
	struct spans *times;
};

static int add(struct pass *pass, const struct profile_managed *managed)
{
	const struct key key = key_of(managed);
	struct managed_row *row;
	uint32_t number;

	if (groups_find(&pass->groups, &key, sizeof(key), &number) < 0)
		return -ENOMEM;
	row = &pass->rows[number];
	row->kind = key.kind;
	row->source = key.source;
	row->destination = key.destination;
	row->cause = key.cause;
	row->count++;
	sum_add_count(&row->value, managed->value);
	return spans_add(&pass->times[number], managed->start_ns, managed->end_ns);
}

static int compare_rows(const void *left, const void *right)
{
	const struct managed_row *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->count < b->count) - (a->count > b->count);
}

static void complete(struct managed_memory *managed, struct pass *pass)
{
	managed->row_count = pass->groups.count;
	for (size_t i = 0; i < managed->row_count; i++) {
		spans_seal(&pass->times[i]);
		for (size_t j = 0; j < pass->times[i].count; j++)
			sum_add_ns(&pass->rows[i].time_ns,
				   pass->times[i].items[j].end_ns -
					   pass->times[i].items[j].start_ns);
	}
	if (managed->row_count)
		qsort(pass->rows, managed->row_count, sizeof(*pass->rows), compare_rows);
}

/* From the first fault of a group until the accesses that faulted are repeated. */
static int find_faults(struct spans *faults, const struct profile *profile)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->managed_count; i++) {
		const struct profile_managed *managed = &profile->manageds[i];

		if (managed->kind == MANAGED_GPU_FAULTS && managed->source != PROFILE_NONE)
			rc = spans_add(&faults[managed->source], managed->start_ns,
				       managed->end_ns);
	}
	for (size_t i = 0; i < profile->device_count; i++)
		spans_seal(&faults[i]);
	return rc;
}

static void measure_kernels(struct managed_memory *managed, const struct profile *profile,
			    const struct spans *faults)
{
	managed->device_count = profile->device_count;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		struct managed_device *device = &managed->devices[profile_op_device(profile, op)];

		if (op->kind != OP_KERNEL)
			continue;
		sum_add_ns(&device->kernel_ns, op->end_ns - op->start_ns);
		sum_add_ns(&device->faulting_ns,
			   spans_covered(&faults[profile_op_device(profile, op)], op->start_ns,
					 op->end_ns));
	}
}

static int find_devices(struct managed_memory *managed, const struct profile *profile)
{
	struct spans *faults = calloc(profile->device_count + 1, sizeof(*faults));
	int rc = faults ? find_faults(faults, profile) : -ENOMEM;

	managed->devices = calloc(profile->device_count + 1, sizeof(*managed->devices));
	if (rc == 0 && managed->devices)
		measure_kernels(managed, profile, faults);
	for (size_t i = 0; faults && i < profile->device_count; i++)
		spans_free(&faults[i]);
	free(faults);
	return managed->devices ? rc : -ENOMEM;
}

int managed_memory_build(struct managed_memory **out, const struct profile *profile,
			 struct err *err)
{
	struct managed_memory *managed = calloc(1, sizeof(*managed));
	struct pass pass = {.rows = calloc(profile->managed_count + 1, sizeof(*pass.rows)),
			    .times = calloc(profile->managed_count + 1, sizeof(*pass.times))};
	int rc = managed && pass.rows && pass.times ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < profile->managed_count; i++)
		rc = add(&pass, &profile->manageds[i]);
	if (rc == 0)
		complete(managed, &pass);
	if (rc == 0 && profile->managed_count)
		rc = find_devices(managed, profile);
	for (size_t i = 0; pass.times && i < pass.groups.count; i++)
		spans_free(&pass.times[i]);
	free(pass.times);
	groups_free(&pass.groups);
	if (managed)
		managed->rows = pass.rows;
	else
		free(pass.rows);
	*out = managed;
	return rc < 0 ? err_set(err, rc, "out of memory for managed memory") : 0;
}

void managed_memory_free(struct managed_memory *managed)
{
	if (!managed)
		return;
	free(managed->rows);
	free(managed->devices);
	free(managed);
}

static bool is_recorded(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (!profile->processes[i].has_managed)
			return false;
	return true;
}

static bool is_named(const struct profile *profile)
{
	static const char *const parts[] = {"MallocManaged", "MemAllocManaged",	   "MemPrefetch",
					    "MemAdvise",     "DiscardAndPrefetch", NULL};

	return profile_has_call(profile, parts);
}

static bool is_used(const struct profile *profile)
{
	for (size_t i = 0; i < profile->copy_count; i++)
		if (profile->copies[i].src_memory == MEMORY_MANAGED ||
		    profile->copies[i].dst_memory == MEMORY_MANAGED)
			return true;
	for (size_t i = 0; i < profile->allocation_count; i++)
		if (profile->allocations[i].memory == MEMORY_MANAGED)
			return true;
	return is_named(profile);
}

bool managed_memory_is_missing(const struct profile *profile)
{
	return !is_recorded(profile) && is_used(profile);
}
