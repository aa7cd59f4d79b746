#define _GNU_SOURCE
#include "analysis/accesses/parameters.h"

#include <string.h>

/* A part of a name. */
struct text {
	const char *begin, *end;
};

static bool ends_with(struct text text, const char *what)
{
	size_t length = strlen(what);

	return (size_t)(text.end - text.begin) >= length &&
	       !memcmp(text.end - length, what, length);
}

static bool has(struct text text, const char *what)
{
	return memmem(text.begin, (size_t)(text.end - text.begin), what, strlen(what)) != NULL;
}

static bool take_end(struct text *text, const char *what)
{
	bool is_there = ends_with(*text, what);

	if (is_there)
		text->end -= strlen(what);
	return is_there;
}

/* Qualifiers of the parameter itself say nothing of what it points to. */
static struct text without_qualifiers(struct text type)
{
	while (take_end(&type, " ") || take_end(&type, " const") || take_end(&type, " volatile") ||
	       take_end(&type, " restrict") || take_end(&type, " __restrict") ||
	       take_end(&type, " __restrict__"))
		;
	return type;
}

/* "float const (*) [4]" */
static enum parameter_kind kind_of_array(struct text type)
{
	return has(type, " const (*)") ? PARAMETER_READ : PARAMETER_CHANGED;
}

static enum parameter_kind kind_of(struct text type)
{
	type = without_qualifiers(type);
	if (ends_with(type, "]") && has(type, "(*)"))
		return kind_of_array(type);
	if (!take_end(&type, "*"))
		return PARAMETER_VALUE;
	if (ends_with(without_qualifiers(type), "*"))
		return PARAMETER_POINTERS;
	return ends_with(type, " const") || ends_with(type, " const volatile") ? PARAMETER_READ
									       : PARAMETER_CHANGED;
}

static void add(struct parameters *out, struct text type)
{
	enum parameter_kind kind;

	while (type.begin < type.end && *type.begin == ' ')
		type.begin++;
	if (type.begin == type.end || out->count == PARAMETERS_MOST)
		return;
	kind = kind_of(type);
	out->has_const |= kind == PARAMETER_READ;
	out->kinds[out->count++] = (unsigned char)kind;
}

static void add_all(struct parameters *out, struct text types)
{
	const char *begin = types.begin;
	int depth = 0;

	for (const char *at = types.begin; at < types.end; at++) {
		if (strchr("(<[{", *at))
			depth++;
		else if (strchr(")>]}", *at))
			depth--;
		else if (*at == ',' && depth == 0) {
			add(out, (struct text){begin, at});
			begin = at + 1;
		}
	}
	add(out, (struct text){begin, types.end});
}

/* What is between the last parentheses; begin is NULL without any.  A clone of a function says so behind them. */
static struct text find_types(const char *name)
{
	const char *clone = strstr(name, " [clone"), *end = clone ? clone : name + strlen(name);
	int depth = 0;

	if (end == name || end[-1] != ')')
		return (struct text){NULL, NULL};
	for (const char *at = end - 1; at >= name; at--) {
		depth += (*at == ')') - (*at == '(');
		if (depth == 0)
			return (struct text){at + 1, end - 1};
	}
	return (struct text){NULL, NULL};
}

void parameters_of_name(struct parameters *out, const char *demangled)
{
	struct text types = find_types(demangled);

	*out = (struct parameters){.is_known = types.begin != NULL};
	if (types.begin)
		add_all(out, types);
}
