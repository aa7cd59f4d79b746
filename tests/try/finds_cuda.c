/*
 * finds_cuda.c [local|global] - a program that asks in all ways whether there is CUDA, before and after it opens the driver's
 * library so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern int cuInit(unsigned) __attribute__((weak));
extern int cuLaunchKernel(void) __attribute__((weak));

static int (*const volatile kept)(unsigned) = cuInit;

static void say(const char *way, bool is_there)
{
	printf("%s: %s\n", way, is_there ? "there" : "not there");
}

/* Without the object that it names: that differs. */
static void find(const char *way, void *library, const char *name)
{
	const char *error;

	(void)dlerror();
	say(way, dlsym(library, name));
	error = dlerror();
	printf("error%s\n", error ? strrchr(error, ':') : ": none");
}

static void look(void)
{
	bool (*refers)(void) = (__typeof__(refers))dlsym(RTLD_DEFAULT, "library_refers");
	bool (*finds)(const char *) = (__typeof__(finds))dlsym(RTLD_DEFAULT, "library_finds");

	say("weak reference", cuInit || kept);
	say("weak reference to a launch", cuLaunchKernel);
	find("anywhere", RTLD_DEFAULT, "cuInit");
	find("a launch anywhere", RTLD_DEFAULT, "cuLaunchKernel");
	find("no function of the driver", RTLD_DEFAULT, "cuThereIsNone");
	find("behind", RTLD_NEXT, "cuInit");
	find("in the program", dlopen(NULL, RTLD_NOW), "cuInit");
	if (refers && finds) {
		say("weak reference of a library", refers());
		say("anywhere, for a library", finds("cuInit"));
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool is_global = !strcmp(how, "global");
	void *library;

	look();
	if (!*how)
		return 0;
	library = dlopen("libcuda.so.1", RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
	say("the library", library);
	look();
	find("in it", library, "cuInit");
	find("no function of it", library, "cuThereIsNone");
	return 0;
}
