#define _GNU_SOURCE /* asprintf */

#include "exchange/import/kernel_shapes.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/kernel_name.h"

/* ---- names ---- */

/* What a value of a template has in front of it in NVIDIA's way to write it, blanks taken away. */
static const char *const casts[] = {"(int)",
				    "(unsignedint)",
				    "(bool)",
				    "(long)",
				    "(unsignedlong)",
				    "(short)",
				    "(unsignedshort)",
				    "(char)",
				    "(unsignedchar)",
				    "(longlong)",
				    "(unsignedlonglong)"};

static size_t cast_length(const char *text)
{
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (!strncmp(text, casts[i], strlen(casts[i])) &&
		    (isdigit((unsigned char)text[strlen(casts[i])]) ||
		     text[strlen(casts[i])] == '-'))
			return strlen(casts[i]);
	return 0;
}

static char *without_blanks(const char *text)
{
	char *plain = strdup(text), *to = plain;

	for (const char *from = plain; plain && *from; from++)
		if (!isspace((unsigned char)*from))
			*to++ = *from;
	if (plain)
		*to = '\0';
	return plain;
}

/* A value of a template: true is 1, and 4u is 4. */
static const char *copy_value(char **to, const char *from)
{
	bool is_true = !strncmp(from, "true", 4);

	if (is_true || !strncmp(from, "false", 5)) {
		*(*to)++ = is_true ? '1' : '0'; /* may be where from is */
		return from + (is_true ? 4 : 5);
	}
	from += cast_length(from);
	if (*from == '-')
		*(*to)++ = *from++;
	if (!isdigit((unsigned char)*from))
		return from;
	while (isdigit((unsigned char)*from))
		*(*to)++ = *from++;
	return from + strspn(from, "ul");
}

/* Nsight Compute leaves them out. */
static size_t unnamed_length(const char *text)
{
	static const char *const unnamed[] = {"(anonymousnamespace)::", "<unnamed>::"};

	for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++)
		if (!strncmp(text, unnamed[i], strlen(unnamed[i])))
			return strlen(unnamed[i]);
	return 0;
}

char *kernel_shapes_plain_name(const char *name)
{
	static struct demangler demangler; /* for all names; its child ends with us */
	char *demangled = kernel_name_demangle(&demangler, name);
	char *plain = demangled ? without_blanks(demangled) : NULL, *to = plain;

	free(demangled);
	for (const char *from = plain; plain && *from;) {
		bool is_before_value = *from == '<' || *from == ',';
		size_t unnamed = unnamed_length(from);

		if (unnamed) {
			from += unnamed;
			continue;
		}
		*to++ = *from++;
		if (is_before_value)
			from = copy_value(&to, from);
	}
	if (plain)
		*to = '\0';
	return plain;
}

/* ---- shapes ---- */

/* Returns its length, or -1 without memory; the caller frees. */
static int key_of(char **key, const char *name, const struct trace_signatures_row *look)
{
	char *plain = kernel_shapes_plain_name(name);
	int length = -1;

	if (plain)
		length = asprintf(key,
				  "%s %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32 ",%" PRIu32
				  ",%" PRIu32,
				  plain, look->grid_x, look->grid_y, look->grid_z, look->block_x,
				  look->block_y, look->block_z);
	free(plain);
	return length;
}

static int append(struct kernel_shapes *shapes, const char *name,
		  const struct trace_signatures_row *look)
{
	struct kernel_shape *shape = ARRAY_NEXT(shapes->items, shapes->capacity, shapes->count);

	if (!shape)
		return -ENOMEM;
	*shape = (struct kernel_shape){strdup(name), *look};
	shapes->count++;
	return shape->name ? 0 : -ENOMEM;
}

int kernel_shapes_add(struct kernel_shapes *shapes, const char *name,
		      const struct trace_signatures_row *look)
{
	uint32_t known = shapes->groups.count, number;
	char *key;
	int length = key_of(&key, name, look), rc;

	if (length < 0)
		return -ENOMEM;
	rc = groups_find(&shapes->groups, key, (size_t)length, &number);
	free(key);
	return rc == 0 && number == known ? append(shapes, name, look) : rc;
}

const struct kernel_shape *kernel_shapes_find(const struct kernel_shapes *shapes, const char *name,
					      const struct trace_signatures_row *look)
{
	uint32_t number;
	char *key;
	int length = key_of(&key, name, look);

	if (length < 0)
		return NULL;
	number = groups_look(&shapes->groups, key, (size_t)length);
	free(key);
	return number < shapes->count ? &shapes->items[number] : NULL;
}

void kernel_shapes_free(struct kernel_shapes *shapes)
{
	for (size_t i = 0; i < shapes->count; i++)
		free(shapes->items[i].name);
	free(shapes->items);
	groups_free(&shapes->groups);
}
