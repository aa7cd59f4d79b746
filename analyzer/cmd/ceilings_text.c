#include "cmd/ceilings_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/format.h"

#define WIDTH 80

/* Text from a file: a terminal must not get control characters from it. */
static void print_safe(FILE *out, const char *before, const char *text)
{
	char safe[512];

	if (!text || !*text)
		return;
	format_text(safe, sizeof(safe), text, sizeof(safe));
	fprintf(out, "%s%s", before, safe);
}

static void print_head(const struct ceilings *ceilings, const char *note, FILE *out)
{
	const struct datasheet *sheet = datasheet_find(ceilings->gpu);

	print_safe(out, "Ceilings of ", ceilings->gpu);
	if (ceilings->driver && *ceilings->driver) {
		print_safe(out, "  (driver ", ceilings->driver);
		print_safe(out, ", CUDA ", ceilings->cuda);
		fputc(')', out);
	}
	fputc('\n', out);
	print_safe(out, "  ", note);
	if (ceilings->date && *ceilings->date) {
		print_safe(out, note ? "\n  measured " : "  measured ", ceilings->date);
		print_safe(out, " by ", ceilings->command);
	}
	fputc('\n', out);
	if (sheet)
		fprintf(out, "  datasheet: %s\n", sheet->source);
	fputs("  value: median; spread: half of 10th to 90th percentile\n", out);
}

struct row_name {
	char text[64];
};

/* The parameter of a row stands in brackets behind its name. */
static struct row_name row_name(enum ceiling_id id, uint64_t parameter)
{
	struct row_name name;
	const char *text = ceiling_kind(id)->name;

	if (parameter)
		snprintf(name.text, sizeof(name.text), "%.32s[%" PRIu64 "]", text, parameter);
	else
		snprintf(name.text, sizeof(name.text), "%s", text);
	return name;
}

static struct figure row_value(const struct ceiling *row)
{
	const char *unit = ceiling_kind(row->id)->unit;

	return strcmp(unit, "ns") ? format_per_s(row->value, unit) : format_ns(row->value);
}

static struct figure row_spread(const struct ceiling *row)
{
	struct figure spread = {"-"};

	if (row->sample_count)
		snprintf(spread.text, sizeof(spread.text), "+-%.1f%%", 100 * ceiling_spread(row));
	return spread;
}

static struct figure row_clock(const struct ceiling *row)
{
	struct figure clock = {"-"};

	if (row->sm_mhz_high - row->sm_mhz_low >= 1)
		snprintf(clock.text, sizeof(clock.text), "%.0f-%.0f MHz", row->sm_mhz_low,
			 row->sm_mhz_high);
	else if (row->sm_mhz_high > 0)
		snprintf(clock.text, sizeof(clock.text), "%.0f MHz", row->sm_mhz_high);
	return clock;
}

static void print_row(const struct ceiling *row, const struct datasheet *sheet, FILE *out)
{
	fprintf(out, "  %-29s %12s %8s %14s %10s\n", row_name(row->id, row->parameter).text,
		row_value(row).text, row_spread(row).text, row_clock(row).text,
		format_percent(row->value, datasheet_value(sheet, row->id)).text);
}

static void print_skip(const struct ceiling_skip *skip, FILE *out)
{
	char reason[WIDTH];

	format_text(reason, sizeof(reason), skip->reason, WIDTH - 41);
	fprintf(out, "  %-29s skipped: %s\n", row_name(skip->id, skip->parameter).text, reason);
}

/* What the numbers in brackets count, in a program whose rows have any: "addresses". */
static const char *parameter_of(const struct ceilings *ceilings, enum ceiling_program program)
{
	for (size_t i = 0; i < ceilings->count; i++)
		if (ceilings->rows[i].parameter &&
		    ceiling_kind(ceilings->rows[i].id)->program == program)
			return ceiling_kind(ceilings->rows[i].id)->parameter;
	return NULL;
}

static bool is_empty(const struct ceilings *ceilings, enum ceiling_program program)
{
	for (size_t i = 0; i < ceilings->count; i++)
		if (ceiling_kind(ceilings->rows[i].id)->program == program)
			return false;
	for (size_t i = 0; i < ceilings->skip_count; i++)
		if (ceiling_kind(ceilings->skips[i].id)->program == program)
			return false;
	return true;
}

static void print_group(const struct ceilings *ceilings, enum ceiling_program program,
			const struct datasheet *sheet, FILE *out)
{
	const char *what = ceiling_program_kind(program)->what;
	const char *parameter = parameter_of(ceilings, program);

	if (is_empty(ceilings, program))
		return;
	fprintf(out, "\n%s%s%s%s\n", what, parameter ? " [" : "", parameter ? parameter : "",
		parameter ? "]" : "");
	for (size_t i = 0; i < ceilings->count; i++)
		if (ceiling_kind(ceilings->rows[i].id)->program == program)
			print_row(&ceilings->rows[i], sheet, out);
	for (size_t i = 0; i < ceilings->skip_count; i++)
		if (ceiling_kind(ceilings->skips[i].id)->program == program)
			print_skip(&ceilings->skips[i], out);
}

static void print_doubts(const struct ceilings *ceilings, const struct datasheet *sheet,
			 bool has_color, FILE *out)
{
	struct ceiling_doubt doubts[CEILING_DOUBTS_MOST];
	size_t count = ceilings_doubts(doubts, ceilings, sheet);

	if (count)
		fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		fprintf(out,
			"%sWARNING%s %s is %.1f%% of the datasheet's figure: below %.0f%% doubt "
			"it;\n        is the GPU busy, hot, or limited in power or clock?\n",
			has_color ? "\033[33m" : "", has_color ? "\033[0m" : "",
			ceiling_kind(doubts[i].ceiling->id)->name, 100 * doubts[i].share,
			100 * doubts[i].least_share);
}

void ceilings_text(const struct ceilings *ceilings, const char *note, bool has_color, FILE *out)
{
	const struct datasheet *sheet = datasheet_find(ceilings->gpu);

	print_head(ceilings, note, out);
	fprintf(out, "\n  %-29s %12s %8s %14s %10s\n", "", "value", "spread", "SM clock",
		"datasheet");
	for (int i = 0; i < CEILING_PROGRAM_COUNT; i++)
		print_group(ceilings, (enum ceiling_program)i, sheet, out);
	print_doubts(ceilings, sheet, has_color, out);
	if (ceilings->unknown_count)
		fprintf(out,
			"\n%zu rows of the file are not known to this version of rooflinectl\n",
			ceilings->unknown_count);
}
