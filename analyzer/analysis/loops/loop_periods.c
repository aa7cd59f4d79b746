#include "analysis/loops/loop_periods.h"

#include "base/array.h"
#include "base/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where a token was last: too little for A A B B, in which both come again after 1 and after 3, but
 * A B comes again after 4.  Hence also runs of tokens.  Noise breaks long runs, so short ones count
 * as well.
 */
static const size_t run_lengths[] = {1, 2, 4, 16, 64};
#define RUN_LENGTHS (sizeof(run_lengths) / sizeof(run_lengths[0]))

/* Of fewer tokens nothing is found by several threads. */
#define THREAD_TOKENS 65536

#define RUN_FACTOR 0x9e3779b97f4a7c15u

/* Where a run was seen last.  Two runs in one place: the later one stays, which costs a few counts. */
struct place {
	uint32_t tag, end; /* end 0: empty */
};

struct places {
	struct place *items;
	unsigned bits;
};

static int places_open(struct places *places, size_t token_count)
{
	places->bits = 6;
	while (places->bits < 17 && (size_t)1 << places->bits < 2 * token_count)
		places->bits++;
	places->items = malloc(sizeof(*places->items) << places->bits);
	return places->items ? 0 : -ENOMEM;
}

/* The distance to the run's last end, 0 when there is none; from now on it ends here. */
static size_t places_step(struct places *places, uint64_t run, size_t end)
{
	uint64_t mixed = (run ^ run >> 29) * RUN_FACTOR;
	struct place *place = &places->items[mixed >> (64 - places->bits)];
	size_t distance = place->end && place->tag == (uint32_t)mixed ? end - place->end : 0;

	*place = (struct place){(uint32_t)mixed, (uint32_t)end};
	return distance;
}

static void count_distances(const struct tokens *tokens, size_t run_length, struct places *places,
			    uint32_t *distances, size_t longest)
{
	uint64_t run = 0, oldest_factor = 1;
	size_t length = 0;

	memset(places->items, 0, sizeof(*places->items) << places->bits);
	for (size_t i = 0; i < run_length; i++)
		oldest_factor *= RUN_FACTOR;
	for (size_t i = 0; i < tokens->count; i++) {
		size_t distance = 0;

		run = run * RUN_FACTOR + tokens->loose[i];
		if (length++ >= run_length)
			run -= oldest_factor * tokens->loose[i - run_length];
		if (tokens->loose[i] == TOKEN_TAKEN)
			run = length = 0;
		if (length >= run_length)
			distance = places_step(places, run, i + 1);
		if (distance <= longest)
			distances[distance]++;
	}
}

static void keep_most_frequent(struct periods *periods, const uint32_t *distances, size_t longest)
{
	for (size_t period = 1; period <= longest; period++) {
		size_t i = periods->count;

		if (!distances[period] ||
		    (i == PERIODS_MOST && distances[periods->items[i - 1]] >= distances[period]))
			continue;
		if (i == PERIODS_MOST)
			i--;
		else
			periods->count++;
		for (; i > 0 && distances[periods->items[i - 1]] < distances[period]; i--)
			periods->items[i] = periods->items[i - 1];
		periods->items[i] = period;
	}
}

static int compare_sizes(const void *left, const void *right)
{
	const size_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* How often each distance is there, as far as one thread counts: of some run lengths, under the first of them. */
struct counting {
	const struct tokens *tokens;
	size_t longest;
	uint32_t *distances[RUN_LENGTHS]; /* owned; NULL: those are among the ones before */
};

static int count_lengths(void *context, size_t first, size_t end)
{
	struct counting *counting = context;
	struct places places;
	int rc = places_open(&places, counting->tokens->count);

	counting->distances[first] = calloc(counting->longest + 1, sizeof(uint32_t));
	if (!counting->distances[first])
		rc = -ENOMEM;
	for (size_t i = first; rc == 0 && i < end; i++)
		count_distances(counting->tokens, run_lengths[i], &places,
				counting->distances[first], counting->longest);
	free(places.items);
	return rc;
}

/* To the first ones. */
static void add_others(struct counting *counting)
{
	for (size_t i = 1; i < RUN_LENGTHS; i++)
		for (size_t j = 0; counting->distances[i] && j <= counting->longest; j++)
			counting->distances[0][j] += counting->distances[i][j];
}

int periods_find(struct periods *periods, const struct tokens *tokens, size_t longest)
{
	struct counting counting = {.tokens = tokens, .longest = longest};
	size_t least = tokens->count < THREAD_TOKENS ? RUN_LENGTHS : 1;
	int rc = worker_slices(RUN_LENGTHS, least, count_lengths, &counting);

	periods->count = 0;
	if (rc == 0) {
		add_others(&counting);
		keep_most_frequent(periods, counting.distances[0], longest);
		qsort(periods->items, periods->count, sizeof(*periods->items), compare_sizes);
	}
	for (size_t i = 0; i < RUN_LENGTHS; i++)
		free(counting.distances[i]);
	return rc;
}

/* A walk that goes up for an equal token and down for another one; a stretch ends at its top. */
struct walk {
	struct stretch top;
	size_t height;
};

static int add_stretch(struct stretches *found, const struct walk *walk, size_t least_repeats)
{
	struct stretch *next;

	if (walk->top.end - walk->top.first < least_repeats * walk->top.period)
		return 0;
	next = ARRAY_NEXT(found->items, found->capacity, found->count);
	if (!next)
		return -ENOMEM;
	*next = walk->top;
	found->count++;
	return 0;
}

static void walk_up(struct walk *walk, size_t token)
{
	if (walk->height == 0)
		walk->top.first = token - walk->top.period;
	if (++walk->height > walk->top.score) {
		walk->top.score = walk->height;
		walk->top.end = token + 1;
	}
}

/* One token too many costs a period and one, as all after it are compared with their neighbors. */
static bool walk_down(struct walk *walk)
{
	walk->height -= walk->height > 0;
	return walk->height > 0 && walk->top.score - walk->height <= 4 * walk->top.period + 4;
}

static int find_of_period(struct stretches *found, const struct tokens *tokens, size_t period,
			  size_t least_repeats)
{
	const struct walk start = {.top.period = period};
	struct walk walk = start;
	int rc = 0;

	for (size_t i = period; rc == 0 && i < tokens->count; i++) {
		if (token_equal(tokens, i, i - period)) {
			walk_up(&walk, i);
		} else if (!walk_down(&walk)) {
			rc = add_stretch(found, &walk, least_repeats);
			walk = start;
		}
	}
	return rc ? rc : add_stretch(found, &walk, least_repeats);
}

static int compare_stretches(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->period != b->period)
		return a->period < b->period ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* What is found of each period. */
struct finding {
	const struct tokens *tokens;
	const struct periods *periods;
	size_t least_repeats;
	struct stretches found[PERIODS_MOST];
};

static int find_of_periods(void *context, size_t first, size_t end)
{
	struct finding *finding = context;
	int rc = 0;

	for (size_t i = first; rc == 0 && i < end; i++)
		rc = find_of_period(&finding->found[i], finding->tokens, finding->periods->items[i],
				    finding->least_repeats);
	return rc;
}

static int join_found(struct stretches *all, const struct finding *finding)
{
	size_t count = 0;

	for (size_t i = 0; i < finding->periods->count; i++)
		count += finding->found[i].count;
	all->items = malloc((count + 1) * sizeof(*all->items));
	if (!all->items)
		return -ENOMEM;
	all->capacity = count + 1;
	for (size_t i = 0; i < finding->periods->count; i++)
		for (size_t j = 0; j < finding->found[i].count; j++)
			all->items[all->count++] = finding->found[i].items[j];
	return 0;
}

int stretches_find(struct stretches *found, const struct tokens *tokens,
		   const struct periods *periods, size_t least_repeats)
{
	struct finding finding = {tokens, periods, least_repeats, {{0}}};
	size_t least = tokens->count < THREAD_TOKENS ? PERIODS_MOST : 1;
	int rc = worker_slices(periods->count, least, find_of_periods, &finding);

	*found = (struct stretches){0};
	if (rc == 0)
		rc = join_found(found, &finding);
	for (size_t i = 0; i < periods->count; i++)
		stretches_free(&finding.found[i]);
	if (rc == 0 && found->count)
		qsort(found->items, found->count, sizeof(*found->items), compare_stretches);
	return rc;
}

void stretches_free(struct stretches *found)
{
	free(found->items);
	*found = (struct stretches){0};
}
