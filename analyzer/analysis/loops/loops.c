#include "analysis/loops/loops.h"

#include "base/array.h"
#include "base/search.h"
#include "analysis/loops/loop_anchors.h"
#include "analysis/loops/loop_iterations.h"
#include "analysis/loops/loop_periods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Threads with more different loops than periods_find() gives periods for need another look. */
#define ROUNDS_MOST 4
/* A shorter period that explains this share of what a longer one does is the loop's own. */
#define SHORTER_PERIOD_SHARE 0.98
/* Where the host reads something back in each iteration, data decides on more iterations or other
 * kernels, and that data came again is what makes the longer period. */
#define DECIDING_PERIOD_SHARE 0.8
/* Loops may be longer than the stretch that they are seen in, and looking for them beyond it in
 * vain could take the square of the tokens: no longer done after so many times all tokens. */
#define WASTE_MOST 16
#define PAUSE_SAMPLES 15
#define PAUSE_WORTH_NS 1000 /* shorter ones differ from call to call by chance */

struct search {
	const struct profile *profile;
	struct loops *found;
	size_t capacity;
	uint32_t thread;
	struct tokens tokens;
	struct periods periods;
	size_t wasted; /* tokens of the thread that were looked at for no loop */
	/* Of the thread, one of each circle, as most of its iterations begin, where they are found once more; else none. */
	struct loops known;
	bool is_around; /* loops are tokens: what lies between is the host's time within them as well */
	uint32_t *families; /* owned; NULL: not asked for yet */
};

/* ---- which period, and where an iteration begins ---- */

/* The first two equal periods in [first, end). */
static bool find_model(struct candidate *candidate, size_t first, size_t end)
{
	size_t run = 0;

	for (size_t i = first + candidate->period; i < end; i++) {
		run = token_equal(candidate->tokens, i, i - candidate->period) ? run + 1 : 0;
		if (run == candidate->period) {
			candidate->model = i + 1 - 2 * candidate->period;
			return true;
		}
	}
	return false;
}

/* Whether the token is a copy to the host that the host waits for before it submits the next. */
static bool is_read_back(const struct search *search, size_t token)
{
	const struct profile *profile = search->profile;
	const struct tokens *tokens = &search->tokens;
	const struct profile_op *op = tokens_op(tokens, token);

	if (!op || op->kind != OP_COPY || profile->copies[op->detail].kind != COPY_TO_HOST)
		return false;
	if (!profile->copies[op->detail].is_async)
		return true;
	for (size_t i = tokens->calls[token] + 1;
	     token + 1 < tokens->count && i < tokens->calls[token + 1]; i++)
		if (profile->call_names[profile->calls[i].name].call_class == CALL_SYNC)
			return true;
	return false;
}

static double least_share(const struct search *search, const struct candidate *candidate)
{
	for (size_t i = 0; i < candidate->period; i++)
		if (is_read_back(search, candidate->model + i))
			return DECIDING_PERIOD_SHARE;
	return SHORTER_PERIOD_SHARE;
}

/* The host's own time and its waits between the submitting call before and this one. */
static int64_t pause_before(const struct search *search, size_t token)
{
	const struct profile *profile = search->profile;
	size_t before = search->tokens.calls[token - 1], call = search->tokens.calls[token];
	int64_t pause_ns = profile->calls[call].start_ns - profile->calls[before].end_ns;

	for (size_t i = before + 1; i < call; i++)
		if (profile->call_names[profile->calls[i].name].call_class != CALL_SYNC)
			pause_ns -= profile->calls[i].end_ns - profile->calls[i].start_ns;
	return pause_ns;
}

/* The median over whole iterations, spread over all but the first, of the pause before a token. */
static int64_t usual_pause(const struct search *search, const struct iterations *iterations,
			   const uint32_t *samples, size_t sample_count, size_t phase)
{
	int64_t pauses[PAUSE_SAMPLES];

	for (size_t i = 0; i < sample_count; i++) {
		int64_t pause = pause_before(search, iterations->starts[samples[i]] + phase);
		size_t place = i;

		for (; place > 0 && pauses[place - 1] > pause; place--)
			pauses[place] = pauses[place - 1];
		pauses[place] = pause;
	}
	return sample_count ? pauses[sample_count / 2] : 0;
}

static size_t choose_samples(const struct iterations *iterations, uint32_t *samples)
{
	size_t step = iterations->count / PAUSE_SAMPLES + 1, count = 0;

	for (size_t i = 1; i < iterations->count && count < PAUSE_SAMPLES; i += step)
		if (iterations->starts[i + 1] - iterations->starts[i] ==
			    iterations->candidate.period &&
		    iterations_is_whole(&iterations->candidate, iterations->starts[i]))
			samples[count++] = (uint32_t)i;
	return count;
}

/*
 * The first token of the period before which the host pauses nearly as long as it does anywhere in
 * it: waits make several pauses of one length, and the loop began with the first of them.
 */
static size_t find_phase(const struct search *search, const struct iterations *iterations)
{
	uint32_t samples[PAUSE_SAMPLES];
	size_t sample_count = choose_samples(iterations, samples), phase = 0;
	int64_t longest_ns = 0, first_ns;

	first_ns = usual_pause(search, iterations, samples, sample_count, 0);
	for (size_t i = 0; i < iterations->candidate.period; i++) {
		int64_t pause_ns = usual_pause(search, iterations, samples, sample_count, i);

		if (pause_ns > longest_ns)
			longest_ns = pause_ns;
	}
	if (longest_ns <= 0 || longest_ns - first_ns < PAUSE_WORTH_NS)
		return 0; /* or calls overlap: there is no pause at all */
	while (usual_pause(search, iterations, samples, sample_count, phase) <
	       longest_ns - longest_ns / 3)
		phase++;
	return phase;
}

static uint32_t shape_of(const struct candidate *candidate, size_t phase)
{
	uint32_t shape = 0;

	for (size_t i = 0; i < candidate->period; i++)
		shape = token_mix(shape, candidate->tokens->loose[candidate->model + phase + i]);
	return shape;
}

static uint32_t circle_of(const struct candidate *candidate)
{
	uint32_t circle = 0;

	for (size_t i = 0; i < candidate->period; i++)
		circle += candidate->tokens->loose[candidate->model + i];
	return circle;
}

/* As most iterations of the thread begin that have these tokens in a circle; candidate->period: none has. */
static size_t find_known_phase(const struct search *search, const struct candidate *candidate)
{
	for (size_t i = 0; i < search->known.count; i++) {
		const struct loop *loop = &search->known.items[i];

		if (loop->period != candidate->period || loop->circle != circle_of(candidate))
			continue;
		for (size_t phase = 0; phase < candidate->period; phase++)
			if (shape_of(candidate, phase) == loop->shape)
				return phase;
	}
	return candidate->period;
}

/* Begins iterations after the pause, where that leaves enough of them. */
static int turn_to_pause(const struct search *search, struct iterations *best)
{
	struct candidate candidate = best->candidate;
	struct iterations turned = {0};
	size_t phase = find_known_phase(search, &candidate);
	int rc;

	if (phase == candidate.period)
		phase = find_phase(search, best);
	if (phase == 0)
		return 0;
	candidate.model += phase;
	candidate.is_uninterrupted = false;
	rc = iterations_follow(&turned, &candidate);
	if (rc == 0 && iterations_are_loop(&turned))
		iterations_swap(best, &turned);
	free(turned.starts);
	return rc;
}

/* ---- what is found ---- */

/* The calls after the last token belong to it as far as they did in the iteration before. */
static uint32_t end_call(const struct search *search, const struct iterations *iterations)
{
	const struct profile_thread *thread = &search->profile->threads[search->thread];
	const uint32_t *calls = search->tokens.calls;
	size_t end = iterations_end(iterations), last = iterations->starts[iterations->count - 1];
	size_t next =
		end < search->tokens.count ? calls[end] : thread->first_call + thread->call_count;
	size_t usual = calls[end - 1] + (calls[last] - calls[last - 1]);

	return (uint32_t)(usual < next ? usual : next);
}

static int describe(struct loop *loop, const struct search *search,
		    const struct iterations *iterations)
{
	const uint32_t *calls = search->tokens.calls;
	size_t count = iterations->count;

	*loop = (struct loop){.thread = search->thread,
			      .first_call = calls[iterations->starts[0]],
			      .iteration_count = count,
			      .iterations = malloc((count + 1) * sizeof(*loop->iterations)),
			      .period = iterations->candidate.period,
			      .kind_count = 1,
			      .regularity = iterations_regularity(iterations),
			      .exactness = (double)iterations->equal_strict /
					   (double)iterations->compared,
			      .is_exact = iterations->equal_strict == iterations->compared,
			      .shape = shape_of(&iterations->candidate, 0),
			      .circle = circle_of(&iterations->candidate)};
	if (!loop->iterations)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		loop->iterations[i] = calls[iterations->starts[i]];
	loop->iterations[count] = end_call(search, iterations);
	loop->call_count = loop->iterations[count] - loop->first_call;
	return 0;
}

static int store_loop(struct search *search, const struct iterations *iterations)
{
	struct loops *found = search->found;
	struct loop *next = ARRAY_NEXT(found->items, search->capacity, found->count);
	int rc = next ? describe(next, search, iterations) : -ENOMEM;

	if (rc)
		return rc;
	found->count++;
	for (size_t i = iterations->starts[0]; i < iterations_end(iterations); i++)
		search->tokens.loose[i] = TOKEN_TAKEN;
	return 0;
}

/* ---- the search ---- */

/* What the iterations explain: tokens that are the model's, less those that are not. */
static double worth_of(const struct iterations *iterations)
{
	return 2 * (double)iterations->equal - (double)iterations->compared;
}

/* Also where they are no loop: to look at them again and again would take too long. */
static size_t where_to_go_on(const struct iterations *iterations)
{
	size_t model_end = iterations->candidate.model + iterations->candidate.period;
	size_t end = iterations_end(iterations);

	return end > model_end ? end : model_end;
}

static int add_loop(struct search *search, struct iterations *iterations)
{
	int rc = search->is_around ? 0 : turn_to_pause(search, iterations);

	return rc ? rc : store_loop(search, iterations);
}

/* The loops of a period whose model lies in [first, end): adds up what they explain, or takes
 * them, which then may reach as far as the loop says. */
static int go_through(struct search *search, struct candidate candidate, size_t first, size_t end,
		      bool takes, double *worth)
{
	struct iterations iterations = {0};
	int rc = 0;

	*worth = 0;
	while (rc == 0 && find_model(&candidate, first, end)) {
		if (!takes)
			candidate.floor = first;
		rc = iterations_follow(&iterations, &candidate);
		if (rc)
			break;
		first = where_to_go_on(&iterations);
		if (!iterations_are_loop(&iterations))
			continue;
		*worth += worth_of(&iterations);
		if (takes)
			rc = add_loop(search, &iterations);
	}
	free(iterations.starts);
	return rc;
}

/*
 * Multiples of a loop's period explain it as well, two loops in turn can have a period in common,
 * and what comes every hundredth time makes no loop of a hundred times the length.
 */
static int find_shorter_period(struct search *search, const struct iterations *found,
			       size_t *shorter)
{
	size_t first = found->starts[0], end = iterations_end(found);
	double worth;
	int rc = 0;

	*shorter = 0;
	for (size_t i = 0; rc == 0 && i < search->periods.count; i++) {
		struct candidate candidate = {.tokens = &search->tokens,
					      .period = search->periods.items[i],
					      .floor = first,
					      .ceiling = end};

		if (candidate.period >= found->candidate.period)
			break;
		if (!find_model(&candidate, first, end))
			continue;
		rc = go_through(search, candidate, first, end, false, &worth);
		if (rc == 0 && worth >= least_share(search, &candidate) * worth_of(found)) {
			*shorter = candidate.period;
			break;
		}
	}
	return rc;
}

/* The loops around the loop's model, if there are any.  *end: where to go on. */
static int search_loop(struct search *search, struct iterations *iterations,
		       const struct candidate *candidate, size_t *end)
{
	struct candidate shorter = *candidate;
	size_t first;
	double worth;
	int rc = iterations_follow(iterations, candidate);

	if (rc)
		return rc;
	*end = where_to_go_on(iterations);
	first = iterations->starts[0];
	if (!iterations_are_loop(iterations)) {
		search->wasted += iterations_end(iterations) - first;
		return 0;
	}
	rc = find_shorter_period(search, iterations, &shorter.period);
	if (rc == 0 && shorter.period)
		return go_through(search, shorter, first, iterations_end(iterations), true, &worth);
	return rc ? rc : add_loop(search, iterations);
}

/* A stretch has several loops where something else lies between them. */
static int search_stretch(struct search *search, const struct stretch *stretch)
{
	size_t at = stretch->first, count = search->tokens.count;
	size_t reach = search->wasted > WASTE_MOST * count ? stretch->end - at : count;
	struct candidate candidate = {.tokens = &search->tokens,
				      .period = stretch->period,
				      .floor = at > reach ? at - reach : 0,
				      .ceiling = count - stretch->end > reach ? stretch->end + reach
									      : count};
	struct iterations iterations = {0};
	int rc = 0;

	while (rc == 0 && find_model(&candidate, at, stretch->end)) {
		rc = search_loop(search, &iterations, &candidate, &at);
		candidate.floor = at;
	}
	free(iterations.starts);
	return rc;
}

static int search_round(struct search *search)
{
	struct stretches stretches = {0};
	int rc = periods_find(&search->periods, &search->tokens,
			      search->tokens.count / LOOP_LEAST_ITERATIONS);

	if (rc == 0)
		rc = stretches_find(&stretches, &search->tokens, &search->periods,
				    LOOP_LEAST_ITERATIONS);
	for (size_t i = 0; rc == 0 && i < stretches.count; i++)
		rc = search_stretch(search, &stretches.items[i]);
	stretches_free(&stretches);
	return rc;
}

/* Whether there may be another loop among the tokens that belong to none. */
static bool has_tokens(const struct tokens *tokens)
{
	size_t left = 0;

	for (size_t i = 0; i < tokens->count; i++)
		left += tokens->loose[i] != TOKEN_TAKEN;
	return left >= LOOP_LEAST_ITERATIONS;
}

static int search_rounds(struct search *search)
{
	int rc = 0;

	for (int round = 0; rc == 0 && round < ROUNDS_MOST && has_tokens(&search->tokens);
	     round++) {
		size_t before = search->found->count;

		rc = search_round(search);
		if (search->found->count == before)
			break;
	}
	return rc;
}

/* Builds the tokens anew, of which a loop takes its own. */
static int search_tokens(struct search *search, const struct submissions *submissions)
{
	int rc = tokens_build(&search->tokens, search->profile, submissions,
			      &search->profile->threads[search->thread], NULL);

	search->wasted = 0;
	if (rc == 0)
		rc = search_rounds(search);
	tokens_free(&search->tokens);
	return rc;
}

/* One circle after the other, and in it one beginning after the other. */
static int compare_circles(const void *left, const void *right)
{
	const struct loop *a = left, *b = right;

	if (a->period != b->period)
		return a->period < b->period ? -1 : 1;
	if (a->circle != b->circle)
		return a->circle < b->circle ? -1 : 1;
	return (a->shape > b->shape) - (a->shape < b->shape);
}

static bool is_circle(const struct loop *left, const struct loop *right)
{
	return left->period == right->period && left->circle == right->circle;
}

/* Of each circle one loop, with which most iterations begin; the others are freed.  Returns whether any begins otherwise. */
static bool keep_usual(struct loops *known)
{
	size_t kept = 0, next, end;
	bool is_turned = false;

	qsort(known->items, known->count, sizeof(*known->items), compare_circles);
	for (size_t first = 0; first < known->count; first = end) {
		size_t most_count = 0, usual = first;

		for (end = first;
		     end < known->count && is_circle(&known->items[first], &known->items[end]);
		     end = next) {
			size_t count = 0;

			for (next = end; next < known->count &&
					 !compare_circles(&known->items[end], &known->items[next]);
			     next++)
				count += known->items[next].iteration_count;
			is_turned |= end > first;
			usual = count > most_count ? end : usual;
			most_count = count > most_count ? count : most_count;
		}
		known->items[kept++] = known->items[usual];
	}
	known->count = kept;
	return is_turned;
}

/* Those from items[first] on, without their iterations. */
static int take_known(struct search *search, size_t first)
{
	struct loops *known = &search->known;

	known->count = search->found->count - first;
	known->items = malloc((known->count + 1) * sizeof(*known->items));
	if (!known->items)
		return -ENOMEM;
	for (size_t i = 0; i < known->count; i++) {
		known->items[i] = search->found->items[first + i];
		known->items[i].iterations = NULL;
	}
	return 0;
}

static void drop_from(struct loops *found, size_t first)
{
	while (found->count > first)
		free(found->items[--found->count].iterations);
}

/* A loop that goes on after something else came between its calls is found from there on, wherever that is in an
 * iteration: then all of the thread are found once more, and begin as most iterations of that circle did. */
static int search_exactly(struct search *search, const struct submissions *submissions)
{
	size_t first = search->found->count;
	int rc = search_tokens(search, submissions);

	if (rc == 0 && search->found->count > first + 1)
		rc = take_known(search, first);
	if (rc == 0 && search->known.count && keep_usual(&search->known)) {
		drop_from(search->found, first);
		rc = search_tokens(search, submissions);
	}
	free(search->known.items);
	search->known = (struct loops){0};
	return rc;
}

/* Share of the thread's calls that are in loops from items[first] on. */
static double looped_share(const struct search *search, size_t first)
{
	size_t looped = 0, count = search->profile->threads[search->thread].call_count;

	for (size_t i = first; i < search->found->count; i++)
		looped += search->found->items[i].call_count;
	return count ? (double)looped / (double)count : 1;
}

/* Replace the loops from items[first] on by one of steps between copies.  *is_found: whether the thread has such steps. */
static int search_anchors(struct search *search, const struct submissions *submissions,
			  size_t first, bool by_sizes, bool *is_found)
{
	struct anchored anchored = {0};
	int rc = tokens_build(&search->tokens, search->profile, submissions,
			      &search->profile->threads[search->thread],
			      by_sizes ? NULL : search->families);

	if (rc == 0)
		rc = anchors_find(&anchored, &search->tokens, by_sizes);
	*is_found = rc == 0 && anchored.iterations.count > 0;
	if (*is_found) {
		drop_from(search->found, first);
		rc = store_loop(search, &anchored.iterations);
	}
	if (rc == 0 && *is_found)
		search->found->items[search->found->count - 1].kind_count = anchored.kind_count;
	free(anchored.iterations.starts);
	tokens_free(&search->tokens);
	return rc;
}

/* A thread that repeats nothing exactly for most of its calls may repeat steps of several kinds: of some sizes, or of many, for
 * each of which libraries choose other kernels. */
static int search_thread(struct search *search, const struct submissions *submissions)
{
	const struct profile *profile = search->profile;
	size_t first = search->found->count;
	bool is_found = false;
	int rc = search_exactly(search, submissions);

	if (rc || looped_share(search, first) > MAINLY_LOOPED)
		return rc;
	if (!search->families)
		search->families = tokens_families(profile);
	if (!search->families)
		return -ENOMEM;
	if (!tokens_are_chosen(search->families, profile, submissions,
			       &profile->threads[search->thread]))
		return 0;
	rc = search_anchors(search, submissions, first, true, &is_found);
	return rc || is_found ? rc : search_anchors(search, submissions, first, false, &is_found);
}

static int compare_loops(const void *left, const void *right)
{
	const struct loop *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->first_call > b->first_call) - (a->first_call < b->first_call);
}

int loops_find(struct loops *found, const struct profile *profile,
	       const struct submissions *submissions)
{
	struct search search = {.profile = profile, .found = found};
	int rc = 0;

	*found = (struct loops){0};
	for (; rc == 0 && search.thread < profile->thread_count; search.thread++)
		rc = search_thread(&search, submissions);
	free(search.families);
	if (rc == 0 && found->count)
		qsort(found->items, found->count, sizeof(*found->items), compare_loops);
	return rc;
}

/* ---- around them ---- */

/* Each loop becomes one token, equal to that of the same loop. */
static void fold(struct tokens *tokens, const struct loop *loops, size_t count)
{
	size_t kept = 0, next = 0;

	for (size_t i = 0; i < tokens->count; i++) {
		uint32_t call = tokens->calls[i];

		while (next < count && loops[next].first_call + loops[next].call_count <= call)
			next++;
		if (next < count && call > loops[next].first_call)
			continue;
		tokens->calls[kept] = call;
		tokens->loose[kept] = tokens->loose[i];
		tokens->strict[kept] = tokens->strict[i];
		if (next < count && call == loops[next].first_call) {
			tokens->loose[kept] =
				token_mix(loops[next].shape, (uint32_t)loops[next].period) | 1;
			tokens->strict[kept] = token_mix(tokens->loose[kept],
							 (uint32_t)loops[next].iteration_count);
		}
		kept++;
	}
	tokens->count = kept;
}

struct place {
	const struct loop *loops;
	size_t call;
};

static bool begins_there(size_t index, const void *context)
{
	const struct place *place = context;

	return place->loops[index].first_call >= place->call;
}

/* Those from items[first] on that have none of the loops [begin, end) in them go. */
static void keep_around(struct loops *found, size_t first, const struct loops *loops, size_t begin,
			size_t end)
{
	size_t kept = first;

	for (size_t i = first; i < found->count; i++) {
		struct loop *loop = &found->items[i];
		struct place place = {loops->items, loop->first_call};

		loop->first_within = search_first(begin, end, begins_there, &place);
		place.call = loop->first_call + loop->call_count;
		loop->within_count =
			search_first(begin, end, begins_there, &place) - loop->first_within;
		if (loop->within_count)
			found->items[kept++] = *loop;
		else
			free(loop->iterations);
	}
	found->count = kept;
}

/* loops [begin, end): those of the thread. */
static int search_around(struct search *search, const struct submissions *submissions,
			 const struct loops *loops, size_t begin, size_t end)
{
	size_t first = search->found->count;
	int rc = tokens_build(&search->tokens, search->profile, submissions,
			      &search->profile->threads[search->thread], NULL);

	search->wasted = 0;
	if (rc == 0) {
		fold(&search->tokens, loops->items + begin, end - begin);
		rc = search_rounds(search);
	}
	tokens_free(&search->tokens);
	if (rc == 0)
		keep_around(search->found, first, loops, begin, end);
	return rc;
}

int loops_find_around(struct loops *found, const struct profile *profile,
		      const struct submissions *submissions, const struct loops *loops)
{
	struct search search = {.profile = profile, .found = found, .is_around = true};
	size_t end;
	int rc = 0;

	*found = (struct loops){0};
	for (size_t i = 0; rc == 0 && i < loops->count; i = end) {
		search.thread = loops->items[i].thread;
		for (end = i; end < loops->count && loops->items[end].thread == search.thread;)
			end++;
		if (end - i >= LOOP_LEAST_ITERATIONS)
			rc = search_around(&search, submissions, loops, i, end);
	}
	if (rc == 0 && found->count)
		qsort(found->items, found->count, sizeof(*found->items), compare_loops);
	return rc;
}

void loops_free(struct loops *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->items[i].iterations);
	free(found->items);
	*found = (struct loops){0};
}
