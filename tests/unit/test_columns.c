/* Tables of columns: what JSON and CSV make of them, and that a section is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "output/json.h"
#include "output/outputs.h"

/* ---- a table of every type of column ---- */

struct part {
	int64_t left_ns;
	double ratio;
};

struct thing {
	const char *name;
	uint64_t count;
	double rate, share;
	bool is_open;
	uint32_t grid[3];
	struct part part;
};

static bool is_open(const struct row *row, const void *from)
{
	const struct thing *thing = from;

	(void)row;
	return thing->is_open;
}

static struct value get_owned(struct row *row, const void *from)
{
	(void)row;
	(void)from;
	return value_owned_text(strdup("made"));
}

static bool letter_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	static const char *const letters[] = {"a", "b"};

	(void)row;
	(void)from;
	if (index >= 2)
		return false;
	entry->key = letters[index];
	entry->value = value_text(letters[index]);
	return true;
}

static const void *nothing(struct row *row, const void *from)
{
	(void)row;
	(void)from;
	return NULL;
}

static const struct column part_columns[] = {FIELD(struct part, left_ns),
					     FIELD_ABOVE_ZERO(struct part, ratio),
					     {0}};

static const struct column thing_columns[] = {FIELD(struct thing, name),
					      FIELD(struct thing, count),
					      FIELD(struct thing, rate),
					      FIELD_IF(struct thing, share, is_open),
					      FIELD(struct thing, is_open),
					      FIELD(struct thing, grid),
					      GROUP("part", NULL, struct thing, part, part_columns),
					      GROUP_FOUND("missing", nothing, part_columns),
					      COMPUTED("owned", get_owned),
					      LIST("list", letter_at),
					      MAP("map", letter_at),
					      {0}};

static const struct thing example = {.name = "a \"name\"",
				     .count = UINT64_MAX,
				     .rate = 0.5,
				     .share = 0.25,
				     .grid = {64, 2, 1},
				     .part = {.left_ns = -3}};

/* What json_write makes of a thing; the caller frees text.  Returns its return value. */
static int write_thing(const struct thing *thing, char **text)
{
	struct err err = {""};
	size_t size;
	FILE *out = open_memstream(text, &size);
	int rc;

	assert_non_null(out);
	rc = json_write(thing_columns, thing, out, "the thing", &err);
	fclose(out);
	if (rc == -ENOMEM)
		assert_string_equal(err.text, "out of memory for the thing");
	return rc;
}

/* The thing as JSON without what stands around it; the caller calls json_decref. */
static json_t *parse_thing(const struct thing *thing)
{
	char *text;
	json_t *root;

	assert_int_equal(write_thing(thing, &text), 0);
	root = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(root);
	return root;
}

static void assert_json(const json_t *value, const char *expected)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	assert_string_equal(text, expected);
	free(text);
}

static void test_values(void **state)
{
	json_t *root = parse_thing(&example);

	(void)state;
	assert_json(json_object_get(root, "name"), "\"a \\\"name\\\"\"");
	assert_json(json_object_get(root, "count"), "9223372036854775807");
	assert_json(json_object_get(root, "is_open"), "false");
	assert_json(json_object_get(root, "grid"), "[64,2,1]");
	assert_json(json_object_get(root, "owned"), "\"made\"");
	assert_json(json_object_get(root, "list"), "[\"a\",\"b\"]");
	assert_json(json_object_get(root, "map"), "{\"a\":\"a\",\"b\":\"b\"}");
	assert_json(json_object_get(root, "part"), "{\"left_ns\":-3,\"ratio\":null}");
	json_decref(root);
}

static void test_unknown(void **state)
{
	struct thing thing = example;
	json_t *root;

	(void)state;
	thing.name = NULL;
	thing.rate = NAN;
	root = parse_thing(&thing);
	assert_json(json_object_get(root, "name"), "null");
	assert_json(json_object_get(root, "rate"), "null");
	assert_json(json_object_get(root, "share"), "null");
	assert_json(json_object_get(root, "missing"), "{\"left_ns\":null,\"ratio\":null}");
	json_decref(root);
}

static void test_foreign_text(void **state)
{
	struct thing thing = example;
	json_t *root;

	(void)state;
	thing.name = "caf\xe9";
	root = parse_thing(&thing);
	assert_json(json_object_get(root, "name"), "\"caf?\"");
	json_decref(root);
}

/* ---- memory ---- */

static size_t allocations_until_failure;

static void *allocate(size_t size)
{
	return --allocations_until_failure ? malloc(size) : NULL;
}

/* Each allocation of jansson's in turn finds no memory, and those after it do. */
static void test_memory(void **state)
{
	char *whole, *text;
	size_t failed = 0, count = 0;

	(void)state;
	assert_int_equal(write_thing(&example, &whole), 0);
	json_set_alloc_funcs(allocate, free);
	do {
		allocations_until_failure = ++count;
		if (write_thing(&example, &text) == -ENOMEM)
			failed++;
		else
			assert_string_equal(text, whole);
		free(text);
	} while (count < 200);
	json_set_alloc_funcs(malloc, free);
	assert_true(failed > 20);
	free(whole);
}

/* ---- sections ---- */

static void assert_keys_once(const struct column *columns)
{
	for (const struct column *column = columns; column->type; column++) {
		if (column->columns)
			assert_keys_once(column->columns);
		for (const struct column *other = columns; other < column; other++)
			if (column->key && other->key)
				assert_string_not_equal(column->key, other->key);
	}
}

static void test_sections(void **state)
{
	(void)state;
	for (size_t i = 0; sections[i]; i++) {
		const struct section *section = sections[i];

		assert_ptr_equal(section_find(section->key), section);
		assert_non_null(section->title);
		assert_non_null(section->at);
		assert_non_null(section->print);
		assert_true(section->columns[0].type != COLUMN_END);
		assert_keys_once(section->columns);
		if (section->object)
			assert_keys_once(section->object);
	}
	assert_null(section_find("nothing"));
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("JSON has a value of its type for each column", test_values),
		SENTENCE("what is not known is null, also all of a struct that is not there",
			 test_unknown),
		SENTENCE("text that is no UTF-8 keeps its ASCII part", test_foreign_text),
		SENTENCE("memory that runs out at any moment is an error, not a shorter report",
			 test_memory),
		SENTENCE("every section has a title, rows, text, and each key once", test_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
