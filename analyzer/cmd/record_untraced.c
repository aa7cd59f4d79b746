#include "cmd/record_untraced.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/record_signals.h"
#include "roofline/try.h"

/* What loads the collector, and for these runs must not. */
static const char *const loading_variables[] = {"LD_PRELOAD", "CUDA_INJECTION64_PATH",
						"NVTX_INJECTION64_PATH"};
#define LOADING_COUNT (sizeof(loading_variables) / sizeof(loading_variables[0]))

#define VARIABLE_NAME(constant, name, meaning) [constant] = name,
static const char *const try_variables[] = {TRY_VARIABLES(VARIABLE_NAME)};
#undef VARIABLE_NAME

static void set_or_unset(const char *variable, const char *value)
{
	if (value)
		setenv(variable, value, 1);
	else
		unsetenv(variable);
}

/* Copies of the values; NULL: not set.  The caller frees them. */
static void take_out(char *values[LOADING_COUNT])
{
	for (size_t i = 0; i < LOADING_COUNT; i++) {
		const char *value = getenv(loading_variables[i]);

		values[i] = value ? strdup(value) : NULL;
		unsetenv(loading_variables[i]);
	}
}

static void put_back(char *values[LOADING_COUNT])
{
	for (size_t i = 0; i < LOADING_COUNT; i++) {
		set_or_unset(loading_variables[i], values[i]);
		free(values[i]);
	}
	unsetenv(try_variables[TRY_ENV_CALLS]);
}

/* What else is preloaded stays so. */
static void keep_others(const char *preloaded)
{
	char *list = preloaded ? strdup(preloaded) : NULL, *next = list, *library;

	while ((library = strsep(&next, ": ")))
		if (*library && !strstr(library, "librooflinecollector"))
			(void)record_preload(library);
	free(list);
}

static bool run_once(const struct record_run *first)
{
	struct record_run again = *first;
	char end[64];

	if (record_run(&again) < 0)
		return false;
	if (again.is_started && !again.status && !signals_are_end_asked())
		return true;
	record_describe_end(again.status, end, sizeof(end));
	fprintf(stderr, "%s: the run without recording ended with %s, and is the last one\n",
		first->who, end);
	return false;
}

static bool run_all(const struct record_run *first, unsigned count, off_t input)
{
	for (unsigned i = 0; i < count; i++) {
		if (input >= 0)
			lseek(STDIN_FILENO, input, SEEK_SET);
		fprintf(stderr,
			"%s: the program runs again without recording, for what recording adds: %u of %u\n",
			first->who, i + 1, count);
		if (!run_once(first))
			return false;
	}
	return true;
}

bool record_untraced(const struct record_run *first, unsigned count, off_t input)
{
	char library[PATH_MAX], *values[LOADING_COUNT];
	bool is_well = true;

	if (path_resource(library, sizeof(library), "lib/" TRY_LIBRARY) < 0) {
		fprintf(stderr,
			"%s: %s is missing, so nothing runs without recording: build it with `make`, which "
			"needs the CUDA toolkit's headers\n",
			first->who, library);
		return true;
	}
	take_out(values);
	keep_others(values[0]);
	if (record_preload(library) < 0) {
		fprintf(stderr,
			"%s: %s cannot be preloaded, so nothing runs without recording: move it to a path "
			"without a space or a colon\n",
			first->who, library);
	} else {
		setenv(try_variables[TRY_ENV_CALLS], first->folder, 1);
		is_well = run_all(first, count, input);
	}
	put_back(values);
	return is_well;
}
