#include "cmd/technique_options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/usage.h"
#include "trace/recording.h"

/* An option for each technique: its enum technique_id, from here on. */
enum { KEY_TECHNIQUE = 256 };

static struct argp_option option_table[TECHNIQUE_COUNT + 1];

static void fill_option(struct argp_option *option, const struct technique *technique, int key)
{
	static const char *const arguments[] = {
		[ARGUMENT_NONE] = NULL, [ARGUMENT_RANGE] = "RANGE", [ARGUMENT_NUMBER] = "N"};

	*option = (struct argp_option){
		.name = technique->option,
		.key = key,
		.arg = arguments[technique->argument],
		.flags = technique->argument == ARGUMENT_RANGE ? OPTION_ARG_OPTIONAL : 0,
		.doc = technique->help,
	};
}

void technique_options_open(void)
{
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		fill_option(&option_table[i], techniques[i], KEY_TECHNIQUE + i);
}

/* One that was given before keeps its place. */
static void add_technique(struct chosen_techniques *chosen, enum technique_id id)
{
	for (size_t i = 0; i < chosen->count; i++)
		if (chosen->items[i] == id)
			return;
	chosen->items[chosen->count++] = id;
}

static uint64_t parse_number(const struct technique *technique, const char *text,
			     struct argp_state *state)
{
	char *end;
	long long number = strtoll(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number < 2 ||
	    number > (long long)technique->number_most)
		usage_fail(state, "--%s: '%s' is not %s from 2 to %" PRIu64, technique->option,
			   text, technique->number_is, technique->number_most);
	return (uint64_t)number;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct chosen_techniques *chosen = state->input;
	enum technique_id id = (enum technique_id)(key - KEY_TECHNIQUE);

	if (key < KEY_TECHNIQUE || key >= KEY_TECHNIQUE + TECHNIQUE_COUNT)
		return ARGP_ERR_UNKNOWN;
	if (techniques[id]->argument == ARGUMENT_NUMBER)
		chosen->numbers[id] = parse_number(techniques[id], argument, state);
	else
		chosen->ranges[id] = argument;
	add_technique(chosen, id);
	return 0;
}

const struct argp technique_options_argp = {.options = option_table, .parser = parse_option};

void technique_options_require(const struct chosen_techniques *chosen, struct argp_state *state)
{
	char list[512] = "";

	if (chosen->count)
		return;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s--%s", i ? ", " : "",
			 techniques[i]->option);
	}
	usage_fail(state, "which technique? there are %s", list);
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

bool technique_options_find_space(struct remedy *remedy, const struct argp_state *state,
				  const char *argument)
{
	const char *option = option_before(state, argument);

	remedy->text[0] = '\0';
	if (option)
		snprintf(remedy->text, sizeof(remedy->text), "; for a range write --%s=%s", option,
			 argument);
	return option;
}

struct remedy technique_options_remedy(const struct argp_state *state, const char *before,
				       const char *argument)
{
	struct remedy remedy;
	bool is_before = option_before(state, before) && !recording_is_there(before) &&
			 !(option_before(state, argument) && !recording_is_there(argument));

	(void)technique_options_find_space(&remedy, state, is_before ? before : argument);
	return remedy;
}
