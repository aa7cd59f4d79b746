/*
 * cupti_api.h - all of CUPTI that the collector uses, resolved once by name.
 *
 * The library is loaded, not linked: the application may bring its own copy
 * (PyTorch does), and two copies in one process would fight for the hardware.
 * It is never closed.  Every call goes through this table, so the tests put a
 * mock in its place with ROOFLINE_CUPTI.
 *
 * To add a function: one row in CUPTI_FUNCTIONS.
 */
#ifndef ROOFLINE_CUPTI_API_H
#define ROOFLINE_CUPTI_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "roofline/cupti_versions.h"

/* Exported by libcupti but declared in no header (CUPTI guide, NVTX section). */
CUptiResult cuptiNvtxInitialize(void *export_table);
CUptiResult cuptiNvtxInitialize2(void *export_table);
CUptiResult cuptiNvtxExtensionInitialize(void *export_table);

/* NVTX before CUDA crashes 13.0 GA. */
#define CUPTI_VERSION_NVTX_UNSAFE 130000

/* All of them or no counters. */
#define CUPTI_COUNTER_FUNCTIONS(MAY)                      \
	MAY(cuptiActivityDisable)                         \
	MAY(cuptiProfilerInitialize)                      \
	MAY(cuptiProfilerGetCounterAvailability)          \
	MAY(cuptiDeviceGetChipName)                       \
	MAY(cuptiProfilerHostInitialize)                  \
	MAY(cuptiProfilerHostDeinitialize)                \
	MAY(cuptiProfilerHostConfigAddMetrics)            \
	MAY(cuptiProfilerHostGetConfigImageSize)          \
	MAY(cuptiProfilerHostGetConfigImage)              \
	MAY(cuptiProfilerHostGetNumOfPasses)              \
	MAY(cuptiProfilerHostEvaluateToGpuValues)         \
	MAY(cuptiRangeProfilerEnable)                     \
	MAY(cuptiRangeProfilerDisable)                    \
	MAY(cuptiRangeProfilerGetCounterDataSize)         \
	MAY(cuptiRangeProfilerCounterDataImageInitialize) \
	MAY(cuptiRangeProfilerSetConfig)                  \
	MAY(cuptiRangeProfilerStart)                      \
	MAY(cuptiRangeProfilerStop)                       \
	MAY(cuptiRangeProfilerPushRange)                  \
	MAY(cuptiRangeProfilerPopRange)                   \
	MAY(cuptiRangeProfilerDecodeData)

/* All of them, and those of the host above, or no samples over time. */
#define CUPTI_SAMPLING_FUNCTIONS(MAY)                  \
	MAY(cuptiPmSamplingGetCounterAvailability)     \
	MAY(cuptiPmSamplingEnable)                     \
	MAY(cuptiPmSamplingDisable)                    \
	MAY(cuptiPmSamplingSetConfig)                  \
	MAY(cuptiPmSamplingStart)                      \
	MAY(cuptiPmSamplingStop)                       \
	MAY(cuptiPmSamplingDecodeData)                 \
	MAY(cuptiPmSamplingGetCounterDataSize)         \
	MAY(cuptiPmSamplingCounterDataImageInitialize) \
	MAY(cuptiPmSamplingGetCounterDataInfo)         \
	MAY(cuptiPmSamplingCounterDataGetSampleInfo)

/* NEED(function): without it there is no recording.  MAY(function): NULL when the library lacks it. */
#define CUPTI_FUNCTIONS(NEED, MAY)                      \
	NEED(cuptiGetVersion)                           \
	NEED(cuptiGetResultString)                      \
	NEED(cuptiGetTimestamp)                         \
	NEED(cuptiSubscribe)                            \
	MAY(cuptiSubscribe_v2)                          \
	NEED(cuptiEnableCallback)                       \
	MAY(cuptiEnableDomain)                          \
	NEED(cuptiGetCallbackName)                      \
	NEED(cuptiSetThreadIdType)                      \
	NEED(cuptiActivityRegisterCallbacks)            \
	NEED(cuptiActivityEnable)                       \
	NEED(cuptiActivityFlushAll)                     \
	NEED(cuptiActivityGetNextRecord)                \
	NEED(cuptiActivityGetNumDroppedRecords)         \
	NEED(cuptiActivitySetAttribute)                 \
	MAY(cuptiActivityEnableRuntimeApi)              \
	MAY(cuptiActivityEnableDriverApi)               \
	MAY(cuptiActivityEnableAllSyncRecords)          \
	MAY(cuptiActivityEnableDeviceGraph)             \
	MAY(cuptiActivityEnableAndDump)                 \
	MAY(cuptiActivityConfigureUnifiedMemoryCounter) \
	MAY(cuptiGetContextId)                          \
	MAY(cuptiGetDeviceId)                           \
	MAY(cuptiGetStreamIdEx)                         \
	MAY(cuptiGetGraphId)                            \
	MAY(cuptiGetGraphNodeId)                        \
	CUPTI_COUNTER_FUNCTIONS(MAY)                    \
	CUPTI_SAMPLING_FUNCTIONS(MAY)                   \
	MAY(cuptiNvtxInitialize)                        \
	MAY(cuptiNvtxInitialize2)                       \
	MAY(cuptiNvtxExtensionInitialize)

struct cupti_api {
#define CUPTI_MEMBER(function) __typeof__(&function) function;
	CUPTI_FUNCTIONS(CUPTI_MEMBER, CUPTI_MEMBER)
#undef CUPTI_MEMBER
	uint32_t
		version; /* cuptiGetVersion; 0: not told yet, as of 13.3 and newer without a driver */
	const char *path; /* file it was loaded from */
};

/* Loads CUPTI (a file name, a path, or CUPTI_ANY_LIBRARY) and returns its table, or NULL after one warning on stderr.
 * Later calls return the first call's outcome.  Thread-safe. */
const struct cupti_api *cupti_api_load(const char *library);

/* For a library that told no version before somebody had subscribed. */
void cupti_api_ask_version(void);

/* Before the first counters or samples of a device; not while CUDA is initialized. Says CUPTI_ERROR_NOT_COMPATIBLE, and asks
 * nothing of CUPTI, where the driver is too old for them. */
CUptiResult cupti_start_profiler(const struct cupti_api *cupti);

/* True when the library has all that counters take. */
bool cupti_has_counters(const struct cupti_api *cupti);

/* True when the library has all that sampling over time takes. */
bool cupti_has_sampling(const struct cupti_api *cupti);

/* Opens what CUPTI evaluates counters with, before CUPTI does.  For counters and samples. */
void cupti_open_host_library(const struct cupti_api *cupti);

/* Text of a result code, never NULL. */
const char *cupti_error_text(const struct cupti_api *cupti, CUptiResult result);

/* What to do when hardware counters are refused with this code. */
const char *cupti_error_remedy(CUptiResult result);

#endif
