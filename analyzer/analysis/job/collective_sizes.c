#include "analysis/job/collective_sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an operation moves ---- */

/* OPERATION: how many bytes of the bus a byte of a message is among n ranks: factor * (n - 1) / (is_divided ? n : 1), or 1
 * where all ranks hand on the message. */
static const struct operation {
	const char *name;
	double factor; /* 0: 1, whatever n is */
	bool is_divided;
	int ceiling;		/* enum ceiling_id, -1: none is measured */
	bool is_ceiling_of_all; /* it counts the messages of all ranks together */
} operations[] = {
	{"AllReduce", 2, true, CEILING_nccl_all_reduce, false},
	{"AllGather", 1, false, CEILING_nccl_all_gather, true},
	{"ReduceScatter", 1, false, CEILING_nccl_reduce_scatter, true},
	{"AlltoAll", 1, false, -1, false},
	{"Gather", 1, false, -1, false},
	{"Scatter", 1, false, -1, false},
	{"Broadcast", 0, false, -1, false},
	{"Reduce", 0, false, -1, false},
	{"Send", 0, false, CEILING_nccl_send_recv, false},
	{"Recv", 0, false, CEILING_nccl_send_recv, false},
};

static const struct operation *operation_of(const struct collective_size *size)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (!strcmp(operations[i].name, size->operation))
			return &operations[i];
	return NULL;
}

double collective_size_bandwidth(const struct collective_size *size)
{
	const struct operation *operation = operation_of(size);
	double others = (double)size->rank_count - 1, bytes = (double)size->bytes;

	if (!operation || size->median_ns <= 0 || (operation->factor > 0 && !size->rank_count))
		return 0;
	if (operation->factor > 0)
		bytes *= operation->factor * others /
			 (operation->is_divided ? (double)size->rank_count : 1);
	return bytes / (double)size->median_ns * 1e9;
}

bool collective_size_ceiling(const struct collective_size *size, enum ceiling_id *id,
			     uint64_t *bytes)
{
	const struct operation *operation = operation_of(size);

	if (!operation || operation->ceiling < 0 || size->rank_count < 2)
		return false;
	*id = (enum ceiling_id)operation->ceiling;
	*bytes = operation->is_ceiling_of_all ? size->bytes * size->rank_count : size->bytes;
	return true;
}

double collective_size_ceiling_ns(const struct collective_size *size,
				  const struct ceilings *ceilings, uint32_t measured_gpus)
{
	const struct operation *operation = operation_of(size);
	double n = (double)size->rank_count, m = (double)measured_gpus;
	enum ceiling_id id;
	uint64_t bytes;
	double ns;

	if (!collective_size_ceiling(size, &id, &bytes))
		return 0;
	ns = ceilings_ns_at(ceilings, id, bytes);
	return operation->factor > 0 && m > 1 ? ns * ((n - 1) / n) / ((m - 1) / m) : ns;
}

struct figure collective_size_bytes(const struct collective_sizes *sizes,
				    const struct collective_size *size)
{
	struct figure text = format_bytes((double)size->bytes);

	for (size_t i = 0; i < sizes->count; i++) {
		const struct collective_size *other = &sizes->items[i];

		if (other->bytes == size->bytes || strcmp(other->operation, size->operation) ||
		    strcmp(format_bytes((double)other->bytes).text, text.text))
			continue;
		return format_count(size->bytes);
	}
	return text;
}

/* ---- calls of a size ---- */

struct entry {
	const struct profile_nccl_call *call;
	uint32_t rank_count;
	bool is_timed;
	int64_t time_ns, working_ns; /* with and without waiting */
};

static int compare_keys(const struct entry *a, const struct entry *b)
{
	int order = strcmp(a->call->operation, b->call->operation);

	if (order)
		return order;
	if (a->call->bytes != b->call->bytes)
		return a->call->bytes < b->call->bytes ? -1 : 1;
	return (a->rank_count > b->rank_count) - (a->rank_count < b->rank_count);
}

/* Those that are timed first, the fastest before the others. */
static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = compare_keys(a, b);

	if (order)
		return order;
	if (a->is_timed != b->is_timed)
		return a->is_timed ? -1 : 1;
	return (a->working_ns > b->working_ns) - (a->working_ns < b->working_ns);
}

struct wait {
	uint32_t op;
	int64_t wait_ns;
};

static int compare_waits(const void *left, const void *right)
{
	const struct wait *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

static void time_entry(struct entry *entry, const struct profile *profile, uint32_t op,
		       const struct wait *waits, size_t wait_count)
{
	const struct wait *wait =
		bsearch(&(struct wait){op, 0}, waits, wait_count, sizeof(*waits), compare_waits);

	entry->is_timed = true;
	entry->time_ns = profile->ops[op].end_ns - profile->ops[op].start_ns;
	entry->working_ns = entry->time_ns - (wait ? wait->wait_ns : 0);
}

static int make_entries(struct entry *entries, const struct profile *profile,
			const struct collectives *collectives)
{
	struct wait *waits = calloc(collectives->count + 1, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	for (size_t i = 0; i < collectives->count; i++)
		waits[i] = (struct wait){collectives->items[i].op, collectives->items[i].wait_ns};
	qsort(waits, collectives->count, sizeof(*waits), compare_waits);
	for (size_t i = 0; i < collectives->message_count; i++) {
		const struct collective_message *message = &collectives->messages[i];

		entries[i] = (struct entry){.call = &profile->nccl_calls[i],
					    .rank_count = message->rank_count};
		if (message->call_count == 1)
			time_entry(&entries[i], profile, message->op, waits, collectives->count);
	}
	qsort(entries, collectives->message_count, sizeof(*entries), compare_entries);
	free(waits);
	return 0;
}

static void add(struct collective_sizes *sizes, const struct entry *entries, size_t count)
{
	struct collective_size *size = &sizes->items[sizes->count++];

	*size = (struct collective_size){.operation = entries->call->operation,
					 .bytes = entries->call->bytes,
					 .rank_count = entries->rank_count,
					 .count = count};
	for (size_t i = 0; i < count && entries[i].is_timed; i++) {
		size->timed_count++;
		size->time_ns += entries[i].time_ns;
	}
	if (size->timed_count)
		size->median_ns = entries[(size->timed_count - 1) / 2].working_ns;
}

static int compare_sizes(const void *left, const void *right)
{
	const struct collective_size *a = left, *b = right;
	int order = strcmp(a->operation, b->operation);

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (order)
		return order;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return (a->rank_count > b->rank_count) - (a->rank_count < b->rank_count);
}

static void count_unmatched(struct collective_sizes *sizes, const struct collectives *collectives)
{
	sizes->call_count = collectives->message_count;
	for (size_t i = 0; i < collectives->message_count; i++)
		sizes->unmatched_count += collectives->messages[i].op == PROFILE_NONE &&
					  collectives->messages[i].rank_count != 1;
}

static int build(struct collective_sizes *sizes, const struct profile *profile,
		 const struct collectives *collectives)
{
	size_t count = collectives->message_count;
	struct entry *entries = calloc(count + 1, sizeof(*entries));
	int rc;

	sizes->items = calloc(count + 1, sizeof(*sizes->items));
	rc = entries && sizes->items ? make_entries(entries, profile, collectives) : -ENOMEM;
	for (size_t first = 0, next; rc == 0 && first < count; first = next) {
		next = first + 1;
		while (next < count && !compare_keys(&entries[first], &entries[next]))
			next++;
		add(sizes, entries + first, next - first);
	}
	if (rc == 0) {
		qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_sizes);
		count_unmatched(sizes, collectives);
	}
	free(entries);
	return rc;
}

int collective_sizes_build(struct collective_sizes **out, const struct profile *profile,
			   const struct collectives *collectives, struct err *err)
{
	struct collective_sizes *sizes = calloc(1, sizeof(*sizes));
	int rc = sizes ? build(sizes, profile, collectives) : -ENOMEM;

	if (rc < 0) {
		collective_sizes_free(sizes);
		return err_set(err, rc, "out of memory for the sizes of collectives");
	}
	*out = sizes;
	return 0;
}

void collective_sizes_free(struct collective_sizes *sizes)
{
	if (!sizes)
		return;
	free(sizes->items);
	free(sizes);
}
