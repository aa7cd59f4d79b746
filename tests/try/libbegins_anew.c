/*
 * libbegins_anew.c - a library that makes its program begin anew before main, as some do to change the environment.
 *
 * Preloaded behind librooflinetry.so it starts before that.  BEGUN_ANEW is set in the second program.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin_anew(int count, char **words)
{
	(void)count;
	if (getenv("BEGUN_ANEW"))
		return;
	setenv("BEGUN_ANEW", "1", 1);
	execv("/proc/self/exe", words);
	_exit(EXIT_FAILURE);
}
