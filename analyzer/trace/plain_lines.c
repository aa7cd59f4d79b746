#include "trace/plain_lines.h"

#include <string.h>

/* So many digits do not overflow 64 bits. */
#define DIGITS_MOST 19

struct number {
	uint64_t magnitude;
	bool is_negative;
	const char *end; /* NULL: it is none */
};

/* Something that is no digit must follow. */
static inline struct number read_number(const char *text)
{
	struct number number = {.is_negative = *text == '-'};
	const char *first = text + number.is_negative, *at = first;
	unsigned int digit;

	for (; (digit = (unsigned char)*at - (unsigned int)'0') <= 9; at++)
		number.magnitude = number.magnitude * 10 + digit;
	number.end = at > first && at - first <= DIGITS_MOST ? at : NULL;
	return number;
}

static inline bool put(char *row, const struct plain_column *column, const struct number *number)
{
	int64_t magnitude = (int64_t)number->magnitude;

	switch (column->type) {
	case PLAIN_i64:
		if (magnitude < 0)
			return false;
		*(int64_t *)(void *)(row + column->offset) =
			number->is_negative ? -magnitude : magnitude;
		return true;
	case PLAIN_u64:
		*(uint64_t *)(void *)(row + column->offset) = number->magnitude;
		return !number->is_negative;
	case PLAIN_u32:
		*(uint32_t *)(void *)(row + column->offset) = (uint32_t)number->magnitude;
		return !number->is_negative && number->magnitude <= UINT32_MAX;
	default:
		return true;
	}
}

size_t plain_line_read(void *row, const struct plain_column *columns, size_t column_count,
		       const char *text, size_t length)
{
	const char *newline = memchr(text, '\n', length), *at = text;

	if (!newline)
		return 0;
	for (size_t i = 0; i < column_count; i++) {
		const struct number number = read_number(at);

		if (!number.end || *number.end != (i + 1 < column_count ? ',' : '\n') ||
		    !put(row, &columns[i], &number))
			return 0;
		at = number.end + 1;
	}
	return column_count ? (size_t)(newline + 1 - text) : 0;
}
