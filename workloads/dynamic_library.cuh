/*
 * dynamic_library.cuh - libraries of the toolkit, for programs that run without them too.
 *
 * They are large and not everywhere, so they are opened when first wanted and never linked.
 */
#ifndef ROOFLINE_DYNAMIC_LIBRARY_CUH
#define ROOFLINE_DYNAMIC_LIBRARY_CUH

#include <cstdio>
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

/* Where pip has put package PACKAGE of nvidia, such as "nccl": the folder, "" where there is none.  Only Python knows, and
 * it is not to be traced. */
static inline std::string dynamic_library_wheel(const char *package)
{
	std::string command =
		std::string(
			"env -u LD_PRELOAD -u CUDA_INJECTION64_PATH -u NVTX_INJECTION64_PATH python3 -c "
			"'import importlib.util as u; "
			"print(list(u.find_spec(\"nvidia.") +
		package + "\").submodule_search_locations)[0], end=\"\")' 2>/dev/null";
	FILE *python = popen(command.c_str(), "r");
	char folder[4096];
	size_t length = python ? fread(folder, 1, sizeof(folder), python) : 0;

	if (!python || pclose(python) != 0)
		length = 0;
	return std::string(folder, length);
}

/* As dynamic_library_open, or else out of a package of pip. */
static inline void *dynamic_library_open_wheel(const char *file, const char *package)
{
	void *library = dynamic_library_open(file);
	std::string folder;

	if (!library && !(folder = dynamic_library_wheel(package)).empty())
		library = dlopen((folder + "/lib/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
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
