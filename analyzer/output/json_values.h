/*
 * json_values.h - what the sections of the JSON report share: values of every sort, and prototypes.
 */
#ifndef ROOFLINE_JSON_VALUES_H
#define ROOFLINE_JSON_VALUES_H

#include "base/sums.h"
#include "output/outputs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct json_report {
	const struct report *report;
	const struct output_options *options;
};

static inline size_t row_count(const struct json_report *json, size_t count)
{
	return json->options->top && json->options->top < count ? json->options->top : count;
}

/* JSON is UTF-8; a name that is not (file names, foreign code pages) keeps its ASCII part. */
static inline json_t *text_of(const char *text)
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

static inline void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, text ? text_of(text) : json_null());
}

static inline void set_integer(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, json_integer(value));
}

static inline void set_count(json_t *object, const char *key, uint64_t value)
{
	set_integer(object, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static inline void set_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, json_real(value));
}

static inline void set_bool(json_t *object, const char *key, bool value)
{
	json_object_set_new(object, key, json_boolean(value));
}

static inline void set_time(json_t *object, const struct distribution *time)
{
	set_count(object, "count", time->count);
	set_integer(object, "total_ns", time->total_ns);
	set_real(object, "mean_ns", time->mean_ns);
	set_integer(object, "p50_ns", time->p50_ns);
	set_integer(object, "p99_ns", time->p99_ns);
	set_integer(object, "min_ns", time->min_ns);
	set_integer(object, "max_ns", time->max_ns);
}

static inline json_t *causes_of(const int64_t *by_cause_ns)
{
	json_t *causes = json_object();

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		set_integer(causes, gap_cause_key(i), by_cause_ns[i]);
	return causes;
}

static inline json_t *dimensions_of(const uint32_t dimensions[3])
{
	json_t *array = json_array();

	for (int i = 0; i < 3; i++)
		json_array_append_new(array, json_integer(dimensions[i]));
	return array;
}

/* Counts by kind, of all processes. */
static inline json_t *losses_of(const struct profile *profile)
{
	json_t *object = json_object();

	for (size_t i = 0; i < profile->loss_count; i++) {
		const struct profile_loss *loss = &profile->losses[i];
		uint64_t known = json_integer_value(json_object_get(object, loss->kind));

		sum_add_count(&known, loss->count);
		set_count(object, loss->kind, known);
	}
	return object;
}

#define JSON_SECTION_PROTOTYPE(name, title) \
	json_t *json_section_##name(const struct json_report *json);
SECTIONS(JSON_SECTION_PROTOTYPE)
#undef JSON_SECTION_PROTOTYPE

#endif
