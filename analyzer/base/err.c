#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/format.h"

/* Names come from recordings and command lines, and what shows a text must not obey it. */
static void replace_controls(char *text)
{
	while (*text) {
		size_t length = format_character(text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list arguments;

	if (!err || err->text[0])
		return code;
	va_start(arguments, format);
	vsnprintf(err->text, sizeof(err->text), format, arguments);
	va_end(arguments);
	replace_controls(err->text);
	return code;
}
