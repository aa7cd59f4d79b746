#define _GNU_SOURCE /* memmem */
#include "base/names/slice.h"

#include <ctype.h>
#include <string.h>

/* ---- parts ---- */

struct slice slice_from(struct slice text, size_t start)
{
	size_t skipped = start < text.length ? start : text.length;

	return (struct slice){text.at + skipped, text.length - skipped};
}

static bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

struct slice slice_head(struct slice text, size_t length)
{
	if (length >= text.length)
		return text;
	while (length > 0 && is_inside_character(text.at[length]))
		length--;
	return (struct slice){text.at, length};
}

struct slice slice_tail(struct slice text, size_t length)
{
	size_t start = length < text.length ? text.length - length : 0;

	while (start > 0 && start < text.length && is_inside_character(text.at[start]))
		start++;
	return slice_from(text, start);
}

struct slice slice_trim(struct slice text)
{
	while (text.length && text.at[0] == ' ')
		text = slice_from(text, 1);
	while (text.length && text.at[text.length - 1] == ' ')
		text.length--;
	return text;
}

bool slice_begins(struct slice text, const char *beginning)
{
	size_t i = 0;

	while (i < text.length && beginning[i] && text.at[i] == beginning[i])
		i++;
	return !beginning[i];
}

bool slice_is(struct slice text, const char *other)
{
	size_t i = 0;

	while (i < text.length && other[i] && text.at[i] == other[i])
		i++;
	return i == text.length && !other[i];
}

bool slice_ends(struct slice text, const char *ending)
{
	size_t length = strlen(ending);

	return text.length >= length && !memcmp(text.at + text.length - length, ending, length);
}

struct slice slice_find(struct slice text, const char *part)
{
	const char *found = text.length ? memmem(text.at, text.length, part, strlen(part)) : NULL;

	return slice_from(text, found ? (size_t)(found - text.at) : text.length);
}

/* The length of "operator()" or "operator<" at a place, whose signs are no brackets; 0: none is there. */
static size_t operator_length(struct slice text, size_t at)
{
	struct slice rest = slice_from(text, at);
	size_t length = strlen("operator");

	if (!slice_begins(rest, "operator"))
		return 0;
	if (slice_begins(slice_from(rest, length), "()"))
		return length + 2;
	while (length < rest.length && strchr("<>=-", rest.at[length]))
		length++;
	return length;
}

/* Letters, which names have most of, are passed by without a further look. */
enum byte_kind { BYTE_PLAIN, BYTE_ASKED_FOR, BYTE_OPENS, BYTE_CLOSES, BYTE_OPERATOR };

static const unsigned char byte_kinds[256] = {
	[' '] = BYTE_ASKED_FOR, [':'] = BYTE_ASKED_FOR, [','] = BYTE_ASKED_FOR,
	['<'] = BYTE_OPENS,	['('] = BYTE_OPENS,	['{'] = BYTE_OPENS,
	['['] = BYTE_OPENS,	['>'] = BYTE_CLOSES,	[')'] = BYTE_CLOSES,
	['}'] = BYTE_CLOSES,	[']'] = BYTE_CLOSES,	['o'] = BYTE_OPERATOR,
};

static bool is_one_of(char byte, const char *wanted)
{
	while (*wanted && *wanted != byte)
		wanted++;
	return *wanted;
}

size_t slice_next_outside(struct slice text, size_t start, const char *wanted)
{
	size_t depth = 0;

	for (size_t i = start; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.at[i];
		size_t skipped;

		if (byte_kinds[byte] == BYTE_PLAIN)
			continue;
		if (depth == 0 && is_one_of(text.at[i], wanted))
			return i;
		switch (byte_kinds[byte]) {
		case BYTE_OPENS:
			depth++;
			break;
		case BYTE_CLOSES:
			depth -= depth > 0 && !(byte == '>' && text.at[i - 1] == '-');
			break;
		case BYTE_OPERATOR:
			skipped = operator_length(text, i);
			i += skipped ? skipped - 1 : 0;
			break;
		default:
			break;
		}
	}
	return text.length;
}

/* ---- a text ---- */

void slice_text_put(struct slice_text *text, struct slice part)
{
	size_t room = text->size - 1 - text->length;

	if (part.length > room) {
		text->is_full = true;
		part = slice_head(part, room);
	}
	if (part.length)
		memcpy(text->at + text->length, part.at, part.length);
	text->length += part.length;
	text->at[text->length] = '\0';
}

void slice_text_puts(struct slice_text *text, const char *part)
{
	slice_text_put(text, (struct slice){part, strlen(part)});
}

void slice_text_shorten(struct slice_text *text, size_t length)
{
	text->length = length;
	text->at[length] = '\0';
	text->is_full = false;
}
