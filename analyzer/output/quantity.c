#include "output/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct quantity_unit *quantity_unit(double ns)
{
	static const struct quantity_unit units[] = {
		{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};
	size_t i = 0;

	/* 999,950 ns would be written as 1000 µs */
	while (i < 3 && ns < units[i].ns * 0.9995)
		i++;
	return &units[i];
}

static void three_digits(char text[QUANTITY_SIZE], double value, const char *unit)
{
	int decimals = value >= 99.95 || value == 0 ? 0 : value >= 9.995 ? 1 : 2;

	snprintf(text, QUANTITY_SIZE, "%.*f%s", decimals, value, unit);
}

const char *quantity_time(char text[QUANTITY_SIZE], double ns)
{
	const struct quantity_unit *unit = quantity_unit(ns);

	if (unit->ns == 1)
		snprintf(text, QUANTITY_SIZE, "%.0f ns", ns);
	else
		three_digits(text, ns / unit->ns, "");
	if (unit->ns > 1) {
		strcat(text, " ");
		strcat(text, unit->name);
	}
	return text;
}

const char *quantity_count(char text[QUANTITY_SIZE], uint64_t count)
{
	char digits[QUANTITY_SIZE];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

const char *quantity_short_count(char text[QUANTITY_SIZE], uint64_t count)
{
	static const char *const suffixes[] = {"", "k", "M", "G", "T", "P", "E"};
	double value = (double)count;
	size_t i = 0;

	for (; value >= 999.5; i++)
		value /= 1000;
	snprintf(text, QUANTITY_SIZE, i > 0 && value < 9.95 ? "%.1f%s" : "%.0f%s", value,
		 suffixes[i]);
	return text;
}

const char *quantity_share(char text[QUANTITY_SIZE], double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (percent > 0 && percent < 0.1)
		snprintf(text, QUANTITY_SIZE, "<0.1%%");
	else if (percent > 0 && percent < 0.95)
		snprintf(text, QUANTITY_SIZE, "%.1f%%", percent);
	else if (percent > 99 && percent < 99.95)
		snprintf(text, QUANTITY_SIZE, "%.1f%%", percent);
	else
		snprintf(text, QUANTITY_SIZE, "%.0f%%", percent);
	return text;
}
