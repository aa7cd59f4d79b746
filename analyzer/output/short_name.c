#include "output/short_name.h"

#include <stdbool.h>
#include <string.h>

/* Copies what stands outside <> and before the parameters; "<>" marks what was left out. */
static void drop_arguments(char *buffer, size_t size, const char *name)
{
	size_t length = 0;
	int depth = 0;

	for (const char *c = name; *c && length + 3 < size; c++) {
		bool is_operator = length >= 8 && !strncmp(buffer + length - 8, "operator", 8);

		if (*c == '(' && depth == 0 && strncmp(c, "(anonymous", 10) && !is_operator && c != name)
			break;
		if (*c == '<' && !is_operator && depth++ == 0)
			buffer[length++] = '<';
		if (depth == 0)
			buffer[length++] = *c;
		if (*c == '>' && depth > 0 && --depth == 0)
			buffer[length++] = '>';
	}
	buffer[length] = '\0';
}

static void drop_prefix(char *text, const char *end)
{
	memmove(text, end, strlen(end) + 1);
}

/* A return type stands before the last blank outside of parentheses: "void ns::f". */
static void drop_return_type(char *text)
{
	char *blank = strrchr(text, ' ');

	if (blank && !strchr(blank, ')') && blank[1] && strncmp(blank - 8 < text ? text : blank - 8, "operator", 8))
		drop_prefix(text, blank + 1);
}

static void drop_namespaces(char *text, size_t limit)
{
	char *colons;

	while (strlen(text) > limit && (colons = strstr(text, "::")) && colons[2])
		drop_prefix(text, colons + 2);
}

static void cut(char *text, size_t limit)
{
	size_t end = limit > 2 ? limit - 2 : 0;

	if (strlen(text) <= limit)
		return;
	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	strcpy(text + end, limit > 2 ? ".." : "");
}

void short_name(char *buffer, size_t size, const char *name, size_t limit)
{
	drop_arguments(buffer, size, name);
	drop_return_type(buffer);
	drop_namespaces(buffer, limit);
	cut(buffer, limit);
}
