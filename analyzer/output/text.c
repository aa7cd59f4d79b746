#define _GNU_SOURCE /* asprintf */
#include "output/page.h"

#include "base/paths.h"
#include "base/shell.h"
#include "output/limit_text.h"
#include "output/narrow.h"
#include "output/sections/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *emphasis(const struct page *page, const char *loop)
{
	return page->options->color ? loop : "";
}

#define BOLD "\033[1m"
#define GRAY "\033[2m"
#define PLAIN "\033[0m"

/* The first length bytes of text, as format_text shows them.  Returns the columns used. */
static size_t put_text(struct page *page, const char *text, size_t length)
{
	const char *end = text + length;
	size_t columns = 0;

	for (; text < end; columns++) {
		size_t bytes = format_character(text);

		if (bytes)
			fwrite(text, 1, bytes, page->out);
		else
			fputc('?', page->out);
		text += bytes ? bytes : 1;
	}
	return columns;
}

static size_t count_columns(const char *text, size_t length)
{
	const char *end = text + length;
	size_t columns = 0;

	for (; text < end; columns++)
		text += format_character(text) ? format_character(text) : 1;
	return columns;
}

size_t page_width(const struct page *page)
{
	size_t width = page->options->width;

	return width < PAGE_WIDTH ? PAGE_WIDTH : width < PAGE_WIDTH_MOST ? width : PAGE_WIDTH_MOST;
}

static bool is_narrow(const struct output_options *options)
{
	return options->width && options->width < PAGE_WIDTH && !options->wide;
}

size_t page_columns(const struct page *page)
{
	size_t width = page->options->width;

	if (!is_narrow(page->options))
		return page_width(page);
	return width < PAGE_WIDTH_LEAST ? PAGE_WIDTH_LEAST : width;
}

void page_begin(struct page *page)
{
	FILE *kept;

	if (!is_narrow(page->options))
		return;
	kept = open_memstream(&page->kept, &page->kept_size);
	page->has_failed |= !kept;
	if (!kept)
		return;
	page->screen = page->out;
	page->out = kept;
}

/* Of what was kept: on the screen. */
static void put_kept(struct page *page)
{
	if (!page->screen)
		return;
	if (fclose(page->out) || !page->kept)
		page->has_failed = true;
	else
		narrow_put(page->screen, page->kept, page->kept_size, page_columns(page));
	free(page->kept);
	page->out = page->screen;
	page->screen = NULL;
}

void page_title(struct page *page, const char *title, const char *note)
{
	if (page->is_begun)
		fputc('\n', page->out);
	page->is_begun = true;
	page->is_program_noted = false;
	page->title_count++;
	fputs(emphasis(page, BOLD), page->out);
	(void)put_text(page, title, strlen(title));
	fputs(emphasis(page, PLAIN), page->out);
	if (note && *note) {
		fprintf(page->out, "  %s(", emphasis(page, GRAY));
		(void)put_text(page, note, strlen(note));
		fprintf(page->out, ")%s", emphasis(page, PLAIN));
	}
	fputc('\n', page->out);
}

void page_list_title(struct page *page, const char *title, const char *note, size_t shown,
		     size_t count)
{
	char text[128] = "";

	if (shown < count)
		snprintf(text, sizeof(text), "%zu of %s%s", shown, format_count(count).text,
			 note ? ", " : "");
	if (note)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", note);
	page_title(page, title, text);
}

void page_heads(struct page *page, const char *heads)
{
	fprintf(page->out, "%s%s%s\n", emphasis(page, GRAY), heads, emphasis(page, PLAIN));
}

/* How long the unit is that belongs to the number before it: "ms" of "12.3 ms: ...", with what follows it; else 0. */
static size_t unit_length(const char *text)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB"};
	size_t length = strcspn(text, " \n"), name = strspn(text, "KMGiBnums");

	for (size_t i = 0; name && i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i]) == name && !strncmp(units[i], text, name) &&
		    strspn(text + name, ",.;:)'") == length - name)
			return length;
	return 0;
}

/* A word, and the unit behind it where it is a number: they stand on one line. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " \n"), unit;

	if (text[length] != ' ' || !strspn(text + (*text == '('), "0123456789"))
		return length;
	unit = unit_length(text + length + 1);
	return unit ? length + 1 + unit : length;
}

void page_wrap(struct page *page, const char *label, const char *text, size_t indent)
{
	size_t column = strlen(label), line_start;

	fputs(label, page->out);
	for (line_start = column; *text;) {
		size_t word = word_length(text);

		if (column > line_start &&
		    column + 1 + count_columns(text, word) > page_columns(page)) {
			fprintf(page->out, "\n%*s", (int)indent, "");
			column = line_start = indent;
		} else if (column > line_start) {
			fputc(' ', page->out);
			column++;
		}
		column += put_text(page, text, word);
		text += word;
		text += strspn(text, " \n");
	}
	fputc('\n', page->out);
}

void page_put(struct page *page, const char *text)
{
	if (text)
		(void)put_text(page, text, strlen(text));
	else
		page->has_failed = true;
}

void page_line(struct page *page, const char *label, const char *text)
{
	const char *last = strrchr(label, '\n'); /* of the label's lines the one with the text */

	fprintf(page->out, "%.*s", last ? (int)(last + 1 - label) : 0, label);
	if (page->screen)
		fputc(NARROW_KEEP, page->out);
	fputs(last ? last + 1 : label, page->out);
	page_put(page, text);
	fputc('\n', page->out);
}

/* Returns whether the command has the words of the recorded command line. */
static bool has_recorded_program(const struct profile *profile, const char *command)
{
	char *words = profile->process_count == 1 && *profile->processes[0].command
			      ? shell_words(profile->processes[0].command)
			      : NULL;
	size_t length = words ? strlen(words) : 0;
	const char *found = length ? strstr(command, words) : NULL;

	while (found &&
	       ((found > command && found[-1] != ' ') || (found[length] && found[length] != ' ')))
		found = strstr(found + 1, words);
	free(words);
	return found;
}

void page_command(struct page *page, const char *label, const char *command)
{
	page_line(page, label, command);
	if (!command || page->is_program_noted ||
	    !has_recorded_program(page->report->profile, command))
		return;
	page->is_program_noted = true;
	fprintf(page->out, "%*s# the program as recorded: read it before you run it\n",
		(int)strlen(label), "");
}

int page_finish(struct page *page, const char *what, struct err *err)
{
	put_kept(page);
	if (page->has_failed)
		return err_set(err, -ENOMEM, "out of memory for %s", what);
	if (fflush(page->out) || ferror(page->out))
		return err_set(err, -EIO, "%s could not be written: %s", what, strerror(errno));
	return 0;
}

void page_bar(struct page *page, int64_t part, int64_t whole, size_t width)
{
	size_t filled =
		whole > 0 ? (size_t)((double)width * (double)part / (double)whole + 0.5) : 0;

	if (filled == 0 && part > 0)
		filled = 1; /* little is not nothing */
	if (filled)
		fputs("  ", page->out);
	for (size_t i = 0; i < filled && i < width; i++)
		fputc('#', page->out);
	fputc('\n', page->out);
}

void page_text(struct page *page, const char *text, size_t width)
{
	char buffer[4 * PAGE_WIDTH_MOST + 1];
	size_t columns;

	if (!page->options->wide) {
		format_text(buffer, sizeof(buffer), text, width);
		text = buffer;
	}
	columns = put_text(page, text, strlen(text));
	if (columns < width)
		fprintf(page->out, "%*s", (int)(width - columns), "");
}

static const char *label_of(const struct page *page, const char *name, size_t width)
{
	return kernel_label(page->kernel_labels, name, kernel_label_within(width));
}

size_t page_kernel_columns(const struct page *page, const char *name)
{
	const char *label = label_of(page, name, SIZE_MAX);

	return count_columns(label, strlen(label));
}

void page_kernel(struct page *page, const char *name, size_t width)
{
	if (page->options->wide) {
		page_text(page, name, width);
		return;
	}
	page_text(page,
		  label_of(page, name, page_kernel_columns(page, name) <= width ? SIZE_MAX : width),
		  width);
}

void page_kernel_line(struct page *page, const char *name)
{
	const char *shown =
		page->options->wide
			? name
			: label_of(page, name,
				   (page->screen ? page_columns(page) : PAGE_WIDTH) - 2);

	fputs("  ", page->out);
	(void)put_text(page, shown, strlen(shown));
	fputc('\n', page->out);
}

size_t page_rows(const struct page *page, size_t count, size_t choice)
{
	size_t top = page->options->top ? page->options->top : choice;

	return count < top ? count : top;
}

static void describe_kernel(const struct page *page, const char *name, char *buffer, size_t size,
			    size_t width)
{
	if (page->options->wide)
		format_text(buffer, size, name, size);
	else
		format_text(buffer, size, label_of(page, name, width), width);
}

void page_describe_op(const struct page *page, const struct profile_op *op, char *buffer,
		      size_t size, size_t width)
{
	const struct profile *profile = page->report->profile;

	switch (op->kind) {
	case OP_KERNEL:
		describe_kernel(page, profile->signatures[op->detail].name, buffer, size, width);
		break;
	case OP_COPY:
		snprintf(buffer, size, "copy %s, %s",
			 profile_copy_kind_name(profile->copies[op->detail].kind),
			 format_bytes((double)profile->copies[op->detail].bytes).text);
		break;
	case OP_MEMSET:
		snprintf(buffer, size, "memset, %s",
			 format_bytes((double)profile->memsets[op->detail].bytes).text);
		break;
	default:
		snprintf(buffer, size, "graph %" PRIu32, profile_op_graph(profile, op));
	}
}

void page_share(struct page *page, const char *label, int64_t part_ns, int64_t wall_ns)
{
	fprintf(page->out, "  %-*s %9s %7s", page->screen ? 19 : 25, label,
		format_ns((double)part_ns).text,
		format_percent((double)part_ns, (double)wall_ns).text);
	page_bar(page, part_ns, wall_ns, PAGE_WIDTH - 47);
}

/* What the report is of, where that is not the whole recording. */
static void put_selection(struct page *page)
{
	if (!page->report->part.sentence)
		return;
	page_title(page, "A part of the recording", NULL);
	page_wrap(page, "  ", page->report->part.sentence, 2);
}

/* Of a section that was asked for by name also that there is nothing, and why. */
static void put_section(struct page *page, const struct section *section)
{
	size_t titles = page->title_count;
	struct sentence why;

	section->print(page);
	if (page->title_count > titles || !section_is_asked(section, page->options))
		return;
	why = section_why_empty(section, page->report);
	if (!*why.text)
		return;
	page_title(page, section->title, NULL);
	page_wrap(page, "  ", why.text, 2);
}

/* Below a whole report: where the same can be clicked. */
static void put_page_command(struct page *page)
{
	const char *options = page->report->part.options;
	char *path = shell_path(path_named(page->report->profile->path)), *command = NULL;

	if (!path || asprintf(&command, "rooflinectl report %s%s --html FILE",
			      options ? options : "", path) < 0)
		command = NULL;
	page_line(page, "\nAs a page for a browser:\n  ", command);
	free(command);
	free(path);
}

static struct page page_of(const struct report *report, FILE *out,
			   const struct output_options *options)
{
	return (struct page){.out = out,
			     .report = report,
			     .options = options,
			     .kernel_labels = report->profile->kernel_labels,
			     .is_begun = options->is_begun};
}

int output_text_begin(const struct report *report, FILE *out, const struct output_options *options,
		      struct err *err)
{
	struct page page = page_of(report, out, options);

	page_begin(&page);
	put_selection(&page);
	put_section(&page, &section_devices);
	verdict_print_limit(&page);
	return page_finish(&page, "the report", err);
}

int output_text(const struct report *report, FILE *out, const struct output_options *options,
		struct err *err)
{
	struct page page = page_of(report, out, options);

	page_begin(&page);
	if (!options->is_begun)
		put_selection(&page);
	for (size_t i = 0; sections[i]; i++)
		if (section_is_wanted(sections[i], options) &&
		    !(options->is_begun && sections[i] == &section_devices)) {
			page.report = section_report(sections[i], report);
			put_section(&page, sections[i]);
		}
	if (!options->sections)
		put_page_command(&page);
	return page_finish(&page, "the report", err);
}
