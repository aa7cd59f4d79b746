#define _GNU_SOURCE
#include "base/json_stream.h"

#include <errno.h>
#include <string.h>

#include "base/json_builder.h"

#define INDENT 2

void json_stream_open(struct json_stream *stream, FILE *out, size_t flags)
{
	*stream = (struct json_stream){.out = out,
				       .flags = flags | JSON_INDENT(INDENT) | JSON_ENCODE_ANY |
						json_builder_flags_for(out)};
}

static void fail(struct json_stream *stream, int rc)
{
	if (stream->rc == 0)
		stream->rc = rc;
}

/* jansson gives a few bytes at a time, and nobody else writes there meanwhile. */
static void write_bytes(struct json_stream *stream, const char *bytes, size_t count)
{
	if (stream->rc == 0 && fwrite_unlocked(bytes, 1, count, stream->out) != count)
		fail(stream, -EIO);
}

static void begin_line(struct json_stream *stream)
{
	write_bytes(stream, "\n", 1);
	for (size_t i = 0; i < stream->depth; i++)
		write_bytes(stream, "  ", INDENT);
}

/* A piece begins its lines as if it were alone.  Texts have no line ends in them: those are escaped. */
static int write_indented(const char *bytes, size_t count, void *context)
{
	struct json_stream *stream = context;
	const char *end;

	while ((end = memchr(bytes, '\n', count))) {
		write_bytes(stream, bytes, (size_t)(end - bytes));
		begin_line(stream);
		count -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	write_bytes(stream, bytes, count);
	return stream->rc;
}

static void write_value(struct json_stream *stream, json_t *value)
{
	if (!value || json_dump_callback(value, write_indented, stream, stream->flags) < 0)
		fail(stream, -ENOMEM);
	json_decref(value);
}

static void begin_item(struct json_stream *stream, const char *key)
{
	if (stream->has_items)
		write_bytes(stream, ",", 1);
	if (stream->depth)
		begin_line(stream);
	stream->has_items = true;
	if (!key)
		return;
	write_value(stream, json_builder_text(key));
	write_bytes(stream, ": ", 2);
}

void json_stream_begin(struct json_stream *stream, const char *key, char bracket)
{
	begin_item(stream, key);
	write_bytes(stream, &bracket, 1);
	stream->depth++;
	stream->has_items = false;
}

void json_stream_end(struct json_stream *stream, char bracket)
{
	stream->depth--;
	if (stream->has_items)
		begin_line(stream);
	write_bytes(stream, &bracket, 1);
	stream->has_items = true;
}

void json_stream_put(struct json_stream *stream, const char *key, json_t *value)
{
	begin_item(stream, key);
	write_value(stream, value);
}

int json_stream_close(struct json_stream *stream, const char *what, struct err *err)
{
	write_bytes(stream, "\n", 1);
	if (stream->rc == 0 && fflush(stream->out) != 0)
		fail(stream, -EIO);
	if (stream->rc == -EIO || ferror(stream->out))
		return err_set(err, -EIO, "%s could not be written: %s", what, strerror(errno));
	return stream->rc < 0 ? err_set(err, stream->rc, "out of memory for %s", what) : 0;
}
