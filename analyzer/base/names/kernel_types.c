#include "base/names/kernel_types.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/kernel_parts.h"

#define DEPTH_MOST 12 /* templates within templates: further ones are shown as they are */

/* ---- types ---- */

static bool is_number(struct slice text)
{
	size_t digits = text.length && text.at[0] == '-';
	size_t start = digits;

	while (digits < text.length && isdigit((unsigned char)text.at[digits]))
		digits++;
	return digits > start && slice_from(text, digits).length <= 3 &&
	       strspn(text.at + digits, "ul") >= text.length - digits;
}

/* 3ul, and (ns::color)3 where a cast tells the type of the constant. */
static struct slice number_in(struct slice text)
{
	struct slice rest;

	if (text.length && text.at[0] == '(') {
		(void)name_in_brackets(text, 0, &rest);
		text = rest;
	}
	return is_number(text) ? text : (struct slice){text.at, 0};
}

static void put_number(struct slice_text *out, struct slice number)
{
	while (number.length && strchr("ul", number.at[number.length - 1]))
		number.length--;
	slice_text_put(out, number);
}

/* A length that is a type: cute::C<128>, std::integral_constant<int, 128>. */
struct slice type_constant(struct slice type)
{
	struct slice base, inside, rest, qualifier, items[3];
	size_t count;

	if (!name_split_template(name_last(type, &qualifier), &base, &inside, &rest) || rest.length)
		return number_in(type);
	count = name_split(inside, items, 3);
	if ((count == 1 && slice_is(base, "C")) ||
	    (count == 2 && (slice_is(base, "constant") || slice_is(base, "integral_constant"))))
		return number_in(items[count - 1]);
	return (struct slice){type.at, 0};
}

long type_number_value(struct slice number)
{
	return number.length ? strtol(number.at, NULL, 10) : 0;
}

/* 128x64x32 of the tiles of CUTLASS; false where it is another type. */
bool type_put_tile(struct slice_text *out, struct slice base, struct slice arguments)
{
	static const char *const tiles[] = {"tuple", "GemmShape", "MatrixShape"};
	struct slice items[5];
	size_t count = name_split(arguments, items, 5);
	bool is_tile = false;

	for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
		is_tile = is_tile || slice_is(base, tiles[i]);
	for (size_t i = 0; i < count; i++)
		is_tile = is_tile && type_constant(items[i]).length;
	if (!is_tile || count < 2 || count > 4)
		return false;
	for (size_t i = 0; i < count; i++) {
		slice_text_puts(out, i ? "x" : "");
		put_number(out, type_constant(items[i]));
	}
	return true;
}

static void put_types(struct slice_text *out, struct slice list, unsigned depth)
{
	const char *separator = "";

	while (list.length) {
		size_t end = slice_next_outside(list, 0, ",");

		slice_text_puts(out, separator);
		type_put(out, slice_trim((struct slice){list.at, end}), depth);
		list = slice_from(list, end + 1);
		separator = ", ";
	}
}

static struct slice last_of(struct slice qualifier)
{
	struct slice before;

	return name_last(qualifier, &before);
}

/* Names that say nothing without the one before them: thrust's fill::functor. */
static bool is_common_name(struct slice name)
{
	return slice_is(name, "functor") || slice_is(name, "Functor");
}

static bool is_lambda(struct slice name)
{
	return slice_begins(name, "{lambda(");
}

/* The function whose lambda text is, and the innermost lambda; false where it is none. */
static bool find_lambda(struct slice text, struct slice *function, struct slice *lambda)
{
	struct slice qualifier, name = name_last(text, &qualifier);
	bool is_member;

	if (!is_lambda(name))
		return false;
	*lambda = name;
	do {
		name = name_last(qualifier, &qualifier);
		is_member = slice_begins(name, "operator()");
	} while (qualifier.length && (is_member || is_lambda(name)));
	*function = name;
	return true;
}

static bool is_reference(struct slice type)
{
	return slice_ends(type, "*") || slice_ends(type, "&");
}

/* The first parameter of a lambda where it is a plain type: float of {lambda(float, float)#1}. */
static struct slice lambda_type(struct slice lambda)
{
	struct slice rest, parameters = name_in_brackets(lambda, strlen("{lambda"), &rest), first;

	if (!name_split(parameters, &first, 1) || is_reference(first))
		return (struct slice){lambda.at, 0};
	return first;
}

static struct slice function_name(struct slice function)
{
	return (struct slice){function.at, slice_next_outside(function, 0, "<(")};
}

/* Without namespaces, in all brackets. */
void type_put(struct slice_text *out, struct slice type, unsigned depth)
{
	struct slice qualifier, name, base, arguments, rest, function, lambda;

	if (type.length && type.at[0] == '&') {
		slice_text_puts(out, "&");
		type = slice_from(type, 1);
	}
	if (depth == DEPTH_MOST || out->is_full) {
		slice_text_put(out, type);
		return;
	}
	if (number_in(type).length) {
		put_number(out, number_in(type));
		return;
	}
	if (find_lambda(type, &function, &lambda)) {
		functor_put(out, functor_find(type, depth), false, depth + 1);
		return;
	}
	name = name_last(type, &qualifier);
	if (!name_split_template(name, &base, &arguments, &rest)) {
		slice_text_put(out, is_common_name(name) && qualifier.length
					    ? function_name(last_of(qualifier))
					    : name);
		return;
	}
	if (is_common_name(base) && qualifier.length)
		base = function_name(last_of(qualifier));
	if (type_put_tile(out, base, arguments))
		return;
	slice_text_put(out, base);
	slice_text_puts(out, "<");
	put_types(out, arguments, depth + 1);
	slice_text_puts(out, ">");
	slice_text_put(out, rest);
}

bool type_put_list(char *buffer, size_t size, struct slice types)
{
	struct slice_text out = {.at = buffer, .size = size};

	*buffer = '\0';
	put_types(&out, types, 0);
	return !out.is_full;
}

/* ---- functors ---- */

/* A type with an operator(), by its name. */
static bool is_functor_name(struct slice name)
{
	static const char *const endings[] = {"_op", "Op", "Ops", "_fn"};
	static const char *const names[] = {"plus",    "minus",	  "multiplies", "divides",
					    "maximum", "minimum", "negate",	"Sum",
					    "Max",     "Min",	  "ArgMax",	"ArgMin"};

	if (slice_find(name, "unctor").length)
		return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (slice_ends(name, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static struct functor first_functor(struct slice list, unsigned depth)
{
	struct slice items[KERNEL_ARGUMENTS_MOST];
	size_t count = name_split(list, items, KERNEL_ARGUMENTS_MOST);

	for (size_t i = 0; i < count; i++) {
		struct functor functor = functor_find(items[i], depth);

		if (functor.name.length)
			return functor;
	}
	return (struct functor){{0}, {0}};
}

/* Of functors that wrap another one the innermost: MulFunctor of AUnaryFunctor<float, float, float, MulFunctor<float>>. */
struct functor functor_find(struct slice type, unsigned depth)
{
	struct slice qualifier, name = name_last(type, &qualifier), base, arguments, rest;
	struct slice function, lambda, own;
	struct functor functor = {{0}, {0}};
	bool is_of_lambda = find_lambda(type, &function, &lambda);

	if (depth == DEPTH_MOST)
		return functor;
	if (name_split_template(is_of_lambda ? function : name, &base, &arguments, &rest))
		functor = first_functor(arguments, depth + 1);
	if (functor.name.length)
		return functor;
	if (is_of_lambda)
		return (struct functor){function_name(function), lambda_type(lambda)};
	own = is_common_name(base) ? function_name(last_of(qualifier)) : base;
	if (!own.length || !is_functor_name(base) || is_reference(name))
		return functor;
	functor.name = own;
	(void)name_split(arguments, &functor.type, 1);
	return functor;
}

void functor_put(struct slice_text *out, struct functor functor, bool is_bare, unsigned depth)
{
	slice_text_put(out, functor.name);
	if (is_bare || !functor.type.length || number_in(functor.type).length)
		return;
	slice_text_puts(out, "<");
	type_put(out, functor.type, depth);
	slice_text_puts(out, ">");
}
