#include "exchange/import/json_records.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yajl/yajl_parse.h>

#include "base/array.h"
#include "exchange/import/plain_file.h"

#define DEPTH_LIMIT 32
/* No trace has a record, or a key, text or number, as long as this.  yajl reads what the end of a block cuts from its
 * beginning again with each further block: time grows with the square of its length. */
#define RECORD_LIMIT_BYTES ((size_t)64 * 1024 * 1024)
#define TOKEN_LIMIT_BYTES ((size_t)1024 * 1024)

struct field {
	size_t path, text; /* where they begin in bytes */
};

struct json_record {
	struct field *fields;
	size_t field_capacity, field_count;
	char *bytes;
	size_t byte_capacity, byte_count;
};

struct parser {
	jmp_buf no_memory; /* where to go when there is none */
	struct json_record record;
	char section[64];
	char path[256];			 /* of the value to come, within its record */
	size_t path_length[DEPTH_LIMIT]; /* before what each level adds */
	bool is_list[DEPTH_LIMIT];
	unsigned depth;	       /* of open objects and lists */
	unsigned record_depth; /* of the record that is open, 0: none */
	bool has_token;	       /* in the block that is being read */
	size_t unread_bytes;   /* of blocks in which none ended */
	uint64_t record_count; /* in the section, with the one that is open */
	json_record_taker each;
	void *context;
	int rc;
};

/* ---- records ---- */

static int add_bytes(struct json_record *record, const char *text, size_t length, size_t *place)
{
	char *moved;

	if (record->byte_count + length + 1 > RECORD_LIMIT_BYTES)
		return -EFBIG;
	moved = array_reserve(record->bytes, &record->byte_capacity,
			      record->byte_count + length + 1, 1);
	if (!moved)
		return -ENOMEM;
	record->bytes = moved;
	*place = record->byte_count;
	memcpy(moved + record->byte_count, text, length);
	moved[record->byte_count + length] = '\0';
	record->byte_count += length + 1;
	return 0;
}

static int add_field(struct json_record *record, const char *path, const char *text, size_t length)
{
	struct field *field =
		ARRAY_NEXT(record->fields, record->field_capacity, record->field_count);
	int rc = field ? add_bytes(record, path, strlen(path), &field->path) : -ENOMEM;

	if (rc == 0)
		rc = add_bytes(record, text, length, &field->text);
	if (rc == 0)
		record->field_count++;
	return rc;
}

static int give(struct parser *parser)
{
	int rc = parser->each(parser->section, &parser->record, parser->context);

	parser->record.field_count = parser->record.byte_count = 0;
	return rc;
}

bool json_record_is_empty(const struct json_record *record)
{
	return !record->field_count;
}

const char *json_record_text(const struct json_record *record, const char *field, size_t index)
{
	for (size_t i = 0; i < record->field_count; i++)
		if (!strcmp(record->bytes + record->fields[i].path, field) && index-- == 0)
			return record->bytes + record->fields[i].text;
	return NULL;
}

int64_t json_record_number(const struct json_record *record, const char *field, size_t index)
{
	const char *text = json_record_text(record, field, index);

	return text ? strtoll(text, NULL, 10) : 0;
}

uint32_t json_record_u32(const struct json_record *record, const char *field, size_t index)
{
	int64_t number = json_record_number(record, field, index);

	return number >= 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* ---- what yajl calls; 0 ends the parsing ---- */

static int go_on(struct parser *parser, int rc)
{
	parser->has_token = true;
	parser->rc = rc;
	return rc == 0;
}

/* A list's values have the path of the list. */
static void end_of_value(struct parser *parser)
{
	if (parser->depth && !parser->is_list[parser->depth - 1])
		parser->path[parser->path_length[parser->depth - 1]] = '\0';
}

static int value(struct parser *parser, const char *text, size_t length)
{
	int rc = 0;

	if (length > TOKEN_LIMIT_BYTES)
		return go_on(parser, -EMSGSIZE);
	if (parser->record_depth || parser->depth == 1) {
		rc = add_field(&parser->record, parser->path, text, length);
		if (rc == 0 && !parser->record_depth) { /* stands in the outermost object itself */
			parser->section[0] = '\0';
			rc = give(parser);
		}
	}
	end_of_value(parser);
	return go_on(parser, rc);
}

static int on_null(void *context)
{
	end_of_value(context);
	return go_on(context, 0);
}

static int on_boolean(void *context, int is_true)
{
	return value(context, is_true ? "1" : "0", 1);
}

static int on_number(void *context, const char *text, size_t length)
{
	return value(context, text, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
	return value(context, (const char *)text, length);
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
	struct parser *parser = context;
	size_t used = parser->path_length[parser->depth - 1];
	int width = length < 100 ? (int)length : 100;

	if (parser->depth == 1 && !parser->record_depth)
		parser->record_count = 0;
	if (parser->depth == 1 && !parser->record_depth)
		snprintf(parser->section, sizeof(parser->section), "%.*s", width,
			 (const char *)key);
	snprintf(parser->path + used, sizeof(parser->path) - used, "%s%.*s", used ? "." : "", width,
		 (const char *)key);
	return go_on(parser, length > TOKEN_LIMIT_BYTES ? -EMSGSIZE : 0);
}

static int open_level(struct parser *parser, bool is_list)
{
	if (parser->depth == DEPTH_LIMIT)
		return go_on(parser, -ELOOP);
	if (!is_list && !parser->record_depth && parser->depth) {
		parser->record_depth = parser->depth + 1;
		parser->record_count++;
		parser->path[0] = '\0';
	}
	parser->is_list[parser->depth] = is_list;
	parser->path_length[parser->depth++] = parser->record_depth ? strlen(parser->path) : 0;
	return go_on(parser, 0);
}

static int close_level(void *context)
{
	struct parser *parser = context;
	int rc = 0;

	if (parser->depth == parser->record_depth) {
		rc = give(parser);
		parser->record_depth = 0;
	}
	parser->depth--;
	end_of_value(parser);
	return go_on(parser, rc);
}

static int on_object(void *context)
{
	return open_level(context, false);
}

static int on_list(void *context)
{
	struct parser *parser = context;

	if (!open_level(parser, true))
		return 0;
	return parser->depth == 2 && !parser->record_depth ? go_on(parser, give(parser)) : 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = close_level,
	.yajl_start_array = on_list,
	.yajl_end_array = close_level,
};

/* ---- the file ---- */

/* ---- what programs write although JSON has no such thing ---- */

/* Text on its way to yajl.  What may be the beginning of a word is held back at the end of a block. */
struct filter {
	char bytes[PLAIN_FILE_BLOCK_BYTES + 16];
	size_t count, held; /* the last held of count bytes are not given yet */
	uint64_t given_count, given_lines;
	bool is_in_string, is_escaped;
};

#define WORD_LONGEST 9 /* -Infinity */

/* How long a number is there that is none; 0: there is no such thing. */
static size_t no_number_length(const char *text, size_t size)
{
	static const char *const words[] = {"infinity", "inf", "nan"};
	size_t sign = size && (*text == '-' || *text == '+');

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (size >= sign + length && !strncasecmp(text + sign, words[i], length))
			return sign + length;
	}
	return 0;
}

/* Becomes a string of the same length, so that positions stay what they are. */
static void quote(char *word, size_t length)
{
	word[0] = word[length - 1] = '"';
}

/* Returns how many bytes from here on are done: 0 where more have to be seen first. */
static size_t filter_plain(struct filter *filter, char *text, size_t size, bool is_last)
{
	size_t length;

	if (*text == '"') {
		filter->is_in_string = true;
		return 1;
	}
	if (!strchr("+-iInN", *text) || !*text)
		return 1;
	if (size < WORD_LONGEST && !is_last)
		return 0;
	length = no_number_length(text, size);
	if (length)
		quote(text, length);
	return length ? length : 1;
}

static void filter_in_string(struct filter *filter, char *c)
{
	if ((unsigned char)*c < ' ')
		*c = ' ';
	if (filter->is_escaped)
		filter->is_escaped = false;
	else if (*c == '\\')
		filter->is_escaped = true;
	else if (*c == '"')
		filter->is_in_string = false;
}

/* Takes another block; filter->count - filter->held bytes can be given then. */
static void filter_block(struct filter *filter, const void *bytes, size_t size, bool is_last)
{
	size_t done = 0, step = 1;

	memmove(filter->bytes, filter->bytes + filter->count - filter->held, filter->held);
	memcpy(filter->bytes + filter->held, bytes, size);
	filter->count = filter->held + size;
	while (done < filter->count && step) {
		step = 1;
		if (filter->is_in_string)
			filter_in_string(filter, filter->bytes + done);
		else
			step = filter_plain(filter, filter->bytes + done, filter->count - done,
					    is_last);
		done += step;
	}
	filter->held = filter->count - done;
}

/* ---- what is wrong, and where ---- */

static uint64_t count_lines(const char *text, size_t size)
{
	uint64_t count = 0;

	for (const char *end = text + size; (text = memchr(text, '\n', (size_t)(end - text)));
	     text++)
		count++;
	return count;
}

/* "at byte 6,001, line 1, in record 41 of traceEvents" */
static void describe_place(char *buffer, size_t size, yajl_handle handle,
			   const struct parser *parser, const struct filter *filter)
{
	size_t consumed = yajl_get_bytes_consumed(handle), given = filter->count - filter->held;
	int used;

	consumed = consumed < given ? consumed : given;
	used = snprintf(buffer, size, "at byte %" PRIu64 ", line %" PRIu64,
			filter->given_count + consumed,
			filter->given_lines + count_lines(filter->bytes, consumed) + 1);
	if (parser->record_count)
		snprintf(buffer + used, size - (size_t)used, ", in event %" PRIu64 " of %s",
			 parser->record_count, *parser->section ? parser->section : "the list");
}

/* Of yajl's several lines the first. */
static int describe(yajl_handle handle, struct parser *parser, const struct filter *filter,
		    const char *path, struct err *err)
{
	unsigned char *text;
	char place[160];

	describe_place(place, sizeof(place), handle, parser, filter);
	if (parser->rc == -ELOOP)
		return err_set(err, -EINVAL, "%s: nested deeper than any trace is, %s", path,
			       place);
	if (parser->rc == -EMSGSIZE)
		return err_set(
			err, -EFBIG,
			"%s: has a text or a number of more than %zu MiB, as no trace has, %s",
			path, TOKEN_LIMIT_BYTES >> 20, place);
	if (parser->rc == -EFBIG)
		return err_set(err, -EFBIG,
			       "%s: has an event of more than %zu MiB, as no trace has, %s", path,
			       RECORD_LIMIT_BYTES >> 20, place);
	if (parser->rc < 0)
		return err_set(err, parser->rc, "%s: %s", path, strerror(-parser->rc));
	text = yajl_get_error(handle, 0, NULL, 0);
	err_set(err, -EINVAL, "%s: no JSON, or cut off, %s: %.*s", path, place,
		text ? (int)strcspn((const char *)text, "\n") : 0, text ? (const char *)text : "");
	yajl_free_error(handle, text);
	return -EINVAL;
}

static bool give_block(yajl_handle handle, struct filter *filter, const void *bytes, size_t size,
		       bool is_last)
{
	filter->given_count += filter->count - filter->held;
	filter->given_lines += count_lines(filter->bytes, filter->count - filter->held);
	filter_block(filter, bytes, size, is_last);
	return yajl_parse(handle, (const unsigned char *)filter->bytes,
			  filter->count - filter->held) == yajl_status_ok;
}

static int parse(yajl_handle handle, struct parser *parser, struct filter *filter,
		 struct plain_file *file, const char *path, struct err *err)
{
	const void *bytes;
	size_t size;
	int rc;

	while ((rc = plain_file_next(file, &bytes, &size, err)) > 0) {
		parser->has_token = false;
		if (!give_block(handle, filter, bytes, size, false))
			return describe(handle, parser, filter, path, err);
		parser->unread_bytes = parser->has_token ? 0 : parser->unread_bytes + size;
		if (parser->unread_bytes > TOKEN_LIMIT_BYTES) {
			parser->rc = -EMSGSIZE;
			return describe(handle, parser, filter, path, err);
		}
	}
	if (rc == 0 && (!give_block(handle, filter, "", 0, true) ||
			yajl_complete_parse(handle) != yajl_status_ok))
		rc = describe(handle, parser, filter, path, err);
	return rc;
}

/* ---- memory: yajl does not look whether it got some ---- */

static void *allocate(void *context, size_t size)
{
	struct parser *parser = context;
	void *memory = malloc(size);

	if (!memory)
		longjmp(parser->no_memory, 1);
	return memory;
}

static void *reallocate(void *context, void *memory, size_t size)
{
	struct parser *parser = context;

	memory = realloc(memory, size);
	if (!memory)
		longjmp(parser->no_memory, 1);
	return memory;
}

static void release(void *context, void *memory)
{
	(void)context;
	free(memory);
}

/* ---- a file ---- */

struct reading {
	struct parser parser;
	yajl_alloc_funcs memory;
	yajl_handle handle;
	struct plain_file *file;
	struct filter *filter;
};

static int read_records(struct reading *reading, const char *path, struct err *err)
{
	if (setjmp(reading->parser.no_memory))
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	reading->handle = yajl_alloc(&callbacks, &reading->memory, &reading->parser);
	/* profilers copy names as they find them */
	yajl_config(reading->handle, yajl_dont_validate_strings, 1);
	return parse(reading->handle, &reading->parser, reading->filter, reading->file, path, err);
}

int json_records_read(const char *path, json_record_taker each, void *context, struct err *err)
{
	struct reading reading = {
		.parser = {.each = each, .context = context},
		.memory = {allocate, reallocate, release, &reading.parser},
	};
	int rc = plain_file_open(&reading.file, path, err);

	reading.filter = calloc(1, sizeof(*reading.filter));
	if (!reading.filter && rc == 0)
		rc = err_set(err, -ENOMEM, "%s: out of memory", path);
	if (rc == 0)
		rc = read_records(&reading, path, err);
	plain_file_close(reading.file);
	if (reading.handle)
		yajl_free(reading.handle);
	free(reading.filter);
	free(reading.parser.record.fields);
	free(reading.parser.record.bytes);
	return rc;
}
