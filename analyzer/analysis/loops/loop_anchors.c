#include "analysis/loops/loop_anchors.h"

#include "analysis/loops/loops.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST_AGAIN 0.9	 /* share of the tokens that is in steps that come again */
#define LEAST_OF_KIND 4	 /* steps of each kind, on average: fewer are chance */
#define AS_SHORT 1.1	 /* descriptions of up to so many times the shortest are equally good */
#define PARTINGS_MOST 32 /* a step has few copies */

/* A copy, by what it is: kind, memory, stream and bytes. */
struct anchor {
	uint32_t what, token;
};

static int compare_anchors(const void *left, const void *right)
{
	const struct anchor *a = left, *b = right;

	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (a->token > b->token) - (a->token < b->token);
}

/* A copy on the device is a part of a step, not its beginning or end. */
static bool is_anchor(const struct tokens *tokens, const struct profile_op *op)
{
	return op && op->kind == OP_COPY &&
	       (tokens->profile->copies[op->detail].kind == COPY_TO_DEVICE ||
		tokens->profile->copies[op->detail].kind == COPY_TO_HOST);
}

static size_t collect_copies(struct anchor *anchors, const struct tokens *tokens)
{
	size_t count = 0;

	for (size_t i = 0; i < tokens->count; i++) {
		const struct profile_op *op = tokens_op(tokens, i);

		if (is_anchor(tokens, op))
			anchors[count++] = (struct anchor){tokens->strict[i], (uint32_t)i};
	}
	qsort(anchors, count, sizeof(*anchors), compare_anchors);
	return count;
}

/* A step: tokens from one anchor to the next. */
struct segment {
	uint64_t hash;
	size_t length;
};

static int compare_segments(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;

	return (a->hash > b->hash) - (a->hash < b->hash);
}

struct parting {
	size_t first; /* anchors[] */
	size_t step_count, kind_count;
	size_t token_count, again_count; /* of all steps, and of those that come again */
	size_t description; /* its length: tokens of one step of each kind, and of all steps that come once */
};

/* A copy to the device begins a step, one back ends it. */
static size_t first_of_step(const struct tokens *tokens, const struct anchor *anchor)
{
	const struct profile_op *op = tokens_op(tokens, anchor->token);
	bool ends = tokens->profile->copies[op->detail].kind == COPY_TO_HOST;

	return anchor->token + (ends ? 1 : 0);
}

static struct parting part(struct segment *segments, const struct tokens *tokens,
			   const struct anchor *anchors, size_t count, bool by_sizes)
{
	const uint32_t *numbers = by_sizes ? tokens->strict : tokens->loose;
	struct parting parting = {.step_count = count - 1};

	for (size_t i = 0; i + 1 < count; i++) {
		size_t first = first_of_step(tokens, &anchors[i]);
		size_t end = first_of_step(tokens, &anchors[i + 1]);

		segments[i] = (struct segment){.length = end - first};
		for (size_t j = first; j < end; j++)
			segments[i].hash = (segments[i].hash ^ numbers[j]) * 0x9e3779b97f4a7c15u;
		parting.token_count += end - first;
	}
	qsort(segments, parting.step_count, sizeof(*segments), compare_segments);
	for (size_t i = 0, next; i < parting.step_count; i = next) {
		for (next = i;
		     next < parting.step_count && segments[next].hash == segments[i].hash;)
			next++;
		parting.description += segments[i].length;
		if (next - i < 2)
			continue;
		parting.kind_count++;
		parting.again_count += (next - i) * segments[i].length;
	}
	return parting;
}

static bool is_good(const struct parting *parting, size_t token_count)
{
	return parting->step_count >= LOOP_LEAST_ITERATIONS &&
	       (double)parting->token_count > MAINLY_LOOPED * (double)token_count &&
	       parting->kind_count * LEAST_OF_KIND <= parting->step_count &&
	       (double)parting->again_count >= LEAST_AGAIN * (double)parting->token_count;
}

static int keep(struct anchored *found, const struct tokens *tokens, const struct anchor *anchors,
		const struct parting *parting, bool by_sizes)
{
	struct iterations *iterations = &found->iterations;
	size_t count = parting->step_count;

	if (!count)
		return 0;
	iterations->starts = malloc((count + 1) * sizeof(*iterations->starts));
	if (!iterations->starts)
		return -ENOMEM;
	for (size_t i = 0; i <= count; i++)
		iterations->starts[i] = (uint32_t)first_of_step(tokens, &anchors[i]);
	iterations->count = iterations->capacity = count;
	iterations->candidate = (struct candidate){.tokens = tokens,
						   .model = iterations->starts[0],
						   .period = parting->token_count / count};
	iterations->compared = parting->token_count;
	iterations->equal = parting->again_count;
	iterations->equal_strict = by_sizes ? parting->again_count : 0;
	found->kind_count = parting->kind_count;
	return 0;
}

/* Choose the shortest description, and of those that are as short the longest steps: a copy that a step has twice parts it. */
static const struct parting *best_of(const struct parting *partings, size_t count)
{
	const struct parting *best = NULL;
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < count; i++)
		least = partings[i].description < least ? partings[i].description : least;
	for (size_t i = 0; i < count; i++)
		if ((double)partings[i].description <= AS_SHORT * (double)least &&
		    (!best || partings[i].step_count < best->step_count))
			best = &partings[i];
	return best;
}

/* Return how many copies part the tokens well. */
static size_t part_all(struct parting *partings, struct segment *segments,
		       const struct tokens *tokens, const struct anchor *anchors, size_t count,
		       bool by_sizes)
{
	size_t good_count = 0, next;

	for (size_t i = 0; i < count && good_count < PARTINGS_MOST; i = next) {
		for (next = i; next < count && anchors[next].what == anchors[i].what;)
			next++;
		if (next - i <= LOOP_LEAST_ITERATIONS)
			continue;
		partings[good_count] = part(segments, tokens, anchors + i, next - i, by_sizes);
		partings[good_count].first = i;
		good_count += is_good(&partings[good_count], tokens->count);
	}
	return good_count;
}

int anchors_find(struct anchored *found, const struct tokens *tokens, bool by_sizes)
{
	struct anchor *anchors = malloc((tokens->count + 1) * sizeof(*anchors));
	struct segment *segments = malloc((tokens->count + 1) * sizeof(*segments));
	struct parting partings[PARTINGS_MOST + 1] = {{0}};
	const struct parting *best = NULL;
	int rc = anchors && segments ? 0 : -ENOMEM;

	*found = (struct anchored){0};
	if (rc == 0)
		best = best_of(partings, part_all(partings, segments, tokens, anchors,
						  collect_copies(anchors, tokens), by_sizes));
	if (best)
		rc = keep(found, tokens, anchors + best->first, best, by_sizes);
	free(anchors);
	free(segments);
	return rc;
}
