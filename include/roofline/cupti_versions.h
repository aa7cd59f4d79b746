/*
 * cupti_versions.h - which libraries of CUPTI there are, where they are looked for, and what each is called.
 *
 * The collector loads one, and doctor asks the same one.
 */
#ifndef ROOFLINE_CUPTI_VERSIONS_H
#define ROOFLINE_CUPTI_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What cuptiGetVersion says.  Which of them a record's members and functions came with was asked of the
 * libraries: docs/support.md. */
#define CUPTI_OLDEST 22 /* 12.4 */
#define CUPTI_WITH_CHOSEN_CALLS \
	23 /* 12.5: calls are recorded by number; the SMs of green contexts */
#define CUPTI_WITH_PROFILER_HOST 24 /* 12.6: the range profiler and PM sampling */
#define CUPTI_WITH_COPY_COUNT 26  /* 12.8: of batches of copies; graphs that the device launches */
#define CUPTI_WITH_APPEND_MODE 26 /* 12.8: what is done with samples that find no room */
#define CUPTI_OF_CUDA_13 130000	  /* whether the device launched a kernel */
#define CUPTI_WITH_SHARING \
	130400 /* several subscribers: from 13.3 on, the type of thread ids with them from 13.4 */

/* LIBRARY(name): in the order in which they are tried; CUPTI 13 needs a driver of CUDA 13. */
#define CUPTI_LIBRARIES(LIBRARY)  \
	LIBRARY("libcupti.so.13") \
	LIBRARY("libcupti.so.12")

/* ROOFLINE_CUPTI: one of the libraries above. */
#define CUPTI_ANY_LIBRARY "auto"

/* Drivers have this function from CUDA 13.0 on.  Looking for it takes no call of a driver that is being initialized. */
#define CUPTI_13_DRIVER_FUNCTION "cuDeviceGetHostAtomicCapabilities"

/* FOLDER(path): CUDA's own, for toolkits that were installed without telling the dynamic linker. */
#define CUPTI_FOLDERS(FOLDER)                              \
	FOLDER("/usr/local/cuda/lib64")                    \
	FOLDER("/usr/local/cuda/extras/CUPTI/lib64")       \
	FOLDER("/usr/local/cuda/targets/x86_64-linux/lib") \
	FOLDER("/usr/local/cuda/lib")                      \
	FOLDER("/usr/local/cuda-12/lib64")                 \
	FOLDER("/usr/local/cuda-12/extras/CUPTI/lib64")

/* RELEASE(version, release): before 13.0 versions count on by one. */
#define CUPTI_RELEASES(RELEASE) \
	RELEASE(19, "12.0")     \
	RELEASE(20, "12.2")     \
	RELEASE(21, "12.3")     \
	RELEASE(22, "12.4")     \
	RELEASE(23, "12.5")     \
	RELEASE(24, "12.6")     \
	RELEASE(26, "12.8")     \
	RELEASE(27, "12.9")     \
	RELEASE(28, "12.9 update 1")

/* FAULT(first, last, text): versions in which CUPTI ends a program, of those that were tried on an H200
 * (docs/results/memory-records.txt; NVTX: docs/collector.md), and what to leave out.  The collector asks for neither. */
#define CUPTI_FAULTS(FAULT)                                                                          \
	FAULT(28, 130500,                                                                            \
	      "its records of memory end programs that pass memory of cudaMalloc to cudaFreeAsync: " \
	      "leave them out of other profilers (nsys --cuda-memory-usage=false)")                  \
	FAULT(130000, 130000, "it ends programs that use NVTX before CUDA: leave NVTX out")

struct cupti_release {
	char text[32];
};

/* "12.4", "13.0 update 1", or the number where it is none that we know. */
static inline struct cupti_release cupti_release(uint32_t version)
{
	static const struct {
		uint32_t version;
		const char *release;
	} releases[] = {
#define CUPTI_RELEASE(number, release) {number, release},
		CUPTI_RELEASES(CUPTI_RELEASE)
#undef CUPTI_RELEASE
	};
	struct cupti_release release;

	snprintf(release.text, sizeof(release.text), "version %u", version);
	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++)
		if (releases[i].version == version)
			snprintf(release.text, sizeof(release.text), "%s", releases[i].release);
	if (version >= CUPTI_OF_CUDA_13 && version % 100)
		snprintf(release.text, sizeof(release.text), "%u.%u update %u", version / 10000,
			 version / 100 % 100, version % 100);
	else if (version >= CUPTI_OF_CUDA_13)
		snprintf(release.text, sizeof(release.text), "%u.%u", version / 10000,
			 version / 100 % 100);
	return release;
}

/* CUDA's version that it came with, as cuDriverGetVersion has it: 13.3 is 13030; 0: none that we know. */
static inline int cupti_cuda_version(uint32_t version)
{
	int major, minor;

	if (sscanf(cupti_release(version).text, "%d.%d", &major, &minor) != 2)
		return 0;
	return 1000 * major + 10 * minor;
}

/* Whether counters and samples may be asked for.  CUPTI 13.3 and 13.5 end programs with SIGSEGV where the driver is of CUDA 13.0
 * (docs/results/check-cupti-versions.txt); traces work there. */
static inline bool cupti_profiles_with(uint32_t version, int driver)
{
	return !driver || cupti_cuda_version(version) <= driver;
}

#endif
