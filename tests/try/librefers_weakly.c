/* librefers_weakly.c - a library that asks whether there is CUDA, by a weak reference and by dlsym. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>

extern int cuInit(unsigned) __attribute__((weak));
bool library_refers(void);
bool library_finds(const char *name);

static int (*const volatile kept)(unsigned) = cuInit;

bool library_refers(void)
{
	return cuInit || kept;
}

bool library_finds(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}
