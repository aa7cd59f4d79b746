#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>

static struct driver driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;

typedef void *(*dlsym_fn)(void *, const char *);
dlsym_fn try_real_dlsym; /* stubs.c jumps to these */
void *try_real_dlopen, *try_real_dlmopen;

__attribute__((constructor)) void driver_find_dlsym(void)
{
	if (!try_real_dlsym)
		try_real_dlsym = (dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!try_real_dlsym) /* a C library before 2.34 */
		try_real_dlsym = (dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!try_real_dlopen)
		try_real_dlopen = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.34");
	if (!try_real_dlopen)
		try_real_dlopen = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.2.5");
	if (!try_real_dlmopen)
		try_real_dlmopen = dlvsym(RTLD_NEXT, "dlmopen", "GLIBC_2.34");
	if (!try_real_dlmopen)
		try_real_dlmopen = dlvsym(RTLD_NEXT, "dlmopen", "GLIBC_2.3.4");
}

void *driver_dlsym(void *library, const char *name)
{
	driver_find_dlsym();
	return try_real_dlsym ? try_real_dlsym(library, name) : NULL;
}

static void open_driver(void)
{
	driver.library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	driver.is_complete = driver.library != NULL;
#define DRIVER_FIND(member, declared, exported)                                                    \
	driver.member =                                                                            \
		driver.library ? (__typeof__(driver.member))driver_dlsym(driver.library, exported) \
			       : NULL;                                                             \
	driver.is_complete = driver.is_complete && driver.member;
	DRIVER_CALLS(DRIVER_FIND)
#undef DRIVER_FIND
	if (!driver.library)
		return;
	driver.create_context_v3 =
		(__typeof__(driver.create_context_v3))driver_dlsym(driver.library,
								   "cuCtxCreate_v3");
	driver.create_context_v4 =
		(__typeof__(driver.create_context_v4))driver_dlsym(driver.library,
								   "cuCtxCreate_v4");
	driver.synchronize_v2 =
		(__typeof__(driver.synchronize_v2))driver_dlsym(driver.library,
								"cuCtxSynchronize_v2");
}

const struct driver *driver_open(void)
{
	pthread_once(&once, open_driver);
	return &driver;
}

void *driver_symbol(const char *exported)
{
	return driver_open()->library ? driver_dlsym(driver.library, exported) : NULL;
}
