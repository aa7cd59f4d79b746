#include "replay/child_kernels.h"

#include "base/ns.h"

void child_kernels_begin(struct child_kernels *children, int64_t parent_end_ns, uint32_t stream)
{
	if (children->child_count && children->stream == stream)
		parent_end_ns = max_ns(parent_end_ns, children->end_ns);
	*children = (struct child_kernels){.parent_end_ns = parent_end_ns,
					   .end_ns = parent_end_ns,
					   .stream = stream};
}

static int64_t next_start_ns(struct child_kernels *children, const struct costs *costs,
			     bool are_beside, unsigned int fill)
{
	if (!children->child_count)
		return children->parent_end_ns + costs->child_start_ns;
	if (!are_beside)
		return children->end_ns + costs->child_next_ns;
	if (children->fill + fill <= 100)
		return children->last_start_ns + costs->child_beside_ns;
	children->fill = 0;
	return max_ns(children->last_start_ns + costs->child_beside_ns, children->end_ns);
}

int64_t child_kernels_add(struct child_kernels *children, const struct costs *costs,
			  bool are_beside, int64_t length_ns, unsigned int fill)
{
	int64_t start_ns = next_start_ns(children, costs, are_beside, fill);

	children->fill += fill;
	children->last_start_ns = start_ns;
	children->end_ns = max_ns(children->end_ns, start_ns + length_ns);
	children->child_count++;
	return start_ns;
}
