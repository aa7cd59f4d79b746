#include "model/family.h"

#include "base/ns.h"

void family_begin(struct family *family, int64_t parent_end_ns, uint32_t stream)
{
	if (family->child_count && family->stream == stream)
		parent_end_ns = max_ns(parent_end_ns, family->end_ns);
	*family = (struct family){.parent_end_ns = parent_end_ns,
				  .end_ns = parent_end_ns,
				  .stream = stream};
}

static int64_t next_start_ns(struct family *family, const struct costs *costs, bool are_beside,
			     unsigned int fill)
{
	if (!family->child_count)
		return family->parent_end_ns + costs->child_start_ns;
	if (!are_beside)
		return family->end_ns + costs->child_next_ns;
	if (family->fill + fill <= 100)
		return family->last_start_ns + costs->child_beside_ns;
	family->fill = 0;
	return max_ns(family->last_start_ns + costs->child_beside_ns, family->end_ns);
}

int64_t family_add(struct family *family, const struct costs *costs, bool are_beside,
		   int64_t length_ns, unsigned int fill)
{
	int64_t start_ns = next_start_ns(family, costs, are_beside, fill);

	family->fill += fill;
	family->last_start_ns = start_ns;
	family->end_ns = max_ns(family->end_ns, start_ns + length_ns);
	family->child_count++;
	return start_ns;
}

int64_t family_over_ns(const struct family *family, const struct costs *costs, uint32_t stream)
{
	return family->child_count && family->stream == stream
		       ? family->end_ns + costs->child_return_ns
		       : INT64_MIN;
}
