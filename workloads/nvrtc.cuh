/*
 * nvrtc.cuh - CUDA source to machine code while the program runs, where NVRTC is there.
 *
 * nvrtc_why_missing says in one line why it cannot be used, nullptr when it can.
 * ROOFLINE_HAS_NVRTC is 0 where the toolkit lacks nvrtc.h; then there is nothing here.
 */
#ifndef ROOFLINE_NVRTC_CUH
#define ROOFLINE_NVRTC_CUH

#if defined(__has_include) && __has_include(<nvrtc.h>)
#define ROOFLINE_HAS_NVRTC 1
#else
#define ROOFLINE_HAS_NVRTC 0
#endif

#if ROOFLINE_HAS_NVRTC

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <nvrtc.h>

#include "dynamic_library.cuh"

/* The functions in use, with the types of their declarations: one list, one place. */
#define NVRTC_FUNCTIONS(FUNCTION)   \
	FUNCTION(Version)           \
	FUNCTION(GetErrorString)    \
	FUNCTION(CreateProgram)     \
	FUNCTION(DestroyProgram)    \
	FUNCTION(CompileProgram)    \
	FUNCTION(GetProgramLogSize) \
	FUNCTION(GetProgramLog)     \
	FUNCTION(GetCUBINSize)      \
	FUNCTION(GetCUBIN)

#define NVRTC_MEMBER(name) decltype(&nvrtc##name) name;
static struct nvrtc_functions {
	NVRTC_FUNCTIONS(NVRTC_MEMBER)
} nvrtc;
#undef NVRTC_MEMBER

#define NVRTC_TEXT(number) #number
#define NVRTC_FILE(major) "libnvrtc.so." NVRTC_TEXT(major)
#if CUDART_VERSION >= 13000
static const char nvrtc_file[] = NVRTC_FILE(13);
#else
static const char nvrtc_file[] = NVRTC_FILE(12);
#endif

static inline bool nvrtc_bind(void *library)
{
#define NVRTC_BIND(name)                                                  \
	nvrtc.name = (decltype(nvrtc.name))dlsym(library, "nvrtc" #name); \
	if (!nvrtc.name)                                                  \
		return false;
	NVRTC_FUNCTIONS(NVRTC_BIND)
#undef NVRTC_BIND
	return true;
}

static inline const char *nvrtc_why_missing()
{
	static std::string reason;
	void *library;

	if (nvrtc.GetCUBIN)
		return nullptr;
	library = dynamic_library_open(nvrtc_file);
	if (library && nvrtc_bind(library))
		return nullptr;
	nvrtc = {};
	reason = dynamic_library_problem(library, nvrtc_file, "NVRTC");
	return reason.c_str();
}

/* Of a call that fails only when the program is wrong. */
static inline void nvrtc_check(nvrtcResult result, const char *call, const char *file, int line)
{
	if (result == NVRTC_SUCCESS)
		return;
	fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, call, nvrtc.GetErrorString(result));
	exit(1);
}

#define NVRTC_CHECK(...) nvrtc_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

struct nvrtc_compiled {
	std::vector<char> code; /* empty: it did not compile */
	std::string log;	/* what the compiler said */
	double seconds;
};

static inline std::string nvrtc_log(nvrtcProgram program)
{
	std::string log;
	size_t size;

	NVRTC_CHECK(nvrtc.GetProgramLogSize(program, &size));
	log.resize(size);
	NVRTC_CHECK(nvrtc.GetProgramLog(program, log.data()));
	log.resize(log.find_last_not_of(std::string("\n\0", 2)) + 1);
	return log;
}

static inline std::vector<char> nvrtc_code(nvrtcProgram program)
{
	std::vector<char> code;
	size_t size;

	NVRTC_CHECK(nvrtc.GetCUBINSize(program, &size));
	code.resize(size);
	NVRTC_CHECK(nvrtc.GetCUBIN(program, code.data()));
	return code;
}

/* Machine code of the source, for the architecture that the options name. */
static inline nvrtc_compiled nvrtc_compile(const std::string &source,
					   const std::vector<std::string> &options)
{
	auto start = std::chrono::steady_clock::now();
	std::vector<const char *> words;
	nvrtc_compiled compiled;
	nvrtcProgram program;
	nvrtcResult result;

	for (const std::string &option : options)
		words.push_back(option.c_str());
	NVRTC_CHECK(
		nvrtc.CreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr));
	result = nvrtc.CompileProgram(program, (int)words.size(), words.data());
	compiled.log = nvrtc_log(program);
	if (result == NVRTC_SUCCESS)
		compiled.code = nvrtc_code(program);
	else if (compiled.log.empty())
		compiled.log = nvrtc.GetErrorString(result);
	NVRTC_CHECK(nvrtc.DestroyProgram(&program));
	compiled.seconds =
		std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
	return compiled;
}

#endif
#endif
