/*
 * dynamic_library.cuh - libraries of the toolkit, for programs that run without them too.
 *
 * They are large and not everywhere, so they are opened when first wanted and never linked.
 */
#ifndef ROOFLINE_DYNAMIC_LIBRARY_CUH
#define ROOFLINE_DYNAMIC_LIBRARY_CUH

#include <string>

#include <dlfcn.h>

/* Where the dynamic linker looks, and else where the toolkit's installer puts it; nullptr: nowhere. */
static inline void *dynamic_library_open(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = dlopen((std::string("/usr/local/cuda/lib64/") + file).c_str(),
				 RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* Why it cannot be used: it is not there, or an older one than its header. */
static inline std::string dynamic_library_problem(void *library, const char *file,
						  const char *package)
{
	return std::string(file) +
	       (library ? std::string(
				  " lacks a function that its header declares: install the toolkit's own")
			: std::string(" not found: install ") + package +
				  ", or name its folder in LD_LIBRARY_PATH");
}

#endif
