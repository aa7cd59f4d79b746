/*
 * csv_values.h - what the sections of the CSV report share: values of every sort, and prototypes.
 */
#ifndef ROOFLINE_CSV_VALUES_H
#define ROOFLINE_CSV_VALUES_H

#include "output/outputs.h"

#include <csv.h>
#include <inttypes.h>
#include <string.h>

struct sheet {
	FILE *out;
	const struct report *report;
	const struct output_options *options;
	size_t top; /* 0 for all rows */
	bool is_in_row;
};

static inline size_t row_count(const struct sheet *sheet, size_t count)
{
	return sheet->top && sheet->top < count ? sheet->top : count;
}

static inline void separate(struct sheet *sheet)
{
	if (sheet->is_in_row)
		fputc(',', sheet->out);
	sheet->is_in_row = true;
}

static inline void put_text(struct sheet *sheet, const char *text)
{
	separate(sheet);
	if (!text)
		return;
	if (strpbrk(text, ",\"\r\n") || *text == ' ')
		csv_fwrite(sheet->out, text, strlen(text));
	else
		fputs(text, sheet->out);
}

static inline void put_integer(struct sheet *sheet, int64_t value)
{
	separate(sheet);
	fprintf(sheet->out, "%" PRId64, value);
}

static inline void put_count(struct sheet *sheet, uint64_t value)
{
	separate(sheet);
	fprintf(sheet->out, "%" PRIu64, value);
}

static inline void put_real(struct sheet *sheet, double value)
{
	separate(sheet);
	fprintf(sheet->out, "%.15g", value);
}

static inline void end_row(struct sheet *sheet)
{
	fputc('\n', sheet->out);
	sheet->is_in_row = false;
}

static inline void put_heads(struct sheet *sheet, const char *heads)
{
	fprintf(sheet->out, "%s\n", heads);
}

#define TIME_HEADS "count,total_ns,mean_ns,p50_ns,p99_ns,min_ns,max_ns"

static inline void put_time(struct sheet *sheet, const struct distribution *time)
{
	put_count(sheet, time->count);
	put_integer(sheet, time->total_ns);
	put_real(sheet, time->mean_ns);
	put_integer(sheet, time->p50_ns);
	put_integer(sheet, time->p99_ns);
	put_integer(sheet, time->min_ns);
	put_integer(sheet, time->max_ns);
}

static inline void put_cause_heads(struct sheet *sheet)
{
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		fprintf(sheet->out, ",%s_ns", gap_cause_key(i));
	fputc('\n', sheet->out);
}

static inline void put_causes(struct sheet *sheet, const int64_t *by_cause_ns)
{
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		put_integer(sheet, by_cause_ns[i]);
}

static inline void put_dimensions(struct sheet *sheet, const uint32_t dimensions[3])
{
	for (int i = 0; i < 3; i++)
		put_integer(sheet, dimensions[i]);
}

#define CSV_SECTION_PROTOTYPE(name, title) void csv_section_##name(struct sheet *sheet);
SECTIONS(CSV_SECTION_PROTOTYPE)
#undef CSV_SECTION_PROTOTYPE

#endif
