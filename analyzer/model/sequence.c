#include "model/sequence.h"

#include "base/array.h"
#include "model/sequence_periods.h"
#include "model/sequence_tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Threads with more different loops than periods_find() gives periods for need another look. */
#define ROUNDS_MOST 4
#define LEAST_REGULARITY 0.5
/* A shorter period that explains this share of what a longer one does is the loop's: one with
 * something more every tenth time is no loop of ten times the length. */
#define SHORTER_PERIOD_SHARE 0.95
#define LANDMARK_LONGEST 64
#define PAUSE_SAMPLES 15
#define PAUSE_WORTH_NS 1000 /* shorter ones differ from call to call by chance */

/* What an iteration usually is: tokens [model, model + period), which come again right after. */
struct loop {
	const struct tokens *tokens;
	size_t model, period;
	size_t landmark_length; /* its first ones, which a period has only once; 0: it has no such */
};

/* A loop's iterations, and how they compare with it. */
struct iterations {
	struct loop loop;
	uint32_t *starts; /* tokens: count + 1, the end of the last included */
	size_t count, capacity;
	size_t compared, equal, equal_strict; /* tokens */
};

struct search {
	const struct profile *profile;
	struct sequences *found;
	size_t capacity;
	uint32_t thread;
	struct tokens tokens;
	struct periods periods;
};

/* ---- one iteration ---- */

static bool tokens_match(const struct loop *loop, size_t first, size_t length)
{
	const uint32_t *loose = loop->tokens->loose;

	return first + length <= loop->tokens->count &&
	       !memcmp(&loose[first], &loose[loop->model], length * sizeof(*loose));
}

static bool is_whole(const struct loop *loop, size_t first)
{
	return tokens_match(loop, first, loop->period);
}

static bool is_landmark(const struct loop *loop, size_t first)
{
	return loop->landmark_length && tokens_match(loop, first, loop->landmark_length);
}

/* Whether the first length tokens are seen at no other place of a period. */
static bool is_unique(const struct loop *loop, size_t length)
{
	const uint32_t *model = &loop->tokens->loose[loop->model];

	for (size_t shift = 1; shift < loop->period; shift++) {
		size_t i = 0;

		while (i < length && model[i] == model[(shift + i) % loop->period])
			i++;
		if (i == length)
			return false;
	}
	return true;
}

static size_t find_landmark_length(const struct loop *loop)
{
	size_t longest = loop->period < LANDMARK_LONGEST ? loop->period : LANDMARK_LONGEST;

	for (size_t length = 1; length < longest; length *= 2)
		if (is_unique(loop, length))
			return length;
	return is_unique(loop, longest) ? longest : 0;
}

/* How many tokens may be too many, too few or different. */
static size_t slack_of(const struct loop *loop)
{
	return loop->period < 4 ? 1 : loop->period / 2;
}

/* Tokens at the beginning and at the end of [first, end) that are those of the model. */
static size_t count_equal(const struct loop *loop, size_t first, size_t end, size_t *head)
{
	const uint32_t *loose = loop->tokens->loose, *model = &loose[loop->model];
	size_t most = end - first < loop->period ? end - first : loop->period, tail = 0;

	*head = 0;
	while (*head < most && loose[first + *head] == model[*head])
		(*head)++;
	while (tail < most - *head && loose[end - 1 - tail] == model[loop->period - 1 - tail])
		tail++;
	return *head + tail;
}

static size_t longer(const struct loop *loop, size_t length)
{
	return length > loop->period ? length : loop->period;
}

static bool is_iteration(const struct loop *loop, size_t first, size_t end)
{
	size_t head;

	return longer(loop, end - first) - count_equal(loop, first, end, &head) <= slack_of(loop);
}

/* Where the iteration that begins at first ends; first itself when it is none. */
static size_t find_end(const struct loop *loop, size_t first)
{
	const uint32_t *loose = loop->tokens->loose;
	size_t shortest = (loop->period + 1) / 2, longest = loop->period + slack_of(loop);
	bool is_usual = is_whole(loop, first);

	if (is_usual && is_landmark(loop, first + loop->period))
		return first + loop->period;
	for (size_t i = first; i < loop->tokens->count && i <= first + longest; i++) {
		if (i >= first + shortest && is_landmark(loop, i))
			return is_iteration(loop, first, i) ? i : first;
		if (loose[i] == TOKEN_TAKEN)
			break;
	}
	return is_usual ? first + loop->period : first;
}

/* Where the iteration that ends at end began; end itself when there is none. */
static size_t find_start(const struct loop *loop, size_t end)
{
	const uint32_t *loose = loop->tokens->loose;
	size_t shortest = (loop->period + 1) / 2, longest = loop->period + slack_of(loop);

	if (end >= loop->period && is_whole(loop, end - loop->period))
		return end - loop->period;
	for (size_t i = end; i-- > 0 && end - i <= longest && loose[i] != TOKEN_TAKEN;)
		if (end - i >= shortest && is_landmark(loop, i))
			return is_iteration(loop, i, end) ? i : end;
	return end;
}

/* ---- all iterations of a loop ---- */

static int add_start(struct iterations *iterations, size_t token)
{
	uint32_t *next = ARRAY_NEXT(iterations->starts, iterations->capacity, iterations->count);

	if (!next)
		return -ENOMEM;
	*next = (uint32_t)token;
	iterations->count++;
	return 0;
}

static void reverse(uint32_t *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t item = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = item;
	}
}

static void compare_with_model(struct iterations *iterations)
{
	const struct loop *loop = &iterations->loop;
	const uint32_t *strict = loop->tokens->strict;

	iterations->compared = iterations->equal = iterations->equal_strict = 0;
	for (size_t i = 0; i < iterations->count; i++) {
		size_t first = iterations->starts[i], end = iterations->starts[i + 1], head;
		size_t equal = count_equal(loop, first, end, &head);

		iterations->compared += longer(loop, end - first);
		iterations->equal += equal;
		for (size_t k = 0; k < equal; k++)
			iterations->equal_strict +=
				k < head ? strict[first + k] == strict[loop->model + k]
					 : strict[end - 1 - (k - head)] ==
						   strict[loop->model + loop->period - 1 -
							  (k - head)];
	}
}

/* The iterations before and after the model, which is one itself. */
static int follow_loop(struct iterations *iterations, const struct loop *loop)
{
	size_t first = loop->model, at;
	int rc = 0;

	iterations->loop = *loop;
	iterations->loop.landmark_length = find_landmark_length(loop);
	iterations->count = 0;
	for (at = first; rc == 0 && (at = find_start(&iterations->loop, first)) != first;
	     first = at)
		rc = add_start(iterations, at);
	reverse(iterations->starts, iterations->count);
	if (rc == 0)
		rc = add_start(iterations, loop->model);
	first = loop->model;
	for (; rc == 0 && (at = find_end(&iterations->loop, first)) != first; first = at)
		rc = add_start(iterations, at);
	if (rc)
		return rc;
	iterations->count--;
	compare_with_model(iterations);
	return 0;
}

static double regularity(const struct iterations *iterations)
{
	return iterations->compared ? (double)iterations->equal / (double)iterations->compared : 0;
}

static bool is_sequence(const struct iterations *iterations)
{
	return iterations->count >= SEQUENCE_LEAST_ITERATIONS &&
	       regularity(iterations) >= LEAST_REGULARITY;
}

static size_t iterations_end(const struct iterations *iterations)
{
	return iterations->starts[iterations->count];
}

static void iterations_swap(struct iterations *a, struct iterations *b)
{
	struct iterations kept = *a;

	*a = *b;
	*b = kept;
}

/* ---- which period, and where an iteration begins ---- */

/* The first two equal periods in [first, end). */
static bool find_model(struct loop *loop, size_t first, size_t end)
{
	size_t run = 0;

	for (size_t i = first + loop->period; i < end; i++) {
		run = token_equal(loop->tokens, i, i - loop->period) ? run + 1 : 0;
		if (run == loop->period) {
			loop->model = i + 1 - 2 * loop->period;
			return true;
		}
	}
	return false;
}

/* A loop that a multiple of its period explains as well is followed by its own. */
static int try_shorter_periods(const struct search *search, struct iterations *best)
{
	size_t first = best->starts[0], end = iterations_end(best), period = best->loop.period;
	struct iterations other = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < search->periods.count; i++) {
		struct loop loop = {.tokens = &search->tokens, .period = search->periods.items[i]};

		if (loop.period >= period)
			break;
		if (!find_model(&loop, first, end))
			continue;
		rc = follow_loop(&other, &loop);
		if (rc == 0 && is_sequence(&other) &&
		    (double)other.equal >= SHORTER_PERIOD_SHARE * (double)best->equal) {
			iterations_swap(best, &other);
			break;
		}
	}
	free(other.starts);
	return rc;
}

/* From the end of the submitting call before to the start of this one. */
static int64_t pause_before(const struct search *search, size_t token)
{
	const struct profile_call *calls = search->profile->calls;
	const uint32_t *of_token = search->tokens.calls;

	return calls[of_token[token]].start_ns - calls[of_token[token - 1]].end_ns;
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
		if (iterations->starts[i + 1] - iterations->starts[i] == iterations->loop.period &&
		    is_whole(&iterations->loop, iterations->starts[i]))
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
	for (size_t i = 0; i < iterations->loop.period; i++) {
		int64_t pause_ns = usual_pause(search, iterations, samples, sample_count, i);

		if (pause_ns > longest_ns)
			longest_ns = pause_ns;
	}
	if (longest_ns - first_ns < PAUSE_WORTH_NS)
		return 0;
	while (usual_pause(search, iterations, samples, sample_count, phase) <
	       longest_ns - longest_ns / 3)
		phase++;
	return phase;
}

/* Begins iterations after the pause, where that leaves enough of them. */
static int turn_to_pause(const struct search *search, struct iterations *best)
{
	struct loop loop = best->loop;
	struct iterations turned = {0};
	size_t phase = find_phase(search, best);
	int rc;

	if (phase == 0)
		return 0;
	loop.model += phase;
	rc = follow_loop(&turned, &loop);
	if (rc == 0 && is_sequence(&turned))
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

static uint32_t shape_of(const struct loop *loop)
{
	uint32_t shape = 0;

	for (size_t i = 0; i < loop->period; i++)
		shape = token_mix(shape, loop->tokens->loose[loop->model + i]);
	return shape;
}

static int describe(struct sequence *sequence, const struct search *search,
		    const struct iterations *iterations)
{
	const uint32_t *calls = search->tokens.calls;
	size_t count = iterations->count;

	*sequence =
		(struct sequence){.thread = search->thread,
				  .first_call = calls[iterations->starts[0]],
				  .iteration_count = count,
				  .iterations = malloc((count + 1) * sizeof(*sequence->iterations)),
				  .period = iterations->loop.period,
				  .regularity = regularity(iterations),
				  .exactness = (double)iterations->equal_strict /
					       (double)iterations->compared,
				  .is_exact = iterations->equal_strict == iterations->compared,
				  .shape = shape_of(&iterations->loop)};
	if (!sequence->iterations)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sequence->iterations[i] = calls[iterations->starts[i]];
	sequence->iterations[count] = end_call(search, iterations);
	sequence->call_count = sequence->iterations[count] - sequence->first_call;
	return 0;
}

static int add_sequence(struct search *search, const struct iterations *iterations)
{
	struct sequences *found = search->found;
	struct sequence *next = ARRAY_NEXT(found->items, search->capacity, found->count);
	int rc = next ? describe(next, search, iterations) : -ENOMEM;

	if (rc)
		return rc;
	found->count++;
	for (size_t i = iterations->starts[0]; i < iterations_end(iterations); i++)
		search->tokens.loose[i] = TOKEN_TAKEN;
	return 0;
}

/* ---- the search ---- */

/* The sequence around the loop's model, if there is one.  *end: where to go on. */
static int take_sequence(struct search *search, struct iterations *iterations,
			 const struct loop *loop, size_t *end)
{
	int rc = follow_loop(iterations, loop);

	*end = loop->model + loop->period;
	if (rc || !is_sequence(iterations))
		return rc;
	rc = try_shorter_periods(search, iterations);
	if (rc == 0)
		rc = turn_to_pause(search, iterations);
	if (rc == 0)
		rc = add_sequence(search, iterations);
	if (rc == 0 && iterations_end(iterations) > *end)
		*end = iterations_end(iterations);
	return rc;
}

/* A stretch has several sequences where something else lies between them. */
static int search_stretch(struct search *search, const struct stretch *stretch)
{
	struct loop loop = {.tokens = &search->tokens, .period = stretch->period};
	struct iterations iterations = {0};
	size_t at = stretch->first;
	int rc = 0;

	while (rc == 0 && find_model(&loop, at, stretch->end))
		rc = take_sequence(search, &iterations, &loop, &at);
	free(iterations.starts);
	return rc;
}

static int search_round(struct search *search)
{
	struct stretches stretches = {0};
	int rc = periods_find(&search->periods, &search->tokens,
			      search->tokens.count / SEQUENCE_LEAST_ITERATIONS);

	if (rc == 0)
		rc = stretches_find(&stretches, &search->tokens, &search->periods,
				    SEQUENCE_LEAST_ITERATIONS);
	for (size_t i = 0; rc == 0 && i < stretches.count; i++)
		rc = search_stretch(search, &stretches.items[i]);
	stretches_free(&stretches);
	return rc;
}

static int search_rounds(struct search *search)
{
	int rc = 0;

	for (int round = 0; rc == 0 && round < ROUNDS_MOST; round++) {
		size_t before = search->found->count;

		rc = search_round(search);
		if (search->found->count == before)
			break;
	}
	return rc;
}

/* Graphs that alternate as the data wants are a loop, too: seen when all graphs are one. */
static int search_thread(struct search *search, const struct submitted *submitted)
{
	int rc = tokens_build(&search->tokens, search->profile, submitted,
			      &search->profile->threads[search->thread]);

	if (rc == 0 && search->tokens.count >= SEQUENCE_LEAST_ITERATIONS) {
		rc = search_rounds(search);
		if (rc == 0 && tokens_forget_graphs(&search->tokens))
			rc = search_rounds(search);
	}
	tokens_free(&search->tokens);
	return rc;
}

static int compare_sequences(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->first_call > b->first_call) - (a->first_call < b->first_call);
}

int sequences_find(struct sequences *found, const struct profile *profile,
		   const struct submitted *submitted)
{
	struct search search = {.profile = profile, .found = found};
	int rc = 0;

	*found = (struct sequences){0};
	for (; rc == 0 && search.thread < profile->thread_count; search.thread++)
		rc = search_thread(&search, submitted);
	if (rc == 0 && found->count)
		qsort(found->items, found->count, sizeof(*found->items), compare_sequences);
	return rc;
}

void sequences_free(struct sequences *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->items[i].iterations);
	free(found->items);
	*found = (struct sequences){0};
}
