/*
 * columns.h - a table of columns: what JSON and CSV are both written from.
 *
 * A column is a key and where its value comes from: a field of a struct, a function, or a group of
 * further columns.  So a value is named once, and no format can lack what another one has:
 *
 *   JSON                             CSV
 *   null                             an empty field
 *   true, false                      1, 0
 *   [x, y, z] of dimensions          three columns: key_x, key_y, key_z
 *   an object in a row               its columns, each with the object's key_ before its own
 *   a list of texts, or a map        one field with an entry a line, of a map as key=value
 *   an object or rows in an object
 *     that stands for the section  left out
 *
 * To add a column: one line in the table of its section, FIELD() or COMPUTED().
 */
#ifndef ROOFLINE_COLUMNS_H
#define ROOFLINE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct report;
struct output_options;

enum value_type {
	VALUE_NONE, /* not known: null, an empty field */
	VALUE_TEXT,
	VALUE_INTEGER,
	VALUE_COUNT,
	VALUE_REAL,
	VALUE_BOOL,
	VALUE_DIMENSIONS,
	VALUE_FAILED /* there was no memory for it */
};

struct value {
	enum value_type type;
	union {
		const char *text;
		int64_t integer;
		uint64_t count;
		double real;
		bool is_true;
		const uint32_t *dimensions;
	};
	char *owned; /* text, where value_free has to free it */
};

/* What a table is written of: one item, such as a kernel's statistics. */
struct row {
	const struct report *report;
	const struct output_options *options;
	const struct row *parent; /* of the object that holds the rows */
	const void *item;
	size_t index;
	union {
		max_align_t alignment;
		char bytes[1024];
	} scratch; /* for what a function computes: valid until another one does */
};

enum column_type {
	COLUMN_END, /* after the last one of a table */
	COLUMN_TEXT,
	COLUMN_BOOL,
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_I64,
	COLUMN_REAL,
	COLUMN_DIMENSIONS,
	COLUMN_RELATIVE, /* of a moment in nanoseconds: relative to the first operation */
	COLUMN_COMPUTED,
	COLUMN_GROUP,
	COLUMN_ROW, /* a group that is a row of its own */
	COLUMN_ROWS,
	COLUMN_LIST,
	COLUMN_MAP
};

/* When a number is not known. */
enum column_known { KNOWN_ALWAYS, KNOWN_ABOVE_ZERO, KNOWN_FROM_ZERO };

/* One entry of a list or map; the key of a map's only. */
struct entry {
	const char *key;
	struct value value;
};

/* The rows of a table one after the other; NULL after the last. */
typedef const void *(*row_function)(const struct row *parent, size_t index);

struct column {
	const char *key; /* NULL: a group whose columns stand among those around it */
	/* In CSV, where it is not the key: the column's name ("": that of its group), or what stands
	 * before the names of a group's columns. */
	const char *csv;
	enum column_type type;
	enum column_known known;
	size_t offset;		      /* of the field, or of a group's struct */
	const struct column *columns; /* of a group, or of rows */
	struct value (*get)(struct row *row, const void *from); /* COLUMN_COMPUTED */
	const void *(*base)(struct row *row, const void *from); /* of a group; NULL: offset says */
	bool (*is_known)(const struct row *row, const void *from); /* NULL: it is */
	row_function at;					   /* COLUMN_ROWS */
	/* COLUMN_LIST, COLUMN_MAP.  Returns false after the last entry. */
	bool (*entry)(const struct row *row, const void *from, size_t index, struct entry *entry);
};

#define FIELD_TYPE(struct_type, field) \
	_Generic(((struct_type *)0)->field,          \
		char *: COLUMN_TEXT,                 \
		const char *: COLUMN_TEXT,           \
		bool: COLUMN_BOOL,                   \
		uint32_t: COLUMN_U32,                \
		uint64_t: COLUMN_U64,                \
		int64_t: COLUMN_I64,                 \
		double: COLUMN_REAL,                 \
		uint32_t *: COLUMN_DIMENSIONS)

#define FIELD_AS(name, struct_type, field)                     \
	.key = (name), .type = FIELD_TYPE(struct_type, field), \
	.offset = offsetof(struct_type, field)

/* A field under its own name; the same where its value is known only when a function says so, when
 * it is above zero, or when it is not negative. */
#define FIELD(struct_type, field)                    \
	{                                            \
		FIELD_AS(#field, struct_type, field) \
	}
#define FIELD_IF(struct_type, field, function)                               \
	{                                                                    \
		FIELD_AS(#field, struct_type, field), .is_known = (function) \
	}
#define FIELD_ABOVE_ZERO(struct_type, field)                                    \
	{                                                                       \
		FIELD_AS(#field, struct_type, field), .known = KNOWN_ABOVE_ZERO \
	}
#define FIELD_FROM_ZERO(struct_type, field)                                    \
	{                                                                      \
		FIELD_AS(#field, struct_type, field), .known = KNOWN_FROM_ZERO \
	}

/* A moment, field of the struct: since the Unix epoch as name_ns, and relative to the first operation of the recording as
 * name_relative_ns. */
#define MOMENT_AS(name, struct_type, field) \
	{FIELD_AS(name "_ns", struct_type, field)}, RELATIVE_AS(name, struct_type, field)
#define RELATIVE_AS(name, struct_type, field)                        \
	{                                                            \
		.key = name "_relative_ns", .type = COLUMN_RELATIVE, \
		.offset = offsetof(struct_type, field)               \
	}
#define MOMENT(struct_type, name) MOMENT_AS(#name, struct_type, name##_ns)

#define COMPUTED(name, function)                                          \
	{                                                                 \
		.key = (name), .type = COLUMN_COMPUTED, .get = (function) \
	}

/* Columns of a struct in the row's own, and of one that a function finds (NULL: nothing is known),
 * among those around them. */
#define INLINE(struct_type, field, table)                                                        \
	{                                                                                        \
		.type = COLUMN_GROUP, .offset = offsetof(struct_type, field), .columns = (table) \
	}
#define INLINE_FOUND(function, table)                                        \
	{                                                                    \
		.type = COLUMN_GROUP, .base = (function), .columns = (table) \
	}

/* An object in the row, of a struct of it or of one that a function finds.  prefix: what stands before
 * the names of its columns in CSV; NULL: name_. */
#define GROUP(name, prefix, struct_type, field, table)                     \
	{                                                                  \
		.key = (name), .csv = (prefix), .type = COLUMN_GROUP,      \
		.offset = offsetof(struct_type, field), .columns = (table) \
	}
#define GROUP_FOUND(name, function, table)                                                  \
	{                                                                                   \
		.key = (name), .type = COLUMN_GROUP, .base = (function), .columns = (table) \
	}

#define LIST(name, function)                                            \
	{                                                               \
		.key = (name), .type = COLUMN_LIST, .entry = (function) \
	}
#define MAP(name, function)                                            \
	{                                                              \
		.key = (name), .type = COLUMN_MAP, .entry = (function) \
	}

/* One row, and all rows that a function gives, with keys of their own. */
#define ROW(name, table, function)                                                        \
	{                                                                                 \
		.key = (name), .type = COLUMN_ROW, .columns = (table), .base = (function) \
	}
#define ROWS(name, table, function)                                                      \
	{                                                                                \
		.key = (name), .type = COLUMN_ROWS, .columns = (table), .at = (function) \
	}

/*
 * The functions of a table, where one expression is all that they are.  item names the struct that the
 * table is of; row is at hand, too:
 *
 *   GETTER(get_cause, struct gap, gap, value_text(gap_cause_key(gap->cause)));
 *   FINDER(stream_of, struct stream_statistics, stream, &row->report->profile->streams[stream->stream]);
 *   PREDICATE(has_rank, struct profile_process, process, process->rank >= 0);
 *   ARRAY(kernel_at, statistics, kernels, kernel_count);    rows: of report->statistics
 */
#define TABLE_FUNCTION(type, function, qualifier, struct_type, item, expression) \
	static type function(qualifier struct row *row, const void *from)        \
	{                                                                        \
		const struct_type *item = from;                                  \
                                                                                 \
		(void)row;                                                       \
		(void)item;                                                      \
		return expression;                                               \
	}                                                                        \
	struct row
#define GETTER(function, struct_type, item, expression) \
	TABLE_FUNCTION(struct value, function, , struct_type, item, expression)
#define FINDER(function, struct_type, item, expression) \
	TABLE_FUNCTION(const void *, function, , struct_type, item, expression)
#define PREDICATE(function, struct_type, item, expression) \
	TABLE_FUNCTION(bool, function, const, struct_type, item, expression)
#define ARRAY(function, owner, items, item_count)                                               \
	static const void *function(const struct row *parent, size_t index)                     \
	{                                                                                       \
		const struct report *report = parent->report;                                   \
                                                                                                \
		return index < report->owner->item_count ? &report->owner->items[index] : NULL; \
	}                                                                                       \
	struct row

struct value value_text(const char *text); /* NULL: not known */
struct value value_owned_text(char *text); /* likewise; the value's from here on */
struct value value_integer(int64_t integer);
struct value value_count(uint64_t count);
struct value value_bool(bool is_true);
struct value value_real(double real); /* not known unless it is finite */
struct value value_none(void);
void value_free(struct value *value);

/* The value of a column that is no group, rows, list or map.  from: the struct of its table; NULL:
 * nothing is known.  The caller calls value_free. */
struct value column_value(const struct column *column, struct row *row, const void *from);

/* The struct of a group, list or map: NULL where nothing of it is known. */
const void *column_base(const struct column *column, struct row *row, const void *from);

/* Counts, total, mean and percentiles of a struct distribution, and the parts of an
 * int64_t[GAP_CAUSE_COUNT] by cause: what many tables have. */
extern const struct column distribution_columns[];
extern const struct column cause_columns[];

/* Of a struct steady_split: objects "steady" and "once" with their time and how many began there, or with their time alone;
 * not known where nothing repeats. */
extern const struct column split_columns[];
extern const struct column split_time_columns[];

#endif
