/* A search for the shape of a launch: where warps wait and nothing but trials tells how many of them, and how much work in
 * each, is best. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/next/context.h"
#include "advice/next/measurements.h"
#include "analysis/counters/occupancy.h"
#include "base/shell.h"

/* What rooflinectl tune is told to try: whole warps, up to the largest block. */
#define BLOCKS_TRIED "64..1024:x2"
#define BLOCK_LEAST 64
#define BLOCK_MOST 1024

/* Of one name, template arguments aside: then the program chooses, or somebody tries. */
#define SHAPES_LEAST 3

static bool is_recommended(const struct advice *advice, const char *id)
{
	for (size_t i = 0; i < advice->count; i++)
		if (!strcmp(advice->items[i].id, id))
			return true;
	return false;
}

static double warps_with_block(const struct profile_device *device, struct profile_signature launch,
			       uint32_t threads)
{
	struct occupancy occupancy;

	launch.block[0] = threads;
	launch.block[1] = launch.block[2] = 1;
	return occupancy_of(&occupancy, device, &launch) ? occupancy.warps_ratio : 0;
}

/* The block with most warps on an SM, the smallest of those, if that is so many more that it may show; 0: none is. */
static uint32_t better_block(const struct profile_device *device,
			     const struct profile_signature *launch, double *now, double *then)
{
	uint32_t best = 0;

	*now = warps_with_block(device, *launch, (uint32_t)profile_block_threads(launch));
	*then = LEAST_ESTIMATED_SPEEDUP * *now;
	for (uint32_t threads = BLOCK_LEAST; *now > 0 && threads <= BLOCK_MOST; threads *= 2) {
		double warps = warps_with_block(device, *launch, threads);

		if (warps > *then) {
			*then = warps;
			best = threads;
		}
	}
	return best;
}

static size_t stem_length(const char *name)
{
	return strcspn(name, "<(");
}

/* Different sizes of blocks in which kernels of that name were launched. */
static size_t count_shapes(const struct profile *profile, const char *name)
{
	size_t length = stem_length(name), count = 0;
	uint64_t seen[SHAPES_LEAST];

	for (size_t i = 0; i < profile->signature_count && count < SHAPES_LEAST; i++) {
		const struct profile_signature *launch = &profile->signatures[i];
		uint64_t threads = profile_block_threads(launch);
		bool is_new =
			stem_length(launch->name) == length && !strncmp(launch->name, name, length);

		for (size_t j = 0; j < count; j++)
			is_new &= seen[j] != threads;
		if (is_new)
			seen[count++] = threads;
	}
	return count;
}

/* Whether its blocks fill the GPU: of fewer it matters how many they are. */
static bool fills_gpu(const struct profile_device *device, const struct profile_signature *launch)
{
	struct occupancy occupancy;

	return occupancy_of(&occupancy, device, launch) && occupancy.waves >= 1;
}

/* Why its launch may have a better shape; an empty text: nothing tells so. */
static struct next_reason reason_of(const struct next_context *context,
				    const struct profile_signature *launch)
{
	const struct profile *profile = context->report->profile;
	struct limit_name name = limit_kernel_name(&context->limit, context->report);
	const struct profile_device *device = &profile->devices[context->limit.device];
	bool is_meant = next_are_kernels_meant(&context->limit) && fills_gpu(device, launch);
	double now, then;
	uint32_t block = is_meant ? better_block(device, launch, &now, &then) : 0;

	if (block)
		return next_reason(
			"blocks of %u threads leave %s %.0f%% of the warps that an SM can hold, and those "
			"of %u as many as %.0f%%: trials tell which is fastest, where its block is "
			"an option of the program",
			(uint32_t)profile_block_threads(launch), name.text, 100 * now, block,
			100 * then);
	if (is_meant && count_shapes(profile, launch->name) >= SHAPES_LEAST)
		return next_reason(
			"%s is launched in several shapes: trials tell which is fastest, "
			"where its block is an option of the program",
			name.text);
	if (is_recommended(context->advice, "low_occupancy") ||
	    is_recommended(context->advice, "latency_bound"))
		return next_reason(
			"warps of %s wait, and only trials tell how many of them and how much work "
			"in each is fastest: where its block, and what else it is launched with, "
			"are options of the program",
			name.text);
	return (struct next_reason){""};
}

static int add_tune(struct next_context *context, const char *kernel, const char *why)
{
	char stem[64];
	char *word;
	int rc;

	snprintf(stem, sizeof(stem), "%.*s", (int)stem_length(kernel), kernel);
	word = shell_word(stem);
	if (!word)
		return -ENOMEM;
	rc = next_add(context, STEP_tune, why,
		      "rooflinectl tune --param block=" BLOCKS_TRIED
		      " --objective kernel:%s -- %s --block {block}",
		      word, context->program);
	free(word);
	return rc;
}

/* Of a kernel of one's own that takes most of the kernels' time and is at no roof. */
int next_tune(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	const struct profile_signature *launch;
	struct next_reason why;

	if (!limit->kernel || limit->is_graph || limit->kernel_share < 0.5 ||
	    (limit->has_roof && !next_is_below_roofs(limit)) ||
	    facts_is_library(context->facts, limit->kernel->subject))
		return 0;
	launch = facts_launch_of(context->facts, limit->kernel->subject);
	if (!launch)
		return 0;
	why = reason_of(context, launch);
	return *why.text
		       ? add_tune(context, limit_kernel_name(limit, context->report).text, why.text)
		       : 0;
}
