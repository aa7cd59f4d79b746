#include "base/strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(node) ((node)->is_lost = true)
#include <uthash.h>

struct string {
	uint32_t number;
	bool is_lost; /* uthash found no memory for it */
	UT_hash_handle hh;
	char text[];
};

struct strings {
	struct string *all;
};

struct strings *strings_create(void)
{
	return calloc(1, sizeof(struct strings));
}

static struct string *strings_find_or_add(struct strings *strings, const char *text)
{
	size_t length = strlen(text);
	struct string *string;

	HASH_FIND(hh, strings->all, text, length, string);
	if (string)
		return string;
	string = calloc(1, sizeof(*string) + length + 1);
	if (!string)
		return NULL;
	memcpy(string->text, text, length);
	string->number = HASH_COUNT(strings->all);
	HASH_ADD_KEYPTR(hh, strings->all, string->text, length, string);
	if (string->is_lost) {
		free(string);
		return NULL;
	}
	return string;
}

const char *strings_intern(struct strings *strings, const char *text)
{
	const struct string *string = strings_find_or_add(strings, text);

	return string ? string->text : NULL;
}

uint32_t strings_number(struct strings *strings, const char *text)
{
	const struct string *string = strings_find_or_add(strings, text);

	return string ? string->number : UINT32_MAX;
}

void strings_free(struct strings *strings)
{
	struct string *string, *next;

	if (!strings)
		return;
	HASH_ITER(hh, strings->all, string, next)
	{
		HASH_DEL(strings->all, string);
		free(string);
	}
	free(strings);
}
