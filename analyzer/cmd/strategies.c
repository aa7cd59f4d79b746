#include "cmd/strategies.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/usage.h"

/* An option for each strategy: its constant, from here on. */
enum { KEY_STRATEGY = 256 };

#define ARGUMENT_NONE NULL, 0
#define ARGUMENT_RANGE "RANGE", OPTION_ARG_OPTIONAL
#define ARGUMENT_N "N", 0

#define STRATEGY_OPTION(constant, name, option, argument, help, changed) \
	{option, KEY_STRATEGY + STRATEGY_##constant, ARGUMENT_##argument, help, 0},

static const struct argp_option option_table[] = {STRATEGIES(STRATEGY_OPTION){0}};

/* One that was given before keeps its place. */
static void add_strategy(struct strategies *strategies, enum strategy strategy)
{
	for (size_t i = 0; i < strategies->count; i++)
		if (strategies->items[i] == strategy)
			return;
	strategies->items[strategies->count++] = strategy;
}

/* Of those whose option takes N, from 2 on. */
static const struct {
	const char *what;
	uint64_t most;
} numbers[STRATEGY_COUNT] = {
	[STRATEGY_BATCH] = {"a number of atomics", ATOMICS_BATCH_MOST},
	[STRATEGY_AGGREGATE] = {"a number of atomics", ATOMICS_BATCH_MOST},
	[STRATEGY_NARROW] = {"a whole factor", NARROW_MOST},
};

static uint64_t parse_number(enum strategy strategy, const char *text, struct argp_state *state)
{
	char *end;
	long long number = strtoll(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number < 2 ||
	    number > (long long)numbers[strategy].most)
		usage_fail(state, "--%s: '%s' is not %s from 2 to %" PRIu64,
			   strategy_option(strategy), text, numbers[strategy].what,
			   numbers[strategy].most);
	return (uint64_t)number;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct strategies *strategies = state->input;
	enum strategy strategy = (enum strategy)(key - KEY_STRATEGY);

	if (key < KEY_STRATEGY || key >= KEY_STRATEGY + STRATEGY_COUNT)
		return ARGP_ERR_UNKNOWN;
	if (strategy_has_number(strategy))
		strategies->numbers[strategy] = parse_number(strategy, argument, state);
	else
		strategies->ranges[strategy] = argument;
	add_strategy(strategies, strategy);
	return 0;
}

const struct argp strategies_argp = {.options = option_table, .parser = parse_option};

void strategies_require(const struct strategies *strategies, struct argp_state *state)
{
	char list[256] = "";

	if (strategies->count)
		return;
	for (int i = 0; i < STRATEGY_COUNT; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s--%s", i ? ", " : "",
			 strategy_option((enum strategy)i));
	}
	usage_fail(state, "which strategy? there are %s", list);
}

/* ---- a range after a space ---- */

/* The name of an option that takes a range, of which none is in that word, which may be cut short; NULL: it is none. */
static const char *option_without_range(const char *word)
{
	for (const struct argp_option *option = option_table; option->name; option++)
		if ((option->flags & OPTION_ARG_OPTIONAL) && !strncmp(word, "--", 2) && word[2] &&
		    !strncmp(word + 2, option->name, strlen(word + 2)))
			return option->name;
	return NULL;
}

/* The option right before an argument, which may be NULL. */
static const char *option_before(const struct argp_state *state, const char *argument)
{
	for (int i = 2; argument && i < state->argc; i++)
		if (state->argv[i] == argument)
			return option_without_range(state->argv[i - 1]);
	return NULL;
}

bool strategies_find_space(struct remedy *remedy, const struct argp_state *state,
			   const char *argument)
{
	const char *option = option_before(state, argument);

	remedy->text[0] = '\0';
	if (option)
		snprintf(remedy->text, sizeof(remedy->text), "; for a range write --%s=%s", option,
			 argument);
	return option;
}

struct remedy strategies_remedy(const struct argp_state *state, const char *before,
				const char *argument)
{
	struct remedy remedy;
	bool is_before = option_before(state, before) && access(before, F_OK) < 0 &&
			 !(option_before(state, argument) && access(argument, F_OK) < 0);

	strategies_find_space(&remedy, state, is_before ? before : argument);
	return remedy;
}
