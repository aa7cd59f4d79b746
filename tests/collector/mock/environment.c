/*
 * environment.c - what a test asks of the stand-in for CUPTI: its variables, and files that tell the test.
 */
#define _GNU_SOURCE
#include "environment.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

unsigned long mock_number(const char *name, unsigned long fallback)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : fallback;
}

uint32_t mock_version(void)
{
	return (uint32_t)mock_number("MOCK_VERSION", 130001);
}

/* "N" or "N@CALL", for calls of a function from that one on (1); else 0. */
unsigned long mock_number_at_call(const char *variable, unsigned int call)
{
	const char *text = getenv(variable);
	unsigned long value, from = 1;
	char *end;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (*end == '@')
		from = strtoul(end + 1, NULL, 10);
	return call >= from ? value : 0;
}

bool mock_has_word(const char *words, const char *name)
{
	char list[1024], *rest = list, *word;

	snprintf(list, sizeof(list), "%s", words);
	while ((word = strsep(&rest, ",")))
		if (*word && strstr(name, word))
			return true;
	return false;
}

bool mock_is_mentioned(const char *variable, const char *name)
{
	return getenv(variable) && mock_has_word(getenv(variable), name);
}

void mock_write_line(const char *variable, const char *format, ...)
{
	const char *path = getenv(variable);
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	va_list arguments;

	if (file < 0)
		return;
	va_start(arguments, format);
	vdprintf(file, format, arguments);
	va_end(arguments);
	close(file);
}

/* Each function once in a row: looking for callback names takes thousands of calls. */
void mock_note_call(const char *function)
{
	static const char *last;

	if (__atomic_exchange_n(&last, function, __ATOMIC_RELAXED) != function)
		mock_write_line("MOCK_CALLS", "%s\n", function);
}

/* "NAME=RESULT", "NAME=RESULT@CALL" from that call on, or "NAME=RESULT@CALL-CALL" until another one. */
CUptiResult mock_fault(const char *function)
{
	static unsigned int calls[64];
	static const char *called[64];
	const char *at = getenv("MOCK_COUNTERS");
	size_t length = strlen(function), slot = 0;
	unsigned long result, from = 1, to = ULONG_MAX;
	unsigned int call;
	char *end;

	mock_note_call(function);
	while (at && (strncmp(at, function, length) || at[length] != '='))
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	if (!at)
		return CUPTI_SUCCESS;
	result = strtoul(at + length + 1, &end, 10);
	if (*end == '@')
		from = strtoul(end + 1, &end, 10);
	if (*end == '-')
		to = strtoul(end + 1, NULL, 10);
	while (called[slot] && strcmp(called[slot], function))
		slot++;
	called[slot] = function;
	call = __atomic_add_fetch(&calls[slot], 1, __ATOMIC_RELAXED);
	return call >= from && call <= to ? (CUptiResult)result : CUPTI_SUCCESS;
}

uint64_t mock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
