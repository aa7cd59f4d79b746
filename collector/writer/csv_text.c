#define _GNU_SOURCE
#include "writer/csv_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES (65536 + 4096) /* a chunk that is written at once, and the row that filled it */

char *csv_reserve(struct csv_text *text, size_t bytes)
{
	size_t room = text->room ? text->room : FIRST_BYTES;
	char *grown;

	if (text->used + bytes <= text->room)
		return text->bytes + text->used;
	while (text->used + bytes > room)
		room *= 2;
	grown = realloc(text->bytes, room);
	if (!grown)
		return NULL;
	text->bytes = grown;
	text->room = room;
	return text->bytes + text->used;
}

char *csv_put_u64(char *out, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[20];
	size_t at = sizeof(digits);

	while (value >= 100) {
		at -= 2;
		memcpy(digits + at, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	at -= value >= 10 ? 2 : 1;
	memcpy(digits + at, pairs + 2 * value + (value >= 10 ? 0 : 1), value >= 10 ? 2 : 1);
	memcpy(out, digits + at, sizeof(digits) - at);
	return out + sizeof(digits) - at;
}

char *csv_put_i64(char *out, int64_t value)
{
	if (value >= 0)
		return csv_put_u64(out, (uint64_t)value);
	*out++ = '-';
	return csv_put_u64(out, -(uint64_t)value);
}

/* Reads back as the same value; whole numbers, as most counters are, without a fraction.  The program
 * may have chosen a locale: whatever it puts for the decimal point becomes one. */
char *csv_put_f64(char *out, double value)
{
	char text[CSV_FRACTION_BYTES];

	if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
		return csv_put_i64(out, (int64_t)value);
	snprintf(text, sizeof(text), "%.17g", value);
	for (const char *from = text; *from; from++)
		if (strchr("0123456789+-e", *from))
			*out++ = *from;
		else if (out[-1] != '.')
			*out++ = '.';
	return out;
}

/* Length of the UTF-8 character at text; 0 when it is none: cut off, longer than it has to be, half of a
 * surrogate pair, or beyond the last one. */
static size_t utf8_length(const unsigned char *text)
{
	size_t length = *text < 0x80 ? 1 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;
	uint32_t second = length > 1 ? text[1] : 0;

	if (length == 1)
		return 1;
	if (*text < 0xc2 || *text > 0xf4 || (*text == 0xe0 && second < 0xa0) ||
	    (*text == 0xed && second > 0x9f) || (*text == 0xf0 && second < 0x90) ||
	    (*text == 0xf4 && second > 0x8f))
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80) /* also the end of the text */
			return 0;
	return length;
}

/* One character of text, or U+FFFD for a byte that begins none.  Returns the place behind it in text. */
static const char *put_character(char **out, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = utf8_length((const unsigned char *)text);

	if (*text == '"')
		*(*out)++ = '"';
	memcpy(*out, length ? text : replacement, length ? length : 3);
	*out += length ? length : 3;
	return text + (length ? length : 1);
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((signed char)*text < 0 || strchr(",\"\r\n", *text))
			return false;
	return true;
}

size_t csv_text_room(const char *text)
{
	return (text ? 3 * strlen(text) : 0) + 3;
}

/* RFC 4180; written here so that the collector brings no library into the program. */
char *csv_put_text(char *out, const char *text)
{
	bool is_quoted = text && strpbrk(text, ",\"\r\n");

	if (!text)
		return out;
	if (is_plain(text)) {
		size_t length = strlen(text);

		memcpy(out, text, length);
		return out + length;
	}
	if (is_quoted)
		*out++ = '"';
	while (*text)
		text = put_character(&out, text);
	if (is_quoted)
		*out++ = '"';
	return out;
}

uint64_t csv_count_lines(const char *bytes, size_t length)
{
	uint64_t lines = 0;

	for (const char *end = bytes + length; (bytes = memchr(bytes, '\n', (size_t)(end - bytes)));
	     bytes++)
		lines++;
	return lines;
}
