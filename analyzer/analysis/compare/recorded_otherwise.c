#include "analysis/compare/recorded_otherwise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"

/* Kernels that may begin before the one before them in their stream has ended. */
struct dependent_kernels {
	uint64_t count, apart_count; /* they began after that */
};

/* last_end_ns: by stream, of the last kernel. */
static void add_kernel(struct dependent_kernels *found, const struct profile *profile,
		       const struct profile_op *op, int64_t *last_end_ns)
{
	const struct profile_launch *launch = profile_launch_of(profile, op->call);
	int64_t before_ns = last_end_ns[op->stream];

	last_end_ns[op->stream] = op->end_ns;
	if (!launch || !launch->is_dependent || before_ns == INT64_MIN)
		return;
	found->count++;
	found->apart_count += op->start_ns >= before_ns;
}

static int find_dependent(struct dependent_kernels *found, const struct profile *profile)
{
	int64_t *last_end_ns = malloc((profile->stream_count + 1) * sizeof(*last_end_ns));

	if (!last_end_ns)
		return -ENOMEM;
	for (size_t i = 0; i < profile->stream_count; i++)
		last_end_ns[i] = INT64_MIN;
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL && profile->ops[i].stream != PROFILE_NONE)
			add_kernel(found, profile, &profile->ops[i], last_end_ns);
	free(last_end_ns);
	return 0;
}

/* tests/pairs/dependent_launch.dependent: 5.9 us from launch to launch while it is recorded, and kernels of 4.4 us that
 * follow one another every 3.7 us where it is not. */
static int warn_of_dependent(struct sentences *warnings, const struct profile *profile)
{
	struct dependent_kernels found = {0};
	int rc = profile->launch_count ? find_dependent(&found, profile) : 0;

	if (rc < 0 || 2 * found.apart_count <= found.count)
		return rc;
	return sentences_add(
		warnings,
		"%s: %s of %s kernels that may begin before the one before them has ended did not: "
		"where recording delays their launches they run apart, and without it they may "
		"overlap, which is faster than the times here",
		profile->path, format_count(found.apart_count).text,
		format_count(found.count).text);
}

static bool has_call(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->call_count; i++)
		if (strstr(profile->call_names[profile->calls[i].name].text, name))
			return true;
	return false;
}

/* Runs of tests/pairs/graph_manual and graph_pipeline that have them take 8 to 61% longer while they are recorded than
 * docs/results/pairs.txt, of which no step is known (docs/results/verified.txt). */
static int warn_of_host_functions(struct sentences *warnings, const struct profile *profile)
{
	if (!has_call(profile, "LaunchHostFunc") && !has_call(profile, "StreamAddCallback"))
		return 0;
	return sentences_add(
		warnings,
		"%s: the GPU calls functions of the host, which takes longer while it is "
		"recorded: how much longer is not known and stays in its time",
		profile->path);
}

int recorded_otherwise_warn(struct sentences *warnings, const struct profile *profile)
{
	int rc = warn_of_dependent(warnings, profile);

	return rc < 0 ? rc : warn_of_host_functions(warnings, profile);
}
