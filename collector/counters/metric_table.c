#include "counters/metric_table.h"

#include "roofline/metric_names.h"

#include <stdio.h>
#include <string.h>

static const struct {
	enum metric_role role;
	const char *counters;
} answers[] = {
#define ANSWER_ROW(role, counters) {METRIC_##role, counters},
	METRIC_NAMES(ANSWER_ROW)
#undef ANSWER_ROW
};

static const struct {
	const char *name;
	enum counter_set set;
} roles[] = {
#define ROLE_ROW(role, set, meaning) {#role, COUNTER_SET_##set},
	METRICS(ROLE_ROW)
#undef ROLE_ROW
};

static const char *const set_names[] = {
#define SET_NAME(name, meaning) #name,
	COUNTER_SETS(SET_NAME)
#undef SET_NAME
};

static int find_set(const char *word)
{
	for (int i = 0; i < COUNTER_SET_COUNT; i++)
		if (!strcmp(word, set_names[i]))
			return i;
	return -1;
}

enum metric_word metric_table_word(const char *word)
{
	if (find_set(word) >= 0)
		return WORD_SET;
	return strstr(word, "__") ? WORD_COUNTER : WORD_UNKNOWN;
}

static bool is_tensor_type(enum metric_role role)
{
	return role >= METRIC_tensor_fp64_ops && role <= METRIC_tensor_int8_ops;
}

static struct metric_choice *find_name(struct metric_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->choices[i].name, name))
			return &list->choices[i];
	return NULL;
}

static void add(struct metric_list *list, const char *name, size_t length, enum metric_role role)
{
	struct metric_choice *choice = *name ? find_name(list, name) : NULL;

	if (choice && choice->role == METRIC_NONE) { /* asked for by name before its set */
		choice->role = role;
		return;
	}
	choice = &list->choices[list->count];
	if (list->count == METRIC_LIMIT || length >= sizeof(choice->name))
		return;
	*choice = (struct metric_choice){.role = role};
	memcpy(choice->name, name, length);
	choice->is_patched = strstr(choice->name, "__sass_") != NULL;
	list->count++;
}

/* One counter of an answer, and what follows it. */
struct part {
	char name[METRIC_NAME_BYTES];
	const char *rest;
};

static bool next_part(struct part *part)
{
	size_t length = strcspn(part->rest, "+");

	if (!length || length >= sizeof(part->name))
		return false;
	memcpy(part->name, part->rest, length);
	part->name[length] = '\0';
	part->rest += length + (part->rest[length] == '+');
	return true;
}

static bool is_usable(const char *counters, metric_passes passes, void *context)
{
	struct part part = {.rest = counters};

	while (next_part(&part))
		if (passes(context, part.name) != 1)
			return false;
	return true;
}

static void add_role(struct metric_list *list, enum metric_role role, metric_passes passes,
		     void *context)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct part part = {.rest = answers[i].counters};

		if (answers[i].role != role || !is_usable(part.rest, passes, context))
			continue;
		while (next_part(&part))
			add(list, part.name, strlen(part.name), role);
		return;
	}
	add(list, "", 0, role);
}

static bool has_role(const struct metric_list *list, enum metric_role role)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->choices[i].role == role)
			return true;
	return false;
}

static void add_set(struct metric_list *list, int set, enum metric_scope scope,
		    metric_passes passes, void *context)
{
	for (int role = 0; role < METRIC_ROLE_COUNT; role++)
		if ((int)roles[role].set == set && !has_role(list, role) &&
		    (scope == SCOPE_ALL || !is_tensor_type(role)))
			add_role(list, role, passes, context);
}

/* Returns NULL or why the counter cannot be had. */
static const char *add_counter(struct metric_list *list, const char *name, unsigned int pass_limit,
			       metric_passes passes, void *context)
{
	unsigned int needed;

	if (find_name(list, name))
		return NULL;
	if (list->count == METRIC_LIMIT)
		return "is one counter too many";
	needed = passes(context, name);
	if (!needed)
		return "is no counter of this chip";
	if (needed > pass_limit)
		return "needs more than one pass: ask for it with --replay";
	add(list, name, strlen(name), METRIC_NONE);
	return NULL;
}

void metric_table_resolve(struct metric_list *list, const char *request, enum metric_scope scope,
			  unsigned int pass_limit, metric_passes passes, void *context,
			  char *refused, size_t size)
{
	char word[METRIC_NAME_BYTES];

	list->count = 0;
	*refused = '\0';
	add_role(list, METRIC_range_ns, passes, context);
	while (*request) {
		size_t length = strcspn(request, ",");
		const char *problem = NULL;

		snprintf(word, sizeof(word), "%.*s", (int)length, request);
		if (find_set(word) >= 0)
			add_set(list, find_set(word), scope, passes, context);
		else if (length >= sizeof(word))
			problem = "is no counter of this chip";
		else if (*word)
			problem = add_counter(list, word, pass_limit, passes, context);
		if (problem && !*refused)
			snprintf(refused, size, "%s %s", word, problem);
		request += length + (request[length] == ',');
	}
}
