#include "base/names/kernel_parts.h"

#include <string.h>

/* " const" and " [clone .isra.0]" behind it are left out, too. */
static size_t parameters_start(struct slice name, size_t *parameters_end)
{
	size_t end = name.length;
	int depth = 0;

	while (end > 0 && name.at[end - 1] != ')')
		end--;
	*parameters_end = end ? end - 1 : name.length;
	for (; end > 0; end--) {
		depth += name.at[end - 1] == ')';
		depth -= name.at[end - 1] == '(';
		if (depth == 0)
			break;
	}
	if (end < 2 || slice_begins(slice_from(name, end - 1), "(anonymous namespace)") ||
	    (end > 8 && slice_begins(slice_from(name, end - 9), "operator()")))
		return *parameters_end = name.length;
	return end - 1;
}

/* Behind the last space outside of brackets, which ends the return type. */
static struct slice without_return_type(struct slice name)
{
	size_t start = 0;

	for (size_t i = 0; (i = slice_next_outside(name, i, " ")) < name.length; i++)
		if (!slice_begins(slice_from(name, i + 1), "operator"))
			start = i + 1;
	return slice_from(name, start);
}

struct slice name_last(struct slice name, struct slice *qualifier)
{
	size_t start = 0, end = 0;

	for (size_t i = 0; (i = slice_next_outside(name, i, ":")) < name.length; i++)
		if (i + 1 < name.length && name.at[i + 1] == ':') {
			end = i;
			start = ++i + 1;
		}
	*qualifier = (struct slice){name.at, end};
	return slice_from(name, start);
}

struct slice name_in_brackets(struct slice text, size_t open, struct slice *rest)
{
	struct slice inside = slice_from(text, open + 1);
	size_t close = slice_next_outside(inside, 0, ">)}");

	*rest = slice_from(inside, close + 1);
	inside.length = close < inside.length ? close : inside.length;
	return slice_trim(inside);
}

size_t name_split(struct slice list, struct slice *items, size_t most)
{
	size_t count = 0;

	while (list.length && count < most) {
		size_t end = slice_next_outside(list, 0, ",");

		items[count++] = slice_trim((struct slice){list.at, end});
		list = slice_from(list, end + 1);
	}
	return count;
}

bool name_split_template(struct slice text, struct slice *base, struct slice *arguments,
			 struct slice *rest)
{
	size_t open = slice_next_outside(text, 0, "<");

	*base = (struct slice){text.at, open};
	*arguments = *rest = slice_from(text, text.length);
	if (open == text.length || open == 0)
		return false;
	*arguments = name_in_brackets(text, open, rest);
	return true;
}

/* "Match<int>::operator()": what it is an operator of belongs to its name. */
static struct slice with_class(struct slice name, struct slice *qualifier)
{
	struct slice class = name_last(*qualifier, qualifier);

	return (struct slice){class.at, (size_t)(name.at - class.at) + name.length};
}

static void find_template_parts(struct kernel_parts *parts, struct slice name)
{
	struct slice arguments, rest, own = name_last(name, &parts->qualifier);

	parts->argument_count = 0;
	if (slice_begins(own, "operator") && parts->qualifier.length)
		parts->base = with_class(own, &parts->qualifier);
	else if (name_split_template(own, &parts->base, &arguments, &rest))
		parts->argument_count =
			name_split(arguments, parts->arguments, KERNEL_ARGUMENTS_MOST);
	else
		parts->base = own;
}

/* Of CUTLASS all kernels are one template of what they compute. */
static bool is_wrapper(const struct kernel_parts *parts)
{
	return parts->argument_count == 1 && slice_begins(parts->qualifier, "cutlass") &&
	       (slice_is(parts->base, "Kernel") || slice_is(parts->base, "Kernel2") ||
		slice_is(parts->base, "device_kernel"));
}

void kernel_parts_find(struct kernel_parts *parts, const char *name)
{
	struct slice whole = {name, strlen(name)};
	size_t end, start = parameters_start(whole, &end);

	*parts = (struct kernel_parts){.has_parameters = start < whole.length};
	if (parts->has_parameters)
		parts->parameters = (struct slice){name + start + 1, end - start - 1};
	find_template_parts(parts, without_return_type((struct slice){name, start}));
	if (is_wrapper(parts))
		find_template_parts(parts, parts->arguments[0]);
}
