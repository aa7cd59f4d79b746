/*
 * record_lengths.h - how long CUPTI's records are, as the collector and the stand-in for CUPTI believe.
 *
 * real_cupti.c asks the libraries.
 */
#ifndef ROOFLINE_TESTS_RECORD_LENGTHS_H
#define ROOFLINE_TESTS_RECORD_LENGTHS_H

#include <cupti.h>

#include "roofline/cupti_versions.h"

/* SAME(kind, type) of all versions; GROWN(kind, type, version, before): before that version another type */
#define RECORD_LENGTHS(SAME, GROWN)                                                               \
	GROWN(CONCURRENT_KERNEL, CUpti_ActivityKernel10, CUPTI_OF_CUDA_13, CUpti_ActivityKernel9) \
	GROWN(MEMCPY, CUpti_ActivityMemcpy6, CUPTI_WITH_COPY_COUNT, CUpti_ActivityMemcpy5)        \
	SAME(MEMCPY2, CUpti_ActivityMemcpyPtoP4)                                                  \
	SAME(MEMSET, CUpti_ActivityMemset4)                                                       \
	SAME(GRAPH_TRACE, CUpti_ActivityGraphTrace2)                                              \
	SAME(DEVICE_GRAPH_TRACE, CUpti_ActivityDeviceGraphTrace)                                  \
	SAME(RUNTIME, CUpti_ActivityAPI)                                                          \
	SAME(DRIVER, CUpti_ActivityAPI)                                                           \
	GROWN(SYNCHRONIZATION, CUpti_ActivitySynchronization2, CUPTI_WITH_COPY_COUNT,             \
	      CUpti_ActivitySynchronization)                                                      \
	SAME(OVERHEAD, CUpti_ActivityOverhead3)                                                   \
	SAME(JIT, CUpti_ActivityJit2)                                                             \
	SAME(MARKER, CUpti_ActivityMarker2)                                                       \
	GROWN(MEMORY2, CUpti_ActivityMemory4, CUPTI_WITH_PROFILER_HOST, CUpti_ActivityMemory3)    \
	GROWN(UNIFIED_MEMORY_COUNTER, CUpti_ActivityUnifiedMemoryCounter3, CUPTI_WITH_COPY_COUNT, \
	      CUpti_ActivityUnifiedMemoryCounter2)                                                \
	SAME(NAME, CUpti_ActivityName)                                                            \
	SAME(DEVICE, CUpti_ActivityDevice5)                                                       \
	GROWN(CONTEXT, CUpti_ActivityContext3, CUPTI_WITH_CHOSEN_CALLS, CUpti_ActivityContext2)   \
	SAME(STREAM, CUpti_ActivityStream)

struct record_length {
	CUpti_ActivityKind kind;
	const char *name;
	size_t bytes, bytes_before;
	uint32_t since; /* 0: always as long */
};

#define RECORD_SAME(kind, type) {CUPTI_ACTIVITY_KIND_##kind, #kind, sizeof(type), 0, 0},
#define RECORD_GROWN(kind, type, version, before) \
	{CUPTI_ACTIVITY_KIND_##kind, #kind, sizeof(type), sizeof(before), version},

static const struct record_length record_lengths[] = {RECORD_LENGTHS(RECORD_SAME, RECORD_GROWN)};
#define RECORD_LENGTH_COUNT (sizeof(record_lengths) / sizeof(*record_lengths))

static inline size_t record_length_in(const struct record_length *length, uint32_t version)
{
	return version < length->since ? length->bytes_before : length->bytes;
}

#endif
