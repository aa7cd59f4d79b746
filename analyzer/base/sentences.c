#include "base/sentences.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sentences_add(struct sentences *sentences, const char *format, ...)
{
	char **items = realloc(sentences->items, (sentences->count + 1) * sizeof(*items));
	char text[768];
	va_list arguments;

	if (!items)
		return -ENOMEM;
	sentences->items = items;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	items[sentences->count] = strdup(text);
	if (!items[sentences->count])
		return -ENOMEM;
	sentences->count++;
	return 0;
}

void sentences_free(struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->count; i++)
		free(sentences->items[i]);
	free(sentences->items);
	*sentences = (struct sentences){0};
}
