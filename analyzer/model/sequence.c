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
/* A shorter period that explains this share of what a longer one does is the loop's own. */
#define SHORTER_PERIOD_SHARE 0.98
/* Where the host reads something back in each iteration, data decides on more iterations or other
 * kernels, and that data came again is what makes the longer period. */
#define DECIDING_PERIOD_SHARE 0.8
/* Something else between two iterations, such as what is around an inner loop, is of the sequence
 * when it comes again within so many iterations; else it lies between two sequences. */
#define INTERRUPTED_EVERY 32
#define INTERRUPTION_LONGEST 4
#define LANDMARK_LONGEST 64
/* Sequences may be longer than the stretch that they are seen in, and looking for them beyond it in
 * vain could take the square of the tokens: no longer done after so many times all tokens. */
#define WASTE_MOST 16
#define COPY_TO_HOST 2 /* CUPTI_ACTIVITY_MEMCPY_KIND_DTOH */
#define PAUSE_SAMPLES 15
#define PAUSE_WORTH_NS 1000 /* shorter ones differ from call to call by chance */

/* What an iteration usually is: tokens [model, model + period), which come again right after. */
struct loop {
	const struct tokens *tokens;
	size_t model, period;
	/* tokens at its beginning, and at its end, which a period has only once; 0: it has no such */
	size_t head_length, tail_length;
	bool is_uninterrupted;
	size_t floor, ceiling; /* tokens that its iterations are looked for between */
};

/* A loop's iterations, and how they compare with it. */
struct iterations {
	struct loop loop;
	uint32_t *starts; /* tokens: count + 1, the end of the last included */
	size_t count, capacity;
	size_t interruptions;
	size_t compared, equal, equal_strict; /* tokens */
};

struct search {
	const struct profile *profile;
	struct sequences *found;
	size_t capacity;
	uint32_t thread;
	struct tokens tokens;
	struct periods periods;
	size_t wasted; /* tokens of the thread that were looked at for no sequence */
};

/* ---- one iteration ---- */

/* Whether the tokens from first on are those of the model from offset on. */
static bool tokens_match(const struct loop *loop, size_t first, size_t offset, size_t length)
{
	const uint32_t *loose = loop->tokens->loose;

	return first + length <= loop->tokens->count &&
	       !memcmp(&loose[first], &loose[loop->model + offset], length * sizeof(*loose));
}

static bool is_whole(const struct loop *loop, size_t first)
{
	return first + loop->period <= loop->ceiling && tokens_match(loop, first, 0, loop->period);
}

static bool is_head(const struct loop *loop, size_t first)
{
	return loop->head_length && tokens_match(loop, first, 0, loop->head_length);
}

static bool is_after_tail(const struct loop *loop, size_t end)
{
	return loop->tail_length && end >= loop->tail_length &&
	       tokens_match(loop, end - loop->tail_length, loop->period - loop->tail_length,
			    loop->tail_length);
}

/* Whether the model's tokens from offset on are seen at no other place of a period. */
static bool is_unique(const struct loop *loop, size_t offset, size_t length)
{
	const uint32_t *model = &loop->tokens->loose[loop->model];

	for (size_t shift = 1; shift < loop->period; shift++) {
		size_t i = 0;

		while (i < length &&
		       model[offset + i] == model[(offset + shift + i) % loop->period])
			i++;
		if (i == length)
			return false;
	}
	return true;
}

static void find_landmarks(struct loop *loop)
{
	size_t longest = loop->period < LANDMARK_LONGEST ? loop->period : LANDMARK_LONGEST;

	/* the shortest survive more of what is different */
	loop->head_length = loop->tail_length = 0;
	for (size_t length = longest; length > 0; length /= 2) {
		if (is_unique(loop, 0, length))
			loop->head_length = length;
		if (is_unique(loop, loop->period - length, length))
			loop->tail_length = length;
	}
}

/* How many tokens may be too many, too few or different. */
static size_t slack_of(const struct loop *loop)
{
	return loop->period < 4 ? 1 : loop->period / 2;
}

static size_t most_unequal(const struct loop *loop)
{
	size_t slack = slack_of(loop);

	return loop->is_uninterrupted || slack > INTERRUPTION_LONGEST ? slack
								      : INTERRUPTION_LONGEST;
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

static size_t count_unequal(const struct loop *loop, size_t first, size_t end)
{
	size_t head;

	return longer(loop, end - first) - count_equal(loop, first, end, &head);
}

static bool is_iteration(const struct loop *loop, size_t first, size_t end)
{
	size_t unequal = count_unequal(loop, first, end);

	return unequal <= most_unequal(loop) && unequal < longer(loop, end - first);
}

static size_t shortest_iteration(const struct loop *loop)
{
	return (loop->period + 1) / 2;
}

static size_t longest_iteration(const struct loop *loop)
{
	return loop->period + most_unequal(loop);
}

/* The next place after first where is_border holds, if [first, it) is an iteration; else first. */
static size_t find_border(const struct loop *loop, size_t first,
			  bool (*is_border)(const struct loop *loop, size_t token))
{
	const uint32_t *loose = loop->tokens->loose;
	size_t shortest = shortest_iteration(loop), last = first + longest_iteration(loop);

	for (size_t i = first; i <= loop->ceiling && i <= last; i++) {
		if (i >= first + shortest && is_border(loop, i))
			return is_iteration(loop, first, i) ? i : first;
		if (i == loop->ceiling || loose[i] == TOKEN_TAKEN)
			break;
	}
	return first;
}

static size_t better_border(const struct loop *loop, size_t fixed, size_t by_head, size_t by_tail)
{
	size_t unequal_by_head, unequal_by_tail;

	if (by_tail == fixed)
		return by_head;
	if (by_head == fixed)
		return by_tail;
	unequal_by_head = by_head < fixed ? count_unequal(loop, by_head, fixed)
					  : count_unequal(loop, fixed, by_head);
	unequal_by_tail = by_tail < fixed ? count_unequal(loop, by_tail, fixed)
					  : count_unequal(loop, fixed, by_tail);
	return unequal_by_tail < unequal_by_head ? by_tail : by_head;
}

/*
 * Where the iteration that begins at first ends; first itself when it is none.  What comes after a
 * whole one belongs to it if it is little, to the next one otherwise.
 */
static size_t find_end(const struct loop *loop, size_t first)
{
	bool is_usual = is_whole(loop, first);
	size_t end;

	if (is_usual && is_head(loop, first + loop->period))
		return first + loop->period;
	end = find_border(loop, first, is_head);
	if (is_usual && (end == first || count_unequal(loop, first, end) > slack_of(loop)))
		return first + loop->period;
	if (is_usual)
		return end;
	return better_border(loop, first, end, find_border(loop, first, is_after_tail));
}

/* The last place before end where is_border holds, if [it, end) is an iteration; else end. */
static size_t find_border_back(const struct loop *loop, size_t end,
			       bool (*is_border)(const struct loop *loop, size_t token))
{
	const uint32_t *loose = loop->tokens->loose;
	size_t shortest = shortest_iteration(loop), longest = longest_iteration(loop);

	for (size_t i = end; i-- > loop->floor && end - i <= longest && loose[i] != TOKEN_TAKEN;)
		if (end - i >= shortest && is_border(loop, i))
			return is_iteration(loop, i, end) ? i : end;
	return end;
}

/* Where the iteration that ends at end began; end itself when there is none. */
static size_t find_start(const struct loop *loop, size_t end)
{
	if (end >= loop->floor + loop->period && is_whole(loop, end - loop->period))
		return end - loop->period;
	return better_border(loop, end, find_border_back(loop, end, is_head),
			     find_border_back(loop, end, is_after_tail));
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

static bool is_interrupted(const struct iterations *iterations, size_t i)
{
	return count_unequal(&iterations->loop, iterations->starts[i], iterations->starts[i + 1]) >
	       slack_of(&iterations->loop);
}

static void compare_with_model(struct iterations *iterations)
{
	const struct loop *loop = &iterations->loop;
	const uint32_t *strict = loop->tokens->strict;

	iterations->compared = iterations->equal = iterations->equal_strict = 0;
	iterations->interruptions = 0;
	for (size_t i = 0; i < iterations->count; i++) {
		size_t first = iterations->starts[i], end = iterations->starts[i + 1], head;
		size_t equal = count_equal(loop, first, end, &head);

		iterations->interruptions += is_interrupted(iterations, i);
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

/* How a sequence went on until now, in one direction. */
struct progress {
	size_t since_interruption; /* iterations */
	size_t alike;		   /* the last ones, equal to each other and not to the model */
	size_t first, end;	   /* the last one */
};

static bool is_alike(const struct loop *loop, const struct progress *progress, size_t first,
		     size_t end)
{
	const uint32_t *loose = loop->tokens->loose;

	return progress->alike && end - first == progress->end - progress->first &&
	       !memcmp(&loose[first], &loose[progress->first], (end - first) * sizeof(*loose));
}

/* Whether the sequence goes on with [first, end).  Enough iterations that are alike are a loop of
 * their own. */
static bool goes_on(struct progress *progress, const struct loop *loop, size_t first, size_t end)
{
	size_t unequal;

	if (first == end)
		return false;
	unequal = count_unequal(loop, first, end);
	progress->alike = !unequal				 ? 0
			  : is_alike(loop, progress, first, end) ? progress->alike + 1
								 : 1;
	progress->first = first;
	progress->end = end;
	if (progress->alike == SEQUENCE_LEAST_ITERATIONS)
		return false;
	progress->since_interruption++;
	if (unequal <= slack_of(loop))
		return true;
	if (progress->since_interruption > INTERRUPTED_EVERY)
		return false;
	progress->since_interruption = 0;
	return true;
}

/* Iterations before the model, the first one last, without the model's start. */
static int follow_back(struct iterations *iterations)
{
	size_t end = iterations->loop.model, first;
	struct progress progress = {0};
	int rc = 0;

	for (; rc == 0; end = first) {
		first = find_start(&iterations->loop, end);
		if (!goes_on(&progress, &iterations->loop, first, end))
			break;
		rc = add_start(iterations, first);
	}
	if (progress.alike == SEQUENCE_LEAST_ITERATIONS)
		iterations->count -= SEQUENCE_LEAST_ITERATIONS - 1;
	return rc;
}

static int follow_on(struct iterations *iterations)
{
	size_t first = iterations->loop.model, end;
	struct progress progress = {0};
	int rc = add_start(iterations, first);

	for (; rc == 0; first = end) {
		end = find_end(&iterations->loop, first);
		if (!goes_on(&progress, &iterations->loop, first, end))
			break;
		rc = add_start(iterations, end);
	}
	if (progress.alike == SEQUENCE_LEAST_ITERATIONS)
		iterations->count -= SEQUENCE_LEAST_ITERATIONS - 1;
	/* with what comes after it the last one was refused, not by itself */
	else if (rc == 0 && first != end && is_whole(&iterations->loop, first))
		rc = add_start(iterations, first + iterations->loop.period);
	iterations->count -= rc == 0; /* the last is an end */
	return rc;
}

/* An interruption lies between iterations, not around them. */
static void drop_interrupted_ends(struct iterations *iterations)
{
	size_t first = 0;

	while (iterations->count && is_interrupted(iterations, iterations->count - 1))
		iterations->count--;
	while (first < iterations->count && is_interrupted(iterations, first))
		first++;
	iterations->count -= first;
	memmove(iterations->starts, iterations->starts + first,
		(iterations->count + 1) * sizeof(*iterations->starts));
}

/* The iterations before and after the model, which is one itself. */
static int follow(struct iterations *iterations, const struct loop *loop)
{
	int rc;

	iterations->loop = *loop;
	find_landmarks(&iterations->loop);
	iterations->count = 0;
	rc = follow_back(iterations);
	reverse(iterations->starts, iterations->count);
	if (rc == 0)
		rc = follow_on(iterations);
	if (rc)
		return rc;
	drop_interrupted_ends(iterations);
	compare_with_model(iterations);
	return 0;
}

/* What interrupts only once lies between two sequences. */
static int follow_loop(struct iterations *iterations, const struct loop *loop)
{
	struct loop uninterrupted = *loop;
	int rc = follow(iterations, loop);

	if (rc || iterations->interruptions != 1)
		return rc;
	uninterrupted.is_uninterrupted = true;
	return follow(iterations, &uninterrupted);
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

static double least_share(const struct search *search, const struct loop *loop)
{
	for (size_t i = 0; i < loop->period; i++)
		if (is_read_back(search, loop->model + i))
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
	loop.is_uninterrupted = false;
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

/* What the iterations explain: tokens that are the model's, less those that are not. */
static double worth_of(const struct iterations *iterations)
{
	return 2 * (double)iterations->equal - (double)iterations->compared;
}

/* Also where they are no sequence: to look at them again and again would take too long. */
static size_t where_to_go_on(const struct iterations *iterations)
{
	size_t model_end = iterations->loop.model + iterations->loop.period;
	size_t end = iterations_end(iterations);

	return end > model_end ? end : model_end;
}

static int take_sequence(struct search *search, struct iterations *iterations)
{
	int rc = turn_to_pause(search, iterations);

	return rc ? rc : add_sequence(search, iterations);
}

/* The sequences of a period whose model lies in [first, end): adds up what they explain, or takes
 * them, which then may reach as far as the loop says. */
static int go_through(struct search *search, struct loop loop, size_t first, size_t end, bool takes,
		      double *worth)
{
	struct iterations iterations = {0};
	int rc = 0;

	*worth = 0;
	while (rc == 0 && find_model(&loop, first, end)) {
		if (!takes)
			loop.floor = first;
		rc = follow_loop(&iterations, &loop);
		if (rc)
			break;
		first = where_to_go_on(&iterations);
		if (!is_sequence(&iterations))
			continue;
		*worth += worth_of(&iterations);
		if (takes)
			rc = take_sequence(search, &iterations);
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
		struct loop loop = {.tokens = &search->tokens,
				    .period = search->periods.items[i],
				    .floor = first,
				    .ceiling = end};

		if (loop.period >= found->loop.period)
			break;
		if (!find_model(&loop, first, end))
			continue;
		rc = go_through(search, loop, first, end, false, &worth);
		if (rc == 0 && worth >= least_share(search, &loop) * worth_of(found)) {
			*shorter = loop.period;
			break;
		}
	}
	return rc;
}

/* The sequences around the loop's model, if there are any.  *end: where to go on. */
static int search_loop(struct search *search, struct iterations *iterations,
		       const struct loop *loop, size_t *end)
{
	struct loop shorter = *loop;
	size_t first;
	double worth;
	int rc = follow_loop(iterations, loop);

	if (rc)
		return rc;
	*end = where_to_go_on(iterations);
	first = iterations->starts[0];
	if (!is_sequence(iterations)) {
		search->wasted += iterations_end(iterations) - first;
		return 0;
	}
	rc = find_shorter_period(search, iterations, &shorter.period);
	if (rc == 0 && shorter.period)
		return go_through(search, shorter, first, iterations_end(iterations), true, &worth);
	return rc ? rc : take_sequence(search, iterations);
}

/* A stretch has several sequences where something else lies between them. */
static int search_stretch(struct search *search, const struct stretch *stretch)
{
	size_t at = stretch->first, count = search->tokens.count;
	size_t reach = search->wasted > WASTE_MOST * count ? stretch->end - at : count;
	struct loop loop = {.tokens = &search->tokens,
			    .period = stretch->period,
			    .floor = at > reach ? at - reach : 0,
			    .ceiling = count - stretch->end > reach ? stretch->end + reach : count};
	struct iterations iterations = {0};
	int rc = 0;

	while (rc == 0 && find_model(&loop, at, stretch->end)) {
		rc = search_loop(search, &iterations, &loop, &at);
		loop.floor = at;
	}
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

static int search_thread(struct search *search, const struct submitted *submitted)
{
	int rc = tokens_build(&search->tokens, search->profile, submitted,
			      &search->profile->threads[search->thread]);

	search->wasted = 0;
	if (rc == 0 && search->tokens.count >= SEQUENCE_LEAST_ITERATIONS)
		rc = search_rounds(search);
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
