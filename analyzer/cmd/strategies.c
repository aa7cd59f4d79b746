#include "cmd/strategies.h"

#include <stdio.h>
#include <string.h>

#include "cmd/usage.h"

/* An option for each strategy: its constant, from here on. */
enum { KEY_STRATEGY = 256 };

static const struct argp_option option_table[] = {
	{"graph", KEY_STRATEGY + STRATEGY_GRAPH, NULL, 0,
	 "each iteration of a repeating loop is one launch of a CUDA graph", 0},
	{"fewer-waits", KEY_STRATEGY + STRATEGY_FEWER_WAITS, NULL, 0,
	 "no waits of loops after which the host reads nothing", 0},
	{"decide", KEY_STRATEGY + STRATEGY_DECIDE, NULL, 0,
	 "the device decides what the host reads a few bytes for", 0},
	{"overlap", KEY_STRATEGY + STRATEGY_OVERLAP, NULL, 0,
	 "copies beside kernels: iterations in turn in three streams, from pinned memory", 0},
	{"pinned", KEY_STRATEGY + STRATEGY_PINNED, NULL, 0,
	 "copies of pageable memory are of pinned memory", 0},
	{"preallocate", KEY_STRATEGY + STRATEGY_PREALLOCATE, NULL, 0,
	 "memory of loops is allocated before them", 0},
	{"streams", KEY_STRATEGY + STRATEGY_CONCURRENT, NULL, 0,
	 "small kernels of an iteration side by side, as if none needed another's result", 0},
	{"persistent", KEY_STRATEGY + STRATEGY_PERSISTENT, NULL, 0,
	 "a loop of kernels is one kernel with grid-wide barriers", 0},
	{"queue", KEY_STRATEGY + STRATEGY_QUEUE, NULL, 0,
	 "kernels whose SMs have unequal shares take work items from a queue", 0},
	{"fuse", KEY_STRATEGY + STRATEGY_FUSE, NULL, 0,
	 "neighbours of an iteration with the same grid are one kernel", 0},
	{"dependent", KEY_STRATEGY + STRATEGY_DEPENDENT, NULL, 0,
	 "a kernel has been set up when the one before it ends", 0},
	{0},
};

/* One that was given before keeps its place. */
static void add_strategy(struct strategies *strategies, enum strategy strategy)
{
	for (size_t i = 0; i < strategies->count; i++)
		if (strategies->items[i] == strategy)
			return;
	strategies->items[strategies->count++] = strategy;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	(void)argument;
	if (key < KEY_STRATEGY || key >= KEY_STRATEGY + STRATEGY_COUNT)
		return ARGP_ERR_UNKNOWN;
	add_strategy(state->input, (enum strategy)(key - KEY_STRATEGY));
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
