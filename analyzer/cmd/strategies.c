#include "cmd/strategies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/usage.h"

/* An option for each strategy: its constant, from here on. */
enum { KEY_STRATEGY = 256 };

#define STRATEGY_OPTION(constant, name, option, argument, help, changed) \
	{option, KEY_STRATEGY + STRATEGY_##constant, argument, 0, help, 0},

static const struct argp_option option_table[] = {STRATEGIES(STRATEGY_OPTION){0}};

/* One that was given before keeps its place. */
static void add_strategy(struct strategies *strategies, enum strategy strategy)
{
	for (size_t i = 0; i < strategies->count; i++)
		if (strategies->items[i] == strategy)
			return;
	strategies->items[strategies->count++] = strategy;
}

static uint64_t parse_batch(const char *text, struct argp_state *state)
{
	char *end;
	long long batch = strtoll(text, &end, 10);

	if (end == text || *end || batch < 2 || batch > (long long)ATOMICS_BATCH_MOST)
		usage_fail(state, "--batch: '%s' is not a number of atomics from 2 to %" PRIu64,
			   text, ATOMICS_BATCH_MOST);
	return (uint64_t)batch;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct strategies *strategies = state->input;

	if (key < KEY_STRATEGY || key >= KEY_STRATEGY + STRATEGY_COUNT)
		return ARGP_ERR_UNKNOWN;
	if (key == KEY_STRATEGY + STRATEGY_BATCH)
		strategies->batch = parse_batch(argument, state);
	add_strategy(strategies, (enum strategy)(key - KEY_STRATEGY));
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
