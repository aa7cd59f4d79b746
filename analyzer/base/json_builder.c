#include "base/json_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void json_builder_put(struct json_builder *builder, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		builder->has_failed = true;
}

void json_builder_append(struct json_builder *builder, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		builder->has_failed = true;
}

json_t *json_builder_text(const char *text)
{
	json_t *value = json_string(text);
	char *copy;

	if (value || !(copy = strdup(text)))
		return value;
	for (char *byte = copy; *byte; byte++)
		if ((unsigned char)*byte >= 0x80)
			*byte = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

size_t json_builder_flags_for(FILE *out)
{
	return isatty(fileno(out)) ? JSON_ENSURE_ASCII : 0;
}

int json_builder_write(const struct json_builder *builder, json_t *root, FILE *out, size_t flags,
		       const char *what, struct err *err)
{
	bool is_written = !builder->has_failed &&
			  json_dumpf(root, out, flags | json_builder_flags_for(out)) == 0 &&
			  fputc('\n', out) != EOF && fflush(out) == 0;

	json_decref(root);
	if (is_written)
		return 0;
	if (!ferror(out))
		return err_set(err, -ENOMEM, "out of memory for %s", what);
	return err_set(err, -EIO, "%s could not be written: %s", what, strerror(errno));
}
