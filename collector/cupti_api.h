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

/* A subscriber that agrees to others names itself in each call, and has records and buffers of its own (cupti_activity.h of
 * CUDA 13.5, which the headers of CUDA 13.0 lack). */
struct cupti_shared_params {
	CUpti_SubscriberParams first; /* structSize is that of all members */
	uint8_t allow_multiple_subscribers;
	uint8_t padding[7];
};
typedef void(CUPTIAPI *cupti_shared_request)(uint8_t **buffer, size_t *size, size_t *most_records,
					     void *info);
typedef void(CUPTIAPI *cupti_shared_complete)(uint8_t *buffer, size_t size, size_t valid_bytes,
					      void *info);
CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle, CUpti_ActivityKind, void *config);
CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle, CUpti_ActivityKind, void *config);
CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle, CUpti_ActivityKind, void *config);
CUptiResult cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t);
CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t);
CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle, CUpti_ActivityAttribute, size_t *,
					 void *);
CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle, cupti_shared_request,
					      cupti_shared_complete);
CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle, uint8_t *, size_t,
					  CUpti_Activity **);
CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle, CUcontext, uint32_t,
						 size_t *);

/* All of them, or CUPTI is not shared. */
#define CUPTI_SHARING_FUNCTIONS(MAY)           \
	MAY(cuptiActivityEnable_v2)            \
	MAY(cuptiActivityDisable_v2)           \
	MAY(cuptiActivityEnableAndDump_v2)     \
	MAY(cuptiActivityEnableRuntimeApi_v2)  \
	MAY(cuptiActivityEnableDriverApi_v2)   \
	MAY(cuptiActivitySetAttribute_v2)      \
	MAY(cuptiActivityRegisterCallbacks_v2) \
	MAY(cuptiActivityGetNextRecord_v2)     \
	MAY(cuptiActivityGetNumDroppedRecords_v2)

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
	CUPTI_SHARING_FUNCTIONS(MAY)                    \
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

/* Subscribe, with CUPTI 13.3 and newer together with others that agree to it, too.  other: the name of the client that was
 * there before, "" where there is none or CUPTI names none.  After success the table's functions are those of this
 * subscriber, and its version is known. */
CUptiResult cupti_api_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
				char *other, size_t other_size);

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
