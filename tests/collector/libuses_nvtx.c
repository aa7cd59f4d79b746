/*
 * libuses_nvtx.c - a library that uses NVTX in its constructor, as long as another thread has had time to attach.
 *
 * Until a constructor returns, other threads that ask the dynamic linker for anything wait.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* As NVTX has one in every module: a function that gives out the module's table. */
static int get_table(unsigned int table)
{
	return (int)table;
}

__attribute__((constructor)) static void use_nvtx(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(int (*)(unsigned int));

	usleep(400000);
	*(void **)&initialize = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
	if (initialize && !initialize(get_table))
		exit(98);
}
