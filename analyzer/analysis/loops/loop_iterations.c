#include "analysis/loops/loop_iterations.h"

#include "base/array.h"
#include "analysis/loops/loops.h"

#include <errno.h>
#include <string.h>

#define LEAST_REGULARITY 0.5
/* Something else between two iterations, such as what is around an inner loop, is of the loop
 * when it comes again within so many iterations; else it lies between two loops. */
#define INTERRUPTED_EVERY 32
#define INTERRUPTION_LONGEST 4
#define LANDMARK_LONGEST 64

/* ---- one iteration ---- */

/* Whether the tokens from first on are those of the model from offset on. */
static bool tokens_match(const struct candidate *candidate, size_t first, size_t offset,
			 size_t length)
{
	const uint32_t *loose = candidate->tokens->loose;

	return first + length <= candidate->tokens->count &&
	       !memcmp(&loose[first], &loose[candidate->model + offset], length * sizeof(*loose));
}

bool iterations_is_whole(const struct candidate *candidate, size_t first)
{
	return first + candidate->period <= candidate->ceiling &&
	       tokens_match(candidate, first, 0, candidate->period);
}

static bool is_head(const struct candidate *candidate, size_t first)
{
	return candidate->head_length && tokens_match(candidate, first, 0, candidate->head_length);
}

static bool is_after_tail(const struct candidate *candidate, size_t end)
{
	return candidate->tail_length && end >= candidate->tail_length &&
	       tokens_match(candidate, end - candidate->tail_length,
			    candidate->period - candidate->tail_length, candidate->tail_length);
}

/* Whether the model's tokens from offset on are seen at no other place of a period. */
static bool is_unique(const struct candidate *candidate, size_t offset, size_t length)
{
	const uint32_t *model = &candidate->tokens->loose[candidate->model];

	for (size_t shift = 1; shift < candidate->period; shift++) {
		size_t i = 0;

		while (i < length &&
		       model[offset + i] == model[(offset + shift + i) % candidate->period])
			i++;
		if (i == length)
			return false;
	}
	return true;
}

static void find_landmarks(struct candidate *candidate)
{
	size_t longest =
		candidate->period < LANDMARK_LONGEST ? candidate->period : LANDMARK_LONGEST;

	/* the shortest survive more of what is different */
	candidate->head_length = candidate->tail_length = 0;
	for (size_t length = longest; length > 0; length /= 2) {
		if (is_unique(candidate, 0, length))
			candidate->head_length = length;
		if (is_unique(candidate, candidate->period - length, length))
			candidate->tail_length = length;
	}
}

/* How many tokens may be too many, too few or different. */
static size_t slack_of(const struct candidate *candidate)
{
	return candidate->period < 4 ? 1 : candidate->period / 2;
}

static size_t most_unequal(const struct candidate *candidate)
{
	size_t slack = slack_of(candidate);

	return candidate->is_uninterrupted || slack > INTERRUPTION_LONGEST ? slack
									   : INTERRUPTION_LONGEST;
}

/* Tokens at the beginning and at the end of [first, end) that are those of the model. */
static size_t count_equal(const struct candidate *candidate, size_t first, size_t end, size_t *head)
{
	const uint32_t *loose = candidate->tokens->loose, *model = &loose[candidate->model];
	size_t most = end - first < candidate->period ? end - first : candidate->period, tail = 0;

	*head = 0;
	while (*head < most && loose[first + *head] == model[*head])
		(*head)++;
	while (tail < most - *head && loose[end - 1 - tail] == model[candidate->period - 1 - tail])
		tail++;
	return *head + tail;
}

static size_t longer(const struct candidate *candidate, size_t length)
{
	return length > candidate->period ? length : candidate->period;
}

static size_t count_unequal(const struct candidate *candidate, size_t first, size_t end)
{
	size_t head;

	return longer(candidate, end - first) - count_equal(candidate, first, end, &head);
}

static bool is_iteration(const struct candidate *candidate, size_t first, size_t end)
{
	size_t unequal = count_unequal(candidate, first, end);

	return unequal <= most_unequal(candidate) && unequal < longer(candidate, end - first);
}

static size_t shortest_iteration(const struct candidate *candidate)
{
	return (candidate->period + 1) / 2;
}

static size_t longest_iteration(const struct candidate *candidate)
{
	return candidate->period + most_unequal(candidate);
}

/* The next place after first where is_border holds, if [first, it) is an iteration; else first. */
static size_t find_border(const struct candidate *candidate, size_t first,
			  bool (*is_border)(const struct candidate *candidate, size_t token))
{
	const uint32_t *loose = candidate->tokens->loose;
	size_t shortest = shortest_iteration(candidate),
	       last = first + longest_iteration(candidate);

	for (size_t i = first; i <= candidate->ceiling && i <= last; i++) {
		if (i >= first + shortest && is_border(candidate, i))
			return is_iteration(candidate, first, i) ? i : first;
		if (i == candidate->ceiling || loose[i] == TOKEN_TAKEN)
			break;
	}
	return first;
}

static size_t better_border(const struct candidate *candidate, size_t fixed, size_t by_head,
			    size_t by_tail)
{
	size_t unequal_by_head, unequal_by_tail;

	if (by_tail == fixed)
		return by_head;
	if (by_head == fixed)
		return by_tail;
	unequal_by_head = by_head < fixed ? count_unequal(candidate, by_head, fixed)
					  : count_unequal(candidate, fixed, by_head);
	unequal_by_tail = by_tail < fixed ? count_unequal(candidate, by_tail, fixed)
					  : count_unequal(candidate, fixed, by_tail);
	return unequal_by_tail < unequal_by_head ? by_tail : by_head;
}

/*
 * Where the iteration that begins at first ends; first itself when it is none.  What comes after a
 * whole one belongs to it if it is little, to the next one otherwise.
 */
static size_t find_end(const struct candidate *candidate, size_t first)
{
	bool is_usual = iterations_is_whole(candidate, first);
	size_t end;

	if (is_usual && is_head(candidate, first + candidate->period))
		return first + candidate->period;
	end = find_border(candidate, first, is_head);
	if (is_usual &&
	    (end == first || count_unequal(candidate, first, end) > slack_of(candidate)))
		return first + candidate->period;
	if (is_usual)
		return end;
	return better_border(candidate, first, end, find_border(candidate, first, is_after_tail));
}

/* The last place before end where is_border holds, if [it, end) is an iteration; else end. */
static size_t find_border_back(const struct candidate *candidate, size_t end,
			       bool (*is_border)(const struct candidate *candidate, size_t token))
{
	const uint32_t *loose = candidate->tokens->loose;
	size_t shortest = shortest_iteration(candidate), longest = longest_iteration(candidate);

	for (size_t i = end;
	     i-- > candidate->floor && end - i <= longest && loose[i] != TOKEN_TAKEN;)
		if (end - i >= shortest && is_border(candidate, i))
			return is_iteration(candidate, i, end) ? i : end;
	return end;
}

/* Where the iteration that ends at end began; end itself when there is none. */
static size_t find_start(const struct candidate *candidate, size_t end)
{
	if (end >= candidate->floor + candidate->period &&
	    iterations_is_whole(candidate, end - candidate->period))
		return end - candidate->period;
	return better_border(candidate, end, find_border_back(candidate, end, is_head),
			     find_border_back(candidate, end, is_after_tail));
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
	return count_unequal(&iterations->candidate, iterations->starts[i],
			     iterations->starts[i + 1]) > slack_of(&iterations->candidate);
}

static void compare_with_model(struct iterations *iterations)
{
	const struct candidate *candidate = &iterations->candidate;
	const uint32_t *strict = candidate->tokens->strict;

	iterations->compared = iterations->equal = iterations->equal_strict = 0;
	iterations->interruptions = 0;
	for (size_t i = 0; i < iterations->count; i++) {
		size_t first = iterations->starts[i], end = iterations->starts[i + 1], head;
		size_t equal = count_equal(candidate, first, end, &head);

		iterations->interruptions += is_interrupted(iterations, i);
		iterations->compared += longer(candidate, end - first);
		iterations->equal += equal;
		for (size_t k = 0; k < equal; k++)
			iterations->equal_strict +=
				k < head ? strict[first + k] == strict[candidate->model + k]
					 : strict[end - 1 - (k - head)] ==
						   strict[candidate->model + candidate->period - 1 -
							  (k - head)];
	}
}

/* How a loop went on until now, in one direction. */
struct progress {
	size_t since_interruption; /* iterations */
	size_t alike;		   /* the last ones, equal to each other and not to the model */
	size_t first, end;	   /* the last one */
};

static bool is_alike(const struct candidate *candidate, const struct progress *progress,
		     size_t first, size_t end)
{
	const uint32_t *loose = candidate->tokens->loose;

	return progress->alike && end - first == progress->end - progress->first &&
	       !memcmp(&loose[first], &loose[progress->first], (end - first) * sizeof(*loose));
}

/* Whether the loop goes on with [first, end).  Enough iterations that are alike are a loop of
 * their own. */
static bool goes_on(struct progress *progress, const struct candidate *candidate, size_t first,
		    size_t end)
{
	size_t unequal;

	if (first == end)
		return false;
	unequal = count_unequal(candidate, first, end);
	progress->alike = !unequal				      ? 0
			  : is_alike(candidate, progress, first, end) ? progress->alike + 1
								      : 1;
	progress->first = first;
	progress->end = end;
	if (progress->alike == LOOP_LEAST_ITERATIONS)
		return false;
	progress->since_interruption++;
	if (unequal <= slack_of(candidate))
		return true;
	if (progress->since_interruption > INTERRUPTED_EVERY)
		return false;
	progress->since_interruption = 0;
	return true;
}

/* Iterations before the model, the first one last, without the model's start. */
static int follow_back(struct iterations *iterations)
{
	size_t end = iterations->candidate.model, first;
	struct progress progress = {0};
	int rc = 0;

	for (; rc == 0; end = first) {
		first = find_start(&iterations->candidate, end);
		if (!goes_on(&progress, &iterations->candidate, first, end))
			break;
		rc = add_start(iterations, first);
	}
	if (progress.alike == LOOP_LEAST_ITERATIONS)
		iterations->count -= LOOP_LEAST_ITERATIONS - 1;
	return rc;
}

static int follow_on(struct iterations *iterations)
{
	size_t first = iterations->candidate.model, end;
	struct progress progress = {0};
	int rc = add_start(iterations, first);

	for (; rc == 0; first = end) {
		end = find_end(&iterations->candidate, first);
		if (!goes_on(&progress, &iterations->candidate, first, end))
			break;
		rc = add_start(iterations, end);
	}
	if (progress.alike == LOOP_LEAST_ITERATIONS)
		iterations->count -= LOOP_LEAST_ITERATIONS - 1;
	/* with what comes after it the last one was refused, not by itself */
	else if (rc == 0 && first != end && iterations_is_whole(&iterations->candidate, first))
		rc = add_start(iterations, first + iterations->candidate.period);
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
static int follow(struct iterations *iterations, const struct candidate *candidate)
{
	int rc;

	iterations->candidate = *candidate;
	find_landmarks(&iterations->candidate);
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

/* What interrupts only once lies between two loops. */
int iterations_follow(struct iterations *iterations, const struct candidate *candidate)
{
	struct candidate uninterrupted = *candidate;
	int rc = follow(iterations, candidate);

	if (rc || iterations->interruptions != 1)
		return rc;
	uninterrupted.is_uninterrupted = true;
	return follow(iterations, &uninterrupted);
}

double iterations_regularity(const struct iterations *iterations)
{
	return iterations->compared ? (double)iterations->equal / (double)iterations->compared : 0;
}

bool iterations_are_loop(const struct iterations *iterations)
{
	return iterations->count >= LOOP_LEAST_ITERATIONS &&
	       iterations_regularity(iterations) >= LEAST_REGULARITY;
}

size_t iterations_end(const struct iterations *iterations)
{
	return iterations->starts[iterations->count];
}

void iterations_swap(struct iterations *a, struct iterations *b)
{
	struct iterations kept = *a;

	*a = *b;
	*b = kept;
}
