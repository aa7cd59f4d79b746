/*
 * json_records.h - a JSON file of any size, object by object.
 *
 * For files whose outermost object has lists of small objects, as traces do.  Each object of such a list comes as a flat
 * record: {"ts": 1.5, "args": {"grid": [2, 1, 1]}} has the fields ts, args.grid (three times) with the text that
 * stands in the file, so that no digit of a number is lost.  One record at a time is in memory.  The file may be
 * compressed with gzip, zstd, xz or bzip2.
 */
#ifndef ROOFLINE_JSON_RECORDS_H
#define ROOFLINE_JSON_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct json_record;

/* section: key of the list or object in the outermost object, "" for what stands there itself and for an outermost
 * list.  Each list of a section begins with a record without fields, which tells that it is there.  A negative result ends
 * the reading. */
typedef int (*json_record_taker)(const char *section, const struct json_record *record,
				 void *context);

/* Fails where the file is no JSON, ends early, or is nested deeper than 32 levels, and says at which byte and in which record.
 * Control characters in strings are let through as blanks, and NaN and Infinity, in the ways that programs write them, as
 * text that is no number. */
int json_records_read(const char *path, json_record_taker each, void *context, struct err *err);

/* Whether it has no field. */
bool json_record_is_empty(const struct json_record *record);

/* The text of a field, of a list the index-th; NULL where there is none. */
const char *json_record_text(const struct json_record *record, const char *field, size_t index);

/* As a whole number, 0 where there is none; text that is a number counts. */
int64_t json_record_number(const struct json_record *record, const char *field, size_t index);

/* The same of 32 bits: 0 for what is below zero or beyond. */
uint32_t json_record_u32(const struct json_record *record, const char *field, size_t index);

#endif
