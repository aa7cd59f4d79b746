/*
 * mock_app.c - a program that plays both an application and libcuda, for the collector's tests.
 *
 * mock_app STEP...   does one step after the other; a step is NAME or NAME:ARGUMENT.
 *
 * `cuda` loads the library named by CUDA_INJECTION64_PATH as libcuda does.  The other steps are in mock_app_*.c.  Steps that make records do nothing when there
 * is no collector, so that what the program prints and how it ends can be compared with a run without one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mock_app.h"

struct mock mock;
int errno_at_start;

long number(const char *argument)
{
	return argument ? strtol(argument, NULL, 10) : 1;
}

void fail(const char *what, const char *why)
{
	fprintf(stderr, "mock_app: %s: %s\n", what, why);
	exit(99);
}

/* ---- being libcuda ---- */

void find_mock(void)
{
	const char *path = getenv("ROOFLINE_CUPTI");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

	if (!library)
		return;
#define MOCK_FIND(result, name, parameters) *(void **)&mock.name = dlsym(library, #name);
	MOCK_FUNCTIONS(MOCK_FIND)
}

static void *injection(const char *variable, const char *function)
{
	const char *path = getenv(variable);
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	void *address = library ? dlsym(library, function) : NULL;

	if (path && !address)
		fail(path, dlerror());
	return address;
}

void step_cuda(const char *argument)
{
	int (*initialize)(void);

	(void)argument;
	*(void **)&initialize = injection("CUDA_INJECTION64_PATH", "InitializeInjection");
	if (initialize)
		initialize();
	find_mock();
}

static const struct step injection_steps[] = {
	{"cuda", step_cuda},
	{0},
};

/* ---- steps by their names ---- */

static const struct step *find_step(const char *name, size_t length)
{
	static const struct step *const all[] = {injection_steps, nvtx_steps,	  record_steps,
						 launch_steps,	  call_steps,	  range_steps,
						 process_steps,	  argument_steps, end_steps};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct step *step = all[i]; step->name; step++)
			if (strlen(step->name) == length && !strncmp(name, step->name, length))
				return step;
	return NULL;
}

void run_step(const char *text)
{
	const char *colon = strchr(text, ':');
	const struct step *step = find_step(text, colon ? (size_t)(colon - text) : strlen(text));

	if (!step)
		fail(text, "no such step");
	step->run(colon ? colon + 1 : NULL);
}

int main(int argc, char **argv)
{
	errno_at_start = errno;
	setvbuf(stdout, NULL, _IONBF, 0); /* a fork must not print twice */
	for (int i = 1; i < argc; i++) {
		printf("step %s\n", argv[i]);
		run_step(argv[i]);
	}
	fputs("mock_app is done\n", stderr);
	return 0;
}
