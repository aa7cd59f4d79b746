#include "trace/plain_lines.h"

#include <endian.h>
#include <string.h>

/* So many digits do not overflow 64 bits. */
#define DIGITS_MOST 19

struct number {
	uint64_t magnitude;
	bool is_negative;
	const char *end; /* NULL: it is none */
};

#define ALL_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))
#define EIGHT_DIGITS 100000000

/* Eight bytes at once, the first one lowest. */
static inline uint64_t eight_bytes(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return le64toh(bytes);
}

/* '0' to '9' are 0x30 to 0x39: adding 6 leaves the upper half of the byte as it is. */
static inline bool are_digits(uint64_t bytes)
{
	uint64_t upper = bytes & ALL_BYTES(0xf0), more = bytes + ALL_BYTES(6);

	return upper == ALL_BYTES(0x30) && (more & ALL_BYTES(0xf0)) == upper;
}

/* Neighbors become numbers of two digits, these of four, these the one of eight. */
static inline uint64_t value_of_digits(uint64_t bytes)
{
	uint64_t digits = bytes & ALL_BYTES(0x0f);
	uint64_t pairs = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	uint64_t fours = (pairs * 100 + (pairs >> 16)) & UINT64_C(0x0000ffff0000ffff);

	return (fours * 10000 + (fours >> 32)) & UINT32_MAX;
}

/* Something that is no digit must follow, before end: times have 19 digits, of which 16 are read as two. */
static inline struct number read_number(const char *text, const char *end)
{
	struct number number = {.is_negative = *text == '-'};
	const char *first = text + number.is_negative, *at = first;
	unsigned int digit;

	for (; end - at > 8 && are_digits(eight_bytes(at)); at += 8)
		number.magnitude =
			number.magnitude * EIGHT_DIGITS + value_of_digits(eight_bytes(at));
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
		const struct number number = read_number(at, newline);

		if (!number.end || *number.end != (i + 1 < column_count ? ',' : '\n') ||
		    !put(row, &columns[i], &number))
			return 0;
		at = number.end + 1;
	}
	return column_count ? (size_t)(newline + 1 - text) : 0;
}
