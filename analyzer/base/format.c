#include "base/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scales by step until fewer than 1000 of a unit are left, and prints three digits. */
static struct figure scaled(double value, double step, const char *const *units, size_t unit_count)
{
	struct figure figure;
	size_t unit = 0;

	while (unit + 1 < unit_count && fabs(value) >= 999.5) {
		value /= step;
		unit++;
	}
	snprintf(figure.text, sizeof(figure.text), "%.*f %s",
		 unit == 0	       ? 0
		 : fabs(value) < 9.995 ? 2
		 : fabs(value) < 99.95 ? 1
				       : 0,
		 value, units[unit]);
	return figure;
}

struct figure format_ns(double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};

	return scaled(ns, 1000, units, 4);
}

struct figure format_moment(int64_t ns)
{
	static const struct {
		const char *name;
		int64_t ns;
		int digits;
	} units[] = {{"s", 1000000000, 9}, {"ms", 1000000, 6}, {"us", 1000, 3}, {"ns", 1, 0}};
	const char *sign = ns < 0 ? "-" : "";
	struct figure figure;
	size_t unit = 0, length;

	ns = ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns;
	while (unit < 3 && ns < units[unit].ns)
		unit++;
	snprintf(figure.text, sizeof(figure.text), "%s%" PRId64 ".%0*" PRId64, sign,
		 ns / units[unit].ns, units[unit].digits, ns % units[unit].ns);
	length = strlen(figure.text);
	while (figure.text[length - 1] == '0' && figure.text[length - 2] != '.')
		length--;
	if (figure.text[length - 1] == '0')
		length -= 2;
	snprintf(figure.text + length, sizeof(figure.text) - length, "%s", units[unit].name);
	return figure;
}

struct figure format_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	return scaled(bytes, 1024, units, 5);
}

struct figure format_rate(double byte_per_s)
{
	static const char *const units[] = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};

	return byte_per_s > 0 ? scaled(byte_per_s, 1000, units, 5) : (struct figure){"-"};
}

struct figure format_per_s(double value, const char *unit)
{
	static const char *const prefixes[] = {"", "K", "M", "G", "T", "P"};
	struct figure number = scaled(value, 1000, prefixes, 6), figure;

	snprintf(figure.text, sizeof(figure.text), "%.15s%.15s", number.text, unit);
	return figure;
}

struct figure format_count(uint64_t count)
{
	struct figure figure = {""};
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = figure.text;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return figure;
}

struct figure format_percent(double part, double whole)
{
	struct figure figure = {"-"};

	if (whole > 0)
		snprintf(figure.text, sizeof(figure.text), "%.1f%%", 100 * part / whole);
	return figure;
}

struct figure format_speedup(double speedup)
{
	struct figure figure = {"-"};

	if (speedup > 0)
		snprintf(figure.text, sizeof(figure.text), "%.*fx", speedup < 100 ? 2 : 0, speedup);
	return figure;
}

struct figure format_cuda_version(uint64_t version)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%" PRIu64 ".%" PRIu64, version / 1000,
		 version % 1000 / 10);
	return figure;
}

/* Length of the UTF-8 sequence that text begins with, 0 when it is none: too short, too long for
 * what it says, half of a UTF-16 pair, or beyond Unicode. */
static size_t sequence_length(const unsigned char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = *text < 0x80		 ? 1
			: (*text & 0xe0) == 0xc0 ? 2
			: (*text & 0xf0) == 0xe0 ? 3
			: (*text & 0xf8) == 0xf0 ? 4
						 : 0;
	uint32_t point = length > 1 ? *text & (0x7fu >> length) : *text;

	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (!length || point < least[length] || point > 0x10ffff || (point & ~0x7ffu) == 0xd800 ||
	    (point & ~1u) == 0xfffe) /* no character, and not allowed in XML */
		return 0;
	return length;
}

size_t format_character(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (*bytes < 0x20 || *bytes == 0x7f)
		return 0;
	if (*bytes == 0xc2 && (bytes[1] & 0xe0) == 0x80) /* U+0080 to U+009F: C1 controls */
		return 0;
	return sequence_length(bytes);
}

size_t format_text(char *buffer, size_t size, const char *text, size_t width)
{
	size_t columns = 0;
	char *to = buffer, *end = buffer + size - 1;

	for (; *text && columns < width; columns++) {
		size_t length = format_character(text);

		if (to + (length ? length : 1) > end)
			break;
		if (length)
			memcpy(to, text, length);
		else
			*to = '?';
		to += length ? length : 1;
		text += length ? length : 1;
	}
	*to = '\0';
	return columns;
}

struct format_path format_path(const char *path)
{
	struct format_path shown = {""};

	(void)format_text(shown.text, sizeof(shown.text), path, sizeof(shown.text));
	return shown;
}
