/*
 * json_stream.h - a large JSON document, written piece by piece: no more than one piece of it is in memory.
 *
 * It looks as if all of it were one document of jansson, with JSON_INDENT(2).  What went wrong first is remembered, nothing
 * is written behind it, and json_stream_close() tells it.
 */
#ifndef ROOFLINE_JSON_STREAM_H
#define ROOFLINE_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct json_stream {
	FILE *out;
	size_t flags;	/* of jansson, for each piece */
	size_t depth;	/* objects and arrays that are open */
	bool has_items; /* the innermost of them has */
	int rc;		/* 0, -ENOMEM or -EIO */
};

/* flags: JSON_REAL_PRECISION and such. */
void json_stream_open(struct json_stream *stream, FILE *out, size_t flags);

/* An object ('{') or an array ('['); key: of it in the object that it is in, NULL in an array. */
void json_stream_begin(struct json_stream *stream, const char *key, char bracket);
void json_stream_end(struct json_stream *stream, char bracket);

/* Takes value over.  NULL: there was no memory for it. */
void json_stream_put(struct json_stream *stream, const char *key, json_t *value);

/* Ends the line.  Fails with -ENOMEM or -EIO; err: "out of memory for the report", where what is "the report". */
int json_stream_close(struct json_stream *stream, const char *what, struct err *err);

#endif
