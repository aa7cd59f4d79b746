#include <errno.h>
#include <stdlib.h>

#include "base/stable_sort.h"
#include "base/worker.h"
#include "trace/loader.h"

/*
 * Of loading to what is kept: operations of all processes in their order.  What CUPTI calls each is kept where it
 * does not follow from the operation's call: 16 of 48 bytes that most recordings do without.
 */

static int compare_ops(const void *left, const void *right)
{
	const struct loaded_op *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->op.start_ns != b->op.start_ns)
		return a->op.start_ns < b->op.start_ns ? -1 : 1;
	return (a->op.end_ns > b->op.end_ns) - (a->op.end_ns < b->op.end_ns);
}

/* Where calls were not asked for, nobody asks for the correlation of a kernel that was not counted. */
static bool has_own_ids(const struct loader *loader, const struct loaded_op *loaded)
{
	const struct profile_op *op = &loaded->op;
	bool is_asked = loader->tables & TABLE(api) || op->counted != NOT_COUNTED;

	if (loaded->ids.graph || loaded->ids.graph_node || op->kind == OP_GRAPH)
		return true;
	return is_asked &&
	       loaded->ids.correlation != profile_op_ids(loader->profile, op).correlation;
}

/* Returns whether any has. */
static int any_own_ids(void *context, size_t first, size_t end)
{
	const struct loader *loader = context;

	for (size_t i = first; i < end; i++)
		if (has_own_ids(loader, &loader->ops[i]))
			return 1;
	return 0;
}

static int keep_ids(struct loader *loader)
{
	struct profile_op_ids *ids = malloc((loader->op_count + 1) * sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < loader->op_count; i++)
		ids[i] = loader->ops[i].ids;
	loader->profile->op_ids = ids;
	return 0;
}

/* In place: there is no time at which both forms take memory. */
static void pack(struct loader *loader)
{
	struct profile_op *packed = (void *)loader->ops, *shrunk;

	for (size_t i = 0; i < loader->op_count; i++) {
		const struct profile_op op = loader->ops[i].op;

		packed[i] = op;
	}
	shrunk = realloc(packed, (loader->op_count + 1) * sizeof(*packed));
	loader->profile->ops = shrunk ? shrunk : packed;
	loader->profile->op_count = loader->op_count;
	loader->ops = NULL;
	loader->op_count = 0;
}

int loader_keep_ops(struct loader *loader)
{
	int rc = stable_sort(loader->ops, loader->op_count, sizeof(*loader->ops), compare_ops);

	if (rc == 0 && worker_slices(loader->op_count, LOADER_SLICE_OPS, any_own_ids, loader))
		rc = keep_ids(loader);
	if (rc == 0 && loader->ops)
		pack(loader);
	return rc;
}
