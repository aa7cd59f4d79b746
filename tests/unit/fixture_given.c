#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_given.h"

static const char *add_access(struct given_loop *given, const char *word, int iteration)
{
	static const char kinds[] = {
		[ACCESS_READ] = 'r', [ACCESS_CHANGED] = 'w', [ACCESS_UNTOLD] = 'u'};
	const char *kind = memchr(kinds, *word, sizeof(kinds));
	bool alternates = word[2] == '~';

	assert_non_null(kind);
	given->items[given->accesses.item_count++] = (struct kernel_access){
		.allocation = (uint32_t)(word[1] - 'A' + (alternates && iteration % 2 ? 1 : 0)),
		.kind = (uint32_t)(kind - kinds)};
	word += alternates ? 3 : 2;
	return *word == ',' ? word + 1 : word;
}

static void give(struct given_loop *given, uint32_t op, const char *word, int iteration)
{
	struct access_list *list = &given->lists[given->accesses.list_count];

	if (*word == '?')
		return;
	*list = (struct access_list){.first = (uint32_t)given->accesses.item_count,
				     .is_whole = true};
	while (*word && *word != ' ' && *word != '*')
		word = add_access(given, word, iteration);
	list->count = (uint32_t)given->accesses.item_count - list->first;
	list->varies = *word == '*';
	given->of_op[op] = (uint32_t)given->accesses.list_count++;
}

static const char *next_word(const char *words, const char *word)
{
	const char *space = strchr(word, ' ');

	return space ? space + 1 : words;
}

static void give_all(struct given_loop *given, const char *words)
{
	const struct profile *profile = &given->loop.b->profile;
	const char *word = words;
	int iteration = 0;

	for (uint32_t i = 0; i < profile->op_count; i++) {
		given->of_op[i] = PROFILE_NONE;
		if (profile->ops[i].kind != OP_KERNEL)
			continue;
		give(given, i, word, iteration);
		word = next_word(words, word);
		iteration += word == words;
	}
}

struct given_loop *given_loop_of(const char *usual, const char *words)
{
	struct given_loop *given = calloc(1, sizeof(*given));

	assert_non_null(given);
	given->loop = loop_of(usual);
	given->loop.b->devices[0].sm_count = 4;
	for (int i = 0; i < 26; i++)
		given->allocations[i].memory = i == 'H' - 'A' ? MEMORY_PINNED : 3;
	given->loop.b->profile.allocations = given->allocations;
	given->accesses = (struct accesses){.of_op = given->of_op,
					    .lists = given->lists,
					    .items = given->items};
	give_all(given, words);
	given->report.accesses = &given->accesses;
	given->loop.run.report = &given->report;
	return given;
}

void given_free(struct given_loop *given)
{
	loop_free(&given->loop);
	free(given);
}
