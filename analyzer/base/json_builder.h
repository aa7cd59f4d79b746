/*
 * json_builder.h - JSON made of many parts, of which any may find no memory.
 *
 * jansson says so each time; here it is remembered, and told once, when all of it is to be written.  What jansson gives
 * where it has no memory, NULL, may be handed on to every function.
 */
#ifndef ROOFLINE_JSON_BUILDER_H
#define ROOFLINE_JSON_BUILDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct json_builder {
	bool has_failed; /* something is missing */
};

/* Both take value over. */
void json_builder_put(struct json_builder *builder, json_t *object, const char *key, json_t *value);
void json_builder_append(struct json_builder *builder, json_t *array, json_t *value);

/* JSON is UTF-8; a name that is not (file names, foreign code pages) keeps its ASCII part. */
json_t *json_builder_text(const char *text);

/* Of what is not ASCII a terminal may take characters for commands (U+009B begins some): JSON_ENSURE_ASCII, or 0. */
size_t json_builder_flags_for(FILE *out);

/* Writes root, a newline behind it, and lets go of it; nothing where something is missing.  flags: JSON_INDENT and such.
 * Fails with -ENOMEM or -EIO; err: "out of memory for the report", where what is "the report". */
int json_builder_write(const struct json_builder *builder, json_t *root, FILE *out, size_t flags,
		       const char *what, struct err *err);

#endif
