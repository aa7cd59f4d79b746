#include "output/narrow.h"

#include <stdbool.h>
#include <string.h>

#include "base/format.h"

#define INDENT 4 /* of what is behind a break, the same for all lines of a table */

/* What is left of a line. */
struct rest {
	const char *at, *end;
};

/* ---- columns ---- */

/* Bytes of the escape sequence that stands there; 0: none does. */
static size_t escape_length(const char *at, const char *end)
{
	const char *last = *at == '\033' ? memchr(at, 'm', (size_t)(end - at)) : NULL;

	return last ? (size_t)(last + 1 - at) : 0;
}

static const char *next_character(const char *at, const char *end, size_t *columns)
{
	size_t escape = escape_length(at, end), bytes = escape ? escape : format_character(at);

	*columns += escape == 0;
	return bytes && bytes <= (size_t)(end - at) ? at + bytes : at + 1;
}

static size_t count_columns(const char *at, const char *end)
{
	size_t columns = 0;

	while (at < end)
		at = next_character(at, end, &columns);
	return columns;
}

static size_t count_blanks(const char *at, const char *end)
{
	const char *first = at;

	while (at < end && *at == ' ')
		at++;
	return (size_t)(at - first);
}

/* ---- words ---- */

static const char *end_of_word(const char *at, const char *end)
{
	at += count_blanks(at, end);
	while (at < end && *at != ' ')
		at++;
	return at;
}

static bool is_unit(const char *at, const char *end)
{
	static const char *const units[] = {"ns",   "us",   "ms",  "s",	   "B",	   "KiB",
					    "MiB",  "GiB",  "TiB", "B/s",  "kB/s", "MB/s",
					    "GB/s", "TB/s", "MHz", "GB/s,"};
	size_t length = (size_t)(end - at);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(units[i], at, strlen(units[i])) &&
		    (length == strlen(units[i]) ||
		     (length == strlen(units[i]) + 1 && strchr(",.;:)", end[-1]))))
			return true;
	return false;
}

/* A number takes its unit along. */
static const char *end_of_piece(const char *at, const char *end)
{
	const char *word = at + count_blanks(at, end), *stop = end_of_word(at, end), *unit;

	if (word == end || stop == end || count_blanks(stop, end) != 1 ||
	    !strspn(word, "0123456789") || stop[-1] == '%')
		return stop;
	unit = end_of_word(stop, end);
	return is_unit(stop + 1, unit) ? unit : stop;
}

static bool is_bar(const char *at, const char *end)
{
	at += count_blanks(at, end);
	if (at == end)
		return false;
	while (at < end && *at == '#')
		at++;
	return at == end;
}

/* Where the line is broken so that as much as possible fits, a word at least. */
static const char *find_break(const struct rest *rest, size_t columns)
{
	const char *fits = end_of_piece(rest->at, rest->end), *next;

	for (; fits < rest->end; fits = next) {
		next = end_of_piece(fits, rest->end);
		if (count_columns(rest->at, next) > columns)
			break;
	}
	return fits;
}

/* A text at the right, such as a kernel's shape, stays in one piece where it fits below: it begins behind the last two
 * blanks that are within what fits. */
static const char *find_text(const struct rest *rest, const char *fits, size_t columns)
{
	const char *first = rest->at + count_blanks(rest->at, rest->end), *text = fits;

	if (fits == rest->end || count_blanks(fits, rest->end) > 1)
		return fits;
	while (text > first && !(text[0] == ' ' && text[-1] == ' '))
		text--;
	while (text > first && text[-1] == ' ')
		text--;
	if (text <= first ||
	    count_columns(text, rest->end) - count_blanks(text, rest->end) > columns)
		return fits;
	return strspn(text + count_blanks(text, rest->end), "0123456789-+.#") ? fits : text;
}

/* ---- lines ---- */

static void put_piece(FILE *out, const char *at, const char *end, size_t indent)
{
	while (end > at && end[-1] == ' ')
		end--;
	fprintf(out, "%*s", end > at ? (int)indent : 0, "");
	fwrite(at, 1, (size_t)(end - at), out);
}

static void skip_blanks(struct rest *rest, size_t most)
{
	size_t blanks = count_blanks(rest->at, rest->end);

	rest->at += blanks > most ? blanks - most : 0;
}

static bool is_too_long(const struct rest *rest, size_t columns)
{
	return count_columns(rest->at, rest->end) > columns;
}

/* Takes as many blanks as it is too long by, where there are so many: ends of columns still meet. */
static void fit(struct rest *rest, size_t columns)
{
	size_t blanks = count_blanks(rest->at, rest->end), all = count_columns(rest->at, rest->end);

	if (all > columns && all - columns <= blanks)
		rest->at += all - columns;
	else if (blanks > columns / 2)
		rest->at += blanks;
}

static void break_line(FILE *out, struct rest rest, size_t width)
{
	size_t first = count_blanks(rest.at, rest.end), used = 0;
	const char *stop;

	while (is_too_long(&rest, width - used) && !(used && is_bar(rest.at, rest.end))) {
		if (count_columns(rest.at, end_of_piece(rest.at, rest.end)) > width - used)
			skip_blanks(&rest, used ? 0 : first < width / 2 ? first : INDENT);
		stop = find_break(&rest, width - used);
		stop = find_text(&rest, stop, width - INDENT);
		if (stop == rest.end)
			break;
		put_piece(out, rest.at, stop, used);
		rest.at = stop;
		if (is_bar(rest.at, rest.end))
			return;
		fputc('\n', out);
		used = INDENT;
		fit(&rest, width - used);
	}
	put_piece(out, rest.at, rest.end, used);
}

void narrow_put(FILE *out, const char *text, size_t length, size_t width)
{
	const char *end = text + length;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct rest rest = {text, stop ? stop : end};

		if (*text == NARROW_KEEP)
			put_piece(out, text + 1, rest.end, 0);
		else
			break_line(out, rest, width);
		if (stop)
			fputc('\n', out);
		text = stop ? stop + 1 : end;
	}
}
