/*
 * libstarts_cuda.c - a library that uses CUDA in its constructor and ends the program there.
 *
 * Until a constructor returns, other threads that ask the dynamic linker for anything wait.
 */
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((constructor)) static void start_cuda(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void);

	*(void **)&initialize = library ? dlsym(library, "InitializeInjection") : NULL;
	if (initialize)
		initialize();
	exit(6);
}
