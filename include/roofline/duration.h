/*
 * duration.h - "1us", "100ms", "1.5s": a length of time as people write it.
 *
 * `rooflinectl record` checks with it what the collector reads with it.
 */
#ifndef ROOFLINE_DURATION_H
#define ROOFLINE_DURATION_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Digits with at most one point, not as strtod: the program may have chosen another decimal point.
 * *end is behind the number, text itself when there is none. */
static inline double duration_number(const char *text, const char **end)
{
	double value = 0, unit = 1;
	int has_digit = 0, has_point = 0;

	for (*end = text; (**end >= '0' && **end <= '9') || (**end == '.' && !has_point);
	     (*end)++) {
		if (**end == '.') {
			has_point = 1;
			continue;
		}
		has_digit = 1;
		value = value * 10 + (**end - '0');
		unit *= has_point ? 10 : 1;
	}
	if (!has_digit)
		*end = text;
	return value / unit;
}

/* Nanoseconds of a number with ns, us, ms or s behind it; -1 when text is none, or not from 1 ns to
 * 1e9 s.  With end, text may go on behind it. */
static inline int64_t duration_ns(const char *text, const char **end)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	const char *rest;
	double value = duration_number(text, &rest);

	if (rest == text)
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t length = strlen(units[i].name);
		double ns = value * units[i].ns;

		if (strncmp(rest, units[i].name, length))
			continue;
		if (end)
			*end = rest + length;
		if ((!end && rest[length]) || !(ns >= 1 && ns <= 1e18)) /* nor NaN */
			return -1;
		return (int64_t)(ns + 0.5);
	}
	return -1;
}

/* LENGTH/PERIOD.  Returns 0, or -1 when text is none or LENGTH is not the shorter. */
static inline int duration_window(const char *text, int64_t *length_ns, int64_t *period_ns)
{
	const char *rest = text;

	*length_ns = duration_ns(text, &rest);
	if (*length_ns < 0 || *rest != '/')
		return -1;
	*period_ns = duration_ns(rest + 1, NULL);
	return *period_ns < *length_ns ? -1 : 0;
}

#endif
