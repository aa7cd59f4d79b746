#define _GNU_SOURCE
#include "counters/kernel_filter.h"

#include <regex.h>
#include <stdlib.h>

#include "log.h"

static regex_t wanted;

/* Of the C++ library, but linked statically and hidden: the program may have none, or another one. */
char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

bool kernel_filter_init(const char *expression)
{
	char problem[256];
	int rc = regcomp(&wanted, expression, REG_EXTENDED | REG_NOSUB);

	if (rc) {
		regerror(rc, &wanted, problem, sizeof(problem));
		log_warn("--kernels '%s' is no regular expression: %s; all kernels are recorded",
			 expression, problem);
		return false;
	}
	return true;
}

bool kernel_filter_wants(const char *mangled_name)
{
	char *name;
	bool matches = regexec(&wanted, mangled_name, 0, NULL, 0) == 0;
	int status;

	if (matches)
		return true;
	name = __cxa_demangle(mangled_name, NULL, NULL, &status);
	matches = name && regexec(&wanted, name, 0, NULL, 0) == 0;
	free(name);
	return matches;
}
