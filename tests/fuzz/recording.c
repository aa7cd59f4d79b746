#define _GNU_SOURCE /* memmem */
/*
 * recording.c - tables of a recording, for every command that reads one.
 *
 * The first byte says which command, the second what of it; then come the tables.  A line "@kernels" begins one, and
 * "@@NAME" another process.  They are put into a tar, which is a packed recording that is not compressed: its
 * checksum would keep the bytes from being changed.
 */
#include "targets.h"

#include <archive.h>
#include <archive_entry.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report.h"
#include "charts/charts.h"
#include "cmd/commands.h"
#include "exchange/export/exports.h"
#include "output/sections.h"
#include "trace/profile.h"

/* ---- the tar ---- */

static void add_entry(struct archive *archive, const char *name, const char *bytes, size_t size)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)size);
	if (archive_write_header(archive, entry) == ARCHIVE_OK)
		archive_write_data(archive, bytes, size);
	archive_entry_free(entry);
}

/* Takes the line that text begins with; "": it is too long for a name. */
static void take_line(char *line, size_t size, const char **text, size_t *left)
{
	const char *end = memchr(*text, '\n', *left);
	size_t length = end ? (size_t)(end - *text) : *left;

	snprintf(line, size, "%.*s", length < size ? (int)length : 0, *text);
	*text += length + (end != NULL);
	*left -= length + (end != NULL);
}

/* How many bytes there are before the next line that begins with '@'. */
static size_t length_of_table(const char *text, size_t left)
{
	const char *found = left && *text == '@' ? text : memmem(text, left, "\n@", 2);

	return found ? (size_t)(found - text) + (*found == '\n') : left;
}

static void add_tables(struct archive *archive, const char *text, size_t left)
{
	char process[64] = "host.7", line[64], name[160];

	while (left) {
		size_t length;

		take_line(line, sizeof(line), &text, &left);
		if (line[0] == '@' && line[1] == '@') {
			snprintf(process, sizeof(process), "%s", line + 2);
			continue;
		}
		length = length_of_table(text, left);
		snprintf(name, sizeof(name), "%s/%s.csv", process, line + (line[0] == '@'));
		add_entry(archive, name, text, length);
		text += length;
		left -= length;
	}
}

static void make_recording(const char *path, const uint8_t *bytes, size_t size)
{
	struct archive *archive = archive_write_new();

	archive_write_set_format_ustar(archive);
	if (archive_write_open_filename(archive, path) == ARCHIVE_OK)
		add_tables(archive, (const char *)bytes, size);
	archive_write_free(archive);
}

/* ---- charts: their columns, without gnuplot ---- */

static void draw(const char *path, unsigned what)
{
#define CHART_FUNCTION(name, summary) chart_##name,
	static const chart_writer charts[] = {CHARTS(CHART_FUNCTION)};
#undef CHART_FUNCTION
	/* the last two take more than a report */
	size_t count = sizeof(charts) / sizeof(charts[0]) - 2;
	struct chart_options options = {.to_ns = -1, .text_columns = what & 0x80 ? 80 : 0};
	struct profile *profile;
	struct report *report;
	struct err err = {""};

	if (profile_load(&profile, path, &err) < 0 || report_of_profile(&report, profile, &err) < 0)
		return;
	(void)charts[what % count](report, &options, fuzz_folder(), &err);
	report_free(report);
}

/* ---- commands ---- */

#define SECTION_TEXT(name) #name,
static const char *const section_names[] = {SECTIONS(SECTION_TEXT)};
#undef SECTION_TEXT

static void report_section(const char *path, unsigned what)
{
	size_t count = sizeof(section_names) / sizeof(section_names[0]);

	FUZZ_COMMAND(cmd_report, "--format", "csv", "--section", section_names[what % count], path);
}

static void report_page(const char *path)
{
	char out[PATH_MAX];

	snprintf(out, sizeof(out), "%s/out.html", fuzz_folder());
	FUZZ_COMMAND(cmd_report, "--html", out, path);
}

static void export_as(const char *path, unsigned what)
{
#define FORMAT_TEXT(name, suffix, title) #name,
	static const char *const formats[] = {EXPORTS(FORMAT_TEXT)};
#undef FORMAT_TEXT
	char out[PATH_MAX];

	snprintf(out, sizeof(out), "%s/out", fuzz_folder());
	FUZZ_COMMAND(cmd_export, "--format", formats[what % (sizeof(formats) / sizeof(formats[0]))],
		     "-o", out, path);
}

/* A part of it as a recording of its own. */
static void report_part(const char *path, unsigned what)
{
	const char *range = what & 1 ? "step" : "k";
	char out[PATH_MAX];

	snprintf(out, sizeof(out), "%s/part.roofline", fuzz_folder());
	unlink(out);
	if (what & 2)
		FUZZ_COMMAND(cmd_pack, path, "--range", range, "-o", out);
	else
		FUZZ_COMMAND(cmd_pack, path, "--from", "1us", "--to", "1ms", "-o", out);
	if (access(out, F_OK) == 0)
		FUZZ_COMMAND(cmd_report, out);
}

static void compare_page(const char *path)
{
	char out[PATH_MAX];

	snprintf(out, sizeof(out), "%s/out.html", fuzz_folder());
	FUZZ_COMMAND(cmd_compare, "--html", out, path, path);
}

static void summarize(const char *path)
{
	char out[PATH_MAX];

	snprintf(out, sizeof(out), "%s/summary", fuzz_folder());
	FUZZ_COMMAND(cmd_summarize, path, "-o", out);
	FUZZ_COMMAND(cmd_merge, out, out);
}

/* Techniques in groups that may be applied one after the other. */
static void ask_what_if(const char *path, unsigned what)
{
	static const char *const groups[][4] = {
		{"--graph", "--pinned", "--fewer-waits", "--narrow=2"},
		{"--fuse", "--streams", "--preallocate", "--fill"},
		{"--persistent", "--overlap", "--queue", "--update"},
		{"--check-every", "--decide", "--aggregate=8", "--keep-modules"},
		{"--while", "--device-launch", "--batch=4", "--unroll"},
		{"--batch-launches", "--dependent", "--graph", "--queue"},
		{"--peer-copy", "--buckets=2", "--signals", NULL},
		{"--unroll", "--narrow=2", "--fill", "--pinned"},
	};
	const char *const *group = groups[what % (sizeof(groups) / sizeof(groups[0]))];

	FUZZ_COMMAND(cmd_whatif, "--format", what & 0x80 ? "json" : "text", group[0], group[1],
		     group[2], group[3], path);
}

void fuzz_recording(const uint8_t *bytes, size_t size)
{
	char path[PATH_MAX];

	if (size < 2)
		return;
	snprintf(path, sizeof(path), "%s/packed.roofline", fuzz_folder());
	make_recording(path, bytes + 2, size - 2);
	switch (bytes[0] % 16) {
	case 0:
		FUZZ_COMMAND(cmd_report, "--wide", path);
		break;
	case 1:
		FUZZ_COMMAND(cmd_report, "--format", "json", path);
		break;
	case 2:
		report_section(path, bytes[1]);
		break;
	case 3:
		report_page(path);
		break;
	case 4:
		export_as(path, bytes[1]);
		break;
	case 5:
		FUZZ_COMMAND(cmd_advise, path);
		break;
	case 6:
		ask_what_if(path, bytes[1]);
		break;
	case 7:
		FUZZ_COMMAND(cmd_verify, path, path);
		break;
	case 8:
		FUZZ_COMMAND(cmd_compare, path, path);
		break;
	case 9:
		FUZZ_COMMAND(cmd_report, "--range", "step", "--skip-first", "1", path);
		break;
	case 10:
		report_part(path, bytes[1]);
		break;
	case 11:
		compare_page(path);
		break;
	case 12:
		summarize(path);
		break;
	default:
		draw(path, bytes[1]);
	}
}
