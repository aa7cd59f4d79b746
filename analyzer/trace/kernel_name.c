#include "trace/kernel_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What follows "__nv_static_<n>_", n characters and another "_"; the name itself without them. */
static const char *skip_static_prefix(const char *mangled)
{
	static const char prefix[] = "__nv_static_";
	char *end;
	unsigned long length;

	if (strncmp(mangled, prefix, sizeof(prefix) - 1))
		return mangled;
	length = strtoul(mangled + sizeof(prefix) - 1, &end, 10);
	if (*end != '_' || length >= strlen(end))
		return mangled;
	end += 1 + length;
	return *end == '_' && end[1] ? end + 1 : mangled;
}

static const char anonymous[] = "(anonymous namespace)";

/* Length of a name that nvcc gave to an anonymous namespace, such as
 * _INTERNAL_084772af_14_graph_chain_cu_c75fa264_17422; 0 when text does not begin with one.  The
 * demangler itself knows the other form, _GLOBAL__N_. */
static size_t internal_length(const char *text)
{
	static const char prefix[] = "_INTERNAL_";
	size_t length = sizeof(prefix) - 1;

	if (strncmp(text, prefix, length) || strspn(text + length, "0123456789abcdef") < 8)
		return 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length >= sizeof(anonymous) - 1 ? length : 0;
}

/* In place: what replaces a name is never longer. */
static void name_anonymous(char *name)
{
	bool is_inside_word = false;
	char *out = name;

	while (*name) {
		size_t length = is_inside_word ? 0 : internal_length(name);

		is_inside_word = isalnum((unsigned char)*name) || *name == '_';
		if (length) {
			memcpy(out, anonymous, sizeof(anonymous) - 1);
			out += sizeof(anonymous) - 1;
			name += length;
		} else {
			*out++ = *name++;
		}
	}
	*out = '\0';
}

char *kernel_name_demangle(struct demangler *demangler, const char *mangled)
{
	const char *own = skip_static_prefix(mangled);
	const char *name = strncmp(own, "_Z", 2) ? NULL : demangler_name(demangler, own);
	char *copy = strdup(name ? name : own);

	if (name && copy)
		name_anonymous(copy);
	return copy;
}
