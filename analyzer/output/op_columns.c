#include "output/op_columns.h"

#include "analysis/report.h"

struct value op_get_kind(struct row *row, const void *op)
{
	static const char *const kinds[] = {"kernel", "copy", "memset", "graph"};
	const struct profile_op *of = op;

	(void)row;
	return value_text(kinds[of->kind]);
}

struct value op_get_name(struct row *row, const void *op)
{
	const struct profile *profile = row->report->profile;
	const struct profile_op *of = op;

	if (of->kind == OP_KERNEL)
		return value_text(profile->signatures[of->detail].name);
	if (of->kind == OP_COPY)
		return value_text(profile_copy_kind_name(profile->copies[of->detail].kind));
	return op_get_kind(row, op);
}

struct value op_get_stream(struct row *row, const void *op)
{
	const struct profile_op *of = op;

	return value_integer(row->report->profile->streams[of->stream].stream);
}
