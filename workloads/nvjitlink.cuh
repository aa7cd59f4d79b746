/*
 * nvjitlink.cuh - PTX to machine code by nvJitLink, where it is there.
 *
 * nvjitlink_why_missing says in one line why it cannot be used, nullptr when it can.
 * ROOFLINE_HAS_NVJITLINK is 0 where the toolkit lacks nvJitLink.h; then there is nothing here.
 */
#ifndef ROOFLINE_NVJITLINK_CUH
#define ROOFLINE_NVJITLINK_CUH

#if defined(__has_include) && __has_include(<nvJitLink.h>)
#define ROOFLINE_HAS_NVJITLINK 1
#else
#define ROOFLINE_HAS_NVJITLINK 0
#endif

#if ROOFLINE_HAS_NVJITLINK

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <nvJitLink.h>

#include "dynamic_library.cuh"

/* The functions in use, with the types of their declarations: one list, one place. */
#define NVJITLINK_FUNCTIONS(FUNCTION) \
	FUNCTION(Create)              \
	FUNCTION(Destroy)             \
	FUNCTION(AddData)             \
	FUNCTION(Complete)            \
	FUNCTION(GetErrorLogSize)     \
	FUNCTION(GetErrorLog)         \
	FUNCTION(GetLinkedCubinSize)  \
	FUNCTION(GetLinkedCubin)

#define NVJITLINK_MEMBER(name) decltype(&nvJitLink##name) name;
static struct nvjitlink_functions {
	NVJITLINK_FUNCTIONS(NVJITLINK_MEMBER)
} nvjitlink;
#undef NVJITLINK_MEMBER

#if CUDART_VERSION >= 13000
static const char nvjitlink_file[] = "libnvJitLink.so.13";
#else
static const char nvjitlink_file[] = "libnvJitLink.so.12";
#endif

static inline bool nvjitlink_bind(void *library)
{
#define NVJITLINK_BIND(name)                                                          \
	nvjitlink.name = (decltype(nvjitlink.name))dlsym(library, "nvJitLink" #name); \
	if (!nvjitlink.name)                                                          \
		return false;
	NVJITLINK_FUNCTIONS(NVJITLINK_BIND)
#undef NVJITLINK_BIND
	return true;
}

static inline const char *nvjitlink_why_missing()
{
	static std::string reason;
	void *library;

	if (nvjitlink.GetLinkedCubin)
		return nullptr;
	library = dynamic_library_open(nvjitlink_file);
	if (library && nvjitlink_bind(library))
		return nullptr;
	nvjitlink = {};
	reason = dynamic_library_problem(library, nvjitlink_file, "nvJitLink");
	return reason.c_str();
}

static inline std::string nvjitlink_log(nvJitLinkHandle linker)
{
	std::string log;
	size_t size = 0;

	if (nvjitlink.GetErrorLogSize(linker, &size) == NVJITLINK_SUCCESS) {
		log.resize(size);
		nvjitlink.GetErrorLog(linker, log.data());
	}
	return log;
}

static inline void nvjitlink_check(nvJitLinkResult result, nvJitLinkHandle linker, const char *call,
				   const char *file, int line)
{
	if (result == NVJITLINK_SUCCESS)
		return;
	fprintf(stderr, "%s:%d: %s failed with %d: %s\n", file, line, call, (int)result,
		linker ? nvjitlink_log(linker).c_str() : "");
	exit(1);
}

#define NVJITLINK_CHECK(linker, ...) \
	nvjitlink_check((__VA_ARGS__), linker, #__VA_ARGS__, __FILE__, __LINE__)

/* Machine code of PTX for an architecture, 90 for 9.0. */
static inline std::vector<char> nvjitlink_link(const std::string &ptx, int architecture)
{
	const std::string option = "-arch=sm_" + std::to_string(architecture);
	const char *options[] = {option.c_str()};
	nvJitLinkHandle linker = nullptr;
	std::vector<char> code;
	size_t size;

	NVJITLINK_CHECK(linker, nvjitlink.Create(&linker, 1, options));
	NVJITLINK_CHECK(linker, nvjitlink.AddData(linker, NVJITLINK_INPUT_PTX, ptx.c_str(),
						  ptx.size() + 1, "generated.ptx"));
	NVJITLINK_CHECK(linker, nvjitlink.Complete(linker));
	NVJITLINK_CHECK(linker, nvjitlink.GetLinkedCubinSize(linker, &size));
	code.resize(size);
	NVJITLINK_CHECK(linker, nvjitlink.GetLinkedCubin(linker, code.data()));
	NVJITLINK_CHECK(linker, nvjitlink.Destroy(&linker));
	return code;
}

#endif
#endif
