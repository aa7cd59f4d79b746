/*
 * ranges.c - the range profiler of the stand-in for CUPTI.
 *
 * As an H200 with CUPTI 13.0 does it: what was counted is there after Stop and Decode, the rest of a round
 * is not a number; a round is over when Stop says so, and the next begins with an empty image and
 * SetConfig; ranges of one name are added up; instrumented counters read 0 while kernels are recorded,
 * and in graphs.
 */
#define _GNU_SOURCE
#include "ranges.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "cupti_api.h"
#include "environment.h"

struct mock_profiler {
	struct mock_profiler *next;
	CUcontext context;
	struct mock_config config;
	struct mock_image *image; /* the collector's */
	bool is_replay, is_configured, is_started, is_range_open;
	unsigned int pass, decoded_pass;
	size_t limit, used, decoded; /* ranges of the pass */
	struct mock_work work[MOCK_RANGES];
	int callers; /* calls that are under way: never two */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* profilers and their work */
static struct mock_profiler *profilers;
__thread bool mock_is_capturing;

/* Calls for one profiler must not overlap. */
static void enter_profiler(struct mock_profiler *profiler)
{
	if (__atomic_add_fetch(&profiler->callers, 1, __ATOMIC_SEQ_CST) != 1)
		abort();
}

static CUptiResult leave_profiler(struct mock_profiler *profiler, CUptiResult result)
{
	__atomic_sub_fetch(&profiler->callers, 1, __ATOMIC_SEQ_CST);
	return result;
}

/* ---- CUPTI: the range profiler ---- */

static struct mock_profiler *find_profiler(CUcontext context)
{
	struct mock_profiler *profiler = profilers;

	while (profiler && profiler->context != context)
		profiler = profiler->next;
	return profiler;
}

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *parameters)
{
	struct mock_profiler *profiler;

	MOCK_FAULT_RETURN();
	profiler = calloc(1, sizeof(*profiler));
	if (!profiler)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	profiler->context = parameters->ctx;
	pthread_mutex_lock(&lock);
	if (find_profiler(parameters->ctx)) { /* one at a time */
		pthread_mutex_unlock(&lock);
		free(profiler);
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	profiler->next = profilers;
	profilers = profiler;
	pthread_mutex_unlock(&lock);
	parameters->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)profiler;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;
	struct mock_profiler **link = &profilers;

	MOCK_FAULT_RETURN();
	pthread_mutex_lock(&lock);
	while (*link != profiler)
		link = &(*link)->next;
	*link = profiler->next;
	pthread_mutex_unlock(&lock);
	free(profiler);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *parameters)
{
	MOCK_FAULT_RETURN();
	parameters->counterDataSize = sizeof(struct mock_image);
	return parameters->maxNumOfRanges <= MOCK_RANGES &&
			       parameters->maxNumRangeTreeNodes >= parameters->maxNumOfRanges
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *parameters)
{
	struct mock_image *image = (struct mock_image *)parameters->pCounterData;

	MOCK_FAULT_RETURN();
	if (parameters->counterDataSize != sizeof(*image))
		return CUPTI_ERROR_INVALID_PARAMETER;
	image->count = 0;
	for (size_t range = 0; range < MOCK_RANGES; range++)
		for (size_t i = 0; i < MOCK_METRICS; i++)
			image->values[range][i] = NAN;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	MOCK_FAULT_RETURN();
	enter_profiler(profiler);
	if (parameters->configSize != sizeof(profiler->config) || profiler->is_started ||
	    parameters->maxRangesPerPass > MOCK_RANGES)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_PARAMETER);
	pthread_mutex_lock(&lock);
	memcpy(&profiler->config, parameters->pConfig, sizeof(profiler->config));
	profiler->image = (struct mock_image *)parameters->pCounterDataImage;
	profiler->image->config = profiler->config;
	profiler->is_replay = parameters->range == CUPTI_AutoRange &&
			      parameters->replayMode == CUPTI_KernelReplay;
	profiler->limit = parameters->maxRangesPerPass;
	profiler->pass = 0;
	profiler->is_configured = true;
	pthread_mutex_unlock(&lock);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	MOCK_FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_configured || profiler->is_started)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&lock);
	profiler->is_started = true;
	profiler->used = 0;
	pthread_mutex_unlock(&lock);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	MOCK_FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_started || profiler->is_range_open)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&lock);
	profiler->is_started = false;
	profiler->decoded = profiler->used;
	profiler->decoded_pass = profiler->pass++;
	parameters->isAllPassSubmitted =
		profiler->is_replay || profiler->pass >= profiler->config.pass_count;
	profiler->is_configured = !parameters->isAllPassSubmitted;
	pthread_mutex_unlock(&lock);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;
	struct mock_work *work;

	MOCK_FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_started || profiler->is_range_open || profiler->is_replay ||
	    profiler->used == profiler->limit)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&lock);
	work = &profiler->work[profiler->used++];
	memset(work, 0, sizeof(*work));
	snprintf(work->name, sizeof(work->name), "%s", parameters->pRangeName);
	profiler->is_range_open = true;
	pthread_mutex_unlock(&lock);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	MOCK_FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_range_open)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&lock);
	profiler->is_range_open = false;
	pthread_mutex_unlock(&lock);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

/* The image's range of that name; it may be there from an earlier pass. */
static size_t image_range(struct mock_image *image, const char *name)
{
	size_t range = 0;

	while (range < image->count && strcmp(image->names[range], name))
		range++;
	if (range == image->count && range < MOCK_RANGES)
		snprintf(image->names[image->count++], sizeof(*image->names), "%s", name);
	return range;
}

static void decode_range(const struct mock_profiler *profiler, const struct mock_work *work)
{
	struct mock_image *image = profiler->image;
	size_t range = image_range(image, work->name);

	for (size_t i = 0; i < profiler->config.count && range < MOCK_RANGES; i++) {
		const struct mock_metric *metric = &profiler->config.metrics[i];
		double *value = &image->values[range][i];

		if (!profiler->is_replay &&
		    metric->pass + metric->passes - 1 != profiler->decoded_pass)
			continue;
		*value = (isnan(*value) ? 0 : *value) + mock_counter_value(metric, work);
	}
}

CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	MOCK_FAULT_RETURN();
	enter_profiler(profiler);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < profiler->decoded; i++)
		decode_range(profiler, &profiler->work[i]);
	profiler->decoded = 0;
	parameters->numOfRangeDropped = 0;
	pthread_mutex_unlock(&lock);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

/* ---- launches ---- */

/* One line for each launch that ran inside a range: tests read what was counted with what. */
static void note_range(const struct mock_profiler *profiler, const struct mock_launch *launch,
		       uint32_t correlation, bool is_recorded)
{
	mock_write_line("MOCK_RANGES_FILE", "%u,%u,%s,%u,%s,%s\n", correlation, profiler->pass,
			launch->name, launch->blocks, is_recorded ? "recorded" : "unrecorded",
			mock_is_capturing ? "captured" : "run");
}

/* A range of its own in a replay; otherwise part of the range that is open.  NULL: of none. */
static struct mock_work *work_of(struct mock_profiler *profiler, const struct mock_launch *launch)
{
	struct mock_work *work;

	if (!profiler || !profiler->is_started)
		return NULL;
	if (!profiler->is_replay)
		return profiler->is_range_open ? &profiler->work[profiler->used - 1] : NULL;
	if (launch->call == MOCK_GRAPH || profiler->used == profiler->limit)
		return NULL;
	work = &profiler->work[profiler->used];
	memset(work, 0, sizeof(*work));
	snprintf(work->name, sizeof(work->name), "%zu", profiler->used++);
	return work;
}

void mock_count_launch(const struct mock_launch *launch, uint32_t correlation, bool *is_replayed)
{
	bool is_recorded = mock_is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	struct mock_profiler *profiler;
	struct mock_work *work;

	pthread_mutex_lock(&lock);
	profiler = find_profiler(launch->context);
	*is_replayed = profiler && profiler->is_started && profiler->is_replay;
	work = work_of(profiler, launch);
	if (work)
		note_range(profiler, launch, correlation, is_recorded);
	if (work && !mock_is_capturing) { /* a captured launch runs nothing */
		work->blocks += launch->blocks;
		if (*is_replayed || (!is_recorded && launch->call != MOCK_GRAPH))
			work->instrumented_blocks += launch->blocks;
		if (strstr(launch->name, "gemm"))
			work->tensor_blocks += launch->blocks;
		else if (strstr(launch->name,
				"constants")) /* HFMA2.MMA: half an instruction a warp */
			work->tensor_blocks += launch->blocks / 16.0;
	}
	pthread_mutex_unlock(&lock);
}
